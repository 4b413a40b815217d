import ReplicatingTypes

@testable import NoteStore
@testable import Notes

/// Which changes stand in the files of a notebook's folder: what `LogFolder` finds out bit by bit, read at once and in the
/// plainest way.
///
/// Only what stands before damage counts. A process may know better.
struct FolderContents {
  /// A log file as far as it is valid.
  struct Log {
    var session: Identifier
    var entries: [LogScan.Entry]

    /// Nil for what is no log.
    init?(_ bytes: [UInt8]) {
      guard var scan = try? LogScan(decoding: bytes[...]) else { return nil }
      var limit = Int.max
      entries = []
      let window = Array(bytes[Int(scan.window)...])
      _ = scan.consume(window, known: LogScan.Known(), limit: &limit, into: &entries)
      session = scan.header.session
    }
  }

  /// Logs that were read before: most files stay as they are.
  final class Cache {
    fileprivate var logs: [[UInt8]: Log?] = [:]
  }

  /// What stands in files behind all earlier records of its session. Others that it follows may be missing.
  private(set) var changes: Set<ChangeID> = []
  /// How many records of each session can be read, from the first one on.
  private(set) var lengths: [Identifier: UInt64] = [:]
  /// Sessions of which files tell two histories.
  private(set) var forks: Set<Identifier> = []

  /// - Parameter files: all of the folder, by their paths in it.
  init(_ files: [String: [UInt8]], _ cache: Cache) {
    var sessions: [Identifier: [UInt64: LogScan.Entry]] = [:]
    for (path, bytes) in files where Self.isRead(path) {
      let log = cache.logs[bytes] ?? Log(bytes)
      cache.logs[bytes] = .some(log)
      guard let log else { continue }
      for entry in log.entries {
        let other = sessions[log.session, default: [:]].updateValue(entry, forKey: entry.number)
        if let other, other != entry { forks.insert(log.session) }
      }
    }
    for (session, entries) in sessions {
      var (record, change): (UInt64, UInt64) = (1, 1)
      while let entry = entries[record] {
        switch NoteStore.RecordType(rawValue: entry.type) {
        case .change:
          changes.insert(ChangeID(replica: session, number: change))
          change += 1
        case .changes:
          guard let set = try? ChangeSet.decode(entry.payload).changes else { break }
          for group in set.groups {
            for number in group.first..<group.end {
              changes.insert(ChangeID(replica: group.replica, number: number))
            }
          }
        case nil: break
        }
        lengths[session] = record
        record += 1
      }
    }
  }

  /// Files in `log` and in folders there, but for those that somebody has not finished.
  private static func isRead(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    return parts.first == "log" && parts.count <= 3
      && !parts.dropFirst().contains { $0.hasPrefix(".") || $0.hasPrefix("~") }
  }
}
