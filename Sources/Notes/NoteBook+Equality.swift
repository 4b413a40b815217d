internal import ReplicatingTypes

extension NoteBook: Equatable {
  /// The same changes, and so the same of everything, in memory or not. What can't be read is not equal. O(all of both).
  public static func == (a: Self, b: Self) -> Bool {
    guard a.version == b.version, a.heads == b.heads, a.purged == b.purged,
      a.noteCache == b.noteCache
    else { return false }
    var (a, b) = (a, b)
    do {
      try a.openOrder()
      try b.openOrder()
      guard a.order == b.order else { return false }
      for replica in a.version.replicas {
        var changes: [ArraySlice<UInt8>] = []
        let all = 1...a.version[replica]
        try a.forEachEncoded(of: replica, in: all) { _, encoded, _ in
          changes.append(encoded)
          return true
        }
        var place = 0
        try b.forEachEncoded(of: replica, in: all) { _, encoded, _ in
          guard place < changes.count, changes[place] == encoded else { return false }
          place += 1
          return true
        }
        guard place == all.upperBound else { return false }
      }
      return true
    } catch {
      return false
    }
  }
}
