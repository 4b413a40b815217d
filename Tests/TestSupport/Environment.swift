// Properties of the machine and of this run that tests depend on.

import Foundation

/// Whether the long versions of the tests are to run.
package let isLong = ProcessInfo.processInfo.environment["DECENT_NOTES_LONG"] == "1"

/// `short` as a rule, `long` when the long versions run.
package func scaled(_ short: Int, _ long: Int) -> Int { isLong ? long : short }

/// Whether a tool is there.
package func hasTool(_ name: String) -> Bool {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
  return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
}

/// The path of a tool, also of those that are not for everybody.
package func tool(_ name: String) -> String? {
  let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"
  return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}

/// Whether continuous integration runs the tests: what they need has to be there.
package let isContinuousIntegration = ProcessInfo.processInfo.environment["CI"] == "true"

/// Whether the system tells how much memory a process has.
package let tellsMemory = access("/proc/self/status", R_OK) == 0

/// The processor's time that `body` takes on this thread: what else the machine does has no part in it. For telling a linear
/// cost from a quadratic one; how fast something is, a benchmark tells.
package func processorTime(_ body: () throws -> Void) rethrows -> Duration {
  func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
  let start = now()
  try body()
  return now() - start
}
