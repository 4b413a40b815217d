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
