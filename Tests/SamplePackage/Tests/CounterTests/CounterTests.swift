import Counter
import ReplicatingTypesTesting
import Testing

@Test func `the counter keeps the laws`() throws {
  try expectLaws(of: Counter()) { counter, replica, generator in
    let before = counter.value
    let amount = Int.random(in: -3...3, using: &generator)
    counter.add(amount, by: &replica)
    #expect(counter.value == before + amount)
  }
}
