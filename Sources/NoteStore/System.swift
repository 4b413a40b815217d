// The one place for what differs between systems. The branches for other systems than Linux have not
// been run.

#if os(Linux)
  import Glibc
#else
  import Darwin
#endif

/// System calls that have another name, or another meaning, elsewhere.
enum System {
  /// Puts what was written to a file onto the disk. Returns 0 or the error number.
  ///
  /// After an error it must not be called again for the same file: the system has dropped the dirty
  /// pages, and the next call would report success.
  static func synchronize(file number: Int32) -> Int32 {
    #if os(Linux)
      return fdatasync(number) == 0 ? 0 : errno
    #else
      // fsync alone stops at the drive's cache there. Where F_FULLFSYNC is not supported at all, it
      // was not attempted, and fsync is the best there is.
      if fcntl(number, F_FULLFSYNC) == 0 { return 0 }
      guard errno == ENOTSUP || errno == EINVAL else { return errno }
      return fsync(number) == 0 ? 0 : errno
    #endif
  }

  /// Puts the entries of a folder onto the disk. Returns 0 or the error number.
  ///
  /// File systems that cannot do this for a folder say so in several ways; that is no failure.
  static func synchronize(folder number: Int32) -> Int32 {
    guard fsync(number) != 0 else { return 0 }
    switch errno {
    case EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS, EBADF, EACCES, EPERM: return 0
    default: return errno
    }
  }

  /// Gives the file `from` in a folder the name `to`, unless that name is taken.
  ///
  /// Returns 0 or the error number, EEXIST if the name is taken. `from` may or may not remain.
  /// Where the system offers neither hard links nor a rename that spares what is there, two processes
  /// at the same moment can both succeed; then the later one stays.
  static func publish(_ from: String, as to: String, in folder: Int32) -> Int32 {
    if linkat(folder, from, folder, to, 0) == 0 { return 0 }
    let linkError = errno
    switch linkError {
    case EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK, EINVAL: break  // no hard links here
    default: return linkError
    }
    #if os(Linux)
      if faccessat(folder, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0 { return EEXIST }
      return renameat(folder, from, folder, to) == 0 ? 0 : errno
    #else
      return renameatx_np(folder, from, folder, to, UInt32(RENAME_EXCL)) == 0 ? 0 : errno
    #endif
  }

  static func changeTime(_ status: stat) -> timespec {
    #if os(Linux)
      status.st_mtim
    #else
      status.st_mtimespec
    #endif
  }
}

/// Tells when something happens in a folder. A hint only: it is silent on network file systems.
final class Watcher {
  /// Something that happened in the folder watched under the number `watch`.
  struct Event {
    var watch: Int32
    /// The name inside the folder; empty when it is about the folder itself.
    var name: String
    /// The folder itself went away, and the watch with it.
    var gone = false
  }

  /// What a read of the descriptor brought.
  enum Report {
    case events([Event])
    /// Events were lost: anything may have happened.
    case overflow
  }

  private let queue: FileDescriptor

  /// Nil where the system offers none, or no more of them.
  init?() {
    #if os(Linux)
      let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard number >= 0 else { return nil }
      queue = FileDescriptor(owning: number, path: "inotify")
    #else
      return nil
    #endif
  }

  /// Readable when there is something to report.
  var descriptor: Int32 { queue.number }

  /// Watches the folder at `path`; watching it again gives the same number again.
  ///
  /// - Parameter contents: whether to tell of writes to the files in it too, not only of new names.
  /// - Returns: nil when it is no folder, or none is left of the user's watches: see `isExhausted`.
  func watch(_ path: String, followingLinks: Bool, contents: Bool) -> Int32? {
    #if os(Linux)
      var mask = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
      if contents { mask |= IN_MODIFY | IN_CLOSE_WRITE }
      if !followingLinks { mask |= IN_DONT_FOLLOW }
      let watch = inotify_add_watch(queue.number, path, UInt32(mask))
      if watch < 0, errno == ENOSPC || errno == ENOMEM { isExhausted = true }
      return watch < 0 ? nil : watch
    #else
      return nil
    #endif
  }

  /// Whether a watch was refused because the user has too many: the caller has to poll as well.
  private(set) var isExhausted = false

  /// Stops watching.
  func forget(_ watch: Int32) {
    #if os(Linux)
      _ = inotify_rm_watch(queue.number, watch)
    #endif
  }

  /// What happened since the last call; at most some hundred events at a time.
  func report() -> Report {
    var events: [Event] = []
    #if os(Linux)
      var overflow = false
      // Room for one event is 16 bytes and a name of up to 256.
      withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
        while true {
          let count = Glibc.read(queue.number, buffer.baseAddress!, buffer.count)
          guard count > 0 else { break }
          var at = 0
          while at + 16 <= count {
            let watch = buffer.load(fromByteOffset: at, as: Int32.self)
            let mask = buffer.load(fromByteOffset: at + 4, as: UInt32.self)
            let length = Int(buffer.load(fromByteOffset: at + 12, as: UInt32.self))
            guard length <= count - at - 16 else { break }
            let bytes = buffer[(at + 16)..<(at + 16 + length)].prefix { $0 != 0 }
            at += 16 + length
            if mask & UInt32(IN_Q_OVERFLOW) != 0 { overflow = true }
            let gone = UInt32(IN_IGNORED) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
            events.append(
              Event(
                watch: watch, name: String(decoding: bytes, as: UTF8.self),
                gone: mask & gone != 0))
          }
          // The rest can wait: whoever fills the queue must not keep this loop going.
          if events.count >= 1_024 { break }
        }
      }
      if overflow { return .overflow }
    #endif
    return .events(events)
  }
}
