/// Decides when a slice of background work is done: whenever there is nothing else to do, and otherwise a pause after the end of the
/// slice before.
struct WorkTimer {
  /// How long the rest of the work may wait while there is something else to do.
  enum Urgency {
    /// Others' changes are to be seen, or memory grows.
    case urgent
    /// A client waits for its answer.
    case awaited
    /// Nobody waits: archiving, folding, indexing. It gets a tenth of the time.
    case upkeep
  }

  static let interval = Duration.milliseconds(20)
  /// The pause after a slice of what is urgent.
  static let urgentInterval = Duration.milliseconds(1)
  /// The longest pause after a slice of upkeep, however long it has taken.
  static let upkeepInterval = Duration.milliseconds(250)

  private var due: ContinuousClock.Instant?
  /// The beginning of the last slice that was due.
  private var beginning: ContinuousClock.Instant?
  /// The urgency of the rest of the work after a slice whose end is not known yet: it is the time of the next call.
  private var urgency: Urgency?

  /// Returns true if a slice is to be done now, if there is work.
  ///
  /// - Parameter isIdle: whether there is nothing else to do.
  mutating func isDue(isIdle: Bool, at now: ContinuousClock.Instant) -> Bool {
    if let urgency, let beginning {
      let pause =
        switch urgency {
        case .urgent: Self.urgentInterval
        case .awaited: Self.interval
        case .upkeep: min(max(Self.interval, (now - beginning) * 9), Self.upkeepInterval)
        }
      due = now + pause
      self.urgency = nil
    }
    let isDue = isIdle || due.map { now >= $0 } ?? true
    if isDue { beginning = now }
    return isDue
  }

  /// Notes that a slice was done, and how urgent the rest is.
  mutating func didWork(_ urgency: Urgency) { self.urgency = urgency }
}
