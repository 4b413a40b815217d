internal import Bytes
public import ReplicatingTypes

// What becomes of the changes of notes that were purged.
//
// A history stays a history: numbers, predecessors, logical times, the names that an author has given. So a change is never dropped.
// It is redacted: of what it did to notes that were purged, one behind the other, one operation is left, which says how much logical
// time that took and whom it named first; and the change carries the hash that it had (ContentAddressedChange.swift). Creating a note and placing
// it stays, since others' places count from it.
//
// - It depends on the change and the notes, and on nothing else. Redacted twice is redacted once.
// - First for one note and then for another is the same as for both at once, in whichever order.
// - The changes of its author before and after it are read as ever.

/// Redacts changes of one author.
public struct Redactor: Sendable {
  private let purged: Set<NoteID>
  private var raw: RawChangeReader
  private var change = RawChange()

  /// - Parameters:
  ///   - purged: the notes of which nothing is to be left.
  ///   - author: the replica that made the changes.
  ///   - mentions: whom it has named by its last change that is redacted, or later, in that order.
  public init(_ purged: Set<NoteID>, author: ReplicaID, mentions: [ReplicaID]) {
    var names = ReplicaTable()
    for name in mentions { names.append(name) }
    self.init(purged, author: author, mentions: names)
  }

  init(_ purged: Set<NoteID>, author: ReplicaID, mentions: ReplicaTable) {
    self.purged = purged
    raw = RawChangeReader(author: author, mentions: mentions, isKnowingLater: true)
  }

  /// Operations on one note, one behind the other.
  fileprivate struct Run {
    let note: NamedChange
    /// Where the note is named for the first time.
    let name: Range<Int>
    var ticks: UInt64 = 0
    var names: [ReplicaID] = []
  }

  /// A change without what it did to the notes; nil if it did nothing to them. O(bytes).
  public mutating func redacted(
    _ encoded: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> [UInt8]? {
    var reader = ByteReader(encoded)
    try raw.readHead(of: &change, &reader)
    let head = reader.offset
    var writer = ByteWriter()
    var run: Run?
    var isRedacted = false
    var original: UInt64?
    while !reader.isAtEnd {
      raw.spelt.removeAll(keepingCapacity: true)
      let start = reader
      let operation = try raw.operation(&reader, &change.observed)
      if operation.tag == .original {
        var hash = ByteReader(encoded.part(operation.text))
        original = try hash.fixed(UInt64.self)
        continue
      }
      let isEdit = isEdit(operation)
      guard isEdit || operation.tag == .redacted else {
        run?.write(encoded, to: &writer)
        run = nil
        writer.raw(encoded.part(start.offset..<reader.offset))
        continue
      }
      isRedacted = isRedacted || isEdit
      var names = raw.spelt[...]
      if run?.note != operation.note {
        run?.write(encoded, to: &writer)
        let (name, isSpelt) = try Self.name(behind: start)
        run = Run(note: operation.note, name: name)
        if isSpelt { names.removeFirst() }
      }
      run!.ticks += operation.ticks
      run!.names += names
    }
    guard isRedacted else { return nil }
    run?.write(encoded, to: &writer)
    var result = ByteWriter(capacity: head + 9 + writer.bytes.count)
    result.raw(encoded.part(0..<head))
    result.byte(ChangeHash.tag)
    result.fixed(original ?? ChangeHash.hash(of: encoded))
    result.raw(writer.bytes)
    return result.bytes
  }

  /// True if an operation edits one of the notes.
  private func isEdit(_ operation: RawOperation) -> Bool {
    switch operation.tag {
    case .create, .place, .purge, .redacted: return false
    default: if operation.tag.isMark { return false }
    }
    let author = operation.note.author
    let replica = author == 0 ? raw.author : raw.mentions.replicas[author - 2]
    return purged.contains(
      NoteID(creation: ChangeID(replica: replica, number: operation.note.number)))
  }

  /// Where an operation names its note, and whether the name of a replica is spelt out there.
  private static func name(
    behind start: ByteReader
  ) throws(DecodingFailure) -> (Range<Int>, isSpelt: Bool) {
    var reader = start
    _ = try reader.byte()
    let first = reader.offset
    let isSpelt = try reader.varint() == 1
    if isSpelt { _ = try reader.identifier() }
    _ = try reader.varint()
    return (first..<reader.offset, isSpelt)
  }
}

extension Redactor.Run {
  fileprivate func write(_ encoded: ArraySlice<UInt8>, to writer: inout ByteWriter) {
    writer.byte(RawOperation.Tag.redacted.rawValue)
    writer.raw(encoded.part(name))
    writer.varint(ticks)
    writer.varint(names.count)
    for name in names { writer.identifier(name) }
  }
}

extension ArraySlice<UInt8> {
  /// Bytes, counted from the first of these.
  fileprivate func part(_ range: Range<Int>) -> ArraySlice<UInt8> {
    self[startIndex + range.lowerBound..<startIndex + range.upperBound]
  }
}

// Forgetting notes for good: what it does to the notebook. What it does to changes is in Redactor.swift.
//
// A note counts as purged as soon as a change purges it, or is known redacted: who has redacted has known that. From then on nothing is
// done to it, whatever was or is known: its changes take their logical time, and nothing else. So two notebooks that know the same
// changes are equal, in whichever order these came, redacted or not, once they know what was purged.

extension NoteBook {
  /// Forgets a note, which is open.
  mutating func purge(_ id: NoteID, _ effects: inout Effects) {
    guard purged.insert(id).inserted else { return }
    unredacted.insert(id)
    redactions += 1
    noteCache.purge(id)
    undecided[id] = nil
    withdrawing.remove(id)
    effects.insert(.purged, id)
  }

  /// Leaves nothing in memory of what changes did to notes that were purged. O(1) if none was since the last time, else O(changes in
  /// memory). It changes no answer: who reads changes in memory redacts them until then. So it is done once for many notes.
  public mutating func redactHistories() {
    if unredacted.isEmpty { return }
    histories.redact(unredacted)
    unredacted = []
  }

  /// The next change of a replica without what it does to notes that were purged.
  ///
  /// - Parameters:
  ///   - previous: the time of the change before.
  ///   - mentions: whom the replica has named with it and before.
  func redacted(
    _ id: ChangeID, _ encoded: ArraySlice<UInt8>, after previous: Int64, _ mentions: ReplicaTable
  ) throws(DecodingFailure) -> (Change, ArraySlice<UInt8>) {
    var redactor = Redactor(purged, author: id.replica, mentions: mentions)
    guard let redacted = try redactor.redacted(encoded) else {
      throw DecodingFailure(offset: 0, reason: "nothing to redact")
    }
    var before = histories.end(of: id.replica).mentions
    return (try Change(id, decoding: redacted[...], after: previous, &before), redacted[...])
  }
}
