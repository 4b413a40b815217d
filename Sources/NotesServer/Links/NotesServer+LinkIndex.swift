internal import JSONRPC
internal import NoteStore
internal import Notes

// The index of links is made while there is nothing else to do, from when a client has opened a note, and whoever asks for something in it reads
// first what is unread. Only this file reads notes for it.

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

  /// What is known of links. All that was asked for was read.
  var linkIndex: LinkIndex { indexing.index ?? LinkIndex(of: []) }

  private mutating func index(_ part: LinkIndex.Part, atMost limit: Int) throws(ResponseError) {
    // Taken out, so that it is changed in place.
    var index = indexing.index.take() ?? LinkIndex(of: book.noteIDs)
    defer { indexing.index = index }
    var work = 0
    while work < limit, let (note, hasText) = index.takeUnread(part) {
      do throws(ResponseError) {
        let content = try content(of: note, withText: hasText)
        index.take(content, of: note, withText: hasText)
        work += Self.indexingNote + (content?.utf8.count ?? 0)
      } catch {
        index.putBack(note)
        throw error
      }
    }
  }

  /// What a note says; nil if there is none, or it is in the trash.
  func content(of note: NoteID, withText hasText: Bool) throws(ResponseError) -> NoteContent? {
    try recall { book throws(ArchiveFailure) in try book.content(of: note, withText: hasText) }
  }
}
