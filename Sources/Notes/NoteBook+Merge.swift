public import ReplicatingTypes

/// Changes from outside were refused.
public enum MergeRefusal: Error, Equatable, Sendable {
  /// They follow changes that are not here.
  case missing(MissingChanges)
  /// A change breaks a rule that every author keeps, or differs from what is known under its name.
  case invalid(ChangeID, reason: String)
}

extension NoteBook: Replicable {
  public func changes(since version: Version) -> ChangeSet {
    changes(since: version, limit: .max).changes
  }

  /// What a replica at `version` has not seen, in logical time: at least one change, and then no more than `limit` bytes
  /// of them. Also says what a replica knows then, and whether there is more. O(answer × log).
  public func changes(
    since version: Version, limit: Int
  ) -> (changes: ChangeSet, version: Version, isMore: Bool) {
    var wanted: [(time: LamportTimestamp, change: ChangeID)] = []
    for replica in self.version.replicas where version[replica] < self.version[replica] {
      for number in version[replica] + 1...self.version[replica] {
        let lamport = histories[existing: replica].lamport(number)
        wanted.append(
          (
            LamportTimestamp(count: lamport, replica: replica),
            ChangeID(replica: replica, number: number)
          ))
      }
    }
    wanted.sort { $0.time < $1.time }
    var answer = ChangeSet(since: version.intersection(self.version))
    var reached = version.intersection(self.version)
    var size = 0
    for (_, change) in wanted {
      let encoded = histories[existing: change.replica].change(change.number)
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
    let (effects, refused) = trial.drain(&pending)
    if let (change, reason) = refused.first { throw .invalid(change, reason: reason) }
    if !pending.isEmpty {
      var needed = Version()
      for change in trial.blockers(of: &pending) { needed.insert(change) }
      throw .missing(MissingChanges(needed: needed))
    }
    self = trial
    return effects
  }

  /// Applies of the waiting changes whatever can be, and leaves the others waiting. Each change is applied whole or not at
  /// all; a refused one is told, and with it all later ones of its author are dropped, which can never be applied.
  /// O(changes applied + replicas waiting).
  public mutating func drain(
    _ pending: inout PendingChanges
  ) -> (effects: Effects, refused: [(ChangeID, reason: String)]) {
    var effects = Effects()
    var refused: [(ChangeID, reason: String)] = []
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
        } catch {
          refused.append((id, error.reason))
          pending.discard(replica)
        }
      }
    }
    for replica in waitingReplicas { compareKnown(of: replica, &pending, &refused) }
    return (effects, refused)
  }

  /// Looks whether what came of a replica is what is known of it. An author who tells one change in two ways is not
  /// believed any further.
  private func compareKnown(
    of replica: ReplicaID, _ pending: inout PendingChanges,
    _ refused: inout [(ChangeID, reason: String)]
  ) {
    guard let history = histories[replica] else { return }
    var differing: UInt64?
    pending.settle(replica, upTo: version[replica]) { number, encoded in
      if history.change(number) != encoded { differing = min(number, differing ?? number) }
    }
    guard let differing else { return }
    pending.discard(replica)
    refused.append(
      (
        ChangeID(replica: replica, number: differing),
        "another change is known under this name"
      ))
  }

  /// What the waiting changes wait for.
  private func blockers(of pending: inout PendingChanges) -> [ChangeID] {
    pending.replicas.map { replica in
      let id = next(by: replica)
      guard let encoded = pending.take(id) else { return id }
      let history = histories[replica] ?? History(id: replica)
      var mentions = history.mentions
      let change = try? Change(
        id, decoding: encoded, after: history.lastTime, &mentions)
      return change?.predecessors.first { !version.contains($0) } ?? id
    }
  }

  /// Applies the next change of its author; returns what it must wait for instead, if it follows something unknown.
  private mutating func admit(
    _ id: ChangeID, _ encoded: ArraySlice<UInt8>, _ effects: inout Effects
  ) throws(InvalidChange) -> ChangeID? {
    let history = histories.place(of: id.replica)
    var mentions = history.map { histories.values[$0].mentions } ?? Mentions()
    let previous = history.map { histories.values[$0].lastTime } ?? 0
    let change: Change
    do { change = try Change(id, decoding: encoded, after: previous, &mentions) } catch {
      throw InvalidChange("\(error.reason), at byte \(error.offset)")
    }
    if let blocker = change.predecessors.first(where: { !version.contains($0) }) { return blocker }
    let kept = try performForeign(change, &effects)
    admit(change, encoded: encoded, mentions: mentions)
    if let kept { pasts.set(id.replica, id.number, kept) }
    return nil
  }

  /// Checks and performs the operations of a change, all or none.
  ///
  /// Returns what its author had seen with it, if that is worth keeping. Where it is all that is known, nothing may hold on
  /// to it: the notebook's own version is about to grow, and would be copied.
  private mutating func performForeign(
    _ change: Change, _ effects: inout Effects
  ) throws(InvalidChange) -> Version? {
    let past = past(of: change)
    let kept = past.version.contains(change.id) ? past.version : nil
    try Self.validateShape(of: change)
    if (try? validateAll(change, past)) != nil {
      perform(change, &effects)
      return kept
    }
    // A later operation may only make sense after an earlier one. So they are tried one after the other, on a copy of what
    // they touch; a change that needs this is rare, or forged.
    guard change.operations.count > 1 else {
      try validate(change.operations[0], of: change, past)
      return kept
    }
    let (savedTable, savedOrder) = (table, order)
    var own = Effects()
    var stamp = firstStamp(of: change)
    do {
      for operation in change.operations {
        try validate(operation, of: change, past)
        perform(operation, stamp, at: change.time, &own)
        stamp.lamport += operation.ticks
      }
    } catch {
      (table, order) = (savedTable, savedOrder)
      throw error
    }
    effects.merge(own)
    return kept
  }

  /// Checks all operations on the present state. A note that the change creates is there afterwards, unless it is refused.
  private mutating func validateAll(_ change: Change, _ past: Past) throws(InvalidChange) {
    let isCreating = change.operations.first == .create
    if isCreating { table.append(Note(id: NoteID(creation: change.id), created: change.time)) }
    do {
      for operation in change.operations { try validate(operation, of: change, past) }
    } catch {
      if isCreating { table.removeLast() }
      throw error
    }
  }

  /// A creation comes first in its change, and the new note's place with it: no note is without a place.
  private static func validateShape(of change: Change) throws(InvalidChange) {
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
      try order.validate(placement, by: change.id.replica) { past.contains($0) }
    case .edit(let id, let edit):
      try checkKnown(id, past)
      try table[existing: id].validate(edit, of: change.id) { past.contains($0) }
    }
  }

  private func checkKnown(_ id: NoteID, _ past: Past) throws(InvalidChange) {
    guard past.contains(id.creation), table.contains(id) else {
      throw InvalidChange("a change of a note that its author could not know")
    }
  }
}
