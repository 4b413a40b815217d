internal import ReplicatingTypes

/// What one client did to a text and can take back, and what it took back and can do again.
///
/// A step names elements, so it stays right whatever others do in between. What taking back has inserted again stands for
/// the removed elements from then on, in the steps of all clients (`replace`).
struct UndoList {
  /// What one change did, or several.
  struct Step {
    var inserted: [ElementRange] = []
    /// Also what somebody else had removed before, unseen by the client; and, with several changes, of what is inserted.
    var removed: [ElementRange] = []

    var isEmpty: Bool { inserted.isEmpty && removed.isEmpty }
    fileprivate var rangeCount: Int { inserted.count + removed.count }

    /// Adds what the next change did. O(its ranges): what came and went is left to `net`.
    mutating func append(_ next: Step) {
      for range in next.inserted { inserted.append(joining: range) }
      for range in next.removed { removed.append(joining: range) }
    }

    /// Without what was inserted and removed again.
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
  /// Whether the client's last change is a part of the last step, and the next one may be too.
  private(set) var isOpen = false

  init() {}

  init(done: [Step], undone: [Step]) {
    for step in done { self.done.append(step) }
    for step in undone { self.undone.append(step) }
  }

  /// The steps that can be taken back, or done again; the last one first to be.
  func steps(_ direction: Direction) -> [Step] { self[direction].steps }

  /// The step that is next to be taken back, or to be done again.
  func last(_ direction: Direction) -> Step? { self[direction].steps.last?.net }

  /// Notes a change of the client's own, as a step or as a part of the last one. What was taken back before it can't be done again.
  mutating func record(_ step: Step, joining isJoined: Bool = false) {
    isOpen = isOpen && isJoined || !step.isEmpty
    if step.isEmpty { return }
    if isJoined { done.join(step) } else { done.append(step) }
    undone = Steps()
  }

  /// Ends the last step.
  mutating func close() { isOpen = false }

  /// The last step was taken back, or done again, by what `reverse` did; nothing if that is empty.
  mutating func turn(_ direction: Direction, by reverse: Step) {
    // A journal may tell of more than there was.
    if self[direction].steps.isEmpty { return }
    self[direction].removeLast()
    if !reverse.isEmpty { self[direction == .undo ? .redo : .undo].append(reverse) }
  }

  /// Forgets the last steps as far as there is nothing to reverse in them.
  mutating func dropWithoutEffect(_ direction: Direction, visible: ElementRanges) {
    while let step = last(direction) {
      let inserted = ElementRanges(step.inserted)
      if inserted.subtracting(visible) != inserted { return }
      if !ElementRanges(step.removed).subtracting(visible).isEmpty { return }
      self[direction].removeLast()
    }
  }

  /// Lets copies stand for the elements that they are copies of.
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

  /// At least the last 10,000, but for steps of very many ranges: of these the older ones go when all have more than 65,536
  /// together. The last one stays.
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

/// Which elements were inserted again, and as which.
struct ElementCopies {
  /// Of each author, in the order of the offsets.
  private var copies: [ReplicaID: [(original: Range<Int>, copy: ElementRange)]] = [:]

  init() {}

  /// Each of `copies` brings again the elements that stand in its place in `originals`, or the first of them, and the next one the
  /// rest: an insertion may have become one with the one before it.
  init(of originals: [[ElementRange]], as copies: [ElementRange]) {
    var rest = copies[...]
    var offset = 0
    for original in originals.joined() {
      var start = original.offset
      while start < original.end, let copy = rest.first {
        let count = min(original.end - start, copy.count - offset)
        self.copies[original.author, default: []].append(
          (
            start..<start + count,
            ElementRange(author: copy.author, offset: copy.offset + offset, count: count)
          ))
        start += count
        offset += count
        if offset == copy.count {
          rest = rest.dropFirst()
          offset = 0
        }
      }
    }
    for author in self.copies.keys {
      var end = 0
      // None twice: a journal may say so.
      self.copies[author] = self.copies[author]!
        .sorted { $0.original.lowerBound < $1.original.lowerBound }
        .filter { original, _ in
          guard !original.isEmpty, original.lowerBound >= end else { return false }
          end = original.upperBound
          return true
        }
    }
  }

  /// What was copied, and the copies, one after the other in the same order.
  var pairs: (originals: [ElementRange], copies: [ElementRange]) {
    let sorted = copies.sorted { $0.key < $1.key }
    return (
      sorted.flatMap { author, pairs in
        pairs.map {
          ElementRange(author: author, offset: $0.original.lowerBound, count: $0.original.count)
        }
      },
      sorted.flatMap { $0.value.map(\.copy) }
    )
  }

  /// The same elements with copies for those that have one; `nil` if none has. O(ranges × log copies).
  func replacing(_ ranges: [ElementRange]) -> [ElementRange]? {
    var result: [ElementRange]?
    for (index, range) in ranges.enumerated() {
      let parts = parts(of: range)
      if result == nil, parts != nil { result = Array(ranges[..<index]) }
      result?.append(contentsOf: parts ?? [range])
    }
    return result
  }

  private func parts(of range: ElementRange) -> [ElementRange]? {
    guard let all = copies[range.author] else { return nil }
    var low = 0
    var high = all.count
    while low < high {
      let middle = (low + high) / 2
      if all[middle].original.upperBound <= range.offset { low = middle + 1 } else { high = middle }
    }
    guard low < all.count, all[low].original.lowerBound < range.end else { return nil }
    var parts: [ElementRange] = []
    var offset = range.offset
    func keep(upTo end: Int) {
      if offset < end {
        parts.append(ElementRange(author: range.author, offset: offset, count: end - offset))
      }
    }
    while low < all.count, all[low].original.lowerBound < range.end {
      let (original, copy) = all[low]
      keep(upTo: original.lowerBound)
      let start = max(offset, original.lowerBound)
      let end = min(range.end, original.upperBound)
      parts.append(
        ElementRange(
          author: copy.author, offset: copy.offset + start - original.lowerBound,
          count: end - start))
      offset = end
      low += 1
    }
    keep(upTo: range.end)
    return parts
  }
}
