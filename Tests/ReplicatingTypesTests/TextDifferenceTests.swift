import TestSupport
import Testing

@testable import ReplicatingTypes

/// What regroups, composes or combines.
private let pieces = [
  "a", "b", "ab", "the ", "quick", " ", "\n", "\r\n", "\r", ".", "don't", "é", "e\u{301}",
  "\u{301}", "Å", "A\u{30A}", "\u{212B}", "🇩🇪", "\u{1F1EA}", "\u{1F1E9}", "👩‍👩‍👧", "👩", "\u{200D}",
  "👍🏽", "👍", "각", "\u{1100}", "\u{1161}", "\u{11A8}", "中", "文字", "\u{FE0F}", "0", "9",
]

extension SplitMix64 {
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

extension [UInt8] {
  /// The bytes after edits that are sorted and apart.
  func applying(_ edits: [Edit<UInt8>]) -> [UInt8] {
    var bytes = self
    for edit in edits.reversed() { bytes.replaceSubrange(edit.range, with: edit.replacement) }
    return bytes
  }
}

extension [Edit<UInt8>] {
  /// The same edits without what divides them from others.
  var undivided: [Edit<UInt8>] { map { Edit(range: $0.range, replacement: $0.replacement) } }
}

extension Edit<UInt8> {
  /// True if the edit only makes one line end of another.
  func isConversion(in text: [UInt8]) -> Bool {
    let (low, high) = (range.lowerBound, range.upperBound)
    if range.count == 1, replacement.isEmpty {
      return text[low] == 0x0D && high < text.count && text[high] == 0x0A
    }
    return Self.isLineEnd(replacement) && divider == replacement
  }
}

/// What is wrong with the difference of two texts: nothing, unless it doesn't lead to the new text by edits between scalars
/// that are sorted and apart, but for line ends that become others.
func defect(ofDifferenceFrom old: [UInt8], to new: [UInt8]) -> String? {
  let edits = textDifference(from: old, to: new)
  var result: [UInt8] = []
  var next = 0
  for (index, edit) in edits.enumerated() {
    if edit.range.lowerBound < next { return "edits are not sorted" }
    if index > 0, edit.range.lowerBound == next,
      !edit.isConversion(in: old), !edits[index - 1].isConversion(in: old)
    {
      return "edits touch each other"
    }
    if edit.range.isEmpty && edit.replacement.isEmpty { return "an edit does nothing" }
    if edit.range.upperBound > old.count { return "an edit ends behind the text" }
    for bound in [edit.range.lowerBound, edit.range.upperBound]
    where bound < old.count && old[bound] & 0xC0 == 0x80 {
      return "an edit begins or ends within a scalar"
    }
    if String(validating: edit.replacement, as: UTF8.self) == nil {
      return "a replacement begins or ends within a scalar"
    }
    result += old[next..<edit.range.lowerBound]
    result += edit.replacement
    next = edit.range.upperBound
  }
  result += old[next...]
  return result == new ? nil : "edits lead to another text"
}

private func expectProper(_ old: String, _ new: String, _ comment: Comment) {
  #expect(defect(ofDifferenceFrom: Array(old.utf8), to: Array(new.utf8)) == nil, comment)
}

@Suite struct `Text difference` {
  @Test func `leads exactly to the new text, between scalars, sorted and apart`() {
    for seed in seeds(400) {
      var generator = SplitMix64(seed: seed)
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
    ("one two three", "one three", ["two →"]), ("don't go", "do go", ["don't→do"]),
    ("notes go", "note go", ["s→"]),
    ("Höhe", "Hohe", ["Höhe→Hohe"]), ("teh teh", "the the", ["teh teh→the the"]),
    ("a-b", "a+b", ["-→+"]), ("(a)", "[a]", ["(→[", ")→]"]),
    ("bdf", "abcdefg", ["bdf→abcdefg"]), ("abcdefg", "bdf", ["abcdefg→bdf"]),
    ("我昨天去北京", "我昨天去上海了", ["北京→上海了"]), ("东京很大。", "东京太大。", ["很→太"]),
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

  @Test func `a word between two that come and go stays as it is`() {
    #expect(difference("eggs\nbread", "milk\neggs").map(\.range) == [0..<0, 4..<10])
    #expect(difference("tea eggs", "eggs bread").map(\.range) == [0..<4, 8..<8])
    #expect(difference("-eggs-", "x eggs y").map(\.range) == [0..<1, 5..<6])
    // A part of a word does not.
    #expect(difference("eggs", "xeggy").map(\.range) == [0..<4])
  }

  /// Else the words of two people who type at one place, found in different ways, could end up without a blank between them.
  @Test
  func `a line that is left of three stays whole, though its ends are in the other two as well`() {
    #expect(
      told("x\n- number 2\n- milk\n- [ ] milk\ny\n", "x\n- milk\ny\n")
        == ["- number 2\n→", "- [ ] milk\n→"])
    #expect(told("- a\n- b\n- c\n- a c\n", "- c\n") == ["- a\n- b\n→", "- a c\n→"])
    // No such line, or one at the end.
    #expect(told("- a\n- d\n- a c\n", "- c\n") == ["a\n- d\n- a →"])
    #expect(told("- a\n- c\n- c\n", "- c\n").count == 1)
  }

  @Test func `what is typed or deleted stands at one place, however it was found`() {
    #expect(
      difference("foo bar", "foo new bar") == [Edit(range: 4..<4, replacement: Array("new ".utf8))])
    #expect(difference("one two three", "one three").map(\.range) == [4..<8])
    // Where another edit leads the comparison elsewhere.
    #expect(difference("a b\nfoo bar", "ax b\nfoo new bar").last?.range == 8..<8)
    #expect(difference("a b\nfoo bar", "a\nfoo new bar").last?.range == 8..<8)
    for seed in seeds(300) {
      var generator = SplitMix64(seed: seed)
      func text(_ most: Int) -> [UInt8] {
        (0..<generator.below(most)).map { _ in generator.pick(Array("ab \n".utf8)) }
      }
      let old = text(12)
      let typed = text(6)
      if typed.isEmpty { continue }
      let place = generator.below(old.count + 1)
      let new = old[..<place] + typed + old[place...]
      var insertions: Set<Edit<UInt8>> = []
      var deletions: Set<Edit<UInt8>> = []
      for place in 0...old.count where old[..<place] == new[..<place] {
        let end = place + typed.count
        guard new[end...].elementsEqual(old[place...]) else { continue }
        insertions.formUnion(
          WordSnapping(text: old).slide([
            Edit(range: place..<place, replacement: Array(new[place..<end]))
          ]))
        deletions.formUnion(
          WordSnapping(text: Array(new)).slide([Edit(range: place..<end, replacement: [])]))
      }
      #expect(insertions.count == 1 && deletions.count == 1, at(seed))
      #expect(insertions.first?.range.lowerBound == deletions.first?.range.lowerBound, at(seed))
    }
  }

  @Test func `edits are the same without what they put in the place of itself`() {
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      func text(_ most: Int) -> String {
        (0..<generator.below(most)).map { _ in
          generator.pick(["one ", "two ", "é", "\n", "three, "])
        }
        .joined()
      }
      let parts = (0..<5).map { _ in Array(text(6).utf8) }
      let new = [1, 3].map { _ in Array(text(6).utf8) }
      // Two edits, with something between them.
      let old = parts[0] + parts[1] + [0x2E] + parts[2] + parts[3] + parts[4]
      let second = parts[0].count + parts[1].count + 1 + parts[2].count
      let edits = [
        Edit(range: parts[0].count..<parts[0].count + parts[1].count, replacement: new[0]),
        Edit(range: second..<second + parts[3].count, replacement: new[1]),
      ]
      let within = differences(within: edits, of: old)
      #expect(old.applying(within) == old.applying(edits), at(seed))
      for (edit, next) in zip(within, within.dropFirst()) {
        #expect(edit.range.upperBound <= next.range.lowerBound, at(seed))
      }
      for edit in edits where edit.replacement == Array(old[edit.range]) && !edit.range.isEmpty {
        #expect(!within.contains { edit.range.overlaps($0.range) }, at(seed))
      }
    }
  }

  @Test func `one edit of a part of a text is that of the part by itself`() {
    var alone = 0
    for seed in seeds(2000) {
      var generator = SplitMix64(seed: seed)
      // Line ends of other kinds are no matter of a part.
      func text(_ most: Int) -> [UInt8] {
        (0..<generator.below(most)).flatMap { _ in
          Array(generator.pick(["a", "a", "b", " ", "\n", "1", "2", "é", "👍", "'", "-"]).utf8)
        }
      }
      let (head, tail) = (text(20), text(20))
      // Whole lines: of a part of a line the words that it begins and ends in are replaced whole.
      let (before, behind) = (text(6) + [0x0A], [0x20] + text(6))
      let (old, new) = (head + text(3) + tail, head + text(3) + tail)
      let range = before.count..<before.count + old.count
      let all = before + old + behind
      let expected = textDifference(from: old, to: new).undivided.map {
        Edit(
          range: before.count + $0.range.lowerBound..<before.count + $0.range.upperBound,
          replacement: $0.replacement)
      }
      let edit = Edit(replacing: range, of: all, with: new, lookingAt: range)
      #expect(edit == nil || [edit!].undivided == expected, at(seed))
      if edit != nil { alone += 1 }
      if old.isEmpty || new.isEmpty { continue }
      #expect(
        differences(within: [Edit(range: range, replacement: new)], of: all).undivided == expected,
        at(seed))
    }
    #expect(alone > 800)
  }

  @Test func `what two texts begin and end with is found at all places and lengths`() {
    for seed in seeds(300) {
      var generator = SplitMix64(seed: seed)
      let most = generator.below(200)
      let old = (0..<most + 9).map { _ in UInt8(generator.below(256)) }
      var new = Array(repeating: 0, count: generator.below(9)) + old
      let shift = new.count - old.count
      let start = generator.below(10)
      for _ in 0..<generator.below(3) where most > 0 {
        new[shift + start + generator.below(most)] ^= UInt8(1 + generator.below(255))
      }
      let pairs = zip(old[start..<start + most], new[(shift + start)...])
      #expect(
        commonPrefix(old, from: start, new, from: shift + start, atMost: most)
          == pairs.prefix { $0 == $1 }.count, at(seed))
      #expect(
        commonSuffix(old, before: start + most, new, before: shift + start + most, atMost: most)
          == Array(pairs).reversed().prefix { $0 == $1 }.count, at(seed))
    }
  }

  @Test
  func `a word that occurs once is never typed again, but in a line most of whose words are new`() {
    // As many spaces as possible, or letters, would be another matter.
    #expect(difference("w1 w2 w6 ", "w3 w4 w1 w6 ").map(\.range) == [0..<0, 3..<6])
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      var words = (0..<generator.below(20) + 1).map { "w\($0)x" }
      let separators = [" ", "\n", "  ", "\n\n", ", "]
      func text(_ words: [String], _ generator: inout SplitMix64) -> String {
        words.map { $0 + generator.pick(separators) }.joined()
      }
      let old = text(words, &generator)
      words.removeAll { _ in generator.chance(20) }
      for number in 0..<generator.below(8) {
        words.insert("n\(number)", at: generator.below(words.count + 1))
      }
      let new = text(words, &generator)
      for edit in difference(old, new) {
        let typed = String(decoding: edit.replacement, as: UTF8.self)
        for word in typed.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
        where word.contains("x") {
          let line = new.split(separator: "\n").map { $0.split { " ,".contains($0) } }
            .first { $0.contains(word) }!
          // Or it is all that is left: then it may be the beginning of what is typed over a selection.
          let isAlone = line.count == 1
          #expect(
            line.count { $0.contains("n") } * 2 > line.count || isAlone,
            "seed \(seed): \([typed, old, new])")
        }
      }
    }
  }

  @Test func `what is larger than may be compared by characters still has small edits`() {
    var generator = SplitMix64(seed: 3)
    let letters = Array("日本語中文字世界人民大学生活動物言葉花見山川田村町市県国家").map(String.init)
    let sentence = (0..<3000).map { _ in generator.pick(letters) }
    let words = sentence.map { $0 + " " }
    for (old, replacement) in [(sentence, "x"), (words, "x ")] {
      var new = old
      for place in [100, 1000, 2000, 2900] { new[place] = replacement }
      new.insert("y ", at: 1500)
      expectProper(old.joined(), new.joined(), "five edits in one line")
      let edits = difference(old.joined(), new.joined())
      #expect(edits.count == 5)
      #expect(edits.reduce(0) { $0 + $1.range.count } <= 16)
    }
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

  @Test func `lines broken anew touch no word, however often it occurs`() {
    var generator = SplitMix64(seed: 5)
    // Few words, so that none occurs once.
    let vocabulary = (0..<40).map { "w\($0)" }
    for count in [300, 3000] {
      let words = (0..<count).map { _ in generator.pick(vocabulary) }
      func flowed(_ width: Int) -> String {
        var text = ""
        for (index, word) in words.enumerated() {
          text += word + (index % width == width - 1 ? "\n" : " ")
        }
        return text
      }
      expectProper(flowed(13), flowed(9), "\(count) words")
      let old = Array(flowed(13).utf8)
      for edit in difference(flowed(13), flowed(9)) {
        #expect((old[edit.range] + edit.replacement).allSatisfy { $0 <= 0x20 })
      }
    }
  }

  @Test func `large unrelated texts, and long words, come to an end`() {
    var generator = SplitMix64(seed: 1)
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
}
