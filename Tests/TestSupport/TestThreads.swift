// Threads for tests that wait for other processes.
//
// Swift runs tests on one thread for each core. A test that waits for a process blocks the thread it runs on, so on two cores two of
// them stop everything else. Tests marked `.waiting` run on threads of their own, a few at a time, while those that compute
// have the cores. The tests that take longest are marked `.waitingLong`: they begin first, so that none is left alone at the end.

import Foundation
package import Testing

/// A few threads that run the tests handed to them in turn; those of one kind before those of the other.
private final class TestThreads: @unchecked Sendable {
  static let shared = TestThreads(count: 8)

  private let condition = NSCondition()
  /// Guarded by `condition`.
  private var early: [@Sendable () -> Void] = []
  private var late: [@Sendable () -> Void] = []

  init(count: Int) {
    for number in 1...count {
      let thread = Thread { [unowned self] in self.work() }
      thread.name = "waiting \(number)"
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
    let isEarly: Bool

    init(isEarly: Bool) { self.isEarly = isEarly }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      TestThreads.shared.add(isEarly: isEarly) {
        job.runSynchronously(on: self.asUnownedTaskExecutor())
      }
    }
  }

  private static let early = Executor(isEarly: true)
  private static let late = Executor(isEarly: false)

  fileprivate let isEarly: Bool

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(isEarly ? Self.early : Self.late) { try await function() }
  }
}

extension Trait where Self == WaitingTrait {
  /// For tests that wait for other processes, or block their thread otherwise.
  package static var waiting: WaitingTrait { WaitingTrait(isEarly: false) }

  /// For those of them that take longest.
  package static var waitingLong: WaitingTrait { WaitingTrait(isEarly: true) }
}
