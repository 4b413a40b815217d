import ReplicatingTypes

/// The cost of an edit at a random place in texts that were written in random order, word by word, by their lengths.
func randomRows(_ report: inout Report) {
  for (name, length) in [
    ("1k", 1_000), ("10k", 10_000), ("100k", 100_000), ("1M", 1_000_000), ("10M", 10_000_000),
  ] {
    var random = SeededRandom(seed: 4)
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    // Words of eight letters.
    let end = (0..<length / 8 * 8).map { _ in UInt8(97 + random.below(26)) }
    let cuts = Array(stride(from: 0, to: end.count, by: 8))
    var text = scattered(end, cuts: cuts, by: &replica, &random)
    var buffer = GapBuffer(capacity: end.count + 100_000)
    buffer.replace(at: 0, removing: 0, with: end.span)
    let clock = ContinuousClock()
    // The floor moves a third of the text for each edit.
    let count = length > 100_000 ? 500 : 5_000
    var length = end.count
    let rounds = (0..<9).map { _ in
      let edits = RandomEdits(count, in: length, &random)
      length = edits.length
      return edits
    }
    let ours = rounds.map { edits in
      let start = clock.now
      edits.make(in: &text, by: &replica)
      return (clock.now - start) / .nanoseconds(count)
    }
    // One after the other, so that the floor, which touches everything, doesn't empty our caches.
    var floors: [Double] = []
    for edits in rounds {
      let start = clock.now
      edits.make(in: &buffer)
      floors.append((clock.now - start) / .nanoseconds(count))
    }
    expect(text.utf8 == buffer.text, "random edits, \(name)")
    report.add(
      Row(
        "random edits", "\(name) characters, one edit", Timing(ours), .microseconds,
        floor: Timing(floors)))
  }
}

/// A text whose parts, each up to the next of `cuts`, were inserted in random order, so that each is a piece.
func scattered(
  _ end: [UInt8], cuts: [Int], by replica: inout Replica, _ random: inout SeededRandom
) -> ReplicatingText {
  // The bytes before each part that are here already: a Fenwick tree.
  var present = [Int32](repeating: 0, count: cuts.count + 1)
  var text = ReplicatingText()
  for part in cuts.indices.shuffled(using: &random) {
    var before: Int32 = 0
    var index = part
    while index > 0 {
      before += present[index]
      index &= index - 1
    }
    let range = cuts[part]..<(part + 1 < cuts.count ? cuts[part + 1] : end.count)
    index = part + 1
    while index <= cuts.count {
      present[index] += Int32(range.count)
      index += index & -index
    }
    text.insert(end.span.extracting(range), at: Int(before), by: &replica)
  }
  expect(text.utf8 == end, "a text written in random order")
  return text
}
