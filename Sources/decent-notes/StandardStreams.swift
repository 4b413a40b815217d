internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// MARK: - Standard input

/// Standard input to its end.
///
/// - Parameter most: the most bytes that are taken.
func readStandardInput(atMost most: Int = .max) throws(CommandFailure) -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    if count == 0 { return bytes }
    if count > 0 {
      guard count <= most - bytes.count else {
        throw CommandFailure("standard input: there are more than \(most) bytes")
      }
      bytes += buffer[..<count]
    } else if errno == EAGAIN {
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      _ = poll(&input, 1, -1)
    } else if errno != EINTR {
      throw CommandFailure("standard input: \(String(cString: strerror(errno)))")
    }
  }
}

/// The text at standard input, to its end.
func readText() throws(CommandFailure) -> String {
  // No change has more.
  let bytes = try readStandardInput(atMost: 64 << 20)
  guard let text = text(of: bytes) else {
    throw CommandFailure("standard input: it is no text in UTF-8, or has U+0000")
  }
  return text
}

/// The text that bytes are in UTF-8; nil if they are none that a note can have.
func text(of bytes: [UInt8]) -> String? {
  bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
}

// MARK: - Standard output

/// Writes bytes to standard output, and waits until they are taken.
///
/// - Returns: false if the reader has gone away, which has what it wanted; or if the process is asked to end.
@discardableResult
func writeOutput(_ bytes: some Collection<UInt8>) throws(CommandFailure) -> Bool {
  var rest = Array(bytes)[...]
  while !rest.isEmpty {
    var polls = [
      pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: endSignalDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&polls, 2, -1) >= 0 else { continue }
    if polls[1].revents != 0 { return false }
    // A pipe that takes something takes this much, so nothing waits here.
    let piece = rest.prefix(Int(PIPE_BUF))
    let count = piece.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno == EPIPE {
      return false
    } else if errno != EINTR, errno != EAGAIN {
      throw CommandFailure("standard output: \(String(cString: strerror(errno)))")
    }
  }
  return true
}

/// Writes lines for the user to standard output.
func printLines(_ lines: [String]) throws(CommandFailure) {
  try writeOutput(lines.map { $0.escapingControlCharacters + "\n" }.joined().utf8)
}

/// Writes a line for the user to standard error.
func printError(_ message: String) {
  let line = Array("decent-notes: \(message.escapingControlCharacters)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Writes the reason of a failure to standard error.
func report(_ failure: CommandFailure) {
  for line in failure.lines { printError(line) }
}

/// Puts something unusable in the place of standard streams that are closed: what is opened later must not get their numbers, and
/// be written to in their place. Reading from them and writing to them stays an error.
func fillClosedStreams() {
  for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
  where fcntl(descriptor, F_GETFD) < 0 {
    _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
  }
}
