import ReplicatingTypes

/// Edits of several authors to one text at the same time, as the messages that they sent.
struct ConcurrentTrace {
  /// Edits of one author, made together.
  struct Message {
    var operations: [(operation: ReplicatingText.Operation, stamp: Stamp)]
  }

  /// The name in the table.
  var name: String
  /// Each after everything it follows.
  var messages: [Message] = []
  /// A replica that has everything.
  var whole = ReplicatingText()
  /// The text that all replicas show in the end.
  var end: [UInt8] = []
}

/// Makes a concurrent trace: a replica for each author, which takes what its author had seen before each edit.
///
/// An author's edits are in order, so one replica each is exact.
struct ConcurrentRecorder {
  private var trace: ConcurrentTrace
  private var replicas: [Author] = []
  /// Of each message how many of each author's its author had seen, with itself.
  private var seen: [[Int]] = []
  /// Each author's messages.
  private var sent: [[Int]]

  private final class Author {
    var text = ReplicatingText()
    var utf8: [UInt8] = []
    var replica: Replica
    var seen: [Int]

    init(_ number: Int, of count: Int) {
      replica = Replica(id: ReplicaID(high: 0, low: UInt64(number) + 1))
      seen = Array(repeating: 0, count: count)
    }
  }

  /// Begins a trace of so many authors, who are numbered from 0.
  init(name: String, agents: Int) {
    trace = ConcurrentTrace(name: name)
    sent = Array(repeating: [], count: agents)
    for number in 0..<agents { replicas.append(Author(number, of: agents)) }
  }

  /// The number of messages.
  var count: Int { trace.messages.count }

  /// The text as an author sees it.
  func utf8(of agent: Int) -> [UInt8] { replicas[agent].utf8 }

  /// Begins a message of an author, who has seen these messages and all they follow.
  mutating func begin(_ agent: Int, after parents: [Int]) {
    var wanted = replicas[agent].seen
    for parent in parents {
      for other in wanted.indices { wanted[other] = max(wanted[other], seen[parent][other]) }
    }
    take(wanted, agent)
    trace.messages.append(ConcurrentTrace.Message(operations: []))
  }

  private func take(_ wanted: [Int], _ agent: Int) {
    let author = replicas[agent]
    let missing = wanted.indices.flatMap { other in
      sent[other][author.seen[other]..<max(wanted[other], author.seen[other])]
    }
    for index in missing.sorted() {
      for (operation, stamp) in trace.messages[index].operations {
        author.text.apply(operation, stamp)
      }
    }
    author.seen = wanted
    if !missing.isEmpty { author.utf8 = author.text.utf8 }
  }

  /// Makes an edit of the author whose message was begun; the place is in scalars of the text that the author sees.
  mutating func editScalars(
    _ agent: Int, at position: Int, removing removed: Int, inserting new: [UInt8]
  ) {
    let text = replicas[agent].utf8
    func end(_ count: Int, from start: Int) -> Int {
      var offset = start
      for _ in 0..<count {
        offset += 1
        while offset < text.count, text[offset] & 0xC0 == 0x80 { offset += 1 }
      }
      return offset
    }
    let start = end(position, from: 0)
    edit(agent, start..<end(removed, from: start), new)
  }

  /// Makes an edit of the author whose message was begun; the range is in bytes of the text that the author sees.
  mutating func edit(_ agent: Int, _ range: Range<Int>, _ new: [UInt8]) {
    let author = replicas[agent]
    let edits = [Edit(range: range, replacement: new)]
    for operation in author.text.operations(for: edits) {
      var ticks: UInt64 = 1
      if case .insert(let bytes, _, _, _) = operation { ticks = UInt64(bytes.count) }
      let stamp = author.replica.stamp(after: author.text.lamport, ticks: ticks)
      author.text.apply(operation, stamp)
      trace.messages[count - 1].operations.append((operation, stamp))
    }
    author.utf8.replaceSubrange(range, with: new)
  }

  /// Ends the message of an author.
  mutating func end(_ agent: Int) {
    sent[agent].append(count - 1)
    replicas[agent].seen[agent] += 1
    seen.append(replicas[agent].seen)
  }

  /// The trace, when every replica has got everything and shows the same text: `end`, if that is known.
  func finished(end: [UInt8]? = nil) -> ConcurrentTrace {
    var trace = trace
    for agent in replicas.indices { take(sent.map(\.count), agent) }
    trace.whole = replicas[0].text
    trace.end = end ?? replicas[0].utf8
    for author in replicas {
      expect(author.text.utf8 == trace.end, "a replica of \(trace.name)")
    }
    return trace
  }
}

/// Three authors in one text, who see each other's edits after a while.
func generatedConcurrentTrace(edits count: Int, seed: UInt64) -> ConcurrentTrace {
  var recorder = ConcurrentRecorder(name: "generated", agents: 3)
  var random = SeededRandom(seed: seed)
  var prose = Prose()
  var cursors = [0, 0, 0]
  var last: [Int?] = [nil, nil, nil]
  while recorder.count < count {
    let agent = random.below(3)
    let isMeeting = random.oneIn(4)
    let parents = isMeeting ? last.compactMap { $0 } : []
    var isFirst = true
    let word = prose.word(&random)
    for scalar in Prose.scalars(word) {
      recorder.begin(agent, after: isFirst ? parents : [])
      let text = recorder.utf8(of: agent)
      if isFirst && (isMeeting || random.oneIn(5)) { cursors[agent] = random.below(text.count + 1) }
      isFirst = false
      var start = min(cursors[agent], text.count)
      while start < text.count, text[start] & 0xC0 == 0x80 { start -= 1 }
      if random.oneIn(6), start > 0 {
        var from = start - 1
        while text[from] & 0xC0 == 0x80 { from -= 1 }
        recorder.edit(agent, from..<start, [])
        cursors[agent] = from
      } else {
        recorder.edit(agent, start..<start, scalar)
        cursors[agent] = start + scalar.count
      }
      recorder.end(agent)
      last[agent] = recorder.count - 1
    }
  }
  return recorder.finished()
}
