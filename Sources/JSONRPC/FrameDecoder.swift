internal import Bytes

/// Finds the messages in the bytes of a client.
///
/// Append bytes as they arrive, in pieces of any size; after each piece take events until there are
/// none. Then no more is buffered than one message within the limit and one piece: memory grows with what
/// has arrived, never with what a header promises, and a message above the limit is skipped unbuffered.
///
/// - Complexity: O(bytes appended) for all events together, however they are cut into pieces.
public struct FrameDecoder: Sendable {
  /// A message in the stream, or the lack of one.
  public enum Event: Equatable, Sendable {
    /// The bytes of one message, not looked into yet.
    case message([UInt8])
    /// A message that is not accepted. It is skipped: answer with id `null` and go on.
    case refused(ResponseError)
    /// From here on the start of a message can't be told: answer with id `null` and close. This is
    /// the last event.
    case broken(ResponseError)
  }

  private enum State {
    case header(HeaderBlock)
    case body(length: Int)
    case skippingBody(left: Int)
    /// A line, no line break among its first `scanned` bytes.
    case line(scanned: Int)
    case skippingLine
    case broken
  }

  /// The framing: the one that was asked for, but `automatic` only until `next` has seen the
  /// first byte that is no white space.
  public private(set) var framing: Framing

  private let maximumMessage: Int
  private let maximumHeader: Int
  private var state: State
  private var pending: [UInt8] = []
  /// The number of bytes of `pending` that have been dealt with.
  private var start = 0
  /// True until the first bytes are known to be a byte order mark, or none.
  private var mayBeginWithMark = true

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Creates a decoder at the start of a stream.
  ///
  /// - Parameters:
  ///   - framing: How messages are delimited.
  ///   - maximumMessage: How many bytes a message may have.
  ///   - maximumHeader: How many bytes a header may have, its line breaks included.
  public init(
    framing: Framing = .automatic, maximumMessage: Int = 32 << 20, maximumHeader: Int = 8 << 10
  ) {
    self.framing = framing
    self.maximumMessage = maximumMessage
    self.maximumHeader = maximumHeader
    state = framing == .lines ? .line(scanned: 0) : .header(HeaderBlock(limit: maximumHeader))
  }

  /// Takes the next bytes of the stream.
  public mutating func append(_ bytes: ArraySlice<UInt8>) {
    if start >= 1 << 16, start >= pending.count / 2 {
      // This moves no more bytes than what was dealt with since the last time.
      pending.removeSubrange(..<start)
      start = 0
    }
    pending.append(contentsOf: bytes)
    skip()
  }

  /// Takes the next bytes of the stream.
  public mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

  /// The next event, nil if that takes more bytes.
  public mutating func next() -> Event? {
    if mayBeginWithMark, !passMark() { return nil }
    if framing == .automatic, !detectFraming() { return nil }
    skip()
    if case .header(let block) = state, let event = readHeader(block) { return event }
    switch state {
    case .body(let length): return readBody(length)
    case .line(let scanned): return readLine(scanned: scanned)
    case .header, .skippingBody, .skippingLine, .broken: return nil
    }
  }

  /// Takes the end of the stream: the event for a last line without a line break, if there is one.
  ///
  /// Call it after `next` has returned nil. A message that is cut off gives none: see `isAtBoundary`.
  public mutating func finish() -> Event? {
    guard case .line = state, available > 0 else { return nil }
    append([UInt8(ascii: "\n")])
    return next()
  }

  /// True if the bytes so far end where a message ends, once `next` has returned nil.
  public var isAtBoundary: Bool {
    switch state {
    case .header(let block): available == 0 && block.size == 0
    case .line: available == 0
    case .body, .skippingBody, .skippingLine, .broken: false
    }
  }

  /// True if there are bytes behind the last message that was taken: more has come with it.
  public var hasMore: Bool { available > 0 }

  private var available: Int { pending.count - start }

  /// Marks `count` pending bytes as dealt with.
  private mutating func consume(_ count: Int) {
    start += count
    if start == pending.count {
      pending.removeAll(keepingCapacity: pending.capacity <= keptCapacity)
      start = 0
    }
  }

  /// Passes over a byte order mark at the start of the stream; false if that takes more bytes.
  private mutating func passMark() -> Bool {
    let beginning = pending[start...].prefix(Self.byteOrderMark.count)
    if Self.byteOrderMark.starts(with: beginning) {
      guard beginning.count == Self.byteOrderMark.count else { return false }
      consume(beginning.count)
    }
    mayBeginWithMark = false
    return true
  }

  /// Decides about the framing; false if that takes more bytes.
  private mutating func detectFraming() -> Bool {
    let isSpace = { (byte: UInt8) in isBlank(byte) || byte == UInt8(ascii: "\n") }
    consume(pending[start...].prefix(while: isSpace).count)
    guard available > 0 else { return false }
    switch pending[start] {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      framing = .lines
      state = .line(scanned: 0)
    default: framing = .contentLength
    }
    return true
  }

  /// Drops bytes that belong to a message above the limit, or that come after the stream broke.
  private mutating func skip() {
    switch state {
    case .skippingBody(let left):
      let count = min(left, available)
      consume(count)
      state =
        count < left
        ? .skippingBody(left: left - count) : .header(HeaderBlock(limit: maximumHeader))
    case .skippingLine:
      guard let end = pending.span.firstIndex(of: UInt8(ascii: "\n"), from: start) else {
        return consume(available)
      }
      consume(end + 1 - start)
      state = .line(scanned: 0)
    case .broken: consume(available)
    case .header, .body, .line: break
    }
  }

  /// Reads on in a header; a complete one that is as it should be gives no event, but a body to read.
  private mutating func readHeader(_ block: HeaderBlock) -> Event? {
    var block = block
    do {
      let (length, count) = try block.read(pending[start...])
      consume(count)
      state = .header(block)
      guard let length else { return nil }
      if length == 0 {
        state = .header(HeaderBlock(limit: maximumHeader))
        return .refused(.parseError("Content-Length is 0: a message cannot be empty."))
      }
      if length > maximumMessage {
        state = .skippingBody(left: length)
        return .refused(tooLarge("A message of \(length) bytes"))
      }
      state = .body(length: length)
      return nil
    } catch {
      state = .broken
      return .broken(error)
    }
  }

  private mutating func readBody(_ length: Int) -> Event? {
    guard available >= length else { return nil }
    let message = Array(pending[start..<start + length])
    consume(length)
    state = .header(HeaderBlock(limit: maximumHeader))
    return .message(message)
  }

  private mutating func readLine(scanned: Int) -> Event? {
    var scanned = scanned
    while let end = pending.span.firstIndex(of: UInt8(ascii: "\n"), from: start + scanned) {
      scanned = 0
      state = .line(scanned: 0)
      let event = event(ofLine: pending[start..<end])
      consume(end + 1 - start)
      if let event { return event }
    }
    // One byte more than the limit may be the carriage return before the line break.
    if available - 1 > maximumMessage {
      state = .skippingLine
      return .refused(tooLarge("A line"))
    }
    state = .line(scanned: available)
    return nil
  }

  /// The event that a line is, up to its line feed; nil for an empty one.
  private func event(ofLine line: ArraySlice<UInt8>) -> Event? {
    var line = line
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    if line.count > maximumMessage { return .refused(tooLarge("A line of \(line.count) bytes")) }
    return line.allSatisfy(isBlank) ? nil : .message(Array(line))
  }

  private func tooLarge(_ what: String) -> ResponseError {
    .invalidRequest("\(what) is above the limit of \(maximumMessage) bytes.")
  }
}

/// True if a byte is white space within a line.
private func isBlank(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
}

// The wire format, which `FrameDecoder` reads and `Outbox` writes:
//
//     Content-Length: 52\r\n            header lines: a name in any letter case, a colon, a value
//     Another-Header: anything\r\n      unknown ones are ignored
//     \r\n                              the header ends; a bare \n ends lines as well
//     {"jsonrpc":"2.0",…}               exactly Content-Length bytes, then the next header
//
// or, with framing in lines, one message a line, ended by `\n` or `\r\n`; empty lines are ignored. A byte order
// mark before the first message is passed over.

/// The ways in which messages are delimited in a stream of bytes.
public enum Framing: Sendable {
  /// Decided by the first byte of the stream that is no white space, behind a byte order mark: `{` or `[` means lines.
  case automatic
  /// Each message has a header that says its length, as in the language server protocol.
  case contentLength
  /// Each message is a line.
  case lines
}

/// The number of bytes that an empty buffer may keep for the next message: one huge message must not cost its
/// memory for as long as the process lives.
let keptCapacity = 1 << 20
