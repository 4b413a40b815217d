import Foundation
import TestSupport
import Testing

@testable import Notes

@Suite
struct `Folded text` {
  private func folded(_ text: String) -> String {
    var folded = FoldedText()
    folded.fold(Array(text.utf8)[...])
    return String(decoding: folded.utf8, as: UTF8.self)
  }

  @Test(arguments: [
    ("Straße", "strasse"), ("ÅNGSTRÖM", "angstrom"), ("e\u{301}\u{302}x", "ex"), ("", ""),
    ("ﬁ", "fi"),
    ("ΟΔΟΣ", "οδοσ"), ("οδος", "οδοσ"), ("İıI", "iii"), ("Ёлка", "елка"), ("❤️", "❤"), ("Ǆ", "ǆ"),
    ("\u{301}", ""), ("K", "k"), ("@[`{", "@[`{"),
    // The points of Hebrew, and the vowels of Arabic.
    ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"),
    // Stress, and none.
    ("За\u{301}мок", "замок"), ("ДОРО\u{300}ГА", "дорога"), ("ѐ", "е"),
    // Letters with marks that are letters of their own.
    ("Й", "й"), ("И\u{306}", "й"), ("КИ\u{306}\u{301}В", "кйв"), ("Ї", "ї"), ("Е\u{308}", "е"),
    ("Г\u{301}", "ѓ"), ("ガ", "ガ"), ("カ\u{3099}", "ガ"), ("ハ\u{309A}x", "パx"),
    ("각", "각"), ("\u{1100}\u{1161}\u{11A8}", "각"), ("가\u{11A8}", "각"), ("\u{1100}\u{1161}", "가"),
    ("ㄱㅏ", "ㄱㅏ"), ("हिन्दी", "हिन्दी"), ("क़", "\u{915}\u{93C}"), ("ไทยนี้", "ไทยนี้"), ("a\u{306}и", "aи"),
  ])
  func `has neither case nor the marks that don't count`(text: String, expected: String) {
    #expect(Array(folded(text).utf8) == Array(expected.utf8))
  }

  @Test(arguments: [
    ("か", "が"), ("は", "ぱ"), ("カ", "カ\u{3099}"), ("가", "각"), ("ㄱ", "가"), ("\u{1100}", "가"),
    ("и", "й"),
    ("и", "И\u{306}"), ("і", "ї"), ("г", "ѓ"), ("कि", "का"), ("ही", "हि"), ("นี", "นี่"),
  ])
  func `of one letter has no other, nor its beginning`(letter: String, other: String) throws {
    for (pattern, text) in [(letter, "x \(other) y"), (other, "x \(letter) y")] {
      // Vowels and tones of India and Thailand stand behind their letters.
      if text.contains("นี่") || text.contains("नी") { continue }
      let pattern = try #require(SearchPattern(Array(pattern.utf8)))
      var folded = FoldedText()
      #expect(!pattern.isIn(Array(text.utf8)[...], &folded), "\(letter) \(other)")
    }
  }

  @Test func `is the same of all forms of a text`() throws {
    for text in [
      "Ёжик, майка, Київ, Ѓорче", "がぎぐ パピプ ヴ", "각국 한글", "क़िला फ़ोन", "கொக்கு", "ොෝ", "Ångström é", "שּׁ",
      "ಕೋಟಿ", "ബോബി", "দোকান ড়", "ଢ଼ୈ", "မြန်မာဦ", "གྷ",
    ] {
      let expected = folded(text)
      #expect(
        Array(folded(text.decomposedStringWithCanonicalMapping).utf8) == Array(expected.utf8),
        "\(text)")
      #expect(
        Array(folded(text.precomposedStringWithCanonicalMapping).utf8) == Array(expected.utf8),
        "\(text)")
    }
  }

  /// True for a mark that doesn't count, by its name.
  private func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.properties.generalCategory == .nonspacingMark,
      let name = scalar.properties.name
    else { return false }
    if name.hasPrefix("HEBREW") || name.hasPrefix("SYRIAC") { return true }
    if name.hasPrefix("ARABIC") || name.hasPrefix("VARIATION SELECTOR") { return true }
    let others = [
      "CYRILLIC", "KATAKANA", "DEVANAGARI", "GLAGOLITIC", "GRANTHA", "ZNAMENNY",
      "ANUSVARA",
    ]
    return name.hasPrefix("COMBINING") && scalar.value < 0x10000
      && !others.contains { name.contains($0) }
  }

  /// By what Foundation and the standard library know. Beyond these planes there are only ideographs and marks.
  @Test func `folds every scalar as a naive look at it does`() {
    var differing: [String] = []
    var folded = FoldedText()
    for value in UInt32(1)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned,
        scalar.properties.generalCategory != .privateUse
      else { continue }
      let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
      let isWhole =
        (0xAC00...0xD7A3).contains(value) || (0x3040...0x30FF).contains(value)
        || (0x400...0x52F).contains(value) && !"ЀЁЍѐёѝ".unicodeScalars.contains(scalar)
      let bases = isWhole ? [scalar] : parts.filter { !isIgnored($0) }
      // What is left out of the table.
      if (0x1D100...0x1D1FF).contains(value) || [0x2000, 0x2001].contains(value) { continue }
      if (0xF900...0xFAFF).contains(value) || (0x2F800...0x2FA1F).contains(value) { continue }
      var expected = String.UnicodeScalarView()
      for base in bases {
        for scalar in String(base).lowercased().uppercased().lowercased().unicodeScalars
        where !isIgnored(scalar) {
          expected.append(scalar == "ς" ? "σ" : scalar)
        }
      }
      folded.fold(Array(String(scalar).utf8)[...])
      let actual = String(decoding: folded.utf8, as: UTF8.self)
      if Array(actual.utf8) != Array(String(expected).utf8) {
        differing.append("U+\(String(value, radix: 16)) \(actual) \(String(expected))")
      }
    }
    #expect(differing.prefix(20) == [])
  }

  @Test func `knows where each part comes from`() {
    let text = "aé e\u{301}\u{302}ßx각"
    var folded = FoldedText()
    folded.fold(Array(text.utf8)[...], withOrigins: true)
    #expect(String(decoding: folded.utf8, as: UTF8.self).hasPrefix("ae essx"))
    #expect(folded.range(of: 0..<1) == 0..<1)
    #expect(folded.range(of: 1..<2) == 1..<3)
    #expect(folded.range(of: 3..<4) == 4..<9)
    #expect(folded.range(of: 4..<5) == 9..<11)
    #expect(folded.range(of: 5..<6) == 9..<11)
    #expect(folded.range(of: 4..<6) == 9..<11)
    #expect(folded.range(of: 6..<7) == 11..<12)
    #expect(folded.range(of: 7..<10) == 12..<15)
    // Of what is put together the place is that of the first.
    let parts = "xк\u{301}ж\u{1100}\u{1161}\u{11A8}か\u{3099}y"
    folded.fold(Array(parts.utf8)[...], withOrigins: true)
    #expect(String(decoding: folded.utf8, as: UTF8.self) == "xќж각がy")
    #expect(folded.range(of: 1..<3) == 1..<5)
    #expect(folded.range(of: 3..<5) == 5..<7)
    #expect(folded.range(of: 5..<8) == 7..<16)
    #expect(folded.range(of: 8..<11) == 16..<22)
    #expect(folded.range(of: 11..<12) == 22..<23)
  }

  @Test(arguments: seeds(10))
  func `folds a text as its scalars one after the other`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let scalars = ["a", "Z", " ", "ß", "É", "\u{301}", "ﬃ", "각", "语", "😀", "ŉ", "\n"]
    var whole = FoldedText()
    var single = FoldedText()
    for _ in 0..<300 {
      // Mostly one kind, so that there are long runs of it; also nothing else, which is what grows most.
      let kind = random.pick(scalars)
      let share = random.pick([0, 5, 50])
      let parts = (0..<random.below(70)).map { _ in
        random.chance(share) ? random.pick(scalars) : kind
      }
      whole.fold(Array(parts.joined().utf8)[...], withOrigins: true)
      var expected: [UInt8] = []
      var place = 0
      for part in parts {
        single.fold(Array(part.utf8)[...])
        let range = expected.count..<expected.count + single.utf8.count
        if !range.isEmpty {
          #expect(whole.utf8.count >= range.upperBound)
          #expect(whole.range(of: range).lowerBound == place)
        }
        expected += single.utf8
        place += part.utf8.count
      }
      #expect(Array(whole.utf8) == expected)
    }
  }

  @Test func `survives bytes that are no UTF-8`() {
    var folded = FoldedText()
    for first in UInt8.min...UInt8.max {
      for rest in [[], [0x80], [0xFF], [0xE2, 0x82], [0x41, 0xF0, 0x9F]] as [[UInt8]] {
        folded.fold(([first] + rest)[...], withOrigins: true)
        if !folded.utf8.isEmpty { _ = folded.range(of: 0..<folded.utf8.count) }
      }
    }
  }
}
