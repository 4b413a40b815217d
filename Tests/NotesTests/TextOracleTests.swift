import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What the descriptions of the rules say ("What a deletion spares", "The same replacement made twice", "Taking changes back"), with
/// plain arrays and from scratch for every set of changes. It shares no code with the implementation.
///
/// Where the description can be read in several ways, it is read thus:
/// - At the end of the text, *u* must be in the text after *y*, and none of the line feeds.
/// - *y* is one of those that can have put *u* and *v* side by side: *c*, who inserted one of the two, and who removed one
///   of those that must not be between them (of rule 1: line feeds).
/// - A gap has only elements that a change of the world inserted, which matters for what stands directly before a line
///   feed.
/// - Elements of one change are one insertion where each stands directly behind the one before it, with the same right
///   origin, also where an operation ends between them.
/// - Something was inserted between the first and the last element of a copy if one of the elements but the last is the left origin of
///   something else, removed or not. What stands there by its place goes on from such an insertion, which may be withdrawn; if that was
///   enough, a copy could be written in that nobody has gone on from, and be shown as soon as somebody goes on from another one.
/// - The text after *y* is made of changes that are not withdrawn, like all else: what *y* knows and is withdrawn has inserted and removed
///   nothing in it. Otherwise who saw a text that others have taken back would not have put side by side what is left of it.
@Suite(.computing) struct `The rules on what text is shown, written by their descriptions` {
  @Test(arguments: seeds(30))
  func `gives the text that every notebook shows, now and for earlier versions`(seed: UInt64) {
    check(SharedNote(seed: seed), seed)
  }

  @Test(arguments: seeds(60))
  func `gives the text that every notebook shows of a DOS file`(seed: UInt64) {
    check(SharedNote(seed: seed, lineEnd: "\r\n"), seed)
  }

  /// Nobody's text may depend on whether others say the truth of what they had seen.
  @Test(arguments: seeds(60), ["\n", "\r\n"])
  func `gives the text that every notebook shows where some had not seen what they say`(
    seed: UInt64, lineEnd: String
  ) {
    check(SharedNote(seed: seed, lineEnd: lineEnd, strayPercentage: 50), seed)
  }

  @Test(arguments: seeds(60))
  func `gives the text that every notebook shows where the same is often done twice`(seed: UInt64) {
    check(SharedNote(seedOfCopies: seed), seed)
  }

  @Test(arguments: seeds(100))
  func `gives the text that every notebook shows where much is taken back`(seed: UInt64) {
    check(SharedNote(seedOfWithdrawals: seed), seed)
  }

  /// Where there are many, their edits are not looked at one by one.
  @Test(arguments: seeds(4))
  func `gives the text that every notebook shows where very many write at one place`(seed: UInt64) {
    check(SharedNote(seedOfSiblings: seed), seed)
  }

  private func check(_ history: SharedNote, _ seed: UInt64) {
    let oracle = TextOracle(of: history.changes, in: history.note)
    for (step, state) in history.states.enumerated() {
      let expected = String(decoding: oracle.text(of: state.version), as: UTF8.self)
      #expect(state.text == expected, at(seed, step))
    }
    for (index, change) in history.changes.enumerated() {
      guard let expected = change.text else { continue }
      let text = oracle.text { change.seen.contains($0) || $0 == change.change.id }
      #expect(String(decoding: text, as: UTF8.self) == expected, "seed \(seed), change \(index)")
    }
  }

  @Test(arguments: Example.all + Example.copies + Example.lineEnds + Example.withdrawals)
  func `gives the text of the examples`(example: Example) {
    let history = SharedNote(example)
    let oracle = TextOracle(of: history.changes, in: history.note)
    #expect(history.result == example.result)
    for state in history.states {
      #expect(state.text == String(decoding: oracle.text(of: state.version), as: UTF8.self))
    }
  }

  /// Which of several copies is shown that nobody has gone on from can't be seen in a text.
  @Test(arguments: TextOracle.Mistake.ofMerging.filter { $0 != .theLastCopy })
  func `differs from the notebooks when it is written with a mistake`(
    mistake: TextOracle.Mistake
  ) {
    let isFound =
      (Example.all + Example.copies + Example.lineEnds)
      .contains { isNoticed(mistake, in: SharedNote($0)) }
      || (UInt64(1)...200).contains { isNoticed(mistake, in: SharedNote(seed: $0)) }
      || (UInt64(1)...400).contains { isNoticed(mistake, in: SharedNote(seedOfCopies: $0)) }
    #expect(isFound)
  }

  @Test(arguments: TextOracle.Mistake.ofWithdrawing)
  func `differs from the notebooks when it is written with a mistake in what is taken back`(
    mistake: TextOracle.Mistake
  ) {
    let isFound =
      (UInt64(1)...100).contains { isNoticed(mistake, in: SharedNote(seedOfWithdrawals: $0)) }
      || Example.withdrawals.contains { isNoticed(mistake, in: SharedNote($0)) }
    #expect(isFound)
  }

  private func isNoticed(_ mistake: TextOracle.Mistake, in history: SharedNote) -> Bool {
    let oracle = TextOracle(of: history.changes, in: history.note, mistake: mistake)
    return history.states.contains { Array($0.text.utf8) != oracle.text(of: $0.version) }
  }
}

/// What the descriptions mean by themselves: its authors see what the oracle gives.
@Suite(.computing) struct `The rules on what text is shown` {
  private func history(_ seed: UInt64, withdrawing percent: Int = 0) -> ModelNote {
    var random = SplitMix64(seed: seed)
    let (people, text) = random.peopleAndText()
    var note = ModelNote(of: people, text)
    var texts = [text]
    for _ in 0..<(3 + random.below(6)) {
      if percent > 0, random.chance(percent) {
        random.withdraw(in: &note)
      } else {
        random.step(in: &note, &texts)
      }
    }
    return note
  }

  @Test(arguments: seeds(400))
  func `let an edit do exactly what was typed`(seed: UInt64) {
    check(history(seed), seed)
  }

  @Test(arguments: seeds(200))
  func `let an edit do exactly what was typed where much is taken back`(seed: UInt64) {
    check(history(seed, withdrawing: 35), seed)
  }

  private func check(_ history: ModelNote, _ seed: UInt64) {
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
    let history = history(seed, withdrawing: seed.isMultiple(of: 4) ? 35 : 0)
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
    let percent = TextOracle.Mistake.ofWithdrawing.contains(mistake) ? 35 : 0
    func isNoticed(in history: ModelNote) -> Bool {
      let one = TextOracle(of: history.changes, in: history.note)
      let other = TextOracle(of: history.changes, in: history.note, mistake: mistake)
      return history.versions.contains { one.text(of: $0) != other.text(of: $0) }
    }
    let examples =
      Example.all + Example.copies + Example.lineEnds + Example.wordsBesideCopies
      + (percent > 0 ? Example.withdrawals : [])
    let isNoticed =
      examples.contains { isNoticed(in: ModelNote($0)) }
      || examples.contains { ModelNote($0, mistake: mistake).result != $0.result }
      || (UInt64(1)...400).contains { isNoticed(in: history($0, withdrawing: percent)) }
    #expect(isNoticed)
  }

  @Test(arguments: Example.all + Example.copies + Example.lineEnds + Example.withdrawals)
  func `give the text of the examples`(example: Example) {
    let text = ModelNote(example).result
    #expect(text == example.result)
  }

  /// A blank was removed with the word behind it from a copy, and behind that stands only another copy.
  @Test func `spare nothing for the sake of a copy`() {
    let note = ModelNote(
      Example(
        testDescription: "", people: [1, 2], text: "qq",
        steps: [.write(0, "x y"), .write(1, "x y"), .write(1, "x")], result: "x"))
    #expect(note.result == "x")
  }

  /// Which copy is shown decides before or behind which of the others' words it stands.
  @Test(arguments: Example.wordsBesideCopies)
  func `leave what was typed beside a copy on its side`(example: Example) {
    let text = ModelNote(example).result
    #expect(text == example.result)
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
    /// With a text: the same change writes, too.
    case withdraw(Int, ChangeRanges, String?)
    case withdrawByClient(Int, ChangeRanges, String)
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

extension Example {
  /// Histories in which the same is done twice.
  static let copies = [
    Example(
      testDescription: "the same in the place of two brackets", people: [1, 2], text: "()",
      steps: [.write(0, "x)"), .write(1, "(x")], result: "x x"),
    Example(
      testDescription: "the same in the place of two brackets, and of both", people: [1, 2, 4],
      text: "()", steps: [.write(2, "x"), .write(0, "x)"), .write(1, "(x")], result: "x"),
    Example(
      testDescription: "a line moved twice, once with a new one", people: [1, 2],
      text: "b\na\nd\n",
      steps: [.write(0, "a\nb\nd\n"), .write(1, "a\nb\nd\nc\n")], result: "a\nb\nb\nd\nc\n"),
    Example(
      testDescription: "of three copies two are written in, and of one a part is removed",
      people: [1, 2, 4], text: "teh",
      steps: [
        .write(0, "the"), .write(1, "the"), .write(2, "the"), .write(0, "thqe"),
        .write(1, "thwe"), .write(2, "te"),
      ], result: "thwe thqe"),
    Example(
      testDescription: "a blank is spared in a copy that is newer", people: [1, 2, 4, 5],
      text: "00",
      steps: [
        .write(0, "p q r"), .write(1, "p q r"), .pull(2, 1), .pull(3, 1), .write(2, "pq r"),
        .write(3, "p r"),
      ], result: "p r"),
    Example(
      testDescription: "a blank is spared in a copy that is older", people: [1, 2, 4, 5],
      text: "00",
      steps: [
        .write(0, "p q r"), .write(1, "p q r"), .pull(2, 0), .pull(3, 0), .write(2, "pq r"),
        .write(3, "p r"),
      ], result: "p r"),
    Example(
      testDescription: "a box is ticked by clients of one process", people: [1, 2],
      text: "- [ ] milk\n",
      steps: [.read(0), .write(0, "- [x] milk\n"), .writeByClient(0, "- [x] milk\n")],
      result: "- [x] milk\n"),
    Example(
      testDescription: "on behind the older copy, with a line of a third between",
      people: [1, 2, 4], text: "1\n2\n",
      steps: [
        .write(0, "-\n1\n-\n2\n"), .write(1, "1\n2\ny\n"), .write(1, "1\nz\n2\ny\n"),
        .write(2, "-\n1\n-\n2\n"), .write(0, "-\n1\n-\n!\n2\n"),
      ], result: "-\n1\nz\n-\n!\n2\ny\n"),
    Example(
      testDescription: "words that begin alike, letter by letter", people: [1, 2], text: "o\n",
      steps: [.write(0, "t\n"), .write(1, "t\n"), .write(0, "th\n"), .write(1, "to\n")],
      result: "to\nth\n"),
    Example(
      testDescription: "a tally", people: [1, 2], text: "||",
      steps: [.write(0, "|||"), .write(1, "|||")], result: "||||"),
  ]

  /// Histories in which line ends are made others.
  static let lineEnds = [
    Example(
      testDescription: "line ends, of which one is deleted with its line", people: [1, 2],
      text: "a\nb\nc\n",
      steps: [.write(0, "a\r\nb\r\nc\r\n"), .write(1, "a\nc\n")], result: "a\r\nc\r\n"),
    Example(
      testDescription: "line ends, of which one is a blank", people: [1, 2], text: "a\nb\nc\n",
      steps: [.write(0, "a\r\nb\r\nc\r\n"), .write(1, "a b\nc\n")], result: "a b\r\nc\r\n"),
    Example(
      testDescription: "line ends of three kinds", people: [1, 2, 4], text: "a\nb\nc\n",
      steps: [.write(0, "a\r\nb\r\nc\r\n"), .write(1, "a\rb\rc\r"), .write(2, "x\na\nb\nc\n")],
      result: "x\na\rb\rc\r"),
    Example(
      testDescription: "line ends twice, once with a word", people: [1, 2], text: "a\nbb\n",
      steps: [.write(0, "a\r\nbb\r\n"), .write(1, "a\r\n2\r\n")], result: "a\r\n2\r\n"),
    Example(
      testDescription: "line ends by one byte of two, each by another", people: [1, 2],
      text: "a\r\nb\r\n", steps: [.write(0, "a\nb\n"), .write(1, "a\rb\r")],
      result: "a\rb\r"),
    Example(
      testDescription: "line ends by another byte, and a line is deleted", people: [1, 2],
      text: "a\nb\nc\n", steps: [.write(0, "a\rb\rc\r"), .write(1, "a\nc\n")],
      result: "a\rc\r"),
    Example(
      testDescription: "line ends, and a word is written at the end of a line",
      people: [2, 1], text: "a\nb\n", steps: [.write(0, "a\r\nb\r\n"), .write(1, "a x\nb\n")],
      result: "a x\r\nb\r\n"),
    Example(
      testDescription: "line ends by single ones, of two kinds", people: [1, 2],
      text: "a\rb\r", steps: [.write(0, "a\nb\n"), .write(1, "a\r\nb\r\n")],
      result: "a\r\nb\r\n"),
    Example(
      testDescription: "line ends, of which two are deleted with their lines", people: [1, 2],
      text: "a\nb\nc\nd\n",
      steps: [.write(0, "a\rb\rc\rd\r"), .write(1, "a\nx d\n")], result: "a\rx d\r"),
    Example(
      testDescription: "line ends there and back", people: [1, 2], text: "a\nb\n",
      steps: [
        .write(0, "a\r\nb\r\n"), .write(1, "a\r\nb!\r\n"), .pull(0, 1), .write(0, "a\nb!\n"),
      ], result: "a\nb!\n"),
    Example(
      testDescription: "line ends, of which one is written into", people: [1, 2], text: "a\nb\n",
      steps: [
        .write(0, "a\r\nb\r\n"), .write(1, "a\nb\nc\n"), .pull(0, 1),
        .write(0, "a\rx\nb\r\nc\n"),
      ], result: "a\rx\nb\r\nc\n"),
  ]

  /// The same is done twice, and somebody goes on beside one of both.
  static let wordsBesideCopies = [
    Example(
      testDescription: "behind the newer", people: [1, 2], text: "I like teh",
      steps: [
        .write(0, "I like the"), .write(1, "I like the"), .write(1, "I like the cat"),
      ], result: "I like the cat"),
    Example(
      testDescription: "behind the older", people: [1, 2], text: "I like teh",
      steps: [
        .write(0, "I like the"), .write(1, "I like the"), .write(0, "I like the cat"),
      ], result: "I like the cat"),
    Example(
      testDescription: "behind both", people: [1, 2], text: "teh",
      steps: [.write(0, "the"), .write(1, "the"), .write(0, "the?"), .write(1, "the!")],
      result: "the! ?"),
    Example(
      testDescription: "before the older", people: [1, 2], text: "b\na\n",
      steps: [.write(0, "a\nb\n"), .write(1, "a\nb\n"), .write(0, "a\nc\nb\n")],
      result: "a\nc\nb\n"),
    Example(
      testDescription: "before the newer", people: [1, 2], text: "b\na\n",
      steps: [.write(0, "a\nb\n"), .write(1, "a\nb\n"), .write(1, "a\nc\nb\n")],
      result: "a\nc\nb\n"),
    Example(
      testDescription: "a line behind the newer", people: [1, 2], text: "b\na\n",
      steps: [.write(0, "a\nb\n"), .write(1, "a\nb\n"), .write(1, "a\nb\nc\n")],
      result: "a\nb\nc\n"),
    Example(
      testDescription: "in the older, and behind the newer", people: [1, 2], text: "teh",
      steps: [.write(0, "the"), .write(1, "the"), .write(0, "thqe"), .write(1, "the!")],
      result: "the! thqe"),
    Example(
      testDescription: "a box is emptied again by both, by one with a word more",
      people: [1, 2], text: "- [ ] a\n",
      steps: [
        .write(0, "- [x] a\n"), .write(1, "- [x] a\n"), .pull(0, 1), .pull(1, 0),
        .write(0, "- [ ] a\n"), .write(1, "- [ ] a b\n"),
      ], result: "- [ ] a b\n"),
  ]
}

extension Example {
  private static func changes(_ person: UInt64, _ numbers: ClosedRange<UInt64>) -> ChangeRanges {
    ChangeRanges([ChangeRanges.Run(replicaID(person), numbers)])
  }

  /// Histories in which changes are taken back. The first text is the first change of the first person.
  static let withdrawals = [
    Example(
      testDescription: "a deletion, beside which somebody went on", people: [1, 2], text: "one two",
      steps: [
        .write(0, "one"), .pull(1, 0), .write(1, "one!"), .withdraw(0, changes(1, 2...2), nil),
      ], result: "one! two"),
    Example(
      testDescription: "one of two equal replacements, before they meet", people: [1, 2],
      text: "- [ ] milk",
      steps: [
        .write(0, "- [x] milk"), .write(1, "- [x] milk"), .withdraw(0, changes(1, 2...2), nil),
      ], result: "- [x] milk"),
    Example(
      testDescription: "one of two equal replacements, after they met", people: [1, 2],
      text: "- [ ] milk",
      steps: [
        .write(0, "- [x] milk"), .write(1, "- [x] milk"), .pull(0, 1), .pull(1, 0),
        .withdraw(0, changes(1, 2...2), nil),
      ], result: "- [x] milk"),
    Example(
      testDescription: "both of two equal replacements", people: [1, 2], text: "- [ ] milk",
      steps: [
        .write(0, "- [x] milk"), .write(1, "- [x] milk"), .withdraw(0, changes(1, 2...2), nil),
        .pull(1, 0), .withdraw(1, changes(2, 1...1), nil),
      ], result: "- [ ] milk"),
    Example(
      testDescription: "what was written into a deleted line", people: [1, 2],
      text: "eggs\nmilk\n",
      steps: [
        .write(0, "eggs\n"), .write(1, "eggs\noat milk\n"), .withdraw(1, changes(2, 1...1), nil),
      ], result: "eggs\n"),
    Example(
      testDescription: "a withdrawal", people: [1, 2], text: "one two",
      steps: [
        .write(0, "one"), .withdraw(0, changes(1, 2...2), nil),
        .withdraw(0, changes(1, 3...3), nil),
      ], result: "one"),
    Example(
      testDescription: "the withdrawal of a withdrawal", people: [1, 2], text: "one two",
      steps: [
        .write(0, "one"), .withdraw(0, changes(1, 2...2), nil),
        .withdraw(0, changes(1, 3...3), nil), .withdraw(0, changes(1, 4...4), nil),
      ], result: "one two"),
    Example(
      testDescription: "by two, and one of them makes it again", people: [1, 2], text: "one two",
      steps: [
        .write(0, "one"), .pull(1, 0), .withdraw(0, changes(1, 2...2), nil),
        .withdraw(1, changes(1, 2...2), nil), .withdraw(0, changes(1, 3...3), nil),
      ], result: "one two"),
    Example(
      testDescription: "a deletion that two have made, by one", people: [1, 2], text: "one two",
      steps: [
        .write(0, "one"), .write(1, "one"), .withdraw(0, changes(1, 2...2), nil),
      ], result: "one"),
    Example(
      testDescription: "a deletion that two have made, by both", people: [1, 2], text: "one two",
      steps: [
        .write(0, "one"), .write(1, "one"), .withdraw(0, changes(1, 2...2), nil),
        .withdraw(1, changes(2, 1...1), nil),
      ], result: "one two"),
    Example(
      testDescription: "a word that another word was written into", people: [1, 2], text: "a d",
      steps: [
        .write(0, "a bbb d"), .pull(1, 0), .write(1, "a bb c b d"),
        .withdraw(0, changes(1, 2...2), nil),
      ], result: "a  c d"),
    Example(
      testDescription: "a word that another word was written into, and made again",
      people: [1, 2], text: "a d",
      steps: [
        .write(0, "a bbb d"), .pull(1, 0), .write(1, "a bb c b d"),
        .withdraw(0, changes(1, 2...2), nil), .pull(1, 0), .withdraw(1, changes(1, 3...3), nil),
      ], result: "a bb c b d"),
    Example(
      testDescription: "the first text, by which only what others wrote is left", people: [1, 2],
      text: "one two",
      steps: [
        .write(1, "one and two"), .withdraw(0, changes(1, 1...1), nil),
      ], result: "and "),
    Example(
      testDescription: "a deletion of a line that a spared line feed ends", people: [1, 2],
      text: "eggs\nmilk\nbread\n",
      steps: [
        .write(0, "eggs\nbread\n"), .write(1, "eggs\ncheese\nbread\n"), .pull(0, 1),
        .write(0, "eggs\nbread\n"), .withdraw(0, changes(1, 3...3), nil),
      ], result: "eggs\ncheese\nbread\n"),
    Example(
      testDescription: "a line feed that others have replaced", people: [1, 2, 4], text: "\n",
      steps: [
        .write(1, "d\n"), .write(2, "d"), .withdraw(0, changes(1, 1...1), nil),
      ], result: "dd"),
    Example(
      testDescription: "what was written behind one copy, where the other was written in",
      people: [1, 2], text: "teh",
      steps: [
        .write(0, "the"), .write(1, "the"), .write(0, "thqe"), .write(1, "the!"),
        .withdraw(1, changes(2, 2...2), nil),
      ], result: "thqe"),
    Example(
      testDescription: "what was written in one copy, where somebody went on behind the other",
      people: [1, 2], text: "teh",
      steps: [
        .write(0, "the"), .write(1, "the"), .write(0, "thqe"), .write(1, "the!"),
        .withdraw(0, changes(1, 3...3), nil),
      ], result: "the!"),
    Example(
      testDescription: "what was written in a copy, but what was written in that",
      people: [1, 2, 4], text: "teh",
      steps: [
        .write(0, "the"), .write(1, "the"), .write(0, "thwe"), .write(0, "thwye"),
        .withdraw(0, changes(1, 3...3), nil), .pull(2, 0), .pull(2, 1), .write(2, "the!y"),
      ], result: "the!y"),
    Example(
      testDescription: "a deletion with the change that writes", people: [1, 2], text: "one two",
      steps: [
        .write(0, "one"), .withdraw(0, changes(1, 2...2), "one!"),
      ], result: "one! two"),
  ]
}
