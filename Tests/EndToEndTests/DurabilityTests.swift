import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `Durability` {
  let temporary: TemporaryFolder
  let folder: String

  init() throws {
    temporary = TemporaryFolder()
    folder = temporary("notes")
  }

  /// A notebook with a note, and a process on it that runs under strace with these options.
  private func server(_ mode: String, _ strace: String, _ ledger: inout Ledger) throws -> (
    Server, JSON
  ) {
    let writer = try Server(folder)
    try writer.initialize()
    let note = try writer.create("first", &ledger).get()
    try writer.leave()
    let server = try Server(
      folder, ["--durability", mode], shell: "exec strace -f -qq \(strace) \"$@\"")
    try server.initialize()
    return (server, note)
  }

  private func sessions() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder + "/log").count
  }

  @Test(arguments: ["background", "reply"])
  func `The status tells when changes are answered`(_ mode: String) throws {
    let server = try Server(folder, ["--durability=\(mode)"])
    try server.initialize()
    try server.call("note/create", ["title": "first"])
    let status = try server.call("notebook/status")
    #expect(status["durability"]?.string == mode)
    if mode == "reply" { #expect(status["durable"]?.boolean == true) }
    try server.call("notebook/flush")
    #expect(try server.call("notebook/status")["durable"]?.boolean == true)
    try server.leave()
  }

  /// Whatever else has a deadline then has a later one, of seconds. Nothing is asked meanwhile, as each request would be a reason to
  /// look what is due.
  @Test(.enabled(if: access("/proc/self/task", R_OK) == 0, "the system does not tell of threads"))
  func `A change is on its way to the disk within moments, though nothing else happens`() throws {
    let server = try Server(folder)
    try server.initialize()
    let note = try server.call("note/create", ["title": "first"])["note"]!["id"]!.string!
    try server.call("notebook/flush")
    // The thread for the disk sleeps while there is nothing to do.
    let tasks = "/proc/\(server.process)/task"
    let others = try FileManager.default.contentsOfDirectory(atPath: tasks).filter {
      $0 != "\(server.process)"
    }
    #expect(others.count == 1)
    /// How often it has begun to sleep; nil while it doesn't.
    func sleeps() throws -> String? {
      let status = try String(contentsOfFile: "\(tasks)/\(others[0])/status", encoding: .utf8)
      guard status.contains("State:\tS") else { return nil }
      return status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        .map { String($0) }
    }
    var times: [Duration] = []
    for number in 0..<5 {
      var before: String?
      try waitUntil("the disk has nothing to do", every: 0.02) {
        defer { before = try? sleeps() }
        return try before != nil && sleeps() == before
      }
      let start = ContinuousClock.now
      try server.call("note/append", ["id": .string(note), "text": .string("\(number) ")])
      try waitUntil("the disk is asked") { try sleeps() != before }
      times.append(ContinuousClock.now - start)
      try server.call("notebook/flush")
      #expect(try server.call("notebook/status")["durable"]?.boolean == true)
    }
    // 20 ms, and what a busy machine takes; the next deadline after that is seconds away.
    #expect(times.min()! < .seconds(1), "\(times)")
    try server.leave()
  }

  @Test(
    .enabled(if: canTrace || isContinuousIntegration, "strace is missing, or not allowed"))
  func `With durability by reply, changes are answered in order once on disk, many at once`() throws
  {
    var ledger = Ledger()
    let trace = temporary("trace")
    let (server, note) = try server(
      "reply",
      "-s 200000 -o \(trace) -e trace=fdatasync,write -e inject=fdatasync:delay_enter=50000",
      &ledger)
    let other = try Server(folder)
    try other.initialize()
    server.notifications = []
    var requests: [Int] = []
    for number in 0..<60 {
      requests.append(
        try server.post("note/append", ["id": note, "text": .string(" w\(number)")]))
      if number % 7 == 0 { requests.append(try server.post("notebook/list")) }
      if number % 11 == 0 { requests.append(try server.post("note/get", ["id": "none"])) }
    }
    for id in requests { _ = try server.response(to: id) }
    let answered = server.answered.compactMap { Int($0) }.filter { $0 >= requests[0] }
    #expect(answered == requests)
    try other.awaitRevision(of: server)
    try server.leave()
    // In the order of what the process did: each answer comes after an fdatasync that came after its append.
    var syncs = 0
    var pending = 0
    for line in try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n") {
      if line.contains("fdatasync") { syncs += 1 }
      if line.contains("fdatasync"), line.contains("= 0") { pending = 0 }
      if line.contains("write("), line.contains("w5"), !line.contains("write(1,") { pending += 1 }
      if line.contains("write(1,"), line.contains("\\\"id\\\":\(requests.last!),") {
        #expect(pending == 0)
      }
    }
    // One for each append would be 60.
    #expect(syncs < 30, "\(syncs)")
  }

  @Test(
    .enabled(if: canTrace || isContinuousIntegration, "strace is missing, or not allowed"),
    arguments: ["background", "reply"])
  func `An fdatasync that fails is made good by a second copy`(_ mode: String) throws {
    var ledger = Ledger()
    // What the writer before wrote is complete, and on disk: the first is of our own file.
    let (server, note) = try server(
      mode, "-o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when=1", &ledger)
    for number in 0..<3 { _ = try server.append("w\(number)", to: note, &ledger).get() }
    try server.call("notebook/flush")
    #expect(try server.call("notebook/status")["durable"]?.boolean == true)
    _ = try server.notification("window/showMessage") { $0["type"]?.integer == 1 }
    #expect(try sessions() == 3)
    let objections = ledger.objections(to: try server.words())
    #expect(objections.isEmpty)
    try server.leave()
    try audit(folder, ledger)
  }

  @Test(
    .enabled(if: canTrace || isContinuousIntegration, "strace is missing, or not allowed"))
  func `A disk that takes nothing for good is told, and not filled with copies`() throws {
    var ledger = Ledger()
    let (server, note) = try server(
      "reply", "-o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when=1+", &ledger)
    var words: Set<String> = ["first"]
    for number in 0..<20 {
      // The change is made all the same: this error says so.
      guard case .failure(let refusal) = try server.append("w\(number)", to: note, &ledger) else {
        Issue.record("answered, and not on disk")
        continue
      }
      words.insert("w\(number)")
      #expect(refusal.error.code == -32803)
      #expect(refusal.reason == "notDurable", "\(refusal.error.written)")
    }
    #expect(try server.call("notebook/status")["durable"]?.boolean == false)
    #expect(try server.error("notebook/flush").reason == "writeFailed")
    #expect(try server.words() == [String: Int](uniqueKeysWithValues: words.map { ($0, 1) }))
    // Each failure ends a session; what is in doubt is written again now and then, not with each of them.
    #expect(try sessions() < 30)
    let size = try logs(of: folder).reduce(0) {
      try $0 + FileManager.default.attributesOfItem(atPath: $1)[.size].map { $0 as! Int }!
    }
    // With a copy of everything for each change it was 19,800.
    #expect(size < 10_000, "\(size)")
    server.closeInput()
    #expect(try server.waitForEnd() == .status(1))
    let fresh = try Server(folder)
    try fresh.initialize()
    #expect(try fresh.words() == [String: Int](uniqueKeysWithValues: words.map { ($0, 1) }))
  }
}
