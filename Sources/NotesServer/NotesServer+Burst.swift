internal import JSONRPC
internal import NoteStore

// Changes of texts that came with one read, and are written together.
//
// Typed text comes as one `note/change` after the other. Each for itself takes a write to the journal, a look at the log and a write to
// the log, which is most of its time. So those that come together are a burst: each is planned and made in memory as if it were alone, its
// record and its entry in the journal are gathered, and its answer waits. At the end of the burst the journal is written, then the log,
// and then all are answered, and everybody else is told. A burst ends with the read, with any other request, and when it is large.
//
// If the log can't be written, the burst has not happened: the notebook and the open texts are what they were before it, and each of its
// messages is acted on again, alone. So each has the answer that it would have had alone. The same where a change is refused for what it
// says: a refused request changes nothing, so the burst before it is written, and the request is carried out again, alone.
//
// WHY A KILL AT ANY POINT IS SAFE
//
// Nobody is told of a change before the log has it, and its entry is in the journal before: as with a change alone (`JournalEntry.swift`).
// Between the two writes the journal tells of changes that were never made. In the middle of the write to the log none of the changes is
// there for a reader, after it all are. What of them was not answered the client sends again when it resumes, and the journal says which of
// them are there.

extension NotesServer {
  /// Acts on a message as a part of a burst; false if it is none, or has to be acted on alone. Cursors that move between changes are no end of
  /// a burst.
  ///
  /// - Parameter bytes: those of the message.
  mutating func takeIntoBurst(_ message: IncomingMessage, _ bytes: [UInt8]) -> Bool {
    switch message {
    case .change(let change):
      guard requests.burst != nil || connection.input.hasMore && beginBurst() else { return false }
      do { try changeNote(change.params) } catch { return false }
      requests.burst!.changes.append((change.id, change.params.version))
    case .other(.notification("note/cursor", let params)):
      if requests.burst == nil { return false }
      setCursor(Parameters(value: params))
    case .other: return false
    }
    requests.burst!.append(bytes)
    return true
  }

  private mutating func beginBurst() -> Bool {
    // After a refusal each change is tried alone, until the disk takes one: going back takes time.
    guard let store, client.phase == .ready, !store.isInDoubt, !store.isRefused,
      !environment.isSingleRequest, !client.isTracing
    else { return false }
    if openTexts.hasNewCursors { push() }
    do { try store.beginBurst() } catch { return false }
    journal?.gather()
    openTexts.beginBurst()
    requests.burst = RunningBurst()
    return true
  }

  /// Writes the changes of the burst, if there is one, answers them, and tells everybody else.
  ///
  /// - Returns: the messages that are to be acted on again, each alone, because the log was not written.
  mutating func finishBurst() -> [[UInt8]] {
    guard let burst = requests.burst else { return [] }
    requests.burst = nil
    journal?.writeGathered()
    switch store!.finishBurst() {
    case .written:
      openTexts.keepBurst()
      for (id, version) in burst.changes { respond(toChange: id, version) }
      reportRecovery()
      if !burst.messages.isEmpty { push() }
    case .notWritten:
      openTexts.takeBackBurst()
      return burst.messages
    case .unknown(let error, let isTakenBack):
      openTexts.takeBackBurst(leavingArrivals: !isTakenBack)
      for (id, _) in burst.changes { refuse(id, ResponseError(error)) }
      push()
    }
    return []
  }

  /// Answers a request for a change of a text, which succeeded.
  mutating func respond(toChange id: RequestID, _ version: Int) {
    if environment.durability == .background {
      // No answer is held back; and to yield one of two outboxes takes an allocation.
      return connection.outbox.respond(to: id) { $0.change(version: version) }
    }
    var result = JSONWriter()
    result.change(version: version)
    respond(to: id, changesNotebook: true, result.bytes)
  }
}
