/// The name of an element inside one value: its author by its place in `authors`, and its offset in what that author
/// inserted.
struct LocalID: Equatable, Hashable, Sendable {
  var offset: UInt32
  var author: UInt16

  init(_ author: UInt16, _ offset: UInt32) {
    self.author = author
    self.offset = offset
  }

  /// No element: the beginning as a left origin, the end as a right one.
  static var none: LocalID { LocalID(.max, .max) }
  var isNone: Bool { author == .max }
}

/// Neighbouring elements of one author with consecutive offsets, all visible or all removed. 8 bytes.
struct Piece: Equatable, Sendable {
  var offset: UInt32
  /// The author in the upper half; below it a bit for removed, and 15 for the count.
  var bits: UInt32

  /// The most elements that fit a piece, whatever the node sizes.
  static var largest: UInt32 { 0x7FFF }

  init(_ author: UInt16, _ offset: UInt32, _ count: UInt32, isRemoved: Bool = false) {
    self.offset = offset
    bits = UInt32(author) &<< 16 | (isRemoved ? 0x8000 : 0) | count
  }

  init(offset: UInt32, bits: UInt32) {
    self.offset = offset
    self.bits = bits
  }

  var author: UInt16 { UInt16(truncatingIfNeeded: bits &>> 16) }
  var count: UInt32 { bits & 0x7FFF }
  var isRemoved: Bool { bits & 0x8000 != 0 }
  var visibleCount: Int { Int(bits & 0x8000 == 0 ? bits & 0x7FFF : 0) }
  /// Author and removed bit: what neighbours share that can be one piece.
  var kind: UInt32 { bits & 0xFFFF_8000 }
  var end: UInt32 { offset &+ count }
  var first: LocalID { LocalID(author, offset) }
  var last: LocalID { LocalID(author, offset &+ count &- 1) }

  func contains(_ element: LocalID) -> Bool {
    element.author == author && element.offset &- offset < count
  }

  /// The first `count` of these elements, and the rest.
  func prefix(_ count: UInt32) -> Piece { Piece(offset: offset, bits: kind | count) }
  func dropping(_ count: UInt32) -> Piece { Piece(offset: offset &+ count, bits: bits &- count) }
}

/// What is counted of elements besides their number, so that text can be addressed otherwise than in bytes. All zero for
/// elements that are not bytes of UTF-8.
struct TextWeight: Equatable, Sendable {
  /// Line feeds.
  var lines: Int32 = 0
  /// Bytes that begin no scalar.
  var continuations: Int32 = 0
  /// Scalars that take two units of UTF-16.
  var astral: Int32 = 0

  static var zero: TextWeight { TextWeight() }

  static func + (a: Self, b: Self) -> Self {
    TextWeight(
      lines: a.lines &+ b.lines, continuations: a.continuations &+ b.continuations,
      astral: a.astral &+ b.astral)
  }

  static func += (a: inout Self, b: Self) { a = a + b }

  static prefix func - (a: Self) -> Self {
    TextWeight(lines: 0 &- a.lines, continuations: 0 &- a.continuations, astral: 0 &- a.astral)
  }
}
