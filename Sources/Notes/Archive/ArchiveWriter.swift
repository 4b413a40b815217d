internal import ReplicatingTypes

/// Writes a notebook as an archive, piece by piece, so that whoever writes it can do something else between two.
///
///     var writer = ArchiveWriter(book, appendix: [])
///     while let bytes = try writer.next() { /* append them to a file */ }
///     let archive = try NotebookArchive(size: writer.size) { range in /* bytes of the file */ }
///     try book.adopt(archive, markedAt: writer.mark)
///
/// It holds the notebook as it was at the beginning. What of that is in an archive already is copied from there, note by
/// note and block by block.
public struct ArchiveWriter: Sendable {
  private enum Stage {
    case notes(Int)
    case order
    /// Of which replica, from which number on.
    case changes(Int, UInt64)
    case head, done
  }

  /// What is written at once, about; and the size of a block of changes.
  private static let pieceSize = 64 << 10

  private let book: NoteBook
  public let mark: UInt64
  private let appendix: [UInt8]
  private var stage = Stage.notes(0)
  /// The notes in their order.
  private let notes: [NoteID]
  private let replicas: [ReplicaID]
  private let places: [ReplicaID: Int]
  /// What the old archive has of all summaries, while the notes are written.
  private var oldSummaries: [UInt8]?

  /// Bytes written so far.
  public private(set) var size = 0
  private var piece = ByteWriter()
  private var index = ByteWriter()
  private var summaries = ByteWriter()
  private var order = NotebookArchive.Block(start: 0, size: 0)
  private var list = NotebookArchive.Block(start: 0, size: 0)
  /// The sessions as the head will have them, and of the one whose changes are being written: its blocks and last tick.
  private var sessions = ByteWriter()
  private var blocks: [(count: UInt64, block: NotebookArchive.Block)] = []
  private var lamport: UInt64 = 0

  /// - Parameter appendix: what whoever opens the archive finds beside the notebook.
  public init(_ book: inout NoteBook, appendix: [UInt8]) {
    mark = book.mark()
    self.book = book
    self.appendix = appendix
    notes = book.shelf.ids.sorted()
    replicas = book.version.replicas
    places = Dictionary(uniqueKeysWithValues: zip(replicas, replicas.indices))
  }

  /// The next bytes of the archive, about 64 KiB; `nil` after the last.
  public mutating func next() throws(ArchiveFailure) -> [UInt8]? {
    piece = ByteWriter(capacity: Self.pieceSize * 2)
    while piece.bytes.count < Self.pieceSize {
      switch stage {
      case .notes(let next):
        if next == 0 { oldSummaries = try book.archive?.allSummaries() }
        if next < notes.count {
          try write(notes[next])
          stage = .notes(next + 1)
        } else {
          oldSummaries = nil
          stage = .order
        }
      case .order:
        var book = book
        try book.openOrder()
        order = block(book.order.encoded())
        list = block(listed(book.order.elements))
        stage = .changes(0, 1)
      case .changes(let next, let number):
        guard next < replicas.count else {
          stage = .head
          continue
        }
        let last = try writeChanges(of: replicas[next], from: number)
        if last < book.version[replicas[next]] {
          stage = .changes(next, last + 1)
        } else {
          try writeSession(replicas[next])
          stage = .changes(next + 1, 1)
        }
      case .head:
        writeHead()
        stage = .done
      case .done:
        if piece.bytes.isEmpty { return nil }
        size += piece.bytes.count
        return piece.bytes
      }
    }
    size += piece.bytes.count
    return piece.bytes
  }

  /// Where the next byte goes.
  private var place: Int { size + piece.bytes.count }

  private mutating func block(_ bytes: [UInt8]) -> NotebookArchive.Block {
    let block = NotebookArchive.Block(start: place, size: bytes.count)
    piece.raw(bytes)
    piece.fixed(CRC32C.checksum(of: bytes[...]))
    return block
  }

  private mutating func write(_ id: NoteID) throws(ArchiveFailure) {
    let (summary, note) = try book.shelf.bytes(of: id, among: oldSummaries)
    guard note.count < 1 << 31, summaries.bytes.count < 1 << 32 else {
      throw ArchiveFailure(reason: "too large to be put away")
    }
    let block = block(note)
    index.fixed(UInt32(places[id.creation.replica]!))
    index.fixed(id.creation.number)
    index.fixed(UInt64(block.start))
    index.fixed(UInt32(block.size) | (book.shelf.isTrashed(id) ? 1 << 31 : 0))
    index.fixed(UInt32(summaries.bytes.count))
    summaries.raw(summary)
    summaries.fixed(CRC32C.checksum(of: summary[...]))
  }

  private func listed(_ elements: [ChangeID]) -> [UInt8] {
    let places = Dictionary(uniqueKeysWithValues: zip(notes.map(\.creation), notes.indices))
    var list = ByteWriter(capacity: 4 * elements.count)
    for element in elements { list.fixed(UInt32(places[element]!)) }
    return list.bytes
  }

  /// Writes a block of changes; returns the number of the last.
  private mutating func writeChanges(
    of replica: ReplicaID, from first: UInt64
  ) throws(ArchiveFailure) -> UInt64 {
    var block = ByteWriter()
    block.varint(lamport)
    var last = first - 1
    try book.forEachEncoded(of: replica, in: first...book.version[replica]) {
      number, encoded, lamport in
      block.varint(lamport - self.lamport)
      block.counted(encoded)
      self.lamport = lamport
      last = number
      return block.bytes.count < Self.pieceSize
    }
    guard last >= first else {
      throw ArchiveFailure(reason: "changes of \(replica) are missing")
    }
    blocks.append((last - first + 1, self.block(block.bytes)))
    return last
  }

  /// Writes what is known of a replica beside its changes, which are written.
  private mutating func writeSession(_ replica: ReplicaID) throws(ArchiveFailure) {
    var book = book
    try book.openHistory(of: replica)
    let end = book.histories.end(of: replica)
    var rest = ByteWriter()
    rest.varint(lamport)
    rest.signed(end.time)
    rest.varint(end.mentions.replicas.count)
    for mention in end.mentions.replicas {
      guard let place = places[mention] else {
        throw ArchiveFailure(reason: "a replica is named that is not here")
      }
      rest.varint(place)
    }
    var merges = ByteWriter()
    var last: UInt64 = 0
    for (number, predecessors) in try book.merges(of: replica) {
      merges.varint(number - last)
      last = number
      merges.varint(predecessors.count)
      for predecessor in predecessors { write(predecessor, into: &merges) }
    }
    write(
      merges.bytes.isEmpty ? NotebookArchive.Block(start: 0, size: 0) : block(merges.bytes),
      into: &rest)
    rest.varint(blocks.count)
    for (count, block) in blocks {
      rest.varint(count)
      write(block, into: &rest)
    }
    sessions.identifier(replica)
    sessions.varint(book.version[replica])
    sessions.counted(rest.bytes)
    blocks = []
    lamport = 0
  }

  private func write(_ block: NotebookArchive.Block, into writer: inout ByteWriter) {
    writer.varint(block.start)
    writer.varint(block.size)
  }

  private func write(_ change: ChangeID, into writer: inout ByteWriter) {
    writer.varint(places[change.replica]!)
    writer.varint(change.number)
  }

  private mutating func writeHead() {
    let index = block(index.bytes)
    let summaries = NotebookArchive.Block(start: place, size: summaries.bytes.count)
    piece.raw(self.summaries.bytes)
    var head = ByteWriter()
    head.varint(book.lamport)
    head.varint(replicas.count)
    head.raw(sessions.bytes)
    let heads = book.heads.changes
    head.varint(heads.count)
    for change in heads { write(change, into: &head) }
    head.varint(notes.count)
    head.varint(book.counts.trashed)
    write(index, into: &head)
    write(summaries, into: &head)
    write(order, into: &head)
    write(list, into: &head)
    head.counted(appendix)
    let place = block(head.bytes)
    piece.raw(NotebookArchive.magic)
    piece.fixed(UInt64(place.start))
    piece.fixed(UInt64(place.size))
  }
}
