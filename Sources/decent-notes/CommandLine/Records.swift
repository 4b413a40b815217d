internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A list on standard output: one record a line, its fields separated by tabs; or records that end with NUL; or one JSON object a line.
///
/// In lines, control characters of a field are written as `\x1b`, so that none separates fields or records, and none commands a terminal.
/// Records that end with NUL have them as they are, but not on a terminal. JSON has all characters, escaped.
struct Records {
  /// What a field looks like on a terminal.
  enum Style { case plain, faint, bold }

  /// The options of a verb that lists something.
  static let options = [
    Option("--json", "one JSON object a line, with all there is"),
    Option("-0", "each record ends with NUL, and nothing is escaped"),
  ]

  /// Refuses two ways at once.
  static func check(_ command: Command) throws(CommandFailure) {
    if command.has("--json"), command.has("-0") {
      throw command.misuse("--json and -0 are two ways")
    }
  }

  private enum Format { case lines, null, json }

  private let format: Format
  private let isEscaping: Bool
  private let isColoured: Bool
  private var unwritten: [UInt8] = []
  /// True if the reader has gone away: nothing more need be written.
  private(set) var isUnread = false

  init(_ command: Command, _ surroundings: CommandEnvironment) {
    format = command.has("--json") ? .json : command.has("-0") ? .null : .lines
    let isTerminal = isatty(STDOUT_FILENO) == 1
    isEscaping = format == .lines || isTerminal
    isColoured =
      format == .lines && isTerminal && surroundings.variable("NO_COLOR") == nil
      && surroundings.variable("TERM") != "dumb"
  }

  /// Writes a record; `value` is what it is in JSON. Not at once: `flush` does that.
  mutating func write(
    _ fields: [(text: String, style: Style)], _ value: JSONValue
  ) throws(CommandFailure) {
    if isUnread { return }
    if format == .json {
      unwritten += value.printable + [0x0A]
    } else {
      for (index, field) in fields.enumerated() {
        if index > 0 { unwritten.append(0x09) }
        let code = isColoured ? Self.code(field.style) : nil
        if let code { unwritten += "\u{1B}[\(code)m".utf8 }
        unwritten += (isEscaping ? field.text.escapingControlCharacters : field.text).utf8
        if code != nil { unwritten += "\u{1B}[m".utf8 }
      }
      unwritten.append(format == .null ? 0 : 0x0A)
    }
    if unwritten.count >= 1 << 16 { try flush() }
  }

  /// Writes what is not written yet to standard output.
  mutating func flush() throws(CommandFailure) {
    if !isUnread, !unwritten.isEmpty { isUnread = try !writeOutput(unwritten) }
    unwritten.removeAll(keepingCapacity: true)
  }

  private static func code(_ style: Style) -> Int? {
    switch style {
    case .plain: nil
    case .faint: 2
    case .bold: 1
    }
  }
}

extension JSONValue {
  /// The value as it was written, but that characters which could command a terminal are escaped in it. Such as JSON allows in a string are
  /// U+007F to U+009F.
  var printable: [UInt8] {
    let raw = rawBytes
    guard raw.contains(where: { $0 == 0x7F || $0 == 0xC2 }) else { return Array(raw) }
    var bytes: [UInt8] = []
    var index = raw.startIndex
    func escape(_ byte: UInt8) { bytes += "\\u00\(String(byte, radix: 16))".utf8 }
    while index < raw.endIndex {
      let (byte, next) = (raw[index], raw.index(after: index))
      if byte == 0x7F {
        escape(byte)
      } else if byte == 0xC2, next < raw.endIndex, raw[next] < 0xA0 {
        escape(raw[next])
        index = next
      } else {
        bytes.append(byte)
      }
      index += 1
    }
    return bytes
  }
}
