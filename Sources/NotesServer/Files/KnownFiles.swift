internal import NoteStore
internal import Notes

/// The files that this machine has imported or exported, by their paths from the root of the file system. So a file is the same one in whichever folder
/// above it the user names.
struct KnownFiles {
  private(set) var all: FileRecords

  init(_ records: FileRecords) { all = records }

  /// The path of a file in a folder; nil if it is not below that.
  static func path(_ file: FilePath, in folder: String) -> FilePath? {
    let start = folder.hasSuffix("/") ? folder : folder + "/"
    guard file.text.utf8.count > start.utf8.count, file.text.utf8.starts(with: start.utf8) else {
      return nil
    }
    return FilePath(String(file.text.utf8.dropFirst(start.utf8.count))!)
  }

  private static func file(_ path: FilePath, in folder: String) -> FilePath {
    FilePath((folder.hasSuffix("/") ? folder : folder + "/") + path.text)
  }

  /// What is known of the files of a folder, by their paths in that. O(all files).
  func records(below folder: String) -> FileRecords {
    var records = FileRecords()
    for (file, record) in all.byPath.sorted(by: { $0.key < $1.key }) {
      if let path = Self.path(file, in: folder) { records[path] = record }
    }
    return records
  }

  /// The notes that have files elsewhere. O(all files).
  func notes(outside folder: String) -> Set<NoteID> {
    Set(all.byPath.lazy.filter { Self.path($0.key, in: folder) == nil }.map(\.value.note))
  }

  /// Replaces what is known of the files of a folder; nothing is known any more of those of another one, which were moved there. O(all files).
  mutating func set(_ records: FileRecords, below folder: String, movedFrom old: String? = nil) {
    for file in all.byPath.keys {
      let isOld = old.map { Self.path(file, in: $0) != nil } ?? false
      if isOld || Self.path(file, in: folder) != nil { all[file] = nil }
    }
    for (path, record) in records.byPath { all[Self.file(path, in: folder)] = record }
  }

  /// The innermost folder that was imported or exported and that has a folder in it, or is this; and the path of this one in it, with `/` behind it.
  /// O(all files).
  func folder(around folder: String) -> (path: String, prefix: String) {
    let around = Set(all.byPath.values.map(\.folder)).filter {
      !$0.isEmpty && ($0 == folder || Self.path(FilePath(folder), in: $0) != nil)
    }.max { $0.utf8.count < $1.utf8.count }
    guard let around, around != folder else { return (folder, "") }
    return (around, Self.path(FilePath(folder), in: around)!.text + "/")
  }

  /// What is known of the files of a folder that is gone, if a folder with such files is that one, moved: half of the files are there by their paths, and of these
  /// half have bytes that are known. Of several that with the most files.
  ///
  /// - Parameters:
  ///   - isGone: tells whether no folder has a path any more.
  ///   - hash: of the file at a path; nil if it can't be read.
  /// - Complexity: O(all files), and reading `mostRead` files of each folder that is gone.
  func movedFolder(
    to folder: String, with files: Set<FilePath>, isGone: (String) -> Bool,
    hash: (FilePath) -> UInt64?
  ) -> (folder: String, records: FileRecords)? {
    let gone = Set(all.byPath.values.map(\.folder)).filter { !$0.isEmpty && isGone($0) }
    var found: (folder: String, records: FileRecords, count: Int)?
    for old in gone.sorted() {
      var records = records(below: old)
      let there = records.byPath.keys.filter(files.contains).sorted()
      guard !there.isEmpty, there.count * 2 >= records.byPath.count,
        there.count > found?.count ?? 0
      else { continue }
      let step = (there.count + Self.mostRead - 1) / Self.mostRead
      let read = stride(from: 0, to: there.count, by: step).map { there[$0] }
      let known = read.count { path in
        guard let hash = hash(path) else { return false }
        return records[path]!.states.contains { $0.hash == hash }
      }
      guard known * 2 >= read.count else { continue }
      for (path, record) in records.byPath {
        let inner = Self.path(FilePath(record.folder), in: old)
        records[path]!.folder = inner.map { Self.file($0, in: folder).text } ?? folder
      }
      found = (old, records, there.count)
    }
    return found.map { ($0.folder, $0.records) }
  }

  /// The most files of a folder that are read to find out whether it was moved.
  private static let mostRead = 32
}
