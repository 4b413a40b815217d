// A note in bytes, as it is put away and taken out again. This file owns the encoding:
//
//     created                signed varint: milliseconds since 1970
//     title, priority        registers; a priority is a byte: 0 low, 1 normal, 2 high
//     tags                   1 and a set of counted UTF-8; 0 if there never was one
//     properties             varint: how many; each a counted name and a register; by name
//     concurrent             0 if each change of the text knew all changes before it; 1 if not; 2 if moreover removed separators were spared or
//                            may have been, in some state of the text. If it is not 2, nothing is spared; if it is 0, nothing is a copy
//     spared                 varint: how many; each an author, varint, varint: the elements of the text from an offset on, how many,
//                            that were removed and are shown; by author and offset
//     copies                 varint: how many lists; each a varint: how many, and of each the author, the offset and how many:
//                            insertions of the text that are one, in the order of their stamps; the lists by their first
//     withdrawals            varint: how many; each the change, a varint: its logical time, and a varint: how many runs of changes it
//                            names, each the first change and a varint: how many; in logical time
//     text                   with all of its past
//     content                version: of each replica the last change that wrote content
//     deletions              varint: how many; each a change, a signed varint: its time, less that of the creation, and the version it
//                            covers, in the order of the changes
//     last change            varint: where its logical time begins; varint: its author, n for the n-th replica of `content`,
//                            0 if that does not have it, and 16 bytes of identity follow; signed varint: its time, less
//                            that of the creation
//     imported               0, or 1 and a signed varint: when an imported note was last changed before, less the time of the creation
//
// The parts are encoded as their types do. The name of the note is not in it.

public import ReplicatingTypes

extension Priority: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { writer.byte(rawValue) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    guard let priority = Priority(rawValue: try reader.byte()) else {
      throw start.failure("an unknown priority")
    }
    self = priority
  }
}

extension Tag: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { name.encode(into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init(try String(from: &reader))
  }
}

extension Note {
  func encode(into writer: inout ByteWriter) {
    writer.signed(created)
    title.encode(into: &writer)
    priority.encode(into: &writer)
    // Compiled for any element a set takes its time, and most notes have no tags.
    (!tags.version.isEmpty).encode(into: &writer)
    if !tags.version.isEmpty { tags.encode(into: &writer) }
    writer.varint(properties.count)
    for (name, register) in properties.sorted(by: { $0.key < $1.key }) {
      name.text.encode(into: &writer)
      register.encode(into: &writer)
    }
    writer.byte(text.isContested ? 2 : text.isConcurrent ? 1 : 0)
    Self.encode(text.sparedElements.sorted, into: &writer)
    let copies = text.copies
    writer.varint(copies.count)
    for list in copies { Self.encode(list, into: &writer) }
    Self.encode(withdrawals, into: &writer)
    text.encode(into: &writer)
    content.encode(into: &writer)
    writer.varint(deletions.count)
    for deletion in deletions {
      deletion.change.encode(into: &writer)
      writer.signed(deletion.clock - created)
      deletion.covered.encode(into: &writer)
    }
    encodeLastChange(into: &writer)
  }

  private func encodeLastChange(into writer: inout ByteWriter) {
    writer.varint(lastChange.logical.count)
    if let place = content.replicas.firstIndex(of: lastChange.logical.replica) {
      writer.varint(place + 1)
    } else {
      writer.varint(0)
      writer.identifier(lastChange.logical.replica)
    }
    writer.signed(lastChange.clock - created)
    (imported != nil).encode(into: &writer)
    if let imported { writer.signed(imported - created) }
  }

  private mutating func decodeLastChange(from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    lastChange.logical.count = try reader.varint()
    let place = try reader.count()
    if place == 0 {
      lastChange.logical.replica = try reader.identifier()
      guard content[lastChange.logical.replica] == 0 else {
        throw start.failure("a replica spelt out that has a place")
      }
    } else {
      let replicas = content.replicas
      guard place <= replicas.count else { throw start.failure("replica \(place) of a note") }
      lastChange.logical.replica = replicas[place - 1]
    }
    lastChange.clock = try decodeTime(from: &reader)
    imported = try Bool(from: &reader) ? try decodeTime(from: &reader) : nil
  }

  /// A time that stands as its distance from that of the creation.
  private func decodeTime(from reader: inout ByteReader) throws(DecodingFailure) -> Int64 {
    let start = reader
    let (time, overflow) = created.addingReportingOverflow(try reader.signed())
    guard !overflow else { throw start.failure("a time beyond all calendars") }
    return time
  }

  private static func encode(_ ranges: [ElementRange], into writer: inout ByteWriter) {
    writer.varint(ranges.count)
    for range in ranges {
      writer.identifier(range.author)
      writer.varint(range.offset)
      writer.varint(range.count)
    }
  }

  private static func decodeRanges(
    from reader: inout ByteReader
  ) throws(DecodingFailure) -> [ElementRange] {
    var ranges: [ElementRange] = []
    for _ in 0..<(try reader.count()) {
      ranges.append(
        ElementRange(
          author: try reader.identifier(), offset: try reader.count(), count: try reader.count()))
    }
    return ranges
  }

  private static func encode(_ withdrawals: Withdrawals, into writer: inout ByteWriter) {
    writer.varint(withdrawals.list.count)
    for withdrawal in withdrawals.list {
      withdrawal.stamp.change.encode(into: &writer)
      writer.varint(withdrawal.stamp.lamport)
      writer.varint(withdrawal.changes.runs.count)
      for run in withdrawal.changes.runs {
        run.first.encode(into: &writer)
        writer.varint(run.numbers.count)
      }
    }
  }

  private static func decodeWithdrawals(
    from reader: inout ByteReader
  ) throws(DecodingFailure) -> Withdrawals {
    let start = reader
    var withdrawals = Withdrawals()
    for _ in 0..<(try reader.count()) {
      let stamp = Stamp(change: try ChangeID(from: &reader), lamport: try reader.varint())
      var runs: [ChangeRanges.Run] = []
      for _ in 0..<(try reader.count()) {
        let first = try ChangeID(from: &reader)
        let (end, overflow) = first.number.addingReportingOverflow(UInt64(try reader.count()))
        guard !overflow, first.number > 0, end > first.number else {
          throw start.failure("a withdrawal of no changes")
        }
        runs.append(ChangeRanges.Run(first.replica, first.number...end - 1))
      }
      let changes = ChangeRanges(runs)
      let withdrawal = Withdrawals.Withdrawal(changes, stamp)
      guard changes.runs == runs, withdrawals.list.last?.isBefore(withdrawal) ?? true else {
        throw start.failure("withdrawals out of order")
      }
      withdrawals.insert(withdrawal)
    }
    return withdrawals
  }

  /// The effects of the rules of merging, and of withdrawals, on the text.
  private struct Merging {
    var isConcurrent: Bool
    var isContested: Bool
    var spared: [ElementRange]
    var copies: [[ElementRange]]
    var withdrawals: Withdrawals

    /// True if the text is that of its elements that were not removed.
    var isPlain: Bool { spared.isEmpty && copies.isEmpty && withdrawals.isEmpty }

    init(from reader: inout ByteReader) throws(DecodingFailure) {
      let start = reader
      let merged = try reader.byte()
      guard merged <= 2 else { throw start.failure("\(merged) for how concurrent changes are") }
      isConcurrent = merged > 0
      isContested = merged == 2
      spared = try decodeRanges(from: &reader)
      copies = []
      for _ in 0..<(try reader.count()) { copies.append(try decodeRanges(from: &reader)) }
      withdrawals = try decodeWithdrawals(from: &reader)
    }
  }

  private static func decodeText(
    _ merging: Merging, from reader: inout ByteReader
  ) throws(DecodingFailure) -> ReplicatingText {
    let start = reader
    var text = try ReplicatingText(from: &reader)
    let isRestored = text.restoreMerge(
      sparing: merging.spared, copies: merging.copies,
      without: merging.withdrawals.isEmpty ? nil : merging.withdrawals.withdrawn(),
      wasContested: merging.isContested, wasConcurrent: merging.isConcurrent)
    guard isRestored else {
      throw start.failure("a text that can't have been merged so")
    }
    return text
  }

  /// Reads the text alone, and what stands before it, in UTF-8.
  fileprivate static func text(
    from reader: inout ByteReader
  ) throws(DecodingFailure) -> ArraySlice<UInt8> {
    let merging = try Merging(from: &reader)
    if merging.isPlain { return try ReplicatingText.utf8(from: &reader) }
    return try decodeText(merging, from: &reader).utf8[...]
  }

  /// Reads what `encode(into:)` wrote of the note called `id`.
  init(_ id: NoteID, from reader: inout ByteReader) throws(DecodingFailure) {
    let start = reader
    self.init(id: id, created: try reader.signed())
    title = try ReplicatingRegister(from: &reader)
    priority = try ReplicatingRegister(from: &reader)
    if try Bool(from: &reader) {
      tags = try ReplicatingSet(from: &reader)
      guard !tags.version.isEmpty else { throw start.failure("tags that never were") }
    }
    var last: PropertyName?
    for _ in 0..<(try reader.count()) {
      let name = PropertyName(try String(from: &reader))
      guard name.isValid, last.map({ $0 < name }) ?? true else {
        throw start.failure("properties out of order")
      }
      properties[name] = try ReplicatingRegister(from: &reader)
      last = name
    }
    let merging = try Merging(from: &reader)
    withdrawals = merging.withdrawals
    text = try Self.decodeText(merging, from: &reader)
    content = try Version(from: &reader)
    for _ in 0..<(try reader.count()) {
      let start = reader
      let change = try ChangeID(from: &reader)
      let deletion = Deletion(
        change: change, clock: try decodeTime(from: &reader), covered: try Version(from: &reader))
      guard deletions.last.map({ $0.change <= change && $0 != deletion }) ?? true else {
        throw start.failure("deletions out of order")
      }
      deletions.append(deletion)
    }
    try decodeLastChange(from: &reader)
    guard content.contains(id.creation), Self.isTitle(title.value),
      tags.values.allSatisfy({ Self.isTag($0.name) })
    else { throw start.failure("no note") }
    isTrashed = deletions.contains { $0.covered.isSuperset(of: content) }
  }
}

/// What an encoded note says at present, in UTF-8, read without its past.
struct EncodedContent {
  private(set) var title: ArraySlice<UInt8> = []
  /// Empty where they were not asked for.
  private(set) var tags: Set<Tag> = []
  /// The properties that were ever set; one whose value is empty isn't there.
  private(set) var properties: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
  /// Empty where it was not asked for.
  private(set) var text: ArraySlice<UInt8> = []

  /// Reads what `Note.encode(into:)` wrote.
  init(
    from reader: inout ByteReader, withTags hasTags: Bool, withText hasText: Bool
  ) throws(DecodingFailure) {
    _ = try reader.varint()
    var value: ArraySlice<UInt8> = []
    try reader.skipRegister { reader throws(DecodingFailure) in value = try reader.counted() }
    title = value
    try reader.skipRegister { reader throws(DecodingFailure) in _ = try reader.byte() }
    if try Bool(from: &reader) {
      if hasTags {
        tags = try ReplicatingSet<Tag>(from: &reader).values
      } else {
        try reader.skipSet { reader throws(DecodingFailure) in _ = try reader.counted() }
      }
    }
    for _ in 0..<(try reader.count()) {
      let name = try reader.counted()
      try reader.skipRegister { reader throws(DecodingFailure) in value = try reader.counted() }
      properties.append((name, value))
    }
    if hasText { text = try Note.text(from: &reader) }
  }
}
