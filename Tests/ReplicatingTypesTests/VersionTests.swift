import TestSupport
import Testing

@testable import ReplicatingTypes

/// A version, and the same as a dictionary.
private struct Modelled {
  var version = Version()
  var model: [ReplicaID: UInt64] = [:]

  mutating func set(_ replica: ReplicaID, _ number: UInt64) {
    version[replica] = number
    model[replica] = number == 0 ? nil : number
  }

  mutating func insert(_ change: ChangeID) {
    version.insert(change)
    model[change.replica] = max(change.number, model[change.replica] ?? 0)
  }

  func check(_ comment: Comment) {
    let changes = model.map { ChangeID(replica: $0, number: $1) }.sorted()
    #expect(version.changes == changes, comment)
    #expect(version.replicas == changes.map(\.replica), comment)
    #expect(version.count == model.count && version.isEmpty == model.isEmpty, comment)
    // The shape must not tell how a version has come about.
    var again = Version()
    for change in changes.shuffled() { again.insert(change) }
    #expect(version == again && version.hashValue == again.hashValue, comment)
  }
}

@Suite struct `Versions` {
  /// Replicas as they are, as tests name them, and as somebody would choose them who wants a tree to be one long path: the mix of their bits
  /// is the same, and so are most of the bits.
  private static let kinds: [@Sendable (UInt64) -> ReplicaID] = [
    { number in
      var random = SplitMix64(seed: number)
      return ReplicaID(high: random.next(), low: random.next())
    },
    { ReplicaID(high: 0, low: $0) },
    { ReplicaID(high: $0, low: 0) },
    { number in
      func mixed(_ high: UInt64) -> UInt64 {
        let bits = high &* 0x9E37_79B9_7F4A_7C15
        return bits ^ bits >> 32
      }
      return ReplicaID(high: number << 60, low: mixed(number << 60) ^ number >> 4)
    },
  ]

  @Test(arguments: 0..<4)
  func `are what dictionaries are, few or many, however they came about`(kind: Int) {
    for seed in seeds(12) {
      var random = SplitMix64(seed: seed)
      let many = random.pick([5, 12, 40, 300])
      func replica(_ random: inout SplitMix64) -> ReplicaID {
        Self.kinds[kind](UInt64(random.below(many)))
      }
      var all = [Modelled(), Modelled()]
      for step in 0..<150 {
        let place = random.below(all.count)
        switch random.below(20) {
        case 0..<10:
          for _ in 0..<random.below(20) {
            let change = ChangeID(
              replica: replica(&random), number: 1 + UInt64(random.below(9)))
            all[place].insert(change)
          }
        case 10, 11: all[place].set(replica(&random), UInt64(random.below(4)))
        case 12:
          for replica in all[place].version.replicas where random.chance(70) {
            all[place].set(replica, 0)
          }
        case 13, 14:
          if all.count < 8 { all.append(all[place]) } else { all.remove(at: place) }
        case 15, 16, 17:
          let other = random.pick(all)
          all[place].version.merge(other.version)
          all[place].model.merge(other.model, uniquingKeysWith: max)
        default:
          let other = random.pick(all)
          all[place].version = all[place].version.intersection(other.version)
          all[place].model = all[place].model.reduce(into: [:]) { common, entry in
            if let number = other.model[entry.key] { common[entry.key] = min(number, entry.value) }
          }
        }
        if all.isEmpty { all.append(Modelled()) }
        compare(random.pick(all), random.pick(all), at(seed, step))
      }
      for one in all { one.check(at(seed)) }
    }
  }

  private func compare(_ one: Modelled, _ other: Modelled, _ comment: Comment) {
    one.check(comment)
    var beyond: [ReplicaID: UInt64] = [:]
    let isAll = one.version.allSatisfy(beyond: other.version) {
      beyond[$0.replica] = $0.number
      return true
    }
    let expected = one.model.filter { $0.value > other.model[$0.key] ?? 0 }
    #expect(isAll && beyond == expected, comment)
    #expect(other.version.isSuperset(of: one.version) == expected.isEmpty, comment)
    #expect((one.version == other.version) == (one.model == other.model), comment)
  }

  /// Otherwise the pasts of n changes by n replicas take n² steps and as much memory.
  @Test func `that differ in little are joined and compared without a look at the rest`() {
    func time(_ count: Int) -> Duration {
      var random = SplitMix64(seed: 1)
      var base = Version()
      for _ in 0..<count {
        base.insert(ChangeID(replica: ReplicaID(high: random.next(), low: 0), number: 1))
      }
      var times: [Duration] = []
      for _ in 0..<3 {
        var (left, right) = (base, base)
        times.append(
          processorTime {
            for number in 1...200 as ClosedRange<UInt64> {
              let before = left
              left.insert(ChangeID(replica: ReplicaID(high: number, low: 1), number: number))
              right.insert(ChangeID(replica: ReplicaID(high: number, low: 2), number: number))
              #expect(!left.isSuperset(of: right) && left != right)
              left.merge(right)
              right.merge(left)
              #expect(left.isSuperset(of: right) && left == right)
              #expect(left.intersection(before) == before)
            }
          })
      }
      return times.min()!
    }
    #expect(time(64_000) < time(1_000) * 8)
  }
}
