import TestSupport
import Testing

@testable import ReplicatingTypes

/// People who write one text. If that is not mixed, no white character is removed and nothing is replaced twice by the same: what is shown is a matter
/// of dividers alone.
private struct DividedHistory {
  var log = SharedLog()
  var writers: [SharedWriter]
  /// The states that the writers showed, one after the other.
  var states: [(version: Version, text: String)] = []
  private let isMixed: Bool
  private var count = 0

  init(seed: UInt64, withdrawing percent: Int = 0, isMixed: Bool = false) {
    self.isMixed = isMixed
    var random = SplitMix64(seed: seed)
    writers = (1...UInt64(2 + random.below(3))).map { SharedWriter($0) }
    let text = random.pick(
      isMixed
        ? ["ab", "a b c", "a b\nc d\n", "- a\n- b\n"]
        : ["a", "ab", "abc", "é", "abcdef", "aéb", "abcdefghij"])
    writers[0].edit([Edit(range: 0..<0, replacement: Array(text.utf8))], &log)
    for index in writers.indices.dropFirst() { pull(index, from: 0, &random) }
    for _ in 0..<(4 + random.below(10)) {
      let index = random.below(writers.count)
      if random.chance(25) {
        pull(index, from: random.below(writers.count), &random)
      } else if random.chance(percent) {
        withdraw(index, &random)
      } else if random.chance(30) {
        type(index, &random)
      } else {
        edit(index, &random)
      }
      if random.chance(10) { try! writers[index].reopen() }
      states.append((writers[index].version, writers[index].text.string))
    }
    for index in writers.indices.shuffled(using: &random) {
      for other in writers.indices.shuffled(using: &random) { pull(index, from: other, &random) }
      states.append((writers[index].version, writers[index].text.string))
    }
  }

  private mutating func pull(_ index: Int, from other: Int, _ random: inout SplitMix64) {
    writers[index].pull(writers[other].version, log) { 1 + random.below(4) }
  }

  private mutating func word(_ random: inout SplitMix64) -> String {
    count += 1
    if isMixed { return random.pick(["x", "y", "x y", "x\ny", "z "]) }
    let first = String(Character(Unicode.Scalar(UInt8(0x40 + count))))
    return first + random.pick(["", "é", "x", "yz"])
  }

  private func divider(_ random: inout SplitMix64) -> [UInt8] {
    Array(random.pick([" ", " ", " ", "\n- ", "\n", "\n• ", ""]).utf8)
  }

  /// A stretch of a text without a tab that was typed.
  private func range(
    of text: [UInt8], _ random: inout SplitMix64, isEmpty: Bool = false
  ) -> Range<Int> {
    let places = (0...text.count).filter { $0 == text.count || text[$0] & 0xC0 != 0x80 }
    let one = random.below(places.count)
    let other =
      isEmpty ? one : min(places.count - 1, one + random.pick([0, 1, 1, 2, 3, places.count]))
    let range = places[one]..<places[other]
    if !isMixed, let tab = text[range].firstIndex(where: { $0 == 0x09 || $0 == 0x0D }) {
      return range.lowerBound..<tab
    }
    return range
  }

  private mutating func edit(_ index: Int, _ random: inout SplitMix64) {
    let text = writers[index].text.utf8
    var edits: [Edit<UInt8>] = []
    for _ in 0...(random.chance(25) ? 1 : 0) {
      let range = range(of: text, &random, isEmpty: random.chance(20))
      let new =
        range.isEmpty || random.chance(75)
        ? random.chance(10) && range.isEmpty ? random.pick(["\t", "\r"]) : word(&random) : ""
      if range.isEmpty, new.isEmpty { continue }
      if let last = edits.last, range.lowerBound <= last.range.upperBound { continue }
      edits.append(
        Edit(range: range, replacement: Array(new.utf8), divider: divider(&random)))
    }
    make(edits, index, text)
  }

  private mutating func make(
    _ edits: [Edit<UInt8>], _ index: Int, _ text: [UInt8], isGoingOn: Bool = false
  ) {
    if edits.isEmpty { return }
    var expected = text
    for edit in edits.reversed() { expected.replaceSubrange(edit.range, with: edit.replacement) }
    writers[index].edit(edits, isGoingOn: isGoingOn, &log)
    #expect(writers[index].text.utf8 == expected)
  }

  /// Replaces something letter by letter, and may delete some of that and type again.
  private mutating func type(_ index: Int, _ random: inout SplitMix64) {
    let range = range(of: writers[index].text.utf8, &random)
    var place = range.lowerBound
    for (step, letter) in word(&random).enumerated() {
      let range = step == 0 ? range : place..<place
      let letter = Array(String(letter).utf8)
      make(
        [Edit(range: range, replacement: letter, divider: divider(&random))], index,
        writers[index].text.utf8, isGoingOn: step > 0)
      place += letter.count
      if random.chance(20) {
        make(
          [Edit(range: place - letter.count..<place, replacement: [])], index,
          writers[index].text.utf8, isGoingOn: true)
        place -= letter.count
      }
      if random.chance(10) { states.append((writers[index].version, writers[index].text.string)) }
    }
  }

  /// Takes changes of anybody back, withdrawals too.
  private mutating func withdraw(_ index: Int, _ random: inout SplitMix64) {
    let known = log.changes.filter { writers[index].version.contains($0.id) }
    let first = random.pick(known).id
    let last = min(writers[index].version[first.replica], first.number + UInt64(random.below(3)))
    writers[index].make(
      [], withdrawing: ChangeRanges([ChangeRanges.Run(first.replica, first.number...last)]), &log)
  }
}

@Suite(.computing) struct `Dividers of replacements` {
  private func check(_ history: DividedHistory, _ seed: UInt64) {
    let oracle = DividerOracle(of: history.log.changes)
    for (step, state) in history.states.enumerated() {
      #expect(state.text == oracle.text(of: state.version), at(seed, step))
    }
    for change in history.log.changes {
      var version = change.past
      version.insert(change.id)
      if change.withdrawn.isEmpty {
        #expect(oracle.text(of: version) == change.text, at(seed))
      }
    }
    let last = history.writers[0]
    last.text.checkInvariants()
    for (step, state) in history.states.enumerated() where step % 3 == 0 {
      #expect(last.string(at: state.version, history.log) == state.text, at(seed, step))
    }
  }

  @Test(arguments: seeds(1_000))
  func `are shown where the description says so, now and for earlier versions`(seed: UInt64) {
    check(DividedHistory(seed: seed), seed)
  }

  @Test(arguments: seeds(1_000))
  func `are shown where the description says so, while changes are taken back`(seed: UInt64) {
    check(DividedHistory(seed: seed, withdrawing: 30), seed)
  }

  /// Where separators are spared, too, and the same is replaced by the same: no oracle here knows all that, but what is shown must not depend
  /// on the way, and is what was typed by who knew all.
  @Test(arguments: seeds(300))
  func `are the same whatever the way, and leave what was typed, beside the other rules`(
    seed: UInt64
  ) {
    let history = DividedHistory(
      seed: seed, withdrawing: seed.isMultiple(of: 2) ? 20 : 0, isMixed: true)
    var random = SplitMix64(seed: seed)
    let last = history.writers[0]
    let states = history.states.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
    for state in states {
      #expect(last.string(at: state.version, history.log) == state.text, at(seed))
    }
    let typed = history.log.changes.map { change in
      var version = change.past
      version.insert(change.id)
      return (version: version, text: change.text)
    }
    for (version, text) in states + typed {
      let reader = SharedWriter(9)
      var parts = [version]
      for _ in 0..<2 { parts.insert(random.pick(typed).version.intersection(version), at: 0) }
      for part in parts { reader.pull(part, history.log) { 1 + random.below(5) } }
      #expect(reader.text.string == text, at(seed))
    }
    last.text.checkInvariants()
  }

  @Test(arguments: DividerOracle.Mistake.allCases)
  func `are not what a description with a mistake says`(mistake: DividerOracle.Mistake) {
    let isNoticed = (UInt64(1)...400).contains { seed in
      let history = DividedHistory(seed: seed, withdrawing: 15)
      let oracle = DividerOracle(of: history.log.changes, mistake: mistake)
      return history.states.contains { $0.text != oracle.text(of: $0.version) }
    }
    #expect(isNoticed)
  }
}
