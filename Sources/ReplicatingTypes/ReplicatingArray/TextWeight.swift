/// Counts of elements besides their number, so that text can be addressed otherwise than in bytes. All zero for
/// elements that are not bytes of UTF-8.
struct TextWeight: Equatable, Sendable {
  /// Line feeds, and 2^32 times the bytes that begin no scalar: one number, which is added and subtracted at once.
  private var sum: Int64 = 0
  /// Scalars that take two units of UTF-16.
  private(set) var astral: Int32 = 0

  /// Line feeds.
  var lines: Int32 { Int32(truncatingIfNeeded: sum) }
  /// Bytes that begin no scalar.
  var continuations: Int32 { Int32(truncatingIfNeeded: (sum &- Int64(lines)) &>> 32) }

  static var zero: TextWeight { TextWeight() }

  init(lines: Int32 = 0, continuations: Int32 = 0, astral: Int32 = 0) {
    sum = Int64(lines) &+ Int64(continuations) &<< 32
    self.astral = astral
  }

  init(of text: borrowing Span<UInt8>) {
    self.init(of: 0..<text.count, in: text)
  }

  /// Counts in a range of a text.
  @inline(__always)
  init(of range: Range<Int>, in text: borrowing Span<UInt8>) {
    self = Self.count(in: range, of: text)
  }

  /// Counts line feeds: as a rule a range is short and of ASCII, and has nothing else to count.
  ///
  /// Not inlined: the branches of one copy are foretold better than those of many. All it calls it calls last, so it saves no
  /// registers.
  @inline(never)
  private static func count(in range: Range<Int>, of text: borrowing Span<UInt8>) -> Self {
    let (start, end) = (range.lowerBound, range.upperBound)
    precondition(start >= 0 && end <= text.count)
    guard start < end, end &- start <= fewBytes, end >= 8 else {
      return Self(ofMany: range, in: text)
    }
    // Seven at most, and so that the compiler knows it: vectors take longer to prepare than so few words take.
    var words = ((end &- start &- 1) &>> 3) & 7
    var next = start
    var all: UInt64 = 0
    var lines: UInt64 = 0
    while words > 0 {
      let word = text.word(at: next)
      lines &+= lineFeeds(word)
      all |= word
      next &+= 8
      words &-= 1
    }
    let last = endingWord(of: text, from: next, to: end)
    if (all | last) & high != 0 { return Self(ofMany: range, in: text) }
    return Self(lines: sum(lines &+ lineFeeds(last)))
  }

  /// Counts in bytes that are valid UTF-8, of which none is 0; `nil` for any others. O(bytes).
  ///
  /// - Parameter countsLines: false if nobody asks for line feeds in `manyBytes` or more: then there may be none.
  @inline(__always)
  init?(ofText text: borrowing Span<UInt8>, countingLines countsLines: Bool = true) {
    // A difference has a mark if a byte is 0.
    var (zeros, all, lines): (UInt64, UInt64, Int32) = (0, 0, 0)
    let count = text.count
    if count < 8 {
      for index in text.indices {
        let byte = UInt64(text[index])
        all |= byte
        zeros |= byte &- 1
        lines &+= byte == 0x0A ? 1 : 0
      }
      zeros &>>= 56
    } else if !countsLines, count >= Self.manyBytes {
      (zeros, all) = Self.marks(in: text)
    } else {
      let words = (count &- 1) &>> 3
      var next = 0
      repeat {
        let end = min(next &+ Self.mostWords, words)
        var part: UInt64 = 0
        while next < end {
          let word = text.word(at: next &* 8)
          zeros |= (word &- 0x0101_0101_0101_0101) & ~word
          all |= word
          part &+= Self.lineFeeds(word)
          next &+= 1
        }
        lines &+= Self.sum(part)
      } while next < words
      // The last word overlaps the one before.
      let last = text.word(at: count &- 8)
      zeros |= (last &- 0x0101_0101_0101_0101) & ~last
      all |= last
      lines &+= Self.sum(Self.lineFeeds(Self.endingWord(of: text, from: words &* 8, to: count)))
    }
    guard zeros & Self.high == 0 else { return nil }
    if all & Self.high == 0 {
      self.init(lines: lines)
    } else {
      self.init(validating: text, lines: lines)
    }
  }

  /// So many are looked at without counting, which takes half as long.
  static var manyBytes: Int { 64 }

  /// A highest bit in some byte of `zeros` if a byte is 0, and in one of `all` if one is not of ASCII. There are eight at least.
  @inline(never)
  private static func marks(in text: borrowing Span<UInt8>) -> (zeros: UInt64, all: UInt64) {
    let last = text.word(at: text.count &- 8)
    var (zeros, all) = ((last &- 0x0101_0101_0101_0101) & ~last, last)
    for index in 0..<text.count &>> 3 {
      let word = text.word(at: index &* 8)
      zeros |= (word &- 0x0101_0101_0101_0101) & ~word
      all |= word
    }
    return (zeros, all)
  }

  /// Counts scalars in bytes that are valid UTF-8; `nil` for any others.
  ///
  /// The standard library's validation takes three times as long for text that is of ASCII but for a few scalars, as most is.
  @inline(never)
  private init?(validating text: borrowing Span<UInt8>, lines: Int32) {
    var (continuations, astral): (Int32, Int32) = (0, 0)
    var next = 0
    while true {
      next = text.firstNonASCII(from: next)
      if next == text.count { break }
      repeat {
        let length = text.lengthOfScalar(at: next)
        if length == 0 { return nil }
        continuations &+= length &- 1
        astral &+= length &>> 2
        next &+= Int(length)
      } while next < text.count && text[next] >= 0x80
    }
    self.init(lines: lines, continuations: continuations, astral: astral)
  }

  private static var fewBytes: Int { 64 }

  /// So many words can be counted in the bytes of one.
  private static var mostWords: Int { 255 }

  @inline(never)
  private init(ofMany range: Range<Int>, in text: borrowing Span<UInt8>) {
    self.init()
    var next = range.lowerBound
    while next < range.upperBound {
      let end = min(next &+ Self.mostWords &* 8, range.upperBound)
      let words = (end &- next &- 1) &>> 3
      var (all, lines): (UInt64, UInt64) = (0, 0)
      for index in 0..<words {
        let word = text.word(at: next &+ index &* 8)
        lines &+= Self.lineFeeds(word)
        all |= word
      }
      let last = Self.lastWord(of: text, from: next &+ words &* 8, to: end)
      self += Self(lines: Self.sum(lines &+ Self.lineFeeds(last)))
      if (all | last) & Self.high != 0 { self += Self(scalarsFrom: next, to: end, in: text) }
      next = end
    }
  }

  @inline(never)
  private init(scalarsFrom start: Int, to end: Int, in text: borrowing Span<UInt8>) {
    var (continuations, astral): (UInt64, UInt64) = (0, 0)
    var next = start
    while next < end {
      let isWhole = end &- next >= 8
      let word = isWhole ? text.word(at: next) : Self.lastWord(of: text, from: next, to: end)
      let high = word & Self.high
      continuations &+= (high & ~(word &<< 1)) &>> 7
      astral &+= (high & (word &<< 1) & (word &<< 2) & (word &<< 3)) &>> 7
      next &+= 8
    }
    self.init(continuations: Self.sum(continuations), astral: Self.sum(astral))
  }

  /// The bytes from `start` to `end`, one at least and eight at most, and zeros behind them.
  @inline(__always)
  private static func lastWord(
    of text: borrowing Span<UInt8>, from start: Int, to end: Int
  ) -> UInt64 {
    if end >= 8 { return endingWord(of: text, from: start, to: end) }
    var word: UInt64 = 0
    for index in start..<end { word |= UInt64(text[index]) &<< UInt64(8 &* (index &- start)) }
    return word
  }

  /// The same where eight bytes end there, of which those before `start` are left out.
  @inline(__always)
  private static func endingWord(
    of text: borrowing Span<UInt8>, from start: Int, to end: Int
  ) -> UInt64 {
    text.word(at: end &- 8) &>> UInt64(truncatingIfNeeded: 8 &* (start &+ 8 &- end))
  }

  /// 1 in the place of each byte that is a line feed.
  @inline(__always)
  private static func lineFeeds(_ word: UInt64) -> UInt64 {
    // A byte's highest bit is 0 if the byte is a line feed.
    let other = word ^ 0x0A0A_0A0A_0A0A_0A0A
    let rest = ((other & ~high) &+ ~high) | other
    return (~rest & high) &>> 7
  }

  private static var high: UInt64 { 0x8080_8080_8080_8080 }

  /// The sum of the eight bytes of a word.
  @inline(__always)
  private static func sum(_ bytes: UInt64) -> Int32 {
    let pairs = (bytes & 0x00FF_00FF_00FF_00FF) &+ ((bytes &>> 8) & 0x00FF_00FF_00FF_00FF)
    return Int32(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) &>> 48)
  }

  static func += (a: inout Self, b: Self) {
    a.sum &+= b.sum
    a.astral &+= b.astral
  }

  static prefix func - (a: Self) -> Self {
    var result = a
    result.sum = 0 &- a.sum
    result.astral = 0 &- a.astral
    return result
  }
}

extension Span<UInt8> {
  /// The length of the scalar of two to four bytes that begins there; 0 if none does.
  ///
  /// The second byte's range shuts out overlong forms, surrogates and what lies above U+10FFFF (table 3-7 of the Unicode standard).
  @inline(__always)
  fileprivate func lengthOfScalar(at start: Int) -> Int32 {
    let rest = count &- start
    let first = self[start]
    guard rest >= 2, first >= 0xC2, first <= 0xF4 else { return 0 }
    let second = self[start &+ 1]
    if first < 0xE0 { return second & 0xC0 == 0x80 ? 2 : 0 }
    guard rest >= 3, self[start &+ 2] & 0xC0 == 0x80 else { return 0 }
    if first < 0xF0 {
      let low: UInt8 = first == 0xE0 ? 0xA0 : 0x80
      let high: UInt8 = first == 0xED ? 0x9F : 0xBF
      return second >= low && second <= high ? 3 : 0
    }
    guard rest >= 4, self[start &+ 3] & 0xC0 == 0x80 else { return 0 }
    let low: UInt8 = first == 0xF0 ? 0x90 : 0x80
    let high: UInt8 = first == 0xF4 ? 0x8F : 0xBF
    return second >= low && second <= high ? 4 : 0
  }

  /// True if the bytes are valid UTF-8, and none is 0. O(count).
  var isText: Bool { TextWeight(ofText: self) != nil }
}
