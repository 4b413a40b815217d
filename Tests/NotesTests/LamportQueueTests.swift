import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `Rows of changes` {
  @Test func `are taken in logical time, whichever they come from`() {
    for seed in UInt64(1)...50 {
      var random = SplitMix64(seed: seed)
      var rows: [[LamportTimestamp]] = (0..<random.below(9)).map { row in
        var times: [LamportTimestamp] = []
        for _ in 0...random.below(20) {
          let count = (times.last?.count ?? 0) + UInt64(random.below(5))
          times.append(LamportTimestamp(count: count, replica: replicaID(UInt64(row))))
        }
        return times
      }
      let all = rows.joined().sorted()
      var taken: [LamportTimestamp] = []
      var order = LamportQueue(rows.map { $0[0] })
      while let row = order.first {
        taken.append(rows[row].removeFirst())
        if let next = rows[row].first { order.moveFirst(to: next) } else { order.removeFirst() }
      }
      #expect(taken == all, "seed \(seed)")
    }
  }
}
