internal import JSONRPC
internal import NoteStore
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The one place that waits: for bytes from the client, for room in the pipe to it, for other processes' files, for the
/// disk.
///
/// Standard output is polled like everything else. A client may write thousands of requests before it reads the first
/// reply; a write that waited for it would then wait for ever, each side for the other.
struct EventLoop: ~Copyable {
  /// Data is on its way to the disk at the latest this long after it was committed.
  private static let syncDelay = Duration.milliseconds(20)
  /// How long to wait before what could not be put on disk is tried again: at first, and at most.
  private static let retryDelays = (first: Duration.seconds(1), last: Duration.seconds(60))
  /// How often files are looked at that no notification told of.
  private static let rescanInterval = Duration.seconds(30)
  /// The same where notifications cannot be relied on.
  private static let pollInterval = Duration.seconds(1)
  /// How often it is tried whether a disk that refused a change takes it now.
  private static let refusalInterval = Duration.seconds(2)
  private static let muchMemory = 4 << 20
  private static let parentInterval = Duration.seconds(5)
  /// While there is always something else to do, what can wait gets its turn this often.
  private static let workInterval = Duration.milliseconds(20)
  /// The same for what can't wait long.
  private static let urgentWorkInterval = Duration.milliseconds(1)
  /// How long the process may stay to keep the notebook for the next one.
  private static let keepingTime = Duration.milliseconds(1200)
  /// How long the rest of the output may take after the input's end.
  private static let farewell = Duration.milliseconds(1500)

  private var server: NotesServer
  /// Who is served; nil if that is whoever is at the other ends of standard input and output.
  private let client: LocalClient?
  /// The ways to the peers that are spoken to, by exchange.
  private var links: [Int: PeerLink] = [:]
  private let makeLink: (_ peer: String, _ folder: String) -> PeerLink
  private var buffer = [UInt8](repeating: 0, count: 1 << 17)
  private var isInputOpen = true
  private var isOutputOpen = true
  /// The client has closed its end of our input; there may still be something in the pipe.
  private var hasInputHungUp = false
  private let clock = ContinuousClock()
  private var syncDue: ContinuousClock.Instant?
  private var retryDelay = Self.retryDelays.first
  private var refusalDue: ContinuousClock.Instant?
  private var sealDue: ContinuousClock.Instant?
  private var rescanDue: ContinuousClock.Instant
  private var parentDue: ContinuousClock.Instant
  private var presenceDue: ContinuousClock.Instant?
  private var peersDue: ContinuousClock.Instant?
  private var leaveDue: ContinuousClock.Instant?
  private var workDue: ContinuousClock.Instant
  private var lastReleased = 0

  /// - Parameter makeLink: the way to a peer from the notebook in a folder.
  init(
    _ server: consuming NotesServer, for client: LocalClient? = nil,
    makeLink: @escaping (_ peer: String, _ folder: String) -> PeerLink
  ) {
    self.server = server
    self.client = client
    self.makeLink = makeLink
    rescanDue = clock.now + Self.rescanInterval
    parentDue = clock.now + Self.parentInterval
    workDue = clock.now
  }

  /// Serves until the client has left; returns the exit status.
  mutating func run() -> Int32 {
    let flags = fcntl(STDOUT_FILENO, F_GETFL)
    // A terminal is shared with the shell, which would find it changed. And a local client writes there as it likes.
    let isShared = client != nil || isatty(STDOUT_FILENO) == 1
    if let client { server.receive(client.requests[...]) }
    // A local client has asked already, and nothing else may wake the loop.
    handleTimers()
    if !isShared { _ = fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) }
    defer { if !isShared { _ = fcntl(STDOUT_FILENO, F_SETFL, flags) } }
    while true {
      flush()
      if server.exitStatus != nil || hasInputHungUp || !isInputOpen {
        leaveDue = leaveDue ?? clock.now + Self.farewell
      }
      if let status = server.exitStatus, server.outbox.isEmpty || isPast(leaveDue) {
        let end = clock.now + Self.keepingTime
        server.store?.keep { clock.now < end }
        return status
      }
      if isOutputOpen, isPast(leaveDue) { outputFailed() }
      wait()
      handleTimers()
    }
  }

  private func isPast(_ instant: ContinuousClock.Instant?) -> Bool {
    instant.map { clock.now >= $0 } ?? false
  }

  /// Waits for the next thing to happen, and acts on it.
  private mutating func wait() {
    let isListening = isInputOpen && server.exitStatus == nil && client == nil
    let isReading = isListening && !server.isFull
    var polls = [
      // Also while nothing is read: to notice the client's end.
      pollfd(
        fd: isReading || isListening && !hasInputHungUp ? STDIN_FILENO : -1,
        events: isReading ? Int16(POLLIN) : 0, revents: 0),
      // A reader that goes away is noticed also while there is nothing to write.
      pollfd(
        fd: isOutputOpen && client == nil ? STDOUT_FILENO : -1,
        events: server.outbox.isEmpty ? 0 : Int16(POLLOUT), revents: 0),
      pollfd(fd: server.store?.watchDescriptor ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: server.store?.wakeDescriptor ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: server.presenceDescriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    for (id, link) in links {
      polls += link.polls(isSending: server.exchanges[id]?.outbox.isEmpty == false)
    }
    let hasWork = server.hasWork
    let count = poll(&polls, nfds_t(polls.count), hasWork ? 0 : milliseconds())
    if hasWork, count == 0 || isPast(workDue) {
      server.work()
      returnMemory()
      workDue =
        clock.now
        + (server.store?.isWorkUrgent == true ? Self.urgentWorkInterval : Self.workInterval)
    }
    if count <= 0 { return }
    if polls[3].revents != 0 { server.diskCaughtUp() }
    if polls[2].revents != 0 { server.folderChanged() }
    if polls[4].revents != 0 { server.presenceChanged() }
    if polls[1].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { outputFailed() }
    if isReading {
      if polls[0].revents != 0 { read() }
    } else if polls[0].revents & Int16(POLLHUP) != 0 {
      hasInputHungUp = true
    }
  }

  /// `malloc_trim` of glibc, which its module does not have; nil elsewhere.
  private static let trimMemory = dlsym(nil, "malloc_trim").map {
    unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
  }

  /// Gives back what became free when there is much of it. The allocator keeps what lies between what is in use, which would be
  /// all there ever was.
  private mutating func returnMemory() {
    guard let released = server.store?.released, released - lastReleased > Self.muchMemory else {
      return
    }
    lastReleased = released
    _ = Self.trimMemory?(0)
  }

  /// How long to wait at most.
  private func milliseconds() -> Int32 {
    var next = min(rescanDue, parentDue)
    for due in [syncDue, refusalDue, sealDue, presenceDue, peersDue, leaveDue] {
      if let due { next = min(next, due) }
    }
    for id in server.exchanges.keys { next = min(next, links[id]?.due ?? clock.now) }
    let rest = (next - clock.now).components
    return Int32(
      clamping: max(0, rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000 + 1))
  }

  private mutating func handleTimers() {
    server.proceed()
    let now = clock.now
    if server.store?.isDurable == false {
      let isRetry = server.store?.doubt != nil
      let due = syncDue ?? now + (isRetry ? retryDelay : Self.syncDelay)
      syncDue = due
      if now >= due {
        server.store?.requestSync(isRetry: isRetry)
        syncDue = nil
        if isRetry { retryDelay = min(retryDelay * 2, Self.retryDelays.last) }
      }
    } else {
      syncDue = nil
      retryDelay = Self.retryDelays.first
    }
    if server.isRefused {
      let due = refusalDue ?? now + Self.refusalInterval
      refusalDue = due
      if now >= due {
        server.tryAgain()
        refusalDue = nil
      }
    } else {
      refusalDue = nil
    }
    sealDue = server.store?.sealIfDue(at: now)
    presenceDue = server.sharePresence(at: now)
    converse()
    // Behind what has just ended, because the next exchange with that peer is due after an interval.
    peersDue = server.syncIfDue(at: now)
    if now >= rescanDue {
      server.folderChanged(lookingEverywhere: true)
      // Where the disk is far away, looking may take long: no more than a twentieth of the time goes to it.
      let end = clock.now
      let mustPoll = server.store?.mustPoll == true
      rescanDue = end + (mustPoll ? max(Self.pollInterval, (end - now) * 20) : Self.rescanInterval)
    }
    if now >= parentDue {
      parentDue = now + Self.parentInterval
      if let parent = server.parentProcess, kill(pid_t(parent), 0) == -1, errno == ESRCH {
        server.inputEnded()
      }
    }
  }

  /// Carries what the server and its peers say to each other.
  private mutating func converse() {
    // Ended here, or cancelled: the link's end is that of its process.
    for id in links.keys where server.exchanges[id] == nil { links[id] = nil }
    for id in server.exchanges.keys.sorted() {
      let link = links[id] ?? makeLink(server.exchanges[id]!.peer, server.store!.path)
      links[id] = link
      var events: [PeerLink.Event] = []
      let isOver = server.exchanges[id]!.isOver
      link.proceed(&server.exchanges[id]!.outbox, isOver: isOver) { events.append($0) }
      for event in events {
        switch event {
        case .received(let bytes): server.receive(bytes, fromPeer: id)
        case .ended(let failure): server.peerEnded(id, failure: failure)
        }
      }
    }
  }

  private mutating func read() {
    let count = buffer.withUnsafeMutableBytes { Self.read(into: $0) }
    if count > 0 {
      server.receive(buffer[..<count])
    } else if count == 0 || ![EINTR, EAGAIN].contains(errno) {
      isInputOpen = false
      server.inputEnded()
    }
  }

  private static func read(into bytes: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.read(STDIN_FILENO, bytes.baseAddress, bytes.count)
    #else
      Darwin.read(STDIN_FILENO, bytes.baseAddress, bytes.count)
    #endif
  }

  /// Writes what the pipe takes now.
  private mutating func flush() {
    if let client {
      client.take(server.outbox.unsent)
      server.outbox.removeFirst(server.outbox.count)
      if client.isDone, isInputOpen {
        isInputOpen = false
        server.inputEnded()
      }
    }
    while isOutputOpen, !server.outbox.isEmpty {
      let count = server.outbox.unsent.withUnsafeBytes {
        write(STDOUT_FILENO, $0.baseAddress, $0.count)
      }
      if count > 0 {
        server.outbox.removeFirst(count)
      } else if errno == EINTR {
        continue
      } else if errno == EAGAIN {
        return
      } else {
        outputFailed()
      }
    }
  }

  /// Nothing can be said to the client any more: what it has asked for is done, and then we leave.
  private mutating func outputFailed() {
    isOutputOpen = false
    server.outputFailed()
    server.inputEnded()
  }
}
