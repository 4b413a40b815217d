import TestSupport
import Testing

@testable import ReplicatingTypes

/// One process: the only holder of its identity.
final class Author {
  var replica: Replica

  init(_ number: UInt64) { replica = Replica(id: replicaID(number)) }
}

/// Small numbers are replicas of tests; larger ones win ties.
func replicaID(_ number: UInt64) -> ReplicaID { ReplicaID(high: 0, low: number) }

/// Random values of one history: `edit` changes one, and any two are joined now and then.
func history<Value: Replicable>(
  _ empty: Value, seed: UInt64, steps: Int,
  _ edit: (inout Value, Author, inout SplitMix64) -> Void
) throws -> (states: [Value], final: [Value], generator: SplitMix64) {
  var generator = SplitMix64(seed: seed)
  let authors = (1...UInt64(3 + generator.below(2))).map(Author.init)
  var values = authors.map { _ in empty }
  var states = [empty]
  for _ in 0..<steps {
    let index = generator.below(values.count)
    if generator.chance(65) {
      edit(&values[index], authors[index], &generator)
    } else {
      values[index] = try joinedWhole(values[index], generator.pick(values), empty)
    }
    if generator.chance(40) { states.append(values[index]) }
  }
  for _ in 0..<2 {
    for index in values.indices {
      for other in values { values[index] = try joinedWhole(values[index], other, empty) }
    }
  }
  for value in values { #expect(value == values[0], at(seed)) }
  return (states, values, generator)
}

/// A value that is looked through in tests, with all values inside it.
protocol Checked: Replicable {
  func checkAll()
}

extension ReplicatingRegister: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingAddOnlySet: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingSet: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingOrderedSet: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingText: Checked {
  func checkAll() { checkInvariants() }
}

extension ReplicatingDictionary: Checked where Value: Checked {
  func checkAll() {
    checkInvariants()
    for entry in entries.values { entry.value.checkAll() }
  }
}
