// The program: arguments, the environment, the clock and randomness come in here and nowhere else.

internal import JSONRPC
internal import NoteStore
internal import NotesServer
internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// sysexits.h: the command was used incorrectly.
let misuse: Int32 = 64

func complain(_ message: String) {
  let line = Array("decent-notes: \(message)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}

func defaultFolder() -> String? {
  if let folder = variable("DECENT_NOTES") { return folder }
  if let data = variable("XDG_DATA_HOME") { return data + "/decent-notes" }
  return variable("HOME").map { $0 + "/.local/share/decent-notes" }
}

/// Where programs keep what need not be kept: by the XDG base directory specification.
func stateFolder() -> String? {
  if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state }
  return variable("HOME").map { $0 + "/.local/state" }
}

func environment(_ arguments: Arguments) -> NotesServer.Environment? {
  guard let folder = arguments.folder ?? defaultFolder() else { return nil }
  let framing: Framing =
    switch arguments.framing {
    case "lines": .lines
    case "content-length": .contentLength
    default: .automatic
    }
  var environment = NotesServer.Environment(
    folder: folder, stateFolder: stateFolder(), homeFolder: variable("HOME"), framing: framing,
    maximumMessage: arguments.maximumMessage,
    durability: Durability(rawValue: arguments.durability)!, now: wallTime,
    makeIdentifier: randomIdentifier)
  environment.peers = arguments.peers
  environment.syncInterval = arguments.interval ?? environment.syncInterval
  if let seed = arguments.seed {
    var state = seed
    var time: Int64 = 1_767_225_600_000
    environment.now = {
      defer { time += 1000 }
      return time
    }
    environment.makeIdentifier = {
      Identifier(high: splitMix(&state), low: splitMix(&state))
    }
  }
  return environment
}

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

func standardInput() -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(STDIN_FILENO, &buffer, buffer.count)
    if count <= 0 { return bytes }
    bytes += buffer[..<count]
  }
}

func say(_ text: String) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return }
    rest = rest.dropFirst(count)
  }
}

func noFolder() -> Int32 {
  complain("no folder: give --notebook DIR, or set DECENT_NOTES or HOME")
  return misuse
}

func run() -> Int32 {
  // A write to a reader that is gone, or beyond a limit of size, is an error to be told, not the end.
  signal(SIGPIPE, SIG_IGN)
  signal(SIGXFSZ, SIG_IGN)
  // Notes are private. And who may not enter the folders just created could not write into them.
  umask(0o077)
  let arguments: Arguments
  do { arguments = try Arguments(Array(CommandLine.arguments.dropFirst())) } catch {
    complain("\(error.message) (decent-notes --help says more)")
    return misuse
  }
  switch arguments.command {
  case .help:
    say(Arguments.usage)
    return 0
  case .version:
    say("decent-notes \(NotesServer.programVersion)\n")
    return 0
  case .demo(let path):
    do {
      try Demo.run(CommandLine.arguments[0], path: path)
      return 0
    } catch {
      complain("demo: \(error.message)")
      return 1
    }
  case .check(let isRepairing):
    guard let folder = arguments.folder ?? defaultFolder() else { return noFolder() }
    do {
      let check = try Check(
        folder: folder, repair: isRepairing ? stateFolder() : nil, makeIdentifier: randomIdentifier)
      say(check.lines.joined(separator: "\n") + "\n")
      return check.isSound ? 0 : 1
    } catch {
      complain("\(error)")
      return 1
    }
  case .compact(let isDue):
    guard let folder = arguments.folder ?? defaultFolder() else { return noFolder() }
    do {
      let compact = try Compact(
        folder: folder, stateFolder: stateFolder(), isDue: isDue,
        makeIdentifier: randomIdentifier)
      say(compact.lines.joined(separator: "\n") + "\n")
      return 0
    } catch {
      complain("\(error)")
      return 1
    }
  case .serve, .call, .sync: break
  }
  guard var environment = environment(arguments) else { return noFolder() }
  switch arguments.command {
  case .call(let method, let params):
    environment.isSingleRequest = true
    do {
      let input = params == "-" ? standardInput() : Array(params.utf8)
      say(try Call(method, params: input) { serve(environment, $0) }.result + "\n")
      return 0
    } catch {
      complain(error.message)
      return 1
    }
  case .sync(let peers, let isAdopting):
    guard arguments.interval != nil else {
      return Sync(peers, adopting: isAdopting) { serve(environment, $0) }.status
    }
    environment.peers = peers
    return Sync { serve(environment, $0) }.status
  default: return serve(environment, nil)
  }
}

/// Serves a client of this process, or the one at standard input and output.
@discardableResult
func serve(_ environment: NotesServer.Environment, _ client: LocalClient?) -> Int32 {
  var environment = environment
  if client != nil { environment.framing = .lines }
  let stateFolder = environment.stateFolder
  var loop = EventLoop(NotesServer(environment), for: client) { peer, folder in
    // Only who sits at the terminal can be asked for a password there.
    PeerLink(to: peer, from: folder, stateFolder: stateFolder, isInteractive: client != nil)
  }
  return loop.run()
}

exit(run())
