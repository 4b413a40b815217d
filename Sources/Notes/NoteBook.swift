public import ReplicatingTypes

/// The notes and their order.
///
/// A notebook is the sum of its changes. It keeps each of them as its author encoded it, and beside them what they amount
/// to: the notes, and the order of the notes. Two notebooks that know the same changes are equal, in whichever order the
/// changes came.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var book = NoteBook()
///     let change = book.change([.create, .place(book.placement(of: note, at: 0))], ...)
///     book.apply(change)
///
/// A change is planned first (`change(by:at:_:)`, which changes nothing), then kept, then applied: what could not be
/// written to a log has not happened.
public struct NoteBook: Sendable {
  var histories = Histories()
  /// The changes that were applied.
  public internal(set) var version = Version()
  /// The changes that nothing known follows.
  var heads = Version()
  /// The last tick of logical time that any change takes.
  public internal(set) var lamport: UInt64 = 0
  var noteCache = NoteCache()
  /// Where everything is that is not in memory.
  var archive: NotebookArchive?
  /// `nil` as long as only the archive has it: then there is `unopenedOrder`.
  var openedOrder: MovableList<ChangeID>? = MovableList()
  /// The beginning of the order that only the archive has, and the notes that were put in front of it.
  var lazyOrder: LazyOrder?
  /// Of a few replicas what they had seen with their last change; see `past(of:)`.
  var pasts = CausalHistoryCache()
  /// Of a few replicas the ticks of those changes in the archive that were asked for last.
  var archivedTicks: [ReplicaID: ArchivedTicks] = [:]
  /// The notes that were forgotten for good. Of each a note without content is left in `noteCache`, and its place in the order. No client
  /// is shown them, and their number only grows.
  public internal(set) var purged: Set<NoteID> = []
  /// Those of them that changes in memory may still tell of: whoever reads these redacts them (`forEachEncoded`).
  var unredacted: Set<NoteID> = []
  /// The number of times that something came that is not to be kept: a note was purged, or changes of one that was. What holds changes
  /// elsewhere, as they were, is to be looked through when this grows.
  public internal(set) var redactions = 0
  /// The branches among the replicas that have come since the archive, in that order; see `Fork`.
  public internal(set) var newBranches: [ReplicaID] = []
  /// Digests of histories that were asked for.
  var digests: [ReplicaID: HistoryDigest] = [:]

  /// The edits of texts after which the rules of merging were not applied yet: of each author at most one entry.
  var undecided: [NoteID: [UnseenEdits]] = [:]
  /// The number of entries that were added to it since the last look.
  var undecidedCount = 0
  /// What is supposed, in a notebook for readers; see `supposing`.
  var supposed: Supposed?
  /// The notes with new withdrawals, of which it was not found out yet what is withdrawn. They are undecided, too.
  var withdrawing: Set<NoteID> = []

  /// Where a note is put among the others.
  public typealias Placement = Change.Placement

  /// A notebook without changes.
  public init() {}

  /// A notebook as it was put away. Reads nothing more yet.
  public init(_ archive: NotebookArchive) {
    self.archive = archive
    noteCache = NoteCache(archive)
    version = archive.version
    heads = archive.heads
    lamport = archive.lamport
    purged = archive.purged
    openedOrder = nil
    lazyOrder = LazyOrder(archive)
  }

  /// The notes in their order, by the changes that created them: for these the type is compiled specially. It is open. Each
  /// note has a slot since its creation, and nothing else has one.
  var order: MovableList<ChangeID> {
    _read { yield openedOrder! }
    _modify { yield &openedOrder! }
  }

  /// Gets the notes' order ready, before a place is planned. O(1) if it is.
  public mutating func openOrder() throws(ArchiveFailure) {
    guard let lazyOrder else { return }
    openedOrder = try lazyOrder.opened()
    self.lazyOrder = nil
  }

  /// True if there are no changes.
  public var isEmpty: Bool { version.isEmpty }
  /// The number of changes that no known change follows. O(1).
  public var headCount: Int { heads.count }
  /// The name of the present state. O(heads).
  public var revision: Revision { Revision(heads: heads.changes) }

  /// Visits the summaries of notes in their order, those in the trash too, as long as the visitor wants more: all, or those
  /// behind a note that is here. O(log notes + visited) when the order is open; else, where only what is behind a note is
  /// asked for, O(notes).
  ///
  /// - Parameter tags: notes without one of them need not be visited. With tags it takes O(notes), but a small part of what reading the summaries takes.
  public func forEachSummary(
    after last: NoteID? = nil, tagged tags: [Tag] = [], _ body: (NoteSummary) -> Bool
  ) throws(ArchiveFailure) {
    var position = try last.map { id throws(ArchiveFailure) in try self.position(of: id) + 1 } ?? 0
    let candidates = try tags.isEmpty ? nil : noteCache.candidates(tagged: tags)
    // Of many, reading all summaries at once is cheaper.
    let isMany = candidates.map { $0.count > $0.total / 16 } ?? true
    var visited = 0
    var all: [UInt8]?
    while true {
      let (ids, count) = try ids(from: position, among: candidates)
      if count == 0 { return }
      position += count
      for id in ids {
        if visited == mostSummariesAlone, isMany { all = try archive?.allSummaries() }
        visited += 1
        if isPurged(id) { continue }
        guard body(try noteCache.summary(of: id, among: all)) else { return }
      }
    }
  }

  /// The most summaries that are read one by one: a page of a list does not read those of all notes.
  var mostSummariesAlone: Int { max(64, (archive?.count ?? 0) / 32) }

  /// Some of the notes in their order, those in the trash and those that were purged too, from a position on, and how many places that are; none at the
  /// end.
  ///
  /// - Parameter candidates: the notes of the archive that are wanted; nil for all. Of few, all come at once, however many were asked for.
  func ids(
    from position: Int, atMost limit: Int = NotebookArchive.listed,
    among candidates: Candidates? = nil
  ) throws(ArchiveFailure) -> (ids: [NoteID], count: Int) {
    guard let openedOrder else {
      return try lazyOrder!.ids(from: position, atMost: limit, among: candidates)
    }
    // Few are found faster one by one.
    if let candidates, let few = noteCache.ids(among: candidates, atMost: openedOrder.count / 16) {
      let places = few.compactMap { id in
        openedOrder.position(of: id.creation).map { (position: $0, id: id) }
      }
      let behind = places.filter { $0.position >= position }
        .sorted { $0.position < $1.position }
      return (behind.map(\.id), openedOrder.count - position)
    }
    var (ids, count): ([NoteID], Int) = ([], 0)
    // Most notes stand beside the one that was created before or after them.
    var last = 0
    openedOrder.forEachElement(from: position) {
      count += 1
      let id = NoteID(creation: $0)
      let place = candidates == nil ? nil : archive?.place(of: id, near: last)
      if place.map({ candidates![$0] }) ?? true { ids.append(id) }
      last = place ?? last
      return count < limit
    }
    return (ids, count)
  }

  /// Where a note that is here stands among all.
  private func position(of id: NoteID) throws(ArchiveFailure) -> Int {
    guard let openedOrder else { return try lazyOrder!.position(of: id) }
    guard let position = openedOrder.position(of: id.creation) else {
      throw ArchiveFailure(reason: "a note without a place")
    }
    return position
  }

  /// Gets a note ready for being read and changed; whether there is one. It is until the next change, or the next one is
  /// opened. O(1) if it was used lately, else O(its history).
  public mutating func open(_ id: NoteID) throws(ArchiveFailure) -> Bool {
    if isPurged(id) { return false }
    noteCache.tidy()
    return try noteCache.open(id)
  }

  /// A copy of a note. O(1) if it is open, else O(its history).
  public func note(_ id: NoteID) throws(ArchiveFailure) -> Note? {
    isPurged(id) ? nil : try noteCache.note(id)
  }

  /// True if a note was forgotten for good. O(1).
  public func isPurged(_ id: NoteID) -> Bool { !purged.isEmpty && purged.contains(id) }

  /// The number of open notes, which take nearly all the memory for notes.
  public var openNoteCount: Int { noteCache.openCount }

  /// Looks at a note that is open, without copying it.
  public func read<Result>(_ id: NoteID, _ body: (borrowing Note) -> Result) -> Result {
    body(noteCache[existing: id])
  }

  /// The numbers of notes outside and inside the trash. O(1).
  public var counts: (live: Int, trashed: Int) {
    (noteCache.count - noteCache.trashedCount, noteCache.trashedCount - purged.count)
  }

  /// True if a note is here and not in the trash. O(1).
  public func isLive(_ id: NoteID) -> Bool { noteCache.contains(id) && !noteCache.isTrashed(id) }

  /// The slot that puts a note at `index` of the notes that are not in the trash, counted afterwards. The order is open.
  /// O(log slots) as long as the trash is empty; else O(notes), and O(log slots) for each note in the trash.
  public func placement(
    of note: NoteID, at index: Int
  ) -> Placement {
    // In front of everything, where most notes are created, nothing is counted.
    let trashed = index == 0 ? [] : noteCache.trashed.compactMap { order.position(of: $0.creation) }
    return order.placement(of: note.creation, at: index, notCounting: trashed.sorted())
  }

  /// The slot that puts a new note in front of all others. The order need not be open. O(1).
  public func placementInFront(of note: NoteID) -> Placement {
    lazyOrder?.placementInFront(note) ?? order.placement(of: note.creation, at: 0)
  }

  /// The slot that puts a note directly before or after another, which is here; notes in the trash count. O(log slots).
  public func placement(
    of note: NoteID, beside neighbour: NoteID, isAfter: Bool
  ) -> Placement {
    order.placement(of: note.creation, beside: neighbour.creation, isAfter: isAfter)
  }

  /// True if a note is where a placement, planned on the present order, would put it already. O(log slots).
  public func isPlaced(_ placement: Placement) -> Bool { order.isPlaced(placement) }
}

/// A number for each of very many notes: a dictionary that grows in small steps.
///
/// A dictionary that is full moves all that it has, which takes a sixth of a second for a million notes. Here notes are divided among
/// some dictionaries by their ids, and one of them grows at a time. (Where ids are chosen so that all are in one, that is as
/// slow as one dictionary.)
struct NoteIndex: Sendable {
  private static let count = 256

  private var parts: [[NoteID: Int]] = Array(repeating: [:], count: Self.count)

  subscript(id: NoteID) -> Int? {
    get { parts[Self.part(of: id)][id] }
    set { parts[Self.part(of: id)][id] = newValue }
  }

  /// Two rounds of a product folded: after one, the numbers of an author's notes would be so even that all parts were full at once.
  static func part(of id: NoteID) -> Int {
    var hash = id.creation.replica.low ^ id.creation.replica.high &+ id.creation.number
    for factor: UInt64 in [0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9] {
      let product = hash.multipliedFullWidth(by: factor)
      hash = product.high ^ product.low
    }
    return Int(hash % UInt64(count))
  }
}
