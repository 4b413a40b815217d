internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `note/history` and `notebook/log`: the changes to one note, and to the notebook; and the saves of `notebook/flush`, which end entries.

/// The parameters of `note/history`.
struct NoteHistoryParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, limit }

  let id: String
  let limit: Int

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    limit = try params.limit(Name.limit)
  }
}

/// The parameters of `notebook/log`.
struct LogParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case limit, before }

  let limit: Int
  let before: String?

  init(_ params: Parameters) throws(ResponseError) {
    limit = try params.limit(Name.limit)
    before = try params.string(Name.before)
  }
}

/// The parameters of `notebook/flush`.
struct FlushParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case attachment, workDoneToken }

  let attachment: Int?

  init(_ params: Parameters) throws(ResponseError) {
    attachment = try params.count(Name.attachment)
  }
}

extension NotesServer {
  /// Ends the entry of history about the note that a client saves, if it names an attachment.
  func endEntry(_ params: FlushParameters) throws(ResponseError) {
    guard let id = params.attachment else { return }
    store!.endEntry(of: try attachment(id).note)
  }

  func noteHistory(
    _ params: NoteHistoryParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let id = try note(params.id).id
    let entries = try recall { book throws(ArchiveFailure) in
      try book.history(of: id, limit: params.limit)
    }
    result.beginObject()
    result.key("entries")
    result.beginArray()
    for entry in entries {
      result.beginObject()
      result.member("revision", "\(entry.revision)")
      result.member("time", iso8601(entry.time))
      result.member("what", entry.what.names)
      if let author = entry.author { result.author(author) }
      result.member("replica", "\(entry.replica)")
      result.member("inserted", entry.inserted)
      result.member("deleted", entry.deleted)
      result.endObject()
    }
    result.endArray()
    result.endObject()
  }

  /// Begins to look through the log, which is answered when there are as many entries as are wanted.
  mutating func log(_ id: RequestID, _ params: LogParameters) throws(ResponseError) {
    let log = try recall { book throws(ArchiveFailure) -> NotebookLog? in
      guard let before = params.before else { return try book.log() }
      guard let revision = Revision(before), revision.heads.allSatisfy(book.version.contains)
      else { return nil }
      return try book.log(before: revision)
    }
    guard let log else {
      throw .requestFailed("unknownRevision", "before: no state of this notebook has this name")
    }
    begin(LogRequest(id, log, limit: params.limit))
  }
}

/// A look through the log that is not complete.
private struct LogRequest: Lookup {
  let id: RequestID
  private var log: NotebookLog
  /// The most entries that are wanted; of the change with which that many are reached all.
  private let limit: Int
  private var count = 0
  private var last: ChangeID?
  /// The result as far as it is known.
  private var result = JSONWriter()

  /// The work that is done at once, in the units of `NotebookLog`: a few milliseconds.
  private static let piece = 16_384

  init(_ id: RequestID, _ log: NotebookLog, limit: Int) {
    self.id = id
    self.log = log
    self.limit = limit
    result.beginObject()
    result.key("entries")
    result.beginArray()
  }

  mutating func proceed(in store: NoteStore?) throws(ResponseError) -> [UInt8]? {
    // If the archive can't be read, the notebook is made anew from the folder, and this piece is looked up again from here.
    let (before, room) = (self, Requests.largestLookup - result.bytes.count)
    var piece = Piece()
    do {
      let found = try store?.recall { book throws(ArchiveFailure) in
        var next = before
        let piece = try next.take(from: book, within: room)
        return (next, piece)
      }
      if let found { (self, piece) = found }
    } catch { throw ResponseError(error) }
    for (entry, title) in piece.entries { result.entry(entry, title: title) }
    if piece.isIncomplete { return nil }
    result.endArray()
    result.member("more", piece.isMore)
    result.endObject()
    return result.bytes
  }

  private struct Piece {
    var entries: [(LogEntry, title: String?)] = []
    /// True if not all entries are here that are wanted.
    var isIncomplete = false
    /// True if there are more than are wanted.
    var isMore = false
  }

  /// The longest entry in JSON, but for its title: about so many bytes.
  private static let entrySize = 512

  /// Takes the next entries, with the titles of their notes.
  private mutating func take(
    from book: borrowing NoteBook, within room: Int
  ) throws(ArchiveFailure) -> Piece {
    var piece = Piece()
    var entries: [LogEntry] = []
    piece.isIncomplete = try log.proceed(in: book, atMost: Self.piece) { entry in
      let isFull = count >= limit || Self.entrySize * entries.count >= room
      piece.isMore = isFull && entry.last != last
      if piece.isMore { return false }
      (count, last) = (count + 1, entry.last)
      entries.append(entry)
      return true
    }
    if piece.isMore { piece.isIncomplete = false }
    // A note may have been purged since the log was begun.
    for entry in entries where entry.what.contains(.purge) || !book.isPurged(entry.note) {
      piece.entries.append((entry, try book.summary(of: entry.note)?.title))
    }
    return piece
  }
}

extension ChangeKind {
  /// Their names on the wire.
  var names: [String] {
    let all: [(ChangeKind, String)] = [
      (.created, "created"), (.text, "text"), (.title, "title"), (.tags, "tags"),
      (.priority, "priority"), (.trash, "trash"), (.restore, "restore"), (.move, "move"),
      (.purge, "purge"), (.imported, "import"), (.property, "header"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}

extension JSONWriter {
  fileprivate mutating func entry(_ entry: LogEntry, title: String?) {
    beginObject()
    member("time", iso8601(entry.time))
    member("revision", "\(entry.revision)")
    member("id", "\(entry.note)")
    if let title { member("title", title) }
    member("what", entry.what.names)
    if let author = entry.author { self.author(author) }
    endObject()
  }
}
