import Foundation
import TestSupport
import Testing

/// A package that depends on the library product, and the tutorial whose code it is (`Sources/ReplicatingTypes/YourOwnType.md`).
@Suite(.waitingLong, .tags(.slow, .tool))
struct `The sample package` {
  private var package: URL { projectFolder.appendingPathComponent("Tests/SamplePackage") }

  private func tutorial() throws -> String {
    try String(
      contentsOf: projectFolder.appendingPathComponent("Sources/ReplicatingTypes/YourOwnType.md"),
      encoding: .utf8)
  }

  /// Runs a program to its end; returns what it says.
  private func run(_ arguments: [String], in folder: URL) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try Spawning.alone { try process.run() }
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(arguments): \(output)")
    return output
  }

  @Test func `has the code of the tutorial`() throws {
    var code = ""
    for file in [
      "Package.swift", "Sources/notes/Note.swift", "Sources/notes/NoteBook.swift",
      "Sources/notes/Store.swift", "Sources/notes/TextBinding.swift", "Sources/notes/main.swift",
      "Sources/Counter/Counter.swift", "Tests/CounterTests/CounterTests.swift",
    ] {
      code += try String(contentsOf: package.appendingPathComponent(file), encoding: .utf8)
    }
    code.removeAll(where: \.isWhitespace)
    var lines = 0
    for line in try tutorial().split(separator: "\n") where line.hasPrefix("    ") {
      #expect(code.contains(line.filter { !$0.isWhitespace }), "\(line)")
      lines += 1
    }
    #expect(lines > 50)
  }

  @Test(.enabled(if: hasTool("swift") || isContinuousIntegration, "swift is not on the path"))
  func `is built and tested without flags, and two devices share a notebook`() throws {
    // Kept from run to run, so that only the first one builds all of the library. The plan of the build is made anew: a kept one does not know of
    // files that the library has got since.
    let build = projectFolder.appendingPathComponent(".build/sample").path
    let place = ["--package-path", package.path, "--scratch-path", build]
    _ = try run(
      ["swift", "build", "--build-tests", "--disable-build-manifest-caching"] + place, in: package)
    let tests = try run(["swift", "test", "--skip-build"] + place, in: package)
    #expect(tests.contains("Test run with 1 test"), "\(tests)")

    let temporary = TemporaryFolder()
    let folder = URL(fileURLWithPath: temporary.path)
    let shared = folder.appendingPathComponent("shared")
    try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
    func notes(_ command: String) throws -> String {
      try run(["sh", "-c", "'\(build)/debug/notes' \(command)"], in: folder)
    }
    let session = try tutorial().components(separatedBy: "```console\n")[1]
      .components(separatedBy: "```")[0]
    var commands = 0
    for step in session.components(separatedBy: "$ notes ").dropFirst() {
      let lines = step.split(separator: "\n").map(String.init)
      #expect(
        try notes(lines[0]) == lines.dropFirst().map { $0 + "\n" }.joined(), "\(lines[0])")
      commands += 1
    }
    #expect(commands == 9)

    // A device that was restored from a copy begins another replica: its own changes are there, and it has not made them.
    let own = folder.appendingPathComponent("ann")
    let kept = try Data(contentsOf: own)
    _ = try notes("ann shared type 0 'Milk, eggs, bread'")
    try kept.write(to: own)
    #expect(try notes("ann shared type 0 'Milk, eggs, bread, tea'").hasSuffix("bread, tea\n"))
    #expect(try notes("ben shared") == "- Shopping #home Milk, eggs, bread, tea\n")
  }
}
