import TestSupport
import Testing

@testable import ReplicatingTypes

/// One edit that only inserts or only deletes: the place that it slides to, held against all places at which it leads to the same text.
@Suite(.computing) struct `Word snapping of one edit` {
  private struct Case {
    let text: [UInt8]
    let edit: Edit<UInt8>
  }

  /// A short text of few letters, and something put into it or taken out, between scalars.
  private static func random(_ random: inout SplitMix64) -> Case {
    let pieces = ["a", "a", "b", " ", " ", "\n", "1", "2", "é", "ß", "👍", "'", "(", ")"]
    func some(_ count: Int) -> [String] { (0..<count).map { _ in random.pick(pieces) } }
    let (before, edited, behind) = (
      some(random.below(8)), some(1 + random.below(4)), some(random.below(8))
    )
    let (head, middle, tail) = (
      Array(before.joined().utf8), Array(edited.joined().utf8), Array(behind.joined().utf8)
    )
    if random.chance(50) {
      return Case(
        text: head + tail, edit: Edit(range: head.count..<head.count, replacement: middle))
    }
    return Case(
      text: head + middle + tail,
      edit: Edit(range: head.count..<head.count + middle.count, replacement: []))
  }

  private static func applied(_ edit: Edit<UInt8>, to text: [UInt8]) -> [UInt8] {
    var text = text
    text.replaceSubrange(edit.range, with: edit.replacement)
    return text
  }

  /// The best of all places at which an edit of the same kind leads to the same text; of equally good ones the last.
  ///
  /// - Parameter reach: by how much it is slid. Nothing is known of what lies beyond, so a place at that distance begins nothing.
  private static func best(_ one: Case, reach: Int = .max) -> Edit<UInt8> {
    let isInsertion = one.edit.range.isEmpty
    let longer = isInsertion ? applied(one.edit, to: one.text) : one.text
    let shorter = isInsertion ? one.text : applied(one.edit, to: one.text)
    let count = longer.count - shorter.count
    let start = one.edit.range.lowerBound
    func isContinuation(_ place: Int) -> Bool {
      place < longer.count && longer[place] & 0xC0 == 0x80
    }
    func isWordByte(_ byte: UInt8) -> Bool {
      byte >= 0x80 || byte == UInt8(ascii: "'")
        || Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
    }
    func score(_ place: Int) -> Int {
      if isContinuation(place) || isContinuation(place + count) { return -1 }
      if place == 0 { return 4 }
      if start - place == reach { return 0 }
      let (before, behind) = (longer[place - 1], longer[place])
      if before == 0x0A { return 4 }
      if before == behind { return 0 }
      if before <= 0x20, behind > 0x20 { return 3 }
      if before > 0x20, behind <= 0x20 { return 2 }
      if Array(")]}".utf8).contains(before) || Array("([{".utf8).contains(behind) { return 2 }
      return isWordByte(before) != isWordByte(behind) ? 1 : 0
    }
    let places = (0...shorter.count).filter {
      abs($0 - start) <= reach && Array(longer[..<$0]) + longer[($0 + count)...] == shorter
    }
    let place = places.max { (score($0), $0) < (score($1), $1) }!
    return isInsertion
      ? Edit(range: place..<place, replacement: Array(longer[place..<place + count]))
      : Edit(range: place..<place + count, replacement: [])
  }

  @Test(arguments: seeds(20))
  func `slides to the best of all places that lead to the same text`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<300 {
      let one = Self.random(&random)
      let slid = WordSnapping(text: one.text).slide([one.edit])
      #expect(slid == [Self.best(one)], at(seed, step))
    }
  }

  @Test(arguments: seeds(20))
  func `slides to the best place in reach in a long run of one letter`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<12 {
      let letter = random.pick(["a", " ", "1", "'", "-"])
      let (head, tail) = (random.below(2) * 1016 + random.below(16), random.below(2) * 1016)
      let before = random.pick(["", "\n", "b", " ", "é"])
      let text = Array((before + String(repeating: letter, count: head + tail) + "b").utf8)
      let place = before.utf8.count + head
      let isInsertion = tail == 0 || random.chance(50)
      let one = Case(
        text: text,
        edit: isInsertion
          ? Edit(range: place..<place, replacement: Array(letter.utf8))
          : Edit(range: place..<place + 1, replacement: []))
      let slid = WordSnapping(text: text).slide([one.edit])
      #expect(slid == [Self.best(one, reach: 1024)], at(seed, step))
    }
  }

  @Test(arguments: seeds(20))
  func `sees nothing beyond the bounds`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<300 {
      let (before, one, behind) = (
        Self.random(&random).text, Self.random(&random), Self.random(&random).text
      )
      let start = before.count
      func moved(_ edit: Edit<UInt8>) -> Edit<UInt8> {
        let range = edit.range.lowerBound + start..<edit.range.upperBound + start
        return Edit(range: range, replacement: edit.replacement)
      }
      let alone = WordSnapping(text: one.text)
      let inside = WordSnapping(
        text: before + one.text + behind, bounds: start..<start + one.text.count)
      #expect(
        inside.settle(moved(one.edit)).undivided == alone.settle(one.edit).map(moved),
        at(seed, step))
      let replacing = Edit(range: one.edit.range, replacement: Self.random(&random).text)
      #expect(
        inside.snap(inside.slide([moved(replacing)]))
          == alone.snap(alone.slide([replacing])).map(moved), at(seed, step))
    }
  }

  @Test(arguments: seeds(20))
  func `is settled as several edits are`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<300 {
      let one = Self.random(&random)
      let snapping = WordSnapping(text: one.text)
      let settled = snapping.settle(one.edit)
      #expect(
        settled.undivided
          == snapping.snap(snapping.slide([one.edit])),
        at(seed, step))
      // The comparison of both texts leads to the same, or to what is left of the edit where both texts begin and end alike.
      let new = Self.applied(one.edit, to: one.text)
      var difference = TextDifference(old: one.text, new: new)
      difference.compare(Hunk(old: one.text.indices, new: new.indices))
      #expect(
        textDifference(from: one.text, to: new).undivided
          == snapping.snap(snapping.slide(difference.edits.joiningNeighbours())),
        at(seed, step))
    }
  }

  @Test func `slides no further than 1,024 bytes`() {
    let text = [UInt8](repeating: 0x61, count: 5000)
    let edit = Edit<UInt8>(range: 2500..<2500, replacement: [0x61])
    let slid = WordSnapping(text: text).slide([edit])
    #expect(slid.count == 1 && abs(slid[0].range.lowerBound - 2500) <= 1024)
  }
}
