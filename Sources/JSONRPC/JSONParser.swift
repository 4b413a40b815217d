/// The strict, bounded JSON reader.
///
/// The grammar is RFC 8259's, and nothing else: no comments, no trailing commas, no byte order mark, no
/// bytes after the value. Text must be valid UTF-8, and an escaped surrogate must be half of a pair.
/// Doubled member names and `\u0000` are allowed here: the reader of the value decides.
///
/// One loop over the bytes, with the open arrays and objects on a stack of its own that the depth limit
/// bounds. A document that nests a million times must cost an error, never the process its stack.
enum JSONParser {
  /// An array or object that is still open.
  private struct Open {
    var index: Int
    var count: UInt32
    var isObject: Bool
  }

  /// Validates `bytes` and returns their tape (see `JSONDocument`).
  static func tape(
    of bytes: [UInt8], maximumDepth: Int, maximumValues: Int
  ) throws(JSONError) -> [JSONDocument.Entry] {
    // Positions and the escape flag share 32 bits.
    guard bytes.count < Int(JSONDocument.escapeFlag) else {
      throw JSONError(offset: 0, reason: "a document of 2 GiB or more")
    }
    let span = bytes.span
    var tape: [JSONDocument.Entry] = []
    // A message of small values has an entry for every four bytes.
    tape.reserveCapacity(min(bytes.count / 4 + 8, 128))
    var open: [Open] = []
    var values = 0
    var position = 0

    func append(end: Int, from start: Int, flag: UInt32 = 0) throws(JSONError) {
      guard values < maximumValues else {
        throw JSONError(offset: start, reason: "more than \(maximumValues) values")
      }
      values += 1
      tape.append(
        JSONDocument.Entry(
          position: UInt32(truncatingIfNeeded: start), extra: UInt32(truncatingIfNeeded: end) | flag
        ))
    }

    func appendString() throws(JSONError) {
      let start = position
      let escaped = try JSONString.scan(span, from: &position)
      try append(end: position, from: start, flag: escaped ? JSONDocument.escapeFlag : 0)
    }

    func appendName() throws(JSONError) {
      guard skipSpace(span, &position) == UInt8(ascii: "\"") else {
        throw unexpected(span, position, wanted: "a member name in quotation marks")
      }
      try appendString()
      guard skipSpace(span, &position) == UInt8(ascii: ":") else {
        throw unexpected(span, position, wanted: "a colon")
      }
      position += 1
    }

    func close(_ container: Open) {
      tape[container.index].extra = UInt32(truncatingIfNeeded: tape.count)
      tape.append(
        JSONDocument.Entry(
          position: UInt32(truncatingIfNeeded: position), extra: container.count))
      position += 1
    }

    while true {
      guard let first = skipSpace(span, &position) else {
        throw unexpected(span, position, wanted: "a value")
      }
      let start = position
      switch first {
      case UInt8(ascii: "\""):
        try appendString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard open.count < maximumDepth else {
          throw JSONError(offset: position, reason: "nested more than \(maximumDepth) deep")
        }
        let container = Open(index: tape.count, count: 0, isObject: first == UInt8(ascii: "{"))
        try append(end: 0, from: start)
        position += 1
        // `]` and `}` are two above their opening brackets in ASCII.
        if skipSpace(span, &position) == first + 2 {
          close(container)
        } else {
          if open.isEmpty { open.reserveCapacity(8) }
          open.append(container)
          if container.isObject { try appendName() }
          continue
        }
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        try JSONNumber.scan(span, from: &position)
        try append(end: position, from: start)
      case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
        try scanLiteral(span, from: &position)
        try append(end: position, from: start)
      default:
        throw unexpected(span, position, wanted: "a value")
      }

      // A value is complete: close what ends here, up to the comma before the next value.
      while true {
        let next = skipSpace(span, &position)
        guard var container = open.popLast() else {
          guard next == nil else {
            throw JSONError(offset: position, reason: "bytes after the end of the value")
          }
          return tape
        }
        container.count += 1
        if next == UInt8(ascii: ",") {
          position += 1
          open.append(container)
          if container.isObject { try appendName() }
          break
        }
        guard next == (container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
          let wanted = container.isObject ? "a comma or }" : "a comma or ]"
          throw unexpected(span, position, wanted: wanted)
        }
        close(container)
      }
    }
  }

  /// Moves `position` to the next byte that is no white space and returns that byte, nil at the end.
  @inline(__always)
  static func skipSpace(_ bytes: Span<UInt8>, _ position: inout Int) -> UInt8? {
    while position < bytes.count {
      let byte = bytes[position]
      if byte > 0x20 { return byte }
      switch byte {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return byte
      }
    }
    return nil
  }

  private static func scanLiteral(
    _ bytes: Span<UInt8>, from position: inout Int
  ) throws(JSONError) {
    let literal: String =
      switch bytes[position] {
      case UInt8(ascii: "t"): "true"
      case UInt8(ascii: "f"): "false"
      default: "null"
      }
    for byte in literal.utf8 {
      guard position < bytes.count, bytes[position] == byte else {
        throw unexpected(bytes, position, wanted: literal)
      }
      position += 1
    }
  }

  private static func unexpected(
    _ bytes: Span<UInt8>, _ position: Int, wanted: String
  ) -> JSONError {
    let found = position < bytes.count ? "not \(name(of: bytes[position]))" : "not the end of input"
    return JSONError(offset: position, reason: "expected \(wanted), \(found)")
  }

  private static func name(of byte: UInt8) -> String {
    if (0x21...0x7E).contains(byte) { return String(UnicodeScalar(byte)) }
    let digits = String(byte, radix: 16, uppercase: true)
    return "the byte 0x" + (digits.utf8.count < 2 ? "0" : "") + digits
  }
}

/// The reason for which bytes are not an acceptable JSON document, and the place.
public struct JSONError: Error, Equatable, Sendable {
  /// The offset, in bytes from the start of the document, of what is wrong.
  public var offset: Int
  /// The reason, for people to read.
  public var reason: String
  /// True if a text has half of a surrogate pair there. Programs whose texts are UTF-16 send that now and then; all else may be right.
  var isLoneSurrogate = false

  /// Creates an error about the byte at `offset`.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }
}
