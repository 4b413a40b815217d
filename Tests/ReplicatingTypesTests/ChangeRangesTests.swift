import TestSupport
import Testing

@testable import ReplicatingTypes

/// Against sets of changes.
@Suite struct `Ranges of changes` {
  private func changes(_ ranges: ChangeRanges) -> Set<ChangeID> {
    Set(
      ranges.runs.flatMap { run in
        run.numbers.map { ChangeID(replica: run.replica, number: $0) }
      })
  }

  /// In order, of each replica no two that touch: so equal sets are equal values.
  private func checkRuns(_ ranges: ChangeRanges, _ comment: Comment) {
    for (run, next) in zip(ranges.runs, ranges.runs.dropFirst()) {
      #expect(run.last < next.first, comment)
      #expect(
        run.replica != next.replica || run.numbers.upperBound + 1 < next.numbers.lowerBound, comment
      )
    }
    #expect(ranges.isEmpty == ranges.runs.isEmpty, comment)
    #expect(
      ranges == ChangeRanges(ranges.runs.shuffled() + ranges.runs.prefix(1)), comment)
  }

  private func someRuns(_ random: inout SplitMix64) -> [ChangeRanges.Run] {
    (0..<random.below(6)).map { _ in
      let first = UInt64(1 + random.below(12))
      return ChangeRanges.Run(
        replicaID(UInt64(1 + random.below(3))), first...first + UInt64(random.below(4)))
    }
  }

  @Test(arguments: seeds(200))
  func `are sets, whatever way they came about`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let (one, other) = (someRuns(&random), someRuns(&random))
    let (a, b) = (ChangeRanges(one), ChangeRanges(other))
    let all = (1...3).flatMap { replica in
      (1...17).map { ChangeID(replica: replicaID(UInt64(replica)), number: UInt64($0)) }
    }
    func isIn(_ runs: [ChangeRanges.Run], _ change: ChangeID) -> Bool {
      runs.contains { $0.replica == change.replica && $0.numbers.contains(change.number) }
    }
    for change in all { #expect(a.contains(change) == isIn(one, change), at(seed)) }
    let (set, otherSet) = (changes(a), changes(b))
    #expect(set == Set(all.filter { isIn(one, $0) }), at(seed))
    #expect(changes(a.union(b)) == set.union(otherSet), at(seed))
    #expect(changes(a.subtracting(b)) == set.subtracting(otherSet), at(seed))
    var version = Version()
    for replica in 1...3 { version[replicaID(UInt64(replica))] = UInt64(random.below(18)) }
    let known = a.intersection(version)
    #expect(changes(known) == set.filter { version.contains($0) }, at(seed))
    for ranges in [a, b, a.union(b), a.subtracting(b), known] { checkRuns(ranges, at(seed)) }
    #expect(a.union(b) == b.union(a) && a.union(a) == a && a.subtracting(a).isEmpty, at(seed))
    // One by one, in any order.
    var inserted = ChangeRanges()
    for change in set.shuffled(using: &random) { inserted.insert(change) }
    #expect(inserted == a, at(seed))
    for change in set { inserted.insert(change) }
    #expect(inserted == a, at(seed))
    for replica in 1...4 {
      let id = replicaID(UInt64(replica))
      #expect(a.hasChanges(of: id) == set.contains { $0.replica == id }, at(seed))
      let (first, last) = (UInt64(1 + random.below(10)), UInt64(10 + random.below(8)))
      let (isMember, end) = a.run(of: id, from: first, to: last)
      for number in first...last {
        let isSame = set.contains(ChangeID(replica: id, number: number)) == isMember
        #expect(number <= end ? isSame : number > end + 1 || !isSame, at(seed))
      }
    }
  }

  /// What comes from outside may name the greatest numbers.
  @Test func `go up to the last number`() {
    let (one, other) = (replicaID(1), replicaID(2))
    let end = ChangeID(replica: one, number: .max)
    let all = ChangeRanges([ChangeRanges.Run(one, 1...(.max)), ChangeRanges.Run(other, 5...(.max))])
    #expect(all.contains(end) && all.contains(ChangeID(replica: one, number: 1)))
    #expect(!all.contains(ChangeID(replica: other, number: 4)))
    #expect(all.union(ChangeRanges(end)) == all)
    var inserted = all
    inserted.insert(ChangeID(replica: other, number: 1))
    inserted.insert(ChangeID(replica: replicaID(3), number: 1))
    #expect(inserted.runs.count == 4)
    #expect(all.intersection(Version()).isEmpty)
    var version = Version()
    version[one] = 3
    #expect(all.intersection(version) == ChangeRanges([ChangeRanges.Run(one, 1...3)]))
  }
}
