/// As its changes since nothing.
extension ReplicatingSet: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    changes(since: Version()).encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    let changes = try Changes(from: &reader)
    guard changes.since.isEmpty else { throw start.failure("changes in place of a whole value") }
    try reader.check(from: start) { () throws(InvalidChange) in try changes.check() }
    self.init()
    join(changes)
    joinedVersion = nil
  }
}

/// Format 1, the `VersionRange`, the largest count of logical time; a count of elements, and each element, in the order of
/// their bytes, with a list of its additions; a count of removals, and each in the order of their changes: its change, the
/// element, and a list of the additions it takes away.
///
/// A change is the place of its replica, and its number; a list is a count, at least 1, and changes in their order.
extension ReplicatingSet.Changes: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let range = VersionRange(self)
    writer.format(1)
    range.encode(into: &writer)
    writer.varint(lamport)
    // The additions of an element are in order.
    let standing = Dictionary(grouping: additions) { $0.0 }.mapValues { $0.map { $0.1 } }
    writer.sorted(standing) { range.encode($0, into: &$1) }
    writer.varint(removals.count)
    for removal in removals {
      range.encode(removal.change, into: &writer)
      removal.element.encode(into: &writer)
      range.encode(removal.observed, into: &writer)
    }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "a set")
    let range = try VersionRange(from: &reader)
    let lamport = try reader.lamport()
    self.init(
      since: range.since, version: range.version, additions: [], removals: [], lamport: lamport)
    try reader.sorted(Element.self) { (element, reader) throws(DecodingFailure) in
      for addition in try range.changes(from: &reader) { additions.append((element, addition)) }
    }
    for _ in 0..<(try reader.count()) {
      let start = reader
      let change = try range.change(from: &reader)
      if let last = removals.last, change < last.change {
        throw start.failure("removals out of order")
      }
      let element = try Element(from: &reader)
      removals.append(
        .init(element: element, observed: try range.changes(from: &reader), change: change))
    }
  }
}

extension VersionRange {
  fileprivate func encode(_ changes: [ChangeID], into writer: inout ByteWriter) {
    writer.varint(changes.count)
    for change in changes { encode(change, into: &writer) }
  }

  fileprivate func changes(from reader: inout ByteReader) throws(DecodingFailure) -> [ChangeID] {
    let start = reader
    var changes: [ChangeID] = []
    for _ in 0..<(try reader.count()) { changes.append(try change(from: &reader)) }
    guard !changes.isEmpty, changes.isStrictlyIncreasing else {
      throw start.failure("no changes, or out of order")
    }
    return changes
  }
}
