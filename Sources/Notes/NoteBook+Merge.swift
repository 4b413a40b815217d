internal import Bytes
public import ReplicatingTypes

/// Changes from outside were refused.
public enum MergeRefusal: Error, Equatable, Sendable {
  /// They follow changes that are not here.
  case missing(MissingChanges)
  /// A change breaks a rule that every author keeps, or differs from what is known under its name.
  case invalid(ChangeID, reason: String)
  /// A change was made by a later version of the program, and has something in it that this one does not know.
  case newer(ChangeID, reason: String)
  /// The notes they are about can't be read.
  case unreadable(ArchiveFailure)
}

extension NoteBook: Replicable {
  /// Of a notebook that is all in memory: who can't be sure of that asks for changes with a limit.
  public func changes(since version: Version) -> ChangeSet {
    do { return try changes(since: version, limit: .max).changes } catch {
      preconditionFailure("an archive that can't be read: \(error.reason)")
    }
  }

  /// The changes that a replica at `version` has not seen, in logical time: at least one change, and then no more than `limit`
  /// bytes of them. Also says what a replica knows then, and whether there is more.
  ///
  /// O(replicas + answer × log replicas), and a block of the archive for each replica that it has news of.
  public func changes(
    since version: Version, limit: Int
  ) throws(ArchiveFailure) -> (changes: ChangeSet, version: Version, isMore: Bool) {
    try changes(since: version, limit: limit, within: self.version)
  }

  /// The same of a part of the notebook: of those changes only that are in `part`, which has all that they follow.
  func changes(
    since version: Version, limit: Int, within part: Version
  ) throws(ArchiveFailure) -> (changes: ChangeSet, version: Version, isMore: Bool) {
    var answer = ChangeSet(since: version.intersection(part))
    var reached = answer.since
    var size = 0
    var news = try News(of: self, since: version, within: part)
    while let (change, encoded) = try news.next(in: self) {
      size += encoded.count
      if size > limit && !answer.isEmpty { return (answer, reached, true) }
      answer.append(change, encoded)
      reached.insert(change)
    }
    return (answer, reached, false)
  }

  /// Each change is looked at where it is applied, since the next depends on it; so a copy is merged with all of them.
  public func validate(_ changes: ChangeSet) throws(InvalidChange) {
    var trial = self
    do { try trial.merge(foreign: changes) } catch {
      switch error {
      case .missing: throw InvalidChange("changes that follow others that are not here")
      case .invalid(_, let reason), .newer(_, let reason): throw InvalidChange(reason)
      case .unreadable(let failure): throw InvalidChange(failure.reason)
      }
    }
  }

  /// Applies changes that come from a value of this program. What comes from outside goes through `merge(foreign:)`.
  public mutating func join(_ changes: ChangeSet) {
    do { try merge(foreign: changes) } catch {
      preconditionFailure("changes of a value in memory are refused: \(error)")
    }
  }

  /// Applies changes from outside: all of them, or none.
  @discardableResult
  public mutating func merge(foreign changes: ChangeSet) throws(MergeRefusal) -> Effects {
    var trial = self
    var pending = PendingChanges(changes)
    let merged = trial.drain(&pending)
    if let unreadable = merged.unreadable { throw .unreadable(unreadable) }
    if let refused = merged.refused.first {
      throw refused.isOfLaterVersion
        ? .newer(refused.change, reason: refused.reason)
        : .invalid(refused.change, reason: refused.reason)
    }
    if !pending.isEmpty {
      var needed = Version()
      for change in pending.blockers { needed.insert(change) }
      throw .missing(MissingChanges(needed: needed))
    }
    self = trial
    return merged.effects
  }

  /// A change that was refused.
  public struct Refused: Sendable {
    /// The change.
    public let change: ChangeID
    /// The rule that it breaks, or what this version of the program does not know of it.
    public let reason: String
    /// True if it was made by a later version of the program.
    public let isOfLaterVersion: Bool
  }

  /// What a slice of merging has done.
  public struct Merged: Sendable {
    /// What happened to the notes.
    public fileprivate(set) var effects = Effects()
    /// The changes that were refused.
    public fileprivate(set) var refused: [Refused] = []
    /// The first reason why something could not be read.
    public fileprivate(set) var unreadable: ArchiveFailure?
    /// The replicas of which more is known, and the number of the last change of each that was known before.
    public fileprivate(set) var advanced: [(replica: ReplicaID, from: UInt64)] = []
    /// The replica by whose author the effects happen.
    fileprivate var replica: ReplicaID?
    /// The work that was done: one for each replica, change and operation, and more for what is long or was not in memory.
    public fileprivate(set) var work = 0

    /// Nothing was done yet.
    public init() {}
  }

  /// Applies pending changes that can be applied, and leaves the others. Each change is applied whole or not at all; a refused one
  /// is told, and with it all later ones of its author are dropped, which can never be applied. One that is about something that
  /// can't be read goes on waiting, and the first reason why is told.
  ///
  /// - Parameter limit: the work after which to stop. Then the notebook has a part of the changes, which is all that they follow too, and
  ///   the next call goes on. At least one change is looked at.
  /// - Complexity: O(work); nothing for what stays pending. Each call also applies the rules of merging to the texts that it has changed.
  public mutating func drain(
    _ pending: inout PendingChanges, atMost limit: Int = .max
  ) -> Merged {
    var merged = Merged()
    while merged.work < limit, let turn = pending.takeTurn() {
      let replica = turn.replica
      var queue = turn.queue
      let known = version[replica]
      merged.work += 1
      let isLeft = drain(&queue, of: replica, &pending, &merged, limit)
      if version[replica] > known { merged.advanced.append((replica, known)) }
      pending.endTurn(replica, isLeft ? queue : nil)
    }
    settleMerges(&merged)
    return merged
  }

  /// Applies the rules of merging.
  private mutating func settleMerges(_ merged: inout Merged) {
    merged.effects.beginMeeting()
    merged.replica = nil
    settleMerges(&merged.effects)
  }

  /// Applies changes of one replica as long as they can be applied and the work is less than `limit`; returns whether some are left.
  private mutating func drain(
    _ queue: inout PendingChanges.Queue, of replica: ReplicaID, _ pending: inout PendingChanges,
    _ merged: inout Merged, _ limit: Int
  ) -> Bool {
    while let number = queue.next() {
      if merged.work > limit { return true }
      let id = next(by: replica)
      if number < id.number {
        guard let differing = compareKnown(&queue, of: replica, &merged) else { continue }
        let change = ChangeID(replica: replica, number: differing)
        merged.refused.append(
          Refused(
            change: change, reason: "another change is known under this name",
            isOfLaterVersion: false))
        return false
      }
      if number > id.number {
        queue.state = .waits(for: id)
        return true
      }
      do {
        if let blocker = try admit(id, queue.first, &merged) {
          queue.state = .waits(for: blocker)
          return true
        }
        queue.advance(behind: number)
        pending.release(id)
      } catch let failure as ArchiveFailure {
        merged.unreadable = merged.unreadable ?? failure
        queue.state = .unreadable
        return true
      } catch let invalid as InvalidChange {
        merged.refused.append(
          Refused(change: id, reason: invalid.reason, isOfLaterVersion: false))
        return false
      } catch let failure as DecodingFailure {
        merged.refused.append(
          Refused(
            change: id, reason: "\(failure.reason), at byte \(failure.offset)",
            isOfLaterVersion: failure.isOfLaterVersion))
        return false
      } catch {
        preconditionFailure("\(error)")
      }
    }
    return false
  }

  /// So many changes are compared at once: an archive has them in blocks.
  private static var mostCompared: UInt64 { 4096 }

  /// Goes on behind the next changes of a replica, which are known, and returns the first that is not what is known under its name. An
  /// author who tells one change in two ways is not believed any further. (Where the archive can't be read there is nothing to compare
  /// with.)
  private func compareKnown(
    _ queue: inout PendingChanges.Queue, of replica: ReplicaID, _ merged: inout Merged
  ) -> UInt64? {
    var numbers = queue.numbers(upTo: version[replica])
    if numbers.count > Self.mostCompared {
      numbers = numbers.lowerBound...numbers.lowerBound + Self.mostCompared - 1
    }
    var size = 0
    var differing: UInt64?
    let archived = histories[replica]?.archived ?? archive?.version[replica] ?? 0
    if numbers.lowerBound <= archived {
      merged.work += 16
      numbers = numbers.lowerBound...min(numbers.upperBound, archived)
      _ = try? forEachArchived(of: replica, in: numbers) { number, encoded, _ in
        size += encoded.count
        if !ChangeHash.isSame(queue[number], encoded) { differing = number }
        return differing == nil
      }
    } else {
      let place = histories.place(of: replica)!
      differing = numbers.first {
        size += queue[$0].count
        return !ChangeHash.isSame(histories.all[place].change($0), queue[$0])
      }
    }
    merged.work += 1 + numbers.count / 16 + size >> 14
    queue.advance(behind: numbers.upperBound)
    return differing
  }

  /// Applies the next change of its author; returns what it must wait for instead, if it follows something unknown. Throws
  /// `InvalidChange`, `DecodingFailure` or `ArchiveFailure`.
  private mutating func admit(
    _ id: ChangeID, _ encoded: ArraySlice<UInt8>, _ merged: inout Merged
  ) throws -> ChangeID? {
    let unpacked = noteCache.unpacked
    merged.work += 1 + encoded.count >> 10
    defer { merged.work += (noteCache.unpacked - unpacked) >> 8 }
    try openHistory(of: id.replica)
    var (mentions, previous) = histories.end(of: id.replica)
    var encoded = encoded
    var change = try Change(id, decoding: encoded, after: previous, &mentions)
    try Self.validateName(of: change, encoded)
    if !purged.isEmpty, change.edits(anyOf: purged) {
      (change, encoded) = try redacted(id, encoded, after: previous, mentions)
      redactions += 1
    }
    if let blocker = change.predecessors.first(where: { !version.contains($0) }) { return blocker }
    merged.work += change.operations.count
    try Self.validateShape(of: change)
    try open(change)
    let first = try firstStamp(of: change)
    if supposed != nil {
      if let blocker = comingChange(namedBy: change) { return blocker }
      var (past, end) = try performSupposing(&change, first, &merged.effects)
      past?.insert(id)
      admit(change, encoded: encoded, mentions: mentions, upTo: end, knowing: past)
      note(withdrawalsIn: change)
      if !withdrawing.isEmpty, noteCache.isFull() { settleMerges(&merged) }
      noteCache.tidy()
      return nil
    }
    let bases = try bases(of: change)
    if merged.replica != id.replica || change.author != nil {
      merged.effects.begin(by: change.author ?? histories.lastAuthor(of: id.replica))
      merged.replica = id.replica
    }
    let stray = bases.isEmpty ? strayBases(of: change) : [:]
    let (kept, end) = try performForeign(change, first, bases, &merged.effects)
    var past = kept
    past?.insert(id)
    admit(change, encoded: encoded, mentions: mentions, upTo: end, knowing: past)
    note(withdrawalsIn: change)
    let seen = bases.isEmpty && kept == nil ? stray : bases
    if kept != nil || !seen.isEmpty {
      note(unaware: change, knowing: kept ?? version, on: seen)
      if undecidedCount >= Self.mostUndecided { settleMerges(&merged) }
    }
    // A note is packed without what its text has still to show.
    if !withdrawing.isEmpty, noteCache.isFull() { settleMerges(&merged) }
    if let past, !change.predecessors.isEmpty { pasts.insert(past, of: id) }
    noteCache.tidy()
    return nil
  }

  /// Checks and performs the operations of a change, all or none. Its parts are open.
  ///
  /// Returns the last tick of logical time that it takes, and what its author had seen with it, if that is worth keeping.
  /// Where it is all that is known, nothing may hold on to it: the notebook's own version is about to grow, and would be
  /// copied.
  private mutating func performForeign(
    _ change: Change, _ first: Stamp, _ bases: [NoteID: SeenChanges], _ effects: inout Effects
  ) throws -> (past: Version?, end: UInt64) {
    var past = try past(of: change)
    past.bases = bases
    let kept = past.isComplete ? nil : past.version
    do { try validateAll(change, past) } catch {
      guard change.operations.count > 1 else { throw error }
      return (kept, try performInTurn(change, first, past, &effects))
    }
    return (kept, perform(change, first, &effects))
  }

  /// Checks and performs the operations of a change one after the other, on a copy of what they touch: a later one may only
  /// make sense after an earlier one. A change that needs this is rare, or forged.
  private mutating func performInTurn(
    _ change: Change, _ first: Stamp, _ past: Past, _ effects: inout Effects
  ) throws(InvalidChange) -> UInt64 {
    // The order may be in the archive only: the change needn't be about it.
    let (savedCache, savedOrder, savedUnopened) = (noteCache, openedOrder, lazyOrder)
    let (savedPurged, savedUnredacted) = (purged, unredacted)
    let (savedUndecided, savedWithdrawing) = (undecided, withdrawing)
    var own = Effects()
    var stamp = first
    let moment = WallTime(logical: first.timestamp, clock: change.time)
    do {
      for operation in change.operations {
        try validate(operation, of: change, past)
        perform(operation, stamp, at: moment, &own)
        stamp.lamport += operation.ticks
      }
    } catch {
      (noteCache, openedOrder, lazyOrder) = (savedCache, savedOrder, savedUnopened)
      (purged, unredacted) = (savedPurged, savedUnredacted)
      (undecided, withdrawing) = (savedUndecided, savedWithdrawing)
      throw error
    }
    effects.merge(own)
    return max(first.lamport, stamp.lamport - 1)
  }

  /// Checks all operations on the present state. A note that the change creates is there afterwards, unless it is refused.
  private mutating func validateAll(_ change: Change, _ past: Past) throws(InvalidChange) {
    let isCreating = change.rareKinds.contains(.creation)
    if isCreating { noteCache.insert(Note(id: NoteID(creation: change.id), created: change.time)) }
    do {
      for operation in change.operations { try validate(operation, of: change, past) }
    } catch {
      if isCreating { noteCache.removeLast() }
      throw error
    }
  }

  /// A change that says that it is named by its content is. A redacted one has no longer what it was named by.
  private static func validateName(
    of change: Change, _ encoded: ArraySlice<UInt8>
  ) throws(InvalidChange) {
    guard change.isContentAddressed, change.original == nil else { return }
    guard change.id.number == 1, change.time == 0,
      ContentAddressedChange.replica(named: encoded) == change.id.replica
    else { throw InvalidChange("a change named by other content than it has") }
  }

  /// A creation comes first in its change, and the new note's place with it: no note is without a place. A base comes before the
  /// edits that were made on it. Of each note's text it takes something back once. It inserts once between two elements.
  private static func validateShape(of change: Change) throws(InvalidChange) {
    try validateGaps(of: change)
    if change.rareKinds.isEmpty { return }
    var withdrawn: Set<NoteID> = []
    for case .edit(let note, .withdraw) in change.operations {
      guard withdrawn.insert(note).inserted else {
        throw InvalidChange("two withdrawals of a text")
      }
    }
    if change.rareKinds.contains(.base) {
      var edited: Set<NoteID> = []
      for operation in change.operations {
        switch operation {
        case .edit(let note, .base):
          guard edited.insert(note).inserted else { throw InvalidChange("a base behind an edit") }
        case .edit(let note, .text): edited.insert(note)
        default: break
        }
      }
    }
    for (index, operation) in change.operations.enumerated() where operation == .create {
      guard index == 0, change.operations.count > 1,
        case .place(let placement) = change.operations[1],
        placement.element == change.id
      else { throw InvalidChange("a creation without a place") }
    }
  }

  /// An author knows its own insertions, so the second one at a place stands beside the first, and has that as an origin. Two with the
  /// same origins would be copies of each other only for replicas that merge them together with what others did there.
  private static func validateGaps(of change: Change) throws(InvalidChange) {
    if change.operations.count < 2 { return }
    var first: Gap?
    var others: Set<Gap> = []
    for operation in change.operations {
      guard let gap = Gap(of: operation) else { continue }
      if first == nil {
        first = gap
      } else if gap == first || !others.insert(gap).inserted {
        throw InvalidChange("two insertions between the same elements")
      }
    }
  }

  /// The elements between which an operation inserts, and the text that they belong to; `nil` for the order of the notes.
  private struct Gap: Hashable {
    let note: NoteID?
    let after: ElementID?
    let before: ElementID?

    /// `nil` if the operation inserts nothing.
    init?(of operation: Change.Operation) {
      switch operation {
      case .edit(let note, .text(.insert(_, let after, let before, _))):
        self.init(note: note, after: after, before: before)
      case .place(let placement):
        self.init(note: nil, after: placement.after, before: placement.before)
      default: return nil
      }
    }

    private init(note: NoteID?, after: ElementID?, before: ElementID?) {
      (self.note, self.after, self.before) = (note, after, before)
    }
  }

  private mutating func validate(
    _ operation: Change.Operation, of change: Change, _ past: Past
  ) throws(InvalidChange) {
    switch operation {
    case .create: break
    case .place(let placement):
      try checkKnown(NoteID(creation: placement.element), past)
      guard let lazyOrder else {
        try order.validate(placement, by: change.id.replica, past.awareness) { past.contains($0) }
        break
      }
      try lazyOrder.validate { past.contains($0) }
    case .edit(let id, let edit):
      try checkKnown(id, past)
      if isPurged(id) { break }
      let isText = if case .text = edit { true } else { false }
      try noteCache[existing: id].validate(edit, of: change.id, past.awareness(whenEditing: id)) {
        isText ? past.contains($0, whenEditing: id) : past.contains($0)
      }
    case .purge(let id), .redacted(let id, _, _): try checkKnown(id, past)
    }
  }

  private func checkKnown(_ id: NoteID, _ past: Past) throws(InvalidChange) {
    guard past.contains(id.creation), noteCache.contains(id) else {
      throw InvalidChange("a change of a note that its author could not know")
    }
  }
}
