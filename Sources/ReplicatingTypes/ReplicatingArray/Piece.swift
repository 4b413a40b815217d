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
    self.init(offset: offset, bits: author &<< 12 | count)
  }

  init(offset: UInt32, bits: UInt32) {
    word = UInt64(offset) &<< 32 | UInt64(bits)
  }

  var offset: UInt32 { UInt32(truncatingIfNeeded: word &>> 32) }
  var bits: UInt32 { UInt32(truncatingIfNeeded: word) }

  var author: AuthorIndex { bits &>> 12 }
  var count: UInt32 { bits & Self.largest }
  var isRemoved: Bool { bits & Self.removed != 0 }
  var visibleCount: Int { isRemoved ? 0 : Int(count) }
  /// Author and removed bit: what neighbours share that can be one piece.
  var kind: UInt32 { bits & ~Self.largest }
  var end: UInt32 { offset &+ count }
  var first: LocalID { LocalID(author, offset) }
  var last: LocalID { LocalID(author, offset &+ count &- 1) }

  func contains(_ element: LocalID) -> Bool {
    element.author == author && element.offset &- offset < count
  }

  /// The same elements as a tombstone.
  var removed: Piece { Piece(offset: offset, bits: bits | Self.removed) }

  /// The same elements, visible.
  var shown: Piece { Piece(offset: offset, bits: bits & ~Self.removed) }

  /// The same elements and the `count` next ones.
  func extended(by count: UInt32) -> Piece { Piece(offset: offset, bits: bits &+ count) }

  /// The first `count` of these elements, and the rest.
  func prefix(_ count: UInt32) -> Piece { Piece(offset: offset, bits: kind | count) }
  func dropping(_ count: UInt32) -> Piece { Piece(offset: offset &+ count, bits: bits &- count) }
}

/// Counts of elements besides their number, so that text can be addressed otherwise than in bytes. All zero for
/// elements that are not bytes of UTF-8.
struct TextWeight: Equatable, Sendable {
  /// Line feeds.
  var lines: Int32 = 0
  /// Bytes that begin no scalar.
  var continuations: Int32 = 0
  /// Scalars that take two units of UTF-16.
  var astral: Int32 = 0

  static var zero: TextWeight { TextWeight() }

  init(lines: Int32 = 0, continuations: Int32 = 0, astral: Int32 = 0) {
    self.lines = lines
    self.continuations = continuations
    self.astral = astral
  }

  init(of text: borrowing Span<UInt8>) {
    var start = 0
    while start < text.count {
      let end = min(start &+ Self.largestPart, text.count)
      self += Self(ofPart: text.extracting(start..<end))
      start = end
    }
  }

  /// So many words can be counted in the bytes of one.
  private static var largestPart: Int { 255 * 8 }

  /// From so many bytes on, words are counted.
  static var fewBytes: Int { 128 }

  @inline(never)
  private init(ofPart text: borrowing Span<UInt8>) {
    var (lines, continuations, astral): (UInt16, UInt16, UInt16) = (0, 0, 0)
    var index = 0
    let end = text.count
    if end >= Self.fewBytes {
      var words: (lines: UInt64, continuations: UInt64, astral: UInt64) = (0, 0, 0)
      let whole = end & ~7
      while index < whole {
        let word = text.word(at: index)
        // A byte's highest bit is 0 if the byte is a line feed; then the same for the other two, as 1.
        let other = word ^ 0x0A0A_0A0A_0A0A_0A0A
        let rest = ((other & 0x7F7F_7F7F_7F7F_7F7F) &+ 0x7F7F_7F7F_7F7F_7F7F) | other
        let high = word & 0x8080_8080_8080_8080
        words.lines &+= (~rest &>> 7) & 0x0101_0101_0101_0101
        words.continuations &+= (high & ~(word &<< 1)) &>> 7
        words.astral &+= (high & (word &<< 1) & (word &<< 2) & (word &<< 3)) &>> 7
        index &+= 8
      }
      lines = Self.sum(words.lines)
      continuations = Self.sum(words.continuations)
      astral = Self.sum(words.astral)
    }
    // Such a loop, without branches and with counters as small as the part allows, takes 8 bytes at a time.
    while index < end {
      let byte = text[index]
      lines &+= byte == 0x0A ? 1 : 0
      continuations &+= byte & 0xC0 == 0x80 ? 1 : 0
      astral &+= byte >= 0xF0 ? 1 : 0
      index &+= 1
    }
    self.init(lines: Int32(lines), continuations: Int32(continuations), astral: Int32(astral))
  }

  /// The sum of the eight bytes of a word.
  @inline(__always)
  private static func sum(_ bytes: UInt64) -> UInt16 {
    let pairs = (bytes & 0x00FF_00FF_00FF_00FF) &+ ((bytes &>> 8) & 0x00FF_00FF_00FF_00FF)
    return UInt16(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) &>> 48)
  }

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
