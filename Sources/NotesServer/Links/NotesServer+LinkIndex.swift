internal import JSONRPC
internal import NoteFiles
internal import NoteStore
public import Notes

// The index of links is made while there is nothing else to do, from when a client has opened a note, and whoever asks for something in it reads
// first what is unread. Who asks for a few names, in a notebook of which nobody has opened a note, reads only the notes that may have them: the archive
// says which these are, of all notes that are in it as they are. Only this file reads notes for the index.

extension NotesServer {
  /// The length of the texts that are read at once, in bytes: a few milliseconds.
  private static let indexingPiece = 1 << 18
  /// Reading a note takes as long as so many bytes of text.
  private static let indexingNote = 1 << 9

  /// Reads some of what is unread.
  mutating func proceedIndexing() {
    // What can't be read now is told to whoever asks for it.
    do { try index(.all, atMost: Self.indexingPiece) } catch { indexing.isWanted = false }
  }

  /// Reads all that is unread of a part. The index is right from then on, until the next change. O(what is unread).
  mutating func finishIndexing(_ part: LinkIndex.Part) throws(ResponseError) {
    indexing.isWanted = true
    try index(part, atMost: .max)
  }

  /// Reads what is unread of the notes that have one of some names, and with `.all` of those that link to one of them. The index is right for these
  /// names from then on, until the next change. O(names × notes / 8) if an archive knows them, and what reading those notes takes; else O(what is unread).
  mutating func finishIndexing(
    _ part: LinkIndex.Part, of keys: Set<UInt64>
  ) throws(ResponseError) {
    var notes: Set<NoteID> = []
    if indexing.index?.hasUnread ?? true {
      let wanted = part == .all ? keys.union(keys.map(NoteKeys.linking)) : keys
      let (live, trashed) = book.counts
      guard wanted.count * indexing.notesForKey <= live + trashed,
        let found = try recall({ book throws(ArchiveFailure) in
          try book.notes(mayHaveOneOf: wanted, of: .links)
        })
      else { return try finishIndexing(part) }
      notes = found
    }
    // Taken out, so that it is changed in place.
    var index = indexing.index.take() ?? LinkIndex()
    defer { indexing.index = index }
    for note in notes where !index.hasRead(note) { try read(note, true, &index) }
    while let (note, hasText) = index.takeChanged(part) { try read(note, hasText, &index) }
  }

  /// What is known of links. All that was asked for was read.
  var linkIndex: LinkIndex { indexing.index ?? LinkIndex() }

  /// The meaning of a name in a link: of an id that note, of any other the notes that have it. All that was asked for was read.
  func meaning(of name: LinkName) -> LinkIndex.Meaning {
    if !name.isPath, let id = NoteID(name.text), book.isLive(id) { return .note(id) }
    return linkIndex.meaning(of: name)
  }

  private mutating func index(_ part: LinkIndex.Part, atMost limit: Int) throws(ResponseError) {
    var index = indexing.index.take() ?? LinkIndex()
    defer { indexing.index = index }
    index.begin(book.noteIDs)
    var work = 0
    while work < limit, let (note, hasText) = index.takeUnread(part) {
      work += Self.indexingNote + (try read(note, hasText, &index))
    }
  }

  /// Reads a note; returns the bytes of its text.
  @discardableResult
  private func read(
    _ note: NoteID, _ hasText: Bool, _ index: inout LinkIndex
  ) throws(ResponseError) -> Int {
    do throws(ResponseError) {
      let content = try content(of: note, withText: hasText)
      index.take(content, of: note, withText: hasText)
      return content?.utf8.count ?? 0
    } catch {
      index.putBack(note)
      throw error
    }
  }

  /// What a note says; nil if there is none, or it is in the trash.
  func content(of note: NoteID, withText hasText: Bool) throws(ResponseError) -> NoteContent? {
    try recall { book throws(ArchiveFailure) in try book.content(of: note, withText: hasText) }
  }
}

extension NoteKeys {
  /// Keys by which the notes of an archive are found that have a name, and those that link to one: what `LinkIndex` is made of.
  public static let links = NoteKeys(format: 3) { note in
    NoteNames(note).keys + LinkIndex.targets(of: note).map { linking(to: $0) }
  }

  /// The key of the notes that link to a name with this key.
  static func linking(to key: UInt64) -> UInt64 { ~key }
}
