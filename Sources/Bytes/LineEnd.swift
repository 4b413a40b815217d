/// The bytes that end a line: a line feed, or a carriage return and a line feed.
public enum LineEnd: Sendable {
  case lineFeed
  case carriageReturnLineFeed

  /// The line end that most lines of a text have, a line feed where there are as many of each; nil for a text of one line.
  public init?(of text: some Collection<UInt8>) {
    var (all, long, previous) = (0, 0, UInt8(0))
    for byte in text {
      if byte == 0x0A {
        all += 1
        if previous == 0x0D { long += 1 }
      }
      previous = byte
    }
    if all == 0 { return nil }
    self = 2 * long > all ? .carriageReturnLineFeed : .lineFeed
  }

  /// The bytes themselves.
  public var bytes: [UInt8] { self == .lineFeed ? [0x0A] : [0x0D, 0x0A] }

  /// A text with this line end in place of each other one.
  public func ending(linesOf text: some Collection<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    for byte in text {
      if byte == 0x0A {
        if result.last == 0x0D { result.removeLast() }
        result += bytes
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// The lines of a text that is added to another one, with the line ends of that other one but none behind the last line; and these line ends.
  public static func lines(
    of text: [UInt8], appendedTo before: [UInt8]
  ) -> (lines: [UInt8], end: LineEnd) {
    let end = LineEnd(of: before) ?? LineEnd(of: text) ?? .lineFeed
    var lines = end.ending(linesOf: text)
    if lines.last == 0x0A { lines.removeLast(end.bytes.count) }
    return (lines, end)
  }
}
