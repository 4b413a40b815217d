extension String {
  /// The text with every control character as `\x1b`: what comes from file names and from peers must not command a terminal.
  ///
  /// Control characters are U+0000 to U+001F, line breaks among them, and U+007F to U+009F. O(bytes).
  public var escapingControlCharacters: String {
    if unicodeScalars.allSatisfy({ !Self.isControl($0) }) { return self }
    var text = ""
    for scalar in unicodeScalars {
      if Self.isControl(scalar) {
        text += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
