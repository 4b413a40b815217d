internal import NoteStore

/// Decides when a slice of background work is done: whenever there is nothing else to do, and otherwise a pause after the end of the
/// slice before.
struct WorkTimer {
  /// The reason for which work may not wait, or may, while there is something else to do.
  enum Urgency {
    /// Others' changes are to be seen, or memory grows.
    case urgent
    /// Somebody waits for it, or others' changes may.
    case awaited
    /// Nobody waits: archiving, folding, indexing. It gets a tenth of the time.
    case upkeep
  }

  static let interval = Duration.milliseconds(20)
  /// The pause before a slice of what is urgent.
  static let urgentInterval = Duration.milliseconds(1)
  /// The longest pause before a slice of upkeep, however long the one before has taken.
  static let upkeepInterval = Duration.milliseconds(250)

  /// The beginning of the last slice that was due.
  private var beginning: Instant?
  /// The end of the last slice, and the pause behind it if what comes next is upkeep.
  private var last: (end: Instant, upkeepPause: Duration)?
  /// True if a slice was done whose end is not known yet: it is the time of the next call.
  private var isEnding = false

  /// Returns true if a slice is to be done now, if there is work.
  ///
  /// - Parameters:
  ///   - urgency: of the work that there is now. What comes after a slice of upkeep may be more urgent than that.
  ///   - isIdle: true if there is nothing else to do.
  mutating func isDue(_ urgency: Urgency, isIdle: Bool, at now: Instant) -> Bool {
    if isEnding, let beginning {
      let length = now - beginning
      last = (now, min(max(Self.interval, length * 9), Self.upkeepInterval))
      isEnding = false
    }
    let isDue = isIdle || last.map { now >= $0.end + pause(urgency, $0.upkeepPause) } ?? true
    if isDue { beginning = now }
    return isDue
  }

  private func pause(_ urgency: Urgency, _ upkeepPause: Duration) -> Duration {
    switch urgency {
    case .urgent: Self.urgentInterval
    case .awaited: Self.interval
    case .upkeep: upkeepPause
    }
  }

  /// Notes that a slice was done.
  mutating func didWork() { isEnding = true }
}
