internal import Notes
internal import ReplicatingTypes

// The loss that damage means, and its repair, which does not change the damaged files.

extension NoteStore {
  /// The loss that a damaged file means.
  public enum Loss: Equatable, Sendable {
    /// Nothing: its records are known from other files.
    case nothing
    /// Nothing: the damaged bytes follow from the rest of the file.
    case mended
    /// This many records, which are in no file; records behind them wait for them.
    case records(UInt64)
    /// It cannot be told how much there was behind the damage.
    case unknown
  }

  /// The result of a repair.
  public struct Repair: Equatable, Sendable {
    /// The paths of the copies of the damaged files.
    public var copies: [String] = []
    /// True if changes were written that the folder did not hold any more.
    public var isRestored = false
    /// The number of sessions of which changes were known here that are in no file any more: they are not missed from now on.
    public var forgotten = 0
  }

  /// The loss that a damaged file means, one of `damage`; nil if it is no file in `log`.
  public func loss(at path: String) -> Loss? {
    let log = "\(self.path)/log/"
    let key = String(path.dropFirst(log.count))
    guard path.hasPrefix(log), let file = folder.reader.files[key] else { return nil }
    guard let scan = file.scan else { return .unknown }
    let progress = folder.reader.sessions[scan.header.session] ?? SessionProgress()
    let head = progress.head.number
    // Records behind the damage, in this file or in others, tell how many are missing.
    let later = progress.waiting.values.filter { $0 > head }
    if let next = later.min() { return .records(next - head) }
    if file.mended != nil, scan.offset == file.seen?.size { return .mended }
    return head > scan.number && isKnownToItsEnd(file, scan, key) ? .nothing : .unknown
  }

  /// True if all records of a damaged file are known from others, also those that it may have had behind the last that is proven.
  private func isKnownToItsEnd(_ file: LogFile, _ scan: LogScan, _ key: String) -> Bool {
    if scan.headerState == .lost { return false }
    let progress = folder.reader.sessions[scan.header.session] ?? SessionProgress()
    // Snapshots stand for whole segments, and the next segment begins where this one ends.
    if progress.covered > scan.number || progress.firstEnd(after: scan.number) != nil {
      return true
    }
    if let name = LogName.segment(key) {
      return name.names(scan.header.segment, end: progress.head.hash)
    }
    return folder.reader.files.contains { other, copy in
      guard other != key, let read = copy.scan, read.header == scan.header,
        read.offset == copy.seen?.size
      else { return false }
      return LogName.segment(other) != nil || read.offset >= file.seen?.size ?? .max
    }
  }

  /// Removes the copies of damaged files that `repair` has made in the state folder: what is in them can't be looked at, and may be words
  /// of notes that were purged.
  ///
  /// - Returns: the number of copies.
  public func removeCopies() -> Int { stateFolder?.removeQuarantine() ?? 0 }

  /// Copies the damaged files into the state folder, and writes again the changes that are known from an archive and not in
  /// the folder. The damaged files stay where they are.
  ///
  /// - Parameter damage: the reports of a store without a state folder, which has read everything.
  /// - Throws: the error that kept something from being written.
  public func repair(_ damage: [LogFolder.Damage]) throws(StoreError) -> Repair {
    while folder.isVerifying { _ = work() }
    var repair = Repair()
    for damage in damage where damage.path.hasPrefix("\(path)/") {
      if let copy = try stateFolder?.quarantine(damage.path) { repair.copies.append(copy) }
    }
    let known = snapshots.known
    folder.needsRepublish = true
    try sync()
    repair.isRestored = snapshots.known != known
    repair.forgotten = forgetMissing()
    return repair
  }
}
