internal import JSONRPC

/// A header that is a JSON object, as Hugo has it: at the beginning of a file, with nothing behind it on its last line.
///
/// An object is a header if it has one of the members that headers have. All else is text, such as a note that is JSON, or a larger object.
struct JSONHeader {
  /// The bytes between the outer braces.
  private(set) var members: [UInt8]
  /// The line from the last brace on.
  private(set) var closing: [UInt8]
  /// The start of the text.
  private(set) var textStart: Int

  private static let knownMembers = ["title", "tags", "date", "draft", "keywords", "priority"]

  /// The header that begins at `start`.
  ///
  /// - Parameters:
  ///   - prefix: What stands before each line.
  ///   - longest: The most bytes that it may have.
  /// - Complexity: O(length of the header); where none is closed, O(`longest`).
  init?(in bytes: [UInt8], from start: Int, prefix: [UInt8], longest: Int) {
    guard bytes[start...].starts(with: prefix + [.openingBrace]) else { return nil }
    var object: [UInt8] = []
    var depth = 0
    var isQuoted = false
    var isEscaped = false
    var line = start
    while line < bytes.count {
      guard bytes[line...].starts(with: prefix) else { return nil }
      let end = bytes[...].endOfLine(from: line)
      for index in (line + prefix.count)..<end {
        if object.count == longest { return nil }
        let byte = bytes[index]
        object.append(byte)
        if isEscaped {
          isEscaped = false
        } else if isQuoted {
          isEscaped = byte == .backslash
          isQuoted = byte != .quote
        } else if byte == .quote {
          isQuoted = true
        } else if byte == .openingBrace {
          depth += 1
        } else if byte == .closingBrace {
          depth -= 1
          if depth == 0 {
            let rest = bytes[(index + 1)..<end]
            guard rest.withoutLineEnd.allSatisfy(\.isBlank), Self.isHeader(object) else {
              return nil
            }
            members = Array(object.dropFirst().dropLast())
            closing = [.closingBrace] + rest
            textStart = end
            return
          }
        }
      }
      line = end
    }
    return nil
  }

  private static func isHeader(_ object: [UInt8]) -> Bool {
    guard let value = try? JSONValue(parsing: object) else { return false }
    return knownMembers.contains { value[$0] != nil }
  }
}
