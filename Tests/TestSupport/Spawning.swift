import Foundation

/// The starting of processes, one after the other.
///
/// A child has the files of this process, with their locks, from its beginning until it runs its program. So whoever closes a file and relies on others'
/// finding it unlocked does that while no process is started.
package enum Spawning {
  private static let lock = NSLock()

  /// Starts a process, or does what must not happen while one is started.
  package static func alone<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }
}
