#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process that was started here, with pipes to its standard input, output and error.
final class ChildProcess {
  /// A failure, in one line for the user.
  struct Failure: Error {
    var message: String
  }

  /// The ends of the pipes to its standard input, output and error; -1 once closed.
  private(set) var input: Int32
  private(set) var output: Int32
  private(set) var error: Int32
  private let process: pid_t
  private let hasOwnSession: Bool
  /// A process that kills this one, as `end` would, when the process that has started it is gone; nil if there is none.
  private var guardian: ChildProcess?
  private var status: Int32?
  /// True once the system was told that its status is known.
  private var isWaitedFor = false

  /// Starts a program, which is looked for in the search path as by a shell.
  ///
  /// - Parameters:
  ///   - words: the program and its arguments.
  ///   - variables: replace those of the same names in its environment.
  ///   - ownSession: true for a session without the terminal, where it could ask for a password; `end` kills the whole session.
  ///   - keepingError: true if its standard error is that of this process.
  ///   - lock: a descriptor that it gets besides the three standard ones; -1 if there is none.
  ///   - mask: its umask.
  init(
    _ words: [String], variables: [String: String] = [:], ownSession: Bool = false,
    keepingError: Bool = false, holding lock: Int32 = -1, mask: mode_t = privateMask
  ) throws(Failure) {
    var pipes: [[Int32]] = []
    func close(_ pipes: [[Int32]]) {
      for end in pipes.joined() { _ = sysClose(end) }
    }
    for _ in 0..<3 {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else {
        close(pipes)
        throw Failure(message: "no pipes: \(String(cString: strerror(errno)))")
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      pipes.append(ends)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, pipes[0][0], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, pipes[1][1], STDOUT_FILENO)
    if !keepingError { posix_spawn_file_actions_adddup2(&actions, pipes[2][1], STDERR_FILENO) }
    if lock >= 0 { posix_spawn_file_actions_adddup2(&actions, lock, STDERR_FILENO + 1) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    // Signals that this process ignores would be ignored there, too.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGPIPE, SIGXFSZ] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = Int32(POSIX_SPAWN_SETSIGDEF) | (ownSession ? Self.setSession : 0)
    posix_spawnattr_setflags(&attributes, Int16(truncatingIfNeeded: flags))
    var arguments = words.map { strdup($0) } + [nil]
    var environment = Self.environment(with: variables).map { strdup($0) } + [nil]
    var child: pid_t = 0
    let ownMask = umask(mask)
    let status = posix_spawnp(&child, words[0], &actions, &attributes, &arguments, &environment)
    _ = umask(ownMask)
    for text in arguments + environment { free(text) }
    posix_spawn_file_actions_destroy(&actions)
    posix_spawnattr_destroy(&attributes)
    close([[pipes[0][0], pipes[1][1], pipes[2][1]]])
    (input, output, error) = (pipes[0][1], pipes[1][0], pipes[2][0])
    process = child
    hasOwnSession = ownSession
    guard status == 0 else {
      close([[input, output, error]])
      (input, output, error) = (-1, -1, -1)
      isWaitedFor = true
      throw Failure(message: "\(words[0]): can't be started: \(String(cString: strerror(status)))")
    }
  }

  deinit { end() }

  /// Sees to it that it ends, with what it has started, also when this process is killed: a shell waits for that, at a pipe.
  ///
  /// Without a shell there is nobody who waits, nor before this is called. The program gets the end of its input then, and as a
  /// rule that ends it.
  func endWithThisProcess() {
    let target = hasOwnSession ? "-\(process)" : "\(process)"
    guardian = try? ChildProcess(
      ["/bin/sh", "-c", "read line; kill -KILL \(target)"], ownSession: true)
  }

  #if canImport(Glibc)
    private static let setSession: Int32 = 0x80
  #else
    private static let setSession = Int32(POSIX_SPAWN_SETSID)
  #endif

  private static func environment(with variables: [String: String]) -> [String] {
    var all: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if !variables.keys.contains(where: { text.hasPrefix("\($0)=") }) { all.append(text) }
      next += 1
    }
    return all + variables.map { "\($0)=\($1)" }
  }

  /// Closes the pipe to its standard input.
  func closeInput() {
    if input >= 0 { _ = sysClose(input) }
    input = -1
  }

  /// Reads once; returns no bytes if none have come, nil at the end.
  static func read(_ descriptor: Int32, into buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
    let count = buffer.withUnsafeMutableBytes { sysRead(descriptor, $0) }
    if count > 0 { return buffer[..<count] }
    return count < 0 && [EINTR, EAGAIN].contains(errno) ? [] : nil
  }

  /// Writes as much as the pipe takes now; returns how much, nil if it has no reader any more. The pipe must not block.
  func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes { sysWrite(input, $0) }
    if count >= 0 { return count }
    return [EINTR, EAGAIN].contains(errno) ? 0 : nil
  }

  /// Makes reads and writes return at once.
  func stopBlocking() {
    for end in [input, output, error] { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
  }

  /// The status it has ended with; nil while it runs. If a signal has ended it: 128 plus the signal.
  func ended() -> Int32? {
    if status == nil {
      // It is not waited for yet: as long as it is not, nothing else gets the number of its session.
      var information = siginfo_t()
      let flags = WEXITED | WNOHANG | WNOWAIT
      if waitid(P_PID, id_t(process), &information, flags) < 0 {
        if errno == EINTR { return nil }
        status = 127
      } else if information.si_signo != 0 {
        let isExit = information.si_code == CLD_EXITED
        status = isExit ? childStatus(information) : 128 + childStatus(information)
      }
    }
    return status
  }

  /// Kills it, unless it has ended by itself, and what it has started if it has a session of its own. Closes the pipes.
  func end() {
    for descriptor in [input, output, error] where descriptor >= 0 { _ = sysClose(descriptor) }
    (input, output, error) = (-1, -1, -1)
    if isWaitedFor { return }
    isWaitedFor = true
    // Before the process is waited for: then another one may get its number.
    guardian?.end()
    let isRunning = ended() == nil
    if hasOwnSession {
      _ = kill(-process, SIGKILL)
    } else if isRunning {
      _ = kill(process, SIGKILL)
    }
    waitpid(process, nil, 0)
    if isRunning { status = 128 + SIGKILL }
  }
}

private func childStatus(_ information: siginfo_t) -> Int32 {
  #if canImport(Glibc)
    information._sifields._sigchld.si_status
  #else
    information.si_status
  #endif
}

private func sysClose(_ descriptor: Int32) -> Int32 {
  #if canImport(Glibc)
    Glibc.close(descriptor)
  #else
    Darwin.close(descriptor)
  #endif
}

private func sysRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  #if canImport(Glibc)
    Glibc.read(descriptor, bytes.baseAddress, bytes.count)
  #else
    Darwin.read(descriptor, bytes.baseAddress, bytes.count)
  #endif
}

private func sysWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  #if canImport(Glibc)
    Glibc.write(descriptor, bytes.baseAddress, bytes.count)
  #else
    Darwin.write(descriptor, bytes.baseAddress, bytes.count)
  #endif
}

/// Runs a command line of the user's, as `vim -f`, on a file in the terminal of this process, and waits until it has ended. CTRL-C in the
/// terminal is its own meanwhile.
///
/// - Returns: the status that it has ended with; if a signal has ended it: 128 plus the signal.
func runInTerminal(_ command: String, _ path: String) throws(CommandFailure) -> Int32 {
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  var defaults = sigset_t()
  sigemptyset(&defaults)
  for number in [SIGPIPE, SIGXFSZ] { sigaddset(&defaults, number) }
  let interrupts = [SIGINT, SIGQUIT]
  let handlers = interrupts.map { signal($0, SIG_IGN) }
  defer { for (number, handler) in zip(interrupts, handlers) { signal(number, handler) } }
  for (number, handler) in zip(interrupts, handlers) where !isIgnoring(handler) {
    sigaddset(&defaults, number)
  }
  posix_spawnattr_setsigdefault(&attributes, &defaults)
  posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
  // A shell takes the command apart, as git has it do: it may have options and quotes.
  let words = ["sh", "-c", "\(command) \"$@\"", command, path]
  var arguments = words.map { strdup($0) } + [nil]
  defer { for text in arguments { free(text) } }
  var child: pid_t = 0
  let ownMask = umask(userMask)
  let failure = posix_spawn(&child, "/bin/sh", nil, &attributes, &arguments, environ)
  _ = umask(ownMask)
  guard failure == 0 else {
    throw CommandFailure("/bin/sh can't be started: \(String(cString: strerror(failure)))")
  }
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0 {
    if errno != EINTR { throw CommandFailure("\(command): \(String(cString: strerror(errno)))") }
  }
  let number = status & 0x7F
  return number == 0 ? status >> 8 & 0xFF : 128 + number
}

#if canImport(Glibc)
  private typealias Handler = __sighandler_t?
#else
  private typealias Handler = (@convention(c) (Int32) -> Void)?
#endif

private func isIgnoring(_ handler: Handler) -> Bool {
  unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
}
