internal import FileTree
internal import NotesServer
internal import ReplicatingTypes

/// Whether what a command has shown is all there is.
final class Completeness {
  /// True if the notebook lacks something that is not there or can't be read.
  var isIncomplete = false

  /// The status of a command that ends otherwise with another one: only where something was shown, or not found, does it matter.
  func status(_ status: CommandFailure.Status) -> CommandFailure.Status {
    isIncomplete && [.done, .nothingFound].contains(status) ? .incomplete : status
  }
}

/// What a verb has of the process and the world around it. Made by `main`, which alone reads the environment and the clock.
struct CommandEnvironment {
  /// The value of a variable of the environment; nil if it is not set or empty.
  let variable: (String) -> String?
  /// The present time, in milliseconds since 1970.
  let now: () -> Int64
  /// 128 random bits.
  let makeIdentifier: () -> Identifier
  /// Who uses the program.
  let name: String
  /// The name of the program in history.
  let program: String
  /// The command lines that the user is told.
  let commandLines: CommandLines
  /// The notebook's folder.
  let folder: () throws(CommandFailure) -> String
  /// The folder for data that may be lost; nil for none.
  let stateFolder: () -> String?
  /// A folder of files that are the user's alone; it is made if that is wanted.
  let tree: (_ path: String, _ isMaking: Bool) throws(FileTreeError) -> any FileTree
  /// A folder in memory in which a command leaves its session to the next one; nil for none.
  let memoryFolder: () -> String?
  /// The environment of a server for this command.
  var environment: () throws(CommandFailure) -> NotesServer.Environment
  /// A loop that serves a client of this process; or, without one, the client at standard input and output, through a gateway if there is one.
  let makeLoop: (NotesServer.Environment, LocalClient?, AgentGateway?) -> EventLoop

  /// Whether the command has shown all that there is.
  let completeness = Completeness()

  /// The command line that does something with the notebook of the command.
  func commandLine(_ words: String...) throws(CommandFailure) -> String {
    commandLines.line(words, notebook: try folder())
  }

  /// The same for the notebook in another folder; nil for that of the command.
  func inFolder(_ folder: String?) -> CommandEnvironment {
    guard let folder else { return self }
    var surroundings = self
    let environment = environment
    surroundings.environment = { () throws(CommandFailure) in
      var other = try environment()
      other.folder = folder
      return other
    }
    return surroundings
  }

  /// Serves a client until it has left; returns the exit status.
  @discardableResult
  func serve(
    _ environment: NotesServer.Environment, _ client: LocalClient?,
    through gateway: AgentGateway? = nil
  ) -> Int32 {
    var loop = makeLoop(environment, client, gateway)
    let status = loop.run()
    if let signal = loop.signal { EndSignals.die(by: signal) }
    return status
  }
}
