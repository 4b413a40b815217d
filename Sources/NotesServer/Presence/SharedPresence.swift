internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// The participants in other processes, and the telling of those here: to the other processes that have the notebook
/// open, by files, and to those at the other ends of links.
///
/// A class: it is asked after every keystroke whether there is something to do, and no answer may take a copy of all that it knows.
final class SharedPresence {
  typealias Key = ToldParticipant.Key
  typealias Source = KnownParticipants.Source

  /// Cursors move with each key. Others are told no more often than this.
  static let tellingInterval = Duration.milliseconds(50)
  /// The interval for reading others' files where there are no notifications of changes.
  static let pollInterval = Duration.seconds(1)
  /// The same while participants are shown: one may be gone without a notification.
  static let checkInterval = Duration.seconds(2)
  /// The same while none is shown.
  static let idleInterval = Duration.seconds(30)
  /// The most attachments of which a process tells.
  private static let mostAttachments = 64

  /// The files of the processes that have the notebook open; nil as long as there is no notebook, and where there is no state folder.
  private(set) var folder: PresenceFolder?
  private var isOpened = false
  var known = KnownParticipants()
  /// The name of this process among the others, once it has told of somebody.
  private(set) var process: Identifier?
  /// The participants that each other process was told of.
  private var told: [Source: [Key: ToldParticipant]] = [:]
  /// The moves here and the news from elsewhere with which others were told last, and when they may be told again.
  private var toldMoves = 0
  private var toldNews = 0
  private var nextTelling: Instant?
  /// Those who had no room to be told then.
  private var late: Set<Source> = []
  private var lookDue: Instant?
  /// True if there is something new in the files, and the time of the last reading.
  private var isFolderNew = false
  private var lastReading: Instant?
  /// The news of which the client was told, and when it may be told again.
  private var shownNews = 0
  private var nextShowing: Instant?

  /// Opens the files, as soon as there is a notebook.
  func open(_ store: NoteStore) {
    guard !isOpened, store.identity != nil else { return }
    isOpened = true
    folder = store.openPresence()
    // They are told what is known already.
    toldNews = -1
  }

  // MARK: - Telling

  /// True if others may have to be told something.
  func mayTell(_ moves: Int) -> Bool { hasNews(moves) || !late.isEmpty }

  /// True if others are to be told something new.
  private func hasNews(_ moves: Int) -> Bool { moves != toldMoves || known.news != toldNews }

  /// Begins to tell the other end of a link, of all participants at first.
  func begin(_ source: Source) {
    told[source] = [:]
    toldNews = -1
  }

  /// Forgets the other end of a link, and all that it has told.
  func forget(_ source: Source) {
    told[source] = nil
    late.remove(source)
    known.forget(source)
  }

  /// Tells the others what is new, if it is time.
  ///
  /// - Parameters:
  ///   - moves: the number of moves here.
  ///   - here: the participants here; asked for only if others are told.
  ///   - makeIdentifier: makes the name of this process.
  ///   - hasRoom: whether the other end of a link has read nearly all that it was told. If not, it is told later what is new then.
  ///   - send: sends a content to the other end of a link.
  /// - Returns: when to call it again, if there is something to be told then.
  func tell(
    _ moves: Int, at now: Instant, makeIdentifier: () -> Identifier,
    _ here: (_ process: Identifier) -> [ToldParticipant], hasRoom: (Source) -> Bool,
    _ send: (_ content: [UInt8], _ to: Source) -> Void
  ) -> Instant? {
    if let nextTelling, now < nextTelling { return nextTelling }
    if !hasNews(moves), !late.contains(where: hasRoom) { return now + Self.tellingInterval }
    nextTelling = now + Self.tellingInterval
    (toldMoves, toldNews) = (moves, known.news)
    let process = process ?? makeIdentifier()
    self.process = process
    let here = here(process).prefix(Self.mostAttachments)
    tellFolder(here, as: process)
    late = []
    for source in told.keys {
      guard hasRoom(source) else {
        late.insert(source)
        continue
      }
      var present = relayed(besides: source)
      for participant in here { present[participant.key] = participant }
      let news = Self.news(in: present, since: told[source]!)
      told[source] = present
      for content in ToldParticipant.contents(news) { send(content, source) }
    }
    return late.isEmpty ? nil : nextTelling
  }

  private func tellFolder(_ here: some Sequence<ToldParticipant>, as process: Identifier) {
    guard let folder else { return }
    let all = Array(here) + relayed(besides: .folder).values
    // A file has one content: participants that have no room in it are left out.
    let contents = ToldParticipant.contents(all.sorted { $0.key < $1.key })
    folder.tell(contents.first, as: process)
  }

  /// The participants that others are told of who are not here.
  private func relayed(besides source: Source) -> [Key: ToldParticipant] {
    var all = known.all(besides: source, excluding: process).compactMapValues { participant in
      var participant = participant
      participant.hops += 1
      return participant.hops <= ToldParticipant.mostHops ? participant : nil
    }
    Self.bound(&all)
    return all
  }

  /// Leaves no more participants and selections than are taken from one source, whatever all of them tell together.
  private static func bound(_ participants: inout [Key: ToldParticipant]) {
    guard
      participants.count > ToldParticipant.most
        || participants.values.reduce(0, { $0 + $1.selections.count })
          > ToldParticipant.mostSelections
    else { return }
    var room = ToldParticipant.mostSelections
    for (number, key) in participants.keys.sorted().enumerated() {
      if number < ToldParticipant.most {
        participants[key]!.keepSelections(room)
        room -= participants[key]!.selections.count
      } else {
        participants[key] = nil
      }
    }
  }

  /// The participants that have moved or come since, and those that are gone, without their selections; in order.
  private static func news(
    in present: [Key: ToldParticipant], since told: [Key: ToldParticipant]
  ) -> [ToldParticipant] {
    var news = present.values.filter { told[$0.key] != $0 }
    for (key, participant) in told where present[key] == nil {
      var gone = participant
      gone.selections = []
      news.append(gone)
    }
    return news.sorted { $0.key < $1.key }
  }

  // MARK: - Being told

  /// The latest time at which to read what others tell; nil where there are no files.
  func nextLook(isShowing: Bool, at now: Instant) -> Instant? {
    guard let folder else { return nil }
    let interval =
      if folder.mustPoll {
        Self.pollInterval
      } else if isShowing {
        Self.checkInterval
      } else {
        Self.idleInterval
      }
    let due = min(lookDue ?? now + interval, now + interval)
    lookDue = due
    return due
  }

  /// Notes that other processes have told something by files.
  func noteFolder() { isFolderNew = true }

  /// The time at which to read what other processes have told by files; nil if there is nothing new. They are read no more often than a process tells
  /// something: where there are many, each moment one of them does.
  func nextReading(at now: Instant) -> Instant? {
    isFolderNew ? max(now, lastReading.map { $0 + Self.tellingInterval } ?? now) : nil
  }

  /// Reads the participants of which the other processes tell by files.
  ///
  /// - Parameter isLook: whether all files are looked at, and not only those of which the system has told something.
  func readFolder(isLook: Bool, at now: Instant?) {
    guard let folder else { return }
    isFolderNew = false
    lastReading = now
    if isLook { lookDue = nil }
    var participants: [Key: ToldParticipant] = [:]
    for (_, content) in folder.others(isLook: isLook) {
      for participant in ToldParticipant.list(in: content) ?? [] {
        guard participants.count < ToldParticipant.most else { break }
        let present = participants[participant.key]
        if participant.selections.isEmpty || present?.moves ?? -1 >= participant.moves { continue }
        participants[participant.key] = participant
      }
    }
    known.replace(participants, from: .folder)
  }

  /// Takes what the other end of a link tells; returns false if that is nothing that a process writes.
  func take(_ content: [UInt8], from source: Source) -> Bool {
    guard let participants = ToldParticipant.list(in: content[...]) else { return false }
    known.update(participants, from: source)
    return true
  }

  /// The time at which the client is to be told of news that came over links: no more often than others are told of the client's.
  /// Nil if there are none.
  func nextShowing(at now: Instant) -> Instant? {
    guard known.news != shownNews else { return nil }
    if let nextShowing, now < nextShowing { return nextShowing }
    nextShowing = now + Self.tellingInterval
    return now
  }

  /// The participants in other processes by their notes, if there are other ones than those that were taken last; in order.
  func takeNews() -> [NoteID: [Participant]]? {
    guard known.news != shownNews else { return nil }
    shownNews = known.news
    var participants: [NoteID: [Participant]] = [:]
    var all = known.all(excluding: process)
    Self.bound(&all)
    for told in all.values.sorted(by: { $0.key < $1.key }) {
      participants[told.note, default: []].append(
        Participant(
          id: "\(told.key.process).\(told.key.attachment)", name: told.name,
          selections: told.selections))
    }
    return participants
  }
}
