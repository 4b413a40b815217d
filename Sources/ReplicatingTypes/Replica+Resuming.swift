// Library product only: the programs of this package do not use this file.

// A replica that goes on under its name in another process.

/// A replica, put down to be resumed.
public struct SavedReplica: Hashable, Sendable {
  /// The identity.
  public let id: ReplicaID
  /// The number of its last change; 0 if it made none.
  public let number: UInt64
  let lamport: UInt64
}

/// A replica can't be resumed: what it has edited is not what it left. Take a new identity.
public struct ReplicaIsNotAsLeft: Error, Equatable, Sendable {
  /// The number of the last change, as it was saved.
  public var saved: UInt64
  /// The number of its last change that is here.
  public var found: UInt64
}

extension Replica {
  /// The replica as it is now, to be saved with what it edits.
  public var saved: SavedReplica { SavedReplica(id: id, number: number, lamport: lamport) }

  /// The replica that was saved, so that a value does not get to know a new one with each launch.
  ///
  ///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
  ///     var title = ReplicatingRegister("")
  ///     title.assign("Shopping", at: 1_767_225_600_000, by: &replica)
  ///     let kept = replica.saved.encoded() + title.encoded()
  ///     var reader = ByteReader(kept)
  ///     let saved = try SavedReplica(from: &reader)
  ///     title = try ReplicatingRegister(from: &reader)
  ///     replica = try Replica(resuming: saved, in: title.version)
  ///     replica.number  // 1
  ///
  /// No two changes may ever have one name. So what was saved is valid once, and only if
  ///
  /// - it was saved after the last change, in one file with all that the replica edits, or all of them written before it;
  /// - the process that saved it makes no more changes;
  /// - whoever resumes it removes it from the disk, and has that on the disk, before the first change. Then a process that is killed leaves none,
  ///   and the next one begins a new replica.
  ///
  /// A restored backup, a copied folder and a cloned machine make it invalid: the original may have gone on. A restore of the values alone, or
  /// of the saved replica alone, is noticed here, as the numbers differ. If all of it was restored or copied, nothing here tells: so keep it out of
  /// backups and of what is synchronised, or save beside it something that a copy does not share and compare that. It is noticed too late when
  /// changes arrive that another made under the name: see `isUsedElsewhere(in:)`.
  ///
  /// - Parameter version: what was seen by all the values that the replica edits, together.
  ///
  /// Throws if the last change of the replica in `version` is not the last one that it made.
  public init(resuming saved: SavedReplica, in version: Version) throws(ReplicaIsNotAsLeft) {
    guard version[saved.id] == saved.number else {
      throw ReplicaIsNotAsLeft(saved: saved.number, found: version[saved.id])
    }
    self.init(id: saved.id, number: saved.number, lamport: saved.lamport)
  }

  /// True if a version names changes of this replica that it has not made: somebody else uses its identity. Ask this of what comes from others, before
  /// it is joined. Then take a new identity; what was changed under this one while both used it may differ between replicas for ever.
  public func isUsedElsewhere(in version: Version) -> Bool { version[id] > number }
}

/// Format 1, the identity, 16 bytes, the number of the last change, and the logical time.
extension SavedReplica: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.format(1)
    writer.identifier(id)
    writer.varint(number)
    writer.varint(lamport)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "a saved replica")
    let id = try reader.identifier()
    let number = try reader.varint()
    let start = reader
    let lamport = try reader.varint()
    // A tick, at least, for each change; and what `Replica.stamp` never exceeds.
    guard lamport >= number, lamport <= 2 * LamportTimestamp.largestCount else {
      throw start.failure("a logical time of \(lamport) after change \(number)")
    }
    self.init(id: id, number: number, lamport: lamport)
  }
}

extension Identifier {
  /// A new identity: 128 bits of a generator, which has to be a good one, as `SystemRandomNumberGenerator` is. Two replicas with one identity destroy each
  /// other's changes.
  ///
  ///     var generator = SystemRandomNumberGenerator()
  ///     var replica = Replica(id: .random(using: &generator))
  public static func random(using generator: inout some RandomNumberGenerator) -> Identifier {
    Identifier(high: generator.next(), low: generator.next())
  }
}
