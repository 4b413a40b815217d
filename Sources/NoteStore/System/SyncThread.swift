#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that does nothing but wait for the disk: the queue of `SystemFiles`.
///
/// It shares no memory with its owner. Both sides speak through two pipes: a job is a descriptor to
/// synchronize or to close, an answer is an error number, in the order of the jobs. The owner keeps a
/// descriptor that is to be synchronized open until the answer came.
///
/// Its owner, and the owners of all descriptors that it closes, must be on one thread.
final class SyncThread: SyncQueue, @unchecked Sendable {
  /// A message through the pipe; far smaller than the size that a pipe takes whole.
  private struct Job {
    enum Kind: UInt8 { case file, folder, close }
    var descriptor: Int32
    var kind: Kind
  }

  private let answersOut: Int32
  private let answersIn: Int32
  /// The running thread, and the owner's end of the job pipe. Closing that ends the thread.
  private var running: (thread: pthread_t, jobs: Int32)?
  private var isFinished = false

  /// Makes the pipe for the answers. The thread starts with the first job.
  init(path: String) throws(StoreError) {
    let (out, into) = try Self.pipe(path: path)
    // The owner must never wait for an answer here: it polls `descriptor`.
    _ = fcntl(out, F_SETFL, O_NONBLOCK)
    answersOut = out
    answersIn = into
  }

  deinit {
    finish()
    SystemCalls.close(answersOut)
    SystemCalls.close(answersIn)
  }

  /// Lets the thread finish the jobs it has, and ends it. Descriptors may be closed afterwards.
  func finish() {
    isFinished = true
    guard let running else { return }
    self.running = nil
    SystemCalls.close(running.jobs)
    pthread_join(running.thread, nil)
  }

  var descriptor: Int32 { answersOut }

  /// If no thread can be created, it synchronizes at once; the answer comes the same way.
  func submit(_ descriptor: Int32, isFolder: Bool) {
    if running == nil { start() }
    let job = Job(descriptor: descriptor, kind: isFolder ? .folder : .file)
    if let running, Self.send(job, to: running.jobs) { return }
    if let answer = Self.perform(job) { _ = Self.send(answer, to: answersIn) }
  }

  func close(_ descriptor: Int32) {
    if running == nil, !isFinished { start() }
    let job = Job(descriptor: descriptor, kind: .close)
    if let running, Self.send(job, to: running.jobs) { return }
    _ = Self.perform(job)
  }

  func answer() -> Int32? {
    Self.receive(Int32.self, from: answersOut)
  }

  func wait() {
    var entry = pollfd(fd: answersOut, events: Int16(POLLIN), revents: 0)
    _ = poll(&entry, 1, -1)
  }

  private func start() {
    guard let (out, into) = try? Self.pipe(path: "") else { return }
    // The thread gets its two ends in a block that it frees.
    let ends = UnsafeMutablePointer<(Int32, Int32)>.allocate(capacity: 1)
    ends.initialize(to: (out, answersIn))
    // All signals are blocked in the new thread, so that handlers run on the main thread only.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    #if canImport(Darwin)
      var created: pthread_t?
      let failure = pthread_create(&created, nil, { SyncThread.run($0) }, ends)
    #else
      var created = pthread_t()
      let failure = pthread_create(&created, nil, { SyncThread.run($0!) }, ends)
    #endif
    guard failure == 0 else {
      ends.deallocate()
      SystemCalls.close(out)
      SystemCalls.close(into)
      return
    }
    #if canImport(Darwin)
      running = created.map { ($0, into) }
    #else
      running = (created, into)
    #endif
  }

  private static func run(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let ends = argument.assumingMemoryBound(to: (Int32, Int32).self)
    let (jobs, answers) = ends.pointee
    ends.deallocate()
    while let job = receive(Job.self, from: jobs) {
      if let answer = perform(job) { _ = send(answer, to: answers) }
    }
    SystemCalls.close(jobs)
    return nil
  }

  /// The answer, if there is one.
  private static func perform(_ job: Job) -> Int32? {
    do throws(SystemError) {
      switch job.kind {
      case .file: try SystemCalls.synchronize(file: job.descriptor)
      case .folder: try SystemCalls.synchronize(folder: job.descriptor)
      case .close:
        SystemCalls.close(job.descriptor)
        return nil
      }
      return 0
    } catch { return error.errno }
  }

  private static func pipe(path: String) throws(StoreError) -> (Int32, Int32) {
    var ends: (Int32, Int32) = (-1, -1)
    let failed = withUnsafeMutablePointer(to: &ends) {
      $0.withMemoryRebound(to: Int32.self, capacity: 2) { pointer in
        #if canImport(Darwin)
          Darwin.pipe(pointer) != 0
        #else
          Glibc.pipe(pointer) != 0
        #endif
      }
    }
    guard !failed else { throw StoreError(operation: "pipe", path: path, errno: errno) }
    _ = fcntl(ends.0, F_SETFD, FD_CLOEXEC)
    _ = fcntl(ends.1, F_SETFD, FD_CLOEXEC)
    return ends
  }

  private static func send<Message: BitwiseCopyable>(_ message: Message, to number: Int32) -> Bool {
    withUnsafeBytes(of: message) { bytes in
      while true {
        let count = write(number, bytes.baseAddress!, bytes.count)
        if count >= 0 { return count == bytes.count }
        guard errno == EINTR else { return false }
      }
    }
  }

  /// The next message; nil at the end of the pipe, or when it would have to wait and may not.
  private static func receive<Message: BitwiseCopyable>(
    _ type: Message.Type, from number: Int32
  ) -> Message? {
    withUnsafeTemporaryAllocation(of: Message.self, capacity: 1) { buffer in
      while true {
        let count = read(number, buffer.baseAddress!, MemoryLayout<Message>.size)
        if count == MemoryLayout<Message>.size { return buffer[0] }
        guard count < 0, errno == EINTR else { return nil }
      }
    }
  }
}
