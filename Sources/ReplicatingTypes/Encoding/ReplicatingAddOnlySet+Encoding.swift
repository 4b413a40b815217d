// Library product only: the programs of this package do not use this file.

/// As its changes since nothing.
extension ReplicatingAddOnlySet: BinaryCodable where Element: BinaryCodable {
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

/// Format 1, the `VersionRange`, a count of elements; each element, in the order of their bytes, with the change that stands
/// for it: the place of its replica, and its number.
extension ReplicatingAddOnlySet.Changes: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let range = VersionRange(self)
    writer.format(1)
    range.encode(into: &writer)
    let changes = Dictionary(uniqueKeysWithValues: additions)
    writer.sorted(changes) { range.encode($0, into: &$1) }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "an add-only set")
    let range = try VersionRange(from: &reader)
    self.init(since: range.since, version: range.version, additions: [])
    try reader.sorted(Element.self) { (element, reader) throws(DecodingFailure) in
      additions.append((element, try range.change(from: &reader)))
    }
  }
}
