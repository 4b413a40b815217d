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
        let lamport = histories[replica]!.lamport(number)
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
      let encoded = histories[change.replica]!.change(change.number)
      size += encoded.count
      if size > limit && !answer.isEmpty { return (answer, reached, true) }
      answer.append(change, encoded)
      reached.insert(change)
    }
    return (answer, reached, false)
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
      for change in trial.blockers(of: pending) { needed.insert(change) }
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
    var ready = pending.replicas
    var waiting: [ChangeID: [ReplicaID]] = [:]
    while let replica = ready.popLast() {
      let history = histories[replica]
      pending.removeKnown(of: replica, upTo: version[replica]) { number, encoded in
        if history?.change(number) != encoded {
          let change = ChangeID(replica: replica, number: number)
          refused.append((change, "another change is known under this name"))
        }
      }
      while let encoded = pending[next(by: replica)] {
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
      pending.removeKnown(of: replica, upTo: version[replica]) { _, _ in }
    }
    return (effects, refused)
  }

  /// What the waiting changes wait for.
  private func blockers(of pending: PendingChanges) -> [ChangeID] {
    pending.replicas.map { replica in
      let id = next(by: replica)
      guard let encoded = pending[id] else { return id }
      let history = histories[replica] ?? History()
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
    let history = histories[id.replica]
    var mentions = history?.mentions ?? Mentions()
    let change: Change
    do {
      change = try Change(
        id, decoding: encoded, after: history?.lastTime ?? 0, &mentions)
    } catch {
      throw InvalidChange("\(error.reason), at byte \(error.offset)")
    }
    if let blocker = change.predecessors.first(where: { !version.contains($0) }) { return blocker }
    try performForeign(change, &effects)
    admit(change, encoded: encoded, mentions: mentions)
    return nil
  }

  /// Checks and performs the operations of a change, all or none.
  private mutating func performForeign(
    _ change: Change, _ effects: inout Effects
  ) throws(InvalidChange) {
    let past = past(of: change)
    var stamp = firstStamp(of: change)
    // One operation is checked before anything is touched. Of several, a later one may only make sense after an earlier
    // one, so what they touch is kept until all are done.
    var saved: [NoteID: Note?] = [:]
    let savedOrder = change.operations.count > 1 ? order : nil
    var own = Effects()
    do {
      try Self.validateShape(of: change)
      for operation in change.operations {
        try validate(operation, of: change, past)
        if change.operations.count > 1 {
          switch operation {
          case .create:
            let id = NoteID(creation: change.id)
            if saved[id] == nil { saved[id] = .some(nil) }
          case .edit(let id, _): if saved[id] == nil { saved[id] = .some(notesByID[id]) }
          case .place: break
          }
        }
        perform(operation, stamp, at: change.time, &own)
        stamp.lamport += operation.ticks
      }
    } catch {
      for (id, note) in saved { notesByID[id] = note }
      if let savedOrder { order = savedOrder }
      throw error
    }
    effects.merge(own)
  }

  /// A creation comes first in its change, and the new note's place with it: no note is without a place.
  private static func validateShape(of change: Change) throws(InvalidChange) {
    for (index, operation) in change.operations.enumerated() where operation == .create {
      guard index == 0, change.operations.count > 1,
        case .place(let placement) = change.operations[1],
        placement.element.creation == change.id
      else { throw InvalidChange("a creation without a place") }
    }
  }

  private mutating func validate(
    _ operation: Change.Operation, of change: Change, _ past: Version
  ) throws(InvalidChange) {
    switch operation {
    case .create: break
    case .place(let placement):
      try checkKnown(placement.element, past)
      try order.validate(placement, by: change.id.replica) { past.contains($0) }
    case .edit(let id, let edit):
      try checkKnown(id, past)
      try notesByID[id]!.validate(edit, by: change.id.replica) { past.contains($0) }
    }
  }

  private func checkKnown(_ id: NoteID, _ past: Version) throws(InvalidChange) {
    guard past.contains(id.creation), notesByID[id] != nil else {
      throw InvalidChange("a change of a note that its author could not know")
    }
  }
}
