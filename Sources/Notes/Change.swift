// One change of a notebook, and its encoding. This file owns the encoding, which is that of a log record's payload, of what
// travels between replicas, and of history in memory.
//
// A change doesn't say which replica made it, nor its number or Lamport timestamp: the place where it is kept says the first, the
// changes before it the second, and the third follows from its predecessors. What can be derived can't be forged.
//
//     change      = time count*(predecessor) mark... operation...  operations until the end of the bytes
//     mark        = 1D hash                                        redacted: without what it did to notes that were purged
//                 | 1F text                                        made by this author, and so are all later ones of the replica until
//                                                                another is named: the name, a line feed, and the program
//                 | 20                                             made from files that a user has imported
//                 | 21 text                                        made for a request with a key (NoteBook+Requests.swift): a byte, its kind; a
//                                                                varint, its place among those of the key; 16 bytes, a hash of the key
//                 | 23                                             named by its content (ContentAddressedChange.swift)
//                 | 25 back                                        an entry of history begins with the change of this author whose number
//                                                                is by `back` less than this one's, 0 … 4095 (OpenEntries.swift)
//                                                                (each mark at most once, in this order)
//     time        = signed varint, milliseconds since the previous change of the same replica (the first: since 1970)
//     predecessor = mention number                                 a change of another replica that nothing known followed
//     mention     = varint: 0 the author; 1 a replica this author names for the first time, its 16 bytes follow;
//                   n + 2 the n-th replica that the author named in this or an earlier change
//     number      = varint, from 1                                 of a change
//     note        = mention number                                 the change that created it
//     element     = varint 0: none; else mention + 1 (1 the author, 2 a new name, ...) and the offset, a varint
//     text        = count, that many bytes of UTF-8
//     hash        = 8 bytes, little-endian: that of the change as its author encoded it (ContentAddressedChange.swift)
//
//     operation   = 01                                             create the note named by this change
//                 | 02 note element element                        place it: after the one slot, before the other
//                 | 10 note time text                              title; the time as a signed varint, less the change's
//                 | 11 note time byte                              priority: 0 low, 1 normal, 2 high
//                 | 12 note text                                   add a tag
//                 | 13 note text count*(mention number)            remove a tag: these additions of it
//                 | 14 note element element text                   insert text after one element, before the other
//                 | 15 note mention offset count                   remove text: elements of that replica
//                 | 16 note count*(mention number)                 delete, seeing content up to these changes
//                 | 17 note                                        restore
//                 | 18 note back count*(mention number)            the edits of text that follow were made on the state of these
//                                                                changes; back: 0, or by how much the number of the author's
//                                                                change that the state has, too, is less than this one's
//                 | 19 note count*(mention number)            take back what changes did to the text: of each run of changes
//                                                                the first and the last
//                 | 1A note time text                          property; the time as for a title; the text is its name, a line feed,
//                                                                and its value
//                 | 1B note time                               the note is as old as this, less the change's time; of several behind its creation
//                                                                the least counts
//                 | 24 note time                               the note was last changed at this time, less the change's, before it was
//                                                                imported; of several behind its creation the least counts
//                 | 1C note                                        purge: forget all of it, for good
//                 | 22 note element element text count           insert text as 14 does; count: the number of its last bytes that divide it
//                                                                from another replacement, at least 1, and fewer than all
//                 | 1E note ticks count*(16 bytes)                 stands for operations 10 … 1B, 22 and 23, one behind the other, of a note that was
//                                                                purged: the logical time that they take, a varint, and the replicas
//                                                                that they name for the first time, but for that of the note
//
// Every number is as short as it can be and every list in its one order, so that a change has one encoding.

public import ReplicatingTypes

/// Operations on a notebook that one replica makes at once.
public struct Change: Equatable, Sendable {
  /// Where a note is put among the others.
  public typealias Placement = MovableList<ChangeID>.Placement

  /// One part of a change.
  public enum Operation: Equatable, Sendable {
    /// Creates the note that is named by this change.
    case create
    case place(Placement)
    case edit(NoteID, Note.Operation)
    /// Forgets a note for good: whatever others do to it has no effect from then on.
    case purge(NoteID)
    /// Stands for edits of a note that was purged. They took so much logical time, and named these replicas for the first time.
    case redacted(NoteID, ticks: UInt64, names: [ReplicaID])

    /// The logical time that the operation takes.
    var ticks: UInt64 {
      switch self {
      case .create: 0
      case .place: 1
      case .edit(_, let operation): operation.ticks
      case .purge: 0
      case .redacted(_, let ticks, _): ticks
      }
    }

    /// True if this operation and the one behind it would be one redaction: one of them is, of the note of the other.
    func isRedacted(with next: Self) -> Bool {
      switch (self, next) {
      case (.redacted(let note, _, _), .redacted(let other, _, _)),
        (.redacted(let note, _, _), .edit(let other, _)),
        (.edit(let note, _), .redacted(let other, _, _)):
        note == other
      default: false
      }
    }
  }

  /// Its replica, and its number among the replica's changes.
  public var id: ChangeID
  /// By the author's clock, milliseconds since 1970: for people to read, not for merging.
  public var time: Int64
  /// The last changes that the author had seen, besides its own previous change: sorted, of each replica at most one.
  public var predecessors: [ChangeID]
  /// The hash of the change as its author encoded it, if it is here without what it did to notes that were purged.
  let original: UInt64?
  /// The names of who makes it and the replica's later changes, if they are others than before.
  public internal(set) var author: Author?
  /// True if it was made from files that a user has imported.
  public let isImport: Bool
  /// The request for which it was made, if that had a key.
  public let request: RequestMark?
  /// True if its replica is named by a hash of its encoding; see `ContentAddressedChange`.
  let isContentAddressed: Bool
  /// The number of the author's change with which an entry of the histories of this change's notes begins, if this change says so: its own
  /// number, or that of one before it.
  public internal(set) var entryStart: UInt64?
  /// Its operations, in order; a creation comes first, with the place of the new note behind it.
  public internal(set) var operations: [Operation] {
    didSet { rareKinds = RareKinds(of: operations) }
  }
  /// Which of the rare kinds are among the operations: most changes have none, and nobody looks through them again.
  private(set) var rareKinds: RareKinds

  init(
    id: ChangeID, time: Int64, predecessors: [ChangeID], original: UInt64? = nil,
    author: Author? = nil, isImport: Bool = false, request: RequestMark? = nil,
    isContentAddressed: Bool = false, entryStart: UInt64? = nil, operations: [Operation]
  ) {
    self.id = id
    self.original = original
    self.author = author
    self.isImport = isImport
    self.request = request
    self.isContentAddressed = isContentAddressed
    self.entryStart = entryStart
    self.time = time
    self.predecessors = predecessors
    self.operations = operations
    rareKinds = RareKinds(of: operations)
  }

  /// True if a change is among its predecessors. O(log n).
  func follows(_ other: ChangeID) -> Bool {
    var (low, high) = (0, predecessors.count)
    while low < high {
      let middle = (low + high) / 2
      if predecessors[middle] < other { low = middle + 1 } else { high = middle }
    }
    return low < predecessors.count && predecessors[low] == other
  }

  /// True if it edits one of some notes. O(operations).
  func edits(anyOf notes: Set<NoteID>) -> Bool {
    operations.contains { if case .edit(let note, _) = $0 { notes.contains(note) } else { false } }
  }

  /// The bases of its edits of texts.
  var bases: [(note: NoteID, base: TextBase)] {
    guard rareKinds.contains(.base) else { return [] }
    return operations.compactMap {
      if case .edit(let note, .base(let base)) = $0 { (note, base) } else { nil }
    }
  }

  /// Kinds of operations that few changes have.
  struct RareKinds: OptionSet {
    let rawValue: UInt8
    static let creation = Self(rawValue: 1)
    static let base = Self(rawValue: 2)
    static let withdrawal = Self(rawValue: 4)
    static let redaction = Self(rawValue: 8)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(of operations: [Operation]) {
      self = []
      for index in operations.indices {
        switch operations[index] {
        case .create: insert(.creation)
        case .edit(_, .base): insert(.base)
        case .edit(_, .withdraw): insert(.withdrawal)
        case .redacted: insert(.redaction)
        default: break
        }
      }
    }
  }
}

/// The bytes of marks in front of the operations of a change; that of a redacted one is in ContentAddressedChange.swift.
enum ChangeMark {
  static let author: UInt8 = 0x1f
  static let imported: UInt8 = 0x20
  static let request: UInt8 = 0x21
  static let contentAddressed: UInt8 = 0x23
  static let entry: UInt8 = 0x25
}

/// A change and its encoding, which is made once: for the log, for peers and for history.
public struct EncodedChange: Sendable {
  /// The change.
  public let change: Change
  /// Its encoding, behind those of its author's earlier changes.
  public let bytes: [UInt8]
  /// Whom its author has named with it and before.
  let mentions: ReplicaTable
}

extension Change {
  /// The encoding. `previous` is the time of the author's previous change (0 for the first); names that appear for the
  /// first time are added to `mentions`.
  func encoded(after previous: Int64, _ mentions: inout ReplicaTable) -> [UInt8] {
    var encoder = ChangeEncoder(author: id.replica, number: id.number, mentions: mentions)
    encoder.writer.signed(time - previous)
    encoder.changes(predecessors)
    if let original {
      encoder.writer.byte(ChangeHash.tag)
      encoder.writer.fixed(original)
    }
    if let author {
      encoder.writer.byte(ChangeMark.author)
      encoder.writer.counted(author.utf8)
    }
    if isImport { encoder.writer.byte(ChangeMark.imported) }
    if let request {
      encoder.writer.byte(ChangeMark.request)
      encoder.writer.counted(request.encoded)
    }
    if isContentAddressed { encoder.writer.byte(ChangeMark.contentAddressed) }
    if let entryStart {
      encoder.writer.byte(ChangeMark.entry)
      encoder.writer.varint(id.number - entryStart)
    }
    let operations = operations.span
    for index in operations.indices { encoder.operation(operations[index], time: time) }
    mentions = encoder.mentions
    return encoder.writer.bytes
  }

  /// Further from 1970 than this no clock is: ± 100,000 years, so that differences can't overflow.
  static var latestTime: Int64 { 3_155_760_000_000_000 }

  /// The time as it is encoded.
  static func clamped(_ time: Int64) -> Int64 { min(max(time, -latestTime), latestTime) }
}

private struct ChangeEncoder {
  let author: ReplicaID
  let number: UInt64
  var mentions: ReplicaTable
  /// A keystroke takes no more.
  var writer = ByteWriter(capacity: 32)

  mutating func mention(_ replica: ReplicaID, shift: Int = 0) {
    if replica == author {
      writer.varint(shift)
    } else if let place = mentions.place(of: replica) {
      writer.varint(place + 2 + shift)
    } else {
      writer.varint(1 + shift)
      writer.identifier(replica)
      mentions.append(replica)
    }
  }

  mutating func change(_ change: ChangeID) {
    mention(change.replica)
    writer.varint(change.number)
  }

  mutating func changes(_ changes: [ChangeID]) {
    writer.varint(changes.count)
    for one in changes { change(one) }
  }

  mutating func element(_ element: ElementID?) {
    guard let element else { return writer.varint(0) }
    mention(element.author, shift: 1)
    writer.varint(element.offset)
  }

  mutating func operation(_ operation: Change.Operation, time: Int64) {
    switch operation {
    case .create: writer.byte(0x01)
    case .place(let placement):
      writer.byte(0x02)
      change(placement.element)
      element(placement.after)
      element(placement.before)
    case .edit(let note, let edit):
      writer.byte(edit.tag)
      change(note.creation)
      self.edit(edit, time: time)
    case .purge(let note):
      writer.byte(0x1c)
      change(note.creation)
    case .redacted(let note, let ticks, let names):
      writer.byte(0x1e)
      change(note.creation)
      writer.varint(ticks)
      writer.varint(names.count)
      for name in names {
        writer.identifier(name)
        mentions.append(name)
      }
    }
  }

  private mutating func edit(_ edit: Note.Operation, time: Int64) {
    switch edit {
    case .title(let assignment):
      writer.signed(assignment.time - time)
      writer.counted(assignment.value.utf8)
    case .priority(let assignment):
      writer.signed(assignment.time - time)
      writer.byte(assignment.value.rawValue)
    case .property(let name, let assignment):
      writer.signed(assignment.time - time)
      writer.counted("\(name.text)\n\(assignment.value)".utf8)
    case .created(let moment), .modified(let moment): writer.signed(moment - time)
    case .tags(.insert(let tag)): writer.counted(tag.name.utf8)
    case .tags(.remove(let tag, let observed)):
      writer.counted(tag.name.utf8)
      changes(observed)
    case .text(.insert(let bytes, let after, let before, let divider)):
      element(after)
      element(before)
      writer.counted(bytes)
      if divider > 0 { writer.varint(divider) }
    case .text(.remove(let range)):
      mention(range.author)
      writer.varint(range.offset)
      writer.varint(range.count)
    case .delete(let covered):
      changes(covered.replicas.map { ChangeID(replica: $0, number: covered[$0]) })
    case .restore: break
    case .withdraw(let withdrawn): changes(withdrawn.runs.flatMap { [$0.first, $0.last] })
    case .base(let base):
      writer.varint(base.previous == 0 ? 0 : number - base.previous)
      changes(base.heads)
    }
  }
}

extension Note.Operation {
  fileprivate var tag: UInt8 {
    switch self {
    case .title: 0x10
    case .priority: 0x11
    case .tags(.insert): 0x12
    case .tags(.remove): 0x13
    case .text(.insert(_, _, _, let divider)): divider > 0 ? 0x22 : 0x14
    case .text(.remove): 0x15
    case .delete: 0x16
    case .restore: 0x17
    case .base: 0x18
    case .withdraw: 0x19
    case .property: 0x1A
    case .created: 0x1B
    case .modified: 0x24
    }
  }
}

/// The state of a note's text that the edits of a change were made on, where that is less than all that is in the change's past.
///
/// A process knows more than its client shows: the edit of the client may cross those of others, and a client may send a text that it has read
/// long ago. Without the base such an edit would count as made after its author had seen all of these.
///
/// The author of the edits had *seen* the changes at `heads` with all that they follow; `previous`, and what its author had seen; and nothing
/// else of what concerns the text.
public struct TextBase: Equatable, Sendable {
  /// The changes that no other one of the state follows: sorted, of each replica at most one.
  public var heads: [ChangeID]
  /// The number of an earlier change of the same author, which the client had made itself; 0 for none.
  ///
  /// A client makes several changes before it learns of those of others. The later ones are made on the state of the earlier ones, and
  /// these follow, as changes of the process, what the client has not seen.
  public var previous: UInt64

  /// A base of these changes, in any order, and of an earlier change of the author with its base.
  public init(heads: [ChangeID], previous: UInt64 = 0) {
    var version = Version()
    for head in heads { version.insert(head) }
    self.heads = version.replicas.map { ChangeID(replica: $0, number: version[$0]) }.sorted()
    self.previous = previous
  }

  /// The most changes that may be made on the base of one another.
  public static let longestChain = 1024
}

/// The changes that the author of a change had seen when editing a text, by its base; the change included.
struct SeenChanges: Sendable {
  /// The heads, and all that they follow.
  var version: Version
  /// Changes of the author itself that are not in `version`.
  var own: Set<UInt64>
  var author: ReplicaID

  func contains(_ change: ChangeID) -> Bool {
    version.contains(change) || change.replica == author && own.contains(change.number)
  }
}
