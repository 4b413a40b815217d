// The changes that travel between replicas: a container (Container.swift) of one block.
//
//     block    notebook                16 bytes
//              group...                replica (16 bytes), first number, count, count*(length, that many bytes of a change)
//
// Numbers are varints. A change is encoded as in Change.swift; the names it mentions are those of its author's earlier
// changes, so a replica's changes are read in their order. A set needs no order between replicas: a change that is
// applied waits for those that it follows. As written here every beginning of a set is closed, each change coming after all
// it follows.

public import ReplicatingTypes

/// Changes on their way from one replica to another.
public struct ChangeSet: ReplicatingChanges, Equatable, Sendable {
  /// Consecutive changes of one replica.
  struct Group: Equatable, Sendable {
    let replica: ReplicaID
    /// The number of the first change.
    let first: UInt64
    /// The changes one after the other, and where each ends: a set of millions is a few blocks of memory.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    init(replica: ReplicaID, first: UInt64) {
      self.replica = replica
      self.first = first
    }

    var count: Int { ends.count }
    /// The number after that of the last change.
    var end: UInt64 { first + UInt64(ends.count) }

    mutating func append(_ encoded: some Collection<UInt8>) {
      bytes.append(contentsOf: encoded)
      ends.append(bytes.count)
    }

    subscript(number: UInt64) -> ArraySlice<UInt8>? {
      guard number >= first, number < end else { return nil }
      let index = Int(number - first)
      return bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
    }
  }

  private(set) var groups: [Group] = []
  /// Empty for changes that came from outside: what each of those follows is looked at when it is applied.
  public private(set) var since: Version

  /// No changes yet, of those that follow `since`.
  public init(since: Version = Version()) {
    self.since = since
  }

  /// True if there are no changes.
  public var isEmpty: Bool { groups.isEmpty }

  public var version: Version {
    var version = since
    for group in groups where group.count > 0 {
      version.insert(ChangeID(replica: group.replica, number: group.end - 1))
    }
    return version
  }

  /// The changes, as their authors encoded them: the first of some that are consecutive, and these.
  public var consecutive: [(first: ChangeID, encoded: [ArraySlice<UInt8>])] {
    groups.map { group in
      (
        ChangeID(replica: group.replica, number: group.first),
        (group.first..<group.end).map { group[$0]! }
      )
    }
  }

  mutating func append(_ change: ChangeID, _ encoded: ArraySlice<UInt8>) {
    if groups.last?.replica != change.replica || groups.last?.end != change.number {
      groups.append(Group(replica: change.replica, first: change.number))
    }
    groups[groups.count - 1].append(encoded)
  }

  /// The changes of the notebook with this identity in bytes, with a checksum. O(bytes).
  public func encoded(of notebook: Identifier) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw(Container.header(.changes))
    let start = writer.beginBlock()
    writer.identifier(notebook)
    for group in groups {
      writer.identifier(group.replica)
      writer.varint(group.first)
      writer.varint(group.count)
      for number in group.first..<group.end { writer.counted(group[number]!) }
    }
    writer.endBlock(start)
    return writer.bytes
  }

  /// Reads what `encoded` writes. The changes themselves are looked at only when they are applied.
  public static func decode(
    _ bytes: [UInt8]
  ) throws(DecodingFailure) -> (notebook: Identifier, changes: ChangeSet) {
    var reader = ByteReader(try Container.decode(bytes, as: .changes))
    let notebook = try reader.identifier()
    var changes = ChangeSet()
    while !reader.isAtEnd {
      let replica = try reader.identifier()
      let first = try reader.varint()
      let count = try reader.count()
      guard first > 0, count > 0, first <= UInt64(Int64.max) else {
        throw reader.failure("a group of no changes")
      }
      var group = Group(replica: replica, first: first)
      for _ in 0..<count {
        let change = try reader.counted()
        guard !change.isEmpty else { throw reader.failure("an empty change") }
        group.append(change)
      }
      changes.groups.append(group)
    }
    return (notebook, changes)
  }
}
