import ReplicatingTypes
import Testing

@testable import Notes

/// What regroups, composes or combines.
private let pieces = [
  "a", "b", "ab", "the ", "quick", " ", "\n", "\r\n", "\r", ".", "don't", "é", "e\u{301}",
  "\u{301}", "Å", "A\u{30A}", "\u{212B}", "🇩🇪", "\u{1F1EA}", "\u{1F1E9}", "👩‍👩‍👧", "👩", "\u{200D}",
  "👍🏽", "👍", "각", "\u{1100}", "\u{1161}", "\u{11A8}", "中", "文字", "\u{FE0F}", "0", "9",
]

extension Generator {
  fileprivate mutating func text(_ most: Int) -> String {
    (0..<below(most + 1)).map { _ in pick(pieces) }.joined()
  }

  /// The text with some pieces taken out, put in and replaced.
  fileprivate mutating func changed(_ text: String) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0..<below(5) {
      let start = below(scalars.count + 1)
      let end = chance(40) ? start : start + below(min(8, scalars.count - start) + 1)
      let new = chance(70) ? Array(pick(pieces).unicodeScalars) : []
      scalars.replaceSubrange(start..<end, with: new)
    }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars)
    return String(result)
  }
}

private func applied(_ edits: [Edit<UInt8>], to utf8: [UInt8]) -> [UInt8] {
  var result = utf8
  for edit in edits.reversed() { result.replaceSubrange(edit.range, with: edit.replacement) }
  return result
}

private func difference(_ old: String, _ new: String) -> [Edit<UInt8>] {
  textDifference(from: Array(old.utf8), to: Array(new.utf8))
}

/// Edits as "old part → new part".
private func told(_ old: String, _ new: String) -> [String] {
  let utf8 = Array(old.utf8)
  return difference(old, new).map {
    String(decoding: utf8[$0.range], as: UTF8.self) + "→"
      + String(decoding: $0.replacement, as: UTF8.self)
  }
}

private func expectProper(_ old: String, _ new: String, _ comment: Comment) {
  let (before, after) = (Array(old.utf8), Array(new.utf8))
  let edits = textDifference(from: before, to: after)
  #expect(applied(edits, to: before) == after, comment)
  for edit in edits {
    #expect(!edit.range.isEmpty || !edit.replacement.isEmpty, comment)
    #expect(String(validating: edit.replacement, as: UTF8.self) != nil, comment)
    for bound in [edit.range.lowerBound, edit.range.upperBound] {
      #expect(bound == before.count || before[bound] & 0xC0 != 0x80, comment)
    }
  }
  for (edit, next) in zip(edits, edits.dropFirst()) {
    #expect(edit.range.upperBound < next.range.lowerBound, comment)
  }
}

@Suite struct `Text difference` {
  @Test func `leads exactly to the new text, between scalars, sorted and apart`() {
    for seed in seeds(400) {
      var generator = Generator(seed: seed)
      let old = generator.text(60)
      expectProper(old, generator.changed(old), at(seed))
      expectProper(old, generator.text(60), at(seed))
    }
  }

  @Test(arguments: [
    ("", ""), ("", "a"), ("a", ""), ("é", "e\u{301}"), ("e\u{301}", "é"), ("Å", "\u{212B}"),
    ("각", "\u{1100}\u{1161}\u{11A8}"), ("\r\n", "\n"), ("\n", "\r\n"), ("\r", "\r\n"),
    ("🇩🇪", "🇩"), ("🇩🇪🇫🇷", "🇪🇫"), ("👩‍👩‍👧", "👩👩👧"), ("e", "e\u{301}"), ("中", "串"), ("é", "è"),
    ("😀", "😁"), ("aaaa", "aa"), ("aa", "aaaa"), ("\n\n\n", "\n"), ("a\nb\n", "b\na\n"),
  ])
  func `sees every difference of bytes`(old: String, new: String) {
    expectProper(old, new, "\(old.debugDescription) to \(new.debugDescription)")
    #expect(difference(old, new).isEmpty == (Array(old.utf8) == Array(new.utf8)))
  }

  @Test(arguments: [
    ("teh cat", "the cat", ["teh→the"]), ("quick fox", "slow fox", ["quick→slow"]),
    ("the quick fox", "the rapid fox", ["quick→rapid"]), ("helo", "hello", ["→l"]),
    ("hello", "helo", ["l→"]), ("note", "notes", ["→s"]), ("a b", "a c b", ["→c "]),
    ("one two three", "one three", ["two →"]), ("don't go", "do go", ["n't→"]),
    ("Höhe", "Hohe", ["Höhe→Hohe"]), ("teh teh", "the the", ["teh→the", "teh→the"]),
    ("a-b", "a+b", ["-→+"]), ("(a)", "[a]", ["(→[", ")→]"]),
  ])
  func `a word that loses and gains letters is replaced whole, and no more than that`(
    old: String, new: String, edits: [String]
  ) {
    let told = told(old, new)
    // Which of equal neighbours goes is open: "l" of "ll", the space before or after a word.
    #expect(told.count == edits.count)
    #expect(
      told.map { $0.utf8.sorted() } == edits.map { $0.utf8.sorted() },
      "\(told) instead of \(edits)")
  }

  @Test func `an edit far from another leaves what lies between alone`() {
    let lines = (0..<200).map { "line \($0) of some text" }
    var changed = lines
    changed[20] = "line 20 of another text"
    changed[150] = ""
    let edits = difference(lines.joined(separator: "\n"), changed.joined(separator: "\n"))
    #expect(edits.reduce(0) { $0 + $1.range.count } < 60)
    #expect(edits.count == 2)
  }

  @Test func `large unrelated texts, and long words, come to an end`() {
    var generator = Generator(seed: 1)
    func text(_ alphabet: [String], _ count: Int) -> String {
      (0..<count).map { _ in generator.pick(alphabet) }.joined()
    }
    let letters = ["a", "b", "c", "d", "e", "é", "中"]
    expectProper(text(letters, 40_000), text(letters, 40_000), "one long word each")
    expectProper(
      text(letters + [" ", "\n"], 40_000), text(letters + [" ", "\n"], 40_000), "short lines")
    expectProper(text(["a\n", "b\n"], 30_000), text(["a\n", "b\n", "c\n"], 30_000), "equal lines")
    let (old, new) = (text(letters, 255), text(letters, 255))
    expectProper(
      (0..<200).map { "\($0)\n" + old }.joined(separator: "\n"),
      (0..<200).map { "\($0)\n" + new }.joined(separator: "\n"), "hunks as large as they may be")
  }

  /// Times are compared with each other only.
  @Test func `one letter against many costs no more than any other hunk`() {
    var generator = Generator(seed: 2)
    func time(_ old: Int, _ new: Int) -> Duration {
      let texts = [old, new].map { count in
        (0..<count).map { _ in UInt8(97 + generator.below(26)) }
      }
      return ContinuousClock().measure {
        _ = textDifference(from: [0x51] + texts[0] + [0x51], to: [0x52] + texts[1] + [0x52])
      }
    }
    #expect(time(0, 12_000) < time(240, 240) * 10)
  }
}
