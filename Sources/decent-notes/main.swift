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

/// A variable of the environment; nil if it is not set or empty. One that is no UTF-8 ends the program: it would name another folder.
func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  guard let text = String(validatingCString: value) else {
    printError("\(name): this variable of the environment is not UTF-8")
    exit(CommandFailure.Status.misuse.rawValue)
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

/// A folder of this user in memory: `$XDG_RUNTIME_DIR`, or else one in `/dev/shm`; nil if that is not the user's alone.
private func memoryFolder() -> String? {
  if let folder = variable("XDG_RUNTIME_DIR") {
    return folder.hasPrefix("/") && defect(ofPrivateFolder: folder) == nil ? folder : nil
  }
  let folder = "/dev/shm/decent-notes-\(geteuid())"
  // Once it is the user's, nobody else can put another one there.
  _ = mkdir(folder, 0o700)
  return defect(ofPrivateFolder: folder) == nil ? folder : nil
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

/// The name of the program as it stands in history: with its verb, if that is of interest.
private func programName(_ command: Command) -> String {
  command.verb.isNamed ? "decent-notes \(command.verb.name)" : "decent-notes"
}

/// A folder of files.
///
/// - Parameter mask: what new files and folders do not permit, as with `umask`.
private func tree(
  _ path: String, making isMaking: Bool, mask: mode_t
) throws(FileTreeError) -> any FileTree {
  try SystemFileTree(path, making: isMaking, mask: UInt32(mask)) { "\(randomIdentifier())" }
}

/// What the verb of a command has of this process.
private func surroundings(_ command: Command) -> CommandEnvironment {
  let seed = command.value("--seed").map { UInt64($0)! }
  let name = command.value("--name") ?? (seed == nil ? defaultName() : "user@host")
  // A session that another process has left has random names: with a seed none is gone on with.
  let memory: () -> String? = { seed == nil ? memoryFolder() : nil }
  let (now, makeIdentifier) = seed.map(seeded) ?? (wallTime, randomIdentifier)
  let folder = { () throws(CommandFailure) in
    guard let folder = command.value("--notebook") ?? defaultFolder() else {
      throw CommandFailure("no folder: give --notebook DIR, or set DECENT_NOTES or HOME", .misuse)
    }
    return folder
  }
  var options: [String] = []
  for option in Option.common where option.value != nil && !option.isHidden {
    // The notebook is named by its folder, wherever that is said.
    guard option.name != "--notebook", let value = command.value(option.name) else { continue }
    options += [option.name, value]
  }
  let commandLines = CommandLines(
    options: options, workingFolder: workingFolder())
  return CommandEnvironment(
    variable: variable, now: now, makeIdentifier: makeIdentifier, name: name,
    program: programName(command), commandLines: commandLines, folder: folder,
    stateFolder: { stateFolder },
    tree: { path, isMaking throws(FileTreeError) in
      try tree(path, making: isMaking, mask: privateMask)
    },
    memoryFolder: memory,
    environment: { () throws(CommandFailure) in
      var environment = NotesServer.Environment(
        folder: try folder(), stateFolder: stateFolder, homeFolder: variable("HOME"),
        durability: command.value("--durability").map { Durability(rawValue: $0)! } ?? .background,
        now: now, makeIdentifier: makeIdentifier)
      environment.participant = name
      environment.program = programName(command)
      environment.isRunning = isRunning
      environment.reportEnd = printError
      environment.returnMemory = returnFreeMemory
      // What is exported is the user's, with the modes that the user wants.
      environment.openTree = { path, isMaking throws(FileTreeError) in
        try tree(path, making: isMaking, mask: userMask)
      }
      environment.zone = localZone
      environment.commandLines = commandLines
      return environment
    },
    makeLoop: { environment, client, gateway in
      EventLoop(
        NotesServer(environment), for: client, through: gateway, now: steadyTime
      ) { peer, folder in
        // Only the user of a command line can be asked for a password at the terminal.
        PeerLink(to: peer, from: folder, peerEnvironment(), isInteractive: client != nil)
      }
    })
}

/// The folder in which this process was started; nil if it is gone.
private func workingFolder() -> String? {
  guard let path = getcwd(nil, 0) else { return nil }
  defer { free(path) }
  return String(validatingCString: path)
}

/// A clock and identifiers that are the same in each run with this seed, for recorded sessions. Never for real notes: two runs with one seed
/// would be one replica.
private func seeded(
  _ seed: UInt64
) -> (now: () -> Int64, makeIdentifier: () -> Identifier) {
  var state = seed
  var time: Int64 = 1_767_225_600_000
  return (
    {
      defer { time += 1000 }
      return time
    },
    { Identifier(high: splitMix(&state), low: splitMix(&state)) }
  )
}

/// An identifier of random bits.
func randomIdentifier() -> Identifier {
  var random = SystemRandomNumberGenerator()
  return Identifier(high: random.next(), low: random.next())
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
private func commandLine() throws(CommandFailure) -> [String] {
  var words: [String] = []
  for index in 1..<max(1, Int(CommandLine.argc)) {
    guard let bytes = CommandLine.unsafeArgv[index] else { break }
    // Repaired it would be another path.
    guard let word = String(validatingCString: bytes) else {
      throw .misuse("argument \(index) is no UTF-8: \(String(cString: bytes))")
    }
    words.append(word)
  }
  return words
}

/// Runs the command of the command line; returns the exit status.
private func run() -> CommandFailure.Status {
  // A write to a reader that is gone, or beyond a limit of size, is to be an error, and not to end the process.
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  fillClosedStreams()
  _ = userMask
  do {
    let command = try Command(commandLine(), verbs: Verb.all, common: Option.common)
    if command.has("--version") {
      try printLines(["decent-notes \(NotesServer.programVersion)"])
      return .done
    }
    if let stateFolder { RuleFailures.watch(in: stateFolder) }
    #if DEBUG
      RuleGuard.failing = variable("DECENT_NOTES_FAILING_RULE").flatMap { NoteID($0) }
    #endif
    let perform = command.has("--help") ? showHelp : command.verb.perform
    let surroundings = surroundings(command)
    let status: CommandFailure.Status
    do { status = try perform(command, surroundings) } catch {
      report(error)
      status = error.status
    }
    return surroundings.completeness.status(status)
  } catch {
    report(error)
    return error.status
  }
}

exit(run().rawValue)
