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
    // Files in settled folders were not looked at, and are there.
    let gone = files.filter { key, file in
      file.look < looks && settled[String(key.prefix { $0 != "/" })] == nil
    }
    for key in gone.keys { files[key] = nil }
    for case let scan? in gone.values.map(\.scan) where !isLacking && !isHeld(scan) {
      isLacking = true
    }
    keepPromises()
  }

  /// Whether some file has the records of a segment at least as far as `scan` had them.
  func isHeld(_ scan: LogScan) -> Bool {
    // Our own file is looked after elsewhere.
    if scan.number == scan.header.recordsBefore || scan.header.session == live?.session {
      return true
    }
    return files.values.contains {
      $0.scan.map { $0.header == scan.header && $0.number >= scan.number } ?? false
    }
  }

  /// Compares what files hold of each session with what they held when the bookmark was made where we went on, unless that
  /// is known from the looks of its folder.
  private mutating func keepPromises() {
    let due = promised.filter { !trusted.contains($0.key) }
    guard !due.isEmpty else { return }
    let reaches = reaches()
    for (session, number) in due {
      if reaches[session] ?? 0 < number { isLacking = true }
      promised[session] = nil
    }
  }

  /// How many records of each session are in files, from the first one on without a gap, as far as they were read.
  func reaches() -> [Identifier: UInt64] {
    var pieces: [Identifier: [(first: UInt64, last: UInt64)]] = [:]
    for case let scan? in files.values.map(\.scan) {
      pieces[scan.header.session, default: []].append((scan.header.recordsBefore, scan.number))
    }
    if let live {
      pieces[live.session, default: []].append((live.header.recordsBefore, live.end.number))
    }
    return pieces.mapValues { pieces in
      var reach: UInt64 = 0
      for (first, last) in pieces.sorted(by: { $0.first < $1.first }) where first <= reach {
        reach = max(reach, last)
      }
      return reach
    }
  }
}
