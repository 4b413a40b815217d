internal import NoteStore

/// The times at which exchanges with the peers of the schedule are due. The caller passes the time; no clock is read here.
///
/// - The first exchange is due at once.
/// - After one that succeeded, the next is due an interval after its beginning, and no sooner than half an interval after its end.
/// - After a failure the time counts from the end: 1, 2, 4 seconds, at most the interval; then twice the interval, and twice as long
///   after each further failure, up to the longer of ten minutes and the interval.
/// - After the end of a link that stood, the next exchange is due in a quarter of a second. If that comes to nothing, or its link does not last, the
///   time is twice as long each time, up to a minute; after a sleep of the machine, or a change of its network, none. The same holds for a peer that was
///   not reached yet, and may be one that a link can be kept with.
///
/// The end of an exchange counts from the first call of `takeDue` after it.
struct PeerSchedule {
  private struct Entry {
    let peer: String
    /// The beginning of the last exchange; nil before the first.
    var began: Instant?
    /// The time of the next one; nil before the first, and from the beginning of one until `takeDue` finds that it has ended.
    var due: Instant?
    /// Failures in a row.
    var failures = 0
    /// True if an exchange was completed before the first one of the schedule.
    var isReached = false
    /// False if the last exchange that was completed could have left a link, and has left none; true before the first.
    var isLinked = false
    /// True if the last exchange has left a link, and its end was not looked at yet.
    var hasStood = false
    /// The exchanges in a row, since a link that lasted, that have left none, or one that did not last.
    var attempts = 0

    /// Ends a row of failures; true if the user knows of it.
    mutating func noteReached() -> Bool {
      defer { failures = 0 }
      return failures > PeerSchedule.quietRetries
    }
  }

  /// After this many failures in a row at most, an exchange is retried soon and without a message: most failures pass by themselves.
  static let quietRetries = 3
  private static let longestBackOff = Duration.seconds(600)
  private static let firstLinkRetry = Duration.milliseconds(250)
  private static let longestLinkRetry = Duration.seconds(60)
  /// A link that stood for so long has lasted.
  private static let lasting = Duration.seconds(2)

  private let interval: Duration
  /// One for each peer, in the order of the user.
  private var entries: [Entry] = []

  /// - Parameters:
  ///   - peers: addresses as the user gave them; one that is named twice counts once.
  ///   - interval: the time from the beginning of one exchange to the beginning of the next.
  init(_ peers: [String], every interval: Duration) {
    self.interval = interval
    for peer in peers where index(of: peer) == nil {
      entries.append(Entry(peer: peer, isLinked: !PeerAddress.isStore(peer)))
    }
  }

  /// Adds a peer with which an exchange has just been completed.
  mutating func insert(_ peer: String) {
    if index(of: peer) == nil { entries.append(Entry(peer: peer, isReached: true)) }
  }

  mutating func remove(_ peer: String) { entries.removeAll { $0.peer == peer } }

  private func index(of peer: String) -> Int? { entries.firstIndex { $0.peer == peer } }

  /// Takes the peers whose exchange is due. The schedule counts them as begun.
  ///
  /// - Parameter isBusy: true for a peer with which an exchange is under way. Until it has ended no other is due.
  /// - Returns: the peers that are due, in order, and the time of the next one; nil if that depends on exchanges under way.
  mutating func takeDue(
    at now: Instant, unless isBusy: (_ peer: String) -> Bool
  ) -> (due: [String], next: Instant?) {
    var (peers, next): ([String], Instant?) = ([], nil)
    for index in entries.indices where !isBusy(entries[index].peer) {
      let due = entries[index].due ?? self.due(after: &entries[index], at: now)
      if due > now {
        entries[index].due = due
        next = min(next ?? due, due)
      } else {
        (entries[index].began, entries[index].due) = (now, nil)
        peers.append(entries[index].peer)
      }
    }
    return (peers, next)
  }

  /// The time of the next exchange, if the last one has just ended.
  private func due(after entry: inout Entry, at now: Instant) -> Instant {
    guard let began = entry.began else {
      defer { entry.isReached = false }
      return entry.isReached && !entry.isLinked ? now + interval : now
    }
    if entry.isLinked {
      let hasLasted = entry.hasStood && now - began >= Self.lasting
      entry.attempts = hasLasted ? 0 : min(entry.attempts + 1, 16)
      entry.hasStood = false
      return now + min(Self.firstLinkRetry * (1 << entry.attempts), Self.longestLinkRetry)
    }
    let failures = entry.failures
    if failures == 0 { return max(now + interval / 2, began + interval) }
    if failures <= Self.quietRetries { return now + min(.seconds(1 << (failures - 1)), interval) }
    let longest = max(interval, Self.longestBackOff)
    return now + min(interval * (1 << min(failures - Self.quietRetries, 16)), longest)
  }

  /// Notes that an exchange with a peer was completed and has left no link.
  ///
  /// - Parameter mayLink: whether it would have left one with a peer that can be followed.
  /// - Returns: true if the user is to be told that the peer can be reached again, after `failed` has returned true.
  mutating func succeeded(_ peer: String, mayLink: Bool) -> Bool {
    guard let index = index(of: peer) else { return false }
    if mayLink { entries[index].isLinked = false }
    return entries[index].noteReached()
  }

  /// Notes that the exchange with a peer that was completed last has left a link. Whether it is of any use is seen when it has lasted.
  mutating func stands(_ peer: String) {
    guard let index = index(of: peer) else { return }
    (entries[index].isLinked, entries[index].hasStood) = (true, true)
  }

  /// The time at which the link to a peer, which stands, has lasted; nil if it is not the first after a failure.
  func lasting(of peer: String) -> Instant? {
    guard let index = index(of: peer), entries[index].failures > 0 else { return nil }
    return entries[index].began.map { $0 + Self.lasting }
  }

  /// Notes that the link to a peer has lasted.
  ///
  /// - Returns: true if the user is to be told that the peer can be reached again, after `failed` has returned true.
  mutating func lasted(_ peer: String) -> Bool {
    index(of: peer).map { entries[$0].noteReached() } ?? false
  }

  /// True if an exchange waits for a link to come back.
  var awaitsNetwork: Bool { entries.contains { $0.isLinked && $0.due != nil } }

  /// Makes the exchanges due at once that wait for a link to come back.
  mutating func wake() {
    for index in entries.indices where entries[index].isLinked && entries[index].due != nil {
      (entries[index].began, entries[index].due, entries[index].attempts) = (nil, nil, 0)
    }
  }

  /// Notes that an exchange with a peer has failed, or that its link has ended.
  ///
  /// - Returns: true if the user is to be told: once, until the peer has been reached again.
  mutating func failed(_ peer: String) -> Bool {
    guard let index = index(of: peer) else { return false }
    entries[index].failures += 1
    return entries[index].failures == Self.quietRetries + 1
  }
}
