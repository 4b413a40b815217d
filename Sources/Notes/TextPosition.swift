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
