public import ReplicatingTypes

extension NoteBook {
  /// All changes, packed. Throws also if the archive has something else in the place of a change.
  public func packed(of notebook: Identifier) throws(ArchiveFailure) -> [UInt8] {
    var packer = ChangePacker(notebook: notebook)
    var failure: ArchiveFailure?
    for replica in version.replicas {
      packer.begin(replica)
      try forEachEncoded(of: replica, in: 1...version[replica]) { number, encoded, lamport in
        do { try packer.append(encoded, lamport: lamport) } catch {
          failure = ArchiveFailure(
            reason: "change \(number) of \(replica) can't be read: \(error)")
          return false
        }
        return true
      }
      if let failure { throw failure }
    }
    return packer.finish()
  }
}
