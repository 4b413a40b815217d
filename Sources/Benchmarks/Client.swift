import Foundation
import JSONRPC

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process that reads requests on its standard input and answers on its standard output, one message a line.
final class Client {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = [UInt8](repeating: 0, count: 1 << 20)
  private var unread: [UInt8] = []
  private var lastID = 0

  /// The program beside this one; `nil` if it was not built.
  static func program(_ name: String) -> URL? {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let url = folder.appendingPathComponent(name)
    return FileManager.default.isExecutableFile(atPath: url.path) ? url : nil
  }

  /// Starts a program.
  ///
  /// - Parameter state: the state folder of the process.
  init(_ program: URL, _ arguments: [String], state: String) {
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": state]) {
      $1
    }
    process.standardInput = input
    process.standardOutput = output
    do { try process.run() } catch { fatalError("\(program.path): \(error)") }
  }

  /// A client of a notebook in a folder, initialized.
  convenience init(notebook: String, _ program: URL, state: String, mirror: String? = nil) {
    self.init(
      program,
      ["--notebook", notebook, "--framing", "lines"] + (mirror.map { ["--mirror", $0] } ?? []),
      state: state)
    _ = request("initialize", "{}")
  }

  /// Sends text as it stands, and waits until it is taken.
  func send(_ message: String) { send(Array(message.utf8)[...]) }

  /// Sends bytes as they stand, and waits until they are taken.
  func send(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        write(input.fileHandleForWriting.fileDescriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { fatalError("the process takes no more") }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads what is there, waiting for at least a byte; returns the lines that are whole.
  func lines() -> [ArraySlice<UInt8>] {
    let count = buffer.withUnsafeMutableBytes {
      read(output.fileHandleForReading.fileDescriptor, $0.baseAddress, $0.count)
    }
    guard count > 0 else { fatalError("the process has left") }
    unread += buffer[..<count]
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    while let end = unread[start...].firstIndex(of: 10) {
      lines.append(unread[start..<end])
      start = end + 1
    }
    unread.removeFirst(start)
    return lines
  }

  /// Reads what is there, waiting for at least a byte; returns how many lines end in it. They are not kept.
  func lineEnds() -> Int {
    let count = buffer.withUnsafeMutableBytes {
      read(output.fileHandleForReading.fileDescriptor, $0.baseAddress, $0.count)
    }
    guard count > 0 else { fatalError("the process has left") }
    var ends = 0
    for byte in buffer[..<count] where byte == 10 { ends += 1 }
    return ends
  }

  /// Waits for a line that contains `part`.
  func line(with part: String) -> String {
    while true {
      for line in lines() {
        let text = String(decoding: line, as: UTF8.self)
        if text.contains(part) { return text }
      }
    }
  }

  /// Sends a request and waits for its answer, which must be a result; returns the whole message.
  func request(_ method: String, _ params: String) -> String {
    lastID += 1
    send(#"{"jsonrpc":"2.0","id":\#(lastID),"method":"\#(method)","params":\#(params)}"# + "\n")
    let answer = line(with: #""id":\#(lastID),"#)
    expect(answer.contains(#""result":"#), "\(method): \(answer)")
    return answer
  }

  /// Creates a note; returns its name.
  func createNote(_ params: String = "{}") -> String {
    let answer = request("note/create", params)
    guard let name = answer.range(of: #""note":{"id":""#) else { fatalError("no note: \(answer)") }
    return String(answer[name.upperBound...].prefix { $0 != "\"" })
  }

  /// Waits until it has not computed for a tenth of a second.
  func waitUntilIdle() {
    var last = -1.0
    while true {
      let now = processorTime
      if now == last { return }
      last = now
      usleep(100_000)
    }
  }

  /// The descriptor at which its messages come.
  var descriptor: Int32 { output.fileHandleForReading.fileDescriptor }

  /// The processes that it has started.
  var children: [Int32] {
    let process = process.processIdentifier
    let path = "/proc/\(process)/task/\(process)/children"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }
  }

  /// The processor time that it has taken, in nanoseconds, as exact as the system tells it: 10 ms.
  var processorTime: Double { Self.processorTime(of: process.processIdentifier) }

  static func processorTime(of process: Int32) -> Double {
    let path = "/proc/\(process)/stat"
    let fields = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: " ") ?? []
    let ticks = fields.dropFirst(13).prefix(2).reduce(0) { $0 + (Double($1) ?? 0) }
    return ticks * 1e9 / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The most memory that the process has had, in bytes.
  var peakMemory: Int { Self.status("VmHWM:", of: process.processIdentifier) }

  /// The memory that the process has, in bytes.
  var memory: Int { Self.memory(of: process.processIdentifier) }

  static func memory(of process: Int32) -> Int { status("VmRSS:", of: process) }

  private static func status(_ name: String, of process: Int32) -> Int {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix(name) }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1024 } ?? 0
  }

  /// Lets it leave in order.
  func end() {
    _ = request("shutdown", "{}")
    send(#"{"jsonrpc":"2.0","method":"exit"}"# + "\n")
    process.waitUntilExit()
  }

  deinit {
    if process.isRunning { process.terminate() }
  }
}

/// Runs a program to its end, and returns its status.
func run(_ program: URL, _ arguments: [String], state: String) -> Int32 {
  let process = Process()
  process.executableURL = program
  process.arguments = arguments
  process.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": state]) {
    $1
  }
  process.standardOutput = FileHandle.nullDevice
  do { try process.run() } catch { fatalError("\(program.path): \(error)") }
  process.waitUntilExit()
  return process.terminationStatus
}

/// Does something with the program and a folder that does not exist yet and is gone afterwards; nothing if the program was not
/// built.
func withProgram(
  _ group: String, _ report: inout Report, _ body: (URL, String, inout Report) -> Void
) {
  guard let program = Client.program("decent-notes") else {
    if !report.isJSON { print("\(group): decent-notes is not built; swift build -c release") }
    return
  }
  let scratch = FileManager.default.temporaryDirectory
    .appendingPathComponent("decent-notes-\(ProcessInfo.processInfo.processIdentifier)").path
  defer { try? FileManager.default.removeItem(atPath: scratch) }
  body(program, scratch, &report)
}
