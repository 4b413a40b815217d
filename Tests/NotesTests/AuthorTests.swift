import TestSupport
import Testing

@testable import Notes

@Suite struct `An author` {
  private func name(_ text: String) -> String? { Author(name: text, program: "p")?.name }

  @Test func `has a name and a program as they were given`() throws {
    let author = try #require(Author(name: "Ana María", program: "Vim"))
    #expect(author.name == "Ana María" && author.program == "Vim")
    #expect(Author(exactly: author.name, author.program) == author)
  }

  @Test(arguments: [
    ("  Ana \t", "Ana"), ("Ana\nMaria", "Ana Maria"), ("Ana\r\nMaria", "Ana  Maria"),
    ("\u{1b}[31mAna", "[31mAna"), ("Ana\u{7f}\u{85}\u{2028}B", "Ana   B"),
    ("\u{202e}anA", "anA"), ("Ana\u{2066}x\u{2069}", "Ana x"), ("\u{0}", nil), ("", nil),
    (" \n\u{2029}", nil), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"), ("\u{200d}", "\u{200d}"),
  ])
  func `is one line without control characters`(_ text: String, _ expected: String?) {
    #expect(name(text)?.unicodeScalars.map(\.value) == expected?.unicodeScalars.map(\.value))
  }

  @Test func `is cut between two characters`() {
    #expect(name(String(repeating: "x", count: 101)) == String(repeating: "x", count: 100))
    #expect(name(String(repeating: "é", count: 60)) == String(repeating: "é", count: 50))
    // 25 bytes each.
    #expect(name(String(repeating: "👩‍👩‍👧‍👦", count: 5)) == String(repeating: "👩‍👩‍👧‍👦", count: 4))
    // The blank behind which it is cut goes, too.
    #expect(name(String(repeating: "x", count: 99) + " y") == String(repeating: "x", count: 99))
    // Of one character that is too long for itself as much as fits.
    let long = "e" + String(repeating: "\u{301}", count: 1000)
    #expect(name(long)?.unicodeScalars.count == 50)
    let program = Author(name: "a", program: String(repeating: "x", count: 41))?.program
    #expect(program == String(repeating: "x", count: 40))
  }

  @Test func `is made of any text, and comes out as it went in`() {
    for seed in seeds(200) {
      var random = SplitMix64(seed: seed)
      let scalars: [Unicode.Scalar] = [
        "a", " ", "\n", "\u{0}", "\u{85}", "é", "\u{301}", "\u{200d}", "👩", "\u{202d}", "🇩", "각",
      ]
      var text = ""
      for _ in 0..<random.below(80) {
        text.unicodeScalars.append(random.pick(scalars))
      }
      guard let author = Author(name: text, program: text) else { continue }
      #expect(author.name.utf8.count <= 100 && author.program.utf8.count <= 40, at(seed))
      #expect(Author(exactly: author.name, author.program) == author, at(seed))
    }
  }

  @Test func `is another one if its bytes are others`() {
    let (composed, decomposed) = (name("\u{e9}"), name("e\u{301}"))
    #expect(composed == decomposed)
    #expect(
      Author(name: "\u{e9}", program: "p") != Author(name: "e\u{301}", program: "p"))
    for wrong in ["", " a", "a ", "a\nb", "\u{202e}a", String(repeating: "x", count: 101)] {
      #expect(Author(exactly: wrong, "p") == nil && Author(exactly: "a", wrong) == nil)
    }
  }
}
