// On other systems there is no watcher, and folders are polled.

#if os(Linux)
  import Glibc

  /// A watcher of Linux.
  final class InotifyWatcher: Watcher {
    let descriptor: Int32
    private(set) var isExhausted = false

    /// Nil when the user has as many watchers as the system allows.
    init?() {
      let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard number >= 0 else { return nil }
      descriptor = number
    }

    deinit {
      SystemCalls.close(descriptor)
    }

    func watch(_ path: String, followingLinks: Bool, contents: Bool) -> Int32? {
      // IN_ATTRIB: what could not be read may be readable now.
      var mask = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
      if contents { mask |= IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE }
      if !followingLinks { mask |= IN_DONT_FOLLOW }
      let watch = inotify_add_watch(descriptor, path, UInt32(mask))
      if watch < 0, errno == ENOSPC || errno == ENOMEM { isExhausted = true }
      return watch < 0 ? nil : watch
    }

    func forget(_ watch: Int32) {
      _ = inotify_rm_watch(descriptor, watch)
    }

    func report() -> WatchReport {
      var events: [WatchEvent] = []
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
              WatchEvent(
                watch: watch, name: String(decoding: bytes, as: UTF8.self),
                gone: mask & gone != 0))
          }
          // The system keeps as many events by default. A program that goes on filling the queue must not keep this loop going.
          if events.count >= 16_384 {
            overflow = true
            break
          }
        }
      }
      return overflow ? .overflow : .events(events)
    }
  }
#endif
