internal import JSONRPC
internal import NoteStore

// Changes of texts that came with one read are a group, and are written together.
//
// Typed text comes as one `note/change` after the other. Each for itself takes a write to the journal, a look at the log and a write to
// the log, which is most of its time. In a group each is planned on those before it and made in memory; its entry in the journal, its record and its
// answer wait. At the end of the group the journal is written, then the log, and then all are answered, and all other clients are told. A group ends with
// the read, with any other request, and when it is large.
//
// A change that is refused for what it says is no part of the group, and takes no other along. If the log can't be written, none of the changes has
// happened: the notebook and the open texts are what they were before, and each request gets the disk's error.
//
// WHY A KILL AT ANY POINT IS SAFE
//
// The server tells no client of a change before the log has it, and the journal has its entry before that: as with a change alone (`JournalEntry.swift`).
// Between the two writes the journal tells of changes that were never made. In the middle of the write to the log none of the changes is
// there for a reader, after it all are. What of them was not answered the client sends again when it resumes, and the journal says which of
// them are there.

/// A group of changes that is being carried out.
struct RunningGroup {
  /// The answers to its requests, in order. They are sent when all is written.
  private(set) var answers: [(id: RequestID, answer: Result<[UInt8], ResponseError>)] = []
  /// The number of bytes of its messages.
  private var size = 0

  /// A group that has this number of messages, or of bytes, ends: a client must not wait long for its first answer, and going back must not take long.
  private static let mostMessages = 256
  private static let mostBytes = 1 << 20

  mutating func append(_ id: RequestID, _ answer: Result<[UInt8], ResponseError>) {
    answers.append((id, answer))
  }

  mutating func count(bytes: Int) { size += bytes }

  var isFull: Bool { answers.count >= Self.mostMessages || size >= Self.mostBytes }
}

extension NotesServer {
  /// True if a message belongs to the group; begins one where the message is a change, and more has come behind it. Cursors that move between changes
  /// are no end of a group.
  mutating func isInGroup(_ message: Message) -> Bool {
    switch message {
    case .request(_, "note/change", let params):
      // Results of requests with a key are remembered at once.
      if params["requestKey"]?.isNull == false { return false }
      return requests.group != nil || connection.input.hasMore && beginGroup()
    case .notification("note/cursor", _): return requests.group != nil
    default: return false
    }
  }

  private mutating func beginGroup() -> Bool {
    // After a refusal each change is tried alone, until the disk takes one: going back takes time.
    guard let store, client.phase == .ready, !store.isInDoubt, !store.isRefused,
      !environment.isSingleRequest, !client.isTracing
    else { return false }
    if openTexts.hasNewCursors { push() }
    do { try store.beginGroup() } catch { return false }
    journal?.gather()
    openTexts.beginGroup()
    requests.group = RunningGroup()
    return true
  }

  /// Writes the changes of the group, if there is one, answers its requests, and tells all other clients.
  mutating func endGroup() {
    guard let group = requests.group else { return }
    requests.group = nil
    journal?.writeGathered()
    var failure: ResponseError?
    do {
      try store!.finishGroup()
      openTexts.keepGroup()
    } catch {
      openTexts.takeBackGroup(leavingArrivals: !error.isTakenBack)
      failure = ResponseError(error.cause)
    }
    for (id, answer) in group.answers {
      switch answer {
      case .success(let result) where failure == nil:
        respond(to: id, changesNotebook: true, result)
      case .success: refuse(id, failure!)
      case .failure(let error): refuse(id, error)
      }
    }
    reportRecovery()
    push()
  }
}
