internal import Bytes
public import ReplicatingTypes

/// Changes from outside were refused.
public enum MergeRefusal: Error, Equatable, Sendable {
  /// They follow changes that are not here.
  case missing(MissingChanges)
  /// A change breaks a rule that every author keeps, or differs from what is known under its name.
  case invalid(ChangeID, reason: String)
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
      case .invalid(_, let reason): throw InvalidChange(reason)
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
    let (effects, refused, unreadable) = trial.drain(&pending)
    if let unreadable { throw .unreadable(unreadable) }
    if let (change, reason) = refused.first { throw .invalid(change, reason: reason) }
    if !pending.isEmpty {
      var needed = Version()
      for change in trial.blockers(of: &pending) { needed.insert(change) }
      throw .missing(MissingChanges(needed: needed))
    }
    self = trial
    return effects
  }

  /// Applies the waiting changes that can be applied, and leaves the others waiting. Each change is applied whole or not at
  /// all; a refused one is told, and with it all later ones of its author are dropped, which can never be applied. One that
  /// is about something that can't be read goes on waiting, and the first reason why is told.
  /// O(changes applied + replicas waiting).
  public mutating func drain(
    _ pending: inout PendingChanges
  ) -> (effects: Effects, refused: [(ChangeID, reason: String)], unreadable: ArchiveFailure?) {
    var effects = Effects()
    var refused: [(ChangeID, reason: String)] = []
    var unreadable: ArchiveFailure?
    let waitingReplicas = pending.replicas
    var ready = waitingReplicas
    var waiting: [ChangeID: [ReplicaID]] = [:]
    for replica in waitingReplicas { compareKnown(of: replica, &pending, &refused) }
    while let replica = ready.popLast() {
      while let encoded = pending.take(next(by: replica)) {
        let id = next(by: replica)
        do {
          if let blocker = try admit(id, encoded, &effects) {
            waiting[blocker, default: []].append(replica)
            break
          }
          ready += waiting.removeValue(forKey: id) ?? []
        } catch let failure as ArchiveFailure {
          unreadable = unreadable ?? failure
          break
        } catch let invalid as InvalidChange {
          refused.append((id, invalid.reason))
          pending.discard(replica)
        } catch {
          preconditionFailure("\(error)")
        }
      }
    }
    for replica in waitingReplicas { compareKnown(of: replica, &pending, &refused) }
    settleMerges(&effects)
    return (effects, refused, unreadable)
  }

  /// Looks whether what came of a replica is what is known of it. An author who tells one change in two ways is not
  /// believed any further. (Where the archive can't be read there is nothing to compare with.)
  private func compareKnown(
    of replica: ReplicaID, _ pending: inout PendingChanges,
    _ refused: inout [(ChangeID, reason: String)]
  ) {
    let history = histories[replica]
    let archived = history?.archived ?? archive?.version[replica] ?? 0
    var differing: UInt64?
    var old: [UInt64: ArraySlice<UInt8>] = [:]
    pending.settle(replica, upTo: version[replica]) { number, encoded in
      if number <= archived {
        if let other = old[number], !other.isEqual(to: encoded) {
          differing = min(number, differing ?? number)
        }
        old[number] = encoded
      } else if !history!.change(number).isEqual(to: encoded) {
        differing = min(number, differing ?? number)
      }
    }
    if let first = old.keys.min(), let last = old.keys.max() {
      _ = try? forEachArchived(of: replica, in: first...last) { number, encoded, _ in
        if let other = old[number], !other.isEqual(to: encoded) {
          differing = min(number, differing ?? number)
        }
        return true
      }
    }
    guard let differing else { return }
    pending.discard(replica)
    refused.append(
      (
        ChangeID(replica: replica, number: differing),
        "another change is known under this name"
      ))
  }

  /// The changes that the waiting ones wait for.
  private func blockers(of pending: inout PendingChanges) -> [ChangeID] {
    pending.replicas.map { replica in
      let id = next(by: replica)
      guard let encoded = pending.take(id) else { return id }
      var (mentions, previous) = histories.end(of: replica)
      let change = try? Change(id, decoding: encoded, after: previous, &mentions)
      return change?.predecessors.first { !version.contains($0) } ?? id
    }
  }

  /// Applies the next change of its author; returns what it must wait for instead, if it follows something unknown. Throws
  /// `InvalidChange` or `ArchiveFailure`.
  private mutating func admit(
    _ id: ChangeID, _ encoded: ArraySlice<UInt8>, _ effects: inout Effects
  ) throws -> ChangeID? {
    try openHistory(of: id.replica)
    var (mentions, previous) = histories.end(of: id.replica)
    let change: Change
    do { change = try Change(id, decoding: encoded, after: previous, &mentions) } catch {
      throw InvalidChange("\(error.reason), at byte \(error.offset)")
    }
    if let blocker = change.predecessors.first(where: { !version.contains($0) }) { return blocker }
    try Self.validateShape(of: change)
    try open(change)
    let first = try firstStamp(of: change)
    let bases = try bases(of: change)
    let (kept, end) = try performForeign(change, first, bases, &effects)
    admit(change, encoded: encoded, mentions: mentions, upTo: end)
    note(withdrawalsIn: change)
    if kept != nil || !bases.isEmpty {
      note(unaware: change, knowing: kept ?? version, on: bases)
      if undecidedCount >= Self.mostUndecided { settleMerges(&effects) }
    }
    // A note is packed without what its text has still to show.
    if !withdrawing.isEmpty, shelf.isFull() { settleMerges(&effects) }
    if var kept, !change.predecessors.isEmpty {
      kept.insert(id)
      pasts.insert(kept, of: id)
    }
    shelf.tidy()
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
    let (savedShelf, savedOrder) = (shelf, openedOrder)
    var own = Effects()
    var stamp = first
    let moment = Moment(logical: first.timestamp, clock: change.time)
    do {
      for operation in change.operations {
        try validate(operation, of: change, past)
        perform(operation, stamp, at: moment, &own)
        stamp.lamport += operation.ticks
      }
    } catch {
      (shelf, openedOrder) = (savedShelf, savedOrder)
      throw error
    }
    effects.merge(own)
    return max(first.lamport, stamp.lamport - 1)
  }

  /// Checks all operations on the present state. A note that the change creates is there afterwards, unless it is refused.
  private mutating func validateAll(_ change: Change, _ past: Past) throws(InvalidChange) {
    let isCreating = change.rareKinds.contains(.creation)
    if isCreating { shelf.insert(Note(id: NoteID(creation: change.id), created: change.time)) }
    do {
      for operation in change.operations { try validate(operation, of: change, past) }
    } catch {
      if isCreating { shelf.removeLast() }
      throw error
    }
  }

  /// A creation comes first in its change, and the new note's place with it: no note is without a place. A base comes before the
  /// edits that were made on it. Of each note's text it takes something back once.
  private static func validateShape(of change: Change) throws(InvalidChange) {
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

  private mutating func validate(
    _ operation: Change.Operation, of change: Change, _ past: Past
  ) throws(InvalidChange) {
    switch operation {
    case .create: break
    case .place(let placement):
      try checkKnown(NoteID(creation: placement.element), past)
      try order.validate(placement, by: change.id.replica, past.awareness) { past.contains($0) }
    case .edit(let id, let edit):
      try checkKnown(id, past)
      let isText = if case .text = edit { true } else { false }
      try shelf[existing: id].validate(edit, of: change.id, past.awareness(whenEditing: id)) {
        isText ? past.contains($0, whenEditing: id) : past.contains($0)
      }
    }
  }

  private func checkKnown(_ id: NoteID, _ past: Past) throws(InvalidChange) {
    guard past.contains(id.creation), shelf.contains(id) else {
      throw InvalidChange("a change of a note that its author could not know")
    }
  }
}
