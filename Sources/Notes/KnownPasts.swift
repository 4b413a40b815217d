internal import ReplicatingTypes

/// The changes that the authors of changes of one text had seen, found out and kept for as long as questions are asked about it.
///
/// Each is found out in O(log history), in memory as in an archive: by the run of links that it is in (`LinkRun`).
struct KnownPasts: Causality {
  /// The notebook without its notes: holding on to these would copy them when they change.
  private let book: NoteBook
  private let note: NoteID
  private var pasts: [ChangeID: SeenChanges] = [:]

  init(of book: NoteBook, in note: NoteID) {
    var part = NoteBook()
    part.histories = book.histories
    part.archive = book.archive
    part.version = book.version
    part.pasts = book.pasts
    self.book = part
    self.note = note
  }

  mutating func knows(
    _ change: ChangeID, _ other: ChangeID
  ) throws(ArchiveFailure) -> Bool {
    if change == other { return true }
    if let past = pasts[change] { return past.contains(other) }
    var past = SeenChanges(version: Version(), own: [], author: change.replica)
    if let base = try base(of: change) {
      past = try seen(by: change, on: base)
    } else {
      if change.replica == other.replica { return other.number <= change.number }
      try book.extend(&past.version, to: change)
    }
    pasts[change] = past
    return past.contains(other)
  }

  mutating func seen(by changes: ChangeRanges.Run) throws(ArchiveFailure) -> Version {
    var version = Version()
    try book.extend(&version, to: changes.first)
    for number in changes.numbers {
      let change = ChangeID(replica: changes.replica, number: number)
      guard let base = try base(of: change) else { continue }
      version = version.intersection(try seen(by: change, on: base).version)
    }
    return version
  }

  /// The changes that the author of a change had seen when editing the text on a base. A chain that is too long is not followed to its end.
  mutating func seen(
    by change: ChangeID, on base: TextBase
  ) throws(ArchiveFailure) -> SeenChanges {
    var seen = SeenChanges(version: Version(), own: [change.number], author: change.replica)
    var base = base
    while seen.own.count <= TextBase.longestChain {
      for head in base.heads { try book.extend(&seen.version, to: head) }
      let previous = ChangeID(replica: change.replica, number: base.previous)
      if previous.number == 0 || seen.version.contains(previous) { break }
      guard let next = try self.base(of: previous) else {
        try book.extend(&seen.version, to: previous)
        break
      }
      seen.own.insert(previous.number)
      base = next
    }
    return seen
  }

  /// The base on which a change edited the text; nil if it has none.
  private func base(of change: ChangeID) throws(ArchiveFailure) -> TextBase? {
    let link = try book.run(of: change.replica, upTo: change.number)?.links.link(of: change.number)
    return link?.bases.first { $0.note == note }?.base
  }
}
