internal import NoteStore

/// A deadline that comes again and again after an interval.
struct PeriodicTimer {
  let interval: Duration
  /// The next deadline; nil while the timer is stopped.
  private(set) var due: Instant?

  init(every interval: Duration) { self.interval = interval }

  /// Returns true if the deadline has come. The first one is an interval after the first call.
  mutating func isDue(at now: Instant) -> Bool {
    let isDue = due.map { now >= $0 } ?? false
    if isDue || due == nil { due = now + interval }
    return isDue
  }

  /// Forgets the deadline; the next call of `isDue` starts the timer again.
  mutating func stop() { due = nil }
}
