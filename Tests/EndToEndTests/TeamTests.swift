import Foundation
import JSONRPC
import TestSupport
import Testing

/// Several accounts of one machine in one notebook.
@Suite(
  .waiting, .tags(.root),
  .enabled(
    if: Account.areUsable || isContinuousIntegration, "only root can run processes of several users"
  )
)
struct `A folder of a team` {
  static let team: gid_t = 31100

  let temporary: TemporaryFolder
  let folder: String
  /// Two members of the team, and somebody else.
  let anna = Account(31001, groups: [Self.team])
  let ben = Account(31002, groups: [Self.team])
  let clara = Account(31003)

  init() throws {
    temporary = TemporaryFolder()
    folder = temporary("notes")
    #expect(chmod(temporary.path, 0o755) == 0)
    for account in [anna, ben, clara] {
      try account.makeFolder(state(of: account))
      if access(memory(of: account), F_OK) != 0 { try? account.makeFolder(memory(of: account)) }
    }
  }

  private func state(of account: Account) -> String { temporary("state-\(account.user)") }

  /// A folder in memory, by which commands hand their sessions over; there is one for each account.
  private func memory(of account: Account) -> String {
    "/dev/shm/decent-notes-tests-\(account.user)"
  }

  private func environment(of account: Account) -> [String: String?] {
    let state = state(of: account)
    return ["HOME": state, "XDG_STATE_HOME": state, "XDG_RUNTIME_DIR": memory(of: account)]
  }

  /// Makes the notebook's folder as its owner does for a team.
  private func makeFolder(_ mode: mode_t) throws {
    try anna.makeFolder(folder)
    #expect(chown(folder, anna.user, Self.team) == 0)
    #expect(chmod(folder, mode) == 0)
  }

  private func server(_ account: Account, umask: String = "022") throws -> Server {
    let server = try Server(
      folder, environment: environment(of: account), shell: account.running(umask: umask))
    try server.initialize()
    return server
  }

  private func command(
    _ account: Account, _ words: String..., umask: String = "022"
  ) throws -> Outcome {
    try Outcome(
      ["--notebook", folder] + words, environment: environment(of: account),
      shell: account.running(umask: umask))
  }

  /// Opens the notebook as an account, which has to find what the ledger says, and no damage.
  private func audit(_ account: Account, _ ledger: Ledger) throws {
    let server = try server(account)
    #expect(ledger.objections(to: try server.words()) == [])
    #expect(try server.damage == [])
    try server.leave()
  }

  private func status(_ path: String) -> stat {
    var status = stat()
    #expect(lstat(path, &status) == 0, "\(path)")
    return status
  }

  /// Checks group and mode of everything in the notebook; returns how many files there are.
  @discardableResult
  private func expectModes(_ folders: mode_t, _ files: mode_t, group: gid_t = team) throws -> Int {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    for name in names {
      let status = status(folder + "/" + name)
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      #expect(
        status.st_mode & 0o7777 == (isFolder ? folders : files),
        "\(name): \(String(status.st_mode & 0o7777, radix: 8))")
      #expect(status.st_gid == group, "\(name)")
    }
    return names.count
  }

  /// Checks that what an account keeps beside the notebook is its own alone.
  private func expectPrivateState(_ account: Account) throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: state(of: account))
    for name in names {
      let status = status(state(of: account) + "/" + name)
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      #expect(status.st_mode & 0o7777 == (isFolder ? 0o700 : 0o600), "\(name)")
      #expect(status.st_uid == account.user && status.st_gid == account.user, "\(name)")
    }
    #expect(!names.isEmpty)
  }

  // MARK: - Modes

  @Test(arguments: ["0", "002", "022", "027", "077", "0777"])
  func `Has files that the group reads and folders in which it writes, whatever the umask`(
    _ mask: String
  ) throws {
    try makeFolder(0o2770)
    var ledger = Ledger()
    let servers = [try server(anna, umask: mask), try server(ben, umask: mask)]
    let note = try servers[0].create("first", &ledger).get()
    try servers[1].awaitRevision(of: servers[0])
    // Both type into one note, at once.
    var random = SplitMix64(seed: 1)
    let clients = try servers.map { try AttachedClient($0, note) }
    for number in 0..<20 {
      for (index, client) in clients.enumerated() {
        try client.type("w\(index)x\(number)", &random)
        try client.proceed()
      }
    }
    try run(clients) {
      clients.allSatisfy(\.isIdle) && clients[0].text == clients[1].text
        && clients[0].words.count == 40
    }
    for client in clients {
      for word in client.kept { ledger.keep(word) }
    }
    #expect(ledger.kept.count == 41)
    try expectModes(0o2770, 0o640)
    for server in servers { try server.leave() }
    // Files with final names, a session that is transferred, and a snapshot.
    for account in [anna, ben, anna, ben] {
      let id = note.text
      let outcome = try command(
        account, "call", "note/append", #"{"id":\#(id),"text":" more\#(ledger.kept.count)"}"#,
        umask: mask)
      #expect(outcome.ending == .status(0), "\(outcome.errors)")
      ledger.keep("more\(ledger.kept.count)")
    }
    #expect(try command(ben, "compact", umask: mask).output.contains("folded"))
    #expect(try expectModes(0o2770, 0o640) > 8)
    for account in [anna, ben] {
      try audit(account, ledger)
      let check = try command(account, "check")
      #expect(check.ending == .status(0), "\(check)")
      try expectPrivateState(account)
    }
    // Somebody else is not let in.
    let other = try command(clara, "call", "notebook/list")
    #expect(other.ending == .status(1) && other.errors.contains("\(folder): Permission denied"))
  }

  @Test(arguments: [("022", 0o2775, 0o644), ("027", 0o2770, 0o640), ("002", 0o2775, 0o644)])
  func `Lets others do what the folder lets them, but for what the umask forbids`(
    _ mask: String, _ folders: mode_t, _ files: mode_t
  ) throws {
    try makeFolder(0o2775)
    var ledger = Ledger()
    let server = try server(anna, umask: mask)
    _ = try server.create("first", &ledger).get()
    #expect(try command(ben, "call", "note/create", umask: mask).ending == .status(0))
    try server.leave()
    #expect(try command(anna, "compact", umask: mask).ending == .status(0))
    try expectModes(folders, files)
    // An exchange with the folder as a peer writes as its user does, too.
    let other = try Outcome(
      ["--notebook", temporary("state-\(ben.user)/own"), "sync", folder],
      environment: environment(of: ben), shell: ben.running(umask: mask))
    #expect(other.ending == .status(0), "\(other.errors)")
    let own = try Outcome(
      ["--notebook", temporary("state-\(ben.user)/own"), "call", "note/create"],
      environment: environment(of: ben), shell: ben.running(umask: mask))
    #expect(own.ending == .status(0), "\(own.errors)")
    let again = try Outcome(
      ["--notebook", temporary("state-\(ben.user)/own"), "sync", folder],
      environment: environment(of: ben), shell: ben.running(umask: mask))
    #expect(again.ending == .status(0), "\(again.errors)")
    #expect(try expectModes(folders, files) > 6)
    try expectPrivateState(ben)
    let list = try command(clara, "call", "notebook/list")
    if folders & 0o7 == 0 {
      #expect(list.errors.contains("\(folder)/decent.json: Permission denied"), "\(list)")
    } else {
      #expect(list.ending == .status(0) && list.output.contains("first"), "\(list)")
    }
  }

  @Test(arguments: [0o700, 0o755, 0o775, 0o777, 0o770] as [mode_t])
  func `Is one by its setgid bit: without it all that is inside is private, whatever its mode`(
    _ mode: mode_t
  ) throws {
    try makeFolder(mode)
    var ledger = Ledger()
    let server = try server(anna, umask: "0")
    let note = try server.create("first", &ledger).get()
    try server.leave()
    #expect(try command(anna, "compact", umask: "0").ending == .status(0))
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      let status = status(folder + "/" + name)
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      #expect(status.st_mode & 0o7777 == (isFolder ? 0o700 : 0o600), "\(name)")
      #expect(status.st_gid == anna.user, "\(name)")
    }
    // The others can't read it, and are told so.
    let cause = "\(folder)\(mode & 0o070 == 0 ? "" : "/decent.json"): Permission denied"
    for words in [["call", "notebook/list"], ["check"], ["call", "note/create"]] {
      let outcome = try Outcome(
        ["--notebook", folder] + words, environment: environment(of: ben), shell: ben.running())
      #expect(outcome.ending == .status(1) && outcome.errors.contains(cause), "\(outcome)")
    }
    // Nor the logs, if they get as far as that.
    if mode & 0o070 != 0 {
      #expect(chmod(folder + "/decent.json", 0o644) == 0)
      let list = try command(ben, "call", "notebook/list")
      #expect(list.ending == .status(1))
      #expect(list.errors.contains("open \(folder)/log: Permission denied"), "\(list)")
    }
    // Its owner gives it to the team.
    let page = try contents(of: projectFolder.appendingPathComponent("Protocol/folder.md"))
    let recipe = page.split(separator: "\nor for a notebook that was private\n\n")[1]
      .split(separator: "\n").prefix { $0.hasPrefix("    ") }
    #expect(recipe.count == 3)
    for line in recipe {
      try shell(
        String(line).replacing("DIR", with: "\"$2\"").replacing("TEAM", with: "\(Self.team)"),
        folder)
    }
    try expectModes(0o2770, 0o640)
    let reader = try self.server(ben)
    _ = try reader.append("second", to: note, &ledger).get()
    try reader.leave()
    try expectModes(0o2770, 0o640)
    try audit(anna, ledger)
  }

  @Test
  func `Is made private where the program makes it, also inside of a folder of a team`() throws {
    try makeFolder(0o2775)
    let outcome = try Outcome(
      ["--notebook", "\(folder)/own/notes", "call", "note/create"],
      environment: environment(of: anna), shell: anna.running(umask: "0"))
    #expect(outcome.ending == .status(0), "\(outcome.errors)")
    try expectModes(0o2700, 0o600)
  }

  @Test(.enabled(if: hasTool("python3") || isContinuousIntegration, "python3 is missing"))
  func `Has an access list of its own that counts`() throws {
    try makeFolder(0o2770)
    // Of the group and of clara, who is not in it; as setfacl makes it.
    let list = """
      import os, struct, sys
      def entries(*all): return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in all)
      any = 0xffffffff
      list = entries((1, 7, any), (2, 7, int(sys.argv[2])), (4, 7, any), (16, 7, any), (32, 0, any))
      for kind in ("access", "default"): os.setxattr(sys.argv[1], "system.posix_acl_" + kind, list)
      """
    let set = try Outcome(
      [folder, "\(clara.user)"], shell: "shift; exec python3 -c '\(list)' \"$@\"")
    try #require(set.ending == .status(0), "\(set.errors)")
    var ledger = Ledger()
    let server = try server(anna, umask: "077")
    let note = try server.create("first", &ledger).get()
    for account in [clara, ben] {
      let other = try self.server(account, umask: "077")
      _ = try other.append("more\(account.user)", to: note, &ledger).get()
      try other.leave()
    }
    try server.leave()
    for account in [anna, ben, clara] { try audit(account, ledger) }
  }

  // MARK: - What others have written

  @Test(arguments: [0o2770, 0o3770] as [mode_t])
  func `Leaves the open file of a process of another account that lives or was killed`(
    _ mode: mode_t
  ) throws {
    try makeFolder(mode)
    var ledger = Ledger()
    let living = try server(anna)
    let note = try living.create("living", &ledger).get()
    let killed = try server(anna)
    _ = try killed.append("killed", to: note, &ledger).get()
    try killed.killNow()
    func open() throws -> Int { try logs(of: folder).count { $0.hasSuffix(".open") } }
    #expect(try open() == 2)
    // It reads both, and completes neither.
    let other = try server(ben)
    _ = try other.append("other", to: note, &ledger).get()
    try other.leave()
    #expect(try command(ben, "compact").ending == .status(0))
    #expect(try open() == 2)
    _ = try living.append("on", to: note, &ledger).get()
    try audit(ben, ledger)
    // Its own account's next process does.
    #expect(try command(anna, "compact").ending == .status(0))
    #expect(try open() == 1)
    try living.leave()
    try audit(anna, ledger)
    try expectModes(mode, 0o640)
  }

  @Test
  func `Loses the words of a purged note when any account folds`() throws {
    try makeFolder(0o2770)
    var ledger = Ledger()
    let server = try server(anna)
    let note = try server.create("abracadabra", &ledger).get()
    ledger = Ledger()
    _ = try server.create("stays", &ledger).get()
    try server.call("note/delete", ["id": note])
    try server.call("note/purge", ["id": note])
    try server.leave()
    let compact = try command(ben, "compact", "--purged")
    #expect(compact.output.contains("removed 1 file"), "\(compact)")
    #expect(try logs(of: folder).isEmpty)
    try expectModes(0o2770, 0o640)
    for account in [anna, ben] { try audit(account, ledger) }
  }

  @Test(arguments: [("snap", false), ("log", false), ("log", true)])
  func `Keeps what a member may not remove, names it, and goes on`(
    _ place: String, _ isUnreadable: Bool
  ) throws {
    // With the sticky bit who has written a file alone may remove it.
    try makeFolder(0o3770)
    var ledger = Ledger()
    let server = try server(anna)
    let note = try server.create("abracadabra", &ledger).get()
    ledger = Ledger()
    _ = try server.create("stays", &ledger).get()
    try server.leave()
    if place == "snap" {
      #expect(try command(anna, "compact").ending == .status(0))
      for log in try logs(of: folder) { #expect(unlink(log) == 0) }
    }
    let purge = try self.server(ben)
    try purge.call("note/delete", ["id": note])
    try purge.call("note/purge", ["id": note])
    try purge.leave()
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder + "/" + place)
    var kept = names.map { "\(place)/\($0)" }
      .first { $0.contains(".") && status("\(folder)/\($0)").st_uid == anna.user }!
    if isUnreadable {
      let files = try logs(of: folder)
      #expect(try command(anna, "call", "note/create", #"{"title":"secret"}"#).ending == .status(0))
      let new = try logs(of: folder).first { !files.contains($0) }!
      #expect(chmod(new, 0o600) == 0)
      kept = String(new.dropFirst(folder.count + 1))
    }
    for _ in 0..<2 {
      let compact = try command(ben, "compact", "--purged")
      #expect(compact.ending == .status(0))
      #expect(
        compact.output.contains(
          isUnreadable
            ? "\(kept) may have words of notes that were purged, and can't be folded now"
            : "\(kept) stays: this user may not remove it"), "\(compact)")
      #expect(!compact.output.contains("check` says more"), "\(compact)")
    }
    let snapshots = try FileManager.default.contentsOfDirectory(atPath: folder + "/snap")
    #expect(try command(ben, "compact").ending == .status(0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/snap") == snapshots)
    if isUnreadable { return }
    try audit(ben, ledger)
    // Its owner may.
    let compact = try command(anna, "compact", "--purged")
    #expect(compact.output.contains("removed 1 file"), "\(compact)")
    #expect(access("\(folder)/\(kept)", F_OK) != 0)
    for account in [anna, ben] { try audit(account, ledger) }
    try expectModes(0o3770, 0o640)
  }

  // MARK: - What may not be read or written

  /// The files that an account keeps from the others.
  enum Secret: CaseIterable, Sendable { case complete, open, session, snapshot, copy }

  @Test(arguments: Secret.allCases)
  func `Tells what an account may not read, and reads it when that is allowed`(
    _ secret: Secret
  ) throws {
    try makeFolder(0o2770)
    var ledger = Ledger()
    let writer = try server(anna)
    let note = try writer.create("first", &ledger).get()
    var path = try logs(of: folder)[0]
    var mode: mode_t = 0o600
    switch secret {
    case .open: break
    case .complete, .session, .snapshot, .copy:
      try writer.leave()
      path = try logs(of: folder)[0]
    }
    switch secret {
    case .open, .complete: break
    case .session:
      path = (path as NSString).deletingLastPathComponent
      mode = 0o2700
    case .snapshot:
      #expect(try command(anna, "compact").ending == .status(0))
      #expect(unlink(path) == 0)
      path = "\(folder)/snap/"
      path += try FileManager.default.contentsOfDirectory(atPath: path)[0]
    case .copy:
      path = "\(folder)/decent.sync-conflict-1.json"
      try shell("cp -p \"$2/decent.json\" \"$3\"", folder, path)
    }
    let before = status(path).st_mode & 0o7777
    #expect(chmod(path, mode) == 0)
    let reader = try server(ben)
    func isTold() throws -> Bool {
      try reader.damage.contains { $0.contains(path) && $0.contains("Permission denied") }
    }
    #expect(try isTold())
    #expect(try reader.words()["first"] == (secret == .copy ? 1 : nil))
    let check = try command(ben, "check")
    #expect(check.ending == .status(1))
    #expect(
      check.output.contains("damage: \(path), byte 0: open \(path): Permission denied"), "\(check)")
    // The account writes all the same.
    _ = try reader.create("second", &ledger).get()
    // Sooner than the next look at everything, which is half a minute away.
    #expect(chmod(path, before) == 0)
    try waitUntil("it is read", within: 10) {
      try reader.damage.isEmpty && ledger.objections(to: reader.words()).isEmpty
    }
    #expect(chmod(path, mode) == 0)
    if secret == .session || secret == .copy {
      try waitUntil("it is told again", within: 10) { try isTold() }
      // With this everything is looked at.
      for mode in [0o2771, 0o2770] as [mode_t] { #expect(chmod(folder + "/log", mode) == 0) }
      _ = try reader.append("third", to: note, &ledger).get()
      #expect(ledger.objections(to: try reader.words()) == [])
      #expect(chmod(path, before) == 0)
    } else {
      #expect(chmod(path, before) == 0)
    }
    try waitUntil("nothing is damaged", within: 10) { try reader.damage.isEmpty }
    try reader.leave()
    try audit(anna, ledger)
    // Nobody has taken it for lost.
    let snapshots = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/snap")) ?? []
    #expect(snapshots.count == (secret == .snapshot ? 1 : 0))
  }

  @Test(arguments: ["log", "snap"])
  func `Is no notebook for one who may not read its logs or snapshots, and a running one tells it`(
    _ name: String
  ) throws {
    try makeFolder(0o2770)
    var ledger = Ledger()
    let writer = try server(anna)
    _ = try writer.create("first", &ledger).get()
    if name == "snap" {
      // Two sessions, of which the snapshot stands for one.
      let call = try command(ben, "call", "note/create", #"{"title":"folded"}"#)
      #expect(call.ending == .status(0))
      ledger.keep("folded")
      #expect(try command(ben, "compact").output.contains("folded 1 log file"))
    }
    let reader = try server(ben)
    #expect(try reader.words()["first"] == 1)
    let path = "\(folder)/\(name)"
    #expect(chmod(path, 0o2700) == 0 && chown(path, anna.user, Self.team) == 0)
    let outcome = try command(ben, "call", "notebook/list")
    #expect(outcome.ending == .status(1))
    #expect(outcome.errors.contains("open \(path): Permission denied"), "\(outcome)")
    try waitUntil("it is told", within: 10) {
      try reader.damage.contains { $0.contains("\(path): Permission denied") }
    }
    #expect(try reader.words()["first"] == 1)
    if name == "log" {
      let error = try reader.error("note/create", ["title": "no"])
      #expect(error.reason == "readOnly", "\(error.written)")
      #expect(error["message"]?.string?.contains("\(path): Permission denied") == true)
    } else {
      _ = try reader.create("third", &ledger).get()
    }
    _ = try writer.create("second", &ledger).get()
    #expect(chmod(path, 0o2770) == 0)
    try waitUntil("it is read again", within: 10) {
      try reader.damage.isEmpty && ledger.objections(to: reader.words()).isEmpty
    }
    for server in [writer, reader] { try server.leave() }
    for account in [anna, ben] { try audit(account, ledger) }
    #expect(
      ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/snap")) ?? []).count
        == (name == "snap" ? 1 : 0))
  }

  @Test
  func `Can be read by one who may not write in it, who is told so`() throws {
    try makeFolder(0o2775)
    var ledger = Ledger()
    let writer = try server(anna)
    let note = try writer.create("first", &ledger).get()
    // An account that is not in the group.
    let reader = try server(clara)
    let client = try AttachedClient(reader, note)
    #expect(try reader.words()["first"] == 1)
    let cause = "write \(folder)/log: Permission denied, this user may not write in \(folder)/log"
    #expect(try reader.call("notebook/status")["unwritable"]?.string == cause)
    #expect(try writer.call("notebook/status")["unwritable"] == nil)
    for (method, params): (String, JSON) in [
      ("note/create", ["title": "no"]), ("note/append", ["id": note, "text": "no"]),
      ("note/delete", ["id": note]),
    ] {
      let error = try reader.error(method, params)
      #expect(error.code == -32803 && error.reason == "readOnly", "\(error.written)")
      let message = error["message"]?.string ?? ""
      #expect(
        message.contains("Permission denied") && message.contains("\(folder)/log"), "\(message)")
    }
    try reader.call("notebook/flush")
    // Changes of others are still seen, in open notes, too.
    _ = try writer.append("more", to: note, &ledger).get()
    try run([client]) { client.words["more"] == 1 }
    let check = try command(clara, "check")
    #expect(check.ending == .status(0))
    #expect(check.output.contains("nothing can be changed here: \(cause)"), "\(check)")
    #expect(try command(clara, "compact").ending == .status(0))
    let call = try command(clara, "call", "note/create")
    #expect(call.ending == .status(1) && call.errors.contains("this user may not write in"))
    #expect(!reader.notifications.contains { "\($0.written)".contains("saved again") })
    // Nothing of theirs has come into it, and when they may write they can.
    try expectModes(0o2775, 0o644)
    #expect(chmod(folder + "/log", 0o2777) == 0)
    _ = try reader.notification("window/showMessage") {
      $0["message"]?.string == "Changes can be saved again."
    }
    _ = try reader.append("yes", to: note, &ledger).get()
    #expect(try reader.call("notebook/status")["unwritable"] == nil)
    for server in [writer, reader] { try server.leave() }
    try audit(anna, ledger)
  }

  @Test
  func `Is told to a member who may write in the folder and not in its logs`() throws {
    try makeFolder(0o2770)
    var ledger = Ledger()
    let writer = try server(anna)
    let note = try writer.create("first", &ledger).get()
    #expect(chmod(folder + "/log", 0o2750) == 0)
    let reader = try server(ben)
    guard case .failure(let refusal) = try reader.append("no", to: note, &ledger) else {
      Issue.record("written to what is forbidden")
      return
    }
    #expect(refusal.reason == "readOnly", "\(refusal.error.written)")
    // It would be said after two seconds, and be wrong.
    #expect(throws: Failure.self) {
      try reader.notification("window/showMessage", within: 3)
    }
    try reader.leave()
    try writer.leave()
    try audit(ben, ledger)
  }
}
