import TestSupport
import Testing

@testable import Notes

/// A pattern that is looked for in a text as it stands is where it is in the folding of the text.
@Suite struct `A pattern in a text that is not folded` {
  /// By definition: the folding of the text has that of the pattern somewhere. What scalars fold to is learnt once, by each of both.
  private struct Looks {
    private var oracle = FoldedText()
    private var folded = FoldedText()

    mutating func check(_ text: [UInt8], _ words: [[UInt8]], _ comment: Comment) {
      let all = folding(text)
      for word in words {
        guard let pattern = SearchPattern(word) else { continue }
        let isThere = Self.has(all, folding(word))
        let isFound = pattern.isIn(text[...], &folded)
        #expect(isFound == isThere, "\(word) in \(text), \(comment)")
      }
    }

    private mutating func folding(_ bytes: [UInt8]) -> [UInt8] {
      oracle.fold(bytes[...])
      return Array(oracle.utf8)
    }

    private static func has(_ all: [UInt8], _ wanted: [UInt8]) -> Bool {
      guard let first = wanted.first else { return true }
      var place = 0
      while place + wanted.count <= all.count {
        // Few places begin right, and the rest is compared by generic code.
        if all[place] == first, all[place...].starts(with: wanted) { return true }
        place += 1
      }
      return false
    }
  }

  private static let scalars = [
    "a", "b", "s", "S", "o", "k", "f", "i", "n", " ", "\n", "@", "[", "`", "{", "0", "ß", "ẞ", "ö",
    "Ö", "o\u{308}", "é", "\u{301}", "\u{308}", "ﬃ", "ŉ", "\u{212A}", "İ", "ı", "ſ", "日", "本", "語",
    "ガ", "カ", "각", "\u{1100}", "Σ", "ς", "😀", "\u{FE0F}",
  ]

  @Test(arguments: seeds(40))
  func `is there if the folding has it`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var looks = Looks()
    for step in 0..<400 {
      // Few kinds in each text, so that much of it fits.
      let kinds = (0..<1 + random.below(5)).map { _ in random.pick(Self.scalars) }
      let parts = (0..<random.below(random.pick([4, 12, 300]))).map { _ in random.pick(kinds) }
      let text = Array(parts.joined().utf8)
      // Of the text itself, so that it is there; or of the same kinds, so that it may be.
      let start = random.below(parts.count + 1)
      let some = parts[start..<min(parts.count, start + random.below(8))]
      let others = (0..<1 + random.below(5)).map { _ in random.pick(kinds) }
      let words = [some.joined(), others.joined()].flatMap {
        [$0, $0.uppercased(), $0.lowercased()]
      }
      looks.check(text, words.map { Array($0.utf8) }, at(seed, step))
    }
  }

  @Test(arguments: seeds(20))
  func `is there if the folding has it, of bytes that are no UTF-8`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var looks = Looks()
    let bytes: [UInt8] = [0x61, 0x41, 0x73, 0x6F, 0x80, 0xB6, 0xC3, 0xE2, 0xF0, 0x9F, 0xFF]
    for step in 0..<2_000 {
      let text = (0..<random.below(random.pick([6, 40]))).map { _ in random.pick(bytes) }
      let word = (0..<1 + random.below(3)).map { _ in random.pick([0x61, 0x73, 0x6F] as [UInt8]) }
      looks.check(text, [word], at(seed, step))
    }
  }

  @Test(arguments: [
    ("Straße", "STRASSE", true), ("Straße", "asse", true), ("Straße", "sse", true),
    ("Straße", "rasse", true), ("Strae", "rasse", false), ("Maß", "s", true), ("ß", "ss", true),
    ("ß", "sss", false), ("sß", "sss", true), ("ßs", "sss", true), ("wörd", "word", true),
    ("wo\u{308}rd", "word", true), ("wo\u{308}\u{301}rd", "word", true), ("wörx", "word", false),
    ("o\u{308}", "o", true), ("\u{308}", "o", false), ("ﬃ", "ffi", true), ("ﬃ", "fi", true),
    ("oﬃce", "office", true), ("needle wörd", "needleword", false), ("日本語", "語", true),
    ("日本語", "word", false), ("word", "語", false), ("für Word", "word", true),
    ("üword", "word", true),
    ("\u{212A}ey", "key", true), ("key\u{301}", "KEY", true), ("", "a", false),
  ])
  func `with letters that fold to others`(text: String, word: String, isThere: Bool) {
    var folded = FoldedText()
    let pattern = SearchPattern(Array(word.utf8))!
    #expect(pattern.isIn(Array(text.utf8)[...], &folded) == isThere)
    // The same at places where other words of the processor, and other blocks, begin.
    for before in [1, 7, 8, 9, 127, 128, 129] {
      let text = String(repeating: "x", count: before) + text + String(repeating: "y", count: 20)
      #expect(pattern.isIn(Array(text.utf8)[...], &folded) == isThere)
    }
  }
}
