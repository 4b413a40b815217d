/// The name of one element of a sequence: who inserted it, and how many elements of that sequence its author had
/// inserted before it.
public struct ElementID: Hashable, Sendable {
  /// The author that inserted it.
  public var author: ReplicaID
  /// From 0, without gaps.
  public var offset: Int

  /// The element at `offset` among all that `author` has inserted.
  public init(author: ReplicaID, offset: Int) {
    self.author = author
    self.offset = offset
  }
}

/// Elements that one author inserted one after the other.
public struct ElementRange: Hashable, Sendable {
  /// The author that inserted them.
  public var author: ReplicaID
  /// The first of them: its place among all that `author` has inserted, from 0.
  public var offset: Int
  /// The number of elements.
  public var count: Int

  /// `count` elements of `author`, from `offset` on.
  public init(author: ReplicaID, offset: Int, count: Int) {
    self.author = author
    self.offset = offset
    self.count = count
  }

  /// The offset behind the last.
  public var end: Int { offset + count }

  /// This range and another one as one, if that begins where this one ends.
  func joined(with next: ElementRange) -> ElementRange? {
    guard next.author == author, next.offset == end else { return nil }
    return ElementRange(author: author, offset: offset, count: count + next.count)
  }
}

/// A set of elements, kept as ranges.
public struct ElementRanges: Equatable, Sendable {
  /// Sorted, apart from each other, none empty.
  private var ranges: [ReplicaID: [Range<Int>]] = [:]

  /// No elements.
  public init() {}

  /// The elements of all these ranges, which may overlap and come in any order. O(n log n).
  public init(_ elements: some Sequence<ElementRange>) {
    for range in elements where range.count > 0 {
      ranges[range.author, default: []].append(range.offset..<range.end)
    }
    for (author, list) in ranges where list.count > 1 {
      var joined: [Range<Int>] = []
      for range in list.sorted(by: { $0.lowerBound < $1.lowerBound }) {
        if let last = joined.last, range.lowerBound <= last.upperBound {
          joined[joined.count - 1] =
            last.lowerBound..<max(last.upperBound, range.upperBound)
        } else {
          joined.append(range)
        }
      }
      ranges[author] = joined
    }
  }

  /// True if there are none.
  public var isEmpty: Bool { ranges.isEmpty }

  /// The set as ranges, by author and offset. O(n log n).
  public var sorted: [ElementRange] {
    ranges.sorted { $0.key < $1.key }.flatMap { author, list in
      list.map { ElementRange(author: author, offset: $0.lowerBound, count: $0.count) }
    }
  }

  /// The elements of this set and some others. O(n log n).
  public func union(_ other: some Sequence<ElementRange>) -> ElementRanges {
    var all = sorted
    all.append(contentsOf: other)
    return ElementRanges(all)
  }

  /// The elements of this set that are not in another. O(ranges × log ranges).
  public func subtracting(_ other: ElementRanges) -> ElementRanges {
    if other.isEmpty { return self }
    var rest: [ElementRange] = []
    for (author, list) in ranges {
      for range in list {
        var offset = range.lowerBound
        while offset < range.upperBound {
          let run = other.run(of: author, from: offset, to: range.upperBound)
          if !run.isMember {
            rest.append(ElementRange(author: author, offset: offset, count: run.end - offset))
          }
          offset = run.end
        }
      }
    }
    return ElementRanges(rest)
  }

  /// True if an element is one of them. O(log n) in the ranges of `author`.
  func contains(_ offset: Int, of author: ReplicaID) -> Bool {
    run(of: author, from: offset, to: offset + 1).isMember
  }

  /// Membership of the element at `offset` in the set, and the offset up to which it stays the same, at most `end`.
  /// O(log n) in the ranges of `author`.
  func run(of author: ReplicaID, from offset: Int, to end: Int) -> (isMember: Bool, end: Int) {
    guard let list = ranges[author] else { return (false, end) }
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if list[middle].upperBound <= offset { low = middle + 1 } else { high = middle }
    }
    guard low < list.count else { return (false, end) }
    if list[low].lowerBound <= offset { return (true, min(end, list[low].upperBound)) }
    return (false, min(end, list[low].lowerBound))
  }
}

/// A state of a sequence other than its present one: what a client still shows, or the past.
///
/// It is described by its difference from the present: an element is visible in it if it is visible now or `revealed`,
/// and not `hidden`.
public struct SequenceView: Equatable, Sendable {
  /// Elements that are not visible in this state, visible now or not.
  public var hidden: ElementRanges
  /// Removed elements that are still visible in this state; `nil` for all of them.
  public var revealed: ElementRanges?
  /// Elements that did not exist in this state, for those who plan an edit of it: it is put beside elements that did.
  public var unseen = ElementRanges([])

  /// The state before `insertions` and `removals` happened.
  public init(
    before insertions: some Sequence<ElementRange>, and removals: some Sequence<ElementRange>
  ) {
    hidden = ElementRanges(insertions)
    revealed = ElementRanges(removals)
  }

  /// A view that differs from the present in these elements.
  public init(hidden: ElementRanges, revealed: ElementRanges?) {
    self.hidden = hidden
    self.revealed = revealed
  }
}

/// The replacement of a range of elements by others.
public struct Edit<Element: Equatable & Sendable>: Equatable, Sendable {
  /// Offsets in the sequence before the edit. Several edits of one list all refer to the sequence before any of them.
  public var range: Range<Int>
  /// The elements that stand there afterwards.
  public var replacement: [Element]
  /// The elements that divide `replacement` from a concurrent replacement of the same elements; only beside one they are shown, behind
  /// `replacement`. Empty for a pure insertion or deletion. Of what makes a line end one of another kind: the same as
  /// `replacement` (`convertsLineEnd`).
  public var divider: [Element]

  /// An edit that puts `replacement` in the place of `range`.
  public init(range: Range<Int>, replacement: [Element], divider: [Element] = []) {
    self.range = range
    self.replacement = replacement
    self.divider = divider
  }
}

extension Edit: Hashable where Element: Hashable {}

extension Edit {
  /// True if the edit converts a line end: `replacement` ends with a line end, and `divider` is the same (LineEnds.swift).
  public var convertsLineEnd: Bool {
    guard !divider.isEmpty, divider.count < 3,
      replacement.suffix(divider.count).elementsEqual(divider), let bytes = divider as? [UInt8]
    else { return false }
    return Self.isLineEnd(bytes)
  }

  /// True for a carriage return, a line feed, or both.
  static func isLineEnd(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.elementsEqual([0x0A]) || bytes.elementsEqual([0x0D]) || bytes.elementsEqual([0x0D, 0x0A])
  }
}

extension Array {
  /// The same edits, which are sorted, those that touch each other made one. Two insertions at one place would otherwise
  /// be two siblings there, of which the newer stands first.
  ///
  /// An edit that converts a line end stays one by itself, unless text is inserted on both its sides and the line end is one scalar: that has
  /// two sides for three insertions, so the last of them is joined to the edit.
  public func joiningNeighbours<Content>() -> [Edit<Content>] where Element == Edit<Content> {
    if count < 2 { return self }
    var result: [Edit<Content>] = []
    /// True if the last edit of `result`, or one before it, needs the place behind the last one.
    var isTaken = false
    for edit in self {
      let last = result.last
      let touches = last?.range.upperBound == edit.range.lowerBound
      isTaken = isTaken && touches
      if let last, touches,
        !last.convertsLineEnd && !edit.convertsLineEnd || edit.range.isEmpty && isTaken
      {
        result[result.count - 1] = Edit(
          range: last.range.lowerBound..<edit.range.upperBound,
          replacement: last.replacement + edit.replacement,
          divider: edit.divider.isEmpty ? last.divider : edit.divider)
      } else {
        result.append(edit)
      }
      let hasInside = edit.convertsLineEnd && edit.range.count > 1
      isTaken = !edit.replacement.isEmpty && (edit.range.isEmpty || isTaken && !hasInside)
    }
    return result
  }
}
