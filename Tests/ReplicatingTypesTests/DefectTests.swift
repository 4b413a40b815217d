import TestSupport
import Testing

@testable import ReplicatingTypes

/// What went wrong with the types of the articles, one test each. Defects 1 and 2 are among the tests of the dictionary,
/// those that concern notes among the tests of the notebook.
@Suite struct `Defects of the articles' types` {
  let alice = Author(1)
  let bob = Author(2)
  let carol = Author(3)

  /// The beginning of 2026.
  let now: Int64 = 1_767_225_600_000

  private func text(_ string: String, by author: Author) -> ReplicatingText {
    var text = ReplicatingText()
    text.insert(Array(string.utf8).span, at: 0, by: &author.replica)
    return text
  }

  @Test func `Defect 7: a clock that ran five years ahead once locks nobody out`() throws {
    let fiveYears: Int64 = 157_766_400_000
    var a = ReplicatingRegister("")
    a.assign("from the future", at: now + fiveYears, by: &alice.replica)
    var b = a
    for (day, value) in ["one", "two", "three"].enumerated() {
      let time = now + Int64(day) * 86_400_000
      b.assign(value, at: time, by: &bob.replica)
      try b.merge(a)
      #expect(b.value == value, "a merge reverts it")
      try a.merge(b)
      #expect(a.value == value)
      a.assign(value + " again", at: time, by: &alice.replica)
      try b.merge(a)
      #expect(b.value == value + " again")
    }
  }

  @Test func `Defect 11: typing backwards at one place is not mixed`() {
    for seed in seeds(300) {
      var generator = SplitMix64(seed: seed)
      let ids = [UInt64(1 + generator.below(1000)), UInt64(1001 + generator.below(1000))]
        .shuffled(using: &generator)
      let base = text("[]", by: Author(9999))
      let words = ["alice", "CHARLIE"]
      let texts = words.indices.map { index in
        let author = Author(ids[index])
        var text = base
        for letter in words[index].utf8.reversed() {
          text.insert([letter].span, at: 1, by: &author.replica)
        }
        return text
      }
      let merged = texts[0].merged(with: texts[1])
      #expect(["[aliceCHARLIE]", "[CHARLIEalice]"].contains(merged.string), at(seed))
      #expect(merged == texts[1].merged(with: texts[0]), at(seed))
    }
  }

  @Test func `Defect 12: a busy remover does not beat a concurrent addition`() {
    var a = ReplicatingSet<String>()
    a.insert("home", by: &alice.replica)
    var b = a
    // Bob's logical clock runs far ahead of Alice's.
    for number in 0..<50 { b.insert("\(number)", by: &bob.replica) }
    b.remove("home", by: &bob.replica)
    a.insert("home", by: &alice.replica)
    for result in [a.merged(with: b), b.merged(with: a)] {
      #expect(result.contains("home") && result.count == 51)
    }
    #expect(ReplicatingSet<Int>() == ReplicatingSet<Int>(), "two empty ones are equal")
  }

  @Test func `Defect 14: a hundred thousand letters typed one by one merge`() {
    for isBackward in [false, true] {
      var text = ReplicatingText()
      for step in 0..<100_000 {
        text.insert([97].span, at: isBackward ? 0 : step, by: &alice.replica)
      }
      let merged = ReplicatingText().merged(with: text)
      #expect(merged.count == 100_000)
      #expect(merged.merged(with: text) == text)
    }
  }

  /// Times are compared with each other only.
  @Test func `Defect 14: merging is not quadratic in what was removed`() {
    func time(_ count: Int) -> Duration {
      // Every second letter is removed, each by a change of its own.
      var text = ReplicatingText()
      text.insert([UInt8](repeating: 97, count: count).span, at: 0, by: &alice.replica)
      for place in 0..<count / 2 { text.remove(place..<place + 1, by: &alice.replica) }
      #expect(text.count == count - count / 2)
      return processorTime {
        let merged = ReplicatingText().merged(with: text)
        #expect(merged.count == text.count)
      }
    }
    _ = time(100)
    let small = min(time(2000), time(2000))
    let large = min(time(16_000), time(16_000))
    // Eight times as much; quadratic were 64 times as long.
    #expect(large < small * 32)
  }

  @Test func `Defect 15: what no author can have written is refused, and nothing is lost`() throws {
    var text = self.text("text", by: alice)
    let before = text
    let (first, last) = (
      ElementID(author: replicaID(1), offset: 0), ElementID(author: replicaID(1), offset: 3)
    )
    let wrong: [ReplicatingText.Operation] = [
      // Nothing, and what is no text.
      .insert([], after: nil, before: first),
      .insert([0], after: nil, before: first),
      .insert([0xC3], after: nil, before: first),
      // Neighbours that are missing, and those that stand the other way round.
      .insert([98], after: ElementID(author: replicaID(9), offset: 0), before: nil),
      .insert([98], after: ElementID(author: replicaID(1), offset: 4), before: nil),
      .insert([98], after: ElementID(author: replicaID(1), offset: .max), before: nil),
      .insert([98], after: last, before: first),
      .insert([98], after: first, before: first),
      // Its own element, which a cycle would need.
      .insert([98], after: ElementID(author: replicaID(2), offset: 0), before: nil),
      .remove(ElementRange(author: replicaID(1), offset: 0, count: 0)),
      .remove(ElementRange(author: replicaID(1), offset: 0, count: .max)),
      .remove(ElementRange(author: replicaID(9), offset: 0, count: 1)),
    ]
    for operation in wrong {
      #expect(throws: InvalidChange.self, "\(operation)") {
        try text.validate(operation, by: replicaID(2)) { before.version.contains($0) }
      }
      #expect(text == before)
    }
  }

  @Test func `Defect 16: of two values assigned to one element one stays, and the place with it`()
    throws
  {
    // Elements that are replaced have an identity: the order is of names, and beside it the value of each.
    var order = ReplicatingOrderedSet<Int>()
    for name in 0..<3 { order.insert(name, at: name, by: &carol.replica) }
    typealias Values = ReplicatingDictionary<Int, ReplicatingRegister<String>>
    func assign(_ values: inout Values, _ value: String, _ author: Author) {
      values.update(1, default: ReplicatingRegister(""), by: &author.replica) {
        $0.assign(value, at: now, by: &$1)
      }
    }
    var a = Values()
    assign(&a, "b", carol)
    var b = a
    assign(&a, "x", alice)
    assign(&b, "y", bob)
    for result in try [a.merged(with: b), b.merged(with: a)] {
      #expect(order.values.map { result[$0]?.value } == [nil, "y", nil])
    }
  }

  @Test func `Defect 16: equal times and equal logical times end in one state`() throws {
    for seed in seeds(200) {
      var generator = SplitMix64(seed: seed)
      var values = (0..<3).map { _ in ReplicatingRegister(0) }
      var sets = (0..<3).map { _ in ReplicatingSet<Int>() }
      let authors = (1...3).map { Author($0) }
      for step in 0..<9 {
        // In turns, so that nobody's logical time is ahead.
        let index = step % 3
        values[index].assign(generator.below(9), at: now, by: &authors[index].replica)
        let element = generator.below(2)
        if generator.chance(50) {
          sets[index].insert(element, by: &authors[index].replica)
        } else {
          sets[index].remove(element, by: &authors[index].replica)
        }
        if generator.chance(15) {
          let other = generator.below(3)
          try values[index].merge(values[other])
          sets[index].merge(sets[other])
        }
      }
      let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
      let results = try orders.map { order in
        (
          try values[order[0]].merged(with: values[order[1]]).merged(with: values[order[2]]),
          sets[order[0]].merged(with: sets[order[1]]).merged(with: sets[order[2]])
        )
      }
      for result in results { #expect(result == results[0], at(seed)) }
    }
  }
}
