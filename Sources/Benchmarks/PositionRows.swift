import ReplicatingTypes

/// The cost of finding a line, or an offset in UTF-16, at random: in texts that were written in random order, word by
/// word, and in one that was pasted, whose leaves hold most bytes. The floor is to look at the plain bytes up to there.
func positionRows(_ report: inout Report) {
  for (name, length) in [("1k", 1_000), ("100k", 100_000), ("10M", 10_000_000)] {
    var random = SeededRandom(seed: 6)
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var prose = Prose()
    let utf8 = prose.text(atLeast: length, &random)
    var cuts = [0]
    for offset in utf8.indices
    where offset - cuts[cuts.count - 1] >= 8 && utf8[offset] & 0xC0 != 0x80 {
      cuts.append(offset)
    }
    let text = scattered(utf8, cuts: cuts, by: &replica, &random)
    rows("\(name) characters", text, utf8, &report)
    if length > 1_000_000 {
      var pasted = ReplicatingText()
      pasted.insert(utf8.span, at: 0, by: &replica)
      rows("\(name) characters pasted", pasted, utf8, &report)
    }
  }
}

private func rows(
  _ name: String, _ text: ReplicatingText, _ utf8: [UInt8], _ report: inout Report
) {
  var random = SeededRandom(seed: 7)
  let lines = (0..<2_000).map { _ in random.below(text.count(of: .line)) }
  let units = (0..<2_000).map { _ in random.below(text.count(of: .utf16) + 1) }
  // The floor looks at half the text for each.
  let few = utf8.count > 1_000_000 ? 20 : utf8.count > 10_000 ? 200 : 2_000

  func row(
    _ what: String, _ places: [Int], from unit: TextUnit,
    floor: @escaping (Int) -> Int?
  ) {
    let floors = measure {
      places.prefix(few).map(floor)
    } check: { _ in
    }
    let ours = measure {
      places.map { text.convert($0, from: unit, to: .utf8) }
    } check: {
      expect(Array($0.prefix(few)) == places.prefix(few).map(floor), "\(what), \(name)")
    }
    report.add(
      Row(
        "positions", "\(what), \(name)", ours.divided(by: places.count), .microseconds,
        floor: floors.divided(by: few)))
  }
  row("line to offset", lines, from: .line) { start(ofLine: $0, in: utf8) }
  row("UTF-16 to offset", units, from: .utf16) { offset(ofUTF16: $0, in: utf8) }
}

private func start(ofLine line: Int, in utf8: [UInt8]) -> Int? {
  if line == 0 { return 0 }
  var rest = line
  var offset = 0
  while offset < utf8.count {
    let byte = utf8[offset]
    offset &+= 1
    if byte == 0x0A {
      rest &-= 1
      if rest == 0 { return offset }
    }
  }
  return nil
}

private func offset(ofUTF16 place: Int, in utf8: [UInt8]) -> Int? {
  var units = 0
  var offset = 0
  while units < place, offset < utf8.count {
    let byte = utf8[offset]
    units &+= byte < 0xF0 ? 1 : 2
    offset &+= byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
  }
  return units == place ? offset : nil
}
