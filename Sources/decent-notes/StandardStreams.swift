internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard input to its end.
func readStandardInput() -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    if count <= 0 { return bytes }
    bytes += buffer[..<count]
  }
}

/// Standard output could not be written.
struct OutputFailure: Error {
  let message: String
}

/// Writes text to standard output, and waits until it is taken. A reader that has gone away has what it wanted.
func printOutput(_ text: String) throws(OutputFailure) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count > 0 {
      rest = rest.dropFirst(count)
    } else if errno == EPIPE {
      return
    } else if errno == EAGAIN {
      var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
      _ = poll(&output, 1, -1)
    } else if errno != EINTR {
      throw OutputFailure(message: "standard output: \(String(cString: strerror(errno)))")
    }
  }
}

/// Writes lines for the user to standard output.
func printLines(_ lines: [String]) throws(OutputFailure) {
  try printOutput(lines.map { $0.escapingControlCharacters + "\n" }.joined())
}

/// Writes a line for the user to standard error.
func printError(_ message: String) {
  let line = Array("decent-notes: \(message.escapingControlCharacters)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
