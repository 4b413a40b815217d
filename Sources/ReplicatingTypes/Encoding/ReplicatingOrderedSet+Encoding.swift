// Library product only: the programs of this package do not use this file.

/// Format 1, the slots as a `ReplicatingArray`, and the members as a `ReplicatingSet`.
extension ReplicatingOrderedSet: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.format(1)
    slots.sequence.encode(into: &writer)
    members.encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "an ordered set")
    let start = reader
    let slots = try ReplicatingArray<Element>(from: &reader)
    // A sequence can be read from bytes in which its steps are cut into more.
    var writer = ByteWriter()
    writer.table = reader.table
    slots.encode(into: &writer)
    guard writer.bytes.elementsEqual(reader.bytes(since: start)) else {
      throw start.failure("slots that are written otherwise")
    }
    let members = try ReplicatingSet<Element>(from: &reader)
    guard !slots.hasRemovals else { throw start.failure("a slot that is removed") }
    var homeless = members.values
    slots.forEachSlot { element, _, _ in homeless.remove(element) }
    guard homeless.isEmpty else { throw start.failure("a member without a place") }
    self.init(slots: slots, members: members)
  }
}

/// Format 1, the changes of the slots, and those of the members. What they follow is what both follow together.
extension ReplicatingOrderedSet.Changes: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.format(1)
    slots.encode(into: &writer)
    members.encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "an ordered set")
    let slots = try ReplicatingArray<Element>.Changes(from: &reader)
    let members = try ReplicatingSet<Element>.Changes(from: &reader)
    var since = slots.since
    since.merge(members.since)
    self.init(since: since, slots: slots, members: members)
  }
}
