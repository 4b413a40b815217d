// THE FORMAT OF AN ARCHIVE
//
// A notebook put away. It opens at once however large it is, since notes and changes are read only when they are needed.
// It is for its writer's own use and can always be made anew from the changes, so its format may change with every version
// of the program; one of another format counts as none.
//
// A container (Container.swift). Blocks are named by where they begin, and the size of their content; the last one is
// the head, by which all others are found.
//
//     head     = lamport
//                count*(session)             in their order
//                count*(session's place, number)   the changes that nothing follows
//                notes, notes in the trash
//                index, summaries, order, list   places and sizes of these
//                first slot                of the order: 0 if there is none, else 1 and the session's place, the number of the change, the slot
//                count                     of the sessions that have made slots
//                signatures                which notes may have what is looked for: see Signatures.swift, the directory there
//                count*(session's place, number)   the notes that were purged: among the notes, in the trash, and without content
//                count*(name, program)             the authors: counted UTF-8
//                appendix                    counted bytes: the writer's own
//     session  = 16 bytes of identity, the number of its last change, its digest (8; History.swift), and counted bytes:
//                  lamport and time of the last change
//                  count*(session's place)   the replicas it has named, in the order in which it did
//                  count*(changes, author's place)   the authors that its changes name: by how much the number of the change exceeds
//                                            that of the one that names the author before
//                  slots                     how many of the order it has made
//                  runs                      of its links: place and size of their directory; size 0 for none
//                  count*(changes, ticks, time, place, size)    its blocks of changes; by how much the last tick and the time of the last
//                                            change exceed those of the block before, or 0: the latter signed
//     changes  = lamport before the first; of each change the ticks to its last one, and its bytes, counted
//     runs     = of each run a block: the number of its first change (8), its place (8), its size (4). A run is looked up without the others
//     run      = a block: what its first change follows, that included: 0 if that is left out, else 1, a time, and
//                count*(session's place, number): all changes of the sessions whose last tick comes before the time, but of these so
//                many; and of each change that has predecessors or bases: by how much its number exceeds that of the one before,
//                count*(session's place, number), and of each base: count*(the note: session's place, number; previous;
//                count*(session's place, number))
//     index    = of each note, in their order, 28 bytes: its session's place (4) and number (8), the place of its block (8),
//                the size, and in the highest bit whether it is in the trash (4), where its summary begins (4)
//     summaries  of each note, in the same order, the summary, a block
//     note     = the note, as in Note+Encoding.swift
//     order    = the snapshot of a `MovableList` of creations
//     list       what the order comes to: the place in the index of each note, 4 bytes; blocks of 1,024 of them side by side, so
//                that its beginning is read alone
//
// Nothing is compressed. Blocks of changes would take 45 % of their bytes (LZ4.swift in Bytes): an archive of 20,000 notes of 1 kB, each written at
// once, 48.7 MB in place of 58.2; one of automerge-paper, typed, 2.2 in place of 4.4. But the first start of a machine writes all of it, and took 1.38 s
// in place of 1.00 for these 20,000 notes; later starts, which read a head and an index, took as long as before. Notes of 1 kB, if they were compressed,
// would take 75 % of their bytes, and a search that reads them a microsecond more for each (2026-11-25).
//
// Numbers are varints, times signed ones, but where a count of bytes is given: these are fixed integers, little-endian.

internal import Bytes
internal import ReplicatingTypes

/// An archive can't be read: the disk refuses, or the bytes are damaged.
public struct ArchiveFailure: Error, Equatable, Sendable {
  /// The reason, for people to read.
  public var reason: String

  /// A failure with a reason.
  public init(reason: String) {
    self.reason = reason
  }
}

/// A slot of the notes' order, and the change that made it.
typealias OrderSlot = MovableList<ChangeID>.Slot

/// The notes and changes of a notebook as they were when it was put away.
///
/// Immutable, and read piece by piece. What is read is checked; nothing that the bytes may say makes it trap.
public final class NotebookArchive: Sendable {
  /// Reads bytes of the archive; throws when they can't be had, all of them. Allocates nothing for bytes beyond its end.
  public typealias Source = @Sendable (_ range: Range<Int>) throws(ArchiveFailure) -> [UInt8]

  /// A block of changes of a session.
  struct Stretch: Sendable {
    /// The numbers of its changes.
    let numbers: ClosedRange<UInt64>
    /// The last tick and the time of the last of them.
    let lamport: UInt64
    let time: Int64
    let block: Container.Block
  }

  /// A session without its changes.
  struct Session: Sendable {
    let id: ReplicaID
    let count: UInt64
    /// The last tick and the time of its last change.
    let lamport: UInt64
    let time: Int64
    let mentions: ReplicaTable
    let authors: AuthorRuns
    /// The number of slots of the order that it has made.
    let slots: Int
    /// The directory of the runs of its links.
    let runs: Container.Block
    /// In order, and without gaps.
    fileprivate let stretches: [Stretch]

    /// The block that has a change, and the time of the last change before it. O(log blocks).
    func stretch(with number: UInt64) -> (stretch: Stretch, timeBefore: Int64)? {
      stretch { $0.numbers.upperBound >= number }
    }

    /// The first block with a change that takes a tick, or one after it. O(log blocks).
    func stretch(from lamport: UInt64) -> (stretch: Stretch, timeBefore: Int64)? {
      stretch { $0.lamport >= lamport }
    }

    /// The first block of which this is true, as it is of all behind that.
    private func stretch(
      where isLate: (Stretch) -> Bool
    ) -> (stretch: Stretch, timeBefore: Int64)? {
      var (low, high) = (0, stretches.count)
      while low < high {
        let middle = (low + high) / 2
        if isLate(stretches[middle]) { high = middle } else { low = middle + 1 }
      }
      guard low < stretches.count else { return nil }
      return (stretches[low], low > 0 ? stretches[low - 1].time : 0)
    }
  }

  static let entrySize = 28
  static let runEntrySize = Container.prefixSize + 20
  /// The number of notes in a block of the list.
  static let listed = 1024

  /// Bytes of all of it.
  public let size: Int
  let source: Source
  private let head: [UInt8]
  /// Where in the head each session's rest begins.
  private let rests: [Int32]
  /// The last tick of each session.
  let lasts: [UInt64]
  /// The digest of each session's changes.
  private let digests: [UInt64]
  let sessions: [ReplicaID]
  let version: Version
  let heads: Version
  let lamport: UInt64
  let trashedCount: Int
  let purged: Set<NoteID>
  private let authors: [Author]
  /// The part `index` of the format.
  let index: [UInt8]
  /// The place of the summaries, the part `summaries` of the format.
  let summaries: Container.Block
  private let orderBlock: Container.Block
  private let list: Container.Block
  /// The first slot of the order, and the number of sessions that have made slots.
  let firstSlot: OrderSlot?
  let slotAuthors: Int
  let signatures: Signatures
  /// Bytes that its writer has put beside the notebook.
  public let appendix: [UInt8]

  /// Opens an archive of `size` bytes: reads its head and its index, and nothing else.
  public init(size: Int, source: @escaping Source) throws(ArchiveFailure) {
    self.size = size
    self.source = source
    guard size >= Container.headerSize + Container.footerSize else {
      throw ArchiveFailure(reason: "no archive")
    }
    do {
      var header = ByteReader(try source(0..<Container.headerSize))
      try header.header(.archive)
    } catch { throw ArchiveFailure(error) }
    let footer = try source(size - Container.footerSize..<size)
    guard footer.count == Container.footerSize else {
      throw ArchiveFailure(reason: "it is too short")
    }
    let start = footer.integer(at: 0, UInt64.self)
    let count = footer.integer(at: 8, UInt64.self)
    guard start <= UInt64(size), count <= UInt64(size) - start else {
      throw ArchiveFailure(reason: "a head beyond the end")
    }
    head = try Self.read(Container.Block(start: Int(start), size: Int(count)), source)
    var reader = ByteReader(head)
    do {
      lamport = try reader.number()
      var version = Version()
      var sessions: [ReplicaID] = []
      var rests: [Int32] = []
      var lasts: [UInt64] = []
      var digests: [UInt64] = []
      for _ in 0..<(try reader.count()) {
        let id = try reader.identifier()
        guard sessions.last.map({ $0 < id }) ?? true else {
          throw reader.failure("sessions out of order")
        }
        sessions.append(id)
        let number = try reader.number()
        guard number > 0 else { throw reader.failure("a session of nothing") }
        version[id] = number
        digests.append(try reader.fixed(UInt64.self))
        rests.append(Int32(reader.offset))
        var rest = ByteReader(try reader.counted())
        lasts.append(try rest.number())
      }
      self.version = version
      self.sessions = sessions
      self.rests = rests
      self.lasts = lasts
      self.digests = digests
      var heads = Version()
      for _ in 0..<(try reader.count()) {
        let change = try reader.change(of: sessions)
        guard version.contains(change) else { throw reader.failure("a change that is not here") }
        heads.insert(change)
      }
      self.heads = heads
      let notes = try reader.count()
      trashedCount = try reader.count()
      let index = try reader.blockPlace()
      summaries = try reader.blockPlace()
      orderBlock = try reader.blockPlace()
      list = try reader.blockPlace()
      firstSlot = try reader.slot(of: sessions)
      slotAuthors = try reader.count()
      signatures = try Signatures(from: &reader)
      purged = Set(try reader.changes(of: sessions).map(NoteID.init(creation:)))
      authors = try reader.authors()
      appendix = Array(try reader.counted())
      guard reader.isAtEnd, index.size == notes * Self.entrySize, trashedCount <= notes,
        purged.count <= trashedCount,
        list.size == 4 * notes + Container.prefixSize * ((notes + Self.listed - 1) / Self.listed)
      else {
        throw reader.failure("another length than was said")
      }
      self.index = try Self.read(index, source)
    } catch let failure as DecodingFailure {
      throw ArchiveFailure(reason: "its head at byte \(failure.offset): \(failure.reason)")
    } catch let failure as ArchiveFailure {
      throw failure
    } catch {
      throw ArchiveFailure(reason: "\(error)")
    }
  }

  /// The content of a block.
  func read(_ block: Container.Block) throws(ArchiveFailure) -> [UInt8] {
    try Self.read(block, source)
  }

  private static func read(_ block: Container.Block, _ source: Source) throws(ArchiveFailure)
    -> [UInt8]
  {
    var bytes = try source(block.bytes)
    guard bytes.count == block.bytes.count else { throw ArchiveFailure(reason: "it is too short") }
    _ = try content(of: block, in: bytes, at: 0)
    bytes.removeFirst(Container.prefixSize)
    return bytes
  }

  /// The content of a block that begins at `offset` of some bytes that were read.
  static func content(
    of block: Container.Block, in bytes: [UInt8], at offset: Int
  ) throws(ArchiveFailure) -> ArraySlice<UInt8> {
    var reader = ByteReader(bytes[offset..<offset + block.bytes.count])
    guard let content = try? reader.block(), content.count == block.size else {
      throw ArchiveFailure(reason: "a wrong checksum at byte \(block.start)")
    }
    return content
  }

  // MARK: - Notes

  var count: Int { index.count / Self.entrySize }

  func id(at place: Int) -> NoteID {
    let entry = place * Self.entrySize
    let session = Int(index.integer(at: entry, UInt32.self))
    return NoteID(
      creation: ChangeID(
        replica: session < sessions.count ? sessions[session] : ReplicaID(high: 0, low: 0),
        number: index.integer(at: entry + 4, UInt64.self)))
  }

  /// The number in the id of a note.
  func number(at place: Int) -> UInt64 {
    index.integer(at: place * Self.entrySize + 4, UInt64.self)
  }

  /// The place of a note in the index; nil if it is not there. O(1) if the place is beside `near`, else O(log notes).
  func place(of id: NoteID, near: Int) -> Int? {
    for place in [near - 1, near + 1] where place >= 0 && place < count && self.id(at: place) == id
    {
      return place
    }
    return place(of: id)
  }

  /// Where a note is in the index. O(log notes).
  func place(of id: NoteID) -> Int? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self.id(at: middle) < id { low = middle + 1 } else { high = middle }
    }
    return low < count && self.id(at: low) == id ? low : nil
  }

  func isTrashed(at place: Int) -> Bool {
    index.integer(at: place * Self.entrySize + 20, UInt32.self) >> 31 == 1
  }

  /// A note's encoding.
  func note(at place: Int) throws(ArchiveFailure) -> [UInt8] { try read(noteBlock(at: place)) }

  /// Where a note's encoding is.
  func noteBlock(at place: Int) -> Container.Block {
    let entry = place * Self.entrySize
    let start = index.integer(at: entry + 12, UInt64.self) & (1 << 48 - 1)
    let size = index.integer(at: entry + 20, UInt32.self) & (1 << 31 - 1)
    return Container.Block(start: Int(start), size: Int(size))
  }

  /// The blocks of notes that stand one behind the other, with their checksums, which are not looked at.
  func blocks(from first: Container.Block, to last: Container.Block) throws(ArchiveFailure)
    -> [UInt8]
  {
    let range = first.bytes.lowerBound..<last.bytes.upperBound
    let bytes = try source(range)
    guard bytes.count == range.count else { throw ArchiveFailure(reason: "it is too short") }
    return bytes
  }

  /// The order's encoding.
  func orderBytes() throws(ArchiveFailure) -> [UInt8] { try read(orderBlock) }

  func order() throws(ArchiveFailure) -> MovableList<ChangeID> {
    var reader = ByteReader(try orderBytes())
    do {
      let order = try MovableList(snapshot: &reader)
      guard reader.isAtEnd, order.count == count else {
        throw reader.failure("an order of other notes")
      }
      return order
    } catch { throw ArchiveFailure(error) }
  }

  /// Some of the notes in their order from a position on, by their places in the index; none at the end.
  func list(from position: Int) throws(ArchiveFailure) -> [Int] {
    guard position < count else { return [] }
    let (block, first) = position.quotientAndRemainder(dividingBy: Self.listed)
    let size = 4 * min(Self.listed, count - position + first)
    let start = list.start + block * (4 * Self.listed + Container.prefixSize)
    let bytes = try read(Container.Block(start: start, size: size))
    let places = (first..<size / 4).map { Int(bytes.integer(at: $0 * 4, UInt32.self)) }
    guard places.allSatisfy({ $0 < count }) else {
      throw ArchiveFailure(reason: "a list of other notes")
    }
    return places
  }

  /// Where a note that is here stands in the order. O(notes).
  func position(of id: NoteID) throws(ArchiveFailure) -> Int {
    let place = place(of: id)
    var position = 0
    while position < count {
      let places = try list(from: position)
      if let index = places.firstIndex(where: { $0 == place }) { return position + index }
      position += places.count
    }
    throw ArchiveFailure(reason: "a list of other notes")
  }

  /// The bytes of the list, with its checksums, which are not looked at.
  func listBytes() throws(ArchiveFailure) -> [UInt8] {
    let bytes = try source(list.start..<list.start + list.size)
    guard bytes.count == list.size else { throw ArchiveFailure(reason: "it is too short") }
    return bytes
  }

  // MARK: - Changes

  private func place(of session: ReplicaID) -> Int? {
    var low = 0
    var high = sessions.count
    while low < high {
      let middle = (low + high) / 2
      if sessions[middle] < session { low = middle + 1 } else { high = middle }
    }
    return low < sessions.count && sessions[low] == session ? low : nil
  }

  /// The digest of a replica's changes here; `nil` if it made none.
  func digest(of replica: ReplicaID) -> HistoryDigest? {
    place(of: replica).map { HistoryDigest(number: version[replica], value: digests[$0]) }
  }

  /// A session; `nil` if it made none of the changes here.
  func session(_ id: ReplicaID) throws(ArchiveFailure) -> Session? {
    guard let place = place(of: id) else { return nil }
    var reader = ByteReader(head[Int(rests[place])...])
    do {
      var rest = ByteReader(try reader.counted())
      let (lamport, time) = (try rest.number(), try rest.signed())
      var mentions = ReplicaTable()
      for _ in 0..<(try rest.count()) { mentions.append(try rest.session(of: sessions)) }
      var authors = AuthorRuns()
      var named: UInt64 = 0
      for _ in 0..<(try rest.count()) {
        let (count, place) = (try rest.number(), try rest.count())
        guard count > 0, named + count <= version[id], place < self.authors.count else {
          throw rest.failure("an author of no changes, or none")
        }
        named += count
        authors.append(self.authors[place], from: named)
      }
      let slots = try rest.count()
      let runs = try rest.blockPlace()
      let stretches = try rest.stretches()
      guard stretches.last?.numbers.upperBound == version[id],
        runs.size.isMultiple(of: Self.runEntrySize)
      else { throw rest.failure("blocks of other changes") }
      return Session(
        id: id, count: version[id], lamport: lamport, time: time, mentions: mentions,
        authors: authors, slots: slots, runs: runs, stretches: stretches)
    } catch { throw ArchiveFailure(error) }
  }

  /// The last tick of a session; nil if it made none of the changes here. O(log sessions).
  func lamport(of id: ReplicaID) -> UInt64? {
    place(of: id).map { lasts[$0] }
  }

  /// Visits changes of a session in order, each with its last tick, until the visitor has seen enough; whether it has not.
  func forEachChange(
    of session: Session, in numbers: ClosedRange<UInt64>,
    _ body: (_ number: UInt64, _ encoded: ArraySlice<UInt8>, _ lamport: UInt64) -> Bool
  ) throws(ArchiveFailure) -> Bool {
    for stretch in session.stretches {
      guard stretch.numbers.upperBound >= numbers.lowerBound else { continue }
      guard stretch.numbers.lowerBound <= numbers.upperBound else { return true }
      var reader = ByteReader(try read(stretch.block))
      do {
        var lamport = try reader.number()
        for next in stretch.numbers {
          lamport &+= try reader.number()
          guard lamport < ByteReader.end else { throw reader.failure("a time of \(lamport)") }
          let encoded = try reader.counted()
          if numbers.contains(next), !body(next, encoded, lamport) { return false }
        }
      } catch { throw ArchiveFailure(error) }
    }
    return true
  }
}

extension ArchiveFailure {
  init(_ error: any Error) {
    if let failure = error as? ArchiveFailure {
      self = failure
    } else if let failure = error as? DecodingFailure {
      self.init(reason: "\(failure.reason), at byte \(failure.offset) of a block")
    } else {
      self.init(reason: "\(error)")
    }
  }
}

extension [UInt8] {
  /// The integer whose bytes stand at a place, the lowest first. All of them must be here.
  @inline(__always)
  func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
    at place: Int, _: Integer.Type
  ) -> Integer {
    Integer(littleEndian: span.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: Integer.self))
  }
}

/// The last ticks of changes of one replica that a block of an archive has. They stay what they are in every later archive.
struct ArchivedTicks: Sendable {
  let first: UInt64
  var all: [UInt64] = []

  /// That of a change, if it is among these.
  subscript(number: UInt64) -> UInt64? {
    number >= first && number - first < UInt64(all.count) ? all[Int(number - first)] : nil
  }
}

extension ByteReader {
  /// No session has as many changes, and no logical time is as late: one can count on from any number below.
  fileprivate static let end: UInt64 = 1 << 60

  mutating func number() throws(DecodingFailure) -> UInt64 {
    let number = try varint()
    guard number < Self.end else { throw failure("a number of \(number)") }
    return number
  }

  fileprivate mutating func stretches() throws(DecodingFailure) -> [NotebookArchive.Stretch] {
    var stretches: [NotebookArchive.Stretch] = []
    for _ in 0..<(try count()) {
      let last = stretches.last
      let first = (last?.numbers.upperBound ?? 0) + 1
      let (count, ticks, elapsed) = (try number(), try number(), try signed())
      let lamport = (last?.lamport ?? 0) + ticks
      let (time, overflow) = (last?.time ?? 0).addingReportingOverflow(elapsed)
      guard count > 0, first + count <= Self.end, lamport < Self.end, !overflow else {
        throw failure("a block of no changes, or of too many")
      }
      guard Change.clamped(time) == time else { throw failure("a time beyond all calendars") }
      stretches.append(
        NotebookArchive.Stretch(
          numbers: first...first + count - 1, lamport: lamport, time: time, block: try blockPlace())
      )
    }
    return stretches
  }

  fileprivate mutating func authors() throws(DecodingFailure) -> [Author] {
    var authors: [Author] = []
    for _ in 0..<(try count()) {
      guard let name = String(validating: try counted(), as: UTF8.self),
        let program = String(validating: try counted(), as: UTF8.self),
        let author = Author(exactly: name, program)
      else { throw failure("an author that can be none") }
      authors.append(author)
    }
    return authors
  }

  fileprivate mutating func session(
    of sessions: [ReplicaID]
  ) throws(DecodingFailure) -> ReplicaID {
    let place = try count()
    guard place < sessions.count else { throw failure("session \(place) of \(sessions.count)") }
    return sessions[place]
  }

  mutating func change(of sessions: [ReplicaID]) throws(DecodingFailure) -> ChangeID {
    let replica = try session(of: sessions)
    return ChangeID(replica: replica, number: try varint())
  }

  fileprivate mutating func slot(
    of sessions: [ReplicaID]
  ) throws(DecodingFailure) -> OrderSlot? {
    guard try count() > 0 else { return nil }
    let change = try change(of: sessions)
    return OrderSlot(
      id: ElementID(author: change.replica, offset: try count()), change: change)
  }

  mutating func changes(of sessions: [ReplicaID]) throws(DecodingFailure) -> [ChangeID] {
    var changes: [ChangeID] = []
    for _ in 0..<(try count()) { changes.append(try change(of: sessions)) }
    return changes
  }
}
