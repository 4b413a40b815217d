import ReplicatingTypes

/// An ordered set of 20,000 elements, of which one is moved somewhere else, many times.
///
/// The floor of a move where elements were removed is one where none was.
func orderedRows(_ report: inout Report) {
  var replica = Replica(id: ReplicaID(high: 0, low: 1))
  var order = ReplicatingOrderedSet<Int>()
  for number in 0..<20_000 { order.insert(number, at: number, by: &replica) }
  var floor: Timing?
  for (name, removed) in [
    ("nothing was removed", 0), ("1 was removed", 1), ("10,000 were removed", 9_999),
  ] {
    for number in 0..<removed { order.remove(2 * number + 1, by: &replica) }
    let timing = measureMoves(of: order)
    report.add(
      Row(
        "ordered", "a move in 20,000 slots, \(name)", timing, .microseconds, floor: floor,
        goal: floor == nil ? nil : .floor(1.5)))
    floor = floor ?? timing
  }
}

private func measureMoves(of order: ReplicatingOrderedSet<Int>) -> Timing {
  let count = 1_000
  return measure(
    prepare: { order },
    body: { order in
      var replica = Replica(id: ReplicaID(high: 0, low: 2))
      var random = SeededRandom(seed: 5)
      for _ in 0..<count {
        order.move(2 * random.below(10_000), to: random.below(order.count), by: &replica)
      }
    }, check: { order, _ in expect(order.count > 10_000, "as many as before") }
  ).divided(by: count)
}
