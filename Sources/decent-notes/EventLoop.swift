internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The one place that waits: for bytes from the client, for room in the pipe to it, for its peers, for the descriptors and deadlines of
/// the server. It polls, reads, writes and calls; what is to be done when is the server's business.
///
/// Standard output is polled like everything else. A client may write thousands of requests before it reads the first
/// reply; a write that waited for it would then wait for ever, each side for the other.
struct EventLoop: ~Copyable {
  private var server: NotesServer
  /// The client in this process; nil if the client is at the other ends of standard input and output.
  private let client: LocalClient?
  /// The translator between standard input and output and the server, for an agent; nil for a client of this protocol.
  private let gateway: AgentGateway?
  /// The time at which the server is told that nothing more comes from the gateway, even if the gateway still waits for answers; nil while its input goes on.
  private var gatewayEnd: ContinuousClock.Instant?
  /// The time at which the process ends, even if the agent has not read all of the gateway's output.
  private var farewell: ContinuousClock.Instant?
  /// True once the server was told that nothing more comes from the gateway.
  private var isGatewayOver = false
  /// The ways to the peers, by exchange.
  private var links: [Int: PeerLink] = [:]
  private let makeLink: (_ peer: String, _ folder: String) -> PeerLink
  private var buffer = [UInt8](repeating: 0, count: 1 << 17)
  private var polls: [pollfd] = []
  private var busyWaiting = BusyWaiting()
  /// True if something was written to the client since the loop looked for its next message.
  private var hasAnswered = false
  /// The time that the server was told last.
  private var told: ContinuousClock.Instant?
  /// The number of times that the client's next messages were read since then.
  private var readsAhead = 0
  private var isInputOpen = true
  private var isOutputOpen = true
  /// The client has closed its end of our input; there may still be something in the pipe.
  private var hasInputHungUp = false
  private let signals = EndSignals()
  /// Opened while peers are away that a link is to come back to.
  private var network: NetworkWatch?
  /// The signal that ended the process.
  private(set) var signal: Int32?
  /// Reads the clock.
  private let now: () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - gateway: the translator between standard input and output and the server, for an agent. There is no client then.
  ///   - now: reads the clock.
  ///   - makeLink: the way to a peer from the notebook in a folder.
  init(
    _ server: consuming NotesServer, for client: LocalClient? = nil,
    through gateway: AgentGateway? = nil,
    now: @escaping () -> ContinuousClock.Instant,
    makeLink: @escaping (_ peer: String, _ folder: String) -> PeerLink
  ) {
    self.server = server
    self.client = client
    self.gateway = gateway
    self.now = now
    self.makeLink = makeLink
  }

  /// Serves until the client has left, or a signal has come; returns the exit status.
  mutating func run() -> Int32 {
    let flags = fcntl(STDOUT_FILENO, F_GETFL)
    // A terminal is shared with the shell, which would find it changed. And a local client writes there as it likes.
    let isShared = client != nil || isatty(STDOUT_FILENO) == 1
    if !isShared { _ = fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) }
    defer { if !isShared { _ = fcntl(STDOUT_FILENO, F_SETFL, flags) } }
    return run(until: { false })!
  }

  /// Serves until something is so, which is found out each time that the client in this process has what was said to it; or until the
  /// client has left, or a signal has come. It can be called again after the former.
  ///
  /// - Returns: the exit status; nil if it is so.
  mutating func run(until isSo: () -> Bool) -> Int32? {
    flush()
    advance()
    while true {
      flush()
      tendGateway()
      if let status = server.exitStatus, hasGivenOut {
        server.keep(now: now, inHaste: signal != nil) { EndSignals.isAnyWaiting }
        return status
      }
      if isSo() { return nil }
      var isIdle = false
      if !readAhead() {
        // Changes that were read ahead have happened since the server was told the time.
        isIdle = wait() && readsAhead == 0
      } else if server.isOnlyTyping {
        continue
      }
      // Before the rest, which may take a moment.
      flush()
      carryExchanges()
      advance(isIdle: isIdle)
    }
  }

  private mutating func advance(isIdle: Bool = false) {
    let time = now()
    server.advance(to: time, isIdle: isIdle)
    (told, readsAhead) = (time, 0)
  }

  /// Looks whether a signal has come that the loop has not waited for: `signal` tells.
  mutating func noticeSignal() { signal = signal ?? signals.take() }

  /// Ends the input of the client in this process: it posts nothing more.
  mutating func hangUp() { endInput() }

  /// Notes that no more is read.
  private mutating func endInput() {
    isInputOpen = false
    guard let gateway else { return server.inputEnded() }
    gateway.inputEnded()
    endGateway(in: Self.answeringTime)
  }

  // MARK: - The gateway

  /// The time that the gateway has for answers after its input has ended. What takes longer is given up as the server gives it up.
  private static let answeringTime = Duration.milliseconds(300)
  /// The time in which it takes what is in its input, after the client has closed its end of that.
  private static let takingTime = Duration.seconds(1)
  /// The time that the client has to read the rest. With what the server may take it is less than two seconds.
  private static let readingTime = Duration.milliseconds(1700)

  private mutating func endGateway(in time: Duration) {
    gatewayEnd = min(gatewayEnd ?? now() + time, now() + time)
    farewell = farewell ?? now() + Self.readingTime
  }

  /// Tells the gateway the time, and leaves when it needs the server no more.
  private mutating func tendGateway() {
    guard let gateway else { return }
    gateway.advance(to: now())
    flush()
    if isGatewayOver { return }
    let isLate = gatewayEnd.map { now() >= $0 } ?? false
    guard gateway.isDone || isLate || !isOutputOpen else { return }
    if isInputOpen { endInput() }
    isGatewayOver = true
    server.inputEnded()
    flush()
  }

  /// True if all that the gateway had to say was read, or will not be.
  private var hasGivenOut: Bool {
    guard let gateway, isOutputOpen, !gateway.outbox.isEmpty else { return true }
    return farewell.map { now() >= $0 } ?? true
  }

  /// The time at which the gateway needs `tendGateway`; nil for never.
  private var gatewayDue: ContinuousClock.Instant? {
    guard let gateway else { return nil }
    if !isGatewayOver { return [gateway.due, gatewayEnd].compactMap { $0 }.min() }
    return server.exitStatus == nil ? nil : farewell
  }

  // MARK: - Waiting

  /// Waits for the next thing to happen, and hands it to the server; returns whether nothing has happened.
  private mutating func wait() -> Bool {
    let isListening = isInputOpen && client == nil && !server.isOver
    let isReading = isListening && !(gateway?.isFull ?? server.isFull)
    polls.removeAll(keepingCapacity: true)
    // Also while nothing is read: to notice the client's end.
    let isInputPolled = isReading || isListening && !hasInputHungUp
    polls.append(
      pollfd(
        fd: isInputPolled ? STDIN_FILENO : -1, events: isReading ? Int16(POLLIN) : 0, revents: 0))
    // A reader that goes away is noticed also while there is nothing to write.
    polls.append(
      pollfd(
        fd: isOutputOpen && client == nil ? STDOUT_FILENO : -1,
        events: gateway?.outbox.isEmpty ?? !server.hasOutput ? 0 : Int16(POLLOUT), revents: 0))
    polls.append(pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0))
    let descriptors = server.descriptors
    for (_, number) in descriptors {
      polls.append(pollfd(fd: number, events: Int16(POLLIN), revents: 0))
    }
    for (id, link) in links {
      polls += link.polls(isSending: server.exchanges[id]?.outbox.isEmpty == false)
    }
    watchNetwork()
    polls.append(pollfd(fd: network?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
    let count = pollAll()
    guard count > 0 else { return count == 0 }
    if polls[2].revents != 0, let number = signals.take() {
      signal = number
      // A local client is the user's command, which has got the signal of its user.
      if client == nil { server.tellEnd(because: "\(EndSignals.name(number)) has come") }
      endInput()
    }
    for (index, (source, _)) in descriptors.enumerated() where polls[3 + index].revents != 0 {
      server.handleReady(source)
    }
    if polls[polls.count - 1].revents != 0 {
      network?.drain()
      server.networkChanged()
    }
    if polls[1].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { outputFailed() }
    if isReading, isInputOpen {
      if polls[0].revents != 0 { read() }
    } else if polls[0].revents & Int16(POLLHUP) != 0 {
      hasInputHungUp = true
      if gateway == nil { server.inputHungUp() } else { endGateway(in: Self.takingTime) }
    }
    return false
  }

  /// Waits until one of `polls` is ready, or something is due; returns what `poll` returns.
  private mutating func pollAll() -> Int32 {
    let limit = milliseconds()
    defer { hasAnswered = false }
    if hasAnswered, limit != 0 {
      var waiting = busyWaiting
      let count = waiting.look(now) { poll(&polls, nfds_t(polls.count), 0) }
      busyWaiting = waiting
      if count != 0 { return count }
    }
    return poll(&polls, nfds_t(polls.count), limit)
  }

  /// The time for which changes are read ahead of everything else, and how often at most: a clock may stand still.
  private static let longestAhead = Duration.milliseconds(1)
  private static let mostAhead = 64

  /// Reads what the client sends next, if it comes at once; returns whether it has come.
  ///
  /// Deadlines and other descriptors wait for that, which take a tenth of the time of a change. So it is called when the server was told the time and nothing
  /// has happened since, or nothing but changes of texts: those make nothing due within a millisecond.
  private mutating func readAhead() -> Bool {
    guard hasAnswered, isInputOpen, client == nil, gateway == nil, !server.isOver, !server.isFull,
      let told, readsAhead < Self.mostAhead, now() < told + Self.longestAhead
    else { return false }
    hasAnswered = false
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    var count = poll(&input, 1, 0)
    if count == 0, !server.isWorking { count = busyWaiting.look(now) { poll(&input, 1, 0) } }
    guard count > 0, input.revents & Int16(POLLIN) != 0 else { return false }
    readsAhead += 1
    read()
    return true
  }

  private mutating func watchNetwork() {
    guard server.awaitsNetwork else {
      network = nil
      return
    }
    if network == nil { network = NetworkWatch() }
  }

  /// The time to wait at most; -1 for as long as it takes.
  private func milliseconds() -> Int32 {
    var next = server.nextDeadline
    for id in server.exchanges.keys {
      // A new exchange needs a way to its peer at once.
      guard let due = links[id]?.due else { return 0 }
      next = min(next ?? due, due)
    }
    if let due = gatewayDue { next = min(next ?? due, due) }
    guard let next else { return -1 }
    let rest = next - now()
    if rest <= .zero { return 0 }
    // Not too early: the server would be told the time for nothing.
    let (seconds, attoseconds) = rest.components
    return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }

  /// Carries the bytes between the server and its peers.
  private mutating func carryExchanges() {
    // An exchange that has ended here takes the peer's process with it.
    for id in links.keys where server.exchanges[id] == nil { links[id] = nil }
    for id in server.exchanges.keys.sorted() {
      let link = links[id] ?? makeLink(server.exchanges[id]!.peer, server.notebookPath!)
      links[id] = link
      var events: [PeerLink.Event] = []
      let isOver = server.exchanges[id]!.isOver
      let (isStanding, progress) = (
        server.exchanges[id]!.isStanding, server.exchanges[id]!.progress
      )
      link.proceed(
        &server.exchanges[id]!.outbox, isOver: isOver, isStanding: isStanding, progress: progress
      ) { events.append($0) }
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
      if let gateway { gateway.receive(buffer[..<count]) } else { server.receive(buffer[..<count]) }
    } else if count == 0 || ![EINTR, EAGAIN].contains(errno) {
      endInput()
    }
  }

  private static func read(into bytes: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.read(STDIN_FILENO, bytes.baseAddress, bytes.count)
    #else
      Darwin.read(STDIN_FILENO, bytes.baseAddress, bytes.count)
    #endif
  }

  /// Writes what the pipe takes now. Between the server and a client in this process, or a gateway, goes all that they have to say.
  private mutating func flush() {
    while let client {
      let posted = client.takeUnsent()
      if !posted.isEmpty { server.receive(posted[...]) }
      if !server.hasOutput { break }
      client.take(server.outbox.unsent)
      server.outbox.removeFirst(server.outbox.count)
      if client.isDone, isInputOpen { hangUp() }
    }
    guard let gateway else {
      while isOutputOpen, server.hasOutput, let count = writeOut(server.outbox.unsent) {
        server.outbox.removeFirst(count)
      }
      return
    }
    exchange(gateway)
    while isOutputOpen, !gateway.outbox.isEmpty, let count = writeOut(gateway.outbox.unsent) {
      gateway.didSend(count)
      // There may be room for what it holds back.
      exchange(gateway)
    }
  }

  private mutating func exchange(_ gateway: AgentGateway) {
    while true {
      let posted = gateway.takeRequests()
      if !posted.isEmpty { server.receive(posted[...]) }
      if !server.hasOutput { break }
      gateway.take(server.outbox.unsent)
      server.outbox.removeFirst(server.outbox.count)
    }
  }

  /// Writes as many bytes as the pipe takes now; returns how many, nil if it takes none.
  private mutating func writeOut(_ bytes: ArraySlice<UInt8>) -> Int? {
    while true {
      let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count > 0 {
        hasAnswered = true
        return count
      }
      if errno == EINTR { continue }
      if errno != EAGAIN { outputFailed() }
      return nil
    }
  }

  private mutating func outputFailed() {
    isOutputOpen = false
    gateway?.outputFailed()
    server.outputFailed()
  }
}

/// Decides when the event loop looks for the next message again and again for a while, before it sleeps.
///
/// A program that sends one request after the other sends the next one some microseconds after the answer. To fall asleep and to be woken by another
/// processor takes longer than that: on a virtual machine with two processors a change took 59 µs, and 33 where the loop did not sleep. So it
/// looks again after an answer. That is in vain where a user types, or where the system lets both processes run on one processor. So each time in vain
/// doubles the number of answers after which it is not tried, up to 1,024; one success sets it to zero.
struct BusyWaiting {
  /// The time for which it looks, and how often at most: a clock may stand still.
  private static let longest = Duration.microseconds(50)
  private static let mostLooks = 1000
  private static let mostSkipped = 1024

  /// The number of answers after which it is not tried, and how many of them there were.
  private var skipping = 0
  private var skipped = 0

  /// Looks again and again after an answer, if that is of use; returns what the last look did: 0 if nothing was found, or if it was not tried.
  ///
  /// - Parameters:
  ///   - now: reads the clock.
  ///   - look: polls without waiting, and returns what `poll` does.
  mutating func look(_ now: () -> ContinuousClock.Instant, _ look: () -> Int32) -> Int32 {
    guard isDue() else { return 0 }
    let end = now() + Self.longest
    var (count, looks): (Int32, Int) = (0, 0)
    repeat {
      count = look()
      looks += 1
    } while count == 0 && looks < Self.mostLooks && now() < end
    didWait(inVain: count <= 0)
    return count
  }

  /// Notes an answer; returns whether to look again and again for what follows it.
  mutating func isDue() -> Bool {
    guard skipped < skipping else {
      skipped = 0
      return true
    }
    skipped += 1
    return false
  }

  /// Notes whether anything was found in that time.
  mutating func didWait(inVain: Bool) {
    skipping = inVain ? min(max(skipping * 2, 1), Self.mostSkipped) : 0
  }
}
