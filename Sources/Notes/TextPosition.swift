internal import Bytes

/// The units in which a client counts characters within a line.
public enum PositionEncoding: String, CaseIterable, Sendable {
  case utf8 = "utf-8"
  case utf16 = "utf-16"
  case utf32 = "utf-32"

  /// The number of units of the scalar that begins with this byte of UTF-8.
  func units(ofScalarBeginningWith byte: UInt8) -> Int {
    switch self {
    case .utf8: byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
    case .utf16: byte < 0xF0 ? 1 : 2
    case .utf32: 1
    }
  }

  /// The number of units of whole scalars. O(1) in bytes, else O(bytes), eight at a time.
  func units(of utf8: Span<UInt8>) -> Int {
    if self == .utf8 { return utf8.count }
    var (units, index) = (0, 0)
    while utf8.count - index >= ByteWord.size {
      units += count(ByteWord(utf8, at: index))
      index += ByteWord.size
    }
    while index < utf8.count {
      units += count(utf8[index])
      index += 1
    }
    return units
  }

  /// The number of bytes that so many units of whole scalars take; nil if these end inside a scalar, or behind the end. O(1) in bytes, else O(units), eight
  /// bytes at a time.
  func end(ofUnits wanted: Int, in utf8: Span<UInt8>) -> Int? {
    // No unit has less than a byte.
    guard wanted <= utf8.count else { return nil }
    func isBoundary(_ index: Int) -> Bool { index == utf8.count || utf8[index] & 0xC0 != 0x80 }
    if self == .utf8 { return isBoundary(wanted) ? wanted : nil }
    var (units, index) = (0, 0)
    while wanted - units >= ByteWord.size, utf8.count - index >= ByteWord.size {
      units += count(ByteWord(utf8, at: index))
      index += ByteWord.size
    }
    while index < utf8.count, units < wanted || !isBoundary(index) {
      units += count(utf8[index])
      index += 1
    }
    return units == wanted ? index : nil
  }

  // Of a scalar the first byte counts for all its units.

  @inline(__always)
  private func count(_ byte: UInt8) -> Int {
    byte & 0xC0 == 0x80 ? 0 : units(ofScalarBeginningWith: byte)
  }

  @inline(__always)
  private func count(_ word: ByteWord) -> Int {
    let scalars = ByteWord.size - word.continuationCount
    return self == .utf16 ? scalars + word.longScalarCount : scalars
  }
}

/// A place in a text: a line, from 0, and units within it, from 0.
public struct TextPosition: Hashable, Sendable {
  /// The line, from 0.
  public var line: Int
  /// Units before the place within its line; which units, the encoding says.
  public var character: Int

  /// A place in a line.
  public init(line: Int, character: Int) {
    self.line = line
    self.character = character
  }
}
