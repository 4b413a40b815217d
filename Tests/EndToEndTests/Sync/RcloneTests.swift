import Foundation
import JSONRPC
import TestSupport
import Testing

/// A place that rclone reaches.
private final class Remote {
  enum Kind: CaseIterable, Sendable { case folder, webDAV }

  static let isPossible = hasTool("rclone")

  /// Where its files are on this machine.
  let path: String
  private var daemon: Daemon?
  private let port: Int
  private let kind: Kind

  init(_ kind: Kind, at path: String) throws {
    (self.kind, self.path) = (kind, path)
    port = try freePort()
    try start()
  }

  func start() throws {
    guard kind == .webDAV else { return }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let words = ["serve", "webdav", path, "--addr", "127.0.0.1:\(port)", "--dir-cache-time", "1ns"]
    daemon = try Daemon([tool("rclone")!] + words, log: path + ".log")
    try daemon!.await(port: port)
  }

  func stop() { daemon = nil }

  /// The peer, and what rclone has to know of it.
  var peer: String { kind == .folder ? "rclone:\(path)/its notes" : "rclone:dav:its notes" }
  var environment: [String: String?] {
    [
      "RCLONE_CONFIG_DAV_TYPE": "webdav", "RCLONE_CONFIG_DAV_VENDOR": "other",
      "RCLONE_CONFIG_DAV_URL": "http://127.0.0.1:\(port)/",
    ]
  }

  /// The files of the notebook there.
  func files() throws -> [String] {
    guard access(path + "/its notes", F_OK) == 0 else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: path + "/its notes")
      .filter { $0.hasSuffix(".seg") || $0.hasSuffix(".snap") }
      .map { "\(path)/its notes/\($0)" }.sorted()
  }
}

@Suite(
  .waitingLong, .tags(.tool, .slow),
  .enabled(if: Remote.isPossible || isContinuousIntegration, "rclone is missing"))
struct `A remote that rclone reaches` {
  let folder: TemporaryFolder
  let a: String
  let b: String
  let c: String

  init() throws {
    folder = TemporaryFolder()
    (a, b, c) = (folder("a"), folder("b"), folder("c"))
  }

  private func add(_ word: String, to notebook: String, _ ledger: inout Ledger) throws {
    try begin(notebook, [word], bytes: 1000, &ledger)
  }

  @Test(
    arguments: Remote.Kind.allCases)
  private func `Two notebooks meet there, both ways, whatever happened to files`(
    _ kind: Remote.Kind
  ) throws {
    let remote = try Remote(kind, at: folder("remote"))
    let environment = remote.environment
    func exchange(_ notebook: String) throws -> (sent: Int, received: Int) {
      try sync(notebook, with: remote.peer, environment: environment)
    }
    var ledger = Ledger()
    try begin(a, ["one", "two"], bytes: 30_000, &ledger)
    #expect(try exchange(a).sent > 60_000)
    #expect(try exchange(b).received > 60_000)
    try add("three", to: a, &ledger)
    try add("four", to: b, &ledger)
    #expect(try exchange(b).sent > 1000)
    let both = try exchange(a)
    #expect(both.sent > 1000 && both.received > 1000)
    #expect(try exchange(b).received > 1000)
    for notebook in [a, b] { try audit(notebook, ledger) }
    let before = try [a, b, remote.path].map(contents)
    for notebook in [a, b, a] { #expect(try exchange(notebook) == (0, 0)) }
    #expect(try [a, b, remote.path].map(contents) == before)

    // A file that a delivery has left cut short, as one who comes then sees it; and one that somebody has deleted.
    let files = try remote.files()
    #expect(files.count == 3)
    let largest = files.max { size($0) < size($1) }!
    let whole = FileManager.default.contents(atPath: largest)!
    truncate(largest, 10_000)
    unlink(files.first { $0 != largest }!)
    let early = try exchange(c)
    #expect(early.received < 10_000)
    #expect(FileManager.default.contents(atPath: largest)!.count == 10_000)
    _ = try exchange(a)
    #expect(try remote.files() == files)
    #expect(FileManager.default.contents(atPath: largest) == whole)
    _ = try exchange(c)
    try audit(c, ledger)
    // Nobody has taken the short one for the whole.
    for notebook in [b, a, c] { #expect(try exchange(notebook) == (0, 0)) }
    #expect(FileManager.default.contents(atPath: largest) == whole)

    guard kind == .webDAV else { return }
    remote.stop()
    let start = Date()
    let errors = try failure(a, with: remote.peer, environment: environment)
    #expect(-start.timeIntervalSinceNow < patience)
    #expect(errors.contains("connection refused"))
    #expect(errors.split(separator: "\n").count == 1, "\(errors)")
    try remote.start()
    #expect(try exchange(a) == (0, 0))
  }

  /// What is killed, and when.
  enum Kill: CaseIterable, Sendable {
    case rcloneInFetch, rcloneInDelivery, allButRcloneInFetch, allButRcloneInDelivery
  }

  @Test(
    arguments: Kill.allCases)
  func `After a kill half-way nothing is lost or cut short, there and here`(_ kill: Kill) throws {
    let remote = try Remote(.folder, at: folder("remote"))
    var ledger = Ledger()
    try begin(a, ["large"], bytes: 300_000, &ledger)
    // One file of some size.
    try #require(try Outcome(["--notebook", a, "compact"]).ending == .status(0))
    let isFetch = kill == .rcloneInFetch || kill == .allButRcloneInFetch
    if isFetch { try sync(a, with: remote.peer) }
    let state = folder("state")
    let slow: [String: String?] = ["XDG_STATE_HOME": state, "RCLONE_BWLIMIT": "150k"]
    let ours = isFetch ? b : a
    let process = try Server(
      nil, ["--notebook", ours, "sync", remote.peer], delimiter: .lines, environment: slow)
    let sizes = try FileManager.default.subpathsOfDirectory(atPath: a)
      .filter { $0.hasSuffix(".seg") || $0.hasSuffix(".snap") }.map { size("\(a)/\($0)") }
    /// What is being written.
    func growing() throws -> [Int] {
      if !isFetch { return try remote.files().map(size) }
      guard access(state, F_OK) == 0 else { return [] }
      return try FileManager.default.subpathsOfDirectory(atPath: state)
        .filter { $0.contains("/incoming/") && !$0.hasSuffix(".json") }
        .map { size("\(state)/\($0)") }
    }
    try waitUntil("half a file") { try growing().contains { (20_000..<250_000).contains($0) } }
    let rclone = process.children.filter {
      (try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8)) == "rclone\n"
    }
    #expect(rclone.count == 1)
    switch kill {
    case .rcloneInFetch, .rcloneInDelivery:
      for child in rclone { Foundation.kill(child, SIGKILL) }
      #expect(try process.waitForEnd(reading: false) == .status(1))
      #expect(process.errorText.contains("status 137"))
    case .allButRcloneInFetch, .allButRcloneInDelivery:
      try process.killNow()
      // It does not go on alone.
      try waitUntil("the end of rclone") { rclone.allSatisfy { Foundation.kill($0, 0) != 0 } }
      let whole = isFetch ? try remote.files().map(size).max()! : sizes.max()!
      #expect(try growing().allSatisfy { $0 < whole }, "rclone went on alone")
    }
    // Who comes meanwhile, and then again. An rclone that outlives its parent for a moment may still write the file that is read:
    // then the exchange says so, and takes nothing.
    let early = try Outcome(["--notebook", c, "sync", remote.peer])
    if early.ending != .status(0) {
      // Its words depend on whether the file grows before it is opened or while it is read.
      let isGrowing = ["corrupted on transfer", "source file is being updated"].contains {
        early.errors.contains($0)
      }
      #expect(kill == .allButRcloneInDelivery && isGrowing, "\(early.errors)")
      try waitUntil("the end of rclone") { rclone.allSatisfy { Foundation.kill($0, 0) != 0 } }
      try sync(c, with: remote.peer)
    }
    try sync(ours, with: remote.peer, environment: ["XDG_STATE_HOME": state])
    for notebook in [c, b, a] {
      let variables: [String: String?] = notebook == ours ? ["XDG_STATE_HOME": state] : [:]
      try sync(notebook, with: remote.peer, environment: variables)
      try audit(notebook, ledger)
    }
    try audit(remote.path + "/its notes", ledger)
    #expect(try Outcome(["--notebook", remote.path + "/its notes", "check"]).ending == .status(0))
  }

  @Test
  func `Several at once lose nothing`() throws {
    let remote = try Remote(.webDAV, at: folder("remote"))
    var ledger = Ledger()
    try begin(a, ["first"], &ledger)
    let notebooks = [a, b, c, folder("d")]
    for notebook in notebooks {
      try sync(notebook, with: remote.peer, environment: remote.environment)
    }
    for (number, notebook) in notebooks.enumerated() {
      try begin(notebook, ["w\(number)"], bytes: 100_000, &ledger)
    }
    for _ in 0..<2 {
      let processes = try (notebooks + [a]).map {
        try Server(
          nil, ["--notebook", $0, "sync", remote.peer], delimiter: .lines,
          environment: remote.environment)
      }
      for process in processes {
        #expect(try process.waitForEnd(reading: false) == .status(0), "\(process.errorText)")
      }
    }
    for notebook in notebooks {
      try sync(notebook, with: remote.peer, environment: remote.environment)
      try audit(notebook, ledger)
    }
  }

  @Test(
    .enabled(if: hasTool("faketime") || isContinuousIntegration, "faketime is missing"))
  func `Many files become one, and go from the remote a day later, for good`() throws {
    let remote = try Remote(.folder, at: folder("remote"))
    var ledger = Ledger()
    for number in 0..<65 {
      // Where no folder is in memory, each leaves a file.
      let outcome = try Outcome(
        ["--notebook", a, "call", "note/create", "{\"title\":\"w\(number)\"}"],
        environment: ["XDG_RUNTIME_DIR": "none"])
      #expect(outcome.ending == .status(0))
      ledger.keep("w\(number)")
    }
    try FileManager.default.createDirectory(
      atPath: remote.path, withIntermediateDirectories: true)
    try shell("cp -a \"$2\" \"$3\"", a, remote.path + "/its notes")
    func exchange(_ notebook: String, after hours: Int) throws {
      let outcome = try Outcome(
        ["--notebook", notebook, "sync", remote.peer],
        shell: "export NO_FAKE_STAT=1; exec faketime -f +\(hours)h \"$@\"")
      #expect(outcome.ending == .status(0), "\(outcome.errors)")
    }
    try exchange(b, after: 0)
    #expect(try remote.files().count == 66)
    #expect(try remote.files().count { $0.hasSuffix(".snap") } == 1)
    // One more change is one more file, and not all of it in another snapshot.
    try begin(b, ["more"], &ledger)
    try exchange(b, after: 0)
    #expect(try remote.files().count == 67)
    #expect(try remote.files().count { $0.hasSuffix(".snap") } == 1)
    // One who has all of it, and one who comes a day later.
    try exchange(c, after: 0)
    try exchange(b, after: 25)
    let after = try remote.files()
    #expect(after.count < 10, "\(after)")
    try audit(remote.path + "/its notes", ledger)
    for (notebook, hours) in [(c, 25), (b, 26), (c, 26), (folder("d"), 26), (b, 27), (a, 27)] {
      try exchange(notebook, after: hours)
      #expect(try remote.files().count < 10)
    }
    for notebook in [a, b, c, folder("d"), remote.path + "/its notes"] {
      try audit(notebook, ledger)
    }
  }

  @Test
  func
    `What is none of a notebook there stands in nobody's way once it is gone, and takes no room`()
    throws
  {
    let remote = try Remote(.folder, at: folder("remote"))
    let environment: [String: String?] = ["XDG_STATE_HOME": folder("state")]
    var ledger = Ledger()
    try begin(a, ["one"], &ledger)
    try sync(a, with: remote.peer, environment: environment)
    // Of a later version of the program: it is not touched as long as that is there.
    let later = remote.path + "/its notes/decent-zz.json"
    let text =
      #"{"format":"Decent Notes","version":9,"notebook":"\#(String(repeating: "0", count: 32))"}"#
    try text.write(toFile: later, atomically: true, encoding: .utf8)
    for _ in 0..<2 {
      let errors = try failure(a, with: remote.peer, environment: environment)
      #expect(errors.contains("decent-zz.json: written by a later version"), "\(errors)")
    }
    unlink(later)
    try sync(a, with: remote.peer, environment: environment)
    // As an earlier version of this program would have left it.
    let mirror = try #require(
      try FileManager.default.subpathsOfDirectory(atPath: folder("state"))
        .first { $0.hasSuffix("/mirror") })
    let here = folder("state/" + mirror)
    try text.write(toFile: here + "/decent-zz.json", atomically: true, encoding: .utf8)
    try sync(a, with: remote.peer, environment: environment)
    // Segments that are none: one from the beginning on, one behind its first records.
    let good = try #require(try remote.files().first)
    var bytes = try #require(FileManager.default.contents(atPath: good))
    let session = good.split(separator: "/").dropLast().last!
    bytes.append(Data(count: 4 << 20))
    let junk = remote.path + "/its notes/log/\(String(repeating: "1", count: 32))/0-00000000.seg"
    try FileManager.default.createDirectory(
      atPath: (junk as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(count: 4 << 20).write(to: URL(filePath: junk))
    let long = remote.path + "/its notes/log/\(session)/0-00000001.seg"
    try bytes.write(to: URL(filePath: long))
    func room() throws -> Int {
      try FileManager.default.subpathsOfDirectory(atPath: folder("state"))
        .filter { $0.contains("/remotes/") }.reduce(0) {
          $0 + size(folder("state/" + $1))
        }
    }
    for _ in 0..<2 {
      try sync(a, with: remote.peer, environment: environment)
      #expect(try room() < 1 << 20)
    }
    try FileManager.default.removeItem(atPath: junk)
    try FileManager.default.removeItem(atPath: long)
    try sync(a, with: remote.peer, environment: environment)
    let cut = try FileManager.default.subpathsOfDirectory(atPath: here)
      .filter { $0.hasSuffix(".cut") }
    #expect(cut.isEmpty, "\(cut)")
    try sync(b, with: remote.peer, environment: environment)
    try audit(b, ledger)
  }

  /// Between delivering and deleting something becomes of the files here: only what a process of ours has removed is deleted there.
  @Test(arguments: ["log", "decent.json", "."])
  func `Nothing is deleted there because it is gone here`(_ lost: String) throws {
    let remote = try Remote(.folder, at: folder("remote"))
    var ledger = Ledger()
    try begin(a, ["one", "two"], &ledger)
    try sync(a, with: remote.peer)
    let files = try remote.files()
    let bin = folder("bin")
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    try writeProgram(
      """
      #!/bin/sh
      '\(tool("rclone")!)' "$@"
      status=$?
      for word; do before=$last; last=$word; done
      case "$1 $before" in "copy "*/mirror) mv "$before/\(lost == "." ? "" : lost)" "\(folder("lost"))" ;; esac
      exit $status
      """, to: bin + "/rclone")
    let path = bin + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
    let errors = try failure(a, with: remote.peer, environment: ["PATH": path])
    #expect(errors.contains("nothing is deleted from \(remote.peer.dropFirst(7))"), "\(errors)")
    #expect(try remote.files() == files)
    try sync(b, with: remote.peer)
    try audit(b, ledger)
    try sync(a, with: remote.peer)
    #expect(try remote.files() == files)
  }

  @Test(.enabled(if: isLong))
  func `A remote that answers nothing is given up within half a minute`() throws {
    let port = try freePort()
    let script = """
      import socket, time
      server = socket.create_server(("127.0.0.1", \(port)))
      time.sleep(1000)
      """
    let daemon = try Daemon([tool("python3")!, "-c", script], log: folder("log"))
    defer { daemon.end() }
    try daemon.await(port: port)
    var ledger = Ledger()
    try begin(a, ["one"], &ledger)
    let start = Date()
    let errors = try failure(
      a, with: "rclone:dav:notes",
      environment: [
        "RCLONE_CONFIG_DAV_TYPE": "webdav", "RCLONE_CONFIG_DAV_VENDOR": "other",
        "RCLONE_CONFIG_DAV_URL": "http://127.0.0.1:\(port)/",
      ])
    #expect(errors.contains("timeout"))
    #expect(-start.timeIntervalSinceNow < 31)
  }
}
