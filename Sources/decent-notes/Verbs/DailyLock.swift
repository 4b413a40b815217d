#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Lets one command after the other look for the note of a day and make it.
///
/// Two locks are held: one of the user, since a notebook that is to be begun has no folder yet, and one of the notebook's folder, for
/// others of a team. Nothing is written into that. Where there is no lock to be had, as on some network file systems, or where a
/// command that has one stands still, it is done without.
struct DailyLock {
  /// The seconds to wait for a lock.
  private static let patience = 10.0
  private static let pause: UInt32 = 2_000

  private var descriptors: [Int32] = []

  /// Waits for the locks.
  init(stateFolder: String?, notebook: String) {
    if let stateFolder {
      let folder = stateFolder + "/decent-notes"
      for path in [stateFolder, folder] { _ = mkdir(path, 0o700) }
      hold(open(folder + "/daily.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
    }
    // Always after the other one: so nobody waits for somebody who waits.
    hold(open(notebook, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
  }

  private mutating func hold(_ descriptor: Int32) {
    if descriptor < 0 { return }
    descriptors.append(descriptor)
    var rest = Self.patience * 1_000_000
    while flock(descriptor, LOCK_EX | LOCK_NB) < 0, errno == EWOULDBLOCK || errno == EINTR, rest > 0
    {
      usleep(Self.pause)
      rest -= Double(Self.pause)
    }
  }

  /// Lets the next command go on.
  func release() {
    for descriptor in descriptors { close(descriptor) }
  }
}
