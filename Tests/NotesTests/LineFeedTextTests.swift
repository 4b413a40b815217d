import Notes
import ReplicatingTypes
import TestSupport
import Testing

extension SplitMix64 {
  /// A short text with line ends of both kinds, and carriage returns alone.
  fileprivate mutating func text(_ most: Int) -> [UInt8] {
    (0..<below(most)).flatMap { _ in Array(pick(["a", "é", "😀", "\r", "\n", "\r\n", "\r\n"]).utf8) }
  }

  /// Edits that are sorted and apart from each other.
  fileprivate mutating func edits(of text: [UInt8]) -> [Edit<UInt8>] {
    let places = (0...text.count).filter { $0 == text.count || text[$0] & 0xC0 != 0x80 }
    var (edits, low): ([Edit<UInt8>], Int) = ([], 0)
    for _ in 0..<4 where low < places.count {
      let start = low + below(places.count - low)
      let end = start + below(min(4, places.count - start))
      edits.append(Edit(range: places[start]..<places[end], replacement: self.text(4)))
      low = end + 1
    }
    return edits
  }
}

/// The text with each `\r\n` a line feed.
private func hidingReturns(_ text: [UInt8]) -> [UInt8] {
  text.indices.filter { index in
    !(text[index] == 0x0D && index + 1 < text.count && text[index + 1] == 0x0A)
  }.map { text[$0] }
}

private func applied(_ edits: [Edit<UInt8>], to text: [UInt8]) -> [UInt8] {
  var text = text
  for edit in edits.reversed() { text.replaceSubrange(edit.range, with: edit.replacement) }
  return text
}

@Suite("A text without the carriage returns of its line ends")
struct LineFeedTextTests {
  @Test("its edits are edits of the text, and the other way round")
  func edits() {
    for seed in seeds(3000) {
      var generator = SplitMix64(seed: seed)
      let text = generator.text(16)
      let form = LineFeedText(text)
      let shown = hidingReturns(text)
      #expect(form.shown.utf8 == shown, "seed \(seed)")

      let typed = generator.edits(of: shown)
      let made = applied(form.edits(forShown: typed), to: text)
      #expect(hidingReturns(made) == applied(typed, to: shown), "seed \(seed): \(text) \(typed)")

      let edits = generator.edits(of: text)
      let told = form.shownEdits(for: edits, of: text)
      #expect(
        applied(told, to: shown) == hidingReturns(applied(edits, to: text)),
        "seed \(seed): \(text) \(edits)")
      #expect(
        told.allSatisfy { String(validating: $0.replacement, as: UTF8.self) != nil },
        "seed \(seed): \(text) \(edits)")
    }
  }

  @Test("an offset is that of the same character in both, before the line end where it is inside")
  func offsets() {
    for seed in seeds(300) {
      var generator = SplitMix64(seed: seed)
      let text = generator.text(16)
      let form = LineFeedText(text)
      for offset in 0...text.count {
        let isInside =
          offset > 0 && offset < text.count && text[offset - 1] == 0x0D && text[offset] == 0x0A
        let shown = form.shownOffset(of: offset)
        #expect(shown == hidingReturns(Array(text[..<(isInside ? offset - 1 : offset)])).count)
        #expect(form.offset(ofShown: shown) == (isInside ? offset - 1 : offset), "seed \(seed)")
      }
    }
  }

  @Test(
    "is for a text whose lines all end so",
    arguments: [
      ("", false), ("a", false), ("a\r\n", true), ("a\r\nb", true), ("a\n", false),
      ("a\r\nb\n", false), ("a\nb\r\n", false), ("\r", false), ("\r\n", true), ("\r\r\n", true),
    ])
  func kind(text: String, isPossible: Bool) {
    #expect(LineFeedText.isPossible(for: Array(text.utf8)) == isPossible)
  }

  @Test("lines that others end otherwise stay so, and new lines end as in a DOS file")
  func keepsOthers() {
    let form = LineFeedText(Array("a\r\nb\nc\r\n".utf8))
    let typed = [
      Edit(range: 1..<1, replacement: Array("\nnew".utf8)),
      Edit(range: 2..<3, replacement: Array("B".utf8)),
    ]
    let made = applied(form.edits(forShown: typed), to: Array("a\r\nb\nc\r\n".utf8))
    #expect(String(decoding: made, as: UTF8.self) == "a\r\nnew\r\nB\nc\r\n")
  }
}
