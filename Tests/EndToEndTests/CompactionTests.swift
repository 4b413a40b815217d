import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waitingLong, .tags(.slow))
struct `Compaction` {
  let temporary: TemporaryFolder
  let path: String

  init() throws {
    temporary = TemporaryFolder()
    path = temporary("notes")
  }

  private func files(_ folder: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: path + "/" + folder) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: path + "/" + folder)
      .filter { $0.contains(".") }.sorted()
  }

  /// Writes notes, each in a session of its own.
  private func write(_ count: Int, _ ledger: inout Ledger) throws {
    for number in 0..<count {
      let server = try Server(path)
      try server.initialize()
      let note = try server.create("made\(number)", &ledger).get()
      _ = try server.append("more\(number)", to: note, &ledger).get()
      try server.leave()
    }
  }

  private func compact(_ shell: String? = nil) throws -> Outcome {
    try Outcome(["--notebook", path, "compact"], shell: shell)
  }

  @Test
  func `Of nothing there is nothing to fold`() throws {
    let outcome = try compact()
    #expect(outcome.ending == .status(0) && outcome.output.contains("there is no notebook"))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test
  func `What is complete is folded, and nothing is removed before a day has passed`() throws {
    var ledger = Ledger()
    try write(3, &ledger)
    let server = try Server(path)
    try server.initialize()
    _ = try server.create("open", &ledger).get()
    let outcome = try compact()
    #expect(outcome.ending == .status(0) && outcome.output.contains("folded 3 log files"))
    #expect(try files("log").count == 4 && files("snap").count == 1)
    let again = try compact()
    #expect(again.output.contains("there is nothing to fold"))
    _ = try server.create("later", &ledger).get()
    try server.leave()
    try audit(path, ledger, "folded")
    let copy = temporary("copy")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    for log in try files("log").filter({ $0.hasSuffix(".seg") }) {
      try FileManager.default.removeItem(atPath: path + "/log/" + log)
    }
    let snapshot = path + "/snap/" + (try files("snap")[0])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: snapshot))
    bytes[bytes.count / 2] ^= 4
    try bytes.write(to: URL(fileURLWithPath: snapshot))
    let check = try Outcome(["--notebook", path, "check"])
    #expect(check.ending == .status(1) && check.output.contains("damage: \(snapshot)"))
    try audit(copy, ledger, "a copy")
  }

  @Test(
    .enabled(if: hasTool("faketime") || isContinuousIntegration, "faketime is missing"))
  func `A day later the logs are gone, and running processes go on`() throws {
    var ledger = Ledger()
    let early = try Server(path)
    try early.initialize()
    try write(3, &ledger)
    let writer = try Server(path)
    try writer.initialize()
    let note = try writer.create("mine", &ledger).get()
    #expect(try compact().output.contains("folded 3 log files"))
    // Files keep the times they have.
    let later = try compact("export NO_FAKE_STAT=1; exec faketime -f '+2d' \"$@\"")
    #expect(later.output.contains("removed 3 files"), "\(later)")
    #expect(try files("log").count == 1)
    _ = try writer.append("again", to: note, &ledger).get()
    _ = try early.create("too", &ledger).get()
    for server in [early, writer] {
      #expect(ledger.objections(to: try server.words()) == [])
      try server.leave()
    }
    try audit(path, ledger, "removed")
    // Nobody has taken it for lost.
    #expect(try files("snap").count == 1 && files("log").count == 2)
  }

  @Test
  func `A process that is written to folds while it answers, and nobody misses anything`() throws {
    var ledger = Ledger()
    // One that was there before, and hears of everything.
    let early = try Server(path)
    try early.initialize()
    let writer = try Server(path)
    try writer.initialize()
    let note = try writer.create("first", &ledger).get()
    // More than a mebibyte, in files of 64 KiB or more.
    for number in 0..<80 {
      _ = try writer.append("long\(number)", to: note, padding: 16_384, &ledger).get()
    }
    var count = 0
    try writer.wait(for: "a snapshot") {
      // It has to come to that between requests.
      _ = try writer.append("meanwhile\(count)", to: note, &ledger).get()
      count += 1
      return try files("snap").contains { $0.hasSuffix(".snap") && !$0.hasPrefix(".") }
    }
    let revision = try writer.revision
    for number in 0..<20 {
      _ = try writer.append("later\(number)", to: note, &ledger).get()
      _ = try early.create("other\(number)", &ledger).get()
    }
    #expect(try writer.revision != revision)
    try early.wait(for: "what both wrote") { try early.words() == writer.words() }
    for server in [early, writer] {
      #expect(ledger.objections(to: try server.words()) == [])
      #expect(try server.damage == [])
    }
    // Who comes now reads the snapshot, with the logs and without those that it stands for.
    try audit(path, ledger, "beside both")
    let copy = temporary("copy")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try early.leave()
    try writer.leave()
    try audit(path, ledger, "after both")
    try audit(copy, ledger, "a copy")
    #expect(try compact().ending == .status(0))
    for log in try files("log").filter({ $0.hasSuffix(".seg") }) {
      try FileManager.default.removeItem(atPath: path + "/log/" + log)
    }
    try audit(path, ledger, "what was folded alone")
  }

  @Test(
    .enabled(if: canTrace || isContinuousIntegration, "strace is missing, or not allowed"))
  func `Killed at any system call, nothing is lost and it can be done again`() throws {
    var ledger = Ledger()
    try write(4, &ledger)
    let original = temporary("original")
    try FileManager.default.moveItem(atPath: path, toPath: original)
    var kills = 0
    for call in ["write", "fdatasync", "fsync", "mkdirat", "renameat", "unlinkat", "pread64"] {
      let step = isLong || seedFactor > 1 || call != "pread64" ? 1 : 9
      for number in stride(from: 1, through: 200, by: step) {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: original, toPath: path)
        let place = "-e trace=\(call) -P \(path) -P \(path)/snap -e inject=\(call)"
        let outcome = try compact(
          "exec strace -f -qq -o /dev/null \(place):signal=KILL:when=\(number) \"$@\"")
        if outcome.ending == .status(0) { break }
        kills += 1
        try audit(path, ledger, "\(call) \(number)")
        #expect(try compact().ending == .status(0), "\(call) \(number)")
        try audit(path, ledger, "\(call) \(number), again")
        #expect(try files("snap").count { $0.hasSuffix(".snap") } == 1, "\(call) \(number)")
      }
    }
    #expect(kills > 3, "\(kills)")
  }
}
