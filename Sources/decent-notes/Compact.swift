internal import NoteStore
internal import Notes
internal import NotesServer
internal import ReplicatingTypes

/// Folds the complete files in a notebook's folder into a snapshot, removes those that were folded a day ago, and reports
/// what was done.
struct Compact {
  /// The lines of the report.
  let lines: [String]

  /// - Parameters:
  ///   - check: the command line that says what is damaged.
  ///   - isDue: true to fold only if there is enough to fold, as any process that writes does by itself.
  ///   - isPurging: true to remove at once what has words of notes that were purged.
  ///   - makeIdentifier: makes random identifiers.
  init(
    folder: String, stateFolder: String?, checking check: String, isDue: Bool, isPurging: Bool,
    makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    let store = try NoteStore(
      path: folder, state: stateFolder, keys: .links, makeIdentifier: makeIdentifier)
    reportGaps(of: store)
    guard store.identity != nil else {
      lines = ["\(folder): there is no notebook"]
      return
    }
    store.completeAbandoned()
    let result = try store.compact(isForced: !isDue, isPurging: isPurging)
    store.keep { true }
    var lines: [String] = []
    if result.writtenBytes > 0 {
      let snapshots =
        result.foldedSnapshots == 0 ? "" : " and \(count(result.foldedSnapshots, "snapshot"))"
      lines.append(
        "folded \(count(result.foldedFiles, "log file"))\(snapshots), \(result.foldedBytes) bytes,"
          + " into \(isDue ? "a" : "one") snapshot of \(result.writtenBytes) bytes")
    } else {
      lines.append("there is nothing to fold")
    }
    if result.removedFiles > 0 {
      lines.append(
        "removed \(count(result.removedFiles, "file")), \(result.removedBytes) bytes,"
          + (isPurging
            ? " with words of notes that were purged" : " for which a snapshot has stood for a day")
      )
    }
    for path in result.refused { lines.append("\(path) stays: this user may not remove it") }
    if isPurging {
      lines += Self.report(of: result, copies: store.removeCopies(), check)
      self.lines = lines
      return
    }
    let waiting = result.waitingFiles + result.foldedFiles + result.foldedSnapshots
    if waiting > 0 {
      lines.append(
        "\(count(waiting, "file")) can be removed when their snapshot is a day old: by any program"
          + " that works in the notebook then, or by this command")
    }
    self.lines = lines
  }

  /// The lines about words of notes that were purged: where they are left.
  private static func report(
    of result: Compaction.Result, copies: Int, _ check: String
  ) -> [String] {
    var lines: [String] = []
    if copies > 0 {
      lines.append(
        "removed \(count(copies, "copy", "copies")) of damaged files, made by check --repair")
    }
    for path in result.unfoldable {
      lines.append(
        "\(path) may have words of notes that were purged, and can't be folded now: a program is"
          + " writing it, this user may not read it, files before it are missing, or it has a name of another program"
      )
    }
    if result.waitingWords > 0 {
      lines.append(
        "\(count(result.waitingWords, "file")) with words of notes that were purged can't be folded"
          + " now: `\(check)` says more")
    }
    lines.append(
      "not reached: machines that are away, until they have exchanged changes; mirrors of remote"
        + " folders, until the next exchanges; git, backups, and files that were damaged")
    return lines
  }
}

/// Tells the user what a notebook lacks.
func reportGaps(of store: NoteStore) {
  for gap in store.gaps { printError("\(gap.path), byte \(gap.offset): \(gap.description)") }
}

/// A number of things.
func count(_ count: Int, _ thing: String, _ things: String? = nil) -> String {
  count == 1 ? "1 \(thing)" : "\(count) \(things ?? thing + "s")"
}
