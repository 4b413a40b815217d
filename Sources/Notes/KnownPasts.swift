internal import ReplicatingTypes

/// The changes that the authors of changes had seen, found out and kept for as long as questions are asked about a notebook.
struct KnownPasts: Causality {
  /// The notebook without its notes: holding on to these would copy them when they change.
  private let book: NoteBook
  private var pasts: [ChangeID: Version] = [:]

  init(of book: NoteBook) {
    var part = NoteBook()
    part.histories = book.histories
    part.archive = book.archive
    part.version = book.version
    self.book = part
  }

  mutating func knows(
    _ change: ChangeID, _ other: ChangeID
  ) throws(ArchiveFailure) -> Bool {
    if let past = pasts[change] { return past.contains(other) }
    var past = Version()
    try book.extend(&past, to: change)
    pasts[change] = past
    return past.contains(other)
  }
}
