internal import Notes

/// A file with notes of one process for the process that takes over its clients: entries of any kind, each appended when it
/// happens.
///
/// It is in the state folder, never in the notebook's: a container (Container.swift in Notes), whose first block names the start of the machine
/// (`FileSystem.boot`): after another start it is not read any more. Each entry is a block.
public final class Journal {
  /// The name of the file in the folder of journals.
  public let name: String
  private let file: OpenDescriptor
  private let folder: OpenDescriptor

  /// The size of its entries in bytes.
  public private(set) var size = 0

  fileprivate init(
    _ name: String, creating file: String, in folder: OpenDescriptor
  ) throws(StoreError) {
    self.name = name
    self.folder = folder
    self.file = OpenDescriptor(try folder.descriptor.createFile(file))
    do { try append(Self.header(on: folder.descriptor.system)) } catch {
      folder.descriptor.remove(file)
      throw error
    }
  }

  fileprivate static func header(on system: any FileSystem) -> [UInt8] {
    Container.encode(Array(system.boot.utf8), as: .journal)
  }

  /// Appends an entry in one step.
  ///
  /// - Throws: the disk's error; then a part of the entry may be in the file, and nothing must be appended any more. The
  ///   journal is incomplete: `discard` it.
  public func append(_ entry: [UInt8]) throws(StoreError) {
    try file.descriptor.append(entry[...])
    size += entry.count
  }

  /// Removes the file, or where that is refused empties it, so that no process reads it any more.
  ///
  /// - Throws: the disk's error when it refuses both; then the next process still reads the entries.
  public func discard() throws(StoreError) {
    let system = folder.descriptor.system
    do { try system.remove(name, in: folder.descriptor.number) } catch {
      do { try system.empty(file.descriptor.number) } catch {
        throw StoreError("truncate", file.descriptor.path, error)
      }
    }
  }

  /// Replaces the journal by one with the given entries, in one step.
  ///
  /// - Throws: the disk's error; then this journal is as it was.
  public func replaced(by entries: [UInt8]) throws(StoreError) -> Journal {
    let temporary = ".tmp-" + name
    folder.descriptor.remove(temporary)
    let new = try Journal(name, creating: temporary, in: folder)
    do {
      try new.append(entries)
      try folder.descriptor.rename(temporary, to: name)
    } catch {
      folder.descriptor.remove(temporary)
      throw error
    }
    return new
  }
}

extension StateFolder {
  /// The age in nanoseconds at which the journal of a process that ended is removed: longer than a user leaves an editor alone
  /// whose process has died.
  private static let journalAge: Int64 = 30 * 24 * 3_600_000_000_000
  /// A longer journal is not read; its owner replaces it long before.
  private static let longestJournal = 64 << 20

  private static let journals = "journals"

  func createJournal(_ name: String) throws(StoreError) -> Journal {
    let folder = try create()
    try folder.createFolder(Self.journals)
    let journals = try folder.folder(Self.journals)
    for name in try journals.names() {
      guard let status = try journals.status(of: name), status.kind == .file,
        status.changed < system.now - Self.journalAge
      else { continue }
      journals.remove(name)
    }
    return try Journal(name, creating: name, in: OpenDescriptor(journals))
  }

  /// The entries of each wanted journal of this start of the machine, by name.
  func journals(where isWanted: (String) -> Bool) throws(StoreError) -> [[UInt8]] {
    let folder = try FileDescriptor.folder(path, on: system).folder(Self.journals)
    let header = Journal.header(on: system)
    var found: [[UInt8]] = []
    for name in try folder.names() where isWanted(name) {
      guard let file = try folder.regularFile(name) else { continue }
      let size = try file.status().size
      guard size <= Self.longestJournal else { continue }
      let bytes = try file.read(Int(size), at: 0)
      guard bytes.starts(with: header) else { continue }
      found.append(Array(bytes[header.count...]))
    }
    return found
  }
}

extension NoteStore {
  /// Creates a journal; `name` must be new. Removes those of processes that ended long ago.
  ///
  /// - Returns: nil where there is no state folder yet, or none at all.
  public func createJournal(_ name: String) throws(StoreError) -> Journal? {
    try stateFolder?.createJournal(name)
  }

  /// The entries of each wanted journal, of any process that had the notebook open at this path.
  public func journals(where isWanted: (String) -> Bool) -> [[UInt8]] {
    (try? stateFolder?.journals(where: isWanted)) ?? []
  }
}
