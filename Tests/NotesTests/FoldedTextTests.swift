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
    ("ガ", "カ"), ("각", "\u{1100}\u{1161}\u{11A8}"), ("\u{301}", ""), ("K", "k"), ("@[`{", "@[`{"),
  ])
  func `has neither case nor marks`(text: String, expected: String) {
    #expect(Array(folded(text).utf8) == Array(expected.utf8))
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
      let bases = parts.filter { $0.properties.generalCategory != .nonspacingMark }
      let isHangul = (0xAC00...0xD7A3).contains(value)
      // What is left out of the table.
      if bases.count > 1 && !isHangul || [0x2000, 0x2001].contains(value) { continue }
      if (0xF900...0xFAFF).contains(value) || (0x2F800...0x2FA1F).contains(value) { continue }
      var expected = String.UnicodeScalarView()
      for base in bases {
        for scalar in String(base).lowercased().uppercased().lowercased().unicodeScalars
        where scalar.properties.generalCategory != .nonspacingMark {
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
    // The first letter of a syllable is all of it.
    #expect(folded.range(of: 7..<10) == 12..<15)
    #expect(folded.range(of: 7..<16) == 12..<15)
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
