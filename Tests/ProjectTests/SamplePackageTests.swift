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
      "Package.swift", "Sources/todo/Note.swift", "Sources/todo/List.swift",
      "Sources/todo/Shared.swift",
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
  func `is built without flags, and two processes share a list`() throws {
    // Kept from run to run, so that only the first one builds all of the library. The plan of the build is made anew: a kept one does not know of
    // files that the library has got since.
    let build = projectFolder.appendingPathComponent(".build/sample").path
    _ = try run(
      [
        "swift", "build", "--disable-build-manifest-caching", "--package-path", package.path,
        "--scratch-path", build,
      ], in: package)
    let todo = build + "/debug/todo"
    #expect(try run([todo, "note"], in: package) == "true Shopping Milk\n [\"home\"]\n")

    let temporary = TemporaryFolder()
    let folder = URL(fileURLWithPath: temporary.path)
    let shared = folder.appendingPathComponent("shared")
    try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
    let session = try tutorial().components(separatedBy: "```console\n")[1]
      .components(separatedBy: "```")[0]
    var commands = 0
    for step in session.components(separatedBy: "$ todo ").dropFirst() {
      let lines = step.split(separator: "\n").map(String.init)
      let output = try run([todo] + lines[0].split(separator: " ").map(String.init), in: folder)
      #expect(output == lines.dropFirst().map { $0 + "\n" }.joined(), "\(lines[0])")
      commands += 1
    }
    #expect(commands == 4)

    // A process that is killed leaves no replica behind; the next one begins another.
    try FileManager.default.removeItem(at: shared.appendingPathComponent("ana.replica"))
    #expect(
      try run([todo, "shared", "ana", "add", "Bread"], in: folder).hasSuffix("[ ] Bread\n"))
    #expect(try run([todo, "shared", "ben"], in: folder) == "[x] Milk\n[ ] Eggs\n[ ] Bread\n")
  }
}
