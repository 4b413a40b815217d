// Random tests: the numbers, and the seeds they are run with. A failure names its seed.

import Foundation
package import Testing

/// Random numbers that are the same on every machine and in every run for the same seed (Steele, Lea, Flood, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// A number from 0 to `bound` - 1.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// True in `percent` of a hundred calls.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// One of `choices`, which must not be empty.
  package mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[below(choices.count)]
  }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}

/// The factor by which tests repeat what they do with other seeds: `DECENT_NOTES_SEEDS`, 1 by default.
///
///     DECENT_NOTES_SEEDS=100 swift test
package let seedFactor = max(
  1, ProcessInfo.processInfo.environment["DECENT_NOTES_SEEDS"].flatMap(Int.init) ?? 1)

/// The seeds of a test: `count` of them, times `seedFactor`.
package func seeds(_ count: Int) -> ClosedRange<UInt64> { 1...UInt64(count * seedFactor) }

/// The place of a failure in a random test.
package func at(_ seed: UInt64, _ step: Int? = nil) -> Comment {
  step.map { "seed \(seed), step \($0)" } ?? "seed \(seed)"
}
