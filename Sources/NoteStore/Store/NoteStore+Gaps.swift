internal import Notes

// What the notebook lacks, as far as that can be told.

extension NoteStore {
  /// What the folder holds, or should hold, and the notebook lacks; empty if the notebook is whole.
  ///
  /// Every entry names a file or folder and the cause. While there is one, absence proves nothing: a note that is not here may be in what
  /// can't be read, and a text that is here may be an old one. The reports of `damage` that mean no loss are not among them: damage that
  /// was mended, and records that other files hold.
  ///
  /// Complete when nothing is to be merged (`isMerging`): after the notebook was opened, from an archive or without one, and after each
  /// `mergeAll`. O(damage).
  public var gaps: [LogFolder.Damage] { damage.filter(isGap) }

  private func isGap(_ damage: LogFolder.Damage) -> Bool {
    guard damage.cause == .damaged else { return true }
    switch loss(at: damage.path) {
    case .nothing, .mended: return false
    case .records, .unknown: return true
    // A damaged copy of `decent.json` hides no notes.
    case nil: return damage.path.hasPrefix("\(path)/\(SnapshotFormat.folder)")
    }
  }
}
