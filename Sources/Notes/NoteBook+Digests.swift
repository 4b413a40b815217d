internal import Bytes
public import ReplicatingTypes

// Digests of the histories of replicas: see History.swift.

extension NoteBook {
  /// The digest of a version, all of it known here. O(replicas), and the changes since the archive that were not looked at before.
  public mutating func digest(of version: Version) throws(ArchiveFailure) -> UInt64 {
    let digests = try digests(of: [version])[0]
    var bytes: [UInt8] = []
    for (change, digest) in zip(version.changes, digests) {
      for word in [change.replica.high, change.replica.low, change.number, digest] {
        bytes.appendBigEndian(word)
      }
    }
    return SHA256.prefix64(of: bytes[...])
  }

  /// For each of some versions, all known here, the digests of its replicas up to their numbers, in the order of the replicas.
  /// O(replicas) where the numbers are those of the present version; else O(history of these replicas).
  public mutating func digests(of versions: [Version]) throws(ArchiveFailure) -> [[UInt64]] {
    if versions.count == 1 {
      var digests: [UInt64] = []
      for change in versions[0].changes {
        digests.append(try self.digests(of: change.replica, upTo: [change.number])[change.number]!)
      }
      return [digests]
    }
    var numbers: [ReplicaID: Set<UInt64>] = [:]
    for version in versions {
      for change in version.changes { numbers[change.replica, default: []].insert(change.number) }
    }
    var found: [ReplicaID: [UInt64: UInt64]] = [:]
    for (replica, numbers) in numbers {
      found[replica] = try digests(of: replica, upTo: numbers)
    }
    return versions.map { $0.changes.map { found[$0.replica]![$0.number]! } }
  }

  /// The digests of a replica's changes up to some numbers, all known.
  private mutating func digests(
    of replica: ReplicaID, upTo numbers: Set<UInt64>
  ) throws(ArchiveFailure) -> [UInt64: UInt64] {
    guard let first = numbers.min(), let last = numbers.max() else { return [:] }
    precondition(last <= version[replica], "a digest of changes that are not here")
    let cached = digests[replica]
    var digest = HistoryDigest()
    for known in [archive?.digest(of: replica), cached].compactMap({ $0 })
    where known.number <= first && known.number > digest.number { digest = known }
    var found: [UInt64: UInt64] = [:]
    if numbers.contains(digest.number) { found[digest.number] = digest.value }
    if digest.number < last {
      var buffer: [UInt8] = []
      try forEachEncoded(of: replica, in: digest.number + 1...last) { number, encoded, _ in
        digest.append(encoded, &buffer)
        if numbers.contains(number) { found[number] = digest.value }
        return true
      }
      guard digest.number == last else {
        throw ArchiveFailure(reason: "changes of \(replica) are missing")
      }
    }
    if last > cached?.number ?? 0 { digests[replica] = digest }
    return found
  }
}
