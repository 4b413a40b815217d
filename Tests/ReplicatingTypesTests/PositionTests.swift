import TestSupport
import Testing

@testable import ReplicatingTypes

/// Scalars of every length, some of which combine with their neighbours, and line feeds in all places.
private let words = [
  "a", "bc ", "\n", "\n\n", "\r\n", "é", "e\u{301}", "\u{301}", "中文", "😀", "👩‍👧\u{200D}👦", "🇩🇪",
  "don't ", "x\ny", "\u{10FFFF}", "\u{FFFF}", "\u{80}", "\u{7FF}\u{800}",
]

/// A text's places, found by going through its scalars one by one.
private struct Oracle {
  /// What is before each place between scalars.
  var places: [(utf8: Int, utf16: Int, utf32: Int, line: Int)] = [(0, 0, 0, 0)]
  let utf8: [UInt8]

  init(_ string: String) {
    utf8 = Array(string.utf8)
    for scalar in string.unicodeScalars {
      let last = places[places.count - 1]
      places.append(
        (
          last.utf8 + String(scalar).utf8.count, last.utf16 + String(scalar).utf16.count,
          last.utf32 + 1, last.line + (scalar == "\n" ? 1 : 0)
        ))
    }
  }

  func count(of unit: TextUnit) -> Int {
    Self.amount(places[places.count - 1], unit) + (unit == .line ? 1 : 0)
  }

  static func amount(
    _ place: (utf8: Int, utf16: Int, utf32: Int, line: Int), _ unit: TextUnit
  ) -> Int {
    switch unit {
    case .utf8: place.utf8
    case .utf16: place.utf16
    case .utf32: place.utf32
    case .line: place.line
    }
  }

  /// Each place of a unit; of a line, where it begins.
  func table(_ unit: TextUnit) -> [Int: (utf8: Int, utf16: Int, utf32: Int, line: Int)] {
    Dictionary(places.map { (Self.amount($0, unit), $0) }) { first, _ in first }
  }
}

/// What is out of every range, and around its ends.
private func outside(_ count: Int) -> [Int] { [.min, -2, -1, count + 1, count + 2, .max] }

/// Everything that can be asked of a text, against counting by hand.
private func expectPlaces(_ text: ReplicatingText, _ string: String, _ comment: Comment) {
  let oracle = Oracle(string)
  for unit in TextUnit.allCases {
    #expect(text.count(of: unit) == oracle.count(of: unit), comment)
    let table = oracle.table(unit)
    // Inside scalars, and of bytes outside the range, the table has nothing.
    for place in outside(oracle.count(of: unit)) + Array(0...oracle.count(of: unit)) {
      for other in TextUnit.allCases {
        let found = text.convert(place, from: unit, to: other)
        let expected = table[place].map { Oracle.amount($0, other) }
        #expect(found == expected, "\(place) from \(unit) to \(other), \(comment)")
      }
    }
  }
  let lines = string.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
  var start = 0
  for (number, line) in lines.enumerated() {
    let length = String(line).utf8.count
    #expect(text.range(ofLine: number) == start..<start + length, comment)
    start += length + 1
  }
  for line in outside(lines.count - 1) { #expect(text.range(ofLine: line) == nil, comment) }
  for unit in [TextUnit.utf8, .utf16, .utf32] { expectColumns(text, oracle, unit, comment) }
}

private func expectColumns(
  _ text: ReplicatingText, _ oracle: Oracle, _ unit: TextUnit, _ comment: Comment
) {
  // Every position that exists: its offset.
  var offsets: [[Int: Int]] = []
  var start = 0
  for place in oracle.places {
    if place.line == offsets.count {
      offsets.append([:])
      start = Oracle.amount(place, unit)
    }
    let column = Oracle.amount(place, unit) - start
    offsets[place.line][column] = place.utf8
    let found = text.lineAndColumn(of: place.utf8, unit)
    #expect(found?.line == place.line && found?.column == column, comment)
  }
  for line in outside(offsets.count - 1) + Array(0..<offsets.count) {
    let columns = offsets.indices.contains(line) ? offsets[line] : [:]
    let end = columns.keys.max() ?? 0
    for column in outside(end) + Array(0...end) {
      #expect(
        text.offset(line: line, column: column, unit) == columns[column],
        "line \(line), column \(column), \(unit), \(comment)")
    }
  }
  for offset in outside(oracle.utf8.count) {
    #expect(text.lineAndColumn(of: offset, unit) == nil, comment)
  }
}

/// One person's text, and where this person types.
private struct Typist {
  var text: ReplicatingText
  let author: Author
  var caret = 0

  init(_ number: UInt64, _ sizes: PieceNodes.Sizes) {
    text = ReplicatingText()
    text.bytes = ReplicatingArray(nodeSizes: sizes)
    author = Author(number)
  }

  mutating func insert(_ string: String) {
    let utf8 = Array(string.utf8)
    text.insert(utf8.span, at: caret, by: &author.replica)
    caret += utf8.count
  }

  /// Places between scalars.
  func places() -> [Int] {
    let utf8 = text.utf8
    return (0...utf8.count).filter { $0 == utf8.count || utf8[$0] & 0xC0 != 0x80 }
  }

  /// Removes the scalar behind the caret, or before it.
  mutating func removeScalar(isBackward: Bool) {
    let places = places()
    if isBackward, let start = places.last(where: { $0 < caret }) {
      text.remove(start..<caret, by: &author.replica)
      caret = start
    } else if !isBackward, let end = places.first(where: { $0 > caret }) {
      text.remove(caret..<end, by: &author.replica)
    }
  }

  mutating func edit(_ generator: inout SplitMix64) {
    caret = text.isBoundary(caret) && generator.chance(60) ? caret : generator.pick(places())
    switch generator.below(8) {
    case 0...2: for _ in 0...generator.below(4) { insert(generator.pick(["a", "b", " ", "\n"])) }
    case 3, 4: insert((0...generator.below(5)).map { _ in generator.pick(words) }.joined())
    case 5: for _ in 0...generator.below(5) { removeScalar(isBackward: true) }
    case 6: for _ in 0...generator.below(5) { removeScalar(isBackward: false) }
    default:
      let end = places().filter { $0 >= caret }.prefix(8).randomElement(using: &generator)!
      text.remove(caret..<end, by: &author.replica)
    }
  }
}

extension ReplicatingText {
  fileprivate func isBoundary(_ offset: Int) -> Bool {
    convert(offset, from: .utf8, to: .utf8) != nil
  }
}

@Suite struct `Positions in a text` {
  @Test func `are what counting by hand says, in all units, in random histories`() {
    var typing = 0
    var removing = 0
    for seed in seeds(25) {
      var generator = SplitMix64(seed: seed)
      // Tiny nodes, so that splits happen, in the midst of scalars too; real ones in every fourth history.
      let sizes = [
        PieceNodes.Sizes(leaf: 4, block: 2, piece: 3),
        PieceNodes.Sizes(leaf: 4, block: 4, piece: 5),
        PieceNodes.Sizes(leaf: 6, block: 3, piece: 7), PieceNodes.Sizes(),
      ]
      var people = (1...UInt64(2 + generator.below(3))).map { Typist($0, sizes[Int(seed % 4)]) }
      for step in 0..<30 {
        let one = generator.below(people.count)
        if generator.chance(25) {
          people[one].text.merge(people[generator.below(people.count)].text)
        } else {
          people[one].edit(&generator)
        }
        let text = people[one].text
        typing += text.bytes.open.typedCount == 0 ? 0 : 1
        removing += text.bytes.open.removedFrom < 0 ? 0 : 1
        // A question that entered what is open would find nothing open the next time.
        expectPlaces(text, text.string, at(seed, step))
        let places = people[one].places()
        let (start, end) = (generator.pick(places), generator.pick(places))
        let range = min(start, end)..<max(start, end)
        #expect(text.utf8(in: range) == Array(text.utf8[range]), at(seed, step))
        text.checkInvariants()
      }
      for one in people.indices { for other in people { people[one].text.merge(other.text) } }
      for one in people { expectPlaces(one.text, people[0].text.string, at(seed)) }
    }
    #expect(typing > 50 && removing > 50, "\(typing) states of typing, \(removing) of removing")
  }

  @Test func `of an empty text are its beginning`() {
    expectPlaces(ReplicatingText(), "", "empty")
    #expect(ReplicatingText().utf8(in: 0..<0) == [])
    var typist = Typist(1, PieceNodes.Sizes())
    typist.insert("a😀\n")
    for _ in 0..<3 { typist.removeScalar(isBackward: true) }
    expectPlaces(typist.text, "", "emptied")
  }

  @Test(arguments: ["one by one", "at once"])
  func `in the midst of typing and deleting count what is not entered yet`(how: String) {
    var typist = Typist(1, PieceNodes.Sizes())
    typist.insert("é\n😀.\nend\n")
    typist.caret = 8
    for part in how == "at once" ? ["ab\ncd"] : ["a", "b", "\n", "c", "d"] { typist.insert(part) }
    expectPlaces(typist.text, "é\n😀.ab\ncd\nend\n", "typed \(how)")
    #expect(typist.text.utf8(in: 7..<14) == Array(".ab\ncd\n".utf8))
    #expect(typist.text.utf8(in: 9..<11) == Array("b\n".utf8))
    for _ in 0..<4 { typist.removeScalar(isBackward: true) }
    expectPlaces(typist.text, "é\n😀.a\nend\n", "deleted after it was typed \(how)")
    for _ in 0..<3 { typist.removeScalar(isBackward: false) }
    expectPlaces(typist.text, "é\n😀.ad\n", "deleted forwards after it was typed \(how)")
  }

  @Test func `of parts outside the text are refused`() {
    var typist = Typist(1, PieceNodes.Sizes())
    typist.insert("aé😀\nb")
    let text = typist.text
    for range in [0..<10, -1..<3, 10..<10, -5 ..< -1, 0..<Int.max, Int.min..<0] {
      #expect(text.utf8(in: range) == nil)
    }
    #expect(text.utf8(in: 9..<9) == [])
    #expect(text.utf8(in: 1..<3) == Array("é".utf8))
    #expect(text.convert(4, from: .utf16, to: .utf8) == 7)
    #expect(text.convert(3, from: .utf16, to: .utf8) == nil)
    #expect(text.convert(2, from: .utf8, to: .utf32) == nil)
  }

  /// Pieces of the size they have in use, so that more is counted than fits a byte.
  @Test func `in long pieces are what counting by hand says`() {
    for unit in ["\n", "😀", "é", "a", "x\n", "😀😀é\r\n"] {
      var typist = Typist(1, PieceNodes.Sizes())
      let string = String(repeating: unit, count: 6_000)
      typist.insert(string)
      let oracle = Oracle(string)
      for place in stride(from: 0, to: oracle.places.count, by: 97) {
        let expected = oracle.places[place]
        for from in [TextUnit.utf8, .utf16, .utf32] {
          for to in TextUnit.allCases {
            #expect(
              typist.text.convert(Oracle.amount(expected, from), from: from, to: to)
                == Oracle.amount(expected, to))
          }
        }
      }
      let starts = oracle.table(.line)
      for line in stride(from: 0, through: oracle.count(of: .line), by: 89) {
        #expect(typist.text.convert(line, from: .line, to: .utf8) == starts[line]?.utf8)
      }
    }
  }
}
