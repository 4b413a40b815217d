internal import JSONRPC
internal import ModelContextProtocol
internal import NotesServer

/// Stands between an agent at standard input and output and the server of the notebook in this process: the event loop carries the bytes, and
/// `AgentServer` translates them.
final class AgentGateway {
  private var server: AgentServer
  /// Messages of the notebook's server are as long as they are: both ends are in this process.
  private var frames = FrameDecoder(framing: .lines, maximumMessage: .max)
  /// The time at which `advance` has to be called; nil for never.
  private(set) var due: ContinuousClock.Instant?

  init(_ options: AgentServer.Options) { server = AgentServer(options) }

  /// The bytes that are to be sent to the agent.
  var outbox: Outbox { server.outbox }
  /// True while nothing is to be read of the agent.
  var isFull: Bool { server.isFull }
  /// True when the process can end.
  var isDone: Bool { server.isDone }

  /// Takes bytes of the agent.
  func receive(_ bytes: ArraySlice<UInt8>) { server.receive(bytes) }

  /// Notes that the agent sends no more.
  func inputEnded() { server.inputEnded() }

  /// Notes that the agent reads no more.
  func outputFailed() { server.outputFailed() }

  /// Notes that so many bytes of `outbox` were sent.
  func didSend(_ count: Int) { server.didSend(count) }

  /// Takes the time.
  func advance(to now: ContinuousClock.Instant) { due = server.advance(to: now) }

  /// Takes the bytes for the notebook's server.
  func takeRequests() -> [UInt8] { server.takeRequests() }

  /// Takes bytes of the notebook's server.
  func take(_ bytes: ArraySlice<UInt8>) {
    frames.append(bytes)
    while case .message(let bytes)? = frames.next() {
      guard let message = try? JSONValue(parsing: bytes, maximumValues: .max) else { continue }
      if message["method"]?.string == "window/showMessage",
        let text = message["params"]?["message"]?.string
      {
        // Of damage, for instance. No agent is told what its user has to know.
        printError(text)
      }
      server.receiveFromNotebook(message)
    }
  }
}

/// `mcp`: serves one agent at standard input and output.
func serveAgent(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  var environment = try surroundings.environment()
  var options = AgentServer.Options(
    version: NotesServer.programVersion, name: command.value("--name") ?? "agent",
    isReadOnly: command.has("--read-only"))
  if let bytes = command.value("--max-message") { options.maximumMessage = Int(bytes)! }
  // An agent that names itself by nothing that can be shown has this name, too: never that of the user.
  environment.participant = options.name
  environment.framing = .lines
  // Both ends are in this process, and what comes from outside is limited before.
  environment.maximumMessage = .max
  environment.isConfined = true
  // The gateway prints what the server tells its client.
  environment.reportEnd = { _ in }
  let gateway = AgentGateway(options)
  let status = surroundings.serve(environment, nil, through: gateway)
  return status == 0 || gateway.isDone ? .done : .failed
}
