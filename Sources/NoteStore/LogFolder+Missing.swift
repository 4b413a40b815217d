internal import ReplicatingTypes

// What was in the folder and is not there any more. It is noticed by looks at everything that came everywhere, and only
// ever leads to a closer look: `isLacking`.

extension LogFolder {
  /// Forgets the files that the last look at everything did not find. What was in them and is in no other file, the folder
  /// lacks.
  ///
  /// - Parameter names: what it found in `log`.
  mutating func missWhatIsGone(names: Set<String>) {
    for name in settled.keys where !names.contains(name) { settled[name] = nil }
    // Files in settled folders were not looked at, and are there.
    let gone = files.filter { key, file in
      file.look < looks && settled[String(key.prefix { $0 != "/" })] == nil
    }
    for key in gone.keys { files[key] = nil }
    for case let scan? in gone.values.map(\.scan) where !isLacking && !isHeld(scan) {
      isLacking = true
    }
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
}
