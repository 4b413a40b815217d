internal import NoteStore

/// The files of a mirror that may have been written, and when each is to be read.
struct TouchedFiles {
  /// What is to be known of a file before it is read.
  struct Touch {
    var last: Instant
    /// True if it was closed, or came by getting its name: then its writer is done.
    var isComplete: Bool
    /// When to look at it.
    var due: Instant
    /// Whether it has other bytes than it is known to have; nil until that was looked at.
    var isChanged: Bool?
  }

  private var touches: [FilePath: Touch] = [:]
  /// Those that were due when it was looked last, the next at the end.
  private var ready: [FilePath] = []
  /// No other one is due before.
  private var earliest: Instant?

  var isEmpty: Bool { touches.isEmpty }
  var count: Int { touches.count }
  var paths: Dictionary<FilePath, Touch>.Keys { touches.keys }

  subscript(path: FilePath) -> Touch? { touches[path] }

  /// When something is due; it may be earlier, and is never later. Nil if nothing is there.
  func due(after now: Instant) -> Instant? {
    touches.isEmpty ? nil : ready.isEmpty ? earliest : now
  }

  mutating func insert(_ path: FilePath, _ touch: Touch) {
    touches[path] = touch
    earliest = min(earliest ?? touch.due, touch.due)
  }

  mutating func remove(_ path: FilePath) {
    // Room for very many is given back.
    if touches.removeValue(forKey: path) != nil, touches.isEmpty { self = TouchedFiles() }
  }

  /// Looks at a file no earlier than at a time.
  mutating func wait(_ path: FilePath, until due: Instant) {
    guard var touch = touches[path] else { return }
    touch.due = due
    insert(path, touch)
  }

  /// Notes whether a file has other bytes than it is known to have.
  mutating func mark(_ path: FilePath, isChanged: Bool) { touches[path]?.isChanged = isChanged }

  /// The next that are due: those that are known first, so that the old path of a file that has got another one is known to be gone before
  /// the new one is looked at.
  ///
  /// - Complexity: O(count) for each that is returned at most once while no other one is touched, so it is about one step each.
  mutating func takeDue(
    at now: Instant, atMost most: Int, isKnown: (FilePath) -> Bool
  ) -> [FilePath] {
    if ready.isEmpty, let earliest, now >= earliest {
      var (known, new): ([FilePath], [FilePath]) = ([], [])
      self.earliest = nil
      for (path, touch) in touches {
        if now < touch.due {
          self.earliest = min(self.earliest ?? touch.due, touch.due)
        } else if isKnown(path) {
          known.append(path)
        } else {
          new.append(path)
        }
      }
      ready = new.sorted(by: >) + known.sorted(by: >)
    }
    var taken: [FilePath] = []
    while taken.count < most, let path = ready.popLast() {
      // It may have been touched again meanwhile.
      if let touch = touches[path], now >= touch.due { taken.append(path) }
    }
    return taken
  }
}
