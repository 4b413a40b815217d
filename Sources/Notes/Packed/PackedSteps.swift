// The codes in which a block writes operations. This file owns them, and the expectations of the next operation.
//
// An operation of text, or a run of changes that make one each, is a step: a byte that says what kind it is, of how much, and
// whether it is somewhere else than expected (the lowest bit; then the distance follows, a signed varint that is not 0, and so
// less 1 when folded). Notes before it say what else is not as expected.
//
//       0 …  47   typed by 1 … 48 changes, each a scalar behind the last; 47: a varint more  the scalars
//      48 …  63   inserted at once, 0 … 14 bytes; 63: a varint, how many                     the bytes
//      64 …  87   removed backward by 1 … 24 changes, each `width` bytes
//      88 … 111   removed forward likewise
//     112 … 115   removed at once before the cursor, 2, 3, 4 bytes; 115: a varint, how many
//     116 … 119   removed at once behind it, likewise
//
//     120         the next change makes several operations: a varint, how many; the steps, of one change each
//     121         note: author number; of the author's own, how many changes before this one, signed
//     122         author: a varint, whose elements the step is among
//     123         before: element; what an insertion comes before
//     124         width: a varint
//     126         divider: a varint, how many of the last bytes that are inserted at once divide them from another replacement
//     125         another operation, of the current note: a byte, its tag as in Change.swift, and what follows the note there;
//                 of a creation nothing; the note that it creates is current then. The marks of a change (1D, 1F, 20, 21, 23) are some,
//                 too, of no note; the replicas that a redaction (1E) names are authors
//
//     author      = varint: 0 the author of the changes, n + 2 the n-th replica it has named or will have
//     number      = varint
//     element     = varint 0: none; else author + 1, and the offset, a varint
//
// A step stands for changes whose text is in it, or for 24 removals at most: no bytes claim much more than they are.
//
// The expectations, of each note of which the block has an operation (at first: gap 0 of the author, nothing known, width 1):
//
// Gap g of an author is behind its element g − 1. An insertion is expected at the cursor, and before what is known to
// follow the element before it: what was inserted there last, else that element's next of the same author, else, if that
// isn't known to exist, the end. What is removed backward is expected to end at the cursor, what is removed forward to begin
// `ahead`. The cursor is behind what was inserted, and `ahead` what that precedes; removing backward moves the cursor to
// what is known to precede, removing forward moves `ahead` to what is known to follow. Where a step is among another
// author's elements than expected, its distance is from the last gap expected there.

internal import ReplicatingTypes

enum StepCode {
  static let typed = 0..<48
  static let inserted = 48..<64
  static let removedBackward = 64..<88
  static let removedForward = 88..<112
  static let removedBefore = 112..<116
  static let removedBehind = 116..<120
  static let several = 120
  static let note = 121
  static let author = 122
  static let before = 123
  static let width = 124
  static let other = 125
  static let divider = 126

  static let longestRemoval = removedForward.count
}

/// Where the next operation in the text of a note is expected, as the operations of a block make it known.
struct ExpectedText {
  /// Whose elements the cursor is among, and the gap.
  private(set) var author = 0
  private(set) var gap = 0
  /// The element that is removed next by removing forward.
  private(set) var ahead = NamedElement(0, 0)
  /// The number of bytes that a removal of a run takes.
  var width = 1
  /// The number of elements that the author of the changes is known to have inserted.
  private var length = 0
  /// The elements that follow and precede an element, where that isn't its author's next or previous.
  private var following: [NamedElement: NamedElement] = [:]
  private var preceding: [NamedElement: NamedElement] = [:]
  /// Where the cursor was last among the elements of an author.
  private var gaps: [Int: Int] = [:]

  /// The gap that distances count from.
  func gap(of author: Int) -> Int { author == self.author ? gap : gaps[author] ?? 0 }

  /// The element that distances count from when removing forward.
  func ahead(of author: Int) -> Int { author == ahead.author ? ahead.offset : gaps[author] ?? 0 }

  /// The element that an insertion into a gap is expected to come before.
  func element(behind gap: Int, of author: Int) -> NamedElement {
    let left = gap == 0 ? NamedElement.none : NamedElement(author, gap - 1)
    if let known = following[left] { return known }
    return author == 0 && gap >= length ? .none : NamedElement(author, gap)
  }

  /// An element of the author was named: it has inserted all before it.
  private mutating func learn(_ end: Int, of author: Int) {
    if author == 0 && end > length { length = end }
  }

  private mutating func move(to author: Int, _ gap: Int) {
    if author != self.author {
      gaps[self.author] = self.gap
      self.author = author
    }
    self.gap = gap
  }

  /// The offset of the next element inserted, after an insertion into this gap.
  func next(behind gap: Int, of author: Int) -> Int { author == 0 ? max(length, gap) : length }

  mutating func insert(_ count: Int, behind gap: Int, of author: Int, before right: NamedElement) {
    move(to: author, gap)
    learn(gap, of: author)
    let left = gap == 0 ? NamedElement.none : NamedElement(author, gap - 1)
    if count > 0, length + count <= Int(Int32.max) {
      let last = NamedElement(0, length + count - 1)
      following[left] = NamedElement(0, length)
      preceding[NamedElement(0, length)] = left
      following[last] = right
      if !right.isNone { preceding[right] = last }
      length += count
    }
    move(to: 0, length)
    ahead = right.isNone ? NamedElement(0, length) : right
  }

  mutating func remove(_ range: Range<Int>, of author: Int, isForward: Bool) {
    learn(range.upperBound, of: author)
    let isBehind = ahead == NamedElement(author, range.lowerBound)
    let isBefore = self.author == author && gap == range.upperBound
    if isForward || !isBefore {
      let last =
        range.upperBound == 0 ? NamedElement.none : NamedElement(author, range.upperBound - 1)
      let next = following[last] ?? NamedElement(author, range.upperBound)
      ahead = next.isNone ? NamedElement(author, range.upperBound) : next
    }
    if isForward && isBehind { return }
    let left = preceding[NamedElement(author, range.lowerBound)]
    switch left {
    case nil: move(to: author, range.lowerBound)
    case NamedElement.none: move(to: author, 0)
    case .some(let left): move(to: left.author, left.offset + 1)
    }
  }
}

/// The notes of which a block has operations, and what is expected of each.
struct ExpectedNotes {
  private(set) var current = NamedChange(author: 0, number: 0)
  var text = ExpectedText()
  private var others: [NamedChange: ExpectedText] = [:]

  /// The next operation is one of this note.
  mutating func move(to note: NamedChange) {
    if note == current { return }
    others[current] = text
    current = note
    text = others.removeValue(forKey: note) ?? ExpectedText()
  }
}

extension UInt8 {
  /// The number of bytes of a scalar that begins with this one; `nil` if none does.
  var scalarWidth: Int? {
    switch self {
    case 0..<0x80: 1
    case 0x80..<0xC0: nil
    case 0xC0..<0xE0: 2
    case 0xE0..<0xF0: 3
    default: 4
    }
  }
}
