/// Decides when a slice of background work is done: whenever there is nothing else to do, and otherwise `interval` after the end
/// of the slice before.
struct WorkTimer {
  static let interval = Duration.milliseconds(20)
  /// The same for work that is urgent.
  static let urgentInterval = Duration.milliseconds(1)

  private var due: ContinuousClock.Instant?
  /// The interval after a slice whose end is not known yet: it is the time of the next call.
  private var pause: Duration?

  /// Returns true if a slice is to be done now, if there is work.
  ///
  /// - Parameter isIdle: whether there is nothing else to do.
  mutating func isDue(isIdle: Bool, at now: ContinuousClock.Instant) -> Bool {
    if let pause {
      due = now + pause
      self.pause = nil
    }
    return isIdle || due.map { now >= $0 } ?? true
  }

  /// Notes that a slice was done.
  mutating func didWork(isUrgent: Bool) {
    pause = isUrgent ? Self.urgentInterval : Self.interval
  }
}
