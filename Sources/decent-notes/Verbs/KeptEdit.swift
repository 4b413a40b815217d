#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file of a note for an editor that has returned at once, and may have it open in a window of its own.
///
/// A record of it stands in the folder `editing` of the state folder, with the note and the name of the file's folder as its name: the revision of the
/// text in the file, a line feed, and the path of the file. It goes with the file after a day in which nothing was saved there, or when the note is purged.
struct KeptEdit {
  /// The note.
  let note: String
  /// The revision of the text that was written to the file last.
  var revision: String
  /// The path of the file, in a folder of its own.
  let path: String
  private let record: String

  /// The milliseconds after which a file in which nothing was saved goes.
  private static let age: Int64 = 86_400_000

  private static func folder(_ stateFolder: String) -> String {
    "\(stateFolder)/decent-notes/editing"
  }

  /// Notes the file of a note; nil if that can't be written.
  init?(_ path: String, of note: String, at revision: String, in stateFolder: String) {
    let folder = Self.folder(stateFolder)
    for folder in [stateFolder, "\(stateFolder)/decent-notes", folder] { _ = mkdir(folder, 0o700) }
    (self.note, self.revision, self.path) = (note, revision, path)
    record = "\(folder)/\(note)+\(path.split(separator: "/").dropLast().last ?? "")"
    if !write() { return nil }
  }

  private init?(record: String, named name: String) {
    let words = name.split(separator: "+")
    guard let parts = Self.contents(of: record)?.split(separator: "\n", maxSplits: 1),
      parts.count == 2, words.count == 2
    else { return nil }
    (note, revision, path) = (String(words[0]), String(parts[0]), String(parts[1]))
    self.record = record
  }

  /// Writes the record, whose time is that of the last save from then on; returns whether it could be written.
  func write() -> Bool {
    let file = open(record, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if file < 0 { return false }
    let bytes = Array("\(revision)\n\(path)".utf8)
    let isWritten = bytes.withUnsafeBytes { systemWrite(file, $0) } == bytes.count
    return close(file) == 0 && isWritten
  }

  /// The files of a note that are kept.
  static func all(of note: String, in stateFolder: String) -> [KeptEdit] {
    all(in: stateFolder).filter { $0.note == note }
  }

  private static func all(in stateFolder: String) -> [KeptEdit] {
    let folder = folder(stateFolder)
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var kept: [KeptEdit] = []
    while let entry = readdir(listing) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if let edit = KeptEdit(record: "\(folder)/\(name)", named: name) { kept.append(edit) }
    }
    return kept.sorted { $0.path < $1.path }
  }

  /// True if something was saved in the file since the record was written.
  var isChanged: Bool {
    var (file, noted) = (stat(), stat())
    guard stat(path, &file) == 0, stat(record, &noted) == 0 else { return false }
    let (a, b) = (file.modificationTime, noted.modificationTime)
    return (a.tv_sec, a.tv_nsec) > (b.tv_sec, b.tv_nsec)
  }

  /// Removes the file and its folder, and the record.
  func remove() {
    EditedFile.removeFolder(of: path)
    unlink(record)
  }

  /// Removes the files in which nothing was saved for a day, and the records of files that are gone.
  ///
  /// - Parameter now: the time, in milliseconds since 1970.
  static func removeOld(in stateFolder: String, at now: Int64) {
    for edit in all(in: stateFolder) {
      var noted = stat()
      guard stat(edit.record, &noted) == 0 else { continue }
      let isOld = now - Int64(noted.modificationTime.tv_sec) * 1000 > age
      if access(edit.path, F_OK) < 0 || isOld && !edit.isChanged { edit.remove() }
    }
  }

  /// Removes the files of notes that fulfil a condition.
  static func removeAll(in stateFolder: String, where isGone: (String) -> Bool) {
    for edit in all(in: stateFolder) where isGone(edit.note) { edit.remove() }
  }

  private static func contents(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if file < 0 { return nil }
    defer { close(file) }
    // A path has fewer bytes.
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = buffer.withUnsafeMutableBytes { systemRead(file, $0) }
    return count > 0 ? String(validating: buffer[..<count], as: UTF8.self) : nil
  }
}

extension stat {
  fileprivate var modificationTime: timespec {
    #if canImport(Glibc)
      st_mtim
    #else
      st_mtimespec
    #endif
  }
}

private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  read(file, bytes.baseAddress, bytes.count)
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(file, bytes.baseAddress, bytes.count)
}
