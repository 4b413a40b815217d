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
    ("one\ntwo\nthree", 4..<7, "2", "2"), ("one\ntwo\nthree", 4..<7, "2\n3", "2\n3"),
    ("one\ntwo\nthree", 5..<6, "W", "tWo"), ("one\ntwo\nthree", 3..<7, "", "one"),
    ("one\ntwo\nthree", 8..<13, "", ""), ("one", 0..<3, "1\n", "1"), ("one", 0..<3, "", ""),
    ("a\nb", 1..<2, "\n\n", "a\n"),
  ])
  func `is shown by its lines`(
    _ text: String, _ range: Range<Int>, _ new: String, _ lines: String
  ) {
    let replacement = Replacement(of: range, in: Array(text.utf8), by: Array(new.utf8))
    #expect(replacement.lines == lines)
  }

  @Test func `is shown as far as it is not too long, and never in half a character`() {
    for count in 1990...2010 {
      let text = String(repeating: "a", count: count) + "👩‍👩‍👧é"
      let shown = Replacement(of: 0..<0, in: Array(text.utf8), by: []).lines
      #expect(shown.utf8.count <= 2003 && !shown.contains("\u{FFFD}"))
      #expect(text.utf8.starts(with: shown.replacing("…", with: "").utf8))
    }
  }
}
