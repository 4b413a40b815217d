/// Decides when the data that was written is put on disk.
///
/// Changes that come within `delay` share one `fdatasync`. After a failure of the disk the attempts are `firstRetry` apart at first,
/// and twice as far each time, up to `lastRetry`: each attempt writes a copy of everything that is in doubt.
struct FlushTimer {
  static let delay = Duration.milliseconds(20)
  static let firstRetry = Duration.seconds(1)
  static let lastRetry = Duration.seconds(60)

  enum State {
    /// Everything that was written is on disk.
    case durable
    /// Something was written that is not on disk.
    case waiting
    /// The disk has failed on something that was written.
    case inDoubt
  }

  /// The next attempt; nil while there is nothing to put on disk, and while an answer of the disk is awaited.
  private(set) var due: ContinuousClock.Instant?
  private var retryDelay = Self.firstRetry

  /// Returns true if the disk is to be asked now.
  mutating func isDue(_ state: State, at now: ContinuousClock.Instant) -> Bool {
    switch state {
    case .durable:
      (due, retryDelay) = (nil, Self.firstRetry)
      return false
    case .waiting:
      // No later than `delay` from now, even if a retry was due later.
      let due = min(due ?? now + Self.delay, now + Self.delay)
      self.due = now < due ? due : nil
      return now >= due
    case .inDoubt:
      let due = due ?? now + retryDelay
      self.due = due
      if now < due { return false }
      retryDelay = min(retryDelay * 2, Self.lastRetry)
      // The attempt may fail before it reaches the disk, which then gives no answer that would arm the timer again.
      self.due = now + retryDelay
      return true
    }
  }
}
