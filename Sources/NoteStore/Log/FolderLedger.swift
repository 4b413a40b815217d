internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The records and files that the folder must hold, as far as this process knows: those of all sessions, and its own files.
///
/// A record that was read and that no file holds any more must be written again. The ledger finds at little cost that a record
/// *may* be missing, and sets `needsRepublish`. The full reread of the folder that follows finds out which records are.
struct FolderLedger {
  /// True if records that were read or appended may be in no file of the folder any more. The caller that writes them again,
  /// or finds all of them, resets it.
  var needsRepublish = false
  /// The sessions to check: the folder should hold the records of each of them up to this number.
  private(set) var expectedRecords: [Identifier: UInt64] = [:]
  /// The number of complete folders that have changed since the last call of `takeChangedFolders`.
  private(set) var changedFolders = 0
  /// The files that this process wrote and does not write any more, without those that were found missing.
  private(set) var ownFiles: [OwnFile] = []

  /// A file that this process wrote and does not write any more.
  struct OwnFile {
    let session: Identifier
    var path: String
    let size: UInt64
    /// The number of records that were appended before those in it, over the life of the `LogFolder`.
    let first: UInt64
    /// The numbers of the records in it.
    let numbers: ClosedRange<UInt64>

    init(_ segment: OpenSegment) {
      session = segment.session
      path = segment.path
      size = segment.status.size
      first = segment.first
      numbers = segment.numbers
    }
  }

  // MARK: - Records

  /// Expects the records of a session up to `number`, at least.
  mutating func expect(_ number: UInt64, of session: Identifier) {
    expectedRecords[session] = max(number, expectedRecords[session] ?? 0)
  }

  /// Expects the records of sessions up to these numbers, and no others.
  mutating func setExpected(_ records: [Identifier: UInt64]) { expectedRecords = records }

  /// Expects the records of a session up to `number`.
  mutating func setExpected(_ number: UInt64, of session: Identifier) {
    expectedRecords[session] = number
  }

  /// Compares the expected records with those that the folder holds.
  ///
  /// - Parameter reaches: the numbers up to which the folder holds all records of sessions.
  mutating func check(against reaches: [Identifier: UInt64]) {
    for (session, number) in expectedRecords where reaches[session] ?? 0 < number {
      needsRepublish = true
    }
    expectedRecords = [:]
  }

  /// Notes that a complete folder of a session has changed. The notebook's folder should still hold the session's records up
  /// to `head`.
  mutating func noteChangedFolder(of session: Identifier, head: UInt64?) {
    expectedRecords[session] = head
    changedFolders += 1
  }

  /// The number of complete folders that have changed since the last call.
  mutating func takeChangedFolders() -> Int {
    defer { changedFolders = 0 }
    return changedFolders
  }

  // MARK: - Our own files

  mutating func add(_ segment: OpenSegment) { ownFiles.append(OwnFile(segment)) }

  mutating func rename(_ path: String, to new: String) {
    if let index = ownFiles.firstIndex(where: { $0.path == path }) { ownFiles[index].path = new }
  }

  /// Forgets a file that is missing.
  mutating func remove(_ file: OwnFile) { ownFiles.removeAll { $0.path == file.path } }
}

extension FolderLedger.OwnFile {
  /// True if the file is certainly gone, or shorter than it was. Other errors than that of a missing path prove nothing.
  func isMissing(on system: any FileSystem) -> Bool {
    do throws(SystemError) { return try system.status(of: path, in: nil).size < size } catch {
      return error.errno == ENOENT || error.errno == ENOTDIR
    }
  }
}
