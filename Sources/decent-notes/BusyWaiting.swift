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
