// A write: the value, its time in milliseconds as a signed number, the place of its replica, its number, the count of its
// logical time.

/// Format 1, the `VersionRange` from nothing, and 1 and the write; or 0 and the initial value if there was no write.
extension ReplicatingRegister: BinaryCodable where Value: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let changes = changes(since: Version())
    changes.encode(into: &writer)
    if changes.winner == nil { value.encode(into: &writer) }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let changes = try Changes(from: &reader)
    try reader.check(from: start) { () throws(InvalidChange) in try changes.check() }
    guard changes.since.isEmpty else { throw start.failure("changes in place of a whole value") }
    if let (assignment, _) = changes.winner {
      self.init(assignment.value)
      join(changes)
      joinedVersion = nil
    } else {
      guard changes.version.isEmpty else { throw start.failure("a write that is absent") }
      self.init(try Value(from: &reader))
    }
  }
}

/// Format 1, the `VersionRange`, and 1 and the write that won; or 0 where that was known before.
extension ReplicatingRegister.Changes: BinaryCodable where Value: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let range = VersionRange(self)
    writer.format(1)
    range.encode(into: &writer)
    (winner != nil).encode(into: &writer)
    guard let (assignment, stamp) = winner else { return }
    assignment.value.encode(into: &writer)
    writer.signed(assignment.time)
    range.encode(stamp.change, into: &writer)
    writer.varint(stamp.lamport)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "a register")
    let range = try VersionRange(from: &reader)
    self.init(since: range.since, version: range.version, winner: nil)
    guard try Bool(from: &reader) else { return }
    let value = try Value(from: &reader)
    let assignment = ReplicatingRegister.Assignment(value: value, time: try reader.signed())
    let change = try range.change(from: &reader)
    winner = (assignment, Stamp(change: change, lamport: try reader.lamport()))
  }
}
