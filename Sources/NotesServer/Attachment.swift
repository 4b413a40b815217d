internal import Notes
internal import ReplicatingTypes

/// One open text of one client.
///
/// The client owns `version`, which grows with each of its changes. `rev` is the last push that it is known to have applied. A
/// position from the client is a place in the text that it shows at that version and rev. The server turns it into elements, and
/// never shifts it.
struct Attachment {
  /// The form in which pushes are written.
  enum Form { case lines, ranges, rangesOrLines, text }
  /// The values in a push by which the client checks its text before it applies the edit.
  enum Check { case sha256, length, none }

  /// The options with which the client opened the text.
  struct Options {
    var isObserver: Bool
    var form: Form
    var check: Check
    /// Whether the client shows each `\r\n` as a line feed (`LineFeedText`).
    var hidesReturns = false
  }

  /// A text that the client shows: the text after the first `seen` arrivals, with the client's own changes since.
  struct Shown {
    var seen: Int
    /// The elements that existed after these arrivals and that the client did not show; nil if they were the removed ones. They
    /// are others for a client that has resumed: it lacks what happened after its server had died.
    var hidden: ElementRanges?
    /// The changes that no other one followed after these arrivals; nil if that is not known.
    var heads: [ChangeID]? { onlyHead.map { [$0] } ?? severalHeads }
    // As a rule there is one. The notebook's own list would have to be copied for its next change, if it was kept here.
    private let onlyHead: ChangeID?
    private let severalHeads: [ChangeID]?

    init(seen: Int, hidden: ElementRanges? = nil, heads: [ChangeID]? = nil) {
      self.seen = seen
      self.hidden = hidden
      onlyHead = heads?.count == 1 ? heads![0] : nil
      severalHeads = onlyHead == nil ? heads : nil
    }
  }

  let id: Int
  let note: NoteID
  var options: Options
  private(set) var version = 0
  private(set) var rev = 0
  private(set) var shown: Shown
  /// The client's last change since it has shown that, if it crossed changes of others.
  private(set) var lastCrossing: ChangeID?
  /// The pushes for the client's present version that it may not have applied. Each leads on from the text after the one before.
  private(set) var pending: [(rev: Int, shown: Shown)] = []
  private(set) var lastRev = 0
  /// The client's cursors and selections; empty if it has sent none.
  var selections: [Selection] = []
  /// Grows with each move of these.
  var moves = 0
  var presence = Presence()

  /// - Parameters:
  ///   - version: the client's version, if it resumes.
  ///   - shown: the text that the client shows.
  init(id: Int, note: NoteID, _ options: Options, version: Int, showing shown: Shown) {
    self.id = id
    self.note = note
    self.options = options
    self.version = version
    self.shown = shown
  }

  /// The text that the client shows once it has applied all pushes.
  var pushed: Shown { pending.last?.shown ?? shown }

  /// True if the client may not show the text after so many arrivals.
  func lags(behind count: Int) -> Bool {
    if let last = pending.last { return last.shown.hidden != nil || last.shown.seen < count }
    return shown.hidden != nil || shown.seen < count
  }

  /// True if the client is to be told of participants.
  var isPresenceDue: Bool { presence.isDue(version, pushedRev) }

  /// The number of the last push, if the client has not applied it yet; else of the last one that it has applied.
  var pushedRev: Int { pending.last?.rev ?? rev }

  /// The text that the client shows when it has applied push `rev` and none after it; nil if there is no such push.
  func shown(at rev: Int) -> Shown? {
    if rev == self.rev { return shown }
    return pending.first { $0.rev == rev }?.shown
  }

  /// Takes in a change of the client, made to `shown` after it had applied push `rev`. It drops the pushes after that one.
  mutating func takeChange(version: Int, rev: Int, of shown: Shown) {
    if rev != self.rev { lastCrossing = nil }
    self.version = version
    self.rev = rev
    self.shown = shown
    pending = []
  }

  /// Replaces the text that the client shows, if no pushes are pending.
  mutating func show(_ shown: Shown) {
    self.shown = shown
    lastCrossing = nil
  }

  /// Notes that a change of the client, which was taken in, was made to another text than the present one.
  mutating func noteCrossing(_ change: ChangeID) { lastCrossing = change }

  /// The last change that the client has made to `shown`, if it is to make another one to it.
  func crossing(at rev: Int) -> ChangeID? { rev == self.rev ? lastCrossing : nil }

  /// Notes that the text after all pushes is the same as `shown`, element by element.
  mutating func setPushed(_ shown: Shown) {
    if pending.isEmpty { show(shown) } else { pending[pending.count - 1].shown = shown }
  }

  /// Notes the next push, which leads to `shown`; returns its number.
  ///
  /// An observer's pushes count as applied at once: it makes no change that could cross one.
  mutating func push(_ shown: Shown) -> Int {
    lastRev += 1
    if options.isObserver {
      rev = lastRev
      show(shown)
    } else {
      pending.append((lastRev, shown))
    }
    return lastRev
  }
}
