// The program: arguments, the environment, the clock and randomness come in here and nowhere else.

internal import FileTree
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import NotesServer
internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// sysexits.h: the command was used incorrectly.
let misuse: Int32 = 64

/// A variable of the environment; nil if it is not set or empty. One that is no UTF-8 ends the program: it would name another folder.
func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  guard let text = String(validatingCString: value) else {
    printError("\(name): this variable of the environment is not UTF-8")
    exit(misuse)
  }
  return text
}

/// The notebook's folder if the command line names none.
func defaultFolder() -> String? {
  if let folder = variable("DECENT_NOTES") { return folder }
  // A relative path is to be ignored, as the XDG base directory specification says.
  if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/decent-notes" }
  return variable("HOME").map { $0 + "/.local/share/decent-notes" }
}

/// The folder for data that may be lost, by the XDG base directory specification; nil if what this program keeps there may be somebody
/// else's: then nothing is kept.
///
/// It is found out, and told, once.
private let stateFolder: String? = {
  var folder = variable("HOME").map { $0 + "/.local/state" }
  if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { folder = state }
  guard let folder, let defect = defect(ofPrivateFolder: folder + "/decent-notes") else {
    return folder
  }
  printError("\(folder)/decent-notes \(defect): nothing is read from there, and nothing kept")
  return nil
}()

/// A folder of this user in memory: `$XDG_RUNTIME_DIR` if it is one, or else one in `/dev/shm`; nil if that is not the user's alone.
private func memoryFolder() -> String? {
  if let folder = variable("XDG_RUNTIME_DIR"), folder.hasPrefix("/"), NoteStore.isInMemory(folder) {
    return defect(ofPrivateFolder: folder) == nil ? folder : nil
  }
  let folder = "/dev/shm/decent-notes-\(geteuid())"
  // Once it is the user's, nobody else can put another one there.
  _ = mkdir(folder, 0o700)
  return defect(ofPrivateFolder: folder) == nil ? folder : nil
}

/// The name of whoever uses the program, by the command line. The same in each run with a seed.
private func name(_ arguments: Arguments) -> String {
  arguments.name ?? (arguments.seed == nil ? defaultName() : "user@host")
}

/// The name of whoever uses the program, if the command line gives none: `user@host`.
private func defaultName() -> String {
  var user = variable("USER") ?? variable("LOGNAME")
  if user == nil, let entry = getpwuid(geteuid()) { user = String(cString: entry.pointee.pw_name) }
  var buffer = [CChar](repeating: 0, count: 256)
  let isNamed = gethostname(&buffer, buffer.count) == 0
  let bytes = isNamed ? buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)) : []
  let host = String(decoding: bytes, as: UTF8.self)
  return (user ?? "\(geteuid())") + (host.isEmpty ? "" : "@\(host)")
}

/// The server's environment for a command line; nil if there is no folder for the notebook.
func environment(_ arguments: Arguments) -> NotesServer.Environment? {
  guard let folder = arguments.folder ?? defaultFolder() else { return nil }
  let framing: Framing =
    switch arguments.framing {
    case "lines": .lines
    case "content-length": .contentLength
    default: .automatic
    }
  var environment = NotesServer.Environment(
    folder: folder, stateFolder: stateFolder, homeFolder: variable("HOME"), framing: framing,
    maximumMessage: arguments.maximumMessage,
    durability: Durability(rawValue: arguments.durability)!, now: wallTime,
    makeIdentifier: randomIdentifier)
  environment.participant = name(arguments)
  environment.program = arguments.program
  environment.peers = arguments.peers
  environment.syncInterval = arguments.interval ?? environment.syncInterval
  environment.isConfined = arguments.isConfined
  environment.isRunning = isRunning
  environment.returnMemory = returnFreeMemory
  // What is exported is the user's, with the modes that the user wants.
  environment.openTree = { path, isMaking throws(FileTreeError) in
    try SystemFileTree(path, making: isMaking, mask: UInt32(userMask)) { "\(randomIdentifier())" }
  }
  environment.zone = localZone
  environment.mirror = arguments.mirror
  if let seed = arguments.seed {
    var state = seed
    var time: Int64 = 1_767_225_600_000
    environment.now = {
      defer { time += 1000 }
      return time
    }
    environment.makeIdentifier = {
      Identifier(high: splitMix(&state), low: splitMix(&state)).sparingSeparators
    }
  }
  return environment
}

/// An identifier of random bits. Deletions by replicas of such names spare separators.
func randomIdentifier() -> Identifier {
  var random = SystemRandomNumberGenerator()
  return Identifier(high: random.next(), low: random.next()).sparingSeparators
}

/// Milliseconds since 1970.
func wallTime() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
func splitMix(_ state: inout UInt64) -> UInt64 {
  state &+= 0x9E37_79B9_7F4A_7C15
  var mixed = state
  mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
  mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
  return mixed ^ mixed >> 31
}

/// The environment for a link to a peer. Made for each link, because the file of this program may be replaced while it runs.
func peerEnvironment() -> PeerEnvironment {
  PeerEnvironment(
    homeFolder: variable("HOME"), stateFolder: stateFolder,
    searchPath: variable("PATH") ?? "/usr/bin:/bin", program: ownProgram(),
    now: steadyTime)
}

/// The present time, by the clock that nothing sets.
func steadyTime() -> ContinuousClock.Instant { .now }

/// The path of the program that this process runs.
func ownProgram() -> String {
  #if os(Linux)
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(
      decoding: buffer[..<max(0, count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
    // A new version may have taken its place; the peer is to be of this one.
    return path.isEmpty || path.hasSuffix(" (deleted)") ? "/proc/self/exe" : path
  #else
    return CommandLine.arguments[0]
  #endif
}

/// The arguments after the program's name.
private func commandLine() throws(Arguments.Misuse) -> [String] {
  var words: [String] = []
  for index in 1..<max(1, Int(CommandLine.argc)) {
    guard let bytes = CommandLine.unsafeArgv[index] else { break }
    // Repaired it would be another path.
    guard let word = String(validatingCString: bytes) else {
      throw Arguments.Misuse(message: "argument \(index) is no UTF-8: \(String(cString: bytes))")
    }
    words.append(word)
  }
  return words
}

/// Reports that there is no folder for the notebook; returns the exit status.
func noFolder() -> Int32 {
  printError("no folder: give --notebook DIR, or set DECENT_NOTES or HOME")
  return misuse
}

/// Runs the command of the command line; returns the exit status.
func run() -> Int32 {
  do { return try runCommand() } catch {
    printError(error.message)
    return 1
  }
}

private func runCommand() throws(OutputFailure) -> Int32 {
  // A write to a reader that is gone, or beyond a limit of size, is to be an error, and not to end the process.
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  _ = userMask
  let arguments: Arguments
  do { arguments = try Arguments(commandLine()) } catch {
    printError("\(error.message) (decent-notes --help says more)")
    return misuse
  }
  switch arguments.command {
  case .help:
    try printOutput(Arguments.usage)
    return 0
  case .version:
    try printLines(["decent-notes \(NotesServer.programVersion)"])
    return 0
  case .demo(let path):
    do {
      try Demo.run(CommandLine.arguments[0], path: path)
      return 0
    } catch {
      printError("demo: \(error.message)")
      return 1
    }
  case .check(let isRepairing):
    guard let folder = arguments.folder ?? defaultFolder() else { return noFolder() }
    let check: Check
    do {
      check = try Check(
        folder: folder, repair: isRepairing ? stateFolder : nil, makeIdentifier: randomIdentifier)
    } catch {
      printError("\(error)")
      return 1
    }
    try printLines(check.lines)
    return check.isSound ? 0 : 1
  case .purge(let ids):
    return try runPurge(arguments) { store, author throws(StoreError) in
      try Purge(of: ids, in: store, by: author, at: wallTime())
    }
  case .purgeTrash(let age):
    return try runPurge(arguments) { store, author throws(StoreError) in
      try Purge(trashOf: store, olderThan: age, by: author, at: wallTime())
    }
  case .compact(let isDue, let isPurging):
    guard let folder = arguments.folder ?? defaultFolder() else { return noFolder() }
    let compact: Compact
    do {
      compact = try Compact(
        folder: folder, stateFolder: stateFolder, isDue: isDue, isPurging: isPurging,
        makeIdentifier: randomIdentifier)
    } catch {
      printError("\(error)")
      return 1
    }
    try printLines(compact.lines)
    return 0
  case .serve, .call, .sync, .files, .mirror: break
  }
  guard var environment = environment(arguments) else { return noFolder() }
  switch arguments.command {
  case .call(let method, let params):
    environment.isSingleRequest = true
    if arguments.seed == nil { environment.memoryFolder = memoryFolder() }
    let call: Call
    do {
      let input = params == "-" ? readStandardInput() : Array(params.utf8)
      call = try Call(method, params: input) { serve(environment, $0) }
    } catch {
      printError(error.message)
      return 1
    }
    try printOutput(call.result.escapingForTerminals + "\n")
    return 0
  case .sync(let peers, let isAdopting):
    guard arguments.interval != nil else {
      if arguments.seed == nil { environment.memoryFolder = memoryFolder() }
      return Sync(peers, adopting: isAdopting) { serve(environment, $0) }.status
    }
    environment.peers = peers
    return Sync { serve(environment, $0) }.status
  case .mirror(let path, let answer, let isOnce):
    environment.mirror = path
    environment.mirrorAnswer = answer
    guard isOnce else { return Sync { serve(environment, $0) }.status }
    return MirrorCommand(path, isAnswering: answer != nil) { serve(environment, $0) }.status
  case .files(let kind, let paths, let isJSON):
    return FileCommand(kind, paths, isJSON: isJSON) { serve(environment, $0) }.status
  default: return serve(environment, nil)
  }
}

/// Forgets notes of the notebook of a command line; returns the exit status.
private func runPurge(
  _ arguments: Arguments, _ body: (NoteStore, Author?) throws(StoreError) -> Purge
) throws(OutputFailure) -> Int32 {
  guard let folder = arguments.folder ?? defaultFolder() else { return noFolder() }
  let purge: Purge
  do {
    let store = try NoteStore(
      path: folder, state: stateFolder, isWatching: false, makeIdentifier: randomIdentifier)
    purge = try body(store, Author(name: name(arguments), program: arguments.program))
    try store.end()
    store.keep { true }
  } catch {
    printError("\(error)")
    return 1
  }
  for message in purge.failures { printError(message) }
  try printLines(purge.lines)
  return purge.failures.isEmpty ? 0 : 1
}

/// Serves a client until it has left; returns the exit status.
///
/// - Parameter client: a client of this process; nil for the one at standard input and output.
@discardableResult
func serve(_ environment: NotesServer.Environment, _ client: LocalClient?) -> Int32 {
  var environment = environment
  if client != nil { environment.framing = .lines }
  let server = NotesServer(environment)
  var loop = EventLoop(server, for: client, now: steadyTime) { peer, folder in
    // Only the user of a command line can be asked for a password at the terminal.
    PeerLink(to: peer, from: folder, peerEnvironment(), isInteractive: client != nil)
  }
  let status = loop.run()
  if let signal = loop.signal { EndSignals.die(by: signal) }
  return status
}

exit(run())
