internal import JSONRPC
internal import NoteStore

// When a change is answered: as soon as it is in the file, or when it is on disk for good.

/// What a reply to a request that changes something means.
public enum Durability: String, Sendable {
  /// The change is in the file and survives the end of the process; it is on disk a moment later.
  case background
  /// The change is on disk for good.
  case reply
}

/// Answers to changes that are not on disk yet, in order, each with all that is to be said after it.
///
/// So many changes as come while the disk is busy share the next `fdatasync`, and nothing overtakes them: not the answer
/// to a question that saw them, and not a notification of what they did.
struct HeldAnswers {
  struct Answer {
    var id: RequestID
    /// As JSON.
    var result: [UInt8]
    /// How many records have to be on disk.
    var through: UInt64
    /// What follows the answer.
    var after: Outbox
  }

  private var answers: [Answer] = []
  /// The bytes of all results, and of what follows them but the last.
  private var size = 0

  var isEmpty: Bool { answers.isEmpty }

  /// How many bytes these are.
  var count: Int { size + (answers.last?.after.count ?? 0) }

  /// Where to say what comes after the last answer; there must be one.
  var after: Outbox {
    get { answers[answers.count - 1].after }
    _modify { yield &answers[answers.count - 1].after }
  }

  mutating func append(_ answer: Answer) {
    size += (answers.last?.after.count ?? 0) + answer.result.count
    answers.append(answer)
  }

  /// Takes the answers out that `isDue` says may be given, up to the first that may not.
  mutating func take(while isDue: (Answer) -> Bool) -> ArraySlice<Answer> {
    let due = answers.prefix(while: isDue)
    answers.removeFirst(due.count)
    for answer in due { size -= answer.result.count + answer.after.count }
    // What follows the last was not counted.
    if answers.isEmpty { size = 0 }
    return due
  }

  mutating func removeAll() { self = HeldAnswers() }
}

extension NotesServer {
  /// Where everything goes that is said to the client: behind what waits for the disk.
  var said: Outbox {
    get { held.isEmpty ? outbox : held.after }
    _modify {
      if held.isEmpty { yield &outbox } else { yield &held.after }
    }
  }

  /// Answers a request that succeeded; if it changed something, perhaps when that is on disk.
  mutating func respond(to id: RequestID, _ method: Method, _ result: [UInt8]) {
    let progress = store?.progress ?? (appended: 0, durable: 0)
    guard environment.durability == .reply, method.isMutating,
      progress.durable < progress.appended, !isOutputGone
    else { return said.respond(to: id) { $0.raw(result) } }
    held.append(
      HeldAnswers.Answer(
        id: id, result: result, through: progress.appended,
        after: Outbox(framing: outbox.framing)))
  }

  /// Gives the answers whose changes are on disk; if that cannot be, says so instead.
  mutating func releaseAnswers() {
    let durable = store?.progress.durable ?? .max
    let doubt = store?.doubt
    for answer in held.take(while: { $0.through <= durable || doubt != nil }) {
      if answer.through > durable, let doubt {
        outbox.respond(to: answer.id, error: .requestFailed("notDurable", "\(doubt)"))
      } else {
        outbox.respond(to: answer.id) { $0.raw(answer.result) }
      }
      outbox.append(answer.after)
    }
  }
}
