internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Conflict copies in the folder of a mirror: what a copy has is brought into the note of the file that it is a copy of, and the copy is moved aside. Where no
// state of that note is known that the copy was made from, it stays.

extension NotesServer {
  /// The folder, in that of the mirror, into which copies are moved.
  static let copiesFolder = ".decent-copies"

  /// True if a file that is new has the name of a conflict copy of a file of the mirror.
  func isCopy(_ path: FilePath, _ mirror: Mirror) -> Bool {
    mirror.records[path] == nil
      && ConflictCopyName.all(of: path.text).contains {
        mirror.records[FilePath($0.original)] != nil
      }
  }

  /// Brings what a conflict copy has into the note of the file that it is a copy of, and moves it aside.
  ///
  /// - Returns: false if the file is no copy by its name and its text; then it stays.
  mutating func takeCopy(
    _ bytes: [UInt8], _ status: FileStatus, at path: FilePath, _ mirror: Mirror
  ) throws(FileTreeError) -> Bool {
    let names = ConflictCopyName.all(of: path.text)
    for name in names {
      let original = FilePath(name.original)
      guard let record = mirror.records[original], !record.isBeingMade else { continue }
      let beside: [UInt8]
      do {
        // Without the original beside it, it is that file under another name.
        guard let read = try mirror.tree.read(original.text, limit: ReadFile.longest) else {
          continue
        }
        beside = read.bytes
      } catch {
        // The next look through the folders tries again.
        mirror.statuses[path] = nil
        refuseFile(
          path, mirror, hash: SHA256.prefix64(of: bytes[...]),
          "it may be a conflict copy of \(original.text), which can't be read: \(error.cause)")
        return true
      }
      // A file that a user has copied has the same bytes.
      guard name.isCertain || beside != bytes,
        let file = try? ReadFile(bytes, path: original, zone: environment.zone, status: status)
      else { continue }
      do throws(ResponseError) {
        guard let note = try lookUp(record.note), !note.isTrashed, has(record.states.last!) else {
          continue
        }
        // A program that keeps folders equal brings a copy again that was moved aside. The file may be another note's by then.
        let isAside =
          try? mirror.tree.read(Self.aside(path, 1), limit: ReadFile.longest)?.bytes == bytes
        if isAside != true {
          guard try merge(file, of: path, into: note, record.states, isCertain: name.isCertain)
          else { continue }
          mirror.changed.insert(note.id)
        }
      } catch { throw FileTreeError("mirror", path.text, .other, error.message) }
      mirror.statuses[path] = nil
      do { try moveAside(path, bytes, copyOf: original, mirror) } catch {
        refuseFile(
          path, mirror, hash: SHA256.prefix64(of: bytes[...]),
          "it is a conflict copy of \(original.text), the note has what it had, and it can't be moved aside: \(error.cause)"
        )
      }
      return true
    }
    if let name = names.first, name.isCertain, IgnoredNames.kind(of: path.text) == .none {
      showMessage(
        .warning,
        "mirror: \(path.text) seems to be a conflict copy of \(name.original), and it is not known what it was made from: it is a note of its own"
      )
    }
    return false
  }

  /// Merges a copy into a note; false if it is not known from which state of that it was made.
  private mutating func merge(
    _ file: ReadFile, of path: FilePath, into note: Note, _ states: [FileState], isCertain: Bool
  ) throws(ResponseError) -> Bool {
    let key = Array("copy \(path.text)\n\(file.hashText)".utf8)
    // A process that was killed has merged it, and not moved it.
    if try isMade(key) { return true }
    if try recall({ book throws(ArchiveFailure) in
      try book.version(of: note, withText: file.text)
    }) != nil {
      // All of it is in the history of the note. People copy files, too, and a moment later the file may be another one.
      return isCertain
    }
    let known = try pastStates(of: note) + states
    let present = note.text.utf8
    guard let base = try base(of: file, note, among: known),
      let old = try state(of: note, base).map({ $0.view.map(note.text.utf8(in:)) ?? present }),
      // It was made from a state that the original has left. If that is not known, what it lacks of the present may be newer.
      old != present, Self.isClose(file.text, to: old, within: isCertain ? 2 : 4),
      isCertain || file.text.count >= Self.leastText
    else { return false }
    let operations = try self.operations(reading: file, into: note, from: base)
    // Of the first state it is not known whether there were others, which had less.
    if base == known.first, !operations.removals.isEmpty { return false }
    requests.mark = KeyedRequest.merge.mark(key)
    defer { requests.mark = nil }
    try commit(operations, telling: true)
    store!.endEntry(of: note.id)
    return true
  }

  /// A text of fewer bytes is like others by chance.
  private static let leastText = 16

  /// A copy is compared to at most so many states of the past, and to fewer if these have more bytes together than this; but to some.
  private static let mostStates = (count: 64, bytes: 1 << 20, some: 4)

  /// The note as each of its writers left it, the oldest first.
  private func pastStates(of note: Note) throws(ResponseError) -> [FileState] {
    let most = Self.mostStates
    let count = max(most.some, min(most.count, most.bytes / max(1, note.text.count)))
    return try recall { book throws(ArchiveFailure) in
      var states: [FileState] = []
      for entry in try book.history(of: note.id, limit: count).reversed() {
        let heads = entry.revision.heads
        guard let version = try book.version(of: heads),
          let past = try book.note(note.id, at: version)?.note
        else { continue }
        states.append(Self.state(of: past, heads: heads))
      }
      return states
    }
  }

  /// True if less than one part of so many differs in two texts.
  private static func isClose(_ text: [UInt8], to old: [UInt8], within parts: Int) -> Bool {
    let edits = textDifference(from: old, to: text)
    let differing = edits.reduce(0) { $0 + max($1.range.count, $1.replacement.count) }
    return parts * differing < max(text.count, old.count)
  }

  private static func aside(_ path: FilePath, _ number: Int) -> String {
    "\(copiesFolder)/\(number == 1 ? "" : "\(number)/")\(path.text)"
  }

  /// Moves a file into the folder of copies, and tells the user.
  private mutating func moveAside(
    _ path: FilePath, _ bytes: [UInt8], copyOf original: FilePath, _ mirror: Mirror
  ) throws(FileTreeError) {
    for number in 1... {
      let aside = Self.aside(path, number)
      do {
        try mirror.tree.move(path.text, to: aside)
      } catch {
        guard error.reason == .exists else { throw error }
        // A program that keeps folders equal has brought it again.
        let isThere = try mirror.tree.read(aside, limit: ReadFile.longest)?.bytes == bytes
        guard isThere, let again = try mirror.tree.takeAway(path.text) else { continue }
        guard try again.read(limit: ReadFile.longest).bytes == bytes else {
          _ = try again.putBack()
          continue
        }
        again.discard()
        break
      }
      showMessage(
        .warning,
        "mirror: \(path.text) is a conflict copy of \(original.text): the note has what it had, and the copy was moved to \(aside)"
      )
      break
    }
    mirror.tree.removeEmptyFolders(above: path.text)
  }
}
