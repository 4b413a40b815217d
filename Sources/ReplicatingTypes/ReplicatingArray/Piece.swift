/// The place of an author in `authors`. It fits 20 bits.
typealias AuthorIndex = UInt32

/// The name of an element inside one value: its author by its place in `authors`, and its offset in what that author
/// inserted.
struct LocalID: Equatable, Hashable, Sendable {
  var offset: UInt32
  var author: AuthorIndex

  init(_ author: AuthorIndex, _ offset: UInt32) {
    self.author = author
    self.offset = offset
  }

  /// No element: the beginning as a left origin, the end as a right one.
  static var none: LocalID { LocalID(.max, .max) }
  var isNone: Bool { author == .max }
}

/// Neighbouring elements of one author with consecutive offsets, all visible or all removed. 8 bytes.
struct Piece: Equatable, Sendable {
  /// From the highest: 32 bits for the offset, 20 for the author, one for removed, and 11 for the count. One number, because
  /// the compiler moves several of them at a time.
  private var word: UInt64

  /// The most elements that fit a piece, independently of the node sizes.
  static var largest: UInt32 { 0x7FF }
  /// The number of authors whose index fits.
  static var authors: Int { 1 << 20 }
  static var removed: UInt32 { 0x800 }

  init(_ author: AuthorIndex, _ offset: UInt32, _ count: UInt32) {
    precondition(author < Self.authors && count <= Self.largest, "a piece that is too large")
    self.init(offset: offset, bits: author &<< 12 | count)
  }

  private init(offset: UInt32, bits: UInt32) {
    word = UInt64(offset) &<< 32 | UInt64(bits)
  }

  var offset: UInt32 { UInt32(truncatingIfNeeded: word &>> 32) }
  var bits: UInt32 { UInt32(truncatingIfNeeded: word) }

  var author: AuthorIndex { bits &>> 12 }
  var count: UInt32 { bits & Self.largest }
  var isRemoved: Bool { bits & Self.removed != 0 }
  /// Without a branch, which would be foretold wrongly wherever some neighbours are removed.
  var visibleCount: Int { Int(bits & Self.largest & ((bits &>> 11 & 1) &- 1)) }
  /// Author and removed bit: what neighbours share that can be one piece.
  var kind: UInt32 { bits & ~Self.largest }
  var end: UInt32 { offset &+ count }
  var first: LocalID { LocalID(author, offset) }
  var last: LocalID { LocalID(author, offset &+ count &- 1) }

  func contains(_ element: LocalID) -> Bool {
    element.author == author && element.offset &- offset < count
  }

  /// True if this one and the one behind it can be one piece, which has no more than `largest` elements.
  func goes(before next: Piece, _ largest: UInt32) -> Bool {
    // One comparison, of what would have to be 0: neighbours are joined, or aren't, as it comes, and each branch is foretold wrongly.
    let others = ~UInt64(Self.largest)
    let difference = (word &+ UInt64(count) &<< 32) & others ^ (next.word & others)
    let isTooLong = (largest &- count &- next.count) &>> 31
    return difference | UInt64(isTooLong) == 0
  }

  /// All but the count, and the same of a piece behind this one with which it can be one, unless that is too long.
  var place: UInt64 { word & ~UInt64(Self.largest) }
  var nextPlace: UInt64 { place &+ UInt64(count) &<< 32 }

  /// The same elements as a tombstone.
  var removed: Piece { Piece(offset: offset, bits: bits | Self.removed) }

  /// The same elements, visible.
  var shown: Piece { Piece(offset: offset, bits: bits & ~Self.removed) }

  /// The same elements and the `count` next ones.
  func extended(by count: UInt32) -> Piece {
    precondition(count <= Self.largest &- self.count, "a piece that is too large")
    return Piece(offset: offset, bits: bits &+ count)
  }

  /// The same elements and the `count` ones in front of them.
  func extended(forwardBy count: UInt32) -> Piece {
    precondition(count <= Self.largest &- self.count, "a piece that is too large")
    return Piece(offset: offset &- count, bits: bits &+ count)
  }

  /// The first `count` of these elements, and the rest.
  func prefix(_ count: UInt32) -> Piece {
    precondition(count <= self.count, "more elements than a piece has")
    return Piece(offset: offset, bits: kind | count)
  }
  func dropping(_ count: UInt32) -> Piece {
    precondition(count <= self.count, "more elements than a piece has")
    return Piece(offset: offset &+ count, bits: bits &- count)
  }
}
