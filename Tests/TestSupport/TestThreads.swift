// Threads for tests that wait for other processes.
//
// Swift runs tests on one thread for each core. A test that waits for a process blocks the thread it runs on, so on two cores two of
// them stop everything else. Tests marked `.waiting` run on threads of their own, a few at a time, while those that compute
// have the cores. The tests that take longest are marked `.waitingLong`: they begin first, so that none is left alone at the end.
//
// A test that waits has deadlines, and one that computes has none. So the threads that compute give way: they are niced.

import Foundation
package import Testing

/// A few threads that run the tests handed to them in turn; those of one kind before those of the other.
private final class TestThreads: @unchecked Sendable {
  static let shared = TestThreads(count: 8)
  /// For tests with a time limit, whose time runs while they stand in a queue: there are few, and they are short.
  static let timed = TestThreads(count: 2)
  private static let name = "waiting"

  /// Whether this is one of them.
  static var isCurrent: Bool { Thread.current.name == name }

  private let condition = NSCondition()
  /// Guarded by `condition`.
  private var early: [@Sendable () -> Void] = []
  private var late: [@Sendable () -> Void] = []

  init(count: Int) {
    for _ in 1...count {
      let thread = Thread { [unowned self] in self.work() }
      thread.name = Self.name
      thread.stackSize = 8 << 20
      thread.start()
    }
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
package struct WaitingTrait: SuiteTrait, TestTrait, TestScoping {
  private final class Executor: TaskExecutor {
    let threads: TestThreads
    let isEarly: Bool

    init(_ threads: TestThreads, isEarly: Bool) {
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

  private static let early = Executor(.shared, isEarly: true)
  private static let late = Executor(.shared, isEarly: false)
  private static let timed = Executor(.timed, isEarly: true)

  fileprivate let isEarly: Bool

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // Threads inherit how nice they are: these must be there before.
    let waiting = isEarly ? Self.early : Self.late
    let timed = Self.timed
    let executor = test.timeLimit == nil ? waiting : timed
    #if os(Linux)
      // Of this thread alone, one of those that all other tests run on.
      if !TestThreads.isCurrent { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
    #endif
    try await withTaskExecutorPreference(executor) { try await function() }
  }
}

extension Trait where Self == WaitingTrait {
  /// For tests that wait for other processes, or block their thread otherwise.
  package static var waiting: WaitingTrait { WaitingTrait(isEarly: false) }

  /// For those of them that take longest.
  package static var waitingLong: WaitingTrait { WaitingTrait(isEarly: true) }
}
