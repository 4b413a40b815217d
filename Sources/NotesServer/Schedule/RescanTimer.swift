/// When to look at every file of the notebook, though no notification told of a change.
///
/// Notifications are a hint everywhere, hence `interval`. Where they can't be relied on, the files are looked at every
/// `pollInterval`, but not for more than a twentieth of the time: a disk that is far away may take long.
struct RescanTimer {
  static let interval = Duration.seconds(30)
  static let pollInterval = Duration.seconds(1)
  private static let rest = 20

  /// The end of the last look, or the first time that was told.
  private var last: ContinuousClock.Instant?
  /// The beginning of a look whose end is the next time that is told.
  private var began: ContinuousClock.Instant?
  private var duration = Duration.zero
  /// The next look. While the end of one is not known, its beginning: the time is to be told at once.
  private(set) var due: ContinuousClock.Instant?

  /// Returns true if it is time to look.
  ///
  /// - Parameter mustPoll: whether notifications cannot be relied on.
  mutating func isDue(mustPoll: Bool, at now: ContinuousClock.Instant) -> Bool {
    if let began {
      duration = now - began
      last = now
      self.began = nil
    }
    let last = last ?? now
    self.last = last
    let due = last + (mustPoll ? max(Self.pollInterval, duration * Self.rest) : Self.interval)
    self.due = due
    if now < due { return false }
    began = now
    return true
  }
}
