internal import NoteStore

/// Decides when every file of the notebook is looked at, though no notification told of a change.
///
/// Notifications may get lost everywhere, so the files are looked at every `interval`. Where notifications can't be relied on,
/// they are looked at every `pollInterval`, but not for more than a twentieth of the time: a disk that is far away may take long.
struct RescanTimer {
  static let interval = Duration.seconds(30)
  static let pollInterval = Duration.seconds(1)
  private static let rest = 20

  /// The end of the last look; before the first one, the time of the first call.
  private var last: Instant?
  /// The beginning of a look whose end is not known yet: it is the time of the next call.
  private var began: Instant?
  private var duration = Duration.zero
  /// The time of the next look. While the end of a look is not known, it is a time that has passed, so that the next call comes at
  /// once.
  private(set) var due: Instant?

  /// Returns true if it is time to look.
  ///
  /// - Parameter mustPoll: whether notifications cannot be relied on.
  mutating func isDue(mustPoll: Bool, at now: Instant) -> Bool {
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
