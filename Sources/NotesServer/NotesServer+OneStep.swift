internal import JSONRPC
internal import NoteStore
internal import Notes

// Several changes that are made together.

extension NotesServer {
  /// Makes all changes that `body` makes with one write, or none if it throws. They are one step of each client that edits one of the notes.
  ///
  /// Where there is no way back the changes stay, as in `NoteStore.GroupFailure`, and clients are told of them as of those of others.
  mutating func asOneStep(
    _ body: (inout NotesServer) throws(ResponseError) -> Void
  ) throws(ResponseError) {
    do { try store!.beginGroup() } catch { throw ResponseError(error) }
    requests.batch = RunningBatch()
    do throws(ResponseError) {
      try body(&self)
      try finishStep()
    } catch {
      if !store!.abandonGroup() { takeUnwritten() }
      requests.batch = nil
      throw error
    }
  }

  /// Takes the changes of a batch that is refused, and that the notebook has nevertheless.
  private mutating func takeUnwritten() {
    if let effects = requests.batch?.effects { take(effects) }
  }

  private mutating func finishStep() throws(ResponseError) {
    let effects = requests.batch?.effects ?? Effects()
    let changes = store!.groupedChanges
    let notes = Set(effects.notes(by: nil).keys)
    let editors = notes.flatMap { openTexts.editors(of: $0) }
    for editor in editors {
      for change in changes {
        journal?.append(.step(change, isJoined: change != changes.first), of: editor)
      }
    }
    do { try store!.finishGroup() } catch {
      if !error.isTakenBack { takeUnwritten() }
      throw ResponseError(error.cause)
    }
    requests.batch = nil
    record(effects, from: nil)
    for editor in editors {
      for change in changes {
        openTexts[undoListOf: editor].record(change, joining: change != changes.first)
      }
      openTexts[undoListOf: editor].close()
    }
  }
}
