internal import Notes

/// What this machine knows of the files of another folder than the one that is read or written, perhaps of the same files: of a folder above or
/// below.
struct KnownFolder {
  /// The name of the file of the state folder that says it.
  let name: String
  /// True if a process mirrors the folder, or has: only that writes what is known.
  let isMirror: Bool
  private(set) var records: FileRecords
  private(set) var isChanged = false

  init(name: String, isMirror: Bool, records: FileRecords) {
    (self.name, self.isMirror, self.records) = (name, isMirror, records)
  }

  /// Where the same file is in two folders of which one is the other, above it or below it.
  private enum Relation {
    /// Paths of the known folder begin with this, those of the other one do not.
    case above(String)
    /// Paths of the other folder begin with this, those of the known one do not.
    case below(String)
  }

  private func relation(to folder: String) -> Relation? {
    let known = records.folder
    if known.isEmpty || folder.isEmpty { return nil }
    func inner(_ path: String, in outer: String) -> String? {
      let start = outer.hasSuffix("/") ? outer : outer + "/"
      guard path.utf8.count > start.utf8.count, path.utf8.starts(with: start.utf8) else {
        return nil
      }
      return String(path.utf8.dropFirst(start.utf8.count))! + "/"
    }
    return inner(folder, in: known).map { .above($0) }
      ?? inner(known, in: folder).map { .below($0) }
  }

  /// True if the folder is above or below another one.
  func isRelated(to folder: String) -> Bool { relation(to: folder) != nil }

  /// The path in a folder of a file that this one has at a path; nil if it is not below that folder.
  private static func path(_ path: FilePath, _ relation: Relation) -> FilePath? {
    switch relation {
    case .above(let prefix):
      guard path.text.utf8.starts(with: prefix.utf8) else { return nil }
      return FilePath(String(path.text.utf8.dropFirst(prefix.utf8.count))!)
    case .below(let prefix): return FilePath(prefix + path.text)
    }
  }

  /// The files that are also in a folder, by their paths there.
  func files(in folder: String) -> [(path: FilePath, record: FileRecords.Record)] {
    guard let relation = relation(to: folder) else { return [] }
    return records.byPath.compactMap { path, record in
      Self.path(path, relation).map { ($0, record) }
    }
  }

  /// Where a note has its file in another folder.
  struct Place {
    /// The path of the file in the known folder, and in the other one.
    var path, place: FilePath
    /// What is known of the file.
    var record: FileRecords.Record
  }

  /// Adds where notes have their files in a folder, as far as that does not know other files of these notes, or other notes of these files.
  func addPlaces(to places: inout [NoteID: [Place]], in other: FileRecords) {
    guard let relation = relation(to: other.folder) else { return }
    for (path, record) in records.byPath {
      guard let place = Self.path(path, relation),
        other[place].map({ $0.note == record.note }) ?? (other.paths[record.note] == nil)
      else { continue }
      places[record.note, default: []].append(
        Place(path: path, place: place, record: other[place] ?? record))
    }
  }

  /// Takes over what was found of files that are known here, too.
  mutating func update(from other: FileRecords) {
    guard let relation = relation(to: other.folder) else { return }
    for path in records.byPath.keys {
      guard let place = Self.path(path, relation), let record = other[place],
        records[path] != record
      else { continue }
      records[path] = record
      isChanged = true
    }
  }

  /// Notes that the files are in another folder now.
  mutating func setMoved(to folder: String) {
    records.movedTo = folder
    isChanged = true
  }
}
