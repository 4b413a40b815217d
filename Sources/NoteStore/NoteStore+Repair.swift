internal import Notes
internal import ReplicatingTypes

// What damage comes to, and what can be done about it without touching what is damaged.

extension NoteStore {
  /// What is missing because of a damaged file.
  public enum Loss: Equatable, Sendable {
    /// Nothing: its records are known from other files.
    case nothing
    /// Nothing: what is damaged follows from the rest of the file.
    case mended
    /// So many records, which are nowhere; records behind them wait for them.
    case records(UInt64)
    /// How much there was behind the damage can't be told.
    case unknown
  }

  /// What was done.
  public struct Repair: Equatable, Sendable {
    /// Where copies of the damaged files are now.
    public var copies: [String] = []
    /// Whether something was written that the folder did not hold any more.
    public var isRestored = false
  }

  /// What is missing because of a damaged file, one of `damage`; nil if it is none of a log.
  public func loss(at path: String) -> Loss? {
    let log = "\(self.path)/log/"
    guard path.hasPrefix(log), let file = folder.files[String(path.dropFirst(log.count))] else {
      return nil
    }
    guard let scan = file.scan else { return .unknown }
    let progress = folder.sessions[scan.header.session] ?? SessionProgress()
    let head = progress.head.number
    // What is behind it, there or in other files, says how far it went.
    let later = progress.waiting.values.filter { $0 > head }
    if let next = later.min() { return .records(next - head) }
    if file.mended != nil, scan.offset == file.seen?.size { return .mended }
    return head > scan.number && scan.headerState != .lost ? .nothing : .unknown
  }

  /// Copies what is damaged into the state folder, and writes again what of the notebook is known and not in the folder, as
  /// far as an earlier run has kept it. What is damaged stays where it is.
  ///
  /// - Parameter damage: what a store without a state has found, which has read everything.
  /// - Throws: what could not be written.
  public func repair(_ damage: [LogFolder.Damage]) throws(StoreError) -> Repair {
    while folder.isVerifying { _ = work() }
    var repair = Repair()
    for damage in damage where damage.path.hasPrefix("\(path)/") {
      if let copy = try stateFolder?.quarantine(damage.path) { repair.copies.append(copy) }
    }
    let known = snapshots.known
    folder.isLacking = true
    try sync()
    repair.isRestored = snapshots.known != known
    return repair
  }
}
