internal import Bytes

// A pattern in a text that is not folded. Folding took most of the time of a search, and as a rule is not needed.
//
// The folding of a text has a pattern of ASCII in one of two ways. Either the text itself has it, in capitals or small letters with nothing between
// them. Or a scalar beyond ASCII takes part: it folds to a piece of the pattern, to more than the pattern, or to nothing inside it. So the text is looked
// through for the pattern, and then each scalar beyond ASCII is held against the pattern, with the byte before and the byte behind it. Only a text with one
// that may take part is folded; and one that is no valid UTF-8, since its folding may leave out bytes of ASCII; and one that has many such scalars: to fold
// it takes less time than to hold each of them against the pattern.

extension SearchPattern {
  /// True if it stands somewhere in the folding of a text, for which `folded` is used where that is needed.
  func isIn(_ text: ArraySlice<UInt8>, _ folded: inout FoldedText) -> Bool {
    let isASCII = text.span.isASCII
    guard let plain else {
      if isASCII { return false }
      folded.fold(text)
      return isIn(folded)
    }
    if let found = text.span.firstRange(of: bytes.span, rarest, from: 0, inAnyCase: true) {
      if isASCII || text.span.isASCII(before: found.lowerBound) { return true }
    } else if isASCII || !mayTakePart(text.span, plain, &folded) {
      return false
    }
    folded.fold(text)
    return isIn(folded)
  }

  /// True if a scalar beyond ASCII may have a part in the pattern; or if the text is no valid UTF-8, or one byte in eight begins such a scalar.
  private func mayTakePart(
    _ text: Span<UInt8>, _ plain: (low: UInt64, high: UInt64), _ folded: inout FoldedText
  ) -> Bool {
    var index = 0
    var scalars = 0
    while index < text.count {
      if text.count - index >= ByteWord.size {
        let marks = ByteWord(text, at: index).marksBeyondASCII
        index &+= marks == 0 ? ByteWord.size : ByteWord.countBefore(marks)
        if marks == 0 { continue }
      } else if text[index] < 0x80 {
        index &+= 1
        continue
      }
      scalars &+= 1
      if scalars > Self.fewScalars, scalars &* 8 > index { return true }
      let start = index
      let folding = folded.folding(text, at: &index)
      for place in start &+ 1..<index where text[place] < 0x80 { return true }
      if folding.count > 0, !folding.hasByte(of: plain) { continue }
      let before = start > 0 ? Neighbour(text[start &- 1]) : .none
      let after = index < text.count ? Neighbour(text[index]) : .none
      if fits(folding, between: before, after) { return true }
    }
    return false
  }

  /// Of fewer scalars it is not told how many there are in a byte.
  private static var fewScalars: Int { 16 }

  /// A byte beside a scalar, as it is folded.
  private enum Neighbour {
    /// The text begins, or ends.
    case none
    case ascii(UInt8)
    /// A part of another scalar beyond ASCII: it may fold to anything.
    case unknown

    @inline(__always)
    init(_ byte: UInt8) { self = byte < 0x80 ? .ascii(FoldedText.lowered(byte)) : .unknown }

    @inline(__always)
    func mayBe(_ byte: UInt8) -> Bool {
      switch self {
      case .none: false
      case .ascii(let own): own == byte
      case .unknown: true
      }
    }
  }

  /// True if a folding may be where the pattern is, as a whole or in part; or inside the pattern, if it is empty.
  private func fits(
    _ folding: FoldedText.Folding, between before: Neighbour, _ after: Neighbour
  ) -> Bool {
    let size = Int(folding.count)
    // Each place at which the folding may begin, counted from the beginning of the pattern.
    for start in 1 - size..<bytes.count {
      let end = start + size
      if start > 0, !before.mayBe(bytes[start - 1]) { continue }
      if end < bytes.count, !after.mayBe(bytes[end]) { continue }
      let common = max(start, 0)..<min(end, bytes.count)
      if common.allSatisfy({ folding[$0 - start] == bytes[$0] }) { return true }
    }
    return false
  }
}

extension FoldedText.Folding {
  /// True if one of its bytes is among some of ASCII.
  @inline(__always)
  fileprivate func hasByte(of plain: (low: UInt64, high: UInt64)) -> Bool {
    for index in 0..<Int(count) {
      let byte = self[index]
      let bits = byte < 64 ? plain.low : byte < 128 ? plain.high : 0
      if bits >> UInt64(byte & 63) & 1 == 1 { return true }
    }
    return false
  }
}

extension Span<UInt8> {
  /// True if every byte is ASCII.
  fileprivate var isASCII: Bool { Self.bits(self) < 0x80 }

  /// The bits that the bytes have together. Not inlined, so that the compiler makes vectors of it.
  @inline(never)
  private static func bits(_ bytes: Span<UInt8>) -> UInt8 {
    var bits: UInt8 = 0
    for index in bytes.indices { bits |= bytes[index] }
    return bits
  }

  /// True if the bytes before a place are none that could begin a scalar with the bytes there: three at most.
  fileprivate func isASCII(before place: Int) -> Bool {
    for index in Swift.max(0, place - 3)..<place where self[index] >= 0x80 { return false }
    return true
  }
}
