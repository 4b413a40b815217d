// Library product only: the programs of this package do not use this file.

// A removal: its change, and what it covers: a count, and changes in the order of their replicas, the last of each. A change
// is the place of its replica, and its number.

/// Format 1, the `VersionRange` from nothing, a count of keys ever used; each key, in the order of their bytes, with its
/// value, the changes that put it there, a count of removals, and the removals in the order of their changes. The changes that put it there are
/// written as what a removal covers.
extension ReplicatingDictionary: BinaryCodable where Key: BinaryCodable, Value: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let range = VersionRange(version: version)
    writer.format(1)
    range.encode(into: &writer)
    writer.sorted(entries) { entry, writer in
      entry.value.encode(into: &writer)
      range.encode(entry.additions, into: &writer)
      range.encode(entry.removals, into: &writer)
    }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "a dictionary")
    let range = try VersionRange.whole(from: &reader)
    var entries: [Key: Entry] = [:]
    try reader.sorted(Key.self) { (key, reader) throws(DecodingFailure) in
      entries[key] = try Entry(from: &reader, in: range)
    }
    self.init(entries: entries, version: range.version)
  }
}

extension ReplicatingDictionary.Entry where Key: BinaryCodable, Value: BinaryCodable {
  fileprivate init(
    from reader: inout ByteReader, in range: VersionRange
  ) throws(DecodingFailure) {
    let start = reader
    self.init(value: try Value(from: &reader), additions: try range.part(from: &reader))
    let seen = version
    guard !additions.isEmpty, range.version.isSuperset(of: seen) else {
      throw start.failure("a value that nobody put there, or one that has seen more than the whole")
    }
    let removals: [ReplicatingDictionary<Key, Value>.Removal] = try range.removals(from: &reader)
    self.removals = removals
    try reader.check(from: start) { () throws(InvalidChange) in
      try ReplicatingDictionary<Key, Value>.Removal.check(removals, of: seen)
    }
  }
}

/// Format 1, the `VersionRange`, a count of values changed; each key, in the order of their bytes, with 0 and the changes of its value, or 1, the
/// whole value and the changes that put it there; a count of keys removed, and each, in the order of their bytes, with a count of removals, and the removals in
/// the order of their changes.
extension ReplicatingDictionary.Changes: BinaryCodable
where Key: BinaryCodable, Value: BinaryCodable, Value.Changes: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let range = VersionRange(self)
    writer.format(1)
    range.encode(into: &writer)
    let parts = Dictionary(uniqueKeysWithValues: parts.map { ($0.key, $0.part) })
    writer.sorted(parts) { part, writer in
      switch part {
      case .changes(let changes):
        false.encode(into: &writer)
        changes.encode(into: &writer)
      case .value(let value, let additions):
        true.encode(into: &writer)
        value.encode(into: &writer)
        range.encode(additions, into: &writer)
      }
    }
    let removals = Dictionary(grouping: removals, by: \.0).mapValues { $0.map(\.1) }
    writer.sorted(removals) { range.encode($0, into: &$1) }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "a dictionary")
    let range = try VersionRange(from: &reader)
    self.init(since: range.since, version: range.version, parts: [], removals: [])
    try reader.sorted(Key.self) { (key, reader) throws(DecodingFailure) in
      guard try Bool(from: &reader) else {
        parts.append((key, .changes(try Value.Changes(from: &reader))))
        return
      }
      let value = try Value(from: &reader)
      parts.append((key, .value(value, additions: try range.part(from: &reader))))
    }
    try reader.sorted(Key.self) { (key, reader) throws(DecodingFailure) in
      let start = reader
      let removals: [ReplicatingDictionary<Key, Value>.Removal] = try range.removals(from: &reader)
      guard !removals.isEmpty else { throw start.failure("a removal by nobody") }
      self.removals += removals.map { (key, $0) }
    }
  }
}

extension VersionRange {
  fileprivate func encode<Key, Value>(
    _ removals: [ReplicatingDictionary<Key, Value>.Removal], into writer: inout ByteWriter
  ) {
    writer.varint(removals.count)
    for removal in removals {
      encode(removal.change, into: &writer)
      encode(removal.covered, into: &writer)
    }
  }

  fileprivate func removals<Key, Value>(
    from reader: inout ByteReader
  ) throws(DecodingFailure) -> [ReplicatingDictionary<Key, Value>.Removal] {
    var removals: [ReplicatingDictionary<Key, Value>.Removal] = []
    for _ in 0..<(try reader.count()) {
      let start = reader
      let change = try change(from: &reader)
      if let last = removals.last, change <= last.change {
        throw start.failure("removals out of order")
      }
      removals.append(.init(change: change, covered: try part(from: &reader)))
    }
    return removals
  }
}
