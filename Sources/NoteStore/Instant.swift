/// A time of a clock that never goes back: nanoseconds since a beginning that only the owner of the clock knows.
///
/// The standard library hides the layout of its instants, so each copy and each comparison of one is a call. Deadlines are compared after
/// every keystroke, and as plain integers they take next to nothing.
public struct Instant: Hashable, Comparable, Sendable {
  private let nanoseconds: Int64

  /// The instant that lies so many nanoseconds behind the beginning.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The instant that lies so long behind the beginning, to the nanosecond; the last possible one for what is longer.
  public init(_ sinceBeginning: Duration) { nanoseconds = sinceBeginning.nanoseconds }

  /// The time between the beginning and the instant.
  public var sinceBeginning: Duration { .nanoseconds(nanoseconds) }

  /// True if the first instant is earlier.
  public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

  /// The instant so long after another; the last possible one where that is too far away.
  public static func + (instant: Self, duration: Duration) -> Self {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return Self(nanoseconds: overflow ? duration < .zero ? .min : .max : sum)
  }

  /// Moves an instant so far on.
  public static func += (instant: inout Self, duration: Duration) { instant = instant + duration }

  /// The instant so long before another.
  public static func - (instant: Self, duration: Duration) -> Self {
    instant + (.zero - duration)
  }

  /// The time from one instant to another; the longest possible one where they are too far apart.
  public static func - (end: Self, start: Self) -> Duration {
    let (length, overflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
    return .nanoseconds(overflow ? end < start ? .min : .max : length)
  }
}

extension Duration {
  /// The length in nanoseconds; the largest possible one where there are too many.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooLong) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || isTooLong ? seconds < 0 ? .min : .max : sum
  }
}
