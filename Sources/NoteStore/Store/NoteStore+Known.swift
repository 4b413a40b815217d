internal import Notes
internal import ReplicatingTypes

// What this user's programs have known beyond the archive, so that the next one notices if the folder has become an older one: an archive
// itself holds all that it knows, and what the folder lacks of that is written again.

extension NoteStore {
  /// Reads what was known. Call it when the folder's identity is known.
  func resumeKnown() {
    archiving.known = stateFolder?.manifest().known ?? Version()
  }

  /// Keeps beside the archive what the next run may believe: what is known, and which folders it need not list, if that spares it much. A failure
  /// is none: that run does not notice then what is gone, and lists the folders.
  func keepManifest() {
    guard let stateFolder else { return }
    // Another process may have noted more meanwhile.
    let before = stateFolder.manifest()
    var manifest = before
    if archiving.unkept > 0 || !archiving.known.isEmpty {
      manifest.known.merge(archiving.known)
      manifest.known.merge(notebook.version)
      let archived = notebook.archivedVersion
      for replica in manifest.known.replicas where manifest.known[replica] <= archived[replica] {
        manifest.known[replica] = 0
      }
    }
    if folder.completeFolders.isArchived {
      manifest.folders = []
    } else if hasArchive, let folders = folder.completeFolders.newFolders {
      manifest.folders = folders.map { KeptFolder(name: $0.key, folder: $0.value) }
    }
    if manifest != before { stateFolder.keep(manifest) }
  }

  /// The changes that were known and are neither in the notebook nor among those that wait: of each session the last.
  var missingKnown: [ChangeID] {
    if archiving.known.isEmpty { return [] }
    return archiving.known.changes.filter {
      !notebook.version.contains($0) && !merging.pending.contains($0.replica)
    }
  }

  /// A report about changes that were known and are in no file any more.
  var missing: LogFolder.Damage? {
    if isMerging { return nil }
    let missing = missingKnown
    if missing.isEmpty { return nil }
    let names = missing.prefix(3).map { "change \($0.number) of session \($0.replica)" }
      .joined(separator: ", ")
    let more = missing.count > 3 ? " and those of \(missing.count - 3) more sessions" : ""
    return LogFolder.Damage(
      path: path, offset: 0,
      description:
        "it has been known here up to \(names)\(more), and no file that can be read has these now: the folder is an older one, or has lost"
        + " files (check --repair takes it as it is)",
      cause: .missing)
  }

  /// Takes the folder as it is: what is missing of what was known is not missed any more.
  ///
  /// - Returns: the sessions of which something was missing.
  func forgetMissing() -> Int {
    let missing = missingKnown
    for change in missing { archiving.known[change.replica] = notebook.version[change.replica] }
    guard !missing.isEmpty, let stateFolder else { return missing.count }
    var manifest = stateFolder.manifest()
    manifest.known = Version()
    stateFolder.keep(manifest)
    keepManifest()
    return missing.count
  }
}
