// Waiting: the only place where tests sleep. A wait looks until what it waits for is there, and has a deadline.

package import Foundation

/// The longest that anything may take, in seconds, unless a test says otherwise: far more than it ever takes, for machines that do
/// much else.
package let patience: TimeInterval = 60

/// An expectation that was not met, in words.
package struct Failure: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}

/// The end of a wait, by a clock that does not jump.
package struct Deadline: Sendable {
  private let end: ContinuousClock.Instant

  package init(in seconds: TimeInterval = patience) { end = .now + .seconds(seconds) }

  package var isOver: Bool { .now >= end }

  /// The seconds that are left, 0 at least.
  package var rest: TimeInterval { max(0, (end - .now) / .seconds(1)) }

  /// The same for `poll`, rounded up.
  package var milliseconds: Int32 { Int32((rest * 1000).rounded(.up)) }
}

/// Blocks the thread, for tests in which time itself has to pass. No test may rely on anything being done by then.
package func pause(_ seconds: TimeInterval) { usleep(UInt32(seconds * 1_000_000)) }

/// Looks until `look` finds something, and returns that.
///
/// - Throws: errors of `look`; at the deadline a `Failure` with `complaint`.
package func waitFor<Found>(
  _ complaint: @autoclosure () throws -> String, within seconds: TimeInterval = patience,
  every pauses: TimeInterval = 0.005, _ look: () throws -> Found?
) throws -> Found {
  let deadline = Deadline(in: seconds)
  while true {
    if let found = try look() { return found }
    guard !deadline.isOver else { throw Failure("not within \(seconds) s: \(try complaint())") }
    pause(pauses)
  }
}

/// Looks until something is so; otherwise as `waitFor`.
package func waitUntil(
  _ complaint: @autoclosure () throws -> String, within seconds: TimeInterval = patience,
  every pauses: TimeInterval = 0.005, _ isSo: () throws -> Bool
) throws {
  _ = try waitFor(try complaint(), within: seconds, every: pauses) { try isSo() ? true : nil }
}

/// Waits until one of `descriptors` has something to read, or the time is over; returns whether one has.
@discardableResult
package func awaitInput(_ descriptors: [Int32], milliseconds: Int32) -> Bool {
  var polls = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
  return poll(&polls, nfds_t(polls.count), milliseconds) > 0
}
