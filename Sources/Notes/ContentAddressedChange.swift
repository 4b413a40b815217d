internal import Bytes
public import ReplicatingTypes

// Changes that any replica makes alike, so that replicas which have not met create one note.

/// A change whose replica is named by a hash of the change: replicas that make it before they meet make the same change.
///
/// A note that is created so has the same elements everywhere, and what each replica then does to it merges as in any note. The
/// change has the number 1 and the time 0, and no author. Its name has 96 bits of SHA-256 of its encoding, which doesn't hold the name
/// itself; `NoteBook.merge(foreign:)` refuses a change with another name.
public struct ContentAddressedChange: Sendable {
  /// The name of the change: its number is 1.
  public let id: ChangeID
  /// The change and its encoding.
  let encoded: EncodedChange

  /// Such changes as they travel.
  public static func changeSet(of changes: [ContentAddressedChange]) -> ChangeSet {
    var set = ChangeSet()
    for change in changes { set.append(change.id, change.encoded.bytes[...]) }
    return set
  }

  /// Makes a change.
  ///
  /// - Parameters:
  ///   - predecessor: the change that it follows.
  ///   - operations: the operations of the change with this name. Each time of an assignment should be 0, since others assign at other times.
  /// - Complexity: O(bytes), twice.
  public init(
    following predecessor: ChangeID? = nil, _ operations: (ChangeID) -> [Change.Operation]
  ) {
    func make(_ id: ChangeID) -> EncodedChange {
      let change = Change(
        id: id, time: 0, predecessors: predecessor.map { [$0] } ?? [],
        isContentAddressed: true, operations: operations(id))
      var mentions = ReplicaTable()
      let bytes = change.encoded(after: 0, &mentions)
      return EncodedChange(change: change, bytes: bytes, mentions: mentions)
    }
    // An encoding names its author by a place, not by the name.
    let unnamed = make(ChangeID(replica: ReplicaID(high: 0, low: 0), number: 1))
    id = ChangeID(replica: Self.replica(named: unnamed.bytes[...]), number: 1)
    encoded = make(id)
  }

  /// The replica that an encoding names.
  static func replica(named encoded: ArraySlice<UInt8>) -> ReplicaID {
    let (high, low) = SHA256.prefix128(of: encoded)
    return ReplicaID(high: high, low: low)
  }
}

// The hash of a change: the first 8 bytes of SHA-256 of it as its author encoded it.
//
// A change from which something was redacted carries the hash that it had before, between its predecessors and its operations, behind
// the byte 1D. So both have the same hash, and it tells whether two encodings are of one change.

/// The hash of a change, by which a change and what is left of it when it was redacted are known for one.
public enum ChangeHash {
  /// The byte before the hash that a redacted change carries.
  static let tag: UInt8 = 0x1d

  /// The hash of a change.
  static func hash(of encoded: ArraySlice<UInt8>) -> UInt64 {
    carried(by: encoded) ?? SHA256.prefix64(of: encoded)
  }

  /// The hash that a change carries, if it is redacted. O(predecessors).
  static func carried(by encoded: ArraySlice<UInt8>) -> UInt64? {
    var reader = ByteReader(encoded)
    return try? original(&reader)
  }

  /// True if two encodings, of changes with one name, are of the same change, which may be redacted. O(bytes).
  public static func isSame(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
    if a.isEqual(to: b) { return true }
    let (one, other) = (carried(by: a), carried(by: b))
    if one == nil, other == nil { return false }
    return (one ?? SHA256.prefix64(of: a)) == (other ?? SHA256.prefix64(of: b))
  }

  private static func original(_ reader: inout ByteReader) throws(DecodingFailure) -> UInt64? {
    _ = try reader.signed()
    for _ in 0..<(try reader.count()) {
      // A mention, with the name of a replica behind 1; and a number.
      if try reader.varint() == 1 { _ = try reader.identifier() }
      _ = try reader.varint()
    }
    guard try reader.byte() == tag else { return nil }
    return try reader.fixed(UInt64.self)
  }
}
