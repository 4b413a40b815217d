import Foundation

/// Random numbers that are the same on every machine and in every run for the same seed (Steele, Lea, Flood, 2014).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// A number from 0 up to but not including `bound`.
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[below(choices.count)]
  }
}

/// The seeds of a test that makes one run a seed: `count`, or as many as `DECENT_NOTES_SEEDS` asks for.
func seeds(_ count: Int) -> [UInt64] {
  let wanted = ProcessInfo.processInfo.environment["DECENT_NOTES_SEEDS"].flatMap { Int($0) }
  return (1...max(count, wanted ?? 0)).map { UInt64($0) }
}
