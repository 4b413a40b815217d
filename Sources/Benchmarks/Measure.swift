/// The times of several runs of the same, in nanoseconds.
struct Timing {
  var minimum: Double
  var median: Double

  /// The times of runs, of which there must be one. `least` stands for the minimum, if it is given.
  init(_ runs: [Double], least: Double? = nil) {
    let sorted = runs.sorted()
    minimum = least ?? sorted[0]
    median = sorted[sorted.count / 2]
  }

  /// The times of one of so many equal steps.
  func divided(by count: Int) -> Timing {
    Timing(minimum: minimum / Double(count), median: median / Double(count))
  }

  private init(minimum: Double, median: Double) {
    self.minimum = minimum
    self.median = median
  }
}

/// Times `body`: 9 runs and more where it is short, 3 where it takes seconds. Each run starts from what `prepare` makes;
/// neither that nor `check`, which stops the program when a result is wrong, nor the release of results is timed.
func measure<State, Result>(
  prepare: () -> State, body: (inout State) -> Result, check: (State, Result) -> Void
) -> Timing {
  var runs: [Double] = []
  var total = 0.0
  while runs.count < 3 || total < 3e9 && runs.count < 9 || total < 2e8 && runs.count < 25 {
    runs.append(time(prepare: prepare, body: body, check: check))
    total += runs[runs.count - 1]
  }
  return Timing(runs)
}

/// Times two short runs in turns, so many of each. The least is that of the turn in which both together took least, so what else the machine
/// does meets both: the least of each may be of different moments.
func measureInTurns(
  _ count: Int = 250, _ first: () -> Double, _ second: () -> Double
) -> (Timing, Timing) {
  let turns = (0..<count).map { _ in (first(), second()) }
  let least = turns.min { $0.0 + $0.1 < $1.0 + $1.1 }!
  return (
    Timing(turns.map(\.0), least: least.0), Timing(turns.map(\.1), least: least.1)
  )
}

/// Times one run of `body`, in nanoseconds.
func time<State, Result>(
  prepare: () -> State, body: (inout State) -> Result, check: (State, Result) -> Void
) -> Double {
  let clock = ContinuousClock()
  var state = prepare()
  let start = clock.now
  let result = body(&state)
  let elapsed = clock.now - start
  check(state, result)
  let (seconds, attoseconds) = elapsed.components
  return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
}

/// Times `body`, which needs nothing prepared.
func measure<Result>(_ body: () -> Result, check: (Result) -> Void) -> Timing {
  measure(prepare: {}, body: { _ in body() }, check: { check($1) })
}

/// A result that is wrong makes its time worthless: the program ends.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("wrong result: \(what())") }
}

/// A generator of random numbers that gives the same ones everywhere (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// - Parameter seed: equal seeds give equal numbers.
  init(seed: UInt64) { state = seed }

  /// The next 64 random bits.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number from 0 up to but not including `bound`.
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// True once in `n` times.
  mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }
}
