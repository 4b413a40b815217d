internal import JSONRPC

/// The meaning of a reply to a request that changes something.
public enum Durability: String, Sendable {
  /// The change is in the file and survives the end of the process; it is on disk a moment later.
  case background
  /// The change is on disk for good.
  case reply
}

/// Answers to changes that are not on disk yet, in order, each with all messages that follow it.
///
/// All changes that come while the disk is busy share the next `fdatasync`. No other message overtakes their answers: neither the
/// answer to a later request, which may show these changes, nor a notification of their effects.
struct PendingReplies {
  struct Answer {
    var id: RequestID
    /// The result as JSON.
    var result: [UInt8]
    /// The number of records that have to be on disk.
    var through: UInt64
    /// The messages that follow the answer.
    var after: Outbox
  }

  private var answers: [Answer] = []
  /// The bytes of all results and of the messages that follow them, but for those that follow the last.
  private var size = 0

  var isEmpty: Bool { answers.isEmpty }

  /// The bytes of all answers and messages.
  var count: Int { size + (answers.last?.after.count ?? 0) }

  /// The outbox for messages that follow the last answer; there must be an answer.
  var after: Outbox {
    _read { yield answers[answers.count - 1].after }
    _modify { yield &answers[answers.count - 1].after }
  }

  mutating func append(_ answer: Answer) {
    size += (answers.last?.after.count ?? 0) + answer.result.count
    answers.append(answer)
  }

  /// Removes and returns the answers that may be given, up to the first that may not.
  mutating func take(while isDue: (Answer) -> Bool) -> ArraySlice<Answer> {
    let due = answers.prefix(while: isDue)
    answers.removeFirst(due.count)
    for answer in due { size -= answer.result.count + answer.after.count }
    // The messages after the last answer were not counted.
    if answers.isEmpty { size = 0 }
    return due
  }

  mutating func removeAll() { self = PendingReplies() }
}
