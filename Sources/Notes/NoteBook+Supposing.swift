internal import ReplicatingTypes

// How a change is merged that follows missing ones (`NoteBook+Readable.swift` says why).

extension NoteBook {
  /// A change that is still to come and that another one, the next to be merged, names something of; nil if there is none. The notes that are
  /// here are open.
  func comingChange(namedBy change: Change) -> ChangeID? {
    let coming = supposed!.coming
    if coming.isEmpty { return nil }
    func isComing(_ other: ChangeID) -> Bool {
      other.replica != change.id.replica && !version.contains(other) && coming.contains(other)
    }
    /// The next change of the author of an element that is not here.
    func next(_ element: ElementID?, among count: (ReplicaID) -> Int) -> ChangeID? {
      guard let element, element.author != change.id.replica,
        coming[element.author] > version[element.author], element.offset >= count(element.author)
      else { return nil }
      return self.next(by: element.author)
    }
    for operation in change.operations {
      var named: [ChangeID] = []
      switch operation {
      case .create: break
      case .place(let placement):
        if placement.element != change.id { named.append(placement.element) }
        for element in [placement.after, placement.before] {
          if let next = next(element, among: { order.slotCount(of: $0) }) { return next }
        }
      case .purge(let note), .redacted(let note, _, _): named.append(note.creation)
      case .edit(let note, let edit):
        named.append(note.creation)
        switch edit {
        case .tags(.remove(_, let observed)): named += observed
        case .delete(let covered): named += covered.changes
        case .withdraw(let changes): named += changes.runs.map(\.last)
        case .text(let operation) where noteCache.contains(note) && !isPurged(note):
          let text = noteCache[existing: note].text
          for element in operation.named {
            if let next = next(element, among: { text.count(by: $0) }) { return next }
          }
        default: break
        }
      }
      if let first = named.first(where: isComing) { return first }
    }
    return nil
  }

  /// Performs what can be performed of the operations of a change that follows supposed ones, and leaves only that in it. Its parts are open,
  /// as far as they are here.
  ///
  /// - Returns: what its author had seen with it, nil for all that is known, and the last tick of logical time that the change takes.
  mutating func performSupposing(
    _ change: inout Change, _ first: Stamp, _ effects: inout Effects
  ) throws -> (past: Version?, end: UInt64) {
    var performed: [Change.Operation] = []
    defer { change.operations = performed }
    let past = try past(of: change)
    var stamp = first
    let moment = WallTime(logical: first.timestamp, clock: change.time)
    /// The texts that the change edits, as they were before.
    var before: [NoteID: ReplicatingText] = [:]
    var isIncomplete = false
    for operation in change.operations {
      defer { stamp.lamport += operation.ticks }
      switch operation {
      case .create: break
      case .place(let placement):
        guard order.hasRoom(for: change.id.replica) else {
          isIncomplete = true
          continue
        }
        let placement = supposed(placement, by: change.id, past)
        if noteCache.contains(NoteID(creation: placement.element)) {
          perform(.place(placement), stamp, at: moment, &effects)
        } else {
          // Its slot counts among those of its author.
          order.leaveOut(placement.element, true)
          order.apply(placement, stamp)
          isIncomplete = true
        }
        continue
      case .edit(_, .base): continue
      case .edit(let id, let edit):
        let edited = Supposed.Edited(author: change.id.replica, note: id)
        guard noteCache.contains(id), !edit.isOfText || !supposed!.hidden.contains(edited) else {
          isIncomplete = true
          continue
        }
        if isPurged(id) { continue }
        if edit.isOfText, before[id] == nil { before[id] = noteCache[existing: id].text }
        guard isValid(edit, of: change.id, in: id, past) else {
          isIncomplete = true
          if edit.isOfText {
            // The whole edit of this text, or nothing of it: half of a replacement would take words away.
            supposed!.hidden.insert(edited)
            noteCache[existing: id].text = before[id]!
          }
          continue
        }
      case .purge(let id), .redacted(let id, _, _):
        guard noteCache.contains(id) else {
          isIncomplete = true
          continue
        }
      }
      perform(operation, stamp, at: moment, &effects)
      performed.append(operation)
    }
    if isIncomplete { supposed!.incomplete += 1 }
    return (past.isComplete ? nil : past.version, max(first.lamport, stamp.lamport - 1))
  }

  /// True if an edit of a note that is here can be made without what is missing.
  private mutating func isValid(
    _ edit: Note.Operation, of change: ChangeID, in note: NoteID, _ past: Past
  ) -> Bool {
    guard case .text(let operation) = edit else {
      return
        (try? noteCache[existing: note].validate(edit, of: change, past.awareness) { _ in true })
        != nil
    }
    // The first questions are about what the operation names, and its author knew that.
    var named = operation.named.count
    var known: Set<ChangeID> = []
    return
      (try? noteCache[existing: note].validate(edit, of: change, past.awareness) { other in
        if named > 0 {
          named -= 1
          known.insert(other)
          return true
        }
        return known.contains(other) || past.contains(other)
      }) != nil
  }

  /// A placement, or one in front of all others where the places beside it are missing: each author's places are counted, and no note is
  /// without one.
  private mutating func supposed(
    _ placement: Placement, by change: ChangeID, _ past: Past
  ) -> Placement {
    var named = (placement.after == nil ? 0 : 1) + (placement.before == nil ? 0 : 1)
    var known: Set<ChangeID> = []
    let isValid =
      (try? order.validate(placement, by: change.replica, past.awareness) { other in
        if named > 0 {
          named -= 1
          known.insert(other)
          return true
        }
        return known.contains(other) || past.contains(other)
      }) != nil
    return isValid ? placement : order.placement(of: placement.element, at: 0)
  }
}

extension ReplicatingText.Operation {
  /// The elements that it names; of a range the last.
  fileprivate var named: [ElementID] {
    switch self {
    case .insert(_, let after, let before, _): [after, before].compactMap { $0 }
    case .remove(let range): [ElementID(author: range.author, offset: range.end - 1)]
    }
  }
}
