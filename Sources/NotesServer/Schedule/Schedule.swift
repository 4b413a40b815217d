/// The deadlines of everything that the server does by itself.
///
/// There is no clock here. `NotesServer.advance(to:isIdle:)` tells the time; `deadline` is when to tell it again.
struct Schedule {
  /// Cursors of participants, exchanges with peers and the open segment have deadlines of their own, which stand here as they were
  /// told last.
  var presence, exchanges, seal: ContinuousClock.Instant?
  var flush = FlushTimer()
  var rescan = RescanTimer()
  var work = WorkTimer()
  /// True if there was background work when the time was told last.
  var hasWork = false
  /// The check whether a disk that refused a change takes it now; stopped while none is refused.
  var refusal = PeriodicTimer(every: .seconds(2))
  /// True while the client was told that something can't be written, and not yet that it can.
  var isRefused = false
  /// The check whether the client's process still runs.
  var parent = PeriodicTimer(every: .seconds(5))
  /// The bytes that the store had released when memory was given back to the system last.
  var returnedMemory = 0
  /// When the process ends though the client has not read everything; nil as long as the client may say something.
  var farewell: ContinuousClock.Instant?

  /// The time that was told last.
  private(set) var now: ContinuousClock.Instant?
  /// True if nothing has happened since. Otherwise the deadlines may be wrong, and the time is to be told at once.
  private var isCurrent = false

  /// Notes that something happened, which may change a deadline.
  mutating func noteEvent() { isCurrent = false }

  /// Notes that all deadlines are right as of `now`.
  mutating func didAdvance(to now: ContinuousClock.Instant) {
    self.now = now
    isCurrent = true
  }

  /// The earliest deadline; a time that has passed if there is something to do at once, nil if no time was told yet.
  var deadline: ContinuousClock.Instant? {
    if !isCurrent || hasWork { return now }
    var earliest = rescan.due
    for due in [presence, exchanges, seal, flush.due, refusal.due, parent.due, farewell] {
      if let due { earliest = min(earliest ?? due, due) }
    }
    return earliest
  }
}
