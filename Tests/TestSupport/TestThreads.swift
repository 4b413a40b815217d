// Threads for tests that wait for other processes, and for tests that compute for long.
//
// Swift runs tests on one thread for each core, and begins all of them there. A test that waits for a process blocks the thread it runs on, so
// on two cores two of them stop everything else. Tests marked `.waiting` run on threads of their own, a few at a time, while those that
// compute have the cores. The tests that take longest are marked `.waitingLong`: they begin first, so that none is left alone at the end.
//
// A test that computes for seconds blocks its thread, too: meanwhile no test that waits begins, and at the end these are left alone.
// So suites of such tests are marked `.computing`, and run on threads of their own, one for each core.
//
// A test that waits has deadlines, and one that computes has none. So the threads that compute give way: they are niced.

import Foundation
package import Testing

/// A few threads that run the tests handed to them in turn; those of one kind before those of the other.
private final class TestThreads: @unchecked Sendable {
  /// For tests that wait.
  static let waiting = TestThreads(count: 4)
  /// For tests with a time limit, whose time runs while they stand in a queue: there are few, and they are short.
  static let timed = TestThreads(count: 2)
  /// For tests that compute.
  static let computing = TestThreads(
    count: ProcessInfo.processInfo.activeProcessorCount, isNice: true)
  private static let name = "tests"

  private let condition = NSCondition()
  /// Guarded by `condition`.
  private var early: [@Sendable () -> Void] = []
  private var late: [@Sendable () -> Void] = []

  init(count: Int, isNice: Bool = false) {
    for _ in 1...count {
      let thread = Thread { [unowned self] in
        if isNice { Self.giveWay() }
        self.work()
      }
      thread.name = Self.name
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  /// Makes the thread give way to those of tests that wait, unless it is one of all these.
  static func otherGivesWay() {
    if Thread.current.name != name { giveWay() }
  }

  private static func giveWay() {
    #if os(Linux)
      // Of this thread alone.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #endif
  }

  func add(isEarly: Bool, _ job: @escaping @Sendable () -> Void) {
    condition.lock()
    if isEarly { early.append(job) } else { late.append(job) }
    condition.signal()
    condition.unlock()
  }

  private func work() {
    while true {
      condition.lock()
      while early.isEmpty, late.isEmpty { condition.wait() }
      let job = early.isEmpty ? late.removeFirst() : early.removeFirst()
      condition.unlock()
      job()
    }
  }
}

/// Runs the tests of a suite, or one test, on threads that may be blocked.
package struct ThreadsTrait: SuiteTrait, TestTrait, TestScoping {
  fileprivate final class Executor: TaskExecutor {
    static let waitingLong = Executor(.waiting, isEarly: true)
    static let waiting = Executor(.waiting, isEarly: false)
    static let timed = Executor(.timed, isEarly: true)
    static let computing = Executor(.computing, isEarly: true)

    private let threads: TestThreads
    private let isEarly: Bool

    private init(_ threads: TestThreads, isEarly: Bool) {
      self.threads = threads
      self.isEarly = isEarly
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      threads.add(isEarly: isEarly) {
        job.runSynchronously(on: self.asUnownedTaskExecutor())
      }
    }
  }

  fileprivate let executor: Executor

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // Threads inherit how nice they are: these must be there before.
    _ = (Executor.waiting, Executor.timed)
    let executor = test.timeLimit == nil ? self.executor : Executor.timed
    // As a rule a test begins on one of the threads on which all others run.
    TestThreads.otherGivesWay()
    try await withTaskExecutorPreference(executor) { try await function() }
  }
}

extension Trait where Self == ThreadsTrait {
  /// For tests that wait for other processes, or block their thread otherwise.
  package static var waiting: ThreadsTrait { ThreadsTrait(executor: .waiting) }

  /// For those of them that take longest.
  package static var waitingLong: ThreadsTrait { ThreadsTrait(executor: .waitingLong) }

  /// For tests that compute for a second or longer.
  package static var computing: ThreadsTrait { ThreadsTrait(executor: .computing) }
}
