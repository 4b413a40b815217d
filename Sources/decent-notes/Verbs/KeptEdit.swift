internal import FileTree
internal import NotesServer

/// The file of a note for an editor that has returned at once, and may have it open in a window of its own.
///
/// A record of it stands in the folder `editing` of the state folder: its name is the note, a plus sign and the name of the folder that the file has for
/// its own; its content is the revision of the text in the file, a line feed, and the path of the file. It goes with the file after a day in which nothing was
/// saved there, or when the note is purged.
struct KeptEdit {
  /// The note.
  let note: String
  /// The revision of the text that was written to the file last.
  private(set) var revision: String
  /// The path of the file.
  let path: String
  private let record: String

  /// The nanoseconds after which a file in which nothing was saved goes.
  private static let age: Int64 = 86_400_000_000_000
  /// A note has no longer text, and a record fewer bytes.
  private static let mostBytes = 64 << 20

  /// Reads a record; nil for another file, and for a record of a file in another folder than `EditedFile` makes.
  private init?(_ record: String, _ content: [UInt8]) {
    let words = record.split(separator: "+")
    let parts = String(decoding: content, as: UTF8.self).split(separator: "\n", maxSplits: 1)
    guard words.count == 2, parts.count == 2 else { return nil }
    (note, revision, path) = (String(words[0]), String(parts[0]), String(parts[1]))
    self.record = record
    guard EditedFile(at: path).folderName == words[1], EditedFile(at: path).hasOwnFolder else {
      return nil
    }
  }

  // MARK: - Records

  private static func records(
    _ surroundings: CommandEnvironment, making isMaking: Bool = false
  ) throws(FileTreeError) -> (any FileTree)? {
    guard let folder = surroundings.stateFolder() else { return nil }
    return try surroundings.tree("\(folder)/decent-notes/editing", isMaking)
  }

  /// Keeps the file of a note; false where there is no state folder, or it can't be written.
  static func keep(
    _ file: EditedFile, of note: String, at revision: String, _ surroundings: CommandEnvironment
  ) -> Bool {
    do {
      let record = Array("\(revision)\n\(file.path)".utf8)
      let records = try records(surroundings, making: true)
      return try records?.create("\(note)+\(file.folderName)", record) != nil
    } catch { return false }
  }

  /// The files that are kept, in the order of their records.
  private static func all(in records: any FileTree) -> [KeptEdit] {
    let names = ((try? records.entries(of: "")) ?? []).compactMap(\.name).sorted()
    return names.compactMap { name in
      guard let read = try? records.read(name, limit: 1 << 14) else { return nil }
      return KeptEdit(name, read.bytes)
    }
  }

  /// The files of a note that are kept.
  static func all(of note: String, _ surroundings: CommandEnvironment) -> [KeptEdit] {
    guard let records = (try? records(surroundings)) ?? nil else { return [] }
    return all(in: records).filter { $0.note == note }
  }

  /// Removes the files of notes that are gone, those in which nothing was saved for a day, and the records of files that are gone.
  static func removeOld(
    _ surroundings: CommandEnvironment, orOf isGone: (String) -> Bool = { _ in false }
  ) {
    guard let records = (try? records(surroundings)) ?? nil else { return }
    for edit in all(in: records) {
      guard let noted = (try? records.status(of: edit.record)) ?? nil else { continue }
      let status = (try? surroundings.tree(edit.folder, false).status(of: edit.name)) ?? nil
      let isOld = surroundings.now() * 1_000_000 - noted.modified > age
      let isUnchanged = status.map { $0.modified <= noted.modified } ?? true
      guard status == nil || isGone(edit.note) || isOld && isUnchanged else { continue }
      EditedFile(at: edit.path).remove()
      (try? records.takeAway(edit.record))??.discard()
    }
  }

  // MARK: - The file

  private var folder: String { EditedFile(at: path).folder }
  private var name: String { String(path.split(separator: "/").last ?? "") }

  /// The bytes that are in the file now.
  func read(_ surroundings: CommandEnvironment) throws(CommandFailure) -> [UInt8] {
    do {
      if let read = try surroundings.tree(folder, false).read(name, limit: Self.mostBytes) {
        return read.bytes
      }
    } catch { throw CommandFailure("\(path): \(error.cause)") }
    throw CommandFailure("\(path): there is no such file any more")
  }

  /// Notes that the file has the text of a revision from now on, and writes that if it is another one.
  ///
  /// - Parameter bytes: those that were read. Where the editor has saved others since, these stay, and so does the record.
  /// - Returns: false if the editor has saved others.
  mutating func update(
    from bytes: [UInt8], to text: [UInt8], at revision: String, _ surroundings: CommandEnvironment
  ) throws(CommandFailure) -> Bool {
    do {
      if text != bytes {
        let tree = try surroundings.tree(folder, false)
        let (_, old) = try tree.replace(name, text)
        if try old.read(limit: Self.mostBytes).bytes != bytes {
          try tree.takeAway(name)?.discard()
          _ = try old.putBack()
          return false
        }
        old.discard()
      }
      self.revision = revision
      let record = Array("\(revision)\n\(path)".utf8)
      if let (_, old) = try Self.records(surroundings)?.replace(self.record, record) {
        old.discard()
      }
      return true
    } catch {
      throw CommandFailure(
        "\(path): saved; but what is saved there from now on can't be taken up: \(error.cause)")
    }
  }
}
