import Foundation
import TestSupport
import Testing

// Tools that look at the project as a whole: the formatter, the Python client's tests, the sessions in the guides.

@Suite(.waitingLong, .tags(.slow, .tool))
struct `The project` {
  /// Runs a tool in the project's folder to its end; returns what it says, and its status.
  private func run(
    _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = projectFolder
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try Spawning.alone { try process.run() }
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (output, process.terminationStatus)
  }

  @Test(
    .enabled(if: hasTool("swift") || isContinuousIntegration, "swift is not on the path"))
  func `The sources are formatted as the toolchain formats them`() throws {
    let lint = try run(
      ["swift", "format", "lint", "--strict", "-r", "Sources", "Tests", "Package.swift"])
    #expect(lint.status == 0, "\(lint.output)")
  }

  @Test(
    .enabled(if: hasTool("python3") || isContinuousIntegration, "python3 is missing"),
    arguments: ["test_decent_notes.py", "test_files.py"])
  func `The Python client passes its tests against this program`(_ file: String) throws {
    let tests = try run(
      ["python3", "-B", "clients/python/\(file)"],
      ["DECENT_NOTES_COMMAND": Server.program, "CI": "true"])
    #expect(tests.status == 0, "\(tests.output)")
    #expect(tests.output.contains("\nOK\n"), "\(tests.output)")
  }

  @Test(.enabled(if: hasTool("node") || isContinuousIntegration, "node is missing"))
  func `The JavaScript client passes its tests against this program`() throws {
    let tests = try run(
      ["node", "--test", "clients/node/test.mjs"], ["DECENT_NOTES_COMMAND": Server.program])
    #expect(tests.status == 0, "\(tests.output)")
    #expect(tests.output.contains(" fail 0\n") && tests.output.contains(" cancelled 0\n"))
  }

  @Test(
    .enabled(if: hasTool("jq") || isContinuousIntegration, "jq is missing"))
  func `The session by hand in the guide to clients goes as it says`() throws {
    let file = projectFolder.appendingPathComponent("clients/README.md")
    let guide = try String(contentsOf: file, encoding: .utf8)
    let block = guide.components(separatedBy: "```console\n")[1].components(separatedBy: "```")[0]
    var (script, output) = ("cd \"$FOLDER\"\n", "")
    for line in block.split(separator: "\n") {
      // A command, or what a line that ends in a backslash goes on with.
      if line.hasPrefix("$ ") || script.hasSuffix("\\\n") {
        script += line.drop { $0 == "$" || $0 == " " } + "\n"
      } else {
        output += line + "\n"
      }
    }
    let folder = TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let program = URL(fileURLWithPath: Server.program)
    let path = ProcessInfo.processInfo.environment["PATH"]!
    let session = try run(
      ["sh", "-c", script],
      [
        "FOLDER": folder.path, "PATH": "\(program.deletingLastPathComponent().path):\(path)",
        "XDG_STATE_HOME": folder("state"),
      ])
    #expect(session.output == output)
    #expect(session.status == 0)
  }

  @Test
  func `The demonstration of the README ends with one text`() throws {
    let demo = try run([Server.program, "demo", "README.md"])
    #expect(demo.status == 0, "\(demo.output)")
    let lines = demo.output.split(separator: "\n").map(String.init)
    let folder = lines.first?.split(separator: " ").last.map(String.init) ?? ""
    #expect(folder.hasPrefix("/tmp/decent-notes-demo-"))
    try? FileManager.default.removeItem(atPath: folder)
    let readme = try Data(contentsOf: projectFolder.appendingPathComponent("README.md")).count
    #expect(lines.last == "editor 3  opens the note and shows the same \(readme + 64) bytes")
  }

  @Test(.enabled(if: hasTool("groff") || isContinuousIntegration, "groff is missing"))
  func `The manual page is made from the table of verbs`() throws {
    let path = "clients/shell/decent-notes.1"
    let made = try run([Server.program, "help", "--man"])
    #expect(made.status == 0)
    if ProcessInfo.processInfo.environment["DECENT_NOTES_RECORD"] == "1" {
      try made.output.write(
        to: projectFolder.appendingPathComponent(path), atomically: true, encoding: .utf8)
    }
    #expect(try contents(of: projectFolder.appendingPathComponent(path)) == made.output)
    let warnings = try run(["groff", "-man", "-Tutf8", "-ww", "-z", path])
    #expect(warnings.status == 0 && warnings.output == "")
    // All that help has.
    let text = try run(["groff", "-man", "-rHY=0", "-Tascii", "-P-cbuo", path]).output.lowercased()
    let help = try run([Server.program, "--help"]).output.lowercased()
    let words = Set(
      help.split { !$0.isLetter }.filter { $0.count > 3 && !["usage", "says"].contains($0) })
    #expect(words.count > 150)
    for word in words { #expect(text.contains(word), "\(word)") }
  }

  @Test func `Help says more about every verb, and no line of it is long`() throws {
    let help = try run([Server.program, "--help"]).output
    var count = 0
    for match in help.matches(of: /\n  ([a-z]+)[ \n]/) {
      count += 1
      let more = try run([Server.program, "help", String(match.1)])
      #expect(more.status == 0 && more.output.hasPrefix("usage: decent-notes \(match.1)"))
      let option = try run([Server.program, String(match.1), "--help"])
      #expect(option.output == (match.1 == "help" ? help : more.output))
      #expect(more.output.split(separator: "\n").allSatisfy { $0.count <= 79 })
    }
    #expect(count > 20)
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 79 })
    #expect(try run([Server.program, "help"]).output == help)
    #expect(try run([Server.program, "help", "nothing"]).status == 64)
  }
}
