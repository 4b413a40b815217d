internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// `note/undo` and `note/redo`: a client undoes its own changes of an open text, and redoes them.

extension NotesServer {
  /// Undoes, or redoes, one step. The effect is pushed to all attachments of the note, also to the one that asks.
  mutating func reverse(
    _ direction: UndoList.Direction, of id: Int, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try editableAttachment(id).note
    openTexts[undoListOf: id].close()
    let reversals = try reversals(direction, of: id, on: note)
    if !reversals.isEmpty {
      let journal = journal
      let effects = try commit(
        reversals.map { .edit(note, .text($0.operation)) },
        announce: {
          let copied = reversals.map(\.copied).filter { !$0.isEmpty }
          journal?.append(.turn(direction, $0, copied: copied), of: id)
        })
      turn(direction, of: id, on: note, reversals, effects)
    }
    result.beginObject()
    result.member("done", !reversals.isEmpty)
    result.endObject()
  }

  /// The operations that reverse the next step that still has an effect. Steps that others have reversed are skipped.
  private mutating func reversals(
    _ direction: UndoList.Direction, of id: Int, on note: NoteID
  ) throws(ResponseError) -> [ReplicatingArray<UInt8>.Reversal] {
    var isFirst = true
    while let step = openTexts[undoListOf: id].last(direction) {
      let (inserted, removed) = (ElementRanges(step.inserted), ElementRanges(step.removed))
      let reversals = try read(note) {
        $0.text.reversals(removing: inserted, restoring: removed)
      }
      // Thousands of steps may have no effect any more, so the text is read once for all of them.
      guard reversals.isEmpty, isFirst else { return reversals }
      isFirst = false
      let visible = try read(note) { $0.text.visibleElements }
      openTexts[undoListOf: id].dropWithoutEffect(direction, visible: visible)
    }
    return []
  }

  private mutating func turn(
    _ direction: UndoList.Direction, of id: Int, on note: NoteID,
    _ reversals: [ReplicatingArray<UInt8>.Reversal], _ effects: Effects
  ) {
    let reverse = UndoList.Step(effects)
    let copies = ElementCopies(
      of: reversals.map(\.copied).filter { !$0.isEmpty }, as: reverse.inserted)
    openTexts[undoListOf: id].turn(direction, by: reverse)
    if !reverse.inserted.isEmpty { openTexts.replace(by: copies, on: note) }
  }
}
