internal import JSONRPC
internal import ModelContextProtocol
internal import NotesServer

/// `mcp`: serves one agent at standard input and output.
func serveAgent(
  _ command: Command, _ surroundings: Surroundings
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
