internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Files that are imported from another folder than before: one above or below, or the one to which all of them were moved.

extension NotesServer {
  /// At most so many files are looked at to find out whether a folder is known.
  private static let mostSamples = 64

  /// Takes over what is known of the files as those of other folders, before they are read.
  mutating func recognize(_ task: inout ImportTask) throws(ResponseError) {
    let files = Set(task.files)
    let folder = task.tree.resolvedPath
    for other in task.others {
      for (path, record) in other.files(in: folder) where files.contains(path) {
        try take(record, at: path, &task)
      }
    }
    for index in task.others.indices {
      let records = task.others[index].records
      let common = task.files.filter { records[$0] != nil }
      guard !common.isEmpty, !task.others[index].isRelated(to: folder), !isThere(records),
        try isMoved(common, records, &task)
      else { continue }
      for path in common { try take(records[path]!, at: path, &task) }
      task.others[index].setMoved(to: folder)
    }
  }

  /// Takes over what is known of a file, if nothing newer is.
  private func take(
    _ record: FileRecords.Record, at path: FilePath, _ task: inout ImportTask
  ) throws(ResponseError) {
    if let own = task.records[path] {
      guard own.note == record.note, own != record, let state = record.states.last, has(state),
        let last = own.states.last
      else { return }
      let version = try recall { book throws(ArchiveFailure) in
        try book.version(of: state.heads + state.own)
      }
      guard let version, (last.heads + last.own).allSatisfy(version.contains) else { return }
    } else if task.records.paths[record.note] != nil {
      return
    }
    task.records[path] = record
  }

  /// True if a folder that is known is where it was, with some of its files, or where they were moved; also if that can't be found out.
  private func isThere(_ records: FileRecords) -> Bool {
    if records.folder.isEmpty { return true }
    func has(_ folder: String) -> Bool {
      do throws(FileTreeError) {
        let tree = try environment.openTree(folder, false)
        for path in Self.samples(of: records.byPath.keys.sorted()) {
          if try tree.status(of: path.text) != nil { return true }
        }
        return false
      } catch {
        return error.reason != .notFound
      }
    }
    return has(records.folder) || !records.movedTo.isEmpty && has(records.movedTo)
  }

  /// True if most of the files are those that are known at the same paths of a folder that is gone: with the same bytes, or with most of the words
  /// of their notes.
  private func isMoved(
    _ files: [FilePath], _ records: FileRecords, _ task: inout ImportTask
  ) throws(ResponseError) -> Bool {
    let samples = Self.samples(of: files)
    var known = 0
    for path in samples {
      guard let record = records[path], let file = read(path, task) else { continue }
      if record.states.contains(where: { $0.hash == file.hash }) {
        known += 1
      } else if let note = try lookUp(record.note), Self.isClose(file.text, note.text.utf8) {
        known += 1
      }
    }
    return known * 2 > samples.count
  }

  private func read(_ path: FilePath, _ task: ImportTask) -> ReadFile? {
    if !task.simplenotes.isEmpty {
      return task.files.firstIndex(of: path).map { ReadFile(task.simplenotes[$0]) }
    }
    return try? readFile(path, in: task.tree).get()
  }

  private static func samples(of paths: [FilePath]) -> [FilePath] {
    let step = max(1, paths.count / mostSamples)
    return stride(from: 0, to: paths.count, by: step).map { paths[$0] }
  }

  /// True if two texts have at least half of their pairs of words in common, or all of their words where there are few.
  ///
  /// - Complexity: O(n).
  static func isClose(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    func pairs(_ text: [UInt8]) -> [[ArraySlice<UInt8>]: Int] {
      let words = text.split { $0 <= 0x20 }
      if words.count < 3 { return words.isEmpty ? [:] : [words: 1] }
      return zip(words, words.dropFirst()).reduce(into: [:]) { $0[[$1.0, $1.1], default: 0] += 1 }
    }
    let (first, second) = (pairs(a), pairs(b))
    let common = first.reduce(0) { $0 + min($1.value, second[$1.key, default: 0]) }
    let most = max(first.values.reduce(0, +), second.values.reduce(0, +))
    return common > 0 && common * 2 >= most
  }
}
