// The dividers of a text (Dividers.swift), found by what their changes removed.

/// The last elements of an insertion, which divide it from others.
struct Divider: Hashable, Sendable {
  var author: AuthorIndex
  /// The number of the change that inserted and removed it.
  var number: UInt64
  /// The offset of the first element of the insertion.
  var start: UInt32
  var offsets: Range<UInt32>
  /// True if the insertion is a converted line end (LineEnds.swift), and divides nothing.
  var convertsLineEnd = false

  var change: LocalChange { LocalChange(author: author, number: number) }
  var first: LocalID { LocalID(author, offsets.lowerBound) }
  var last: LocalID { LocalID(author, offsets.upperBound - 1) }
  /// The first element of the insertion.
  var spanStart: LocalID { LocalID(author, start) }
  var elements: [LocalID] { offsets.map { LocalID(author, $0) } }
}

/// The dividers in a sequence, found in the removals of its authors: each of these is looked at once.
struct DividerIndex: Sendable {
  /// By author, in the order of their offsets.
  var dividers: [[Divider]] = []
  /// By author, how many of its removals were looked at.
  var lookedAt: [Int] = []
  /// The first elements of dividers that were found to have no *v*, an element behind them to divide (Dividers.swift).
  private var alone: Set<LocalID> = []

  /// Those of converted line ends.
  var lineEnds: [Divider] = []
  /// Those that may divide something.
  var all: [Divider] { dividers.joined().filter { !$0.convertsLineEnd } }

  /// The divider that has an element. O(log dividers).
  func divider(holding element: LocalID) -> Divider? {
    guard Int(element.author) < dividers.count else { return nil }
    let list = dividers[Int(element.author)]
    let index = list.firstIndex { $0.offsets.upperBound > element.offset }
    guard index < list.count, list[index].offsets.contains(element.offset) else { return nil }
    return list[index]
  }

  /// The part of some elements of an author that holds one of them, apart from a converted line end among them: that may be hidden, and the others not.
  /// No divider is among them.
  func part(of offsets: Range<UInt32>, holding element: LocalID) -> Range<UInt32> {
    guard Int(element.author) < dividers.count else { return offsets }
    let list = dividers[Int(element.author)]
    let index = list.firstIndex { $0.offsets.upperBound > element.offset }
    guard index < list.count, list[index].convertsLineEnd else { return offsets }
    let divider = list[index].offsets
    let end = divider.lowerBound - UInt32(divider.count)
    return element.offset < end
      ? offsets.lowerBound..<min(offsets.upperBound, end)
      : max(offsets.lowerBound, end)..<offsets.upperBound
  }

  func isAlone(_ divider: Divider) -> Bool { alone.contains(divider.first) }

  mutating func setAlone(_ divider: Divider, _ isAlone: Bool) {
    if isAlone { alone.insert(divider.first) } else { alone.remove(divider.first) }
  }

  mutating func forgetWhichAreAlone() { alone = [] }

  /// The dividers that a change brought. O(log dividers).
  func dividers(of change: LocalChange) -> ArraySlice<Divider> {
    guard Int(change.author) < dividers.count else { return [] }
    let list = dividers[Int(change.author)]
    return list[list.firstIndex { $0.number >= change.number }...].prefix {
      $0.number == change.number
    }
  }
}

extension [Divider] {
  /// The first index from which on `isReached` is true. O(log n).
  fileprivate func firstIndex(where isReached: (Divider) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isReached(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
