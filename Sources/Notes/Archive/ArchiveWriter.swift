internal import ReplicatingTypes

/// Writes a notebook as an archive, piece by piece, so that its caller can do something else between two.
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
    /// From which column on of which block of the old archive.
    case signatures(Int, Int)
    case order
    /// From which position on.
    case list(Int)
    /// Of which replica, from which number on.
    case changes(Int, UInt64)
    case index
    /// From which of their bytes on.
    case summaries(Int)
    case head, done
  }

  /// The number of bytes that are written at once, about; and the size of a block of changes.
  private static let pieceSize = 64 << 10
  /// The number of bytes that are copied at once.
  private static let copySize = 256 << 10

  private let book: NoteBook
  /// The moment at which the notebook was taken, for `NoteBook.adopt(_:markedAt:)`.
  public let mark: UInt64
  private let appendix: [UInt8]
  private var stage = Stage.notes(0)
  /// Sorted.
  private let notes: [NoteID]
  private let replicas: [ReplicaID]
  private let places: [ReplicaID: Int]
  /// All summaries of the old archive, and the place in it of the next note or the one after, while the notes are
  /// written.
  private var oldSummaries: [UInt8]?
  private var oldPlace = 0

  /// Bytes written so far.
  public private(set) var size = 0
  private var piece = ByteWriter()
  private var index = ByteWriter()
  private var summaries = ByteWriter()
  private var indexBlock = Container.Block(start: 0, size: 0)
  private var summariesStart = 0
  private var order = Container.Block(start: 0, size: 0)
  private var list = Container.Block(start: 0, size: 0)
  private var signatures: SignatureWriter
  private var signatureBlocks: [Signatures.Block] = []
  /// The bytes of notes that may still get signatures, and the notes that got none when these were used up.
  private var signableBytes: Int
  private var left = 0
  private var unsigned = Container.Block(start: 0, size: 0)
  /// The places in this archive's index of the notes that are as they were, by their places in the old one's; and the places there of those
  /// that have no signature there. Nil if its signatures are of no use.
  private var old: (newPlaces: [UInt32], unsigned: Set<UInt32>)?
  /// The block of the old archive's signatures that is taken apart.
  private var oldSignatures: (columns: [UInt32], rows: [UInt8])?
  /// The sessions as the head will have them, and the blocks of the one whose changes are being written.
  private var sessions = ByteWriter()
  private var blocks: [NotebookArchive.Stretch] = []
  /// The digest of the changes of that session that were written; of more, as long as blocks of the old archive are copied.
  private var digest = HistoryDigest()
  /// The authors that sessions have named so far, and where each stands among them.
  private var authors = ByteWriter()
  /// What the first changes of runs follow. Made when the first of them is written.
  private var pasts: ArchivedPasts?
  private var authorPlaces: [Author: Int] = [:]

  /// - Parameters:
  ///   - appendix: bytes that are kept beside the notebook.
  ///   - keys: what notes are found by beside their words and tags.
  ///   - limit: about as many bytes of notes get signatures. All others count as notes that have whatever is looked for, until the next archive.
  public init(
    _ book: inout NoteBook, appendix: [UInt8], keys: NoteKeys = .none, signing limit: Int = .max
  ) {
    // The order is copied, or written anew: with what was noted before it is read there is neither. Where it can't be read, the writing fails.
    if book.lazyOrder?.isChanged == true { try? book.openOrder() }
    mark = book.mark()
    signableBytes = limit
    signatures = SignatureWriter(keys)
    self.book = book
    self.appendix = appendix
    notes = book.noteCache.ids
    replicas = book.version.replicas
    places = Dictionary(uniqueKeysWithValues: zip(replicas, replicas.indices))
  }

  /// The next bytes of the archive, about 64 KiB, or a mebibyte, or none; `nil` after the last.
  public mutating func next() throws(ArchiveFailure) -> [UInt8]? {
    piece = ByteWriter(capacity: Self.pieceSize * 2)
    if size == 0, case .notes(0) = stage { piece.raw(Container.header(.archive)) }
    while piece.bytes.count < Self.pieceSize {
      switch stage {
      case .notes(let next):
        if next == 0, let archive = book.archive { try beginCopying(archive) }
        if next < notes.count {
          let count = try copyNotes(from: next)
          if count == 0 { try write(notes[next]) }
          stage = .notes(next + max(1, count))
        } else {
          oldSummaries = nil
          stage = .signatures(0, 0)
        }
      case .signatures(let next, let column):
        if let blocks = book.archive?.signatures.blocks, let old, next < blocks.count {
          let end = try keepSignatures(blocks[next], old.newPlaces, from: column)
          stage = end == nil ? .signatures(next + 1, 0) : .signatures(next, end!)
          // Taking a block apart is work, too, that gives no bytes yet.
          if end != nil { return finishPiece() }
        } else {
          finishSignatures()
          stage = .order
        }
      case .order:
        try writeOrder()
      case .list(let position):
        let count = try writeList(from: position)
        stage = position + count < notes.count ? .list(position + count) : .changes(0, 1)
      case .changes(let next, let number):
        guard next < replicas.count else {
          stage = .index
          continue
        }
        let last = try writeChanges(of: replicas[next], from: number)
        if last < book.version[replicas[next]] {
          stage = .changes(next, last + 1)
        } else {
          try writeSession(replicas[next])
          stage = .changes(next + 1, 1)
        }
      case .index:
        indexBlock = block(index.bytes)
        summariesStart = place
        stage = .summaries(0)
      case .summaries(let start):
        let end = min(start + Self.copySize, summaries.bytes.count)
        piece.raw(summaries.bytes[start..<end])
        stage = end < summaries.bytes.count ? .summaries(end) : .head
      case .head:
        writeHead()
        stage = .done
      case .done:
        return piece.bytes.isEmpty ? nil : finishPiece()
      }
    }
    return finishPiece()
  }

  private mutating func finishPiece() -> [UInt8] {
    size += piece.bytes.count
    return piece.bytes
  }

  /// Where the next byte goes.
  private var place: Int { size + piece.bytes.count }

  private mutating func block(_ bytes: [UInt8]) -> Container.Block {
    let block = Container.Block(start: place, size: bytes.count)
    piece.block(bytes)
    return block
  }

  private mutating func write(_ id: NoteID) throws(ArchiveFailure) {
    let (summary, note) = try book.noteCache.bytes(of: id, among: oldSummaries)
    guard note.count < 1 << 31, summaries.bytes.count < 1 << 32 else {
      throw ArchiveFailure(reason: "too large to be put away")
    }
    try sign(note[...], of: id, at: placeInIndex)
    try enter(
      id, block(note), isTrashed: book.noteCache.isTrashed(id), summary: summaries.bytes.count)
    summaries.block(summary)
  }

  private mutating func enter(
    _ id: NoteID, _ block: Container.Block, isTrashed: Bool, summary: Int
  ) throws(ArchiveFailure) {
    guard let session = places[id.creation.replica] else {
      throw ArchiveFailure(reason: "a note of a session that is not here")
    }
    index.fixed(UInt32(session))
    index.fixed(id.creation.number)
    index.fixed(UInt64(block.start))
    index.fixed(UInt32(block.size) | (isTrashed ? 1 << 31 : 0))
    index.fixed(UInt32(summary))
  }

  private mutating func beginCopying(_ archive: NotebookArchive) throws(ArchiveFailure) {
    oldSummaries = try archive.allSummaries()
    if archive.signatures.format == signatures.keys.format {
      let none = [UInt32](repeating: Signatures.none, count: archive.count)
      old = (none, Set(try archive.unsignedPlaces()))
    }
  }

  /// Copies notes that stand in the old archive as they are and one behind the other, without a look at them: most of a
  /// large notebook. Returns how many.
  private mutating func copyNotes(from next: Int) throws(ArchiveFailure) -> Int {
    guard let archive = book.archive, let oldSummaries else { return 0 }
    while oldPlace < archive.count, archive.id(at: oldPlace) < notes[next] { oldPlace += 1 }
    var copied: [Container.Block] = []
    var end: Int?
    while next + copied.count < notes.count, oldPlace + copied.count < archive.count {
      let (id, place) = (notes[next + copied.count], oldPlace + copied.count)
      let block = archive.noteBlock(at: place)
      guard archive.id(at: place) == id, !book.noteCache.hasChanged(id),
        block.start == end ?? block.start,
        copied.isEmpty || block.start + block.size - copied[0].start <= Self.copySize
      else { break }
      end = block.bytes.upperBound
      copied.append(block)
    }
    guard let first = copied.first, let last = copied.last else { return 0 }
    let summary = try archive.summaryRange(at: oldPlace).lowerBound
    let lastSummary = try archive.summaryRange(at: oldPlace + copied.count - 1)
    guard summaries.bytes.count + lastSummary.upperBound - summary < 1 << 32 else {
      throw ArchiveFailure(reason: "too large to be put away")
    }
    let bytes = try archive.blocks(from: first, to: last)
    for (index, block) in copied.enumerated()
    where old.map({ $0.unsigned.contains(UInt32(oldPlace + index)) }) ?? true {
      try sign(
        try NotebookArchive.content(of: block, in: bytes, at: block.start - first.start),
        of: notes[next + index], at: placeInIndex + index)
    }
    let (start, newSummary) = (place, summaries.bytes.count)
    for (index, block) in copied.enumerated() {
      let place = oldPlace + index
      let newPlace = UInt32(placeInIndex)
      old?.newPlaces[place] = newPlace
      try enter(
        notes[next + index],
        Container.Block(start: start + block.start - first.start, size: block.size),
        isTrashed: archive.isTrashed(at: place),
        summary: newSummary + (try archive.summaryRange(at: place).lowerBound) - summary)
    }
    piece.raw(bytes)
    summaries.raw(oldSummaries[summary..<lastSummary.upperBound])
    oldPlace += copied.count
    return copied.count
  }

  // MARK: - Signatures

  /// The place of the next note in the index.
  private var placeInIndex: Int { index.bytes.count / NotebookArchive.entrySize }

  /// Adds the signature of a note that will stand at a place of the index.
  private mutating func sign(
    _ encoded: ArraySlice<UInt8>, of id: NoteID, at place: Int
  ) throws(ArchiveFailure) {
    if book.isPurged(id) { return }
    guard encoded.count <= SignatureWriter.longestNote else {
      return signatures.addUnsigned(at: UInt32(place))
    }
    guard signableBytes > 0 else {
      left += 1
      return signatures.addUnsigned(at: UInt32(place))
    }
    signableBytes -= encoded.count
    do throws(DecodingFailure) {
      var reader = ByteReader(encoded)
      let content = try EncodedContent(from: &reader, withTags: true, withText: true)
      if let full = signatures.add(content, at: UInt32(place)) { write(full) }
    } catch { throw ArchiveFailure(error) }
  }

  private mutating func write(_ signatures: SignatureWriter.Block) {
    var columns = ByteWriter(capacity: 4 * signatures.places.count)
    for place in signatures.places { columns.fixed(place) }
    writeSignatures(signatures.exponent, columns.bytes, signatures.encodedRows)
  }

  private mutating func writeSignatures(_ exponent: Int, _ columns: [UInt8], _ rows: [UInt8]) {
    let columns = block(columns)
    signatureBlocks.append(
      Signatures.Block(
        exponent: exponent, columns: columns,
        rows: Container.Block(start: place, size: rows.count)))
    piece.raw(rows)
  }

  /// The number of columns that are taken out of a block at once.
  private static let columnsAtOnce = 256

  /// Takes over the signatures in a block of the old archive whose notes are as they were; from which column on it has more, nil at its end.
  ///
  /// A block is copied as it is, unless it is small or half of it is of no use. One with a column of no note is not copied after notes
  /// were purged: the column may tell of words of theirs.
  private mutating func keepSignatures(
    _ old: Signatures.Block, _ newPlaces: [UInt32], from first: Int
  ) throws(ArchiveFailure) -> Int? {
    let archive = book.archive!
    if oldSignatures == nil {
      let columns = try archive.columns(of: old).map { place throws(ArchiveFailure) in
        if place == Signatures.none { return place }
        guard place < newPlaces.count else {
          throw ArchiveFailure(reason: "a signature of no note")
        }
        return newPlaces[Int(place)]
      }
      let used = columns.count { $0 != Signatures.none }
      let mayTell = used < columns.count && book.purged.count > archive.purged.count
      if used >= Signatures.Block.capacity(old.exponent) / 2, !mayTell {
        var writer = ByteWriter(capacity: 4 * columns.count)
        for column in columns { writer.fixed(column) }
        writeSignatures(old.exponent, writer.bytes, try archive.encodedRows(of: old))
        return nil
      }
      oldSignatures = (columns, used == 0 ? [] : try archive.rows(of: old))
    }
    // Taken out for a moment, so that nothing is copied.
    let (columns, rows) = oldSignatures.take()!
    let end = min(first + Self.columnsAtOnce, columns.count)
    for column in first..<end where columns[column] != Signatures.none {
      if let full = signatures.add(column, of: rows, old, at: columns[column]) { write(full) }
    }
    if end == columns.count { return nil }
    oldSignatures = (columns, rows)
    return end
  }

  private mutating func finishSignatures() {
    for rest in signatures.takeRest() { write(rest) }
    var writer = ByteWriter(capacity: 4 * signatures.unsigned.count)
    for place in signatures.unsigned.sorted() { writer.fixed(place) }
    if !writer.bytes.isEmpty { unsigned = block(writer.bytes) }
  }

  // MARK: - The order

  private mutating func writeOrder() throws(ArchiveFailure) {
    if let order = book.openedOrder {
      var writer = ByteWriter()
      order.encodeSnapshot(into: &writer)
      self.order = block(writer.bytes)
      list = Container.Block(start: place, size: 0)
      stage = .list(0)
    } else {
      // No note was placed or created, so the places in the index are the same too.
      guard book.lazyOrder?.isChanged == false else {
        throw ArchiveFailure(reason: "an order that could not be read")
      }
      order = block(try book.archive!.orderBytes())
      let bytes = try book.archive!.listBytes()
      list = Container.Block(start: place, size: bytes.count)
      piece.raw(bytes)
      stage = .changes(0, 1)
    }
  }

  /// Writes the next part of the list; returns of how many notes.
  private mutating func writeList(from position: Int) throws(ArchiveFailure) -> Int {
    var elements: [NoteID] = []
    book.order.forEachElement(from: position) {
      elements.append(NoteID(creation: $0))
      return elements.count < NotebookArchive.listed
    }
    guard !elements.isEmpty || notes.isEmpty else {
      throw ArchiveFailure(reason: "notes without a place")
    }
    if elements.isEmpty { return 0 }
    var bytes = ByteWriter(capacity: 4 * elements.count)
    for element in elements { bytes.fixed(UInt32(try place(of: element))) }
    let written = block(bytes.bytes)
    list.size += written.bytes.count
    return elements.count
  }

  /// Where a note is in the index. O(log notes).
  private func place(of id: NoteID) throws(ArchiveFailure) -> Int {
    var low = 0
    var high = notes.count
    while low < high {
      let middle = (low + high) / 2
      if notes[middle] < id { low = middle + 1 } else { high = middle }
    }
    guard low < notes.count, notes[low] == id else {
      throw ArchiveFailure(reason: "a place of a note that is not here")
    }
    return low
  }

  /// Writes a block of changes; returns the number of the last.
  private mutating func writeChanges(
    of replica: ReplicaID, from first: UInt64
  ) throws(ArchiveFailure) -> UInt64 {
    if first == 1 { digest = book.archive?.digest(of: replica) ?? HistoryDigest() }
    // A block of the old archive is copied, unless it is a small one and there is something to put behind it. A long change that stands
    // alone is not put there, and reading on to it would be reading it.
    if let archive = book.archive, !book.isArchiveBehind,
      let session = try book.session(of: replica),
      let (old, _) = session.stretch(with: first), old.numbers.lowerBound == first,
      old.block.size >= Self.pieceSize / 2 || old.numbers.upperBound == book.version[replica]
        || session.stretch(with: old.numbers.upperBound + 1).map({ next, _ in
          next.numbers.count == 1 && next.block.size > Self.pieceSize
        }) ?? false
    {
      blocks.append(
        NotebookArchive.Stretch(
          numbers: old.numbers, lamport: old.lamport, time: old.time,
          block: self.block(try archive.read(old.block))))
      return old.numbers.upperBound
    }
    var latest =
      first == 1 ? 0 : try book.lamport(of: ChangeID(replica: replica, number: first - 1))
    var time = first == 1 ? 0 : blocks[blocks.count - 1].time
    var block = ByteWriter()
    block.varint(latest)
    var last = first - 1
    var digest = digest
    var buffer: [UInt8] = []
    try book.forEachEncoded(of: replica, in: first...book.version[replica]) {
      number, encoded, lamport in
      if lamport < latest { return false }
      // A long one has a block of its own: whoever reads its neighbours does not read it, too.
      if last >= first, encoded.count > Self.pieceSize { return false }
      if number > digest.number { digest.append(encoded, &buffer) }
      block.varint(lamport - latest)
      block.counted(encoded)
      latest = lamport
      time = Change.clamped(time &+ encoded.timeStep)
      last = number
      return block.bytes.count < Self.pieceSize
    }
    self.digest = digest
    guard last >= first else {
      throw ArchiveFailure(reason: "changes of \(replica) are missing, or in no order")
    }
    blocks.append(
      NotebookArchive.Stretch(
        numbers: first...last, lamport: latest, time: time, block: self.block(block.bytes)))
    return last
  }

  /// Writes what is known of a replica beside its changes, which are written.
  private mutating func writeSession(_ replica: ReplicaID) throws(ArchiveFailure) {
    var book = book
    try book.openHistory(of: replica)
    let end = book.histories.end(of: replica)
    var rest = ByteWriter()
    rest.varint(
      try book.lamport(of: ChangeID(replica: replica, number: book.version[replica])))
    rest.signed(end.time)
    rest.varint(end.mentions.replicas.count)
    for mention in end.mentions.replicas {
      guard let place = places[mention] else {
        throw ArchiveFailure(reason: "a replica is named that is not here")
      }
      rest.varint(place)
    }
    let runs = book.histories[replica]?.authors.runs ?? []
    rest.varint(runs.count)
    var named: UInt64 = 0
    for (first, author) in runs {
      rest.varint(first - named)
      rest.varint(place(of: author))
      named = first
    }
    let archivedSlots = try book.session(of: replica)?.slots ?? 0
    rest.varint(book.openedOrder?.slotCount(of: replica) ?? archivedSlots)
    try writeLinks(of: replica).encode(into: &rest)
    rest.varint(blocks.count)
    var (lamport, time): (UInt64, Int64) = (0, 0)
    for stretch in blocks {
      guard stretch.lamport >= lamport else {
        throw ArchiveFailure(reason: "changes of \(replica) in no order")
      }
      rest.varint(UInt64(stretch.numbers.count))
      rest.varint(stretch.lamport - lamport)
      rest.signed(stretch.time - time)
      (lamport, time) = (stretch.lamport, stretch.time)
      stretch.block.encode(into: &rest)
    }
    sessions.identifier(replica)
    sessions.varint(book.version[replica])
    sessions.fixed(digest.value)
    sessions.counted(rest.bytes)
    blocks = []
  }

  // MARK: - Links

  /// Writes the links of a replica: the runs of the old archive, and those in memory. Returns where their directory is.
  private mutating func writeLinks(of replica: ReplicaID) throws(ArchiveFailure) -> Container.Block
  {
    if pasts == nil { pasts = try ArchivedPasts(of: book) }
    var directory = ByteWriter()
    var open: NotebookArchive.Run?
    if let archive = book.archive, let session = try book.session(of: replica) {
      for place in 0..<archive.runCount(of: session) {
        let run = try archive.run(place, of: session)
        let past = run.past.flatMap(pasts!.updated)
        add(run.first, past, run.links, isContinued: false, to: &open, &directory)
      }
    }
    if let history = book.histories[replica] {
      for run in history.links.runs {
        let first = ChangeID(replica: replica, number: run.first)
        let links = run.links.filter { $0.number > history.archived }
        let isContinued = run.first <= history.archived
        add(
          run.first, pasts!.past(of: first), links, isContinued: isContinued, to: &open, &directory)
      }
    }
    write(open, &directory)
    let start = place
    piece.raw(directory.bytes)
    return Container.Block(start: start, size: directory.bytes.count)
  }

  /// Adds links to the run that is open, if they fit there, else begins another one with them.
  ///
  /// - Parameter isContinued: true if the old archive has the beginning of their run.
  private mutating func add(
    _ first: UInt64, _ past: ArchivedPast?, _ links: [HistoryLink], isContinued: Bool,
    to open: inout NotebookArchive.Run?, _ directory: inout ByteWriter
  ) {
    let links = links.compactMap { $0.redacted(book.purged) }
    if let last = open,
      isContinued
        || last.links.count + links.count <= LinkRun.length && (last.past != nil || past == nil)
    {
      open = NotebookArchive.Run(first: last.first, past: last.past, links: last.links + links)
    } else {
      write(open, &directory)
      open = NotebookArchive.Run(first: first, past: past, links: links)
    }
  }

  private mutating func write(_ run: NotebookArchive.Run?, _ directory: inout ByteWriter) {
    guard let run else { return }
    var writer = ByteWriter()
    writer.varint(run.past == nil ? 0 : 1)
    if let past = run.past {
      writer.varint(past.time)
      write(past.exceptions, into: &writer)
    }
    var last: UInt64 = 0
    for link in run.links {
      writer.varint(link.number - last)
      last = link.number
      write(link.predecessors, into: &writer)
      writer.varint(link.bases.count)
      for (note, base) in link.bases {
        write(note.creation, into: &writer)
        writer.varint(base.previous)
        write(base.heads, into: &writer)
      }
    }
    let block = block(writer.bytes)
    var entry = ByteWriter(capacity: NotebookArchive.runEntrySize)
    entry.fixed(run.first)
    entry.fixed(UInt64(block.start))
    entry.fixed(UInt32(block.size))
    directory.block(entry.bytes)
  }

  /// Where an author stands among all, from now on.
  private mutating func place(of author: Author) -> Int {
    if let place = authorPlaces[author] { return place }
    authors.counted(author.name.utf8)
    authors.counted(author.program.utf8)
    authorPlaces[author] = authorPlaces.count
    return authorPlaces.count - 1
  }

  private func write(_ change: ChangeID, into writer: inout ByteWriter) {
    writer.varint(places[change.replica]!)
    writer.varint(change.number)
  }

  private func write(_ changes: [ChangeID], into writer: inout ByteWriter) {
    writer.varint(changes.count)
    for change in changes { write(change, into: &writer) }
  }

  private mutating func writeHead() {
    var head = ByteWriter()
    head.varint(book.lamport)
    head.varint(replicas.count)
    head.raw(sessions.bytes)
    let heads = book.heads.changes
    head.varint(heads.count)
    for change in heads { write(change, into: &head) }
    head.varint(notes.count)
    head.varint(book.noteCache.trashedCount)
    indexBlock.encode(into: &head)
    Container.Block(start: summariesStart, size: summaries.bytes.count).encode(into: &head)
    order.encode(into: &head)
    list.encode(into: &head)
    let first = book.openedOrder?.firstSlot ?? book.lazyOrder?.first
    head.varint(first == nil ? 0 : 1)
    if let first {
      write(first.change, into: &head)
      head.varint(first.id.offset)
    }
    head.varint(book.openedOrder?.authorCount ?? book.archive?.slotAuthors ?? 0)
    Signatures(
      format: signatures.keys.format, blocks: signatureBlocks, unsigned: unsigned, left: left
    ).encode(into: &head)
    write(book.purged.map(\.creation).sorted(), into: &head)
    head.varint(authorPlaces.count)
    head.raw(authors.bytes)
    head.counted(appendix)
    let place = block(head.bytes)
    piece.fixed(UInt64(place.start))
    piece.fixed(UInt64(place.size))
  }
}
