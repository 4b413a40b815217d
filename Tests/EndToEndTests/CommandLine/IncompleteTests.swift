import Foundation
import JSONRPC
import TestSupport
import Testing

/// Commands at a notebook of which something can't be read.
@Suite(.waiting)
struct `A notebook that can't all be read` {
  let run = Commands()
  let notes: [String]
  let sessions: [String]

  /// Three sessions of three users, each of which knows those before.
  init() throws {
    var notes: [String] = []
    for name in ["first", "second", "third"] {
      run.environment["XDG_STATE_HOME"] = run.folder("state-\(name)")
      run.environment["XDG_RUNTIME_DIR"] = run.folder("run-\(name)")
      for variable in ["XDG_STATE_HOME", "XDG_RUNTIME_DIR"] {
        try FileManager.default.createDirectory(
          atPath: run.environment[variable]!!, withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700])
      }
      notes.append(try run.make(name, "text of \(name)\n"))
    }
    self.notes = notes
    sessions = notes.map { String($0.split(separator: "-").last!) }
    // A reader that has never seen the notebook.
    run.environment["XDG_STATE_HOME"] = run.folder("state")
    run.environment["XDG_RUNTIME_DIR"] = run.folder("run-third")
  }

  private func folder(of session: Int) -> String { "\(run.notebook)/log/\(sessions[session])" }

  /// Commands that only read, and what stands in their output of the two notes that can be read.
  private func expectShown(_ cause: String, shell: String) throws {
    func tried(_ words: String...) throws -> Ran {
      let ran = try run.run(words, shell: shell)
      #expect(ran.status == 5, "\(words): \(ran.status) \(ran.errors)")
      #expect(ran.errors.contains(folder(of: 0)), "\(words): \(ran.errors)")
      #expect(ran.errors.contains(cause), "\(words): \(ran.errors)")
      #expect(ran.errors.contains("2 changes must wait for others"), "\(words): \(ran.errors)")
      #expect(ran.errors.contains("session \(sessions[0])"), "\(words): \(ran.errors)")
      return ran
    }
    #expect(try tried("list").fields.map { $0[0] } == [notes[2], notes[1]])
    #expect(try tried("show", "second").output == "text of second\n")
    #expect(try tried("show", notes[2]).output == "text of third\n")
    #expect(try tried("search", "text").fields.map { $0[0] } == [notes[2], notes[1]])
    #expect(try tried("show", "first").output == "")
    #expect(try tried("search", "nothing").output == "")
    let called = try tried("call", "notebook/list").values()
    #expect(called[0]["notes"]?.array?.count == 2)
    // What can be read is folded, and nothing of the rest is touched.
    let folded = try run("compact", shell: shell)
    #expect(folded.status == 0 && folded.errors.contains(cause), "\(folded.errors)")
    let status = try tried("call", "notebook/status").values()[0]
    #expect(status["complete"]?.boolean == false && status["notes"]?.integer == 2)
    let check = try run("check", shell: shell)
    #expect(check.status == 1 && check.output.contains(folder(of: 0)), "\(check.output)")
  }

  @Test(.enabled(if: canDropCapabilities || isContinuousIntegration))
  func
    `Shows what others made after a session that may not be read, says so, and ends with status 5`()
    throws
  {
    #expect(chmod(folder(of: 0), 0) == 0)
    defer { chmod(folder(of: 0), 0o700) }
    try expectShown("Permission denied", shell: withoutCapabilities)
    // What is shown can't be changed, and a new note can be made.
    for words in [["append", "second", "more"], ["rename", "third", "other"]] {
      let refused = try run.run(words, shell: withoutCapabilities)
      #expect(refused.status == 1, "\(words)")
      #expect(refused.errors.contains("it follows changes that are missing"), "\(refused.errors)")
    }
    let made = try run("new", "fourth", "--text", "text of fourth", shell: withoutCapabilities)
    #expect(made.status == 0 && made.errors.contains("Permission denied"))
    let listed = try run("list", shell: withoutCapabilities)
    #expect(Set(listed.fields.map { $0[0] }) == [notes[1], notes[2], made.line])
    // When it can be read again, everything is there.
    #expect(chmod(folder(of: 0), 0o700) == 0)
    let whole = try run("list")
    #expect(whole.status == 0 && whole.errors == "" && whole.fields.count == 4)
    #expect(try run("append", "second", "more").status == 0)
    #expect(try run.text("second") == "text of second\nmore\n")
  }

  @Test func `Shows what others made after a log with a sector of zeros`() throws {
    let log = try #require(
      try FileManager.default.contentsOfDirectory(atPath: folder(of: 0)).first)
    let path = "\(folder(of: 0))/\(log)"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let end = min(bytes.count, 512)
    bytes.replaceSubrange(0..<end, with: Data(count: end))
    try bytes.write(to: URL(fileURLWithPath: path))
    try expectShown("byte 0", shell: "\"$@\"")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
  }

  @Test func `Says what was known when a log is gone, until it is taken as it is`() throws {
    let listed = try run("list")
    #expect(listed.status == 0 && listed.fields.count == 3)
    #expect(rename(folder(of: 2), run.folder("hidden")) == 0)
    for _ in 0..<2 {
      let lacking = try run("list")
      #expect(lacking.status == 5 && lacking.fields.map { $0[0] } == [notes[1], notes[0]])
      #expect(lacking.errors.contains("session \(sessions[2])"), "\(lacking.errors)")
      #expect(lacking.errors.contains("no file that can be read has these"), "\(lacking.errors)")
    }
    // A note that is not here may be one that is gone.
    #expect(try run("show", "third").status == 5)
    #expect(rename(run.folder("hidden"), folder(of: 2)) == 0)
    #expect(try run("list").status == 0)
    #expect(rename(folder(of: 2), run.folder("hidden")) == 0)
    let repaired = try run("check", "--repair")
    #expect(repaired.output.contains("changes of 1 session that were known here are nowhere"))
    let taken = try run("list")
    #expect(taken.status == 0 && taken.errors == "" && taken.fields.count == 2)
  }

  /// Zeros, cuts, files and sessions that are gone, the whole as it was before: told, and what can be read is shown.
  @Test(arguments: 1...UInt64(6 * seedFactor))
  func `Whatever becomes of its files, nothing is missing without a word`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    #expect(try run("list").fields.count == 3)
    let manager = FileManager.default
    let whole = run.folder("whole")
    try manager.copyItem(atPath: run.notebook, toPath: whole)
    for _ in 0..<4 {
      let session = random.below(3)
      let names = try manager.contentsOfDirectory(atPath: folder(of: session))
      let path = "\(folder(of: session))/\(names[0])"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      switch random.below(4) {
      case 0:
        let start = random.below(bytes.count)
        let end = min(bytes.count, start + 512)
        bytes.replaceSubrange(start..<end, with: Data(count: end - start))
        try bytes.write(to: URL(fileURLWithPath: path))
      case 1: #expect(truncate(path, off_t(random.below(bytes.count))) == 0)
      case 2: #expect(unlink(path) == 0)
      default: try manager.removeItem(atPath: folder(of: session))
      }
      for words in [["list"], ["search", "text"], ["call", "notebook/list"]] {
        let ran = try run.run(words)
        let what = Comment(
          rawValue: "seed \(seed): \(words) \(session) \(ran.output) \(ran.errors)")
        for (index, note) in notes.enumerated() where index != session {
          #expect(ran.output.contains(note), what)
        }
        let isWhole = ran.output.contains(notes[session])
        #expect(ran.status == (isWhole && ran.errors.isEmpty ? 0 : 5), what)
        #expect(isWhole || ran.errors.contains(sessions[session]), what)
      }
      // Nothing is done to what is there.
      let before = manager.contents(atPath: path)
      for words in [["show", notes[session]], ["compact"], ["check"]] { _ = try run.run(words) }
      #expect(manager.contents(atPath: path) == before, "seed \(seed)")
      try manager.removeItem(atPath: run.notebook)
      try manager.copyItem(atPath: whole, toPath: run.notebook)
    }
    #expect(try run("list").status == 0)
  }

  @Test func `Opens whole, or not at all, with few descriptors`() throws {
    let whole = try run("list").output
    for limit in 3...(isLong ? 64 : 24) {
      for words in [
        ["list"], ["show", "first"], ["search", "text"], ["append", "second", "limit\(limit)"],
        ["new", "limit\(limit)"], ["rename", "limit\(limit)", "renamed\(limit)"],
        ["trash", "renamed\(limit)"], ["compact"], ["check"], ["call", "notebook/list"],
        ["history", "first"], ["backlinks", "first"], ["links", "first"],
        ["export", run.folder("exported")],
      ] {
        let done = try run.run(words, shell: "ulimit -n \(limit); exec \"$@\"")
        let what = Comment(
          rawValue: "\(limit) \(words): \(done.status) \(done.output) \(done.errors)")
        // A loader without descriptors ends with 127.
        #expect([0, 1, 4, 127].contains(done.status), what)
        if done.status == 1 || done.status == 127 {
          #expect(
            done.errors.contains("Too many open files") || done.errors.contains("Error 24"), what)
        } else if words == ["list"] {
          #expect(
            whole.split(separator: "\n").allSatisfy { line in
              done.output.contains(line.prefix { $0 != "\t" })
            }, what)
        } else if words == ["show", "first"] {
          #expect(done.output == "text of first\n", what)
        }
      }
    }
    let now = try run("list")
    #expect(now.status == 0 && now.errors == "")
    for note in notes { #expect(now.output.contains(note)) }
    #expect(try run("check").status == 0)
  }
}
