internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// `note/undo` and `note/redo`: a client undoes its own changes of an open text, and redoes them.

extension NotesServer {
  /// Undoes, or redoes, one step. The effect is pushed to all attachments of the note, also to the one that asks.
  ///
  /// Steps that have no effect, because others have done the same or have taken away what they did, are reversed together with the next one
  /// that has an effect.
  mutating func reverse(
    _ direction: UndoList.Direction, of id: Int, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try editableAttachment(id).note
    openTexts[undoListOf: id].close()
    let steps = try steps(direction, of: id, in: note)
    var isEffective = false
    if !steps.isEmpty {
      var count: Int
      (count, isEffective) = try read(note) { Self.count(of: steps, toReverseIn: $0) }
      var others: [Change.Operation] = []
      if let (first, operations) = try reversal(of: steps[..<count], in: note) {
        (count, isEffective, others) = (first, true, operations)
      }
      let journal = journal
      var turning: ChangeID?
      let changes = ChangeRanges(steps[..<count].flatMap(\.runs))
      let operations = changes.isEmpty ? [] : [.edit(note, .withdraw(changes))] + others
      // The client is told of what it doesn't see in the text.
      try commit(operations, telling: !others.isEmpty) {
        turning = $0
        journal?.append(.turn(direction, $0, count), of: id)
      }
      if let turning { openTexts[undoListOf: id].turn(direction, count, by: turning) }
    }
    result.beginObject()
    result.member("done", isEffective)
    result.endObject()
  }

  /// The changes to withdraw for undoing, or redoing, each step; the next step comes first.
  private func steps(
    _ direction: UndoList.Direction, of id: Int, in note: NoteID
  ) throws(ResponseError) -> [ChangeRanges] {
    // A journal may name changes that did not come to be written.
    let version = book.version
    let steps = openTexts[undoListOf: id].withdrawals(direction).map { $0.intersection(version) }
    guard direction == .undo else { return steps }
    // A version that was restored is a step of several attachments. What one has undone it can redo, so another does not undo it again.
    let withdrawn = try read(note) { $0.text.withdrawn }
    return steps.map { step in
      let isKnown = step.runs.first.map { withdrawn.contains($0.first) } ?? false
      return isKnown ? step.subtracting(withdrawn) : step
    }
  }

  /// The number of steps up to the first one that did something elsewhere than in the text of the note that still stands, and the operations that
  /// take that back; nil if none did. Elsewhere is the title, the tags and the priority, and other notes that were changed with this one.
  private func reversal(
    of steps: ArraySlice<ChangeRanges>, in id: NoteID
  ) throws(ResponseError) -> (count: Int, operations: [Change.Operation])? {
    let note = try note("\(id)")
    return try recall { book throws(ArchiveFailure) in
      for (index, step) in steps.enumerated() {
        var operations = try book.operations(takingBack: step, of: note, at: environment.now)
          .map { Change.Operation.edit(id, $0) }
        operations += try book.operations(
          takingBack: step, ofOthersThan: id, at: environment.now)
        if !operations.isEmpty { return (index + 1, operations) }
      }
      return nil
    }
  }

  /// So many steps without effect are looked at one by one, before many are looked at together.
  private static let fewSteps = 64

  /// The number of steps to reverse so that the text changes, and whether it does: if not, these are all.
  private static func count(
    of steps: [ChangeRanges], toReverseIn note: borrowing Note
  ) -> (count: Int, isEffective: Bool) {
    func isEffective(_ count: Int) -> Bool {
      note.isTextChanged(withdrawing: ChangeRanges(steps[..<count].flatMap(\.runs)))
    }
    for count in 1...min(fewSteps, steps.count) where isEffective(count) { return (count, true) }
    // Now `low` steps have no effect, and `high` steps have one or are all.
    var (low, high) = (min(fewSteps, steps.count), min(2 * fewSteps, steps.count))
    while high < steps.count, !isEffective(high) {
      (low, high) = (high, min(2 * high, steps.count))
    }
    guard low < high, isEffective(high) else { return (steps.count, false) }
    while high - low > 1 {
      let middle = (low + high) / 2
      if isEffective(middle) { high = middle } else { low = middle }
    }
    return (high, true)
  }
}
