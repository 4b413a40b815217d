internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// Taking back one's own changes of a live text, and making them again.

extension NotesServer {
  /// `note/undo` and `note/redo`. What they do to the text reaches all clients as a push, also the one that asks.
  mutating func reverse(
    _ direction: UndoList.Direction, _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let attachment = try attachment(params)
    guard !attachment.isObserver else {
      throw .requestFailed("readOnly", "attachment: \(attachment.id) only observes")
    }
    live[undoListOf: attachment.id].close()
    let reversals = try reversals(direction, attachment)
    if !reversals.isEmpty {
      let journal = journal
      let effects = try commit(
        reversals.map { .edit(attachment.note, .text($0.operation)) },
        announce: {
          let copied = reversals.map(\.copied).filter { !$0.isEmpty }
          journal?.append(.turn(direction, $0, copied: copied), of: attachment.id)
        })
      turn(direction, attachment, reversals, effects)
    }
    result.beginObject()
    result.member("done", !reversals.isEmpty)
    result.endObject()
  }

  /// What the next step comes to now. Steps that come to nothing, because others were faster, are passed over.
  private mutating func reversals(
    _ direction: UndoList.Direction, _ attachment: Attachment
  ) throws(ResponseError) -> [ReplicatingArray<UInt8>.Reversal] {
    var isFirst = true
    while let step = live[undoListOf: attachment.id].last(direction) {
      let (inserted, removed) = (ElementRanges(step.inserted), ElementRanges(step.removed))
      let reversals = try read(attachment.note) {
        $0.text.reversals(removing: inserted, restoring: removed)
      }
      // There may be thousands without effect: one look at the text serves all of them.
      guard reversals.isEmpty, isFirst else { return reversals }
      isFirst = false
      let visible = try read(attachment.note) { $0.text.visibleElements }
      live[undoListOf: attachment.id].dropWithoutEffect(direction, visible: visible)
    }
    return []
  }

  private mutating func turn(
    _ direction: UndoList.Direction, _ attachment: Attachment,
    _ reversals: [ReplicatingArray<UInt8>.Reversal], _ effects: Effects
  ) {
    let reverse = UndoList.Step(effects)
    let copies = ElementCopies(
      of: reversals.map(\.copied).filter { !$0.isEmpty }, as: reverse.inserted)
    live[undoListOf: attachment.id].turn(direction, by: reverse)
    if !reverse.inserted.isEmpty { live.replace(by: copies, on: attachment.note) }
  }
}

extension UndoList.Step {
  /// What a change of one text did.
  init(_ effects: Effects) {
    for (_, effect) in effects.text {
      switch effect {
      case .inserted(let range): inserted.append(range)
      case .removed(let range): removed.append(range)
      }
    }
  }
}
