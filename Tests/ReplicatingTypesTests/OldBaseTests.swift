import TestSupport
import Testing

@testable import ReplicatingTypes

/// One author edits on and on what it has read, another one has written since. The first knows its own changes and `read`.
private struct CountedPasts: Causality {
  let author: ReplicaID
  let read: Version
  private(set) var questions = 0

  init(of author: ReplicaID, knowing read: Version) { (self.author, self.read) = (author, read) }

  mutating func knows(_ change: ChangeID, _ other: ChangeID) -> Bool {
    questions += 1
    if change.replica == other.replica { return other.number <= change.number }
    return change.replica == author && read.contains(other)
  }

  mutating func seen(by changes: ChangeRanges.Run) -> Version { read }
}

@Suite struct `Changes on an old base` {
  /// All were looked at again for each of them, and each with the whole gap: after 160 lines a change took 70 ms.
  @Test func `ask for so much as was changed on it, and not for the square of that`() {
    var reader = Replica(id: ReplicaID(high: 1, low: 0))
    var other = Replica(id: ReplicaID(high: 2, low: 0))
    var text = ReplicatingText()
    text.insert("some words".utf8.span, at: 0, by: &reader)
    let read = text.version
    text.insert(" at the end".utf8.span, at: text.count, by: &other)
    /// All that the reader does not show: what the other one has written, and what it has removed itself.
    var hidden = text.insertions(after: read)
    var questions: [Int] = []
    for round in 1...160 {
      let line = (0...round % 7).map { "\(round)-\($0)" }.joined(separator: " ")
      let view = SequenceView(hidden: hidden, revealed: nil)
      let edits = textDifference(from: text.utf8(in: view), to: Array(line.utf8))
      let operations = text.operations(for: edits, in: view)
      var stamp = reader.stamp(after: text.lamport, ticks: 100)
      for operation in operations {
        text.apply(operation, stamp)
        if case .insert(let bytes, _, _, _) = operation { stamp.lamport += UInt64(bytes.count) }
        if case .remove(let range) = operation { hidden = hidden.union([range]) }
      }
      var (pasts, unaware) = (
        CountedPasts(of: reader.id, knowing: read),
        UnseenEdits(by: reader.id, knowing: text.version)
      )
      unaware.append(stamp.change, on: read)
      text.settleMerge(after: [unaware], &pasts) { _ in }
      #expect(text.string == line + " at the end")
      questions.append(pasts.questions)
    }
    // Looked at all at once, with each other, they would be 3,500 for the last one.
    #expect(questions[19] > 20 && questions[159] < 5 * 160, "\(questions)")
  }

  /// The second one had seen what the first had not, and put another word in its place. A third person's word was seen by neither.
  @Test func `show the same blank, however many of them come at once`() {
    var log = SharedLog()
    let (one, other, third) = (SharedWriter(1), SharedWriter(2), SharedWriter(3))
    one.edit([Edit(range: 0..<0, replacement: Array("tea ".utf8))], &log)
    for writer in [other, third] { writer.pull(one.version, log) { 1 } }
    third.edit([Edit(range: 0..<0, replacement: Array("buy ".utf8))], &log)
    one.edit([Edit(range: 3..<4, replacement: [])], &log)
    other.edit([Edit(range: 4..<4, replacement: Array("milk".utf8))], &log)
    one.pull(other.version, log) { 1 }
    #expect(one.text.string == "tea milk")
    one.edit([Edit(range: 4..<8, replacement: Array("rum".utf8))], &log)
    let versions = [one, other, third].map(\.version)
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      for count in 1...4 {
        let reader = SharedWriter(9)
        for index in order { reader.pull(versions[index], log) { count } }
        #expect(reader.text.string == "buy tea rum", "\(order), \(count) at once")
      }
    }
  }
}
