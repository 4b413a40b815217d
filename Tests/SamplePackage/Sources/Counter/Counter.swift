public import ReplicatingTypes

/// A number that each replica raises and lowers.
public struct Counter: Replicable, Sendable {
  /// What one replica has added, and its last change.
  struct Share: Hashable, Sendable {
    var sum: Int
    var lastChange: UInt64
  }

  private var shares: [ReplicaID: Share] = [:]
  public var joinedVersion: JoinedVersion? = JoinedVersion()

  public init() {}

  public var value: Int { shares.values.reduce(0) { $0 &+ $1.sum } }

  public mutating func add(_ amount: Int, by replica: inout Replica) {
    let change = replica.stamp(after: 0).change
    let sum = shares[replica.id]?.sum ?? 0
    shares[replica.id] = Share(sum: sum &+ amount, lastChange: change.number)
  }
}

extension Counter {
  /// The shares that are newer than those that are known. Each tells all that its replica did, so they follow nothing.
  public struct Changes: ReplicatingChanges, Sendable {
    var shares: [ReplicaID: Share] = [:]
    public var since: Version { Version() }
    public var version: Version { Counter.version(of: shares) }
  }

  static func version(of shares: [ReplicaID: Share]) -> Version {
    var version = Version()
    for (id, share) in shares { version.insert(ChangeID(replica: id, number: share.lastChange)) }
    return version
  }

  public var version: Version { Self.version(of: shares) }

  public func changes(since version: Version) -> Changes {
    Changes(shares: shares.filter { $0.value.lastChange > version[$0.key] })
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    for (id, share) in changes.shares {
      if let known = shares[id], known.lastChange == share.lastChange, known != share {
        throw InvalidChange("another sum than is known of this change")
      }
    }
  }

  public mutating func join(_ changes: Changes) {
    for (id, share) in changes.shares where share.lastChange > shares[id]?.lastChange ?? 0 {
      shares[id] = share
    }
    joinedVersion?.version.merge(changes.version)
  }
}

extension Counter: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { Self.encode(shares, into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    shares = try Self.shares(from: &reader)
  }

  static func encode(_ shares: [ReplicaID: Share], into writer: inout ByteWriter) {
    writer.sorted(shares) { share, writer in
      writer.signed(Int64(share.sum))
      writer.varint(share.lastChange)
    }
  }

  static func shares(from reader: inout ByteReader) throws(DecodingFailure) -> [ReplicaID: Share] {
    var shares: [ReplicaID: Share] = [:]
    try reader.sorted(ReplicaID.self) { (id, reader) throws(DecodingFailure) in
      let share = Share(sum: try Int(from: &reader), lastChange: try reader.varint())
      guard share.lastChange > 0 else { throw reader.failure("a share that nobody made") }
      shares[id] = share
    }
    return shares
  }
}

extension Counter.Changes: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { Counter.encode(shares, into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    shares = try Counter.shares(from: &reader)
  }
}
