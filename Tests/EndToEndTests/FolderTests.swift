import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `The folder` {
  let temporary: TemporaryFolder
  let folder: String

  init() throws {
    temporary = TemporaryFolder()
    folder = temporary("notes")
  }

  /// Every file and folder below, with everything that could tell a difference.
  private func listing() throws -> [String] {
    try ([""] + FileManager.default.subpathsOfDirectory(atPath: folder)).sorted().map { name in
      var status = stat()
      guard lstat(folder + "/" + name, &status) == 0 else { throw Failure("\(name) vanished") }
      let bytes = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
      let (time, change) = (status.st_mtim, status.st_ctim)
      return "\(name) \(status.st_ino) \(status.st_mode) \(status.st_nlink) \(status.st_size)"
        + " \(time.tv_sec).\(time.tv_nsec) \(change.tv_sec).\(change.tv_nsec) \(bytes.base64EncodedString())"
    }
  }

  @Test
  func `Opens and closes leave it as it was, to the byte and the nanosecond`() throws {
    var ledger = Ledger()
    for number in 0..<3 {
      let writer = try Server(folder)
      try writer.initialize()
      let note = try writer.create("made\(number)", &ledger).get()
      _ = try writer.append("more\(number)", to: note, &ledger).get()
      if number < 2 { try writer.leave() } else { try writer.killNow() }
    }
    // This one completes what the killed one has left.
    let next = try Server(folder)
    try next.initialize()
    try next.leave()
    let before = try listing()
    for round in 0..<(isLong || seedFactor > 1 ? 1000 : 50) {
      let server = try Server(folder)
      try server.initialize()
      if round % 5 == 0 { _ = try server.words() }
      if round % 3 == 0 { try server.killNow() } else { try server.leave() }
    }
    #expect(try listing() == before)
  }

  @Test(
    arguments: ["0", "022", "077", "0777", "0700", "0277"])
  func `Files are private whatever the umask is`(_ mask: String) throws {
    // Without root's rights, what may not be entered or written shows.
    let path = temporary("above/notes")
    let command = "umask \(mask); " + (canDropCapabilities ? withoutCapabilities : "exec \"$@\"")
    var ledger = Ledger()
    let server = try Server(path, shell: command)
    try server.initialize()
    let note = try server.create("first", &ledger).get()
    let second = try Server(path, shell: command)
    try second.initialize()
    _ = try second.append("second", to: note, &ledger).get()
    for server in [server, second] { try server.leave() }
    for name in try FileManager.default.subpathsOfDirectory(atPath: temporary.path) {
      var status = stat()
      #expect(lstat(temporary(name), &status) == 0)
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      #expect(status.st_mode & 0o7777 == (isFolder ? 0o700 : 0o600), "\(name)")
    }
    try audit(path, ledger)
  }

  /// What is not a file where one would be.
  enum Foreign: CaseIterable, Sendable {
    case fifo, socket, device, folder, symbolicLink, danglingLink, loop
  }

  private func place(_ foreign: Foreign, at paths: [String]) throws {
    guard foreign == .socket else {
      for path in paths { try placeOne(foreign, at: path) }
      return
    }
    // One process for all: meanwhile the writer may complete its segment, and its next one has the name of one of these.
    let program = """
      import os, socket, sys
      for path in sys.argv[1:]:
        os.chdir(os.path.dirname(path))
        socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
      """
    let outcome = try Outcome(paths, shell: "shift; exec python3 -c '\(program)' \"$@\"")
    #expect(outcome.ending == .status(0), "\(outcome.errors)")
  }

  private func placeOne(_ foreign: Foreign, at path: String) throws {
    switch foreign {
    case .fifo: #expect(mkfifo(path, 0o600) == 0)
    case .socket: break
    case .device:
      // Only root can make one; elsewhere the link to one has to do.
      if mknod(path, S_IFCHR | 0o600, 5 << 8) != 0 { #expect(symlink("/dev/tty", path) == 0) }
    case .folder:
      try FileManager.default.createDirectory(
        atPath: path + "/0.open", withIntermediateDirectories: true)
    case .symbolicLink: #expect(symlink(temporary("secret"), path) == 0)
    case .danglingLink: #expect(symlink(temporary("nothing"), path) == 0)
    case .loop: #expect(symlink((path as NSString).lastPathComponent, path) == 0)
    }
  }

  @Test(
    .timeLimit(.minutes(1)),
    .enabled(if: hasTool("python3") || isContinuousIntegration, "python3 is missing"),
    arguments: Foreign.allCases)
  func `What is no file in it is neither followed nor waited for`(_ foreign: Foreign) throws {
    var ledger = Ledger()
    // A notebook elsewhere, to which links lead: none of it may be read.
    let elsewhere = try Server(temporary("secret"))
    try elsewhere.initialize()
    try elsewhere.call("note/create", ["title": "secret"])
    try elsewhere.leave()
    let writer = try Server(folder)
    try writer.initialize()
    let note = try writer.create("first", &ledger).get()
    let session = (try logs(of: folder)[0] as NSString).deletingLastPathComponent
    let log = (session as NSString).deletingLastPathComponent
    let id = String(repeating: "ab", count: 16)
    try place(
      foreign,
      at: [
        "\(log)/\(id)", "\(log)/0.open", "\(session)/1.open", "\(session)/7-0123abcd.seg",
        "\(folder)/notes.tmp",
      ])
    // An entry with the name of a session's folder that is no folder is told as damage, as notes may be missing.
    var damaged = foreign == .folder ? [] : ["\(log)/\(id)"]
    if case .symbolicLink = foreign {
      // Straight to a log, and to a folder of logs.
      let target = try logs(of: temporary("secret"))[0]
      #expect(symlink(target, "\(session)/2.open") == 0)
      let other = "\(log)/\(id.dropLast())c"
      #expect(symlink((target as NSString).deletingLastPathComponent, other) == 0)
      damaged.append(other)
    }
    let before = try contents(of: temporary("secret"))
    for _ in 0..<2 {
      let server = try Server(folder)
      try server.initialize()
      _ = try server.append("more\(ledger.kept.count)", to: note, &ledger).get()
      let objections = ledger.objections(to: try server.words())
      #expect(objections.isEmpty)
      try server.leave()
    }
    _ = try writer.append("last", to: note, &ledger).get()
    let objections = ledger.objections(to: try writer.words())
    #expect(objections.isEmpty)
    try writer.leave()
    try audit(folder, ledger, damaged: damaged)
    #expect(try contents(of: temporary("secret")) == before)
  }

  @Test(
    .timeLimit(.minutes(1)),
    .enabled(if: hasTool("python3") || isContinuousIntegration, "python3 is missing"),
    arguments: Foreign.allCases, ["decent.json", "log", "snap"])
  func `What is no file in the place of its own is an error that names it`(
    _ foreign: Foreign, _ name: String
  ) throws {
    if case .folder = foreign, name != "decent.json" { return }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: temporary("secret"), withIntermediateDirectories: true)
    try place(foreign, at: [folder + "/" + name])
    let before = try listing()
    let server = try Server(folder)
    let start = try server.response(to: try server.post("initialize"))
    let error =
      try start["error"] ?? server.error("note/create", ["title": "into the wrong place"])
    #expect(error.code == -32803)
    #expect(
      error["message"]?.string?.contains(folder + "/" + name) == true, "\(error.written)")
    server.closeInput()
    #expect(try server.waitForEnd() == .status(1))
    // Of the notebook, decent.json at most: what was there is as it was.
    let after = try listing().filter { $0.contains(name) || !$0.contains("decent.json") }
    #expect(Set(after.dropFirst()).isSubset(of: before))
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary("secret")) == [])
  }

  @Test(arguments: ["log", "snap"])
  func `A link in the place of the logs, or of the snapshots, hides no note without a word`(
    _ name: String
  ) throws {
    var ledger = Ledger()
    let server = try Server(folder)
    try server.initialize()
    _ = try server.create("kept", &ledger).get()
    try server.leave()
    if name == "snap" {
      #expect(try Outcome(["--notebook", folder, "compact"]).ending == .status(0))
    }
    let running = try Server(folder)
    try running.initialize()
    #expect(try running.words()["kept"] == 1)
    #expect(rename("\(folder)/\(name)", temporary("elsewhere")) == 0)
    #expect(symlink(temporary("elsewhere"), "\(folder)/\(name)") == 0)
    for command in [["call", "notebook/list"], ["check"], ["compact"], ["call", "note/create"]] {
      let outcome = try Outcome(["--notebook", folder] + command)
      #expect(outcome.ending == .status(1), "\(command)")
      #expect(outcome.errors.contains("\(folder)/\(name): this is no folder"), "\(outcome.errors)")
    }
    if name == "log" {
      try waitUntil("the damage to be told") {
        try running.damage.contains { $0.contains("\(self.folder)/log") }
      }
    }
    // What is known stays, and is all there again.
    #expect(try running.words()["kept"] == 1)
    #expect(unlink("\(folder)/\(name)") == 0)
    #expect(rename(temporary("elsewhere"), "\(folder)/\(name)") == 0)
    try waitUntil("the damage to be gone") { try running.damage.isEmpty }
    try running.leave()
    try audit(folder, ledger)
  }

  @Test
  func `A state folder that is not the user's alone is not used, and the notebook opens`() throws {
    let state = temporary("state")
    try FileManager.default.createDirectory(
      atPath: temporary("other"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    let place = state + "/decent-notes"
    func use(_ words: String?) throws {
      let server = try Server(folder, environment: ["XDG_STATE_HOME": state])
      try server.initialize()
      let id = JSON.raw(
        try server.call("note/create", ["text": "text"])["note"]!["id"]!.written)
      try server.call("note/open", ["id": id, "mode": "edit"])
      try server.leave()
      #expect(server.errorText.contains(words ?? "decent-notes:") == (words != nil))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: temporary("other")) == [],
        "\(words ?? "")")
    }
    #expect(symlink(temporary("other"), place) == 0)
    try use("\(place) is a link")
    unlink(place)
    #expect(FileManager.default.createFile(atPath: place, contents: Data()))
    try use("\(place) is no folder")
    unlink(place)
    #expect(mkdir(place, 0o777) == 0 && chmod(place, 0o777) == 0)
    try use("\(place) can be written by every user")
    #expect(chmod(place, 0o700) == 0)
    if getuid() == 0 {
      #expect(chown(place, 65534, 65534) == 0)
      try use("\(place) belongs to another user")
      #expect(chown(place, 0, 0) == 0)
    }
    try use(nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty == false)
  }

  @Test func `a relative path is answered as an absolute one`() throws {
    let dn = Commands()
    let lines = [
      #"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#, #"{"jsonrpc":"2.0","method":"exit"}"#,
    ]
    let ran = try dn.run(
      [], input: Array((lines.joined(separator: "\n") + "\n").utf8),
      shell: "cd '\(dn.folder(""))' && pwd && \"$1\" --notebook notes --framing lines")
    let folder = try #require(ran.lines.first)
    let answer = try JSONValue(parsing: Array(try #require(ran.lines.dropFirst().first).utf8))
    #expect(JSON(answer)["result"]?["notebook"]?["path"]?.string == folder + "/notes")
  }
}
