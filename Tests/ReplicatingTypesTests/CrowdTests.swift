import TestSupport
import Testing

@testable import ReplicatingTypes

/// An operation, and what its author had seen besides its own changes.
private struct MadeOperation {
  var operation: ReplicatingArray<Int>.Operation
  var stamp: Stamp
  var seen: Version
  /// The number of the author's first change with which it had seen the same.
  var since: UInt64

  var awareness: Awareness { Awareness(version: seen, since: since) }

  func isKnown(_ change: ChangeID) -> Bool {
    change.replica == stamp.change.replica
      ? change.number <= stamp.change.number : seen.contains(change)
  }
}

private final class Writer {
  let author: Author
  var array = ReplicatingArray<Int>()
  var seen = Version()
  var since: UInt64 = 1
  var log: [MadeOperation] = []
  var number: UInt64 = 0

  init(_ number: UInt64) { author = Author(number) }

  func make(_ edit: Edit<Int>) {
    for operation in array.operations(for: [edit]) {
      let stamp = author.replica.stamp(after: array.lamport, ticks: 10)
      number += 1
      log.append(MadeOperation(operation: operation, stamp: stamp, seen: seen, since: since))
      array.apply(operation, stamp)
    }
  }

  func pull(_ other: Writer) {
    for made in other.log where made.stamp.change.number > array.version[made.stamp.change.replica]
    {
      take(made)
    }
    seen.merge(other.array.version)
    since = number + 1
  }

  func take(_ made: MadeOperation) {
    array.apply(made.operation, made.stamp)
    log.append(made)
  }
}

@Suite struct `Many insertions at one place` {
  /// What nobody needs to look at again is only a hint: a forged operation is refused as it is by who looks at everything.
  @Test(arguments: seeds(12))
  func `are accepted and refused as when all that stands there is looked at`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let first = Writer(1)
    first.make(Edit(range: 0..<0, replacement: [1, 2, 3, 4]))
    let writers = (2...UInt64(30 + random.below(30))).map { Writer($0) }
    for writer in writers { writer.pull(first) }
    for _ in 0..<150 {
      let writer = random.pick(writers)
      if random.chance(6) {
        let other = random.pick(writers)
        if other !== writer { writer.pull(other) }
        continue
      }
      let count = writer.array.count
      let last = writer.log.last { $0.stamp.change.replica == writer.author.replica.id }
      if random.chance(30), let last, case .insert(let elements, _, _, _) = last.operation,
        let place = writer.array.values.firstIndex(of: elements.last!)
      {
        writer.make(Edit(range: place + 1..<place + 1, replacement: [random.below(1_000_000)]))
      } else {
        let place = random.chance(80) ? min(count, 2) : random.below(count + 1)
        let end = random.chance(10) ? min(count, place + 1) : place
        writer.make(Edit(range: place..<end, replacement: [random.below(1_000_000)]))
      }
    }
    check(first, writers, &random, seed)
  }

  /// More insertions at one place than are passed one by one, in any order, step by step and at once.
  @Test(arguments: seeds(20))
  func `of text go on with the word, then with the line, then with the next line`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let first = Author(1)
    var start = ReplicatingText()
    start.insert("milk\n".utf8.span, at: 0, by: &first.replica)
    let kinds = ["s", " x", "\tx", "\ny", "\r\ny"]
    let texts = (2...UInt64(40 + random.below(40))).map { number in
      let author = Author(number)
      var text = start
      text.insert(Array(random.pick(kinds).utf8).span, at: 4, by: &author.replica)
      return text
    }
    var whole = start
    for text in texts.shuffled(using: &random) { whole.merge(text) }
    let expected = texts.shuffled(using: &random).reduce(start) { $0.merged(with: $1) }
    #expect(whole == expected && whole.string == expected.string, at(seed))
    var loaded = ReplicatingText()
    loaded.join(whole.changes(since: Version()))
    #expect(loaded == whole && loaded.string == whole.string, at(seed))
    #expect((try? ReplicatingText(encoded: whole.encoded()))?.string == whole.string, at(seed))
    let kindsThere = whole.string.dropFirst(4).dropLast().filter { $0 != "x" && $0 != "y" }
    let ranks = kindsThere.map { $0 == "s" ? 0 : $0.isNewline ? 2 : 1 }
    #expect(ranks == ranks.sorted() && ranks.count == texts.count, at(seed))
  }

  private func check(
    _ first: Writer, _ writers: [Writer], _ random: inout SplitMix64, _ seed: UInt64
  ) {
    let reader = Writer(100)
    var refused = 0
    var forgotten = 0
    for writer in ([first] + writers).shuffled(using: &random) {
      // All that a writer knows comes in its order.
      for made in writer.log where !reader.array.version.contains(made.stamp.change) {
        for forged in [nil, random.forged(made, reader.array), random.forged(made, reader.array)] {
          var operation = made
          if let forged { operation.operation = forged }
          let expected = isValid(operation, in: reader, looking: true)
          #expect(isValid(operation, in: reader, looking: false) == expected, at(seed))
          if forged == nil { #expect(expected, at(seed)) }
          refused += expected ? 0 : 1
        }
        try? reader.array.validate(
          made.operation, by: made.stamp.change.replica, made.awareness, isKnown: made.isKnown)
        if !reader.array.siblings.unseenGaps.isEmpty { forgotten += 1 }
        reader.take(made)
      }
    }
    #expect(refused > 10 && forgotten > 10, at(seed))
  }

  private func isValid(_ made: MadeOperation, in reader: Writer, looking: Bool) -> Bool {
    var array = reader.array
    let awareness = looking ? nil : made.awareness
    return
      (try? array.validate(
        made.operation, by: made.stamp.change.replica, awareness, isKnown: made.isKnown)) != nil
  }

  /// 16,000 authors took 2.8 s, because each of them looked at what all others had inserted.
  @Test func `of which none knows another are looked at once`() {
    func time(_ count: UInt64) -> Duration {
      let first = Writer(1)
      first.make(Edit(range: 0..<0, replacement: [1, 2]))
      let made = (2..<count + 2).map { number in
        let writer = Writer(number)
        writer.pull(first)
        writer.make(Edit(range: 1..<1, replacement: [Int(number)]))
        writer.make(Edit(range: 2..<2, replacement: [Int(number)]))
        return writer.log.suffix(2)
      }
      var times: [Duration] = []
      for _ in 0..<3 {
        var array = first.array
        times.append(
          processorTime {
            for made in made.joined() {
              let author = made.stamp.change.replica
              do {
                try array.validate(
                  made.operation, by: author, made.awareness, isKnown: made.isKnown)
              } catch { Issue.record("an honest change is refused, \(error)") }
              array.apply(made.operation, made.stamp)
            }
          })
        #expect(array.count == 2 + 2 * Int(count))
      }
      return times.min()!
    }
    // Looking at all others would take sixteen times as long.
    #expect(time(2_000) < time(500) * 8)
  }
}

extension SplitMix64 {
  /// The same operation with other origins, which are here.
  fileprivate mutating func forged(
    _ made: MadeOperation, _ array: ReplicatingArray<Int>
  ) -> ReplicatingArray<Int>.Operation? {
    let authors = array.authors.filter { $0.count > 0 }
    guard case .insert(let elements, let after, let before, _) = made.operation, !authors.isEmpty
    else { return nil }
    func element(_ original: ElementID?) -> ElementID? {
      if chance(40) { return original }
      let author = pick(authors)
      return ElementID(author: author.id, offset: below(Int(author.count)))
    }
    return .insert(elements, after: element(after), before: element(before))
  }
}
