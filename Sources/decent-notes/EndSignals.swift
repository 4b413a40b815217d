// The signals that ask the process to end: SIGTERM, SIGHUP (the terminal or the connection is gone) and SIGINT. What was begun is then
// ended in order, as at the end of the input: a session is complete in its folder, so that it is copied by programs that
// leave out what is still written. The next such signal ends the process at once.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The end of the pipe into which the handler writes, which can be given no context.
nonisolated(unsafe) private var writingEnd: Int32 = -1

/// What becomes readable when such a signal has come, for who waits for something else than the event loop; −1 while none are taken.
nonisolated(unsafe) private(set) var endSignalDescriptor: Int32 = -1

/// Takes the signals that ask the process to end, and tells them through a descriptor.
struct EndSignals: ~Copyable {
  private static let names = [SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGINT: "SIGINT"]

  /// Readable when a signal has come; −1 where there is no pipe, and each signal ends the process at once.
  let descriptor: Int32
  /// The signals that are taken.
  private var taken: [Int32] = []

  /// Takes them from now on, but those that are ignored, as by `nohup`.
  init() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      descriptor = -1
      return
    }
    for (index, end) in ends.enumerated() {
      // The pipe must not get the number of a standard stream that was closed.
      ends[index] = fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      close(end)
      _ = fcntl(ends[index], F_SETFL, O_NONBLOCK)
    }
    guard ends.allSatisfy({ $0 >= 0 }) else {
      descriptor = -1
      return
    }
    descriptor = ends[0]
    (endSignalDescriptor, writingEnd) = (ends[0], ends[1])
    for number in Self.names.keys {
      var old = sigaction()
      guard sigaction(number, nil, &old) == 0, !Self.isIgnored(old) else { continue }
      var action = sigaction()
      let handler: @convention(c) (Int32) -> Void = { number in
        let error = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(writingEnd, &byte, 1)
        errno = error
      }
      #if canImport(Glibc)
        action.__sigaction_handler.sa_handler = handler
      #else
        action.__sigaction_u.__sa_handler = handler
      #endif
      // A call in progress goes on. The second signal finds nobody who waits for it.
      action.sa_flags =
        Int32(truncatingIfNeeded: SA_RESTART) | Int32(bitPattern: UInt32(SA_RESETHAND))
      sigaction(number, &action, nil)
      taken.append(number)
    }
  }

  /// From now on each signal ends the process at once.
  deinit {
    for number in taken { signal(number, SIG_DFL) }
    if descriptor < 0 { return }
    close(descriptor)
    close(writingEnd)
    (endSignalDescriptor, writingEnd) = (-1, -1)
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Glibc)
      unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        == unsafeBitCast(SIG_IGN, to: Int.self)
    #else
      unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
        == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
  }

  /// The signal that has come; nil for none.
  func take() -> Int32? {
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
  }

  /// The name of one of these signals.
  static func name(_ number: Int32) -> String { names[number]! }

  /// True if a signal has come that was not taken.
  static var isAnyWaiting: Bool {
    var descriptor = pollfd(fd: endSignalDescriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) == 1
  }

  /// Ends the process by a signal, as if it had never been taken: whoever started the process is to see what has ended it.
  static func die(by number: Int32) -> Never {
    signal(number, SIG_DFL)
    raise(number)
    exit(128 + number)
  }
}
