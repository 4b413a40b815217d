import Foundation
import JSONRPC
import TestSupport
import Testing

/// What a command has left. Unlike an `Outcome` it has every byte.
struct Ran {
  let status: Int32
  let bytes: [UInt8]
  let errors: String

  var output: String { String(decoding: bytes, as: UTF8.self) }
  /// The lines without their ends. A last line that does not end is one, too.
  var lines: [String] {
    var lines = output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// The line, if there is just one.
  var line: String { lines.count == 1 ? lines[0] : "\(lines)" }

  /// The fields of each line.
  var fields: [[String]] {
    lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
  }

  /// Each line as JSON.
  func values() throws -> [JSONValue] {
    try lines.map { try JSONValue(parsing: Array($0.utf8)) }
  }
}

/// Commands at one notebook, each a process.
final class Commands {
  let folder = TemporaryFolder()
  /// Variables of all of them.
  var environment: [String: String?]

  init() { environment = ["XDG_STATE_HOME": folder("state"), "TZ": "UTC"] }

  var notebook: String { folder("notes") }

  /// Runs a command.
  ///
  /// - Parameters:
  ///   - input: standard input.
  ///   - shell: a command line for `sh`, in which `"$@"` is the program with its arguments.
  func callAsFunction(
    _ words: String..., input: [UInt8] = [], environment: [String: String?] = [:],
    shell: String = "\"$@\""
  ) throws -> Ran {
    try run(words, input: input, environment: environment, shell: shell)
  }

  func run(
    _ words: [String], input: [UInt8] = [], environment: [String: String?] = [:],
    shell: String = "\"$@\""
  ) throws -> Ran {
    let name = folder("run-\(UUID().uuidString)")
    let (source, target) = (name + ".in", name + ".out")
    defer { for path in [source, target] { unlink(path) } }
    try Data(input).write(to: URL(fileURLWithPath: source))
    let variables = self.environment.merging(environment) { $1 }
      .merging(["TEST_INPUT": source, "TEST_OUTPUT": target]) { $1 }
    let outcome = try Outcome(
      ["--notebook", notebook] + words, environment: variables,
      shell: "{ \(shell); } < \"$TEST_INPUT\" > \"$TEST_OUTPUT\"")
    guard case .status(let status) = outcome.ending else {
      throw Failure("\(words): \(outcome.ending)")
    }
    let bytes = FileManager.default.contents(atPath: target) ?? Data()
    return Ran(status: status, bytes: Array(bytes), errors: outcome.errors)
  }

  /// Makes a note; returns its id.
  @discardableResult
  func make(_ title: String, _ text: String = "", tags: [String] = []) throws -> String {
    let made = try run(
      ["new", "--text", "-"] + tags.flatMap { ["--tag", $0] } + ["--", title],
      input: Array(text.utf8))
    guard made.status == 0 else { throw Failure("new \(title): \(made.errors)") }
    return made.line
  }

  /// The text of a note.
  func text(_ note: String) throws -> String {
    let shown = try run(["show", "--", note])
    guard shown.status == 0 else { throw Failure("show \(note): \(shown.errors)") }
    return shown.output
  }

  /// Makes many notes in one process, each with the title `Note <number>`.
  func makeMany(_ count: Int) throws {
    let input = folder("many")
    var lines = #"{"jsonrpc":"2.0","id":0,"method":"initialize"}"# + "\n"
    for number in 0..<count {
      lines +=
        #"{"jsonrpc":"2.0","id":1,"method":"note/create","params":{"title":"Note \#(number)","#
        + #""text":"text of \#(number)"}}"# + "\n"
    }
    lines += #"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"# + "\n"
    try lines.write(toFile: input, atomically: false, encoding: .utf8)
    let served = try run(
      ["--framing", "lines"], shell: "\"$@\" < '\(input)' | tail -n 1")
    guard served.output.contains(#""id":2,"result":null"#) else {
      throw Failure("\(served.output) \(served.errors)")
    }
  }
}
