import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.root),
  .enabled(
    if: Mount.isPossible || isContinuousIntegration, "only root can mount a file system to fill"))
struct `A disk that is full or read-only` {
  /// Appends words to a note until `count` of them were refused for want of room.
  private func fill(
    _ server: Server, _ note: JSON, until count: Int, _ ledger: inout Ledger
  ) throws {
    var refused = 0
    for _ in 0..<10_000 where refused < count {
      let word = "w\(ledger.kept.count)x\(refused)y\(UUID().uuidString)"
      guard case .failure(let refusal) = try server.append(word, to: note, padding: 9000, &ledger)
      else { continue }
      refused += 1
      #expect(refusal.error.code == -32803)
      #expect(refusal.reason == "diskFull", "\(refusal.error.written)")
    }
    #expect(refused == count)
  }

  private func names(below folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
  }

  @Test
  func `Without room reading goes on, and with room writing does, by itself`() throws {
    let disk = try Mount(memory: "size=1m")
    let folder = disk.path + "/notes"
    let (server, other) = (try Server(folder), try Server(folder))
    for server in [server, other] { try server.initialize() }
    var ledger = Ledger()
    let note = try server.create("first", &ledger).get()
    try other.awaitRevision(of: server)
    let filler = disk.path + "/filler"
    try Data(count: 600_000).write(to: URL(fileURLWithPath: filler))

    try fill(server, note, until: 20, &ledger)
    let objections = ledger.objections(to: try server.words())
    #expect(objections.isEmpty)
    // Refusals leave nothing behind that would add up.
    let before = try names(below: folder)
    try fill(server, note, until: 20, &ledger)
    try fill(other, note, until: 20, &ledger)
    #expect(try names(below: folder).count <= before.count + 2)
    try audit(folder, ledger)

    unlink(filler)
    // A client may wait for this with what it could not save.
    for server in [server, other] {
      _ = try server.notification("window/showMessage") { $0["type"]?.integer == 3 }
    }
    for number in 0..<5 {
      for (who, server) in [server, other].enumerated() {
        _ = try server.append("after\(who)x\(number)", to: note, padding: 9000, &ledger).get()
      }
    }
    try other.awaitRevision(of: server)
    for server in [server, other] {
      let objections = ledger.objections(to: try server.words())
      #expect(objections.isEmpty)
      let damage = try server.damage
      #expect(damage.isEmpty)
      try server.killNow()
    }
    try audit(folder, ledger)
  }

  @Test
  func `Without room for another file, what is there can be read and written on`() throws {
    let disk = try Mount(memory: "size=4m,nr_inodes=12")
    let folder = disk.path + "/notes"
    let first = try Server(folder)
    try first.initialize()
    var ledger = Ledger()
    let note = try first.create("first", &ledger).get()
    var fillers: [String] = []
    while true {
      let path = disk.path + "/filler\(fillers.count)"
      guard FileManager.default.createFile(atPath: path, contents: nil) else { break }
      fillers.append(path)
    }
    let second = try Server(folder)
    try second.initialize()
    for number in 0..<3 {
      _ = try first.append("going\(number)", to: note, &ledger).get()
      guard case .failure(let refusal) = try second.append("no\(number)", to: note, &ledger) else {
        Issue.record("a file too many")
        continue
      }
      #expect(refusal.reason == "diskFull", "\(refusal.error.written)")
    }
    try second.awaitRevision(of: first)
    for filler in fillers { unlink(filler) }
    _ = try second.append("again", to: note, &ledger).get()
    try audit(folder, ledger)
  }

  @Test
  func `What is mounted for reading only is read, and written when it can be`() throws {
    let disk = try Mount(memory: "size=4m")
    let folder = disk.path + "/notes"
    let writer = try Server(folder)
    try writer.initialize()
    var ledger = Ledger()
    let note = try writer.create("first", &ledger).get()
    try writer.leave()
    // A file system with a file open for writing can't be remounted: this one runs and has written nothing.
    let server = try Server(folder)
    try server.initialize()
    try disk.remount("ro")
    for number in 0..<5 {
      guard case .failure(let refusal) = try server.append("no\(number)", to: note, &ledger) else {
        Issue.record("written to what is read-only")
        continue
      }
      #expect(refusal.error.code == -32803)
      #expect(refusal.reason == "readOnly", "\(refusal.error.written)")
      let objections = ledger.objections(to: try server.words())
      #expect(objections.isEmpty)
    }
    try server.call("notebook/flush")
    try audit(folder, ledger)
    try disk.remount("rw")
    _ = try server.append("yes", to: note, &ledger).get()
    try audit(folder, ledger)
  }
}

@Suite(.waiting, .tags(.root))
struct `A file system that an error made read-only` {
  @Test(
    .enabled(
      if: Mount.isPossibleFromFile || isContinuousIntegration, "needs root, ext4 and loop devices"))
  func `Reading goes on under a process that was writing`() throws {
    let disk = try Mount(megabytes: 16)
    let folder = disk.path + "/notes"
    let server = try Server(folder)
    try server.initialize()
    var ledger = Ledger()
    let note = try server.create("first", &ledger).get()
    try server.call("notebook/flush")
    // What the kernel does by itself when it finds the file system damaged.
    try disk.remount("abort")
    for number in 0..<5 {
      guard case .failure(let refusal) = try server.append("no\(number)", to: note, &ledger) else {
        Issue.record("written to what is read-only")
        continue
      }
      #expect(["readOnly", "writeFailed"].contains(refusal.reason), "\(refusal.error.written)")
      let objections = ledger.objections(to: try server.words())
      #expect(objections.isEmpty)
    }
    try audit(folder, ledger)
    try server.leave()
  }
}

@Suite(.waiting, .tags(.root))
struct `A folder that refuses its owner` {
  @Test(
    .enabled(if: canDropCapabilities || isContinuousIntegration, "setpriv is missing"))
  func `Reading goes on, and writing does when it is allowed again`() throws {
    let temporary = TemporaryFolder()
    let folder = temporary("notes")
    let writer = try Server(folder, shell: withoutCapabilities)
    try writer.initialize()
    var ledger = Ledger()
    let note = try writer.create("first", &ledger).get()
    let server = try Server(folder, shell: withoutCapabilities)
    try server.initialize()
    #expect(chmod(folder + "/log", 0o500) == 0)
    for number in 0..<3 {
      guard case .failure(let refusal) = try server.append("no\(number)", to: note, &ledger) else {
        Issue.record("written to what is forbidden")
        continue
      }
      #expect(refusal.error.code == -32803)
      #expect(refusal.reason == "readOnly", "\(refusal.error.written)")
      #expect(refusal.error["message"]?.string?.contains("Permission denied") == true)
      // Who had a file before goes on in it.
      _ = try writer.append("going\(number)", to: note, &ledger).get()
    }
    try server.awaitRevision(of: writer)
    #expect(chmod(folder + "/log", 0o700) == 0)
    _ = try server.append("again", to: note, &ledger).get()
    try audit(folder, ledger)
  }
}
