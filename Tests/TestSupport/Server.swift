// The driver of these tests: a process of the program, spoken to through its pipes.
//
// Every wait has a deadline, and nothing sleeps to make sure: what is waited for is looked for until it is there.

package import Foundation
package import JSONRPC

/// The first place of a byte from `start` on. (The collection's own takes as long as a call for each byte.)
package func firstIndex(of byte: UInt8, in bytes: [UInt8], from start: Int = 0) -> Int? {
  bytes.withUnsafeBytes { buffer in
    guard start < buffer.count, let base = buffer.baseAddress else { return nil }
    return memchr(base + start, Int32(byte), buffer.count - start).map {
      base.distance(to: UnsafeRawPointer($0))
    }
  }
}

/// How the messages to a server are delimited.
package enum Delimiter: CaseIterable, Sendable {
  case headers
  case lines

  package func frame(_ message: [UInt8]) -> [UInt8] {
    switch self {
    case .headers: Array("Content-Length: \(message.count)\r\n\r\n".utf8) + message
    case .lines: message + [0x0A]
    }
  }
}

/// How a process ended.
package enum Ending: Equatable, Sendable {
  case status(Int32)
  case signal(Int32)
}

/// One process of the program.
package final class Server {
  /// The program under test, which is built next to the tests.
  package static let program: String = {
    // A write to a process that has left is an error here, not our end.
    signal(SIGPIPE, SIG_IGN)
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    return folder.appendingPathComponent("decent-notes").path
  }()

  package let process: pid_t
  package let delimiter: Delimiter
  /// The notebook's folder, as its argument.
  package let folder: String?
  package private(set) var input: Int32
  package private(set) var output: Int32
  private let errors: String
  package private(set) var ending: Ending?

  private var received: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  private var lastID = 0
  /// Ids of responses, in the order in which they came.
  package private(set) var answered: [String] = []
  private var responses: [String: JSONValue] = [:]
  /// Responses with the id null.
  package var anonymous: [JSONValue] = []
  package var notifications: [JSONValue] = []

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - shell: a command line for `sh`, in which `"$@"` is the program with its arguments.
  ///   - closing: descriptors that are closed when it starts.
  package init(
    _ folder: String?, _ arguments: [String] = [], delimiter: Delimiter = .headers,
    environment: [String: String?] = [:], shell: String? = nil, closing: [Int32] = []
  ) throws {
    self.delimiter = delimiter
    self.folder = folder
    var words = [Self.program] + (folder.map { ["--notebook", $0] } ?? []) + arguments
    if let shell { words = ["/bin/sh", "-c", shell, "sh"] + words }
    errors = NSTemporaryDirectory() + "decent-notes-errors-\(UUID().uuidString)"
    let (childInput, input) = try Self.pipe()
    let (output, childOutput) = try Self.pipe()
    self.input = input
    self.output = output
    process = try Self.spawn(
      words, environment, [0: childInput, 1: childOutput], errors: errors, closing: closing)
    close(childInput)
    close(childOutput)
    for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
  }

  deinit {
    if ending == nil {
      kill(process, SIGKILL)
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }
    if input >= 0 { close(input) }
    if output >= 0 { close(output) }
    unlink(errors)
  }

  private static func pipe() throws -> (reading: Int32, writing: Int32) {
    // A process that is started in between would hold these ends, too.
    try Spawning.alone {
      var ends: [Int32] = [-1, -1]
      guard Foundation.pipe(&ends) == 0 else { throw Failure("no pipe: \(errno)") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return (ends[0], ends[1])
    }
  }

  package static func spawn(
    _ words: [String], _ environment: [String: String?], _ descriptors: [Int32: Int32],
    errors: String, closing: [Int32] = []
  ) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, descriptor) in descriptors {
      posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    }
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    for number in closing { posix_spawn_file_actions_addclose(&actions, number) }
    // What is ignored here must not be ignored there because of us.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // The threads that tests run on let no signals through.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))

    var variables = ProcessInfo.processInfo.environment
    variables["DECENT_NOTES"] = nil
    variables["XDG_STATE_HOME"] = stateFolder
    variables["XDG_RUNTIME_DIR"] = memoryFolder
    for (name, value) in environment { variables[name] = value }
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    var pairs: [UnsafeMutablePointer<CChar>?] =
      variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for string in arguments + pairs { free(string) } }
    var process: pid_t = 0
    let failure = Spawning.alone {
      posix_spawn(&process, words[0], &actions, &attributes, &arguments, &pairs)
    }
    guard failure == 0 else {
      throw Failure("\(words[0]) can't be started: \(String(cString: strerror(failure)))")
    }
    return process
  }

  // MARK: - Bytes

  /// Writes bytes, and reads what comes meanwhile unless told not to.
  package func write(
    _ bytes: [UInt8], reading: Bool = true, within seconds: TimeInterval = patience
  ) throws {
    let deadline = Deadline(in: seconds)
    var at = 0
    while at < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.write(input, $0.baseAddress! + at, min(1 << 16, $0.count - at))
      }
      if count > 0 {
        at += count
        continue
      }
      guard errno == EAGAIN || errno == EINTR else {
        throw Failure("writing to the server: \(String(cString: strerror(errno)))")
      }
      guard try waitForRoom(reading: reading, until: deadline) else {
        throw Failure("the server took \(at) of \(bytes.count) bytes in \(seconds) s")
      }
    }
  }

  private func waitForRoom(reading: Bool, until deadline: Deadline) throws -> Bool {
    var polls = [
      pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: reading && !isAtEnd ? output : -1, events: Int16(POLLIN), revents: 0),
    ]
    guard !deadline.isOver else { return false }
    _ = poll(&polls, 2, deadline.milliseconds)
    if polls[1].revents != 0 { try readAvailable() }
    return true
  }

  package func write(_ text: String) throws { try write(Array(text.utf8)) }

  package func send(_ message: JSON) throws { try write(delimiter.frame(message.bytes)) }

  package func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Stops reading, as a client that is gone.
  package func closeOutput() {
    if output >= 0 { close(output) }
    output = -1
    isAtEnd = true
  }

  private func readAvailable() throws {
    try withUnsafeTemporaryAllocation(byteCount: 1 << 17, alignment: 1) { buffer in
      while !isAtEnd {
        let count = read(output, buffer.baseAddress!, buffer.count)
        if count > 0 {
          received.append(contentsOf: buffer[..<count])
        } else if count == 0 {
          isAtEnd = true
        } else if errno == EAGAIN {
          return
        } else if errno != EINTR {
          throw Failure("reading from the server: \(String(cString: strerror(errno)))")
        }
      }
    }
  }

  /// Takes what a program has written that sends no messages.
  package func takeOutput() throws -> String {
    try readAvailable()
    defer { (received, start) = ([], 0) }
    return String(decoding: received[start...], as: UTF8.self)
  }

  /// The next message as it came; nil at the end of the output.
  package func frame(within seconds: TimeInterval = patience) throws -> [UInt8]? {
    let deadline = Deadline(in: seconds)
    while true {
      if let frame = try takeFrame() { return frame }
      if isAtEnd {
        guard start == received.count else { throw Failure("the output ends in half a message") }
        return nil
      }
      guard !deadline.isOver else { throw Failure("no message within \(seconds) s\n\(errorText)") }
      awaitInput([output], milliseconds: deadline.milliseconds)
      try readAvailable()
    }
  }

  private func takeFrame() throws -> [UInt8]? {
    if start > 1 << 20, start > received.count / 2 {
      received.removeSubrange(..<start)
      start = 0
    }
    let rest = received[start...]
    switch delimiter {
    case .lines:
      guard let end = firstIndex(of: 0x0A, in: received, from: start) else { return nil }
      start = end + 1
      return Array(rest[..<end])
    case .headers:
      let name = Array("Content-Length: ".utf8)
      guard rest.count > name.count else { return nil }
      guard rest.starts(with: name) else {
        throw Failure("no frame: \(String(decoding: rest.prefix(200), as: UTF8.self))")
      }
      guard let end = rest.prefix(100).firstIndex(of: 0x0D) else { return nil }
      let digits = rest[(start + name.count)..<end]
      guard let length = Int(String(decoding: digits, as: UTF8.self)) else {
        throw Failure("no length: \(String(decoding: digits, as: UTF8.self))")
      }
      let body = end + 4
      guard received.count >= body + length else { return nil }
      start = body + length
      return Array(received[body..<start])
    }
  }

  // MARK: - Messages

  /// Sends a request and returns its id without waiting.
  @discardableResult
  package func post(_ method: String, _ params: JSON? = nil) throws -> Int {
    lastID += 1
    try send(.request(JSON(lastID), method, params))
    return lastID
  }

  package func notify(_ method: String, _ params: JSON? = nil) throws {
    try send(.notification(method, params))
  }

  /// Takes in one message; false at the end of the output.
  package func receive(within seconds: TimeInterval = patience) throws -> Bool {
    guard let frame = try frame(within: seconds) else { return false }
    try file(frame)
    return true
  }

  /// Takes in all messages that are there.
  package func receiveAvailable() throws {
    try readAvailable()
    while let frame = try takeFrame() { try file(frame) }
  }

  private func file(_ frame: [UInt8]) throws {
    let message: JSONValue
    do { message = try JSONValue(parsing: frame) } catch {
      throw Failure("\(error.reason): \(String(decoding: frame.prefix(200), as: UTF8.self))")
    }
    guard message["jsonrpc"]?.string == "2.0" else { throw Failure("a message without jsonrpc") }
    guard let id = message["id"] else {
      notifications.append(message)
      return
    }
    guard message["method"] == nil else { throw Failure("a request from the server") }
    guard (message["result"] == nil) != (message["error"] == nil) else {
      throw Failure("a response needs either result or error")
    }
    if id.isNull { return anonymous.append(message) }
    let name = id.written
    answered.append(name)
    responses[name] = message
  }

  /// Takes the response to a request, if it has come.
  package func takeResponse(_ id: Int) -> JSONValue? { responses.removeValue(forKey: "\(id)") }

  /// The response to the request with the id, as JSON.
  package func response(
    to id: String, within seconds: TimeInterval = patience
  ) throws -> JSONValue {
    let deadline = Deadline(in: seconds)
    while true {
      if let response = responses.removeValue(forKey: id) { return response }
      guard !deadline.isOver else { throw Failure("no answer to \(id) within \(seconds) s") }
      guard try receive(within: deadline.rest) else {
        throw Failure("the output ended before the answer to \(id)\n\(errorText)")
      }
    }
  }

  package func response(to id: Int, within seconds: TimeInterval = patience) throws -> JSONValue {
    try response(to: "\(id)", within: seconds)
  }

  package func result(of id: Int, within seconds: TimeInterval = patience) throws -> JSONValue {
    let response = try response(to: id, within: seconds)
    guard let result = response["result"] else {
      throw Failure("request \(id): \(response.written.prefix(300))")
    }
    return result
  }

  /// Makes a request that is to succeed.
  @discardableResult
  package func call(
    _ method: String, _ params: JSON? = nil, within seconds: TimeInterval = patience
  ) throws -> JSONValue {
    let id = try post(method, params)
    do { return try result(of: id, within: seconds) } catch {
      throw Failure("\(method): \(error)")
    }
  }

  /// Makes a request that is to fail, and returns the error.
  package func error(
    _ method: String, _ params: JSON? = nil, within seconds: TimeInterval = patience
  ) throws -> JSONValue {
    let response = try response(to: try post(method, params), within: seconds)
    guard let error = response["error"] else {
      throw Failure("\(method): succeeded with \(params?.text.prefix(200) ?? "no params")")
    }
    return error
  }

  /// Initializes, with positions counted in bytes unless told otherwise.
  @discardableResult
  package func initialize(encoding: String = "utf-8") throws -> JSONValue {
    try call(
      "initialize",
      ["capabilities": ["general": ["positionEncodings": [.string(encoding)]]], "processId": nil])
  }

  /// The next notification of a method, which is taken out of the queue; `match` says which one it has to be.
  package func notification(
    _ method: String, within seconds: TimeInterval = patience,
    where match: (JSONValue) -> Bool = { _ in true }
  ) throws -> JSONValue {
    let deadline = Deadline(in: seconds)
    while true {
      let found = notifications.firstIndex {
        $0["method"]?.string == method && $0["params"].map(match) == true
      }
      if let found { return notifications.remove(at: found)["params"]! }
      guard !deadline.isOver else { throw Failure("no \(method) within \(seconds) s") }
      guard try receive(within: deadline.rest) else {
        throw Failure("the output ended before \(method)\n\(errorText)")
      }
    }
  }

  // MARK: - The process

  /// What the program wrote to standard error.
  package var errorText: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

  /// The most memory the process ever had, in bytes; nil where the system does not tell.
  package var peakMemory: Int? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
    else { return nil }
    return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }.map { $0 << 10 }
  }

  /// Whether the process still runs.
  package var isRunning: Bool {
    reap()
    return ending == nil
  }

  private func reap() {
    guard ending == nil else { return }
    var status: Int32 = 0
    guard waitpid(process, &status, WNOHANG) == process else { return }
    ending = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
  }

  /// Waits until the process has left, reading on meanwhile unless told not to.
  package func waitForEnd(
    within seconds: TimeInterval = patience, reading: Bool = true
  ) throws -> Ending {
    let deadline = Deadline(in: seconds)
    while isRunning {
      guard !deadline.isOver else {
        throw Failure("the process had not left after \(seconds) s")
      }
      if isAtEnd || !reading {
        pause(0.001)
      } else {
        awaitInput([output], milliseconds: 50)
        try receiveAvailable()
      }
    }
    // Also at the end of the output: `write` may have read up to it, and parses nothing.
    if reading { try receiveAvailable() }
    return ending!
  }

  /// Ends the process as a power cut would.
  package func killNow() throws {
    kill(process, SIGKILL)
    closeInput()
    while isRunning { pause(0.0005) }
    try? receiveAvailable()
  }

  /// Leaves as a client should.
  package func leave() throws {
    try call("shutdown")
    try notify("exit")
    let ending = try waitForEnd()
    guard ending == .status(0) else { throw Failure("the process ended with \(ending)") }
  }
}

/// What a process that ran to its end left.
package struct Outcome {
  package var ending: Ending
  package var output: String
  package var errors: String

  /// Runs the program with `input` as its standard input.
  ///
  /// - Parameter seconds: the longest silence before the program counts as stuck.
  package init(
    _ arguments: [String], input: String = "", environment: [String: String?] = [:],
    shell: String? = nil, silence seconds: TimeInterval = patience
  ) throws {
    let server = try Server(
      nil, arguments, delimiter: .lines, environment: environment, shell: shell)
    var lines: [String] = []
    // It may have left without reading.
    try? server.write(input)
    server.closeInput()
    while let frame = try server.frame(within: seconds) {
      lines.append(String(decoding: frame, as: UTF8.self))
    }
    ending = try server.waitForEnd()
    output = lines.joined(separator: "\n")
    errors = server.errorText
  }
}
