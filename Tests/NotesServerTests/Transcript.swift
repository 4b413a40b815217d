import Foundation
import TestSupport

/// The project's folder `Protocol`.
let protocolFolder = projectFolder.appendingPathComponent("Protocol")

/// A golden session. `Protocol/transcripts/README.md` defines its form.
struct Transcript: Sendable {
  enum Line: Equatable, Sendable {
    case comment(String)
    case start([String])
    case client(String)
    case server(String)
    case name(String, path: [String])
    case status(Int32)
  }

  struct Malformed: Error { let line: String }

  var lines: [Line]

  static let names = [
    "lifecycle", "notes", "files", "search", "links", "live-text", "crossing", "undo", "cursors",
    "resume",
    "who", "batch", "merge", "link", "sync", "errors",
  ]

  static func file(_ name: String) -> URL {
    protocolFolder.appendingPathComponent("transcripts/\(name).txt")
  }

  init(_ name: String) throws { try self.init(parsing: contents(of: Self.file(name))) }

  init(parsing text: String) throws {
    lines = try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      let line = String($0)
      let rest = String(line.dropFirst(2))
      switch line.prefix(2) {
      case "": return .comment("")
      case "# ": return .comment(line)
      case "$ ": return .start(rest.split(separator: " ").map(String.init))
      case "→ ": return .client(rest)
      case "← ": return .server(rest)
      case "= ":
        let words = rest.split(separator: " ")
        guard words.count == 2 else { throw Malformed(line: line) }
        return .name(String(words[0]), path: words[1].split(separator: ".").map(String.init))
      case "! ":
        guard let status = Int32(rest) else { throw Malformed(line: line) }
        return .status(status)
      default: throw Malformed(line: line)
      }
    }
  }

  var text: String {
    lines.map {
      switch $0 {
      case .comment(let text): text
      case .start(let options): "$ " + options.joined(separator: " ")
      case .client(let message): "→ " + message
      case .server(let message): "← " + message
      case .name(let name, let path): "= \(name) " + path.joined(separator: ".")
      case .status(let status): "! \(status)"
      }
    }.joined(separator: "\n") + "\n"
  }
}

/// The program, and one run of it that speaks in lines.
final class ProgramRun {
  struct Silence: Error {}

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []
  private let watchdog: DispatchWorkItem

  /// Beside the bundle that holds the tests.
  static let program: URL = {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    for argument in CommandLine.arguments where argument.hasSuffix(".xctest") {
      folder = URL(fileURLWithPath: argument).deletingLastPathComponent()
    }
    let places = [folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
    let programs = places.map { $0.appendingPathComponent("decent-notes") }
    return programs.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? programs[0]
  }()

  init(_ options: [String]) throws {
    // The program may end before it has read everything.
    signal(SIGPIPE, SIG_IGN)
    process.executableURL = Self.program
    process.arguments = options
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_BACKTRACE": "enable=no"], uniquingKeysWith: { $1 })
    process.standardInput = input
    process.standardOutput = output
    watchdog = DispatchWorkItem { [process] in process.terminate() }
    try Spawning.alone { try process.run() }
    DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: watchdog)
  }

  /// What the server says to `message`, until it has no more to say.
  ///
  /// It is asked something that it answers at once: when that answer is here, so is all that came before. What is answered
  /// late, once it is on disk, is waited for, and then it is asked again.
  func exchange(_ message: String) throws -> [String] {
    let id = (try? JSON(parsing: message)).flatMap { $0["method"] == nil ? nil : $0["id"] }
    var said: [String] = []
    write(message)
    write(Self.question)
    var isAnswered = id?.integer == nil && id?.string == nil
    var isQuiet = false
    while !isQuiet || !isAnswered {
      guard let line = readLine() else { return said }
      if isQuestion(line) {
        isQuiet = true
      } else if !line.contains(Self.method) {
        said.append(line)
        // What could not be read is answered without an id.
        if !isAnswered, let answer = (try? JSON(parsing: line))?["id"],
          answer == id || answer.isNull
        {
          isAnswered = true
          if isQuiet {
            write(Self.question)
            isQuiet = false
          }
        }
      }
    }
    return said
  }

  private static let method = "$/anythingElse"
  private static let question = #"{"jsonrpc":"2.0","id":"\#(method)","method":"\#(method)"}"#

  private func isQuestion(_ line: String) -> Bool { line.contains(#""id":"\#(Self.method)""#) }

  /// Ends the input; returns what was still said, and the exit status.
  func end() -> (said: [String], status: Int32) {
    try? input.fileHandleForWriting.close()
    var said: [String] = []
    while let line = readLine() { if !line.contains(Self.method) { said.append(line) } }
    process.waitUntilExit()
    watchdog.cancel()
    let isNormal = process.terminationReason == .exit
    return (said, isNormal ? process.terminationStatus : -process.terminationStatus)
  }

  private func write(_ message: String) {
    // After `exit` nobody reads, and that is no mistake.
    try? input.fileHandleForWriting.write(contentsOf: Data((message + "\n").utf8))
  }

  private func readLine() -> String? {
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = read(output.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return nil }
      unread += buffer[..<count]
    }
  }
}

/// Plays the client's side of a transcript.
struct TranscriptPlayer {
  struct Mistake: Error, CustomStringConvertible {
    var description: String
  }

  /// The transcript as it was played: the server's lines and the exit statuses are what they were this time.
  private(set) var played: [Transcript.Line] = []

  private let scratch = TemporaryFolder()
  private var folders: [String] = []
  private var folder = ""
  private var names: [String: String] = [:]
  private var lastAnswer: JSON?
  private var run: ProgramRun?
  private var runs = 0

  init(playing transcript: Transcript) throws {
    for line in transcript.lines {
      switch line {
      case .comment: played.append(line)
      case .server: break
      case .start(let options):
        finish()
        try start(options)
        played.append(line)
      case .client(let message):
        played.append(line)
        try send(message)
      case .name(let name, let path):
        try remember(name, path)
        played.append(line)
      case .status:
        guard let run else { throw Mistake(description: "a status of nothing") }
        let (said, status) = run.end()
        self.run = nil
        record(said)
        played.append(.status(status))
      }
    }
    finish()
  }

  private mutating func start(_ options: [String]) throws {
    runs += 1
    var options = options
    if let index = options.firstIndex(of: "--notebook") {
      let name = options[index + 1]
      if name == "NEW" {
        folder = scratch("\(runs)")
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true)
        folders.append(folder)
      } else {
        folder = folders[Int(name.dropFirst(3))! - 1]
      }
      options[index + 1] = folder
    }
    if !options.contains("--seed") { options += ["--seed", "\(runs)"] }
    run = try ProgramRun(options + ["--framing", "lines"])
  }

  private mutating func finish() {
    guard let run else { return }
    record(run.end().said)
    self.run = nil
  }

  private mutating func send(_ message: String) throws {
    guard let run else { throw Mistake(description: "said to nobody: \(message)") }
    let filled = try fill(message)
    let said = try run.exchange(filled)
    record(said)
    let id = try? JSON(parsing: filled)["id"]
    lastAnswer = said.compactMap { try? JSON(parsing: $0) }.last { $0["id"] == id ?? .null }
  }

  private mutating func record(_ said: [String]) {
    let quoted = String(JSON.string(folder).text.dropFirst().dropLast())
    played += said.map {
      .server($0.replacingOccurrences(of: quoted, with: "{{notebook}}"))
    }
  }

  private func fill(_ message: String) throws -> String {
    var message = message.replacingOccurrences(of: "{{notebook}}", with: folder)
    for (name, value) in names {
      message = message.replacingOccurrences(of: "{{\(name)}}", with: value)
    }
    if let start = message.range(of: "{{"), message[start.upperBound...].contains("}}") {
      throw Mistake(description: "a name that stands for nothing: \(message)")
    }
    return message
  }

  private mutating func remember(_ name: String, _ path: [String]) throws {
    var value = lastAnswer
    for step in path { value = Int(step).map { value?[$0] } ?? value?[step] }
    guard let value else {
      throw Mistake(description: "\(name): no \(path) in \(lastAnswer?.text ?? "nothing")")
    }
    names[name] = value.string ?? value.text
  }
}
