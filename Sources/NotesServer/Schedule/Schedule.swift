internal import NoteStore

/// The deadlines of everything that the server does by itself.
///
/// It reads no clock. `NotesServer.advance(to:isIdle:)` is called with the time, and has to be called again at `deadline`.
struct Schedule {
  /// The deadlines that other parts have: cursors of participants, exchanges with peers and links to them, the open segment and the mirror, as of the last call of
  /// `advance`.
  var presence, exchanges, links, follower, seal, mirror: Instant?
  var flush = FlushTimer()
  var rescan = RescanTimer()
  var work = WorkTimer()
  /// True if there was background work at the last call of `advance`.
  var hasWork = false
  /// The check whether a disk that refused a change takes it now; stopped while none is refused.
  var refusal = PeriodicTimer(every: .seconds(2))
  /// True from the refusal of a change until the client is told that changes can be saved again.
  var isRefused = false
  /// The check whether the client's process still runs.
  var parent = PeriodicTimer(every: .seconds(5))
  /// The bytes that the store had released when memory was given back to the system last.
  var returnedMemory = 0
  /// The time at which the process ends even if the client has not read everything; nil before the client's input has ended.
  var farewell: Instant?

  /// The time from which instants count: that of the first call of `advance`.
  private var beginning: ContinuousClock.Instant?
  /// The time of the last call of `advance`.
  private(set) var now: Instant?
  /// True from the opening of the notebook to the next call of `advance`.
  var isOpening = false
  /// The time that opening the notebook has taken.
  private(set) var openingTime = Duration.zero
  /// The deadline that was right then: nothing else than a sleep of the process lets it pass.
  private(set) var promised: Instant?
  /// True if nothing has happened since. Otherwise the deadlines may be wrong, and `advance` has to be called at once.
  private var isCurrent = false
  /// True if nothing has happened since but changes that the client has made in its texts.
  private(set) var isOnlyTyping = false

  /// A time of the owner's clock as an instant.
  mutating func instant(_ time: ContinuousClock.Instant) -> Instant {
    guard let beginning else {
      beginning = time
      return Instant(.zero)
    }
    return Instant(time - beginning)
  }

  /// An instant as a time of the owner's clock. There is none before the first call of `instant`.
  func time(_ instant: Instant) -> ContinuousClock.Instant { beginning! + instant.sinceBeginning }

  /// The earliest deadline by the owner's clock.
  var nextCall: ContinuousClock.Instant? { deadline.map(time) }

  /// Notes that something happened, which may change a deadline.
  mutating func noteEvent() { isCurrent = false }

  /// Notes that something else has happened than a change that the client has made in a text.
  mutating func noteOther() {
    isCurrent = false
    isOnlyTyping = false
  }

  /// Notes that all deadlines are right as of `now`.
  mutating func didAdvance(to now: Instant) {
    if isOpening {
      openingTime = self.now.map { now - $0 } ?? .zero
      isOpening = false
    }
    self.now = now
    isCurrent = true
    isOnlyTyping = true
    promised = hasWork ? now : earliest
  }

  /// The earliest deadline; a time that has passed if there is something to do at once; nil before the first call of `advance`.
  var deadline: Instant? { isCurrent && !hasWork ? promised : now }

  private var earliest: Instant? {
    var earliest = rescan.due
    func take(_ due: Instant?) {
      if let due { earliest = min(earliest ?? due, due) }
    }
    take(presence)
    take(exchanges)
    take(links)
    take(follower)
    take(seal)
    take(mirror)
    take(flush.due)
    take(refusal.due)
    take(parent.due)
    take(farewell)
    return earliest
  }
}

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
