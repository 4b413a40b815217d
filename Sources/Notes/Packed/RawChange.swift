internal import ReplicatingTypes

/// An element of a sequence as a change names it: by the place of its author among those its own author has named, and not
/// by the author's identity.
struct NamedElement: Hashable, Sendable {
  private let bits: UInt64

  /// No element: what comes before the first, or after the last.
  static let none = NamedElement(bits: .max)

  private init(bits: UInt64) { self.bits = bits }

  /// The author: 0 is the author of the change, n + 2 the n-th replica that it named, as in Change.swift. `offset` is at
  /// most 2^31 − 1.
  init(_ author: Int, _ offset: Int) { bits = UInt64(author) << 32 | UInt64(offset) }

  var isNone: Bool { self == .none }
  var author: Int { Int(bits >> 32) }
  var offset: Int { Int(bits & 0xFFFF_FFFF) }
}

/// A change by its author's name for it.
struct NamedChange: Hashable, Sendable {
  var author: Int
  var number: UInt64
}

/// An operation of a change, taken apart without being understood.
struct RawOperation: Equatable, Sendable {
  /// The first byte of its encoding.
  enum Tag: UInt8, Sendable {
    case create = 0x01
    case place = 0x02
    case title = 0x10
    case priority = 0x11
    case insertTag = 0x12
    case removeTag = 0x13
    case insert = 0x14
    case remove = 0x15
    case delete = 0x16
    case restore = 0x17
    case base = 0x18
    case withdraw = 0x19
    case property = 0x1A
    case created = 0x1B
    case purge = 0x1c
    case original = 0x1d
    case redacted = 0x1e
    case author = 0x1f
    case imported = 0x20
    case request = 0x21
    case contentAddressed = 0x23
    case entry = 0x25
    /// An insertion with a divider, as which it is known once it was read.
    case dividedInsertion = 0x22
    case modified = 0x24

    /// True for a mark in front of the operations of a change: it is about no note.
    var isMark: Bool {
      switch self {
      case .original, .author, .imported, .request, .contentAddressed, .entry: true
      default: false
      }
    }
  }

  var tag: Tag
  /// The note; of a creation and of a mark none.
  var note = NamedChange(author: 0, number: 0)
  /// The elements between which a text is inserted or a note placed; `first` is also the first element removed.
  var first = NamedElement.none
  var second = NamedElement.none
  /// The number of elements that are removed, or that divide an insertion from others; the priority; how far a base or the beginning of an entry goes back; the logical time of
  /// what was redacted.
  var count = 0
  /// The time of an assignment or of a creation, less that of the change.
  var time: Int64 = 0
  /// Text, title, tag, property, hash, author or request: where it is in the change.
  var text = 0..<0
  /// The changes that a deletion covers, a removal of a tag has observed, or a base or a withdrawal names: where they are in the change's
  /// `observed`. For what was redacted the replicas that it named, with the number 0.
  var observed = 0..<0

  /// The logical time that it takes.
  var ticks: UInt64 {
    switch tag {
    case .insert: UInt64(text.count)
    case .redacted: UInt64(count)
    default: 0
    }
  }
}

/// A change taken apart: everything that its bytes say, in which the names of replicas are numbers.
///
/// `init` and `write(into:)` undo each other exactly, for every change that `Change` can decode. What it says may be nonsense:
/// that is found out when it is applied.
struct RawChange: Equatable, Sendable {
  /// Milliseconds since the previous change of its author.
  var elapsed: Int64 = 0
  var predecessors: [NamedChange] = []
  var operations: [RawOperation] = []
  /// The changes that operations name as what their author had seen.
  var observed: [NamedChange] = []

  /// The logical time that it takes.
  var ticks: UInt64 { max(1, operations.reduce(0) { $0 + $1.ticks }) }
}

/// Takes the changes of one author apart, one after the other.
struct RawChangeReader {
  /// Whom the author has named, this change included.
  private(set) var mentions: ReplicaTable
  let author: ReplicaID
  /// True if `mentions` may have names that the author gave with later changes.
  private let isKnowingLater: Bool
  /// The names that were spelt out, as far as nobody has taken them.
  var spelt: [ReplicaID] = []

  init(author: ReplicaID, mentions: ReplicaTable, isKnowingLater: Bool = false) {
    self.author = author
    self.mentions = mentions
    self.isKnowingLater = isKnowingLater
  }

  /// Reads a change into one that was read before, whose memory it uses. Nothing has been named when it throws.
  mutating func read(_ bytes: ArraySlice<UInt8>, into change: inout RawChange)
    throws(DecodingFailure)
  {
    let named = mentions.replicas.count
    do {
      var reader = ByteReader(bytes)
      try readHead(of: &change, &reader)
      repeat {
        change.operations.append(try operation(&reader, &change.observed))
      } while !reader.isAtEnd
    } catch {
      forgetNames(downTo: named)
      throw error
    }
  }

  /// Reads what is before the operations.
  mutating func readHead(
    of change: inout RawChange, _ reader: inout ByteReader
  ) throws(DecodingFailure) {
    spelt.removeAll(keepingCapacity: true)
    change.elapsed = try reader.signed()
    change.predecessors.removeAll(keepingCapacity: true)
    for _ in 0..<(try reader.count()) { change.predecessors.append(try self.change(&reader)) }
    change.operations.removeAll(keepingCapacity: true)
    change.observed.removeAll(keepingCapacity: true)
  }

  /// Forgets the names that were given last: what gave them is refused.
  mutating func forgetNames(downTo count: Int) { mentions.removeLast(downTo: count) }

  /// Knows the names that an author had given after a block that isn't read.
  mutating func learn(_ names: ArraySlice<ReplicaID>) {
    for name in names { mentions.append(name) }
  }

  private mutating func mention(
    _ code: UInt64, _ reader: inout ByteReader
  ) throws(DecodingFailure) -> Int {
    if code == 0 { return 0 }
    if code > 1 {
      guard code - 2 < UInt64(mentions.replicas.count) else {
        throw reader.failure("a replica that was not named")
      }
      return Int(code)
    }
    return try name(&reader)
  }

  /// A replica that is spelt out.
  private mutating func name(_ reader: inout ByteReader) throws(DecodingFailure) -> Int {
    let replica = try reader.identifier()
    let place = mentions.place(of: replica)
    guard replica != author, place == nil || isKnowingLater else {
      throw reader.failure("a replica named anew that has a name")
    }
    spelt.append(replica)
    if let place { return place + 2 }
    mentions.append(replica)
    return mentions.replicas.count + 1
  }

  mutating func change(_ reader: inout ByteReader) throws(DecodingFailure) -> NamedChange {
    let author = try mention(try reader.varint(), &reader)
    return NamedChange(author: author, number: try reader.varint())
  }

  private mutating func element(_ reader: inout ByteReader) throws(DecodingFailure) -> NamedElement
  {
    let code = try reader.varint()
    if code == 0 { return .none }
    let author = try mention(code - 1, &reader)
    return NamedElement(author, try reader.count())
  }

  /// Reads changes to the end of the list; returns where they are.
  private mutating func changes(
    _ reader: inout ByteReader, _ list: inout [NamedChange]
  ) throws(DecodingFailure) -> Range<Int> {
    let start = list.count
    for _ in 0..<(try reader.count()) { list.append(try change(&reader)) }
    return start..<list.count
  }

  private func text(_ reader: inout ByteReader) throws(DecodingFailure) -> Range<Int> {
    let count = try reader.counted().count
    return reader.offset - count..<reader.offset
  }

  mutating func operation(
    _ reader: inout ByteReader, _ observed: inout [NamedChange]
  ) throws(DecodingFailure) -> RawOperation {
    let start = reader
    guard let tag = RawOperation.Tag(rawValue: try reader.byte()) else {
      throw start.failure("an operation of an unknown kind")
    }
    var operation = RawOperation(tag: tag)
    if tag == .create { return operation }
    if !tag.isMark { operation.note = try change(&reader) }
    switch tag {
    case .create, .restore, .purge, .imported, .contentAddressed: break
    case .original:
      operation.text = reader.offset..<reader.offset + 8
      _ = try reader.raw(8)
    case .author, .request: operation.text = try text(&reader)
    case .entry: operation.count = try reader.count()
    case .place:
      operation.first = try element(&reader)
      operation.second = try element(&reader)
    case .title, .property:
      operation.time = try reader.signed()
      operation.text = try text(&reader)
    case .priority:
      operation.time = try reader.signed()
      operation.count = Int(try reader.byte())
    case .created, .modified: operation.time = try reader.signed()
    case .insertTag: operation.text = try text(&reader)
    case .removeTag:
      operation.text = try text(&reader)
      operation.observed = try changes(&reader, &observed)
    case .insert, .dividedInsertion:
      operation.first = try element(&reader)
      operation.second = try element(&reader)
      operation.text = try text(&reader)
      if tag == .insert { break }
      operation.tag = .insert
      operation.count = try reader.count()
      guard (1..<max(1, operation.text.count)).contains(operation.count) else {
        throw start.failure("a divider of nothing")
      }
    case .remove:
      let author = try mention(try reader.varint(), &reader)
      operation.first = NamedElement(author, try reader.count())
      operation.count = try reader.count()
    case .delete, .withdraw: operation.observed = try changes(&reader, &observed)
    case .base:
      operation.count = try reader.count()
      operation.observed = try changes(&reader, &observed)
    case .redacted:
      operation.count = try reader.count()
      let start = observed.count
      for _ in 0..<(try reader.count()) {
        observed.append(NamedChange(author: try name(&reader), number: 0))
      }
      operation.observed = start..<observed.count
    }
    return operation
  }
}

/// Puts the changes of one author together again, one behind the other.
struct RawChangeWriter {
  /// Whom the author names, sooner or later, and how many of these it has named.
  private let mentions: [ReplicaID]
  private(set) var named: Int
  private(set) var writer: ByteWriter

  init(mentions: [ReplicaID], named: Int, capacity: Int) {
    self.mentions = mentions
    self.named = named
    writer = ByteWriter(capacity: capacity)
  }

  /// True if an author has this name by now, or can be given it.
  func isName(_ author: Int) -> Bool {
    author == 0 || author >= 2 && author - 2 < min(named + 1, mentions.count)
  }

  private mutating func mention(_ author: Int, shift: Int = 0) {
    if author - 2 == named {
      writer.varint(1 + shift)
      writer.identifier(mentions[named])
      named += 1
    } else {
      writer.varint(author + shift)
    }
  }

  private mutating func change(_ change: NamedChange) {
    mention(change.author)
    writer.varint(change.number)
  }

  private mutating func changes(_ changes: [NamedChange]) throws(UnknownName) {
    writer.varint(changes.count)
    for one in changes {
      try check(one.author)
      change(one)
    }
  }

  private mutating func element(_ element: NamedElement) throws(UnknownName) {
    if element.isNone { return writer.varint(0) }
    try check(element.author)
    mention(element.author, shift: 1)
    writer.varint(element.offset)
  }

  /// A replica that has no name yet, and isn't the next to be given one.
  struct UnknownName: Error {}

  private func check(_ author: Int) throws(UnknownName) {
    if !isName(author) { throw UnknownName() }
  }

  mutating func begin(elapsed: Int64, predecessors: [NamedChange]) throws(UnknownName) {
    writer.signed(elapsed)
    try changes(predecessors)
  }

  /// Writes an operation, with its text and what it has observed, which are not where `operation` says.
  mutating func write(
    _ operation: RawOperation, text: ArraySlice<UInt8>, observed: [NamedChange]
  ) throws(UnknownName) {
    let isDivided = operation.tag == .insert && operation.count > 0
    writer.byte(isDivided ? RawOperation.Tag.dividedInsertion.rawValue : operation.tag.rawValue)
    if operation.tag == .create { return }
    if !operation.tag.isMark {
      try check(operation.note.author)
      change(operation.note)
    }
    switch operation.tag {
    case .create, .restore, .purge, .imported, .contentAddressed: break
    case .original: writer.raw(text)
    case .author, .request: writer.counted(text)
    case .entry: writer.varint(operation.count)
    case .place, .insert, .dividedInsertion:
      try element(operation.first)
      try element(operation.second)
      if operation.tag != .place { writer.counted(text) }
      if isDivided { writer.varint(operation.count) }
    case .title, .property:
      writer.signed(operation.time)
      writer.counted(text)
    case .created, .modified: writer.signed(operation.time)
    case .priority:
      writer.signed(operation.time)
      writer.byte(UInt8(truncatingIfNeeded: operation.count))
    case .insertTag: writer.counted(text)
    case .removeTag:
      writer.counted(text)
      try changes(observed)
    case .remove:
      try check(operation.first.author)
      mention(operation.first.author)
      writer.varint(operation.first.offset)
      writer.varint(operation.count)
    case .delete, .withdraw: try changes(observed)
    case .base:
      writer.varint(operation.count)
      try changes(observed)
    case .redacted:
      writer.varint(operation.count)
      writer.varint(observed.count)
      for name in observed {
        guard name.author - 2 == named, named < mentions.count else { throw UnknownName() }
        writer.identifier(mentions[named])
        named += 1
      }
    }
  }
}
