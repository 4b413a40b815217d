import TestSupport
import Testing

@testable import NotesServer

/// Values in places, held against a dictionary.
@Suite struct `Placed values` {
  @Test(arguments: seeds(10))
  func `are those of a dictionary`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var values = SlotMap<Int, [Int]>()
    var expected: [Int: [Int]] = [:]
    for step in 0..<500 {
      let key = random.below(12)
      switch random.below(4) {
      case 0:
        if expected[key] == nil {
          values.insert([step], for: key)
          expected[key] = [step]
        }
      case 1: #expect(values.remove(key) == expected.removeValue(forKey: key), at(seed, step))
      case 2:
        if let place = values.place(of: key) { values[place: place].append(step) }
        expected[key]?.append(step)
      default:
        if expected[key] != nil {
          values[existing: key].append(step)
          expected[key]!.append(step)
        }
      }
      #expect(values.isEmpty == expected.isEmpty, at(seed, step))
      #expect(values.keys.sorted() == expected.keys.sorted(), at(seed, step))
      for key in 0..<12 {
        #expect(values.contains(key) == (expected[key] != nil), at(seed, step))
        #expect(values.place(of: key).map { values[place: $0] } == expected[key], at(seed, step))
        if let value = expected[key] { #expect(values[existing: key] == value, at(seed, step)) }
      }
    }
  }
}
