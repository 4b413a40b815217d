/// A text that is looked for in folded texts.
struct SearchPattern: Sendable {
  /// The text, folded: at least one byte.
  let bytes: [UInt8]
  /// Where in it the three bytes are that texts have least.
  let rarest: (Int, Int, Int)
  /// The bytes of ASCII that it has, a bit for each; nil if it has others, too.
  let plain: (low: UInt64, high: UInt64)?

  /// `nil` if nothing is left of the text when case and marks are taken away.
  init?(_ text: [UInt8]) {
    var folded = FoldedText()
    folded.fold(text[...])
    let bytes = Array(folded.utf8)
    if bytes.isEmpty { return nil }
    self.bytes = bytes
    // From the commonest to the rarest; what is not among them is rarer still.
    let common = [UInt8](" etaoinsrhldcumfpgwybvkxjqz\n".utf8)
    let order = bytes.indices.sorted {
      (common.firstIndex(of: bytes[$0]) ?? 99, $0) > (common.firstIndex(of: bytes[$1]) ?? 99, $1)
    }
    rarest = (order[0], order[min(1, order.count - 1)], order[min(2, order.count - 1)])
    plain = bytes.contains { $0 >= 0x80 } ? nil : Self.bits(bytes)
  }

  private static func bits(_ bytes: [UInt8]) -> (low: UInt64, high: UInt64) {
    var bits: (low: UInt64, high: UInt64) = (0, 0)
    for byte in bytes {
      if byte < 64 { bits.low |= 1 << UInt64(byte) } else { bits.high |= 1 << UInt64(byte - 64) }
    }
    return bits
  }

  /// True if it stands somewhere in a text.
  func isIn(_ folded: borrowing FoldedText) -> Bool {
    folded.utf8.span.firstRange(of: bytes.span, rarest, from: 0, inAnyCase: false) != nil
  }

  /// Where it stands in a text that was folded with origins: the first places.
  func ranges(in folded: borrowing FoldedText, atMost limit: Int) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var start = 0
    while ranges.count < limit,
      let found = folded.utf8.span.firstRange(
        of: bytes.span, rarest, from: start, inAnyCase: false)
    {
      let range = folded.range(of: found)
      // Two matches may be within what one scalar folds to.
      if range.lowerBound >= ranges.last?.upperBound ?? 0 { ranges.append(range) }
      start = found.upperBound
    }
    return ranges
  }
}

extension Span<UInt8> {
  /// Where a text of at least one byte stands first, at `start` or later. O(n), and the length of the text for each place where
  /// three bytes of it stand as they do in it.
  ///
  /// - Parameter isCaseIgnored: true if letters of ASCII count as the small ones that the text has in their place.
  func firstRange(
    of pattern: Span<UInt8>, _ places: (Int, Int, Int), from start: Int,
    inAnyCase isCaseIgnored: Bool
  ) -> Range<Int>? {
    let length = pattern.count
    guard length <= count - start else { return nil }
    let end = count &- length &+ 1
    let bytes = (pattern[places.0], pattern[places.1], pattern[places.2])
    // The bit by which a capital differs.
    func mask(_ byte: UInt8) -> UInt8 { isCaseIgnored && byte &- 0x61 < 26 ? 0x20 : 0 }
    let masks = (mask(bytes.0), mask(bytes.1), mask(bytes.2))
    var block = start
    while block < end {
      let stop = Swift.min(block &+ 128, end)
      let first = extracting(block &+ places.0..<stop &+ places.0)
      let second = extracting(block &+ places.1..<stop &+ places.1)
      let third = extracting(block &+ places.2..<stop &+ places.2)
      if Self.haveInOnePlace(first, second, third, bytes, masks) {
        for index in first.indices
        where first[index] | masks.0 == bytes.0 && second[index] | masks.1 == bytes.1 {
          let place = block &+ index
          var offset = 0
          while offset < length {
            let byte = self[place &+ offset]
            guard (isCaseIgnored ? FoldedText.lowered(byte) : byte) == pattern[offset] else {
              break
            }
            offset &+= 1
          }
          if offset == length { return place..<place &+ length }
        }
      }
      block = stop
    }
    return nil
  }

  /// True if at some index each has its byte, when it has the bits of a mask. Not inlined, so that the compiler makes vectors of it.
  @inline(never)
  private static func haveInOnePlace(
    _ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>,
    _ bytes: (UInt8, UInt8, UInt8), _ masks: (UInt8, UInt8, UInt8)
  ) -> Bool {
    let count = first.count
    precondition(second.count == count && third.count == count)
    var isFound: UInt8 = 0
    var index = 0
    while index < count {
      let difference =
        ((first[index] | masks.0) ^ bytes.0) | ((second[index] | masks.1) ^ bytes.1)
        | ((third[index] | masks.2) ^ bytes.2)
      isFound |= difference == 0 ? 1 : 0
      index &+= 1
    }
    return isFound != 0
  }
}
