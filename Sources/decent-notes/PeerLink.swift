internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The link to a peer: runs the programs that reach it, one after the other, and carries the bytes of an exchange.
///
/// A folder is served by a process of this program, so that a slow disk there never holds up the editor here. For a folder that
/// only rclone reaches there are several programs: one fetches the files that are new there, one serves the local copy, one
/// delivers the files that are new here; see `RemoteCopy`.
final class PeerLink {
  /// An event at the peer.
  enum Event {
    /// The peer has sent bytes.
    case received(ArraySlice<UInt8>)
    /// The link has ended; `failure` is the reason in a user's words, nil if it ended in order.
    case ended(failure: String?)
  }

  /// A program to run.
  struct Step {
    enum Role {
      /// It speaks the protocol on its standard input and output.
      case peer
      /// It does something and ends; what it writes to its standard output is not read.
      case tool
    }

    var role: Role
    /// The program and its arguments.
    var words: [String]
    /// Variables that are different in its environment.
    var variables: [String: String] = [:]
    /// Exit statuses that are as good as 0.
    var accepted: Set<Int32> = []
    /// A descriptor that the program holds, too, as long as it runs; -1 if there is none. When this process is killed, what it has
    /// started may run for a moment more, and so long does the lock.
    var lock: Int32 = -1
  }

  /// The next thing to do.
  enum Turn {
    case run(Step)
    /// Another process has the lock: ask again later.
    case wait
    /// A piece of work was done here, and there is more: ask again at once.
    case again
    /// The link ends.
    case over
  }

  typealias Instant = ContinuousClock.Instant

  /// Called at first, and when a program has ended.
  private let next: () throws(ChildProcess.Failure) -> Turn
  /// True if a program may ask for a password at the terminal.
  private let isInteractive: Bool
  private let now: () -> Instant

  // The program that runs.

  private var step: Step?
  private var process: ChildProcess?
  /// True once all was sent: then the deadline is that for the peer's end.
  private var isLeaving = false
  private var isOutputClosed = false
  private var isErrorClosed = false
  /// The end of its standard error, for the message when it fails.
  private var errorOutput: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  /// The time at which the peer is given up, if it sends and takes nothing until then.
  private var deadline: Instant
  /// The time at which the peer is given up, if nothing goes on until then, whatever it sends.
  private var progressDeadline: Instant
  /// The progress of the exchange when the link proceeded last, and the bytes that the peer has taken since there was any.
  private var progress = 0
  private var taken = 0
  /// The time at which `proceed` is to be called although no descriptor is ready.
  private(set) var due: Instant

  /// A peer that neither sends nor takes a byte for so long is given up.
  private static let silenceLimit = Duration.seconds(25)
  /// A peer with which nothing goes on for so long is given up, though it sends or takes a byte now and then.
  private static let progressLimit = Duration.seconds(60)
  /// So many bytes taken are progress.
  private static let progressSize = 16 << 10
  /// A peer that has not ended so long after all was sent is killed.
  private static let leaveLimit = Duration.seconds(5)
  /// A tool has no limit: rclone has limits of its own.
  private static let unlimited = Duration.seconds(1 << 30)
  /// A program that has closed its output is about to end. No descriptor becomes ready then, so its end is polled.
  private static let exitInterval = Duration.milliseconds(5)
  /// The time after which a lock is tried again that another process has.
  private static let lockInterval = Duration.milliseconds(200)
  private static let longestErrorOutput = 2000

  /// - Parameters:
  ///   - isInteractive: true if programs may ask for a password at the terminal.
  ///   - now: reads the clock.
  ///   - next: returns the next thing to do; called at first and when a program has ended.
  init(
    isInteractive: Bool, now: @escaping () -> Instant,
    _ next: @escaping () throws(ChildProcess.Failure) -> Turn
  ) {
    self.isInteractive = isInteractive
    self.now = now
    self.next = next
    deadline = now()
    progressDeadline = deadline
    due = deadline
  }

  /// The descriptors to wait for: the program's output and error, and its input if there is something to send.
  func polls(isSending: Bool) -> [pollfd] {
    guard let process else { return [] }
    return [
      pollfd(fd: isOutputClosed ? -1 : process.output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isErrorClosed ? -1 : process.error, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isSending ? process.input : -1, events: Int16(POLLOUT), revents: 0),
    ]
  }

  /// Reads and writes what is possible without waiting, and goes on to the next program when one has ended.
  ///
  /// - Parameters:
  ///   - outbox: bytes that the peer is still to read.
  ///   - isOver: true if nothing more will be put there.
  ///   - isStanding: true if the owner finds out whether the peer is there.
  ///   - progress: a number that grows as the exchange goes on.
  ///   - report: is called with each event.
  func proceed(
    _ outbox: inout Outbox, isOver: Bool, isStanding: Bool, progress: Int,
    _ report: (Event) -> Void
  ) {
    if progress != self.progress {
      self.progress = progress
      noteProgress()
    }
    do throws(ChildProcess.Failure) {
      if process == nil {
        switch try next() {
        case .run(let step): try start(step)
        case .wait: due = now() + Self.lockInterval
        case .again: due = now()
        case .over: report(.ended(failure: nil))
        }
      }
      guard let process, let step else { return }
      if step.role == .peer { send(&outbox, to: process, isOver: isOver) }
      // Bytes that came are acted on before the end.
      if read(process, step, report) { return }
      if isOver, !isLeaving { deadline = now() + Self.leaveLimit }
      isLeaving = isOver
      if isOutputClosed, let status = process.ended() {
        // It may have written its error after the last look.
        readError(of: process)
        return try end(of: step, status)
      }
      let deadline =
        isStanding ? now() + Self.unlimited : isLeaving ? deadline : min(deadline, progressDeadline)
      if step.role == .peer, now() >= deadline { return try giveUp(process) }
      due = isOutputClosed ? now() + Self.exitInterval : deadline
    } catch {
      process?.end()
      process = nil
      report(.ended(failure: error.message))
    }
  }

  // MARK: - The program

  private func start(_ step: Step) throws(ChildProcess.Failure) {
    self.step = step
    (errorOutput, isOutputClosed, isErrorClosed) = ([], false, false)
    let process = try ChildProcess(
      step.words, variables: step.variables, ownSession: !isInteractive, holding: step.lock,
      mask: step.role == .peer ? userMask : privateMask)
    process.stopBlocking()
    if step.role == .tool { process.closeInput() }
    process.endWithThisProcess()
    self.process = process
    deadline = now() + (step.role == .peer ? Self.silenceLimit : Self.unlimited)
    due = deadline
    progressDeadline = deadline
    if step.role == .peer { noteProgress() }
  }

  private func noteProgress() {
    taken = 0
    progressDeadline = now() + Self.progressLimit
  }

  /// The deadline of a peer has passed. One to which all was sent has only not ended, and that is no failure.
  private func giveUp(_ process: ChildProcess) throws(ChildProcess.Failure) {
    guard isLeaving else {
      let reason = now() >= deadline ? "no answer for 25 seconds" : "nothing went on for a minute"
      throw ChildProcess.Failure(message: reason + errorSuffix)
    }
    finish(process)
  }

  private func end(of step: Step, _ status: Int32) throws(ChildProcess.Failure) {
    guard step.role == .tool || isLeaving else {
      // What it has said itself, as ssh does, is the better reason.
      let reason = errorSuffix.isEmpty ? " before everything was said" : errorSuffix
      throw ChildProcess.Failure(message: "it ended\(reason)")
    }
    guard step.role == .peer || status == 0 || step.accepted.contains(status) else {
      throw ChildProcess.Failure(
        message: "\(step.words[0]) ended with status \(status)\(errorSuffix)")
    }
    if let process { finish(process) }
  }

  private func finish(_ process: ChildProcess) {
    process.end()
    self.process = nil
    due = now()
  }

  // MARK: - Bytes

  /// Reads once; returns true if the peer has sent something.
  private func read(_ process: ChildProcess, _ step: Step, _ report: (Event) -> Void) -> Bool {
    readError(of: process)
    guard !isOutputClosed else { return false }
    guard let bytes = ChildProcess.read(process.output, into: &buffer) else {
      isOutputClosed = true
      return false
    }
    guard !bytes.isEmpty, step.role == .peer else { return false }
    due = now()
    deadline = due + Self.silenceLimit
    report(.received(bytes))
    return true
  }

  /// Reads standard error once, not to its end: a program that writes there without end must not hold up this process.
  private func readError(of process: ChildProcess) {
    guard !isErrorClosed else { return }
    guard let bytes = ChildProcess.read(process.error, into: &buffer) else {
      isErrorClosed = true
      return
    }
    errorOutput = Array((errorOutput + bytes).suffix(Self.longestErrorOutput))
  }

  private func send(_ outbox: inout Outbox, to process: ChildProcess, isOver: Bool) {
    while process.input >= 0, !outbox.isEmpty {
      guard let count = process.write(outbox.unsent) else { return process.closeInput() }
      if count == 0 { return }
      outbox.removeFirst(count)
      deadline = now() + Self.silenceLimit
      taken += count
      if taken >= Self.progressSize { noteProgress() }
    }
    if isOver, outbox.isEmpty { process.closeInput() }
  }

  /// The last lines of the program's standard error, to be added to a message.
  private var errorSuffix: String {
    let lines = String(decoding: errorOutput, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.isEmpty ? "" : ": " + lines.suffix(3).joined(separator: "; ")
  }
}

/// The part of the user's environment that is needed to reach peers. Only `main` reads it.
struct PeerEnvironment {
  /// The user's home folder: `~` at the beginning of a path.
  var homeFolder: String?
  /// The folder in which the user's programs keep their state; nil if there is none.
  var stateFolder: String?
  /// The folders in which commands are looked for, with colons between them.
  var searchPath: String
  /// The path of this program, of which a process serves a folder.
  var program: String
  /// Reads the clock.
  var now: () -> ContinuousClock.Instant

  /// A path with the home folder in the place of `~`.
  func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let homeFolder else { return path }
    return homeFolder + path.dropFirst()
  }
}
