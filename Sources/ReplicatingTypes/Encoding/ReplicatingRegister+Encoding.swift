// A write: the value, its time in milliseconds as a signed number, the place of its replica, its number, the count of its
// logical time.

/// Its changes since nothing.
extension ReplicatingRegister: BinaryCodable where Value: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    changes(since: Version()).encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let changes = try Changes(from: &reader)
    try reader.check(from: start) { () throws(InvalidChange) in try changes.check() }
    guard changes.since.isEmpty else { throw start.failure("changes in place of a whole value") }
    if let initialValue = changes.initialValue {
      self.init(initialValue)
    } else if let (assignment, _) = changes.winner {
      self.init(first: assignment.value)
    } else {
      throw start.failure("a register that began with nothing")
    }
    join(changes)
    joinedVersion = nil
  }
}

/// The contents of the encoding of a register's changes.
struct RegisterContents: OptionSet {
  let rawValue: UInt8

  /// The write that won.
  static let write = RegisterContents(rawValue: 1)
  /// The initial value with which the register began.
  static let initialValue = RegisterContents(rawValue: 2)
}

/// Format 1, the `VersionRange`, and a byte of bits: 1 for the write that won, which is absent where it was known before; 2 for the initial value, which comes
/// with a write, and in the changes since nothing, if the register began with one. The initial value follows, and the write.
extension ReplicatingRegister.Changes: BinaryCodable where Value: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let range = VersionRange(self)
    writer.format(1)
    range.encode(into: &writer)
    guard tellsBeginning else { return writer.byte(0) }
    var contents: RegisterContents = winner == nil ? [] : .write
    if initialValue != nil { contents.insert(.initialValue) }
    writer.byte(contents.rawValue)
    initialValue?.encode(into: &writer)
    guard let (assignment, stamp) = winner else { return }
    assignment.value.encode(into: &writer)
    writer.signed(assignment.time)
    range.encode(stamp.change, into: &writer)
    writer.varint(stamp.lamport)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "a register")
    let range = try VersionRange(from: &reader)
    let start = reader
    let contents = RegisterContents(rawValue: try reader.byte())
    guard contents.isSubset(of: [.write, .initialValue]) else {
      throw start.failure("contents of a register of which nothing is known")
    }
    let initialValue = contents.contains(.initialValue) ? try Value(from: &reader) : nil
    var winner: (ReplicatingRegister.Assignment, Stamp)?
    if contents.contains(.write) {
      let value = try Value(from: &reader)
      let assignment = ReplicatingRegister.Assignment(value: value, time: try reader.signed())
      let change = try range.change(from: &reader)
      winner = (assignment, Stamp(change: change, lamport: try reader.lamport()))
    }
    self.init(
      since: range.since, version: range.version, winner: winner, initialValue: initialValue)
  }
}
