import Foundation
import JSONRPC
import TestSupport
import Testing

/// Exchanges changes from the command line; returns the bytes that were sent and received, if it succeeded.
@discardableResult
func sync(
  _ folder: String, with peer: String, _ options: [String] = [],
  environment: [String: String?] = [:]
) throws -> (sent: Int, received: Int) {
  let outcome = try Outcome(
    ["--notebook", folder, "sync"] + options + [peer], environment: environment)
  guard outcome.ending == .status(0), outcome.output.hasPrefix(peer + ": sent ") else {
    throw Failure("sync: \(outcome.ending) \(outcome.output) \(outcome.errors)")
  }
  let numbers = outcome.output.dropFirst(peer.count).split { !$0.isNumber }.compactMap { Int($0) }
  guard numbers.count == 2 else { throw Failure(outcome.output) }
  return (numbers[0], numbers[1])
}

/// The one line that an exchange ends with which fails.
func failure(
  _ folder: String, with peer: String, _ options: [String] = [],
  environment: [String: String?] = [:]
) throws -> String {
  let outcome = try Outcome(
    ["--notebook", folder, "sync"] + options + [peer], environment: environment)
  guard outcome.ending == .status(1), outcome.output.isEmpty else {
    throw Failure("sync succeeded: \(outcome.ending) \(outcome.output)")
  }
  return outcome.errors
}

/// The command of a peer that is of the version before links could stay: what comes from it goes through a program that leaves out what
/// that version did not say.
func olderPeer(_ folder: String) throws -> String {
  let script = folder + ".older.py"
  let program = """
    import subprocess, sys, os
    peer = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
    while True:
      data = os.read(peer.stdout.fileno(), 65536)
      if not data: break
      os.write(1, data.replace(b'"follow":true', b'"follow":null'))
    sys.exit(peer.wait())
    """
  try Data(program.utf8).write(to: URL(fileURLWithPath: script))
  return "python3 \(script) \(Server.program) --notebook \(folder)"
}

/// A server of a notebook, ready.
func serve(
  _ folder: String, _ arguments: [String] = [], environment: [String: String?] = [:]
) throws -> Server {
  let server = try Server(folder, arguments, environment: environment)
  try server.initialize()
  return server
}

/// Begins a notebook with a note for each word, of so many bytes that don't repeat.
func begin(_ folder: String, _ words: [String], bytes: Int = 0, _ ledger: inout Ledger) throws {
  let server = try serve(folder)
  try server.write(words, bytes: bytes, &ledger)
  try server.leave()
}

extension Server {
  /// Creates a note for each word, of so many bytes that don't repeat.
  func write(_ words: [String], bytes: Int = 0, _ ledger: inout Ledger) throws {
    for word in words {
      let note = try create(word, &ledger).get()
      if bytes == 0 { continue }
      // Without spaces, so that it is a word, too.
      var random = SplitMix64(seed: UInt64(crc32c(word.utf8)))
      var text = ""
      while text.utf8.count < bytes { text += String(random.next(), radix: 36) }
      _ = try append(text, to: note, &ledger).get()
    }
  }

  /// The processes that this one has started.
  var children: [pid_t] {
    let path = "/proc/\(process)/task/\(process)/children"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: " ").compactMap { pid_t($0.trimmingCharacters(in: .newlines)) }
  }

  /// How long it has computed, in seconds.
  var processorTime: Double {
    let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    let fields = stat.split(separator: " ").dropFirst(13).prefix(2)
    return fields.reduce(0) { $0 + (Double($1) ?? 0) } / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// What the status says of a peer.
  func peer(_ name: String) throws -> JSONValue? {
    try call("notebook/status")["peers"]!.array!.first { $0["peer"]?.string == name }
  }

  /// Waits until an exchange has carried so much.
  func awaitProgress(_ token: String, bytes: Int) throws {
    _ = try notification("$/progress") {
      guard $0["token"]?.string == token, let message = $0["value"]?["message"]?.string else {
        return false
      }
      return message.split { !$0.isNumber }.contains { Int($0)! >= bytes }
    }
  }
}

/// A program that serves others while a test runs.
final class Daemon {
  let process: pid_t
  private let errors: String
  private var isOver = false

  init(_ words: [String], environment: [String: String?] = [:], log: String) throws {
    errors = log
    let none = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(none) }
    process = try Server.spawn(words, environment, [0: none, 1: none], errors: log)
  }

  deinit { end() }

  var log: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

  func end(_ signal: Int32 = SIGKILL) {
    guard !isOver else { return }
    isOver = true
    kill(process, signal)
    waitpid(process, nil, 0)
  }

  /// Waits until somebody listens at a port.
  func await(port: Int) throws {
    try waitUntil("port \(port)") {
      guard kill(process, 0) == 0 else { throw Failure(log) }
      return isListening(port)
    }
  }
}

private func address(_ port: Int) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
  return address
}

#if os(Linux)
  private let stream = Int32(SOCK_STREAM.rawValue)
#else
  private let stream = SOCK_STREAM
#endif

private func isListening(_ port: Int) -> Bool {
  let socket = socket(AF_INET, stream, 0)
  defer { close(socket) }
  var address = address(port)
  let size = socklen_t(MemoryLayout<sockaddr_in>.size)
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) == 0 }
  }
}

/// A port of this machine that nobody listens at.
func freePort() throws -> Int {
  let socket = socket(AF_INET, stream, 0)
  defer { close(socket) }
  var address = address(0)
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
    }
  }
  guard isBound else { throw Failure("no port: \(errno)") }
  return Int(in_port_t(bigEndian: address.sin_port))
}

/// How many bytes a file has; -1 if there is none.
func size(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : -1
}
