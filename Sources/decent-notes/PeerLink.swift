internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The way to a peer: the programs that are run to reach it, one after the other.
///
/// A folder is served by a process of our own program, so that whatever lies in it, and however slow its disk is, an editor is not
/// held up by it. What rclone reaches is a folder of ours that looks like the remote one: what is new there is fetched, its
/// process is spoken to, and what is new here is delivered. Files of a notebook are written once under names of their own, so that
/// is all; see `Mirror`.
final class PeerLink {
  /// What is said to the peer and what it says; it has failed, or is over.
  enum Event {
    case said(ArraySlice<UInt8>)
    case ended(failure: String?)
  }

  /// A program to run.
  struct Step {
    enum Role {
      /// It speaks the protocol.
      case peer
      /// It does something and ends.
      case help
    }

    var role: Role
    var words: [String]
    var variables: [String: String] = [:]
    /// Exit statuses that are as good as 0.
    var accepted: Set<Int32> = []
    /// A descriptor that it holds, too, as long as it runs; -1 if there is none. Who is killed can't end what it has started.
    var lock: Int32 = -1
  }

  enum Turn {
    case run(Step)
    /// It is somebody else's turn; ask again in a moment.
    case wait
    /// There was something to do here, and there is more.
    case again
    case over
  }

  /// What to do when the program before has ended, or nothing was done yet.
  private let next: () throws(ChildProcess.Failure) -> Turn
  /// Whether a program may ask something at the terminal.
  private let isInteractive: Bool
  private var step: Step?
  private var process: ChildProcess?
  private var isOver = false
  private var isOutputOver = false
  private var isErrorOver = false
  /// The last that the program has said on its standard error.
  private var complaint: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private let clock = ContinuousClock()
  /// When it has been silent for too long.
  private var deadline: ContinuousClock.Instant
  /// When to look after it though nothing has happened.
  private(set) var due: ContinuousClock.Instant

  /// A peer that says nothing for so long says nothing any more.
  private static let patience = Duration.seconds(25)
  /// How long a peer may take to leave.
  private static let farewell = Duration.seconds(5)
  /// How long to wait for the end of one that has closed its output.
  private static let moment = Duration.milliseconds(5)
  private static let pause = Duration.milliseconds(200)
  /// rclone knows itself when to give up.
  private static let endless = Duration.seconds(1 << 30)
  private static let longestComplaint = 2000

  init(isInteractive: Bool, _ next: @escaping () throws(ChildProcess.Failure) -> Turn) {
    self.isInteractive = isInteractive
    self.next = next
    (deadline, due) = (clock.now, clock.now)
  }

  /// What to wait for: that it says something, complains, and takes what is said to it.
  func polls(isSaying: Bool) -> [pollfd] {
    guard let process else { return [] }
    return [
      pollfd(fd: isOutputOver ? -1 : process.output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isErrorOver ? -1 : process.error, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isSaying ? process.input : -1, events: Int16(POLLOUT), revents: 0),
    ]
  }

  /// Reads what has come, says what there is to say, and goes on to the next program when one has ended.
  ///
  /// - Parameters:
  ///   - outbox: what the peer is still to read.
  ///   - isOver: everything has been said.
  func proceed(_ outbox: inout Outbox, isOver: Bool, _ tell: (Event) -> Void) {
    do throws(ChildProcess.Failure) {
      if process == nil {
        switch try next() {
        case .run(let step): try start(step)
        case .wait: due = clock.now + Self.pause
        case .again: due = clock.now
        case .over: tell(.ended(failure: nil))
        }
      }
      guard let process, let step else { return }
      if step.role == .peer { say(&outbox, to: process, isOver: isOver) }
      // First what it says is acted on, then its end.
      if read(process, step, tell) { return }
      if isOver, !self.isOver { deadline = clock.now + Self.farewell }
      self.isOver = isOver
      if isOutputOver, let status = process.ended() {
        // Its last words may have come after we looked.
        hearComplaint(of: process)
        return try end(of: step, status)
      }
      if clock.now >= deadline, step.role == .peer {
        // It has said all it had to say.
        if isOver { return finish(process) }
        throw ChildProcess.Failure(message: "no answer for 25 seconds\(told)")
      }
      due = isOutputOver ? clock.now + Self.moment : deadline
    } catch {
      process?.end()
      process = nil
      tell(.ended(failure: error.message))
    }
  }

  private func end(of step: Step, _ status: Int32) throws(ChildProcess.Failure) {
    guard step.role == .help || isOver else {
      throw ChildProcess.Failure(message: "it ended before everything was said\(told)")
    }
    guard step.role == .peer || status == 0 || step.accepted.contains(status) else {
      throw ChildProcess.Failure(message: "\(step.words[0]) ended with status \(status)\(told)")
    }
    if let process { finish(process) }
  }

  private func finish(_ process: ChildProcess) {
    process.end()
    self.process = nil
    due = clock.now
  }

  private func start(_ step: Step) throws(ChildProcess.Failure) {
    self.step = step
    (complaint, isOutputOver, isErrorOver) = ([], false, false)
    let process = try ChildProcess(
      step.words, variables: step.variables, ownSession: !isInteractive, holding: step.lock)
    process.stopBlocking()
    if step.role == .help { process.closeInput() }
    self.process = process
    deadline = clock.now + (step.role == .peer ? Self.patience : Self.endless)
    due = deadline
  }

  /// Reads what has come; returns whether the peer has said something.
  private func read(_ process: ChildProcess, _ step: Step, _ tell: (Event) -> Void) -> Bool {
    hearComplaint(of: process)
    guard !isOutputOver else { return false }
    guard let bytes = ChildProcess.read(process.output, into: &buffer) else {
      isOutputOver = true
      return false
    }
    guard !bytes.isEmpty, step.role == .peer else { return false }
    deadline = clock.now + Self.patience
    due = clock.now
    tell(.said(bytes))
    return true
  }

  /// Reads once what the program complains of: one that does so without end must not hold us up.
  private func hearComplaint(of process: ChildProcess) {
    guard !isErrorOver else { return }
    guard let bytes = ChildProcess.read(process.error, into: &buffer) else {
      isErrorOver = true
      return
    }
    complaint = Array((complaint + bytes).suffix(Self.longestComplaint))
  }

  private func say(_ outbox: inout Outbox, to process: ChildProcess, isOver: Bool) {
    while process.input >= 0, !outbox.isEmpty {
      guard let count = process.write(outbox.unsent) else { return process.closeInput() }
      if count == 0 { return }
      outbox.removeFirst(count)
      deadline = clock.now + Self.patience
    }
    if isOver, outbox.isEmpty { process.closeInput() }
  }

  /// What the program has complained of, to be added to a message.
  private var told: String {
    let lines = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.isEmpty ? "" : ": " + lines.suffix(3).joined(separator: "; ")
  }
}
