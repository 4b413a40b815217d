internal import JSONRPC
internal import NoteStore
internal import Notes
internal import NotesServer

// What is done with a whole notebook, with files and machines, and for other programs: the types beside this folder do it.

/// `serve`: serves one client at standard input and output.
func serveClient(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  var environment = try surroundings.environment()
  environment.framing =
    switch command.value("--framing") {
    case "lines": .lines
    case "content-length": .contentLength
    default: .automatic
    }
  if let bytes = command.value("--max-message") { environment.maximumMessage = Int(bytes)! }
  environment.peers = command.values("--sync")
  if let interval = command.value("--every") {
    environment.syncInterval = ValueKind.interval(interval)!
  }
  environment.mirror = command.value("--mirror")
  environment.isConfined = command.has("--confined")
  return surroundings.serve(environment, nil) == 0 ? .done : .failed
}

/// Refuses options of `serve` that do not go together.
func checkServe(_ command: Command) throws(CommandFailure) {
  if command.has("--every"), !command.has("--sync") {
    throw command.misuse("--every is an option of sync and --sync")
  }
  if command.has("--confined"), !command.has("--notebook") {
    throw command.misuse("--confined needs --notebook")
  }
}

/// `call`: one request.
func makeCall(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let params = command.words("PARAMS").first ?? "{}"
  let input = params == "-" ? try readStandardInput() : Array(params.utf8)
  var environment = try surroundings.environment()
  environment.isSingleRequest = true
  environment.memoryFolder = surroundings.memoryFolder()
  if let bytes = command.value("--max-message") { environment.maximumMessage = Int(bytes)! }
  let call: Call
  do {
    call = try Call(command["METHOD"], params: input) { surroundings.serve(environment, $0) }
  } catch { throw CommandFailure(error.message) }
  try writeOutput((call.result.escapingForTerminals + "\n").utf8)
  return call.isIncomplete ? .incomplete : .done
}

/// `check`: says what is there, and what is damaged.
func checkNotebook(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  if command.has("--repair"), let state = surroundings.stateFolder() {
    RuleFailures.forget(in: state)
  }
  let check: Check
  do {
    check = try Check(
      folder: try surroundings.folder(),
      repair: command.has("--repair") ? surroundings.stateFolder() : nil,
      makeIdentifier: surroundings.makeIdentifier)
  } catch { throw failure(error) }
  try printLines(check.lines)
  return check.isSound ? .done : .failed
}

/// `compact`: folds complete logs.
func compactNotebook(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let compact: Compact
  do {
    compact = try Compact(
      folder: try surroundings.folder(), stateFolder: surroundings.stateFolder(),
      checking: try surroundings.commandLine("check"), isDue: command.has("--due"),
      isPurging: command.has("--purged"),
      makeIdentifier: surroundings.makeIdentifier)
  } catch { throw failure(error) }
  try printLines(compact.lines)
  return .done
}

/// Refuses options of `compact` that do not go together.
func checkCompact(_ command: Command) throws(CommandFailure) {
  if command.has("--due"), command.has("--purged") {
    throw command.misuse("--due and --purged are two ways")
  }
}

/// `purge`: forgets notes of the trash.
func purgeNotes(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let purge: Purge
  do {
    let store = try NoteStore(
      path: try surroundings.folder(), state: surroundings.stateFolder(), isWatching: false,
      keys: .links, makeIdentifier: surroundings.makeIdentifier)
    reportGaps(of: store)
    let author = Author(name: surroundings.name, program: surroundings.program)
    if command.has("--trash") {
      let age = command.value("--older").map { ValueKind.age($0)! } ?? 0
      purge = try Purge(trashOf: store, olderThan: age, by: author, at: surroundings.now())
    } else {
      purge = try Purge(of: command.words("ID"), in: store, by: author, at: surroundings.now())
    }
    KeptEdit.removeOld(surroundings) { NoteID($0).map(store.notebook.isPurged) ?? false }
    try store.end()
    store.keep(folding: { true }, while: { true })
  } catch { throw failure(error) }
  for message in purge.failures { printError(message) }
  if purge.count > 0 {
    let line = try surroundings.commandLine("compact", "--purged")
    try printLines([
      "purged \(count(purge.count, "note")): what they were leaves the notebook's files within some"
        + " days, and at once with `\(line)`"
    ])
  } else if purge.failures.isEmpty {
    try printLines(["there is nothing to purge"])
  }
  return purge.failures.isEmpty ? .done : .failed
}

/// Refuses options of `purge` that do not go together.
func checkPurge(_ command: Command) throws(CommandFailure) {
  if command.words("ID").isEmpty != command.has("--trash") {
    throw command.misuse("purge needs the notes, or --trash")
  }
  if command.has("--older"), !command.has("--trash") {
    throw command.misuse("--older is an option of --trash")
  }
}

/// `sync`: exchanges changes with peers.
func syncNotebook(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  var environment = try surroundings.environment()
  guard let interval = command.value("--every") else {
    environment.memoryFolder = surroundings.memoryFolder()
    return Sync(command.words("PEER"), adopting: command.has("--adopt")) {
      surroundings.serve(environment, $0)
    }.status
  }
  environment.peers = command.words("PEER")
  environment.syncInterval = ValueKind.interval(interval)!
  return Sync { surroundings.serve(environment, $0) }.status
}

/// Refuses options of `sync` that do not go together.
func checkSync(_ command: Command) throws(CommandFailure) {
  if command.has("--adopt"), command.has("--every") {
    throw command.misuse("--adopt is for once, not for --every")
  }
}

/// `import`: makes notes of files.
func importFiles(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  try runFileCommand(
    .importing(isDryRun: command.has("--dry-run")), command.words("PATH"), command, surroundings)
}

/// `export`: writes the notes as files.
func exportFiles(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  try runFileCommand(
    .exporting(isInto: command.has("--into"), hasIDs: command.has("--ids")), command.words("DIR"),
    command, surroundings)
}

private func runFileCommand(
  _ kind: FileCommand.Kind, _ paths: [String], _ command: Command,
  _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let environment = try surroundings.environment()
  return FileCommand(
    kind, paths, isJSON: command.has("--json"), isVerbose: command.has("--verbose")
  ) {
    surroundings.serve(environment, $0)
  }.status
}

/// `mirror`: keeps files and notes equal.
func mirrorFiles(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  var environment = try surroundings.environment()
  environment.mirror = command["DIR"]
  let answer = mirrorAnswers.first { command.has($0.option) }?.answer
  environment.mirrorAnswer = answer
  guard answer != nil || command.has("--once") else {
    return Sync { surroundings.serve(environment, $0) }.status
  }
  return MirrorCommand(command["DIR"], isAnswering: answer != nil && answer != .adopt) {
    surroundings.serve(environment, $0)
  }.status
}

/// What the user says to a mirror that does nothing.
private let mirrorAnswers: [(option: String, answer: NotesServer.MirrorAnswer)] = [
  ("--confirm", .confirm), ("--restore", .restore), ("--adopt", .adopt),
]

/// Refuses options of `mirror` that do not go together.
func checkMirror(_ command: Command) throws(CommandFailure) {
  let given = mirrorAnswers.map(\.option).filter(command.has)
  if given.count > 1 {
    throw command.misuse("\(given[0]) and \(given[1]) are two answers")
  }
}

/// `demo`: shows two editors.
func showDemo(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  do { try Demo.run(CommandLine.arguments[0], path: command["FILE"]) } catch {
    throw CommandFailure("demo: \(error.message)")
  }
  return .done
}

private func failure(_ error: any Error) -> CommandFailure {
  error as? CommandFailure ?? CommandFailure("\(error)")
}
