internal import ReplicatingTypes

// Reads the encoding of a change, which `Change.swift` describes and writes.

extension Change {
  /// Reads what `encoded` writes, and nothing else.
  init(
    _ id: ChangeID, decoding bytes: ArraySlice<UInt8>, after previous: Int64,
    _ mentions: inout ReplicaTable
  ) throws(DecodingFailure) {
    var decoder = ChangeDecoder(id: id, reader: ByteReader(bytes), mentions: mentions)
    let (time, overflow) = previous.addingReportingOverflow(try decoder.reader.signed())
    guard !overflow, (-Self.latestTime...Self.latestTime).contains(time) else {
      throw decoder.reader.failure("a time beyond all calendars")
    }
    let predecessors = try decoder.changes()
    guard !predecessors.contains(where: { $0.replica == id.replica }) else {
      throw decoder.reader.failure("a predecessor of its own")
    }
    let original =
      try decoder.skip(ChangeHash.tag) ? try decoder.reader.fixed(UInt64.self) : nil
    let author = try decoder.skip(ChangeMark.author) ? try decoder.author() : nil
    let isImport = try decoder.skip(ChangeMark.imported)
    let request =
      try decoder.skip(ChangeMark.request)
      ? try RequestMark(decoding: try decoder.reader.counted()) : nil
    let isContentAddressed = try decoder.skip(ChangeMark.contentAddressed)
    let entryStart = try decoder.skip(ChangeMark.entry) ? try decoder.entryStart() : nil
    var operations: [Operation] = []
    while !decoder.reader.isAtEnd {
      let next = try decoder.operation(time: time)
      guard operations.last?.isRedacted(with: next) != true else {
        throw decoder.reader.failure("one redaction in two")
      }
      operations.append(next)
    }
    guard !operations.isEmpty else { throw decoder.reader.failure("a change of nothing") }
    mentions = decoder.mentions
    self.init(
      id: id, time: time, predecessors: predecessors, original: original, author: author,
      isImport: isImport, request: request, isContentAddressed: isContentAddressed,
      entryStart: entryStart, operations: operations)
    guard rareKinds.contains(.redaction) == (original != nil) else {
      throw decoder.reader.failure("a redaction without a hash, or a hash without one")
    }
  }
}

private struct ChangeDecoder {
  let id: ChangeID
  var reader: ByteReader
  var mentions: ReplicaTable

  /// The most logical time that operations take which are not told any more: no change has more bytes.
  private static var mostTicks: Int { 1 << 26 }

  /// A replica that is named for the first time.
  mutating func name() throws(DecodingFailure) -> ReplicaID {
    let replica = try reader.identifier()
    guard replica != id.replica, mentions.place(of: replica) == nil else {
      throw reader.failure("a replica named anew that has a name")
    }
    mentions.append(replica)
    return replica
  }

  /// Reads over a mark in front of the operations, if it is there; returns whether it is.
  mutating func skip(_ mark: UInt8) throws(DecodingFailure) -> Bool {
    let start = reader
    if !reader.isAtEnd, try reader.byte() == mark { return true }
    reader = start
    return false
  }

  mutating func entryStart() throws(DecodingFailure) -> UInt64 {
    let back = try reader.varint()
    guard back < min(id.number, LogEntry.mostChanges) else {
      throw reader.failure("an entry that begins too early")
    }
    return id.number - back
  }

  mutating func author() throws(DecodingFailure) -> Author {
    let text = try text()
    guard let end = text.utf8.firstIndex(of: 0x0A),
      let author = Author(
        exactly: String(text[..<end]), String(text[text.utf8.index(after: end)...]))
    else { throw reader.failure("an author that can be none") }
    return author
  }

  mutating func mention(_ code: UInt64) throws(DecodingFailure) -> ReplicaID {
    switch code {
    case 0: return id.replica
    case 1: return try name()
    default:
      guard code - 2 < UInt64(mentions.replicas.count) else {
        throw reader.failure("a replica that was not named")
      }
      return mentions.replicas[Int(code - 2)]
    }
  }

  mutating func change() throws(DecodingFailure) -> ChangeID {
    let replica = try mention(try reader.varint())
    let number = try reader.varint()
    guard number > 0 else { throw reader.failure("a change without a number") }
    return ChangeID(replica: replica, number: number)
  }

  /// Changes in order, of each replica at most one.
  mutating func changes() throws(DecodingFailure) -> [ChangeID] {
    var list: [ChangeID] = []
    for _ in 0..<(try reader.count()) {
      let next = try change()
      guard list.last.map({ $0.replica < next.replica }) ?? true else {
        throw reader.failure("changes out of order")
      }
      list.append(next)
    }
    return list
  }

  mutating func element() throws(DecodingFailure) -> ElementID? {
    let code = try reader.varint()
    guard code > 0 else { return nil }
    return ElementID(author: try mention(code - 1), offset: try reader.count())
  }

  mutating func text() throws(DecodingFailure) -> String {
    let bytes = try reader.counted()
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw reader.failure("text that is not UTF-8")
    }
    return text
  }

  /// The time of an assignment, given as its distance from that of the change.
  mutating func time(near time: Int64) throws(DecodingFailure) -> Int64 {
    let (result, overflow) = time.addingReportingOverflow(try reader.signed())
    guard !overflow else { throw reader.failure("a time beyond all calendars") }
    return result
  }

  /// The tags of operations that begin with their note, as bits.
  private static let kinds: UInt64 =
    1 << 0x02 | 1 << 0x1E | 1 << 0x22 | 1 << 0x24 | (1 << 0x1D - 1 << 0x10)

  mutating func operation(time: Int64) throws(DecodingFailure) -> Change.Operation {
    let tag = try reader.byte()
    if tag == 0x01 { return .create }
    guard tag < 64, Self.kinds >> tag & 1 == 1 else {
      // No kind will have the tag 0.
      throw reader.failure(
        "an operation of an unknown kind, \(tag)", isOfLaterVersion: tag > 0)
    }
    let note = NoteID(creation: try change())
    switch tag {
    case 0x02:
      let after = try element()
      return .place(.init(note.creation, after: after, before: try element()))
    case 0x10:
      let moment = try self.time(near: time)
      return .edit(note, .title(.init(value: try text(), time: moment)))
    case 0x11:
      let moment = try self.time(near: time)
      guard let priority = Priority(rawValue: try reader.byte()) else {
        throw reader.failure("an unknown priority", isOfLaterVersion: true)
      }
      return .edit(note, .priority(.init(value: priority, time: moment)))
    case 0x12: return .edit(note, .tags(.insert(Tag(try text()))))
    case 0x13:
      let tag = Tag(try text())
      return .edit(note, .tags(.remove(tag, observed: try observations())))
    case 0x14, 0x22:
      let after = try element()
      let before = try element()
      let text = Array(try reader.counted())
      let divider = tag == 0x22 ? try reader.count() : 0
      guard tag == 0x14 || (1..<max(1, text.count)).contains(divider) else {
        throw reader.failure("a divider of nothing")
      }
      return .edit(note, .text(.insert(text, after: after, before: before, divider: divider)))
    case 0x15:
      let author = try mention(try reader.varint())
      let offset = try reader.count()
      let range = ElementRange(author: author, offset: offset, count: try reader.count())
      return .edit(note, .text(.remove(range)))
    case 0x16:
      var covered = Version()
      for change in try changes() { covered[change.replica] = change.number }
      return .edit(note, .delete(covered: covered))
    case 0x17: return .edit(note, .restore)
    case 0x18:
      let back = UInt64(try reader.count())
      guard back < id.number else { throw reader.failure("a base before the first change") }
      let base = TextBase(heads: try changes(), previous: back == 0 ? 0 : id.number - back)
      return .edit(note, .base(base))
    case 0x19: return .edit(note, .withdraw(try ranges()))
    case 0x1A:
      let moment = try self.time(near: time)
      let text = try text()
      guard let end = text.utf8.firstIndex(of: 0x0A) else {
        throw reader.failure("a property without a value")
      }
      let assignment = ReplicatingRegister<String>.Assignment(
        value: String(text[text.utf8.index(after: end)...]), time: moment)
      return .edit(note, .property(PropertyName(String(text[..<end])), assignment))
    case 0x1B, 0x24:
      let moment = try self.time(near: time)
      guard (-Change.latestTime...Change.latestTime).contains(moment) else {
        throw reader.failure("a time beyond all calendars")
      }
      return .edit(note, tag == 0x1B ? .created(moment) : .modified(moment))
    case 0x1c: return .purge(note)
    case 0x1e:
      let ticks = try reader.count()
      guard ticks <= Self.mostTicks else { throw reader.failure("a redaction of too much") }
      var names: [ReplicaID] = []
      for _ in 0..<(try reader.count()) { names.append(try name()) }
      return .redacted(note, ticks: UInt64(ticks), names: names)
    default: preconditionFailure("an operation of an unknown kind, \(tag)")
    }
  }

  /// Runs of changes, in order and as long as can be: of each the first and the last.
  private mutating func ranges() throws(DecodingFailure) -> ChangeRanges {
    let start = reader
    var runs: [ChangeRanges.Run] = []
    let count = try reader.count()
    guard count > 0, count % 2 == 0 else { throw start.failure("changes that are no runs") }
    for _ in 0..<count / 2 {
      let (first, last) = (try change(), try change())
      guard first.replica == last.replica, first.number <= last.number else {
        throw start.failure("changes that are no runs")
      }
      runs.append(ChangeRanges.Run(first.replica, first.number...last.number))
    }
    let ranges = ChangeRanges(runs)
    guard ranges.runs == runs else { throw start.failure("changes out of order") }
    return ranges
  }

  /// Additions of a tag: in order, several of one replica allowed.
  private mutating func observations() throws(DecodingFailure) -> [ChangeID] {
    var list: [ChangeID] = []
    for _ in 0..<(try reader.count()) {
      let next = try change()
      guard list.last.map({ $0 < next }) ?? true else {
        throw reader.failure("changes out of order")
      }
      list.append(next)
    }
    return list
  }
}
