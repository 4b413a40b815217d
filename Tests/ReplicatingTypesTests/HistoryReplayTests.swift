import TestSupport
import Testing

@testable import ReplicatingTypes

// The steps of a history are made in a list as far as they can be, and in a tree otherwise. Here both is done, and what comes of it is held
// against each other.

private func edit(
  _ array: inout ReplicatingArray<UInt8>, _ author: Author, _ generator: inout SplitMix64
) {
  var place = generator.below(array.count + 1)
  switch generator.below(5) {
  case 0, 1:
    let step = generator.below(2)
    for _ in 0..<1 + generator.below(6) {
      array.insert(contentsOf: [UInt8(97 + generator.below(26))], at: place, by: &author.replica)
      place += step
    }
  case 2:
    let new = (0..<2 + generator.below(8)).map { _ in UInt8(97 + generator.below(26)) }
    array.insert(contentsOf: new, at: place, by: &author.replica)
  case 3:
    array.remove(place..<min(place + generator.below(9), array.count), by: &author.replica)
  default:
    for _ in 0..<1 + generator.below(4) where place > 0 {
      array.remove(place - 1..<place, by: &author.replica)
      place -= generator.chance(70) ? 1 : 0
      place = min(place, array.count)
    }
  }
}

/// Reads the bytes of a sequence in one of the ways; `isListed` if all steps were made in a list.
private func read(
  _ bytes: [UInt8], byList: Bool
) -> (result: Result<ReplicatingArray<UInt8>, DecodingFailure>, isListed: Bool) {
  var reader = ByteReader(bytes)
  do throws(DecodingFailure) {
    try reader.format(2, of: "a sequence")
    var decoder = HistoryDecoder(try HistoryHead<UInt8>(&reader), byList: byList)
    try decoder.decode(&reader)
    return (.success(decoder.value), decoder.isReplaying)
  } catch {
    return (.failure(error), false)
  }
}

/// Reads in both ways. Returns whether all steps were made in a list.
@discardableResult
private func expectSame(_ bytes: [UInt8], _ comment: Comment) -> Bool {
  let (listed, isListed) = read(bytes, byList: true)
  switch (listed, read(bytes, byList: false).result) {
  case (.success(let a), .success(let b)):
    a.checkInvariants()
    #expect(a == b && a.values == b.values && a.count == b.count, comment)
    #expect(a.version == b.version && a.lamport == b.lamport, comment)
    #expect(a.latest.replicas == b.latest.replicas, comment)
    #expect(a.encoded() == b.encoded(), comment)
    #expect(
      a.changes(since: Version()).encoded() == b.changes(since: Version()).encoded(), comment)
  case (.failure(let a), .failure(let b)):
    #expect(a == b, comment)
  case (let a, let b):
    Issue.record("\(a) by a list, and \(b) by a tree, \(comment)")
  }
  return isListed
}

@Suite struct `Histories made again in a list` {
  @Test func `are what they are in a tree, by one author and by several who take turns`() {
    // Of several authors the encoding has some removals before what was done before them, with notes.
    var turns = 0
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let authors = (1...UInt64(1 + generator.below(3))).map(Author.init)
      var array = ReplicatingArray<UInt8>()
      for step in 0..<200 {
        edit(&array, generator.pick(authors), &generator)
        guard step.isMultiple(of: 50) else { continue }
        let isListed = expectSame(array.encoded(), at(seed, step))
        if authors.count == 1 {
          #expect(isListed, at(seed, step))
        } else if isListed {
          turns += 1
        }
      }
    }
    #expect(turns > 20, "only \(turns) of several authors were made in a list")
  }

  @Test func `are what they are in a tree where authors did not see each other`() throws {
    var unlisted = 0
    for seed in seeds(40) {
      let (states, final, _) = try history(
        ReplicatingArray<UInt8>(), seed: seed, steps: 80, edit)
      for state in states + final.prefix(1) {
        if !expectSame(state.encoded(), at(seed)) { unlisted += 1 }
      }
    }
    #expect(unlisted > 100, "only \(unlisted) have steps that a list does not take")
  }

  @Test func `are refused as in a tree, with the same words`() throws {
    for seed in seeds(20) {
      let steps = seed.isMultiple(of: 2) ? 40 : 0
      var (_, final, generator) = try history(
        ReplicatingArray<UInt8>(), seed: seed, steps: steps, edit)
      let author = Author(90)
      for _ in 0..<40 { edit(&final[0], author, &generator) }
      let bytes = final[0].encoded()
      for step in 0..<200 {
        var damaged = bytes
        for _ in 0...generator.below(2) {
          let place = generator.below(damaged.count)
          damaged[place] = UInt8(generator.below(256))
        }
        expectSame(damaged, at(seed, step))
      }
    }
  }

  @Test func `are refused where an insertion is no later than its neighbours`() {
    for place in [0, -1, -2, -3] {
      for earlier in 0...3 {
        // "abc" by one author, and "d" by another somewhere in it, that much earlier than it was.
        var writer = ByteWriter()
        writer.format(2)
        writer.varint(4)
        writer.varint(2)
        for number: UInt64 in [1, 2] {
          writer.identifier(replicaID(number))
          writer.varint(number == 1 ? 3 : 1)
        }
        writer.counted("abcd".utf8)
        writer.varint(2)
        writer.step(Step(kind: .typed, count: 3), distance: 0)
        writer.note(.author, 1)
        if earlier > 0 { writer.note(.lamport, -earlier) }
        writer.step(Step(kind: .typed, count: 1), distance: place)
        // At the end its neighbour is of time 3, and before "a" of time 1.
        if place == 0, earlier == 1, case .success = read(writer.bytes, byList: true).result {
          Issue.record("taken, though its neighbour is as late")
        }
        expectSame(writer.bytes, "place \(place), \(earlier) earlier")
      }
    }
  }

  @Test func `that are not there get no memory for a list`() throws {
    let author = Author(1)
    var text = ReplicatingArray<UInt8>()
    for place in 0..<200 {
      text.insert(contentsOf: [97], at: place * 7919 % (place + 1), by: &author.replica)
    }
    let bytes = text.encoded()
    func head(_ bytes: [UInt8]) throws -> (isListed: Bool, remaining: Int) {
      var reader = ByteReader(bytes)
      try reader.format(2, of: "a sequence")
      return (try HistoryHead<UInt8>(&reader).areWorthListing, reader.remaining)
    }
    let (isListed, steps) = try head(bytes)
    #expect(isListed)
    #expect(try !head(bytes.dropLast(steps - 10)).isListed)
  }

  @Test func `are as long as they may be, and go on in a tree`() {
    let author = Author(1)
    var array = ReplicatingArray<UInt8>()
    for _ in 0..<20_000 { array.insert(contentsOf: [97, 98], at: 0, by: &author.replica) }
    array.remove(1..<15_000, by: &author.replica)
    array.insert(contentsOf: [99], at: 1, by: &author.replica)
    let isListed = expectSame(array.encoded(), "many runs")
    #expect(!isListed)
  }
}

@Suite struct `Visible runs` {
  @Test func `have elements where an array has them`() {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      var runs = VisibleRuns(size: 4 + generator.below(4), mostBlocks: 1 << 20)
      var all: [UInt32] = []
      var next: UInt32 = 2
      for step in 0..<1_500 {
        let place = generator.below(all.count + 1)
        let count = UInt32(1 + generator.below(5))
        if generator.chance(step < 700 ? 65 : 40) {
          let left = runs.moveToGap(at: place)
          #expect(left == (place == 0 ? 0 : all[place - 1]), at(seed, step))
          // Some go on behind the element before them, and so belong to its run.
          if !generator.chance(50) { next += 1 }
          let first = generator.chance(50) && place == all.count && place > 0 ? left + 1 : next
          runs.insert(first, count)
          all.insert(contentsOf: first..<first + count, at: place)
          next = max(next, first + count)
        } else if place < all.count {
          let isBackward = generator.chance(50)
          let most = isBackward ? UInt32(place + 1) : UInt32(all.count - place)
          let removed =
            isBackward
            ? runs.remove(min(count, most), upTo: place + 1)
            : runs.remove(min(count, most), from: place)
          #expect(removed.count >= 1 && removed.count <= min(count, most), at(seed, step))
          let start = isBackward ? place + 1 - Int(removed.count) : place
          let range = start..<start + Int(removed.count)
          #expect(
            Array(all[range]) == Array(removed.first..<removed.first + removed.count),
            at(seed, step))
          all.removeSubrange(range)
        }
        #expect(runs.count == all.count, at(seed, step))
      }
      for place in all.indices.reversed() {
        let left = runs.moveToGap(at: place + 1)
        #expect(left == all[place], at(seed, place))
      }
    }
  }

  @Test func `are too many at some time`() {
    var runs = VisibleRuns(size: 4, mostBlocks: 3)
    var inserted: UInt32 = 0
    while !runs.isLarge, inserted < 100 {
      _ = runs.moveToGap(at: 0)
      runs.insert(2 + 2 * inserted, 1)
      inserted += 1
    }
    #expect(inserted > 4 && inserted < 16)
  }
}
