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

/// Elements that one change added, or changes of one replica that follow each other and added one element each. So an element takes no more
/// than its own bytes, as a rule.
private struct Run {
  var first: ChangeID
  var isOneChange: Bool
  var count: Int

  var last: ChangeID {
    let number = first.number &+ (isOneChange ? 0 : UInt64(count) &- 1)
    return ChangeID(replica: first.replica, number: number)
  }

  /// True if one run is written for this one and another one behind it.
  func isContinued(by next: Run) -> Bool {
    !isOneChange && !next.isOneChange && next.first.replica == first.replica
      && next.first.number == last.number &+ 1
  }
}

/// Format 1, the `VersionRange`, a count of runs; each run, in the order of their changes: the place of its replica, the number of its first change,
/// twice the count of its elements, and 1 more if one change added them all, two at least; the elements, those of one change in the order
/// of their bytes.
extension ReplicatingAddOnlySet.Changes: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let range = VersionRange(self)
    writer.format(1)
    range.encode(into: &writer)
    let elements = additions.map { (bytes: $0.0.encoded(), change: $0.1) }.sorted {
      $0.change == $1.change
        ? $0.bytes.lexicographicallyPrecedes($1.bytes) : $0.change < $1.change
    }
    let runs = Self.runs(elements.map(\.change))
    writer.varint(runs.count)
    var place = 0
    for run in runs {
      range.encode(run.first, into: &writer)
      writer.varint(run.count * 2 + (run.isOneChange ? 1 : 0))
      for (bytes, _) in elements[place..<place + run.count] { writer.raw(bytes) }
      place += run.count
    }
  }

  /// The runs of sorted changes.
  private static func runs(_ changes: [ChangeID]) -> [Run] {
    var runs: [Run] = []
    var place = 0
    while place < changes.count {
      let count = changes[place...].prefix { $0 == changes[place] }.count
      let run = Run(first: changes[place], isOneChange: count > 1, count: count)
      if let last = runs.last, last.isContinued(by: run) {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(run)
      }
      place += count
    }
    return runs
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "an add-only set")
    let range = try VersionRange(from: &reader)
    self.init(since: range.since, version: range.version, additions: [])
    var known: Set<Element> = []
    var previous: Run?
    for _ in 0..<(try reader.count()) {
      let run = try Self.run(from: &reader, range, behind: previous)
      previous = run
      var last: ArraySlice<UInt8>?
      for index in 0..<run.count {
        let start = reader
        let element = try reader.alone(Element.self)
        let bytes = reader.bytes(since: start)
        if run.isOneChange, let last, !last.lexicographicallyPrecedes(bytes) {
          throw start.failure("elements out of order")
        }
        last = bytes
        guard known.insert(element).inserted else { throw start.failure("an element twice") }
        var change = run.first
        if !run.isOneChange { change.number += UInt64(index) }
        additions.append((element, change))
      }
    }
  }

  private static func run(
    from reader: inout ByteReader, _ range: VersionRange, behind previous: Run?
  ) throws(DecodingFailure) -> Run {
    let start = reader
    let first = try range.change(from: &reader)
    let code = try reader.count()
    let run = Run(first: first, isOneChange: code % 2 == 1, count: code / 2)
    guard run.count > (run.isOneChange ? 1 : 0) else {
      throw start.failure("a run of \(run.count) elements")
    }
    guard run.last.number >= first.number, range.version.contains(run.last) else {
      throw start.failure("a change beyond those promised")
    }
    if let previous, previous.last >= first || previous.isContinued(by: run) {
      throw start.failure("runs out of order, or one in two")
    }
    return run
  }
}
