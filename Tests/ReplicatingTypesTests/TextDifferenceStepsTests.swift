import Bytes
import TestSupport
import Testing

@testable import ReplicatingTypes

/// What one kind of edit leads to, as "old part→new part", and whether the standard library compares anything for that.
private struct Kind: CustomTestStringConvertible {
  var name: String
  var old: String
  var new: String
  var edits: [String]
  var isCompared = true

  var testDescription: String { name }
}

private let kinds = [
  Kind(name: "a word replaced", old: "the quick fox", new: "the slow fox", edits: ["quick→slow"]),
  // Nothing is left to compare beside what both texts begin and end with.
  Kind(name: "a letter typed", old: "helo", new: "hello", edits: ["→l"], isCompared: false),
  Kind(name: "a line deleted", old: "a\nb\nc\n", new: "a\nc\n", edits: ["b\n→"], isCompared: false),
  // Lines that occur once are not compared, only put in order.
  Kind(
    name: "a line moved", old: "one\ntwo\nthree\n", new: "two\nthree\none\n",
    edits: ["one\n→", "→one\n"], isCompared: false),
  Kind(
    name: "lines sorted", old: "pear\napple\nplum\nfig\n", new: "apple\nfig\npear\nplum\n",
    edits: ["pear\n→", "plum\n→", "→pear\nplum\n"], isCompared: false),
  Kind(
    name: "CRLF to LF", old: "a b\r\nc\r\n\r\na b\r\n", new: "a b\nc\n\na b\n",
    edits: ["\r→", "\r→", "\r→", "\r→"], isCompared: false),
  Kind(
    name: "LF to CRLF", old: "a b\nc\n\na b\n", new: "a b\r\nc\r\n\r\na b\r\n",
    edits: ["→\r", "→\r", "→\r", "→\r"], isCompared: false),
  Kind(
    name: "lines broken anew", old: "a b c a b\nd a b c\na b\n", new: "a b c\na b d\na b c a\nb\n",
    edits: [" →\n", "\n→ ", " →\n", "\n→ ", " →\n"]),
  Kind(name: "a tick", old: "- [ ] milk\n", new: "- [x] milk\n", edits: ["[ ]→[x]"]),
  Kind(name: "a number", old: "price 10", new: "price 20", edits: ["10→20"]),
  Kind(name: "Japanese", old: "我昨天去北京", new: "我昨天去上海了", edits: ["北京→上海了"]),
  Kind(name: "a pictograph", old: "a 😀 b", new: "a 😁 b", edits: ["😀→😁"]),
  Kind(
    name: "lines joined and split", old: "a b\na c\na d e\n", new: "a b a c\na d\ne\n",
    edits: ["\n→ ", " →\n"]),
  Kind(
    name: "all lines indented", old: "a\nb\na\nb\na\nb\n",
    new: "  a\n  b\n  a\n  b\n  a\n  b\n",
    edits: ["→  ", "→  ", "→  ", "→  ", "→  ", "→  "], isCompared: false),
  Kind(
    name: "all replaced", old: "my old text, here\nit was",
    new: "something else that\nnobody wrote",
    edits: ["my old text, here→something else that", "it was→nobody wrote"]),
]

/// The steps of the standard library's `difference(from:)` for one difference.
private func steps(from old: [UInt8], to new: [UInt8]) -> Int {
  var difference = TextDifference(old: old, new: new)
  difference.compare(Hunk(old: old.indices, new: new.indices))
  return TextDifference.budget - difference.budget
}

private func steps(_ old: String, _ new: String) -> Int {
  steps(from: Array(old.utf8), to: Array(new.utf8))
}

private func told(_ old: String, _ new: String) -> [String] {
  let utf8 = Array(old.utf8)
  return textDifference(from: utf8, to: Array(new.utf8)).map {
    String(decoding: utf8[$0.range], as: UTF8.self) + "→"
      + String(decoding: $0.replacement, as: UTF8.self)
  }
}

@Suite struct `Text difference by the standard library's` {
  @Test(arguments: kinds)
  fileprivate func `leads to what people mean`(kind: Kind) {
    #expect(told(kind.old, kind.new) == kind.edits)
    #expect((steps(kind.old, kind.new) > 0) == kind.isCompared)
  }

  @Test func `is reached by eight of fifteen kinds of edit, the others need none`() {
    #expect(kinds.count == 15)
    #expect(kinds.count { steps($0.old, $0.new) > 0 } == 8)
  }

  @Test(arguments: [
    ("price 10", "price 100", ["10→100"]), ("price 100", "price 10", ["100→10"]),
    ("1 and 2", "11 and 22", ["1 and 2→11 and 22"]),
    ("1 or 2 and", "11 or 22 and", ["1→11", "2→22"]), ("9 of 12", "9 of 112", ["12→112"]),
    ("1.5", "1.75", ["1.5→1.75"]), ("10 a", "10 1 a", ["→1 "]), ("10", "", ["10→"]),
    ("v10", "v100", ["v10→v100"]), ("10th", "100th", ["→0"]), ("a1", "a12", ["→2"]),
    ("1ab", "1a", ["b→"]),
  ])
  func `replaces a number whole, but not the digits of a word`(
    old: String, new: String, edits: [String]
  ) {
    #expect(told(old, new) == edits)
  }

  /// Line ends of every kind, on lines that occur once and often and on blank ones.
  @Test func `gives one edit for each line end that changes`() {
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      let lines = (0..<generator.below(200)).map { number in
        generator.pick(["", "", " ", "one", "one two", "é", "}", "- [ ]", "line \(number)"])
      }
      let changed = lines.map { _ in generator.chance(80) }
      func text(_ lineEnd: String) -> String {
        zip(lines, changed).map { $0 + ($1 ? lineEnd : "\n") }.joined()
      }
      let count = changed.count { $0 }
      let removals = textDifference(from: Array(text("\r\n").utf8), to: Array(text("\n").utf8))
      #expect(removals.count == count, at(seed))
      #expect(removals.allSatisfy { $0.range.count == 1 && $0.replacement.isEmpty }, at(seed))
      let insertions = textDifference(from: Array(text("\n").utf8), to: Array(text("\r\n").utf8))
      #expect(insertions.count == count, at(seed))
      #expect(
        insertions.allSatisfy { $0.range.isEmpty && $0.replacement == [0x0D] }, at(seed))
    }
  }

  @Test func `finds as many words as there can be in short texts`() {
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      func text() -> [String] {
        (0..<generator.below(40) + 1).map { _ in generator.pick(["a", "b", "c", "d"]) }
      }
      let (old, new) = (text(), text())
      var lengths = Array(repeating: 0, count: new.count + 1)
      for word in old {
        var next = [0]
        for (index, other) in new.enumerated() {
          next.append(
            word == other ? lengths[index] + 1 : max(lengths[index + 1], next[index]))
        }
        lengths = next
      }
      let rows = (old.map { UInt64($0.utf8.first!) }, new.map { UInt64($0.utf8.first!) })
      let common = CommonPieces(of: rows.0, rows.1, budget: 1 << 20)
      #expect(common.pairs.count == lengths.last!, at(seed))
    }
  }
}

/// Texts of 200 kB, and of 1 MB where tests are repeated with other seeds. What is counted are steps and edits: a step takes some 20 ns.
@Suite struct `The work of a text difference` {
  private let wordCount = seedFactor == 1 ? 30_000 : 150_000
  private let lineCount = seedFactor == 1 ? 20_000 : 100_000
  /// So much can be done before it is seen that there is nothing left to do it with.
  private let most = TextDifference.budget + CommonPieces.most * CommonPieces.most * 2

  /// Words of a language, some of which are much more frequent than others.
  private func words(_ count: Int, _ generator: inout SplitMix64) -> [String] {
    let vocabulary = (0..<2000).map { "\(Character(Unicode.Scalar(UInt8(97 + $0 % 26))))\($0)x" }
    return (0..<count).map { _ in
      vocabulary[min(generator.below(2000), generator.below(2000), generator.below(2000))]
    }
  }

  private func lines(_ words: [String], _ width: Int) -> [String] {
    stride(from: 0, to: words.count, by: width).map {
      words[$0..<min($0 + width, words.count)].joined(separator: " ")
    }
  }

  private func edits(
    _ old: String, _ new: String, atMost bound: Int, _ location: SourceLocation = #_sourceLocation
  ) -> [Edit<UInt8>] {
    let (old, new) = (Array(old.utf8), Array(new.utf8))
    var difference = TextDifference(old: old, new: new)
    difference.compare(Hunk(old: old.indices, new: new.indices))
    #expect(TextDifference.budget - difference.budget <= bound, sourceLocation: location)
    #expect(old.applying(difference.edits)[...].isEqual(to: new[...]), sourceLocation: location)
    return difference.edits
  }

  @Test func `is small where every line of a long text differs by its line end or indentation`() {
    var generator = SplitMix64(seed: 1)
    let lines = lines(words(wordCount, &generator), 9)
    let old = lines.joined(separator: "\n")
    #expect(old.utf8.count > 5 * wordCount)
    let removals = textDifference(
      from: Array(lines.joined(separator: "\r\n").utf8), to: Array(old.utf8))
    #expect(removals.count == lines.count - 1)
    #expect(removals.allSatisfy { $0.range.count == 1 && $0.replacement.isEmpty })
    let indented = edits(old, lines.map { "  " + $0 }.joined(separator: "\n"), atMost: 1 << 12)
    #expect(indented.count == lines.count)
  }

  /// The words of such a text are not looked through. All of it was replaced as one.
  /// The empty line was filled, and a new one left: what another one wrote above it ended up behind the new line.
  @Test(arguments: [
    ("a\n\nold\nb\n", "a\nnew\n\nb\n"), ("a\nold\n\nb\n", "a\n\nnew\nb\n"),
    ("a\n\nb\n", "a\nnew\n\nmore\nb\n"), ("a\r\n\r\nb\r\n", "a\r\nnew\r\n\r\nmore\r\nb\r\n"),
  ])
  func `inserts and deletes whole lines beside an empty one`(old: String, new: String) {
    let edits = textDifference(from: Array(old.utf8), to: Array(new.utf8))
    #expect(!edits.isEmpty)
    for edit in edits {
      #expect(isLineStart(Array(old.utf8), edit.range.lowerBound), "\(edits)")
      #expect(edit.range.isEmpty || isLineStart(Array(old.utf8), edit.range.upperBound), "\(edits)")
      #expect(edit.replacement.isEmpty || edit.replacement.last == 0x0A, "\(edits)")
    }
  }

  @Test func `takes each line with its like where a text is too long for words`() {
    let lines = (0..<40_000).map { "line \($0) " + String(repeating: "x", count: 50) }
    let old = Array(lines.joined(separator: "\n").utf8)
    #expect(2 * old.count > 1 << 22)
    let new = Array(lines.map { $0 + "y" }.joined(separator: "\n").utf8)
    let edits = textDifference(from: old, to: new)
    #expect(edits.count == lines.count)
    #expect(edits.allSatisfy { $0.range.isEmpty && $0.replacement == [UInt8(ascii: "y")] })
  }

  @Test func `is bounded where every line of a long text has another word`() {
    var generator = SplitMix64(seed: 2)
    let lines = lines(words(wordCount, &generator), 9)
    let changed = lines.map { line in
      var words = line.split(separator: " ")
      words[words.count / 2] = "new"
      return words.joined(separator: " ")
    }
    let edits = edits(
      lines.joined(separator: "\n"), changed.joined(separator: "\n"), atMost: most)
    #expect(edits.count >= lines.count * 9 / 10)
    #expect(edits.reduce(0) { $0 + $1.range.count } < 200_000)
  }

  @Test func `is bounded for long texts without anything in common`() {
    var generator = SplitMix64(seed: 3)
    let texts = (0..<2).map { _ in words(wordCount, &generator) }
    let (old, new) = (texts[0], texts[1])
    _ = edits(
      lines(old, 9).joined(separator: "\n"), lines(new, 9).joined(separator: "\n"), atMost: most)
    // In one line.
    _ = edits(old.joined(separator: " "), new.joined(separator: " "), atMost: most)
    _ = edits(old.joined(separator: "0"), new.joined(separator: "1"), atMost: 1 << 12)
    let japanese = (0..<2).map { _ in
      (0..<lineCount).map { _ in generator.pick(["日", "本", "語", "中", "文"]) }.joined()
    }
    _ = edits(japanese[0], japanese[1], atMost: most)
  }

  @Test func `is small for lines broken anew, and for edits far apart in one line`() {
    var generator = SplitMix64(seed: 4)
    let words = words(wordCount, &generator)
    let broken = edits(
      lines(words, 9).joined(separator: "\n"), lines(words, 7).joined(separator: "\n"),
      atMost: 1 << 19)
    #expect(broken.allSatisfy { $0.range.count == 1 && $0.replacement.count == 1 })
    var changed = words
    for place in stride(from: 100, to: words.count, by: 10_000) { changed[place] = "new" }
    let far = edits(
      words.joined(separator: " "), changed.joined(separator: " "), atMost: 1 << 16)
    #expect(far.count == wordCount / 10_000)
  }

  @Test func `is small for very many equal lines`() {
    let same = Array(repeating: "the same line", count: lineCount)
    func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
    #expect(edits(text(same), text(same.dropLast(1000)), atMost: 0).count == 1)
    var changed = same
    changed[1000] = "one"
    changed[lineCount * 9 / 10] = "two"
    #expect(edits(text(same), text(changed), atMost: 1 << 12).count == 2)
    _ = edits(text(same), text(same.map { _ in "all others" }), atMost: 1 << 12)
    // A row of nothing but line ends, and of two kinds of lines.
    let ends = ["", "\r"].map { end in Array(text(same.map { _ in end }).utf8) }
    #expect(textDifference(from: ends[0], to: ends[1]).count == same.count)
    var generator = SplitMix64(seed: 5)
    let kinds = (0..<2).map { _ in same.map { _ in generator.pick(["a", "b"]) } }
    _ = edits(text(kinds[0]), text(kinds[1]), atMost: most)
  }

  @Test func `is small where ticks in a long list change`() {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let ticks = (0..<2000).map { _ in generator.chance(25) ? "- [x]" : "- [ ]" }
      var changed = ticks
      for _ in 0..<5 {
        let place = generator.below(ticks.count)
        changed[place] = ticks[place] == "- [x]" ? "- [ ]" : "- [x]"
      }
      let edits = edits(
        ticks.joined(separator: "\n"), changed.joined(separator: "\n"), atMost: 1 << 16)
      #expect(edits.reduce(0) { $0 + $1.range.count + $1.replacement.count } <= 200, at(seed))
    }
  }

  /// Time goes with the square of what is in the longer row too: one piece against 100,000 would take a minute.
  @Test(arguments: [(1, 100_000), (1, 600), (20, 10_000), (5000, 5000), (100_000, 100_000)])
  func `is bounded for rows of pieces of whatever length`(old: Int, new: Int) {
    let budget = TextDifference.budget
    for kinds in [UInt64(1), 2, 3, 1000, .max] {
      var generator = SplitMix64(seed: kinds)
      let rows = [old, new].map { count in (0..<count).map { _ in generator.next() % kinds } }
      let common = CommonPieces(of: rows[0], rows[1], budget: budget)
      #expect(budget - common.budget <= most)
      #expect(common.pairs.allSatisfy { rows[0][$0.old] == rows[1][$0.new] })
      for (pair, next) in zip(common.pairs, common.pairs.dropFirst())
      where pair.old >= next.old || pair.new >= next.new {
        Issue.record("pairs are not in order")
        break
      }
    }
  }

  @Test func `of one letter against many is no more than that of any other hunk`() {
    var generator = SplitMix64(seed: 2)
    func steps(_ old: Int, _ new: Int) -> Int {
      // No letters: a word that is replaced is not looked at closely.
      let texts = [old, new].map { count in
        (0..<count).map { _ in UInt8(ascii: "!") + UInt8(generator.below(6)) }
      }
      return ReplicatingTypesTests.steps(
        from: [0x51] + texts[0] + [0x51], to: [0x52] + texts[1] + [0x52])
    }
    #expect(steps(0, 12_000) <= steps(30, 30))
    #expect(steps(30, 30) > 0)
  }
}
