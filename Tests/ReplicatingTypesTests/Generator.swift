import Foundation
import Testing

/// Random numbers that are the same on every machine and in every run for the same seed (SplitMix64).
struct Generator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A number from 0 to `bound` - 1.
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices.randomElement(using: &self)!
  }
}

/// The seeds of a test: `count` of them, or as many times more as the environment asks for.
///
///     DECENT_NOTES_SEEDS=100 swift test
func seeds(_ count: Int) -> ClosedRange<UInt64> {
  let factor = ProcessInfo.processInfo.environment["DECENT_NOTES_SEEDS"].flatMap(Int.init) ?? 1
  return 1...UInt64(count * max(1, factor))
}

/// What a failure says of where it happened.
func at(_ seed: UInt64, _ step: Int? = nil) -> Comment {
  step.map { "seed \(seed), step \($0)" } ?? "seed \(seed)"
}

/// The processor's time that `body` takes on this thread: what else the machine does has no part in it. For telling a linear
/// cost from a quadratic one; how fast something is, a benchmark tells.
func processorTime(_ body: () throws -> Void) rethrows -> Duration {
  func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
  let start = now()
  try body()
  return now() - start
}
