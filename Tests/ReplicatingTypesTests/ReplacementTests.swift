import TestSupport
import Testing

@testable import ReplicatingTypes

/// `⏎` is a line feed, `␍` a carriage return, `␣` a blank that divides.
private func utf8(_ text: String) -> [UInt8] {
  Array(text.replacing("⏎", with: "\n").replacing("␍", with: "\r").utf8)
}

private func shown(_ utf8: some Sequence<UInt8>) -> String {
  var text = ""
  for scalar in String(decoding: Array(utf8), as: UTF8.self).unicodeScalars {
    text += scalar == "\n" ? "⏎" : scalar == "\r" ? "␍" : String(scalar)
  }
  return text
}

/// Edits as "old part→new part", with `‖` and the divider behind, if there is one.
private func told(_ edits: [Edit<UInt8>], of old: [UInt8]) -> [String] {
  edits.map {
    shown(old[$0.range]) + "→" + shown($0.replacement)
      + ($0.divider.isEmpty ? "" : "‖" + ($0.divider == [0x20] ? "␣" : shown($0.divider)))
  }
}

private struct Row: CustomTestStringConvertible {
  var old: String
  var new: String
  var edits: [String]

  init(_ old: String, _ new: String, _ edits: String...) {
    (self.old, self.new, self.edits) = (old, new, edits)
  }

  var testDescription: String { "\(old) becomes \(new)" }
}

private let words = [
  Row("alpha beta gamma", "uno dos tres", "alpha beta gamma→uno dos tres‖␣"),
  Row("alpha beta gamma", "e", "alpha beta gamma→e‖␣"),
  Row("alpha beta gamma", "a", "alpha beta gamma→a‖␣"),
  Row("alpha beta gamma", "alpha", " beta gamma→"),
  Row("I saw a cat", "a", "I saw a cat→a‖␣"),
  Row("old milk", "#", "old milk→#‖␣"),
  Row("x there y", "x their y", "there→their‖␣"),
  Row("x there y", "x t y", "there→t‖␣"),
  Row("x there y", "x ther y", "e→"),
  Row("the café here", "the tea here", "café→tea‖␣"),
  Row("the café here", "the kafe here", "café→kafe‖␣"),
  Row("http://x.org/a", "http://x.org/b", "a→b‖␣"),
  Row("http://x.org/a", "https://x.org/a", "→s"),
  Row("foo bar", "foobar", " →"),
  Row("foo bar", "fobar", "foo bar→fobar‖␣"),
  Row("(a)", "[a]", "(→[", ")→]"),
  Row("- [ ] milk", "- [x] milk", "[ ]→[x]‖␣"),
  Row("- [ ] milk", "- [-] milk", "[ ]→[-]‖␣"),
  Row("x (tea) n", "x (tea) (milk) n", "→(milk) "),
]

private let numbers = [
  Row("price 10", "price 12", "10→12‖␣"),
  Row("price 10", "price 100", "10→100‖␣"),
  Row("10.50", "12.50", "10.50→12.50‖␣"),
  Row("10:30", "10:45", "10:30→10:45‖␣"),
  Row("v1.2.3", "v1.3.0", "v1.2.3→v1.3.0‖␣"),
  Row("2026-11-03", "2026-12-03", "2026-11-03→2026-12-03‖␣"),
  Row("555-1234", "555-1299", "555-1234→555-1299‖␣"),
  Row("€10,50", "$10,50", "€10,50→$10,50‖␣"),
  Row("a -5 b", "a -6 b", "-5→-6‖␣"),
  Row("a-5", "a-6", "5→6‖␣"),
  Row("50% off", "60% off", "50%→60%‖␣"),
  Row("1, 2, 3", "1, 5, 3", "2→5‖␣"),
  Row("5 %", "6 %", "5→6‖␣"),
  Row("1,2,3,4,5,6,7,8", "1,2,3,9,5,6,7,8", "4→9‖␣"),
]

private let characters = [
  Row("東京に行く", "大阪に行く", "東京→大阪"),
  Row("東京に行く", "京都に行く", "東京→京都"),
  Row("👨‍👩‍👧 one", "👨‍👩‍👧 two", "one→two‖␣"),
  Row("👍🏽", "👍🏿", "👍🏽→👍🏿"),
  Row("👨‍💻", "👩‍💻", "👨‍💻→👩‍💻"),
  Row("🇩🇪", "🇩🇰", "🇩🇪→🇩🇰"),
  Row("1️⃣ a", "2️⃣ a", "1️⃣→2️⃣‖␣"),
  Row("x cafe y", "x cafe\u{301} y", "cafe→cafe\u{301}‖␣"),
  Row("x cafe\u{301} y", "x cafe\u{300} y", "cafe\u{301}→cafe\u{300}‖␣"),
]

private let lines = [
  Row("- milk⏎", "- bread⏎", "milk→bread‖⏎- "),
  Row("milk⏎", "bread⏎", "milk→bread‖⏎"),
  Row("a⏎milk", "a⏎bread", "milk→bread‖⏎"),
  Row("- milk", "- bread", "milk→bread‖⏎- "),
  Row("  1. alpha beta⏎", "  1. gamma delta⏎", "alpha beta→gamma delta‖⏎  1. "),
  Row("> q⏎", "> r⏎", "q→r‖⏎> "),
  Row("- [ ] milk⏎", "- [x] bread⏎", "[ ]→[x]‖␣", "milk→bread‖⏎- [x] "),
  Row(
    "- [ ] one two.⏎", "- [ ] one five six.⏎- [ ] ten.⏎",
    "one two.→one five six.⏎- [ ] ten.‖⏎- [ ] "),
  Row("- milk⏎", "* bread⏎", "-→*", "milk→bread‖⏎* "),
  Row("- a⏎- b⏎", "- c⏎- d⏎", "a→c‖⏎- ", "b→d‖⏎- "),
  Row("- a⏎- b⏎", "- c⏎- d⏎- e⏎", "a⏎- b→c⏎- d⏎- e‖⏎- "),
  Row("a␍⏎b␍⏎", "a␍⏎c␍⏎", "b→c‖␍⏎"),
  Row(
    "Call Ben about the boiler.", "Ben called: boiler gets fixed on Friday.",
    "Call Ben about the boiler.→Ben called: boiler gets fixed on Friday.‖⏎"),
  Row(
    "Call Ben about the boiler.", "Done, the boiler works again. Ask Ben for the bill.",
    "Call Ben about the boiler.→Done, the boiler works again. Ask Ben for the bill.‖⏎"),
  Row("Call Ben about the boiler.", "Call Ben about the new boiler.", "→new "),
  Row("buy milk", "we buy milk and bread", "→we ", "→ and bread"),
  Row("the tea", "the milk", "tea→milk‖␣"),
  Row(
    "see the old house⏎", "paint all the new house⏎", "see the old house→paint all the new house‖⏎"),
  Row(
    "One is here. Two is there. Three.", "One is here. Something new is done. Three.",
    "Two is there.→Something new is done.‖␣"),
]

private let lineEnds = [
  Row("a⏎b⏎c⏎", "a␍⏎b␍⏎c␍⏎", "→␍‖␍", "→␍‖␍", "→␍‖␍"),
  Row("a␍⏎b␍⏎", "a⏎b⏎", "␍→", "␍→"),
  Row("a⏎b⏎", "a␍b␍", "⏎→␍‖␍", "⏎→␍‖␍"),
  Row("a␍⏎b␍⏎", "a␍b␍", "␍⏎→␍‖␍", "␍⏎→␍‖␍"),
  Row("a␍b␍", "a⏎b⏎", "␍→⏎‖⏎", "␍→⏎‖⏎"),
  Row("a␍b␍", "a␍⏎b␍⏎", "␍→␍⏎‖␍⏎", "␍→␍⏎‖␍⏎"),
  Row("a␍b␍", "a␍⏎b␍", "␍→␍⏎‖␍⏎"),
  Row("a␍⏎", "a␍", "␍⏎→␍‖␍"),
  Row("a␍⏎", "a⏎", "␍→"),
  Row("a␍⏎b", "␍⏎b", "a→"),
  Row("xya␍⏎b", "xy⏎b", "a→", "␍→"),
  Row("a␍⏎bc⏎d", "a␍d", "␍⏎→␍‖␍", "bc⏎→"),
  Row("one⏎two⏎three⏎", "one⏎2␍⏎three⏎", "two→2‖␍⏎", "→␍‖␍"),
  Row("a⏎b⏎", "c␍⏎d␍⏎", "a→c‖␍⏎", "→␍‖␍", "b→d‖␍⏎", "→␍‖␍"),
  Row("a⏎b⏎c⏎", "a b␍⏎c␍⏎", "⏎→ ", "→␍‖␍", "→␍‖␍"),
  Row("a⏎⏎b", "a⏎b", "⏎→"),
  Row("a⏎", "a x␍⏎", "→ x␍‖␍"),
  Row("a⏎b⏎", "a x␍⏎b␍⏎", "→ x␍‖␍", "→␍‖␍"),
]

@Suite struct `What an edit replaces` {
  @Test(arguments: words + numbers + characters + lines + lineEnds)
  fileprivate func `is what people mean`(row: Row) {
    let (old, new) = (utf8(row.old), utf8(row.new))
    let edits = textDifference(from: old, to: new)
    #expect(told(edits, of: old) == row.edits)
    #expect(old.applying(edits) == new)
  }

  @Test func `is a whole token where a client names a part of it`() {
    func edits(_ text: String, _ parts: [(Range<Int>, String)]) -> [String] {
      let old = utf8(text)
      let edits = parts.map { Edit(range: $0.0, replacement: utf8($0.1)) }
      let within = differences(within: edits, of: old)
      #expect(old.applying(within) == old.applying(edits))
      return told(within, of: old)
    }
    #expect(edits("price 10", [(7..<8, "2")]) == ["10→12‖␣"])
    #expect(edits("10:30", [(0..<2, "11"), (3..<5, "45")]) == ["10:30→11:45‖␣"])
    #expect(edits("x there y", [(2..<7, "t")]) == ["there→t‖␣"])
    #expect(edits("x there y", [(4..<5, "u")]) == ["there→thure‖␣"])
    #expect(edits("👍🏽", [(4..<8, "🏿")]) == ["👍🏽→👍🏿"])
    // What is typed and deleted stays as it was named, but no character is divided.
    #expect(edits("xyz", [(0..<0, "a"), (1..<2, ""), (3..<3, "b")]) == ["→a", "y→", "→b"])
    #expect(edits("price 10", [(8..<8, "0")]) == ["→0"])
    #expect(edits("price 10", [(7..<8, "")]) == ["0→"])
    #expect(edits("x cafe y", [(6..<6, "\u{301}")]) == ["e→e\u{301}"])
    #expect(edits("- milk\n", [(2..<6, "bread")]) == ["milk→bread‖⏎- "])
  }
}

// MARK: - Properties

/// A text of tokens, of which it is known where each begins and ends.
private struct Tokens {
  var tokens: [String]
  /// What stands behind each token.
  var separators: [String]

  var text: String { zip(tokens, separators).map { $0 + $1 }.joined() }

  /// The places at which tokens begin and end.
  var edges: Set<Int> {
    var edges: Set = [0]
    var place = 0
    for (token, separator) in zip(tokens, separators) {
      edges.insert(place)
      place += token.utf8.count
      edges.insert(place)
      for byte in separator.utf8.dropLast() where byte < 0x80 {
        place += 1
        edges.insert(place)
      }
      place += separator.isEmpty ? 0 : 1
    }
    edges.insert(place)
    return edges
  }
}

private let vocabulary = [
  "the", "to", "a", "and", "milk", "there", "their", "don't", "Höhe", "Привет", "10", "12", "10.50",
  "2026-11-03", "2026-11-04", "555-1234", "€10,50", "$10,50", "v1.2.3", "v1.2.4", "10:30", "-5",
  "50%",
  "[ ]", "[x]", "cafe", "cafe\u{301}", "cafe\u{300}", "नमस्ते", "नमस्कार", "\u{1112}\u{1161}\u{11AB}",
  "\u{1112}\u{1161}", "1️⃣", "2️⃣", "👍🏽", "👍🏿", "👨‍💻", "👩‍💻", "🇩🇪", "🇩🇰", "東", "京", "大",
]

extension SplitMix64 {
  fileprivate mutating func tokens(_ most: Int) -> Tokens {
    let count = below(most + 1)
    return Tokens(
      tokens: (0..<count).map { _ in pick(vocabulary) },
      separators: (0..<count).map { _ in pick([" ", " ", " ", "\n", ", ", ". ", "  "]) })
  }

  fileprivate mutating func changed(_ old: Tokens) -> Tokens {
    var new = old
    for _ in 0..<below(5) {
      let place = below(new.tokens.count + 1)
      switch below(4) {
      case 0 where place < new.tokens.count: new.tokens[place] = pick(vocabulary)
      case 1 where place < new.tokens.count:
        new.tokens.remove(at: place)
        new.separators.remove(at: place)
      case 2 where place < new.tokens.count: new.separators[place] = pick([" ", "\n", ", "])
      default:
        new.tokens.insert(pick(vocabulary), at: place)
        new.separators.insert(pick([" ", "\n"]), at: place)
      }
    }
    return new
  }
}

/// Each edit with its range in the new text.
private func ranges(_ edits: [Edit<UInt8>]) -> [(edit: Edit<UInt8>, new: Range<Int>)] {
  var shift = 0
  return edits.map {
    let start = $0.range.lowerBound + shift
    shift += $0.replacement.count - $0.range.count
    return ($0, start..<start + $0.replacement.count)
  }
}

@Suite(.computing) struct `What an edit replaces, of random texts,` {
  @Test(arguments: seeds(20))
  func `is never a part of a token`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<150 {
      let old = random.tokens(20)
      let new = random.chance(70) ? random.changed(old) : random.tokens(20)
      let (before, after) = (Array(old.text.utf8), Array(new.text.utf8))
      #expect(defect(ofDifferenceFrom: before, to: after) == nil, at(seed, step))
      let (edges, newEdges) = (old.edges, new.edges)
      for (edit, newRange) in ranges(textDifference(from: before, to: after))
      where !edit.range.isEmpty && !edit.replacement.isEmpty {
        let isWhole =
          edges.contains(edit.range.lowerBound) && edges.contains(edit.range.upperBound)
          && newEdges.contains(newRange.lowerBound) && newEdges.contains(newRange.upperBound)
        #expect(
          isWhole, "\(at(seed, step)) \(told([edit], of: before)), \([old.text, new.text])")
      }
    }
  }

  @Test(arguments: seeds(20))
  func `has a whole word between two replaced pieces of a line`(_ seed: UInt64) {
    let letters = ["a", "b", "c", "the", "tea", "milk", "x"]
    var random = SplitMix64(seed: seed)
    for step in 0..<200 {
      func text() -> String {
        (0..<random.below(16)).map { _ in
          random.pick(letters) + random.pick([" ", " ", ", ", ". ", "-", "/", "; "])
        }
        .joined()
      }
      let (old, new) = (Array(text().utf8), Array(text().utf8))
      let edits = textDifference(from: old, to: new).filter {
        !$0.range.isEmpty && !$0.replacement.isEmpty
      }
      for (edit, next) in zip(edits, edits.dropFirst()) {
        let between = old[edit.range.upperBound..<next.range.lowerBound]
        let kept = String(decoding: between, as: UTF8.self).split { !$0.isLetter }
        #expect(
          kept.contains { letters.contains(String($0)) },
          "\(at(seed, step)) \(told(edits, of: old))")
      }
    }
  }

  @Test(arguments: seeds(20))
  func `are whole characters, and what is typed and deleted in a word too`(_ seed: UInt64) {
    let pieces = [
      "a", "e", "e\u{301}", "\u{301}", " ", "\n", "👍", "👍🏽", "\u{1F3FD}", "👩", "\u{200D}💻", "🇩🇪", "🇫🇷",
      "1",
      "\u{FE0F}\u{20E3}", "\u{1112}", "\u{1161}", "\u{11AB}", "न", "स्", "ते", "ि", "ไ", "ท", "ำ",
      "京", "[ ]",
    ]
    var random = SplitMix64(seed: seed)
    for step in 0..<200 {
      var parts = (0..<random.below(16)).map { _ in random.pick(pieces) }
      let old = Array(parts.joined().utf8)
      for _ in 0..<1 + random.below(3) {
        let place = random.below(parts.count + 1)
        let end = min(parts.count, place + random.below(3))
        parts.replaceSubrange(place..<end, with: random.chance(60) ? [random.pick(pieces)] : [])
      }
      let new = Array(parts.joined().utf8)
      func edges(_ text: [UInt8]) -> Set<Int> {
        var place = 0
        return Set(
          [0]
            + String(decoding: text, as: UTF8.self).map {
              place += $0.utf8.count
              return place
            })
      }
      #expect(defect(ofDifferenceFrom: old, to: new) == nil, at(seed, step))
      let (oldEdges, newEdges) = (edges(old), edges(new))
      let edits = textDifference(from: old, to: new)
      for (edit, newRange) in ranges(edits) {
        let isWhole =
          oldEdges.contains(edit.range.lowerBound) && oldEdges.contains(edit.range.upperBound)
          && newEdges.contains(newRange.lowerBound) && newEdges.contains(newRange.upperBound)
        #expect(isWhole, "\(at(seed, step)) \(told(edits, of: old)) \(shown(new))")
      }
    }
  }

  @Test(arguments: seeds(20))
  func `is one word where a paragraph is wrapped anew and a word replaced`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<40 {
      let words = (0..<12 + random.below(60)).map { "w\($0)x" }
      var changed = words
      let place = random.below(words.count)
      changed[place] = "new"
      func wrapped(_ words: [String], _ width: Int) -> [UInt8] {
        Array(
          words.enumerated().map { $1 + ($0 % width == width - 1 ? "\n" : " ") }.joined().utf8)
      }
      let (width, newWidth) = (4 + random.below(9), 4 + random.below(9))
      let edits = textDifference(
        from: wrapped(words, width), to: wrapped(changed, newWidth))
      let removed = edits.map { shown(wrapped(words, width)[$0.range]) }.joined()
      let typed = edits.map { shown($0.replacement) }.joined()
      #expect(removed.filter(\.isLetter) == "wx", at(seed, step))
      #expect(typed.filter(\.isLetter) == "new", at(seed, step))
    }
  }

  @Test(arguments: seeds(20))
  func `are whole lines where lines are sorted`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<40 {
      let lines = (0..<1 + random.below(12)).map { number in
        random.pick(["- ", "", "* [ ] "]) + "\(random.below(1000)) of the \(number) things\n"
      }
      let (old, new) = (Array(lines.joined().utf8), lines.sorted().joined())
      for edit in textDifference(from: old, to: Array(new.utf8)) {
        for part in [Array(old[edit.range]), edit.replacement] where !part.isEmpty {
          let some = String(decoding: part, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains { $0.isNumber } }
          #expect(
            some.allSatisfy { some in lines.contains { $0.hasSuffix(some + "\n") } }, at(seed, step)
          )
        }
      }
    }
  }

  @Test(arguments: seeds(20))
  func `is no line end that only becomes another`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<60 {
      let ends = ["\n", "\r\n", "\r"]
      let (end, newEnd) = (random.pick(ends), random.pick(ends))
      var lines = (0..<random.below(8)).map { _ in
        random.pick(["", "a", "one two", "- b", "é", "x"])
      }
      let old = Array(lines.map { $0 + end }.joined().utf8)
      let count = lines.count
      let place = random.below(count + 1)
      if place < count, !lines[place].isEmpty { lines[place] = "new" }
      let new = Array(lines.map { $0 + newEnd }.joined().utf8)
      let edits = textDifference(from: old, to: new)
      #expect(defect(ofDifferenceFrom: old, to: new) == nil, at(seed, step))
      if end == newEnd { continue }
      let conversions = edits.filter { $0.isConversion(in: old) }
      #expect(conversions.count == count, "\(at(seed, step)) \(told(edits, of: old))")
      #expect(edits.count - conversions.count <= 1, "\(at(seed, step)) \(told(edits, of: old))")
    }
  }
}
