import JSONRPC
import NotesServer
import Testing

@Suite struct `Text for terminals` {
  /// Every scalar that may command a terminal, and many that may not.
  private static let scalars = (0..<0x2100).compactMap { UInt32($0) }.compactMap(
    Unicode.Scalar.init)

  private static func commands(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control: true
    case .format:
      (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    default: false
    }
  }

  @Test func `has no control character, and none that turns the direction round`() {
    for scalar in Self.scalars {
      let escaped = "a\(scalar)z".escapingControlCharacters
      #expect(!escaped.unicodeScalars.contains(where: Self.commands), "U+\(scalar.value)")
      #expect((escaped.unicodeScalars.count > 3) == Self.commands(scalar), "U+\(scalar.value)")
    }
    #expect(
      "\u{1B}[31m\u{9}\u{9B}\u{202E}".escapingControlCharacters == #"\x1b[31m\x09\x9b\u{202e}"#)
  }

  @Test func `in JSON is the same value`() throws {
    // A NUL is read as U+FFFD, as notes have none.
    let text = String(String.UnicodeScalarView(Self.scalars.dropFirst()))
    var writer = JSONWriter()
    writer.string(text)
    let escaped = String(decoding: writer.bytes, as: UTF8.self).escapingForTerminals
    #expect(!escaped.unicodeScalars.contains(where: Self.commands))
    let read = try JSONValue(parsing: Array(escaped.utf8)).string
    #expect(read?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
  }
}
