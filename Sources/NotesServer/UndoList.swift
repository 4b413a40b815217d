internal import Notes
internal import ReplicatingTypes

/// The changes of one client to a text that it can undo, and the undone ones that it can redo.
///
/// A step names changes, so it stays right whatever others do in between. To undo it is to withdraw them; to redo it is to withdraw the
/// withdrawal.
struct UndoList {
  enum Direction: UInt8 { case undo, redo }

  /// Changes that were made as one step, and withdrawn.
  struct Undone {
    var changes: ChangeRanges
    /// The changes that have withdrawn them.
    var withdrawals: ChangeRanges
  }

  /// The last of each is next.
  private(set) var done: [ChangeRanges] = []
  private(set) var undone: [Undone] = []
  /// True if the client's next change may become a part of the last step.
  private(set) var isOpen = false
  /// The number of runs of changes in the steps that can be undone.
  private var runCount = 0

  /// At least the last 10,000 steps are kept; or fewer, but always the last one, if they have more than 65,536 runs of changes together.
  private static let mostSteps = 12_000
  private static let keptSteps = 10_000
  private static let mostRuns = 65_536

  init() {}

  /// The last change of the last step, as a rule: of a step of several sessions the last one of one of them.
  var lastChange: ChangeID? { done.last?.runs.last?.last }

  init(done: [ChangeRanges], undone: [Undone]) {
    self.done = done
    self.undone = undone
    runCount = done.reduce(0) { $0 + $1.runs.count }
  }

  /// Notes a change of the client, as a step or as a part of the last one. Steps that were undone before can't be redone after it.
  mutating func record(_ change: ChangeID, joining isJoined: Bool = false) {
    isOpen = true
    undone = []
    guard isJoined, var last = done.popLast() else { return append(ChangeRanges(change)) }
    runCount -= last.runs.count
    last.insert(change)
    append(last)
  }

  /// Ends the last step: the next change is a step of its own.
  mutating func close() { isOpen = false }

  /// The changes to withdraw for undoing, or redoing, each step; the next step comes first.
  func withdrawals(_ direction: Direction) -> [ChangeRanges] {
    switch direction {
    case .undo: done.reversed()
    case .redo: undone.reversed().map(\.withdrawals)
    }
  }

  /// Notes that a change has undone, or redone, the next `count` steps. A journal may tell of more than there are.
  mutating func turn(_ direction: Direction, _ count: Int, by change: ChangeID) {
    switch direction {
    case .undo:
      let steps = done.suffix(count)
      if steps.isEmpty { return }
      done.removeLast(steps.count)
      runCount -= steps.reduce(0) { $0 + $1.runs.count }
      undone.append(
        Undone(
          changes: ChangeRanges(steps.flatMap(\.runs)), withdrawals: ChangeRanges(change)))
    case .redo:
      let steps = undone.suffix(count)
      undone.removeLast(steps.count)
      for step in steps.reversed() { append(step.changes) }
    }
  }

  private mutating func append(_ step: ChangeRanges) {
    done.append(step)
    runCount += step.runs.count
    var old = done.count > Self.mostSteps ? done.count - Self.keptSteps : 0
    var rest = runCount
    for step in done[..<old] { rest -= step.runs.count }
    while rest > Self.mostRuns, old < done.count - 1 {
      rest -= done[old].runs.count
      old += 1
    }
    if old == 0 { return }
    done.removeFirst(old)
    runCount = rest
  }
}
