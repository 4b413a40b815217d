internal import ReplicatingTypes

// What was in the folder and is not there any more. It is noticed by looks at everything that came everywhere, and only
// ever leads to a closer look: `isLacking`.

extension LogFolder {
  /// Forgets the files that the last look at everything did not find. What was in them and is in no other file, the folder
  /// lacks.
  ///
  /// - Parameter names: what it found in `log`.
  mutating func missWhatIsGone(names: Set<String>) {
    for name in settled.keys where !names.contains(name) { unsettle(name) }
    let gone = files.filter { key, file in
      guard file.look < looks else { return false }
      // Files in settled folders were not looked at, and those are there that were when the folder was settled.
      let folder = String(key.prefix { $0 != "/" })
      return file.look < settled[folder]?.look ?? .max
    }
    for key in gone.keys { files[key] = nil }
    for case let scan? in gone.values.map(\.scan) where !isLacking && !isHeld(scan) {
      isLacking = true
    }
    keepPromises()
  }

  /// Whether the folder has the records of a segment at least as far as `scan` had them.
  mutating func isHeld(_ scan: LogScan) -> Bool {
    // Our own file is looked after elsewhere.
    if scan.number == scan.header.recordsBefore || scan.header.session == live?.session {
      return true
    }
    let isInFile = files.values.contains {
      $0.scan.map { $0.header == scan.header && $0.number >= scan.number } ?? false
    }
    return isInFile || isCovered(scan.header.session, scan.header.recordsBefore + 1...scan.number)
  }

  /// Whether snapshots stand for records of a session.
  mutating func isCovered(_ session: Identifier, _ records: ClosedRange<UInt64>) -> Bool {
    coverage().contains(records, of: session)
  }

  /// Compares what the folder holds of sessions with what it held of them, where something speaks against that it does.
  private mutating func keepPromises() {
    if promised.isEmpty { return }
    let promised = promised
    let reaches = reaches { promised[$0] != nil }
    for (session, number) in promised where reaches[session] ?? 0 < number { isLacking = true }
    self.promised = [:]
  }

  /// Takes note of what a closer look has found. It may be gone before the next one here, which then has to miss it, even if none
  /// has seen it before.
  ///
  /// - Parameters:
  ///   - found: how many records of sessions the closer look has found.
  ///   - read: the files in which it has found them.
  /// - Complexity: O(files).
  mutating func expect(_ found: [Identifier: UInt64], in read: [String: LogFile]) {
    var expected = found
    if let live { expected[live.session] = nil }
    for (key, file) in read {
      // It tells the session otherwise than it is known here. No look would ever find it, and each would lead to a closer one.
      guard let scan = file.scan, let here = files[key], here.seen == file.seen, !here.isUnread,
        here.scan?.number ?? 0 < scan.number
      else { continue }
      expected[scan.header.session] = nil
    }
    for (session, number) in expected {
      guard let head = sessions[session]?.head else { continue }
      promised[session] = max(min(number, head.number), promised[session] ?? 0)
    }
  }

  /// How many records of sessions the folder holds, from the first one on without a gap, as far as they were read.
  mutating func reaches(
    of isWanted: (Identifier) -> Bool = { _ in true }
  ) -> [Identifier: UInt64] {
    var pieces = settledPieces(of: isWanted)
    func insert(_ session: Identifier, after first: UInt64, _ last: UInt64) {
      guard first < last, isWanted(session) else { return }
      pieces.insert(first + 1...last, of: session)
    }
    for case let scan? in files.values.map(\.scan) {
      insert(scan.header.session, after: scan.header.recordsBefore, scan.number)
    }
    if let live { insert(live.session, after: live.header.recordsBefore, live.end.number) }
    return pieces.mapValues(\.reach)
  }

  /// The records in snapshots, and in settled folders.
  mutating func settledPieces(
    of isWanted: (Identifier) -> Bool = { _ in true }
  ) -> [Identifier: NumberRanges] {
    var pieces = coverage().filter { isWanted($0.key) }
    for (name, folder) in settled where folder.first < folder.last {
      guard let session = Identifier(name), isWanted(session) else { continue }
      pieces.insert(folder.first + 1...folder.last, of: session)
    }
    return pieces
  }
}
