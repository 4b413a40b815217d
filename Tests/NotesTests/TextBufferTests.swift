import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import Bytes

/// Texts with line feeds in all places, and scalars of one to four bytes.
extension SplitMix64 {
  fileprivate mutating func text(_ most: Int = 12) -> [UInt8] {
    (0..<below(most)).flatMap { _ in
      Array(pick(["\n", "\n", "a", "b", "é", "中", "😀", "\r\n", "e\u{301}"]).utf8)
    }
  }

  fileprivate mutating func place(in utf8: [UInt8], from low: Int = 0) -> Int {
    pick((low...utf8.count).filter { $0 == utf8.count || utf8[$0] & 0xC0 != 0x80 })
  }

  /// Edits that are sorted and apart from each other.
  fileprivate mutating func edits(of utf8: [UInt8]) -> [Edit<UInt8>] {
    var edits: [Edit<UInt8>] = []
    var low = 0
    for _ in 0..<below(4) {
      let start = place(in: utf8, from: low)
      let end = place(in: utf8, from: start)
      let replacement = text(4)
      if start == end && replacement.isEmpty { continue }
      edits.append(Edit(range: start..<end, replacement: replacement))
      if end == utf8.count { break }
      low = String(decoding: utf8[end...], as: UTF8.self).unicodeScalars.first!.utf8.count + end
    }
    return edits
  }
}

private func lines(of utf8: [UInt8]) -> [[UInt8]] {
  utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
}

private func applied(_ edits: [Edit<UInt8>], to utf8: [UInt8]) -> [UInt8] {
  var result = utf8
  for edit in edits.reversed() { result.replaceSubrange(edit.range, with: edit.replacement) }
  return result
}

private func units(_ scalar: Unicode.Scalar, _ encoding: PositionEncoding) -> Int {
  switch encoding {
  case .utf8: scalar.utf8.count
  case .utf16: scalar.utf16.count
  case .utf32: 1
  }
}

extension TextBuffer {
  /// The same with the new lines one by one.
  fileprivate mutating func edits(
    replacing replacements: [(lines: Range<Int>, new: [[UInt8]])]
  ) -> [Edit<UInt8>]? {
    edits(
      replacing: replacements.map {
        LineReplacement(
          lines: $0.lines, text: $0.new.isEmpty ? nil : Array($0.new.joined(separator: [0x0A])))
      })
  }
}

extension LineReplacement {
  fileprivate var new: [[UInt8]] {
    text.map { $0.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init) } ?? []
  }
}

@Suite(.computing) struct `Text buffer` {
  @Test func `maps positions and offsets as counting by hand does, in all encodings`() {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let utf8 = generator.text()
      var buffer = TextBuffer(utf8)
      #expect(buffer.lineCount == lines(of: utf8).count, at(seed))
      for encoding in PositionEncoding.allCases {
        // Every position that exists, by hand.
        var offsets: [TextPosition: Int] = [:]
        var position = TextPosition(line: 0, character: 0)
        var offset = 0
        offsets[position] = 0
        for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
          offset += scalar.utf8.count
          if scalar == "\n" {
            position = TextPosition(line: position.line + 1, character: 0)
          } else {
            position.character += units(scalar, encoding)
          }
          offsets[position] = offset
        }
        var candidates: [TextPosition] = []
        for line in -1...lines(of: utf8).count + 1 {
          for character in -1...45 {
            candidates.append(TextPosition(line: line, character: character))
          }
        }
        candidates.shuffle(using: &generator)
        for candidate in candidates.prefix(60) + Array(offsets.keys) where candidate.line >= 0 {
          #expect(buffer.offset(of: candidate, encoding) == offsets[candidate], at(seed))
        }
        for (position, offset) in offsets {
          #expect(buffer.position(of: offset, encoding) == position, at(seed))
        }
      }
    }
  }

  @Test func `a position in no line, or far outside one, is refused`() {
    var buffer = TextBuffer(Array("a😀\nb".utf8))
    for encoding in PositionEncoding.allCases {
      for position in [(2, 0), (Int.max, 0), (0, Int.max), (0, -1), (0, Int.min), (1, 2)] {
        let position = TextPosition(line: position.0, character: position.1)
        #expect(buffer.offset(of: position, encoding) == nil)
      }
      #expect(buffer.offset(of: TextPosition(line: 1, character: 1), encoding) == 7)
    }
    #expect(buffer.offset(of: TextPosition(line: 0, character: 2), .utf16) == nil)
    #expect(buffer.offset(of: TextPosition(line: 0, character: 3), .utf16) == 5)
    #expect(buffer.offset(of: TextPosition(line: 0, character: 3), .utf8) == nil)
    #expect(buffer.offset(of: TextPosition(line: 0, character: 2), .utf32) == 5)
  }

  @Test func `stays what its edits make of it`() {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      var text = generator.text()
      var buffer = TextBuffer(text)
      for step in 0..<20 {
        let edits = generator.edits(of: text)
        text = applied(edits, to: text)
        buffer.apply(edits)
        #expect(buffer.utf8 == text, at(seed, step))
        #expect(buffer.lineCount == lines(of: text).count, at(seed, step))
        for _ in 0..<3 {
          let offset = generator.place(in: text)
          let before = lines(of: Array(text[..<offset]))
          #expect(buffer.line(at: offset) == before.count - 1, at(seed, step))
          let position = TextPosition(line: before.count - 1, character: before.last!.count)
          #expect(buffer.position(of: offset, .utf8) == position, at(seed, step))
          #expect(buffer.offset(of: position, .utf8) == offset, at(seed, step))
        }
      }
    }
  }

  /// Lines of 20 kB, of ASCII or with anything in them; positions at the end, beside each other and anywhere, between edits.
  /// Many edits are made at once, few one by one.
  @Test(arguments: [1, 4, 5, 40])
  func `stays what so many edits make of it`(_ count: Int) {
    for seed in seeds(30) {
      var generator = SplitMix64(seed: seed)
      var text = Array((0..<count * 3).map { "line \($0) é\n" }.joined().utf8)
      var buffer = TextBuffer(text)
      for step in 0..<10 {
        let lines = lines(of: text)
        var (start, edits) = (0, [Edit<UInt8>]())
        for (number, line) in lines.enumerated() where number % 3 == 0 && edits.count < count {
          let end = lines[...number].reduce(number) { $0 + $1.count }
          start = end - line.count
          let new = generator.pick(["", "x", "é\n", "\n\n", "another line\nand one"])
          edits.append(Edit(range: start..<end, replacement: Array(new.utf8)))
        }
        text = applied(edits, to: text)
        _ = buffer.line(at: generator.below(buffer.count + 1))
        _ = buffer.hexDigest()
        buffer.apply(edits)
        #expect(buffer.utf8 == text, at(seed, step))
        #expect(buffer.hexDigest() == SHA256.hexDigest(of: text), at(seed, step))
        var fresh = TextBuffer(text)
        for line in 0..<buffer.lineCount {
          #expect(buffer.start(ofLine: line) == fresh.start(ofLine: line), at(seed, step))
        }
      }
    }
  }

  @Test(arguments: PositionEncoding.allCases, [false, true])
  func `finds places in long lines, as counting scalar by scalar does`(
    encoding: PositionEncoding, isASCII: Bool
  ) {
    for seed in seeds(4) {
      var generator = SplitMix64(seed: seed)
      let kinds: [Unicode.Scalar] = isASCII ? ["a", " ", "~"] : ["a", " ", "é", "あ", "😀"]
      var scalars = (0..<20_000).map { _ in generator.pick(kinds) }
      scalars[7_000] = "\n"
      var buffer = TextBuffer(Array(String(String.UnicodeScalarView(scalars)).utf8))
      for step in 0..<60 {
        let line = generator.below(2)
        let start = line == 0 ? 0 : scalars.firstIndex(of: "\n")! + 1
        let end = line == 0 ? scalars.firstIndex(of: "\n")! : scalars.count
        let place =
          step % 3 == 0 ? end - generator.below(3) : start + generator.below(end - start + 1)
        let offset = scalars[..<place].reduce(0) { $0 + $1.utf8.count }
        let character = scalars[start..<place].reduce(0) { $0 + units($1, encoding) }
        let position = TextPosition(line: line, character: character)
        #expect(buffer.offset(of: position, encoding) == offset, at(seed, step))
        #expect(buffer.position(of: offset, encoding) == position, at(seed, step))
        if place > start, units(scalars[place - 1], encoding) > 1 {
          let inside = TextPosition(line: line, character: character - 1)
          #expect(buffer.offset(of: inside, encoding) == nil, at(seed, step))
        }
        let beyond = TextPosition(
          line: line,
          character: scalars[start..<end].reduce(0) { $0 + units($1, encoding) } + 1)
        #expect(buffer.offset(of: beyond, encoding) == nil, at(seed, step))
        let new = generator.pick(isASCII && step < 40 ? ["a"] : ["a", "é", "😀"]) as Unicode.Scalar
        let removed = place < end && generator.below(2) == 0 ? scalars[place].utf8.count : 0
        buffer.apply([
          Edit(range: offset..<offset + removed, replacement: Array(String(new).utf8))
        ])
        scalars.replaceSubrange(place..<place + (removed > 0 ? 1 : 0), with: [new])
      }
    }
  }

  @Test func `has the hash of what its edits make of it`() {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      var text = [UInt8](repeating: 0x61, count: generator.pick([0, 4_095, 4_096, 4_097, 20_000]))
      var buffer = TextBuffer(text)
      for step in 0..<40 {
        #expect(buffer.hexDigest() == SHA256.hexDigest(of: text), at(seed, step))
        for _ in 0..<generator.below(3) {
          let start =
            generator.below(2) == 0 ? text.count : generator.below(text.count + 1)
          let end = start + generator.below(min(5_000, text.count - start) + 1)
          let new = [UInt8](
            repeating: UInt8(0x61 + step % 26), count: generator.below(10) * generator.below(600))
          buffer.apply([Edit(range: start..<end, replacement: new)])
          text.replaceSubrange(start..<end, with: new)
        }
      }
    }
  }

  // MARK: - Whole lines

  /// A fresh buffer for each question: that the questions of one buffer disturb each other is a test of its own.
  @Test func `replacing lines is what it is in a list of lines`() {
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      let text = generator.text()
      let before = lines(of: text)
      var replacements: [(lines: Range<Int>, new: [[UInt8]])] = []
      var low = 0
      for _ in 0..<1 + generator.below(3) where low <= before.count {
        let start = low + generator.below(before.count - low + 1)
        let end = start + generator.below(before.count - start + 1)
        let new = (0..<generator.below(3)).map { _ in lines(of: generator.text(4))[0] }
        if start == end && new.isEmpty { continue }
        replacements.append((start..<end, new))
        // One line stays between two replacements.
        low = end + 1
      }
      var expected = before
      for (lines, new) in replacements.reversed() { expected.replaceSubrange(lines, with: new) }
      var buffer = TextBuffer(text)
      var shuffled = replacements
      shuffled.shuffle(using: &generator)
      guard let edits = buffer.edits(replacing: shuffled) else {
        Issue.record("refused, \(at(seed))")
        continue
      }
      let result = applied(edits, to: text)
      #expect(result == Array(expected.joined(separator: [0x0A])), at(seed))
      if !expected.isEmpty { #expect(lines(of: result) == expected, at(seed)) }
      for (edit, next) in zip(edits, edits.dropFirst()) {
        #expect(edit.range.upperBound <= next.range.lowerBound, at(seed))
        // Two that begin at one place: see the test below.
        if edit.range.lowerBound == next.range.lowerBound { continue }
        #expect(edit.range.lowerBound < next.range.lowerBound, at(seed))
      }
    }
  }

  /// A line with a letter, or a few, more or less: in the first, the last or another line of a text.
  @Test func `an edit in one line is the difference of the line by itself`() {
    var found = 0
    for seed in seeds(1000) {
      var generator = SplitMix64(seed: seed)
      let run = generator.chance(10) ? 1010 + generator.below(30) : generator.below(4)
      let letter = generator.pick(["a", " ", "1"])
      func part(_ most: Int) -> String {
        (0..<generator.below(most)).map { _ in
          generator.pick(["a", "b", " ", "1", "2", "é", "'", "-", "😀"])
        }
        .joined()
      }
      let end = generator.pick(["", "", "\r"])
      let (head, tail) = (part(4) + String(repeating: letter, count: run), part(8) + end)
      let old = head + (generator.chance(50) ? letter : part(3)) + tail
      let new = head + (generator.chance(50) ? letter : part(3)) + tail
      let (above, below) = (generator.below(3), generator.below(3))
      let lines = (0..<above).map { _ in part(4) } + [old] + (0..<below).map { _ in part(4) }
      var buffer = TextBuffer(Array(lines.joined(separator: "\n").utf8))
      let replacements = [LineReplacement(lines: above..<above + 1, text: Array(new.utf8))]
      guard let edit = buffer.edit(inLineOf: replacements) else { continue }
      found += 1
      let edits = buffer.edits(replacing: replacements)!
      #expect([edit] == differences(within: edits, of: buffer.utf8), at(seed))
    }
    #expect(found > 250)
  }

  @Test func `no edit in one line is made of any other replacement`() {
    var buffer = TextBuffer(Array("a\nb\nc".utf8))
    func edit(_ lines: Range<Int>, _ text: String?) -> Edit<UInt8>? {
      buffer.edit(inLineOf: [LineReplacement(lines: lines, text: text.map { Array($0.utf8) })])
    }
    #expect(edit(1..<2, "bb") == Edit(range: 2..<2, replacement: [0x62]))
    #expect(edit(1..<2, "b") == nil)
    #expect(edit(1..<2, "d") == nil)
    #expect(edit(1..<2, "b\n") == nil)
    #expect(edit(1..<2, nil) == nil)
    #expect(edit(1..<1, "b") == nil)
    #expect(edit(0..<2, "a") == nil)
    #expect(edit(3..<4, "a") == nil)
    #expect(buffer.edit(inLineOf: []) == nil)
    let one = LineReplacement(lines: 0..<1, text: [0x61, 0x61])
    #expect(buffer.edit(inLineOf: [one, one]) == nil)
  }

  @Test func `the edits of replaced lines are apart from each other`() {
    var buffer = TextBuffer(Array("a\n\nc".utf8))
    let edits = buffer.edits(replacing: [(1..<1, [Array("Y".utf8)]), (2..<3, [Array("Z".utf8)])])
    #expect(applied(edits!, to: buffer.utf8) == Array("a\nY\n\nZ".utf8))
    #expect(
      zip(edits!, edits!.dropFirst()).allSatisfy { $0.range.upperBound < $1.range.lowerBound })
  }

  @Test func `lines that are not there or named twice are refused`() {
    let line = [Array("x".utf8)]
    for text in ["", "a", "a\n", "a\nb"] {
      let count = lines(of: Array(text.utf8)).count
      for range in [-1..<0, count + 1..<count + 1, 0..<count + 1, Int.max..<Int.max, 0..<Int.max] {
        var buffer = TextBuffer(Array(text.utf8))
        #expect(buffer.edits(replacing: [(range, line)]) == nil, "\(range) of \(count)")
      }
      var buffer = TextBuffer(Array(text.utf8))
      #expect(buffer.edits(replacing: [(0..<1, line), (0..<1, line)]) == nil)
      #expect(buffer.edits(replacing: [LineReplacement]()) == [])
      #expect(buffer.edits(replacing: [(0..<0, [])]) == [])
    }
  }

  @Test func `an insertion before a replaced line may be named before or after it`() {
    var buffer = TextBuffer(Array("a\nb\nc".utf8))
    let insertion = (1..<1, [Array("I".utf8)])
    let replacement = (1..<2, [Array("R".utf8)])
    let first = buffer.edits(replacing: [insertion, replacement])
    #expect(first.map { applied($0, to: buffer.utf8) } == Array("a\nI\nR\nc".utf8))
    #expect(buffer.edits(replacing: [replacement, insertion]) == first)
  }

  @Test func `edits as replaced lines lead to the same text`() {
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      let text = generator.text()
      let edits = generator.edits(of: text)
      var buffer = TextBuffer(text)
      let replacements = buffer.lineEdits(for: edits)
      /// True if edits within lines, and no others, replace some lines.
      func isOfLines(_ replacement: LineReplacement) -> Bool {
        let lines = replacement.lines
        func line(at offset: Int) -> Int { text[..<offset].count { $0 == 0x0A } }
        return !lines.isEmpty
          && edits.allSatisfy { edit in
            let (first, last) = (line(at: edit.range.lowerBound), line(at: edit.range.upperBound))
            return !lines.overlaps(first..<last + 1)
              || first == last && !edit.replacement.contains(0x0A)
          }
      }
      for (replacement, next) in zip(replacements, replacements.dropFirst()) {
        #expect(replacement.lines.upperBound <= next.lines.lowerBound, at(seed))
        let areBeside = replacement.lines.upperBound == next.lines.lowerBound
        #expect(!(areBeside && [replacement, next].allSatisfy(isOfLines)), at(seed))
      }
      var result = lines(of: text)
      for replacement in replacements.reversed() {
        let (range, new) = (replacement.lines, replacement.new)
        guard range.upperBound <= result.count else {
          Issue.record("lines \(range) of \(result.count), \(at(seed))")
          break
        }
        #expect(new.allSatisfy { !$0.contains(0x0A) }, at(seed))
        result.replaceSubrange(range, with: new)
      }
      #expect(Array(result.joined(separator: [0x0A])) == applied(edits, to: text), at(seed))
      #expect(result.count == lines(of: applied(edits, to: text)).count, at(seed))
    }
  }

  @Test func `neighbouring lines that each become one are one replacement`() {
    var buffer = TextBuffer(Array("a\nb\nc\nd\ne".utf8))
    let edits = [(1, "1"), (3, "2"), (7, "3\n4"), (9, "5")].map { offset, new in
      Edit(range: offset..<offset, replacement: Array(new.utf8))
    }
    let expected = [(0..<2, "a1\nb2"), (3..<4, "d3\n4"), (4..<5, "e5")].map {
      LineReplacement(lines: $0, text: Array($1.utf8))
    }
    #expect(buffer.lineEdits(for: edits) == expected)
    // As many lines, of which none becomes another one.
    buffer = TextBuffer(Array("gone\nkept\nlast".utf8))
    let moved = [
      Edit(range: 0..<5, replacement: []), Edit(range: 9..<9, replacement: Array("\nnew".utf8)),
      Edit(range: 10..<10, replacement: Array("the ".utf8)),
    ]
    #expect(buffer.lineEdits(for: moved).count == 2)
    let alone = [moved, [moved[2]], [moved[2], moved[2]]].map { buffer.areInLinesOfTheirOwn($0) }
    #expect(alone == [false, true, false])
    buffer = TextBuffer(Array("a\nb\nc\nd\ne".utf8))
    // A line that becomes what it was.
    let same = [Edit(range: 0..<1, replacement: Array("a".utf8)), edits[1]]
    #expect(
      buffer.lineEdits(for: same) == [LineReplacement(lines: 1..<2, text: Array("b2".utf8))])
  }

  /// The first letter that was typed in a note of 10 MB had all of it copied.
  @Test func `has room for what is typed`() throws {
    let person = Person(1)
    let note = person.create("large", String(repeating: "line\n", count: 40_000))
    let text = person.book[note]!.text
    var buffer = TextBuffer(text)
    #expect(buffer.utf8 == text.utf8)
    func place() -> UnsafeRawPointer? { buffer.utf8.withUnsafeBytes { $0.baseAddress } }
    let first = place()
    for _ in 0..<10_000 {
      buffer.apply([Edit(range: buffer.count..<buffer.count, replacement: [0x78])])
    }
    #expect(buffer.count == text.count + 10_000)
    #expect(place() == first)
  }

  // MARK: - One question after the other

  @Test func `looking up the end of the last line does not spoil what comes after`() async {
    var buffer = TextBuffer(Array("abc".utf8))
    #expect(buffer.start(ofLine: 1) == 3)
    #expect(buffer.line(at: 3) == 0)
    #expect(buffer.position(of: 3, .utf8) == TextPosition(line: 0, character: 3))
  }

  @Test func `replacing the last line and then typing at the end works`() async {
    await #expect(processExitsWith: .success) {
      var buffer = TextBuffer(Array("abc".utf8))
      let edits = buffer.edits(replacing: [(0..<1, [Array("abcd".utf8)])])!
      buffer.apply(edits)
      precondition(buffer.utf8 == Array("abcd".utf8))
    }
  }

  @Test func `telling what changed in the last line and then making it works`() async {
    await #expect(processExitsWith: .success) {
      var buffer = TextBuffer(Array("a\nb".utf8))
      let edits = [Edit(range: 3..<3, replacement: Array("c".utf8))]
      _ = buffer.lineEdits(for: edits)
      buffer.apply(edits)
      precondition(buffer.utf8 == Array("a\nbc".utf8))
    }
  }
}
