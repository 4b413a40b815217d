extension String {
  /// The text with every control character as `\x1b`, and with those that turn the direction of text round as `\u{202e}`: what comes from
  /// file names and from peers must not command a terminal, nor look like something else.
  ///
  /// Control characters are U+0000 to U+001F, line breaks among them, and U+007F to U+009F. O(bytes).
  public var escapingControlCharacters: String {
    escaping {
      let digits = String($0.value, radix: 16)
      return $0.value > 0xFF
        ? "\\u{\(digits)}" : "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
    }
  }

  /// A JSON document without characters that command a terminal: the same value.
  ///
  /// In strings JSON itself escapes only those before U+0020, and outside of strings the others don't stand. O(bytes).
  public var escapingForTerminals: String {
    escaping {
      if $0.value < 0x20 { return String($0) }
      let digits = String($0.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
  }

  private func escaping(_ escaped: (Unicode.Scalar) -> String) -> String {
    if unicodeScalars.allSatisfy({ !Self.isCommand($0) }) { return self }
    var text = ""
    for scalar in unicodeScalars {
      if Self.isCommand(scalar) {
        text += escaped(scalar)
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  private static func isCommand(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
