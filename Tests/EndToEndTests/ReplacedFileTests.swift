import Foundation
import JSONRPC
import TestSupport
import Testing

/// What synchronisation engines, backups and people do to files that a process is writing.
@Suite(.waitingLong, .tags(.slow))
struct `Files that somebody else changes under a running process` {
  let temporary: TemporaryFolder
  let folder: String

  init() throws {
    temporary = TemporaryFolder()
    folder = temporary("notes")
  }

  private func server(
    _ folder: String? = nil, environment: [String: String?] = [:], shell: String? = nil
  ) throws -> Server {
    let server = try Server(folder ?? self.folder, environment: environment, shell: shell)
    try server.initialize()
    return server
  }

  /// What is done to a log that is being written.
  enum Fault: CaseIterable, Sendable {
    case renamedOver, renamedAway, deleted, truncated, emptied, addedTo, linked, symbolicLink,
      folderMoved
  }

  /// Takes a file or folder away in one step: name by name, the process would be writing again in between.
  private func takeAway(_ path: String) {
    #expect(rename(path, temporary(UUID().uuidString)) == 0)
  }

  private func inflict(_ fault: Fault, on log: String) throws {
    let session = (log as NSString).deletingLastPathComponent
    switch fault {
    case .renamedOver:
      let old = FileManager.default.contents(atPath: log)!
      try old.prefix(old.count / 2).write(to: URL(fileURLWithPath: log + ".new"))
      #expect(rename(log + ".new", log) == 0)
    case .renamedAway: takeAway(log)
    case .deleted: #expect(unlink(log) == 0)
    case .truncated: #expect(truncate(log, 200) == 0)
    case .emptied: #expect(truncate(log, 0) == 0)
    case .addedTo:
      let handle = FileHandle(forWritingAtPath: log)!
      handle.seekToEndOfFile()
      handle.write(Data("what another program has to say".utf8))
      try handle.close()
    case .linked: #expect(link(log, log + "." + UUID().uuidString) == 0)
    case .symbolicLink:
      let target = temporary(UUID().uuidString)
      #expect(rename(log, target) == 0)
      #expect(symlink(target, log) == 0)
    case .folderMoved: takeAway(session)
    }
  }

  @Test(arguments: Fault.allCases)
  func `The log of a process that goes on writing`(_ fault: Fault) throws {
    var ledger = Ledger()
    let (server, other) = (try server(), try server())
    let note = try server.create("first", &ledger).get()
    for number in 0..<5 { _ = try server.append("a\(number)", to: note, &ledger).get() }
    for log in try logs(of: folder) { try inflict(fault, on: log) }
    for number in 0..<5 { _ = try server.append("b\(number)", to: note, &ledger).get() }
    try server.call("notebook/flush")
    // A process that was there sees it, and so does one that comes now.
    try other.awaitRevision(of: server)
    let fresh = try self.server()
    for server in [server, other, fresh] {
      let objections = ledger.objections(to: try server.words())
      #expect(objections.isEmpty)
    }
    // It goes on, and once more.
    for log in try logs(of: folder) { try inflict(fault, on: log) }
    _ = try server.append("c", to: note, &ledger).get()
    _ = try fresh.append("d", to: note, &ledger).get()
    try server.leave()
    try fresh.awaitRevision(of: other)
    let last = try self.server()
    let objections = ledger.objections(to: try last.words())
    #expect(objections.isEmpty)
  }

  @Test(arguments: Fault.allCases)
  func `The log of a process that leaves without another change`(_ fault: Fault) throws {
    var ledger = Ledger()
    let server = try server()
    let note = try server.create("first", &ledger).get()
    for number in 0..<5 { _ = try server.append("a\(number)", to: note, &ledger).get() }
    try server.call("notebook/flush")
    for log in try logs(of: folder) { try inflict(fault, on: log) }
    try server.leave()
    let fresh = try self.server()
    let objections = ledger.objections(to: try fresh.words())
    #expect(objections.isEmpty)
  }

  @Test(
    .enabled(if: canDropCapabilities || isContinuousIntegration, "setpriv is missing"))
  func `A log that its owner may not read any more`() throws {
    var ledger = Ledger()
    let server = try server(shell: withoutCapabilities)
    let note = try server.create("first", &ledger).get()
    for log in try logs(of: folder) { #expect(chmod(log, 0) == 0) }
    _ = try server.append("more", to: note, &ledger).get()
    let fresh = try self.server(shell: withoutCapabilities)
    let objections = ledger.objections(to: try fresh.words())
    #expect(objections.isEmpty)
    #expect(try fresh.revision == server.revision)
  }

  // MARK: - The whole folder

  /// A notebook with a past: notes of a session that is over. Returns one of them.
  private func past(_ ledger: inout Ledger) throws -> JSON {
    let writer = try server()
    let note = try writer.create("past", &ledger).get()
    _ = try writer.append("text", to: note, &ledger).get()
    try writer.leave()
    return note
  }

  @Test
  func `A folder that is deleted is there again with the next change`() throws {
    var ledger = Ledger()
    let note = try past(&ledger)
    let server = try server()
    _ = try server.append("a", to: note, &ledger).get()
    takeAway(folder)
    _ = try server.append("b", to: note, &ledger).get()
    try audit(folder, ledger)
    // Also when somebody created it again, and by whom only read before.
    let reader = try self.server()
    try server.leave()
    takeAway(folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try reader.append("c", to: note, &ledger).get()
    try audit(folder, ledger)
  }

  @Test(
    .enabled(if: isLong, "takes half a minute"), arguments: [false, true])
  func `A folder that is deleted is there again without another change, soon`(isReader: Bool) throws
  {
    var ledger = Ledger()
    let note = try past(&ledger)
    let server = try server()
    if !isReader { _ = try server.append("a", to: note, &ledger).get() }
    try server.call("notebook/flush")
    takeAway(folder)
    try waitUntil("there is no log", within: 45, every: 0.1) { access(folder + "/log", F_OK) == 0 }
    try server.call("notebook/flush")
    try audit(folder, ledger)
  }

  @Test
  func `An old backup that is restored takes nothing back`() throws {
    var ledger = Ledger()
    let note = try past(&ledger)
    let writer = try server()
    _ = try writer.append("a", to: note, &ledger).get()
    let backup = temporary("backup")
    try shell("cp -a \"$2\" \"$3\"", folder, backup)
    _ = try writer.append("b", to: note, &ledger).get()
    let server = try server()
    try writer.leave()
    _ = try server.append("c", to: note, &ledger).get()
    takeAway(folder)
    try shell("mkdir -p \"$3\" && cp -a \"$2\"/. \"$3\"", backup, folder)
    _ = try server.append("d", to: note, &ledger).get()
    try audit(folder, ledger)
    try server.leave()
    try audit(folder, ledger)
  }

  @Test
  func `An old backup restored while nothing runs takes nothing back from other processes`() throws
  {
    var ledger = Ledger()
    let keeping = ["XDG_STATE_HOME": temporary("state")]
    let note = try past(&ledger)
    let backup = temporary("backup")
    try shell("cp -a \"$2\" \"$3\"", folder, backup)
    let writer = try server(environment: keeping)
    // So much that it pays to keep it.
    _ = try writer.append("a", to: note, padding: 100_000, &ledger).get()
    try writer.leave()
    takeAway(folder)
    try shell("cp -a \"$2\" \"$3\"", backup, folder)
    let reader = try server(environment: keeping)
    let objections = ledger.objections(to: try reader.words())
    #expect(objections.isEmpty)
    // It is enough to have looked.
    try reader.leave()
    try audit(folder, ledger)
  }

  @Test
  func `A notebook that was copied while it was written is merged by copying the files back`()
    throws
  {
    var ledger = Ledger()
    let server = try server()
    let note = try server.create("first", &ledger).get()
    _ = try server.append("a", to: note, &ledger).get()
    let copy = temporary("copy")
    try shell("cp -a \"$2\" \"$3\"", folder, copy)
    let twin = try self.server(copy)
    for number in 0..<5 {
      _ = try server.append("b\(number)", to: note, &ledger).get()
      _ = try twin.append("c\(number)", to: note, &ledger).get()
    }
    let here = try server.words()
    #expect(here["b4"] == 1 && here["c4"] == nil)
    // All files of the copy go into the folder, older ones over newer ones, as a person does it.
    try shell("cp -a \"$2\"/. \"$3\"", copy, folder)
    _ = try server.append("d", to: note, &ledger).get()
    let fresh = try self.server()
    try server.awaitRevision(of: fresh)
    for server in [server, fresh] {
      let objections = ledger.objections(to: try server.words())
      #expect(objections.isEmpty)
    }
    try server.leave()
    try audit(folder, ledger)
    // The other way too: both hold the same then.
    try shell("cp -a \"$2\"/. \"$3\"", folder, copy)
    _ = try twin.append("e", to: note, &ledger).get()
    try twin.leave()
    try audit(copy, ledger)
  }
}
