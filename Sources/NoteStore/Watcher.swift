// inotify: there is nothing like it on other systems, which are polled.

#if os(Linux)
  import Glibc
#endif

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

  /// The descriptor; readable when there is something to report.
  let descriptor: Int32

  /// Nil where the system offers none, or no more of them.
  init?() {
    #if os(Linux)
      let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard number >= 0 else { return nil }
      descriptor = number
    #else
      return nil
    #endif
  }

  deinit {
    SystemFiles.shared.close(descriptor)
  }

  /// Watches the folder at `path`; watching it again gives the same number again.
  ///
  /// - Parameter contents: whether to tell of writes to the files in it too, not only of new names.
  /// - Returns: nil when it is no folder, or none is left of the user's watches: see `isExhausted`.
  func watch(_ path: String, followingLinks: Bool, contents: Bool) -> Int32? {
    #if os(Linux)
      var mask = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
      if contents { mask |= IN_MODIFY | IN_CLOSE_WRITE }
      if !followingLinks { mask |= IN_DONT_FOLLOW }
      let watch = inotify_add_watch(descriptor, path, UInt32(mask))
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
      _ = inotify_rm_watch(descriptor, watch)
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
          let count = Glibc.read(descriptor, buffer.baseAddress!, buffer.count)
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
