internal import ReplicatingTypes

/// A page of a listing of notes.
public struct ListingPage: Sendable {
  /// The notes, in order.
  public fileprivate(set) var notes: [NoteSummary] = []
  /// Where the next page begins; nil if there is none.
  public fileprivate(set) var next: ListingPlace?
}

extension NoteBook {
  /// A page of the notes that a reader wants, in an order.
  ///
  /// Page by page, each note that is wanted all the time comes once, wherever it is moved and whatever is written in it meanwhile: they come in the
  /// order in which they were when the listing began. What is created meanwhile may be missing. The notes' order has to be open for a further page.
  ///
  /// The first page in the user's order: O(log notes + visited). A further one: the same where nobody has moved a note since the listing began,
  /// else O(changes since + slots). In another order: O(notes), and the past of each note that was changed since, in that by which it is ordered.
  ///
  /// - Parameters:
  ///   - place: where the page begins, of this order; nil for the beginning.
  ///   - limit: the most notes of the page.
  ///   - tags: notes without one of them are not wanted; `isWanted` has to say so, too.
  /// - Returns: nil if the listing began at a state that is not known here.
  public func listing(
    in order: NoteOrder, from place: ListingPlace?, atMost limit: Int, tagged tags: [Tag] = [],
    where isWanted: (NoteSummary) -> Bool
  ) throws(ArchiveFailure) -> ListingPage? {
    let began = place?.began ?? revision
    if let place, !noteCache.contains(place.note) { return nil }
    var since: Version?
    if began != revision, order != .created {
      since = try version(of: began.heads)
      if since == nil { return nil }
    }
    let start = ListingStart(order: order, began: began, since: since)
    guard order == .order else {
      return try sorted(start, behind: place, atMost: limit, tagged: tags, where: isWanted)
    }
    var page = ListingPage()
    try forEachListed(start, behind: place?.note, tagged: tags) { note in
      guard isWanted(note) else { return true }
      if page.notes.count == limit {
        page.next = start.place(behind: page.notes[limit - 1], .none)
        return false
      }
      page.notes.append(note)
      return true
    }
    return page
  }

  /// The place behind a note as it is now; nil if there is none. O(log notes), and what reading its summary takes.
  public func listingPlace(
    behind id: NoteID, in order: NoteOrder
  ) throws(ArchiveFailure) -> ListingPlace? {
    guard let note = try summary(of: id) else { return nil }
    var folded = FoldedText()
    return ListingStart(order: order, began: revision, since: nil)
      .place(behind: note, order.key(title: note.title, modified: note.modified, note, &folded))
  }

  // MARK: - The user's order

  /// Visits notes in the user's order as it was when a listing began.
  private func forEachListed(
    _ start: ListingStart, behind last: NoteID?, tagged tags: [Tag],
    _ body: (NoteSummary) -> Bool
  ) throws(ArchiveFailure) {
    guard let since = start.since, try hasPlacements(after: since) else {
      return try forEachSummary(after: last, tagged: tags, body)
    }
    let order = openedOrder!.elements(at: since)
    let first = last.flatMap { order.firstIndex(of: $0.creation) }.map { $0 + 1 } ?? 0
    var all: [UInt8]?
    for (visited, creation) in order[first...].enumerated() {
      let id = NoteID(creation: creation)
      // Of many, reading all summaries at once is cheaper.
      if visited == mostSummariesAlone { all = try archive?.allSummaries() }
      if isPurged(id) { continue }
      guard body(try noteCache.summary(of: id, among: all)) else { return }
    }
  }

  /// True if a note was placed by a change that a version has not.
  private func hasPlacements(after version: Version) throws(ArchiveFailure) -> Bool {
    var isFound = false
    try forEachEffect(after: version) { _, what in
      isFound = isFound || !what.isDisjoint(with: [.created, .move])
    }
    return isFound
  }

  // MARK: - Other orders

  private func sorted(
    _ start: ListingStart, behind place: ListingPlace?, atMost limit: Int, tagged tags: [Tag],
    where isWanted: (NoteSummary) -> Bool
  ) throws(ArchiveFailure) -> ListingPage {
    let past = try start.since.map { version throws(ArchiveFailure) in
      try pastNotes(changedAfter: version)
    }
    var folded = FoldedText()
    var rows: [Row] = []
    try forEachSummary(tagged: tags) { note in
      guard isWanted(note) else { return true }
      var (title, modified) = (note.title, note.modified)
      if let since = start.since {
        // A note that was created since was not there all the time.
        guard since.contains(note.id.creation) else { return true }
        if let then = past?[note.id] { (title, modified) = then }
      }
      let key = start.order.key(title: title, modified: modified, note, &folded)
      if let place, (key, note.id) <= (place.key, place.note) { return true }
      rows.append(Row(key: key, note: note))
      // Of many only those are kept that may be on the page.
      if rows.count > 1000, rows.count / 2 > limit { rows.sortAndCut(to: limit + 1) }
      return true
    }
    rows.sortAndCut(to: limit == .max ? limit : limit + 1)
    var page = ListingPage()
    page.notes = rows.prefix(limit).map(\.note)
    if rows.count > limit {
      page.next = start.place(behind: rows[limit - 1].note, rows[limit - 1].key)
    }
    return page
  }

  /// The titles and the times of the last change, at a version that is known here, of the notes that were there then and have changed since.
  private func pastNotes(
    changedAfter version: Version
  ) throws(ArchiveFailure) -> [NoteID: (title: String, modified: Int64)] {
    var notes: [Note] = []
    for id in try self.notes(changedSince: version) where version.contains(id.creation) {
      if let note = try note(id) { notes.append(note) }
    }
    return try pasts(of: notes, at: version).mapValues { ($0.title.value, $0.modified) }
  }
}

extension NoteOrder {
  /// The value by which a note is ordered that has, or had, this title and this time of its last change.
  fileprivate func key(
    title: String, modified: Int64, _ note: NoteSummary, _ folded: inout FoldedText
  ) -> ListingPlace.Key {
    switch self {
    case .order: return .none
    case .modified: return .number(-modified)
    case .created: return .number(-note.created)
    case .title:
      folded.fold(Array(title.utf8)[...])
      return .text(Array(folded.utf8))
    }
  }
}

/// A note and the value by which it is ordered.
private struct Row {
  var key: ListingPlace.Key
  var note: NoteSummary
}

extension [Row] {
  fileprivate mutating func sortAndCut(to limit: Int) {
    sort { ($0.key, $0.note.id) < ($1.key, $1.note.id) }
    if count > limit { removeLast(count - limit) }
  }
}

/// When and how a listing began.
private struct ListingStart {
  let order: NoteOrder
  let began: Revision
  /// What was known then; nil if nothing is new since, or the order never changes.
  let since: Version?

  func place(behind note: NoteSummary, _ key: ListingPlace.Key) -> ListingPlace {
    ListingPlace(order: order, began: began, note: note.id, key: key)
  }
}
