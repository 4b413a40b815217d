internal import Notes
internal import ReplicatingTypes

/// The changes of one client to a text that it can undo, and the undone ones that it can redo.
///
/// A step names elements, so it stays right whatever others do in between. Elements that undoing inserts again stand for the
/// removed ones from then on, in the steps of all clients (`replace`).
struct UndoList {
  /// The effects of one change, or of several that are undone together.
  struct Step {
    var inserted: [ElementRange] = []
    /// The elements that were removed; also those that others had removed before without the client's knowledge; and, after several
    /// changes, some of `inserted`.
    var removed: [ElementRange] = []

    var isEmpty: Bool { inserted.isEmpty && removed.isEmpty }
    fileprivate var rangeCount: Int { inserted.count + removed.count }

    /// Adds the effects of the next change. `net` leaves out the elements that are inserted and removed.
    ///
    /// - Complexity: O(ranges of the change).
    mutating func append(_ next: Step) {
      for range in next.inserted { inserted.append(joining: range) }
      for range in next.removed { removed.append(joining: range) }
    }

    /// The step without the elements that it has inserted and removed.
    fileprivate var net: Step {
      if inserted.isEmpty || removed.isEmpty { return self }
      let (inserted, removed) = (ElementRanges(inserted), ElementRanges(removed))
      return Step(
        inserted: inserted.subtracting(removed).sorted,
        removed: removed.subtracting(inserted).sorted)
    }
  }

  enum Direction: UInt8 { case undo, redo }

  private var undone = Steps()
  private var done = Steps()
  /// True if the client's next change may become a part of the last step.
  private(set) var isOpen = false

  init() {}

  init(done: [Step], undone: [Step]) {
    for step in done { self.done.append(step) }
    for step in undone { self.undone.append(step) }
  }

  /// The steps that can be undone, or redone; the last one is next.
  func steps(_ direction: Direction) -> [Step] { self[direction].steps }

  /// The step that is undone, or redone, next.
  func last(_ direction: Direction) -> Step? { self[direction].steps.last?.net }

  /// Notes a change of the client, as a step or as a part of the last one. Steps that were undone before can't be redone after it.
  mutating func record(_ step: Step, joining isJoined: Bool = false) {
    isOpen = isOpen && isJoined || !step.isEmpty
    if step.isEmpty { return }
    if isJoined { done.join(step) } else { done.append(step) }
    undone = Steps()
  }

  /// Ends the last step: the next change is a step of its own.
  mutating func close() { isOpen = false }

  /// Notes that the last step was undone, or redone, by a change that did `reverse`; empty if it changed nothing.
  mutating func turn(_ direction: Direction, by reverse: Step) {
    // A journal may have an undo for which there is no step.
    if self[direction].steps.isEmpty { return }
    self[direction].removeLast()
    if !reverse.isEmpty { self[direction == .undo ? .redo : .undo].append(reverse) }
  }

  /// Forgets the last steps as far as nothing is left to reverse in them.
  mutating func dropWithoutEffect(_ direction: Direction, visible: ElementRanges) {
    while let step = last(direction) {
      let inserted = ElementRanges(step.inserted)
      if inserted.subtracting(visible) != inserted { return }
      if !ElementRanges(step.removed).subtracting(visible).isEmpty { return }
      self[direction].removeLast()
    }
  }

  /// Replaces elements by their copies in all steps.
  mutating func replace(by copies: ElementCopies) {
    undone.replace(by: copies)
    done.replace(by: copies)
  }

  private subscript(direction: Direction) -> Steps {
    get { direction == .undo ? done : undone }
    _modify {
      if direction == .undo { yield &done } else { yield &undone }
    }
  }

  /// Steps in the order in which they were made. At least the last 10,000 are kept; or fewer, but always the last one, if they
  /// have more than 65,536 ranges together.
  private struct Steps {
    private(set) var steps: [Step] = []
    private var rangeCount = 0

    private static let mostSteps = 12_000
    private static let keptSteps = 10_000
    private static let mostRanges = 65_536

    mutating func join(_ step: Step) {
      guard let last = steps.indices.last else { return append(step) }
      rangeCount -= steps[last].rangeCount
      steps[last].append(step)
      rangeCount += steps[last].rangeCount
      dropOld()
    }

    mutating func append(_ step: Step) {
      steps.append(step)
      rangeCount += step.rangeCount
      dropOld()
    }

    private mutating func dropOld() {
      var old = steps.count > Self.mostSteps ? steps.count - Self.keptSteps : 0
      var rest = rangeCount
      for step in steps[..<old] { rest -= step.rangeCount }
      while rest > Self.mostRanges, old < steps.count - 1 {
        rest -= steps[old].rangeCount
        old += 1
      }
      guard old > 0 else { return }
      steps.removeFirst(old)
      rangeCount = rest
    }

    mutating func removeLast() { rangeCount -= steps.removeLast().rangeCount }

    mutating func replace(by copies: ElementCopies) {
      for index in steps.indices {
        let old = steps[index].rangeCount
        if let new = copies.replacing(steps[index].inserted) { steps[index].inserted = new }
        if let new = copies.replacing(steps[index].removed) { steps[index].removed = new }
        rangeCount += steps[index].rangeCount - old
      }
    }
  }
}

extension UndoList.Step {
  /// The effects of a change of one text.
  init(_ effects: Effects) {
    for (_, effect) in effects.text {
      switch effect {
      case .inserted(let range): inserted.append(range)
      case .removed(let range): removed.append(range)
      case .returned, .withdrawn: break
      }
    }
  }
}

extension [ElementRange] {
  /// Appends elements, as a part of the last range where they are next to it.
  fileprivate mutating func append(joining range: ElementRange) {
    guard let last, last.author == range.author,
      last.end == range.offset || range.end == last.offset
    else { return append(range) }
    self[count - 1] = ElementRange(
      author: range.author, offset: Swift.min(last.offset, range.offset),
      count: last.count + range.count)
  }
}
