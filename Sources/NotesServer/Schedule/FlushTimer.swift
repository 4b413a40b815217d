internal import NoteStore

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
  private(set) var due: Instant?
  /// The next attempt at what the disk has refused. It stays while a change or a copy is on its way: what is new never makes
  /// the refused data be written again sooner, nor later.
  private var retry: Instant?
  private var retryDelay = Self.firstRetry
  private var last = State.durable

  /// Returns true if the disk is to be asked now.
  mutating func isDue(_ state: State, at now: Instant) -> Bool {
    defer { last = state }
    switch state {
    case .durable:
      (due, retry, retryDelay) = (nil, nil, Self.firstRetry)
      return false
    case .waiting:
      let due = last == .waiting ? due ?? now + Self.delay : now + Self.delay
      self.due = now < due ? due : nil
      return now >= due
    case .inDoubt:
      let due = retry ?? now + retryDelay
      (self.due, retry) = (due, due)
      if now < due { return false }
      retryDelay = min(retryDelay * 2, Self.lastRetry)
      // The attempt may fail before it reaches the disk, which then gives no answer that would arm the timer again.
      retry = now + retryDelay
      self.due = retry
      return true
    }
  }
}
