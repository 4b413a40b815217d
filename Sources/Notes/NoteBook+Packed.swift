public import ReplicatingTypes

extension NoteBook {
  /// All changes, packed.
  public func packed(of notebook: Identifier) throws(ArchiveFailure) -> [UInt8] {
    var packer = ChangePacker(notebook: notebook)
    for replica in version.replicas {
      packer.begin(replica)
      try forEachEncoded(of: replica, in: 1...version[replica]) { number, encoded, lamport in
        do { try packer.append(encoded, lamport: lamport) } catch {
          preconditionFailure(
            "change \(number) of \(replica) was admitted and can't be read: \(error)")
        }
        return true
      }
    }
    return packer.finish()
  }
}
