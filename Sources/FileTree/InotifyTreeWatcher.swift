#if os(Linux)
  import Glibc

  /// A watcher of Linux.
  final class InotifyTreeWatcher: TreeWatcher {
    let descriptor: Int32
    private let root: String
    private var folders: [Int32: String] = [:]
    private var watches: [String: Int32] = [:]
    /// The events that were taken from the descriptor before a read of the tree's own.
    private var pending = TreeReport()
    /// The reads of the tree's own whose ends were not reported yet, by path.
    private var ownReads: [String: Int] = [:]

    /// Nil when the user has as many watchers as the system allows.
    init?(_ root: String) {
      let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard number >= 0 else { return nil }
      descriptor = number
      self.root = root
    }

    deinit { _ = close(descriptor) }

    func watch(_ folder: String) -> Bool {
      let mask =
        IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO
        | IN_ACCESS | IN_CLOSE_NOWRITE
        | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK
      let path = folder.isEmpty ? root : "\(root)/\(folder)"
      let watch = inotify_add_watch(descriptor, path, UInt32(mask))
      guard watch >= 0 else { return false }
      // A folder that was moved has another path.
      if let old = folders.updateValue(folder, forKey: watch), old != folder { watches[old] = nil }
      watches[folder] = watch
      return true
    }

    func isWatching(_ folder: String) -> Bool { watches[folder] != nil }

    /// Notes that the tree has opened a file and reads it now. Reads of other programs before that stand before it in the queue.
    ///
    /// A read by another program that ends at the same moment, with no event between the two ends, is not told: the system joins equal events.
    func willRead(_ path: String) {
      let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
      guard isWatching(String(folder)) else { return }
      take(&pending)
      ownReads[path, default: 0] += 1
    }

    func report() -> TreeReport {
      defer { pending = TreeReport() }
      take(&pending)
      return pending
    }

    private func take(_ report: inout TreeReport) {
      // Room for one event is 16 bytes and a name of up to 256.
      withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { buffer in
        // A program that goes on filling the queue must not keep this loop going.
        while report.events.count < 65_536 {
          let count = read(descriptor, buffer.baseAddress!, buffer.count)
          guard count > 0 else { return }
          var at = 0
          while at + 16 <= count {
            let watch = buffer.load(fromByteOffset: at, as: Int32.self)
            let mask = buffer.load(fromByteOffset: at + 4, as: UInt32.self)
            let length = Int(buffer.load(fromByteOffset: at + 12, as: UInt32.self))
            guard length <= count - at - 16 else { break }
            let name = buffer[(at + 16)..<(at + 16 + length)].prefix { $0 != 0 }
            at += 16 + length
            take(watch, mask, Array(name), &report)
          }
        }
        report.isIncomplete = true
      }
    }

    private func take(
      _ watch: Int32, _ mask: UInt32, _ name: [UInt8], _ report: inout TreeReport
    ) {
      func has(_ bits: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: bits) != 0 }
      if has(IN_Q_OVERFLOW) {
        report.isIncomplete = true
        ownReads = [:]
      }
      guard let folder = folders[watch] else { return }
      // The whole tree has gone or got another path.
      if folder.isEmpty, has(IN_DELETE_SELF) || has(IN_MOVE_SELF) || has(IN_UNMOUNT) {
        report.isIncomplete = true
      }
      if has(IN_IGNORED) {
        folders[watch] = nil
        if watches[folder] == watch { watches[folder] = nil }
        return
      }
      let isRead = has(IN_ACCESS) || has(IN_CLOSE_NOWRITE)
      // A folder is read by each look into it.
      if isRead, has(IN_ISDIR) { return }
      guard !name.isEmpty, let name = String(validating: name, as: UTF8.self) else { return }
      let path = folder.isEmpty ? name : "\(folder)/\(name)"
      if isRead {
        let event = TreeReport.Event(path, .read)
        guard let own = ownReads[path] else {
          if report.events.last != event { report.events.append(event) }
          return
        }
        if has(IN_CLOSE_NOWRITE) { ownReads[path] = own > 1 ? own - 1 : nil }
        return
      }
      // The end of a read that was going on has another name.
      if has(IN_MOVED_FROM) || has(IN_DELETE) { ownReads[path] = nil }
      let kind: TreeReport.Event.Kind =
        has(IN_ISDIR) ? .folder : has(IN_CLOSE_WRITE) || has(IN_MOVED_TO) ? .complete : .touched
      report.events.append(TreeReport.Event(path, kind))
    }
  }
#endif
