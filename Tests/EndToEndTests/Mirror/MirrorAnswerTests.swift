import Foundation
import TestSupport
import Testing

/// What a mirror that does nothing tells its user to run, and what that does.
@Suite(.waitingLong)
struct `What the user of a mirror is told` {
  let dn = Commands()
  /// A shell takes these apart, unless they are quoted.
  var vault: String { dn.folder("the user's $vault") }
  var notebook: String { dn.folder("my notes") }

  /// Runs a command line that was printed, in a shell and in another folder.
  private func runPrinted(_ line: String) throws -> Ran {
    let bin = dn.folder("bin")
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    return try dn.run(
      [], environment: ["HINT": line, "BIN": bin],
      shell: "ln -sf \"$1\" \"$BIN/decent-notes\"; cd / && PATH=\"$BIN:$PATH\" sh -c \"$HINT\"")
  }

  private func run(_ words: String...) throws -> Ran {
    try dn.run(["--notebook", notebook, "--name", "Ana O'Hara"] + words)
  }

  /// The command lines in a message.
  private func lines(in message: String) -> [String] {
    message.matches(of: /`(decent-notes [^`]*)`/).map { String($0.output.1) }
  }

  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: vault)) ?? [])
      .filter { !$0.hasPrefix(".") }.sorted()
  }

  @Test func `A command line that is printed does what it says, as it is printed`() throws {
    for number in 0..<30 { _ = try run("new", "n\(number)") }
    #expect(try run("mirror", "--once", vault).status == 0)
    for name in files.prefix(20) { unlink("\(vault)/\(name)") }
    let stopped = try run("mirror", "--once", vault)
    let printed = lines(in: stopped.errors)
    #expect(stopped.status == 1 && printed.count == 2, "\(stopped.errors)")
    let restored = try runPrinted(printed[1])
    #expect(restored.status == 0 && files.count == 30, "\(printed) \(restored)")
    for name in files.prefix(20) { unlink("\(vault)/\(name)") }
    let confirmed = try runPrinted(printed[0])
    #expect(confirmed.status == 0 && files.count == 10, "\(printed) \(confirmed)")
    #expect(try run("list").lines.count == 10 && run("list", "--trash").lines.count == 20)
    // Of the notebook that the shell's user has, nothing was touched.
    #expect(!FileManager.default.fileExists(atPath: dn.notebook))
    #expect(printed.allSatisfy { $0.contains(#" --name 'Ana O'\''Hara' "#) }, "\(printed)")
  }

  @Test func `A folder of another notebook is taken over only by a word of its own`() throws {
    for number in 0..<3 { _ = try run("new", "n\(number)") }
    #expect(try run("mirror", "--once", vault).status == 0)
    try dn.make("private 1")
    try dn.make("private 2")
    let marker = try contents(of: URL(fileURLWithPath: vault + "/.decent-mirror"))
    var printed = ""
    for words in [["--once"], ["--confirm"], ["--restore"]] {
      let ran = try dn.run(["mirror"] + words + [vault])
      #expect(ran.status == 1, "\(ran)")
      #expect(ran.errors.contains("3 of its 3 files become notes here"), "\(ran.errors)")
      #expect(ran.errors.contains("2 of 2 notes are written into it"), "\(ran.errors)")
      printed = lines(in: ran.errors).first ?? ""
    }
    #expect(files == ["n0.md", "n1.md", "n2.md"])
    #expect(try contents(of: URL(fileURLWithPath: vault + "/.decent-mirror")) == marker)
    #expect(try dn("list").lines.count == 2)
    let adopted = try runPrinted(printed)
    #expect(adopted.status == 0 && files.count == 5, "\(printed) \(adopted)")
    #expect(try dn("list").lines.count == 5 && run("list").lines.count == 3)
    // Now it is the other one's.
    #expect(try run("mirror", "--confirm", vault).status == 1)
  }

  @Test func `Other verbs, too, print command lines that name the notebook`() throws {
    _ = try run("new", "n")
    _ = try run("trash", "n")
    let purged = try run("purge", "--trash")
    let printed = lines(in: purged.output)
    #expect(printed.count == 1, "\(purged)")
    let compacted = try runPrinted(printed[0])
    #expect(compacted.status == 0 && compacted.output.contains("not reached"), "\(compacted)")
    try dn.make("other")
    let refused = try run("sync", dn.notebook)
    #expect(refused.status == 1)
    let adopting = lines(in: refused.errors)
    #expect(adopting.count == 1, "\(refused)")
    #expect(try runPrinted(adopting[0]).status == 0)
    #expect(try run("list").lines.count == 1)
  }
}
