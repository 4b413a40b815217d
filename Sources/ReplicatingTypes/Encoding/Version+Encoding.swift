/// A count of replicas; each replica in their order, 16 bytes, with its number, at least 1.
extension Version: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.varint(count)
    for replica in replicas {
      writer.identifier(replica)
      writer.varint(self[replica])
    }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init()
    var last: ReplicaID?
    for _ in 0..<(try reader.count()) {
      let start = reader
      let replica = try reader.identifier()
      try start.check(replica, after: &last)
      self[replica] = try reader.number(from: 1)
    }
  }
}

/// The replica, 16 bytes, and the number, at least 1.
extension ChangeID: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.identifier(replica)
    writer.varint(number)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let replica = try reader.identifier()
    self.init(replica: replica, number: try reader.number(from: 1))
  }
}

/// The count, no larger than `largestCount`, and the replica, 16 bytes.
extension LamportTimestamp: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.varint(count)
    writer.identifier(replica)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let count = try reader.lamport()
    self.init(count: count, replica: try reader.identifier())
  }
}

/// The change, and the count of its logical time, no larger than the largest that is allowed.
extension Stamp: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    change.encode(into: &writer)
    writer.varint(lamport)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let change = try ChangeID(from: &reader)
    self.init(change: change, lamport: try reader.lamport())
  }
}

/// From where to where changes go: what the encodings of values and changes begin with, after their format. A value's
/// changes begin at nothing. What follows names each change by the place of its replica in this list, from 0, and its
/// number.
///
/// A count of replicas; each replica in their order, 16 bytes, the number up to where changes are left out, and the number
/// up to where they go, at least 1 and not less.
struct VersionRange: BinaryCodable {
  let since: Version
  let version: Version
  private let replicas: [ReplicaID]
  private let places: [ReplicaID: Int]

  init(_ changes: some ReplicatingChanges) {
    self.init(since: changes.since, version: changes.version)
  }

  init(since: Version = Version(), version: Version) {
    self.since = since
    self.version = version
    let replicas = version.replicas
    self.replicas = replicas
    places = Dictionary(uniqueKeysWithValues: zip(replicas, replicas.indices))
  }

  func encode(into writer: inout ByteWriter) {
    writer.varint(replicas.count)
    for replica in replicas {
      writer.replica(replica)
      writer.varint(since[replica])
      writer.varint(version[replica])
    }
  }

  init(from reader: inout ByteReader) throws(DecodingFailure) {
    var (since, version) = (Version(), Version())
    var last: ReplicaID?
    for _ in 0..<(try reader.count()) {
      let start = reader
      let replica = try reader.replica()
      try start.check(replica, after: &last)
      since[replica] = try reader.varint()
      version[replica] = try reader.number(from: max(since[replica], 1))
    }
    self.init(since: since, version: version)
  }

  /// The range of a value's changes: since nothing.
  static func whole(from reader: inout ByteReader) throws(DecodingFailure) -> VersionRange {
    let start = reader
    let range = try VersionRange(from: &reader)
    guard range.since.isEmpty else { throw start.failure("changes in place of a whole value") }
    return range
  }

  func encode(_ change: ChangeID, into writer: inout ByteWriter) {
    guard let place = places[change.replica] else {
      preconditionFailure("a change that was not seen")
    }
    writer.varint(place)
    writer.varint(change.number)
  }

  func change(from reader: inout ByteReader) throws(DecodingFailure) -> ChangeID {
    let start = reader
    let place = try reader.count()
    guard place < replicas.count else {
      throw start.failure("replica \(place) of \(replicas.count)")
    }
    let change = ChangeID(replica: replicas[place], number: try reader.number(from: 1))
    guard version.contains(change) else { throw start.failure("a change beyond those promised") }
    return change
  }

  /// Writes a part of the version: a count, and the changes.
  func encode(_ part: Version, into writer: inout ByteWriter) {
    writer.varint(part.count)
    for replica in part.replicas {
      encode(ChangeID(replica: replica, number: part[replica]), into: &writer)
    }
  }

  func part(from reader: inout ByteReader) throws(DecodingFailure) -> Version {
    var part = Version()
    var last: ReplicaID?
    for _ in 0..<(try reader.count()) {
      let start = reader
      let change = try change(from: &reader)
      if let last, change.replica <= last { throw start.failure("replicas out of order") }
      last = change.replica
      part[change.replica] = change.number
    }
    return part
  }
}

extension ByteReader {
  mutating func number(from least: UInt64) throws(DecodingFailure) -> UInt64 {
    let start = self
    let number = try varint()
    guard number >= least else {
      throw start.failure("\(number) where \(least) is the least")
    }
    return number
  }

  /// The count of a logical time.
  mutating func lamport() throws(DecodingFailure) -> UInt64 {
    let start = self
    let count = try varint()
    guard count <= LamportTimestamp.largestCount else {
      throw start.failure("a logical time of \(count)")
    }
    return count
  }

  /// Throws if a replica that was read from here stands behind no lesser one in its list.
  fileprivate func check(
    _ replica: ReplicaID, after last: inout ReplicaID?
  ) throws(DecodingFailure) {
    if let last, replica <= last { throw failure("replicas out of order") }
    last = replica
  }

  /// Checks what was read from `start` on: what no value has is not decoded.
  func check(
    from start: ByteReader, _ body: () throws(InvalidChange) -> Void
  ) throws(DecodingFailure) {
    do { try body() } catch { throw start.failure(error.reason) }
  }
}

// MARK: - Unordered collections

extension ByteWriter {
  /// Writes entries in the order of their keys' bytes: a count, and each key with what `body` writes of it.
  public mutating func sorted<Key: BinaryCodable & Hashable, Value>(
    _ entries: [Key: Value], _ body: (Value, inout ByteWriter) -> Void
  ) {
    varint(entries.count)
    let encoded = entries.map { (key: $0.key.encoded(), value: $0.value) }
    for (key, value) in encoded.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      raw(key)
      body(value, &self)
    }
  }
}

extension ByteReader {
  /// Reads a value that was written by itself, as keys and elements are: it names its replicas anew.
  mutating func alone<Value: BinaryCodable>(
    _ type: Value.Type
  ) throws(DecodingFailure) -> Value {
    let table = table
    self.table = nil
    let value = try Value(from: &self)
    self.table = table
    return value
  }

  /// Reads what `ByteWriter.sorted` wrote: `body` reads what belongs to each key.
  public mutating func sorted<Key: BinaryCodable & Hashable>(
    _ type: Key.Type, _ body: (Key, inout ByteReader) throws(DecodingFailure) -> Void
  ) throws(DecodingFailure) {
    var known: Set<Key> = []
    var last: ArraySlice<UInt8>?
    for _ in 0..<(try count()) {
      let start = self
      let key = try alone(Key.self)
      let encoded = bytes(since: start)
      if let last, !last.lexicographicallyPrecedes(encoded) {
        throw start.failure("keys or elements out of order")
      }
      last = encoded
      // Equal in spite of their bytes: strings can be.
      guard known.insert(key).inserted else { throw start.failure("a key or an element twice") }
      try body(key, &self)
    }
  }
}
