import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What the description of the rule says ("What a deletion spares"), with plain arrays and from scratch for every set of
/// changes. It shares no code with the implementation.
///
/// Where the description can be read in several ways, it is read thus:
/// - At the end of the text, *u* must be in the text after *y*, and none of the line feeds.
/// - *y* is one of those that can have put *u* and *v* side by side: *c*, who inserted one of the two, and who removed one
///   of those that must not be between them (of rule 1: line feeds).
/// - A gap has only elements that a change of the world inserted, which matters for what stands directly before a line
///   feed.
@Suite struct `The rule on spared separators, written by its description` {
  @Test(arguments: seeds(30))
  func `gives the text that every notebook shows, now and for earlier versions`(seed: UInt64) {
    let history = SharedNote(seed: seed)
    let oracle = TextOracle(of: history.changes, in: history.note)
    for (step, state) in history.states.enumerated() {
      let expected = String(decoding: oracle.text(of: state.version), as: UTF8.self)
      #expect(state.text == expected, at(seed, step))
    }
    for (index, change) in history.changes.enumerated() {
      let text = oracle.text { change.seen.contains($0) || $0 == change.change.id }
      #expect(String(decoding: text, as: UTF8.self) == change.text, "seed \(seed), change \(index)")
    }
  }

  @Test(arguments: Example.all)
  func `gives the text of the examples`(example: Example) {
    let history = SharedNote(example)
    let oracle = TextOracle(of: history.changes, in: history.note)
    #expect(history.result == example.result)
    for state in history.states {
      #expect(state.text == String(decoding: oracle.text(of: state.version), as: UTF8.self))
    }
  }

  @Test(arguments: TextOracle.Mistake.allCases)
  func `differs from the notebooks when it is written with a mistake`(
    mistake: TextOracle.Mistake
  ) {
    func isNoticed(in history: SharedNote) -> Bool {
      let oracle = TextOracle(of: history.changes, in: history.note, mistake: mistake)
      return history.states.contains { Array($0.text.utf8) != oracle.text(of: $0.version) }
    }
    let isNoticed =
      Example.all.contains { isNoticed(in: SharedNote($0)) }
      || (UInt64(1)...200).contains { isNoticed(in: SharedNote(seed: $0)) }
    #expect(isNoticed)
  }
}

/// What the description means by itself: its authors see what the oracle gives.
@Suite struct `The rules on what text is shown` {
  private func history(_ seed: UInt64) -> ModelNote {
    var random = SplitMix64(seed: seed)
    let (people, text) = random.peopleAndText()
    var note = ModelNote(of: people, text)
    var texts = [text]
    for _ in 0..<(3 + random.below(6)) { random.step(in: &note, &texts) }
    return note
  }

  @Test(arguments: seeds(400))
  func `let an edit do exactly what was typed`(seed: UInt64) {
    let history = history(seed)
    let oracle = TextOracle(of: history.changes, in: history.note)
    for (index, known) in history.changes.enumerated() {
      let text = oracle.text { known.seen.contains($0) || $0 == known.change.id }
      #expect(
        String(decoding: text, as: UTF8.self) == known.text,
        "seed \(seed), change \(index), \(history.steps)")
    }
  }

  @Test(arguments: seeds(100))
  func `give one text whatever the order of the changes`(seed: UInt64) {
    let history = history(seed)
    var random = SplitMix64(seed: seed)
    var rest = history.changes
    var changes: [KnownChange] = []
    while !rest.isEmpty {
      let next = rest.indices.filter { index in
        !rest.contains { rest[index].past.contains($0.change.id) }
      }
      changes.append(rest.remove(at: random.pick(next)))
    }
    let one = TextOracle(of: history.changes, in: history.note)
    let other = TextOracle(of: changes, in: history.note)
    for version in history.versions {
      #expect(one.text(of: version) == other.text(of: version), at(seed))
    }
  }

  @Test(arguments: TextOracle.Mistake.allCases)
  func `would be others with a mistake`(mistake: TextOracle.Mistake) {
    let seed = seeds(400).first { seed in
      let history = history(seed)
      let one = TextOracle(of: history.changes, in: history.note)
      let other = TextOracle(of: history.changes, in: history.note, mistake: mistake)
      return history.versions.contains { one.text(of: $0) != other.text(of: $0) }
    }
    #expect(seed != nil)
  }
}

/// A history that was found at random and made small.
struct Example: Sendable, CustomTestStringConvertible {
  enum Step: Sendable {
    /// The one takes over what the other has.
    case pull(Int, Int)
    case write(Int, String)
    /// A client of the one begins to show the text.
    case read(Int)
    case writeByClient(Int, String)
  }

  var testDescription: String
  var people: [UInt64]
  var text: String
  var steps: [Step]
  /// What everybody sees in the end.
  var result: String

  static let all = [
    Example(
      testDescription: "who knows two changes puts nothing side by side", people: [1, 2, 4],
      text: "\n",
      steps: [.write(1, "b\n"), .write(0, ""), .pull(1, 0), .write(1, "cb\n"), .write(2, "")],
      result: "cb\n"),
    Example(
      testDescription: "who removes a blank puts nothing onto one line", people: [1, 4, 5, 7],
      text: "d\n",
      steps: [
        .write(3, "\n"), .write(0, "b"), .write(3, "\n d"), .pull(1, 0), .pull(1, 3),
        .write(3, "d"), .write(1, "b\nd"),
      ], result: "b\nd"),
    Example(
      testDescription: "what is written behind a carriage return leaves it there",
      people: [2, 4, 5],
      text: " \n",
      steps: [
        .write(0, "d\r"), .write(0, "b"), .write(2, "\n "), .pull(0, 2), .write(0, "b\r  "),
      ], result: "b\r  "),
  ]
}
