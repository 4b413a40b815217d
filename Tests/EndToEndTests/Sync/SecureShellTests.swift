import Foundation
import JSONRPC
import TestSupport
import Testing

/// An sshd of our own, for the user who runs the tests, on this machine alone.
private final class SecureShell {
  let folder: TemporaryFolder
  let port: Int
  private var daemon: Daemon?

  static let isPossible =
    hasTool("ssh") && hasTool("ssh-keygen") && tool("sshd") != nil

  init() throws {
    folder = TemporaryFolder()
    port = try freePort()
    for name in ["host", "user", "stranger"] {
      try shell("ssh-keygen -q -t ed25519 -N '' -f \"$2\"", folder(name))
    }
    let key = try String(contentsOfFile: folder("host.pub"), encoding: .utf8)
    try "[127.0.0.1]:\(port) \(key)".write(
      toFile: folder("known"), atomically: true, encoding: .utf8)
    try """
    ListenAddress 127.0.0.1
    Port \(port)
    HostKey \(folder("host"))
    AuthorizedKeysFile \(folder("user.pub"))
    StrictModes no
    PermitRootLogin yes
    PasswordAuthentication no
    KbdInteractiveAuthentication no
    UsePAM no
    PidFile none
    SetEnv XDG_STATE_HOME=\(stateFolder)

    """.write(toFile: folder("config"), atomically: true, encoding: .utf8)
    // Where it locks itself in; a package makes it when the service starts.
    if getuid() == 0 { mkdir("/run/sshd", 0o755) }
    try start()
  }

  func start() throws {
    daemon = try Daemon(
      [tool("sshd")!, "-D", "-e", "-f", folder("config")], log: folder("log"))
    try daemon!.await(port: port)
  }

  func stop() { daemon = nil }

  /// Lets the user's key run one command only, as `Protocol/sync.md` says.
  func confine(_ command: String) throws {
    let key = try String(contentsOfFile: folder("user.pub"), encoding: .utf8)
    try "command=\"\(command)\",restrict \(key)".write(
      toFile: folder("user.pub"), atomically: true, encoding: .utf8)
  }

  /// How a user would call it: nothing is asked, and nobody's own settings are read.
  func peer(_ command: String, key: String = "user") -> String {
    "ssh -F none -o BatchMode=yes -o UserKnownHostsFile=\(folder("known"))"
      + " -o IdentitiesOnly=yes -i \(folder(key)) -p \(port) 127.0.0.1 \"\(command)\""
  }

  func peer(notebook: String, key: String = "user") -> String {
    peer("\(Server.program) --notebook \(notebook)", key: key)
  }

  var log: String { daemon?.log ?? "" }
}

@Suite(
  .waitingLong, .tags(.tool, .slow),
  .enabled(
    if: SecureShell.isPossible || isContinuousIntegration, "openssh is missing"))
struct `Peers over ssh` {
  let folder: TemporaryFolder
  let a: String
  let b: String

  init() throws {
    folder = TemporaryFolder()
    (a, b) = (folder("a"), folder("b"))
  }

  @Test(.timeLimit(.minutes(2)))
  func `Both ways over ssh; what goes wrong is told in its words`() throws {
    let shell = try SecureShell()
    var ledger = Ledger()
    try begin(a, ["one"], bytes: 1000, &ledger)
    let peer = shell.peer(notebook: b)
    do { try sync(a, with: peer) } catch { throw Failure("\(error)\n\(shell.log)") }
    try begin(b, ["two"], bytes: 1000, &ledger)
    let back = try sync(a, with: peer)
    #expect(back.sent == 0 && back.received > 1000)
    let before = (try contents(of: a), try contents(of: b))
    #expect(try sync(a, with: peer) == (0, 0))
    #expect(try contents(of: a) == before.0)
    #expect(try contents(of: b) == before.1)
    for notebook in [a, b] { try audit(notebook, ledger) }

    for (peer, words) in [
      (shell.peer(notebook: b, key: "stranger"), "Permission denied"),
      (shell.peer("echo Welcome back; \(Server.program) --notebook \(b)"), "Welcome back"),
      (shell.peer("no-such-decent-notes"), "not found"),
      (shell.peer(notebook: b).replacingOccurrences(of: "/known", with: "/host"), "verification"),
    ] {
      let errors = try failure(a, with: peer)
      #expect(errors.contains(words), "\(peer): \(errors)")
    }
    shell.stop()
    #expect(try failure(a, with: peer).contains("Connection refused"))
    try shell.start()
    #expect(try sync(a, with: peer) == (0, 0))
  }

  @Test
  func `A key that is confined to a notebook reaches that notebook and nothing else`() throws {
    var ledger = Ledger()
    try begin(a, ["one"], bytes: 100, &ledger)
    try begin(b, ["two"], bytes: 100, &ledger)
    let shell = try SecureShell()
    try shell.confine("\(Server.program) --confined --notebook \(b)")
    // Whatever command the client asks for.
    let peer = shell.peer("touch \(folder("run")); \(Server.program) --notebook \(a)")
    try sync(a, with: peer, ["--adopt"])
    for notebook in [a, b] { try audit(notebook, ledger) }
    #expect(try sync(a, with: peer) == (0, 0))

    let client = try Server(nil, shell: "exec " + peer)
    let options: JSON = ["notebook": .string(folder("other"))]
    let elsewhere = try client.response(
      to: client.post("initialize", ["initializationOptions": options]))
    #expect(elsewhere["error"]?.reason == "confined", "\(elsewhere.written)")
    try client.initialize()
    let command = try client.response(
      to: client.post("notebook/sync", ["peer": .string("touch \(folder("run"))")]))
    #expect(command["error"]?.reason == "confined", "\(command.written)")
    try client.leave()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a", "b"])
  }

  @Test
  func `After ssh was killed half-way, what had arrived need not travel again`() throws {
    let shell = try SecureShell()
    var ledger = Ledger()
    try begin(a, (0..<12).map { "a\($0)" }, bytes: 200_000, &ledger)
    let there = shell.peer(notebook: b)
    // What is sent is cut off, then what is received.
    for (ours, peer, direction) in [(a, there, "sent"), (folder("c"), there, "received")] {
      let server = try serve(ours)
      let params: JSON = ["peer": .string(peer), "workDoneToken": "t"]
      let id = try server.post("notebook/sync", params)
      try server.awaitProgress("t", bytes: 700_000)
      for child in server.children { kill(child, SIGKILL) }
      let error = try server.response(to: id)["error"]
      #expect(error?.reason == "peerUnreachable", "\(error?.written ?? "no error")")
      let rest = try server.call("notebook/sync", ["peer": .string(peer)])
      #expect((1..<2_000_000).contains(rest[direction]!.integer!), "\(rest.written)")
      try server.leave()
      try audit(ours, ledger)
    }
    try audit(b, ledger)
  }
}
