internal import ReplicatingTypes

/// A change that follows others than its author's previous one, or whose logical time is later than that makes it.
struct PackedLink: Equatable, Sendable {
  var number: UInt64
  /// By how much its logical time is later than that of the change before it makes it.
  var jump: UInt64
  var predecessors: [NamedChange]

  /// Reads the links of a block of changes `numbers`.
  static func decode(
    _ bytes: ArraySlice<UInt8>, of numbers: ClosedRange<UInt64>
  ) throws(DecodingFailure) -> [PackedLink] {
    var reader = ByteReader(bytes)
    var links: [PackedLink] = []
    var number = numbers.lowerBound - 1
    var lastNumbers: [Int: UInt64] = [:]
    while !reader.isAtEnd {
      let start = reader
      let step = try reader.varint()
      guard step < numbers.upperBound - number else { throw start.failure("a link of no change") }
      number += step + 1
      let jump = try reader.varint()
      var predecessors: [NamedChange] = []
      for _ in 0..<(try reader.count()) {
        let author = try reader.count()
        let next = (lastNumbers[author] ?? 0) &+ UInt64(bitPattern: try reader.signed())
        lastNumbers[author] = next
        predecessors.append(NamedChange(author: author, number: next))
      }
      links.append(PackedLink(number: number, jump: jump, predecessors: predecessors))
    }
    return links
  }
}

/// Reads what `BlockEncoder` writes. What it reads may be forged: every number is looked at before it is used.
struct BlockDecoder {
  private var reader: ByteReader
  private var output: RawChangeWriter
  private var expected = ExpectedNotes()
  private let times: [Int64]
  private let links: [PackedLink]
  private var nextLink = 0
  private let first: UInt64
  private var clock: (time: Int64, lamport: UInt64)
  private var ends: [Int] = []
  private var lamports: [UInt64] = []
  private var operation = RawOperation(tag: .insert)
  /// The logical time that the change takes that is being made.
  private var ticks: UInt64 = 0

  /// The content of a block. Throws unless these are its bytes, as they were written.
  @discardableResult
  static func content(
    of bytes: ArraySlice<UInt8>, _ entry: PackedBlock
  ) throws(DecodingFailure) -> ArraySlice<UInt8> {
    var reader = ByteReader(bytes)
    let content = try reader.block()
    guard reader.isAtEnd, content.count == entry.length else {
      throw DecodingFailure(offset: 0, reason: "these are not the bytes of the block")
    }
    return content
  }

  static func decode(
    _ bytes: ArraySlice<UInt8>, _ entry: PackedBlock, of range: PackedRange
  ) throws(DecodingFailure) -> ChangeBlock {
    let content = try StoredBytes.decode(try content(of: bytes, entry))
    var decoder = try BlockDecoder(ByteReader(content), entry, range)
    return try decoder.run(entry)
  }

  private init(
    _ reader: ByteReader, _ entry: PackedBlock, _ range: PackedRange
  ) throws(DecodingFailure) {
    self.reader = reader
    times = try PackedTimes.decode(entry.count, from: &self.reader)
    links = try PackedLink.decode(entry.links[...], of: entry.first...entry.last)
    first = entry.first
    clock = (entry.start.time, entry.start.lamport)
    output = RawChangeWriter(
      mentions: range.mentions, named: entry.start.named, capacity: PackedBlock.largestSize)
    ends.reserveCapacity(entry.count)
    lamports.reserveCapacity(entry.count)
  }

  /// The number of the next change.
  private var number: UInt64 { first + UInt64(ends.count) }

  private mutating func run(_ entry: PackedBlock) throws(DecodingFailure) -> ChangeBlock {
    while ends.count < times.count { try change() }
    let end = PackedState(time: clock.time, lamport: clock.lamport, named: output.named)
    guard reader.isAtEnd, nextLink == links.count, end == entry.end else {
      throw reader.failure("a block that isn't what the directory says of it")
    }
    return ChangeBlock(
      first: entry.first, bytes: output.writer.bytes, ends: ends, lamports: lamports)
  }

  // MARK: - Changes

  private mutating func begin() throws(DecodingFailure) {
    guard ends.count < times.count else { throw reader.failure("changes that have no time") }
    let elapsed = times[ends.count]
    let (time, overflow) = clock.time.addingReportingOverflow(elapsed)
    guard !overflow, Change.clamped(time) == time else {
      throw reader.failure("a time beyond all calendars")
    }
    clock.time = time
    ticks = 0
    var predecessors: [NamedChange] = []
    if nextLink < links.count, links[nextLink].number == number {
      predecessors = links[nextLink].predecessors
      try advance(links[nextLink].jump)
      nextLink += 1
    }
    do { try output.begin(elapsed: elapsed, predecessors: predecessors) } catch {
      throw reader.failure("a predecessor of a replica that has no name")
    }
  }

  private mutating func advance(_ ticks: UInt64) throws(DecodingFailure) {
    let (lamport, overflow) = clock.lamport.addingReportingOverflow(ticks)
    guard !overflow else { throw reader.failure("a logical time beyond all numbers") }
    clock.lamport = lamport
  }

  private mutating func finish() throws(DecodingFailure) {
    try advance(max(1, ticks))
    ends.append(output.writer.bytes.count)
    lamports.append(clock.lamport)
    // A change by itself is as large as its bytes make it.
    guard ends.count == 1 || output.writer.bytes.count <= PackedBlock.largestSize else {
      throw reader.failure("a block that is too large")
    }
  }

  private mutating func write(
    _ operation: RawOperation, text: ArraySlice<UInt8> = [], observed: [NamedChange] = []
  ) throws(DecodingFailure) {
    if operation.tag == .insert { ticks &+= UInt64(text.count) }
    if operation.tag == .redacted { ticks &+= UInt64(operation.count) }
    do { try output.write(operation, text: text, observed: observed) } catch {
      throw reader.failure("a replica that has no name")
    }
  }

  /// Reads a change, or a run of them.
  private mutating func change() throws(DecodingFailure) {
    let start = reader
    if try reader.byte() == UInt8(StepCode.several << 1) {
      let count = try reader.count()
      guard count > 1 else { throw start.failure("several operations that are \(count)") }
      try begin()
      for _ in 0..<count {
        guard try step(isAlone: false) == 1 else { throw reader.failure("a run inside a change") }
      }
      try finish()
    } else {
      reader = start
      _ = try step(isAlone: true)
    }
  }

  // MARK: - Steps

  /// The remarks that notes have made on the step that follows.
  private struct Remarks {
    var author: Int?
    var before: NamedElement?
    var divider = 0
  }

  /// Reads a step with its notes, and writes the changes that it is, or if it isn't alone in its change the operation.
  /// Returns of how many changes it is.
  private mutating func step(isAlone: Bool) throws(DecodingFailure) -> Int {
    var remarks = Remarks()
    while true {
      let start = reader
      let byte = try reader.byte()
      let code = Int(byte >> 1)
      guard code < StepCode.several else {
        guard byte & 1 == 0 else { throw start.failure("a code that is none") }
        if code == StepCode.other {
          guard remarks.author == nil, remarks.before == nil, remarks.divider == 0 else {
            throw start.failure("remarks on what they don't concern")
          }
          try other(isAlone: isAlone)
          return 1
        }
        try note(code, &remarks)
        continue
      }
      var distance = 0
      if byte & 1 == 1 {
        let folded = try reader.varint()
        guard folded < 1 << 36 else { throw start.failure("a distance beyond all texts") }
        distance = Int(folded + 1) >> 1 ^ -(Int(folded + 1) & 1)
      }
      if code < StepCode.inserted.upperBound {
        return try insertion(code, distance, remarks, isAlone: isAlone)
      }
      guard remarks.before == nil, remarks.divider == 0 else {
        throw start.failure("a removal before something")
      }
      return try removal(code, distance, remarks.author, isAlone: isAlone)
    }
  }

  private mutating func note(_ code: Int, _ remarks: inout Remarks) throws(DecodingFailure) {
    switch code {
    case StepCode.note:
      let author = try reader.count()
      let number =
        author == 0
        ? self.number &- UInt64(bitPattern: try reader.signed()) : try reader.varint()
      expected.move(to: NamedChange(author: author, number: number))
    case StepCode.author: remarks.author = try reader.count()
    case StepCode.before: remarks.before = try element()
    case StepCode.divider: remarks.divider = try reader.count()
    case StepCode.width:
      let width = try reader.count()
      expected.text.width = width
    default: throw reader.failure("a code that is none")
    }
  }

  private mutating func element() throws(DecodingFailure) -> NamedElement {
    let code = try reader.count()
    return code == 0 ? .none : NamedElement(code - 1, try reader.count())
  }

  private mutating func changes() throws(DecodingFailure) -> [NamedChange] {
    var changes: [NamedChange] = []
    for _ in 0..<(try reader.count()) {
      changes.append(NamedChange(author: try reader.count(), number: try reader.varint()))
    }
    return changes
  }

  private mutating func insertion(
    _ code: Int, _ distance: Int, _ remarks: Remarks, isAlone: Bool
  ) throws(DecodingFailure) -> Int {
    let author = remarks.author ?? expected.text.author
    let gap = expected.text.gap(of: author) + distance
    guard gap >= 0, gap <= Int(Int32.max) + 1 else {
      throw reader.failure("an element beyond all texts")
    }
    operation.tag = .insert
    operation.count = remarks.divider
    operation.note = expected.current
    operation.first = gap == 0 ? .none : NamedElement(author, gap - 1)
    operation.second = remarks.before ?? expected.text.element(behind: gap, of: author)
    guard operation.second.isNone || operation.second.offset <= Int(Int32.max) else {
      throw reader.failure("an element beyond all texts")
    }
    var inserted = 0
    var count = 1
    if code < StepCode.typed.upperBound {
      guard remarks.divider == 0 else { throw reader.failure("a divider of what is typed") }
      count = code - StepCode.typed.lowerBound + 1
      if code == StepCode.typed.upperBound - 1 { count += try reader.count() }
      guard isAlone || count == 1 else { return count }
      var next = expected.text.next(behind: gap, of: author)
      for index in 0..<count {
        if index > 0 {
          guard next <= Int(Int32.max) + 1 else {
            throw reader.failure("an element beyond all texts")
          }
          operation.first = NamedElement(0, next - 1)
        }
        let start = reader
        guard let width = try reader.byte().scalarWidth else { throw start.failure("no scalar") }
        reader = start
        let text = try reader.raw(width)
        if isAlone { try begin() }
        try write(operation, text: text)
        if isAlone { try finish() }
        inserted += width
        next += width
      }
    } else {
      inserted = code - StepCode.inserted.lowerBound
      if code == StepCode.inserted.upperBound - 1 { inserted += try reader.count() }
      guard remarks.divider == 0 || remarks.divider < inserted else {
        throw reader.failure("a divider of nothing")
      }
      let text = try reader.raw(inserted)
      if isAlone { try begin() }
      try write(operation, text: text)
      if isAlone { try finish() }
    }
    expected.text.insert(inserted, behind: gap, of: author, before: operation.second)
    return count
  }

  private mutating func removal(
    _ code: Int, _ distance: Int, _ remark: Int?, isAlone: Bool
  ) throws(DecodingFailure) -> Int {
    let isForward =
      StepCode.removedForward.contains(code) || StepCode.removedBehind.contains(code)
    let author = remark ?? (isForward ? expected.text.ahead.author : expected.text.author)
    var count = 1
    var width = expected.text.width
    switch code {
    case StepCode.removedBackward: count = code - StepCode.removedBackward.lowerBound + 1
    case StepCode.removedForward: count = code - StepCode.removedForward.lowerBound + 1
    default:
      let codes = isForward ? StepCode.removedBehind : StepCode.removedBefore
      width = code == codes.upperBound - 1 ? try reader.count() : 2 + code - codes.lowerBound
    }
    guard isAlone || count == 1 else { return count }
    let anchor =
      distance + (isForward ? expected.text.ahead(of: author) : expected.text.gap(of: author))
    let start = isForward ? anchor : anchor - count * width
    guard start >= 0, start + count * width <= 2 * Int(Int32.max) else {
      throw reader.failure("an element beyond all texts")
    }
    operation.tag = .remove
    operation.note = expected.current
    operation.count = width
    for index in 0..<count {
      let place = isForward ? index : count - 1 - index
      operation.first = NamedElement(author, start + place * width)
      guard operation.first.offset <= Int(Int32.max) else {
        throw reader.failure("an element beyond all texts")
      }
      if isAlone { try begin() }
      try write(operation)
      if isAlone { try finish() }
    }
    expected.text.remove(
      start..<start + count * width, of: author, isForward: isForward)
    return count
  }

  private mutating func other(isAlone: Bool) throws(DecodingFailure) {
    let start = reader
    guard let tag = RawOperation.Tag(rawValue: try reader.byte()),
      tag != .insert, tag != .dividedInsertion, tag != .remove
    else { throw start.failure("an operation of an unknown kind") }
    if tag == .create { expected.move(to: NamedChange(author: 0, number: number)) }
    var operation = RawOperation(tag: tag)
    operation.note = expected.current
    var text: ArraySlice<UInt8> = []
    var observed: [NamedChange] = []
    switch tag {
    case .create, .restore, .insert, .dividedInsertion, .remove, .purge, .imported,
      .contentAddressed:
      break
    case .original: text = try reader.raw(8)
    case .author, .request: text = try reader.counted()
    case .entry: operation.count = try reader.count()
    case .place:
      operation.first = try element()
      operation.second = try element()
    case .created, .modified: operation.time = try reader.signed()
    case .title, .property:
      operation.time = try reader.signed()
      text = try reader.counted()
    case .priority:
      operation.time = try reader.signed()
      operation.count = Int(try reader.byte())
    case .insertTag: text = try reader.counted()
    case .removeTag:
      text = try reader.counted()
      observed = try changes()
    case .delete, .withdraw: observed = try changes()
    case .base:
      operation.count = try reader.count()
      observed = try changes()
    case .redacted:
      operation.count = try reader.count()
      for _ in 0..<(try reader.count()) {
        observed.append(NamedChange(author: try reader.count(), number: 0))
      }
    }
    if isAlone { try begin() }
    try write(operation, text: text, observed: observed)
    if isAlone { try finish() }
  }
}
