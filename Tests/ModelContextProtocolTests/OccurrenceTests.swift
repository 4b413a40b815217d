import TestSupport
import Testing

@testable import ModelContextProtocol

@Suite struct `Text that is replaced` {
  @Test func `is found as a naive look finds it`() {
    var random = SplitMix64(seed: 11)
    for _ in 0..<20_000 {
      // Two letters, so that much of it repeats.
      let text = (0..<random.below(30)).map { _ in UInt8(random.below(2)) }
      let pattern = (0..<random.below(6)).map { _ in UInt8(random.below(2)) }
      var naive: [Int] = []
      if !pattern.isEmpty, pattern.count <= text.count {
        naive = (0...text.count - pattern.count).filter {
          text[$0..<$0 + pattern.count].elementsEqual(pattern)
        }
      }
      #expect(Occurrence.firstTwo(of: pattern, in: text) == Array(naive.prefix(2)))
      let near = Occurrence.nearest(of: pattern, in: text, to: random.below(40))
      #expect(near.upperBound <= text.count)
      if let first = naive.first {
        #expect(text[near].elementsEqual(pattern), "\(first)")
      } else {
        #expect(near.isEmpty)
      }
    }
  }

  @Test func `is found in linear time where much of it repeats`() {
    func time(_ count: Int) -> Duration {
      let text = [UInt8](repeating: 0, count: count)
      return processorTime {
        #expect(Occurrence.firstTwo(of: text[..<(count / 2)] + [1], in: text).isEmpty)
      }
    }
    _ = time(1000)
    #expect(time(400_000) < time(40_000) * 40)
  }

  @Test(arguments: [
    ("one\ntwo\nthree", "two", "2", "2"), ("one\ntwo\nthree", "two", "2\n3", "2\n3"),
    ("one\ntwo\nthree", "w", "W", "tWo"), ("one\ntwo\nthree", "\ntwo", "", "one"),
    ("one\ntwo\nthree", "three", "", ""), ("one", "one", "1\n", "1"), ("one", "one", "", ""),
    ("a\nb", "\n", "\n\n", "a\n"), ("one\r\ntwo\r\n", "one", "1\n2", "1\r\n2"),
  ])
  func `is shown by its lines`(
    _ text: String, _ old: String, _ new: String, _ lines: String
  ) throws {
    let replacement = try Replacement(
      of: Array(old.utf8), in: Array(text.utf8), by: Array(new.utf8))
    #expect(replacement.lines == lines)
  }

  @Test(arguments: [
    // A text of one kind of line ends keeps it, whatever the agent writes.
    ("a\r\nb\r\nc\r\n", "a\nb\n", "A\nb\nB\n", "A\r\nb\r\nB\r\nc\r\n"),
    ("a\r\nb\r\nc\r\n", "a\r\nb", "x\ny", "x\r\ny\r\nc\r\n"),
    ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"), ("a\r\nb", "\nb", "", "a"),
    ("a\r\nb", "a\n", "", "b"), ("a\r\nb", "\n", "\n\n", "a\r\n\r\nb"),
    // With both kinds, what is not replaced stays, and what is new is as most lines are.
    ("a\r\nb\nc\r\n", "a\nb\nc", "a\nB\n+\nc", "a\r\nB\r\n+\nc\r\n"),
    ("x\ny\r\nx\r\n", "x\r\n", "z\r\n", "x\ny\r\nz\r\n"),
    ("x\r\nx\ny\r\n", "x\n", "z\n", "x\r\nz\ny\r\n"),
    // A text of one line has no kind.
    ("a", "a", "b\r\nc", "b\r\nc"),
  ])
  func `keeps the line ends of the text`(
    _ text: String, _ old: String, _ new: String, _ edited: String
  ) throws {
    let replacement = try Replacement(
      of: Array(old.utf8), in: Array(text.utf8), by: Array(new.utf8))
    #expect(String(decoding: replacement.text, as: UTF8.self) == edited)
  }

  @Test(arguments: [
    ("a\r\nb", "c", Replacement.Mistake.absent), ("a\r\nb\r\n", "\n", .ambiguous),
    ("a\r\nb", "a\r", .absent), ("x\nx\ny\r\n", "x\n", .ambiguous), ("a", "", .absent),
  ])
  func `is refused where it does not stand once`(
    _ text: String, _ old: String, _ mistake: Replacement.Mistake
  ) {
    #expect(throws: mistake) {
      try Replacement(of: Array(old.utf8), in: Array(text.utf8), by: [])
    }
  }

  @Test(arguments: [
    // Nothing was merged; another line was changed, before or behind.
    ("a\nb\nc", "b", "B", "a\nb\nc", "a\nB\nc", "B"),
    ("a\nb\nc", "b", "B", "0\na\nb\nc", "0\na\nB\nc", "B"),
    ("a\nb\nc", "b", "B", "a\nb\nc\nd", "a\nB\nc\nd", "B"),
    ("a\nb\nc", "b", "B", "0\na\nb\nC", "0\na\nB\nC", "B\nC"),
    // Others have changed the same line, replaced it, or written between.
    ("a\nmilk\nc", "milk", "oat milk", "a\nmilk!\nc", "a\noat milk!\nc", "oat milk!"),
    ("a\nmilk\nc", "milk", "tea", "a\nrice\nc", "a\nrice\ntea\nc", "rice\ntea"),
    (
      "a\nx\ny\nz\nc", "x\ny\nz", "X\ny\nZ", "1\na\nx\n+\ny\nz\nc\n2", "1\na\nX\n+\ny\nZ\nc\n2",
      "X\n+\ny\nZ"
    ),
    // Others have made the same.
    ("a\nb\nc", "b", "B", "0\na\nB\nc\nd", "0\na\nB\nc\nd", "B"),
    // A part stands elsewhere than the neighbours say.
    ("a\nb\nc", "b", "B", "c\na\nb", "c\na\nB", "B"),
    ("a\nb", "b", "B", "", "B", "B"), ("a\nb\nc", "\nb", "", "a\nb\nC", "a\nC", "a\nC"),
  ])
  func `is shown by all lines of a merged text that came of it`(
    _ base: String, _ old: String, _ new: String, _ present: String, _ merged: String,
    _ lines: String
  ) throws {
    let replacement = try Replacement(
      of: Array(old.utf8), in: Array(base.utf8), by: Array(new.utf8))
    #expect(
      replacement.lines(in: Array(merged.utf8), insteadOf: Array(present.utf8)) == lines)
  }

  @Test func `has a place in every merged text, and all that was changed is in it`() throws {
    var random = SplitMix64(seed: 5)
    for _ in 0..<20_000 {
      let text = { (0..<random.below(12)).map { _ in random.pick(Array("ab\r\n\n".utf8)) } }
      let (base, present, merged) = (Array("x".utf8) + text(), text(), text())
      let replacement = try Replacement(of: Array("x".utf8), in: base, by: text())
      let shown = Array(replacement.lines(in: merged, insteadOf: present).utf8)
      #expect(!Occurrence.firstTwo(of: shown, in: merged).isEmpty || shown.isEmpty)
      let same = CommonEnds(Lines(present).elements[...], Lines(merged).elements[...])
      let changed = Lines(merged).elements[same.prefix..<Lines(merged).elements.count - same.suffix]
      #expect(replacement.text == merged || Lines(shown).elements.count >= changed.count)
    }
  }

  @Test func `is shown as far as it is not too long, and never in half a character`() throws {
    for count in 7980...8010 {
      let text = "b" + String(repeating: "a", count: count) + "👩‍👩‍👧é"
      let b = Array("b".utf8)
      let shown = try Replacement(of: b, in: Array(text.utf8), by: b).lines
      #expect(shown.utf8.count <= 8003 && !shown.contains("\u{FFFD}"))
      #expect(text.utf8.starts(with: shown.replacing("…", with: "").utf8))
    }
  }
}
