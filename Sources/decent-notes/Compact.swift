internal import NoteStore
internal import ReplicatingTypes

/// Folds the complete files in a notebook's folder into a snapshot, removes those that were folded a day ago, and reports
/// what was done.
struct Compact {
  /// The lines of the report.
  let lines: [String]

  /// - Parameters:
  ///   - isDue: true to fold only if there is enough to fold, as any process that writes does by itself.
  ///   - makeIdentifier: makes random identifiers.
  init(
    folder: String, stateFolder: String?, isDue: Bool, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    let store = try NoteStore(path: folder, state: stateFolder, makeIdentifier: makeIdentifier)
    guard store.identity != nil else {
      lines = ["\(folder): there is no notebook"]
      return
    }
    store.completeAbandoned()
    let result = try store.compact(isForced: !isDue)
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
          + " for which a snapshot has stood for a day")
    }
    let waiting = result.waitingFiles + result.foldedFiles + result.foldedSnapshots
    if waiting > 0 {
      lines.append(
        "\(count(waiting, "file")) can be removed when their snapshot is a day old: by any program"
          + " that works in the notebook then, or by this command")
    }
    self.lines = lines
  }
}

private func count(_ count: Int, _ thing: String) -> String {
  count == 1 ? "1 \(thing)" : "\(count) \(thing)s"
}
