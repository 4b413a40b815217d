public import Notes

// Taking in what other processes have written: a slice at a time, or all of it.

extension NoteStore {
  /// Begins to look at all files, ours included. Call it now and then, because events may get lost. Records that the folder lacks are not
  /// written again as soon as that is noticed, but at the end of the look or with the next change: files may be on their way to another
  /// place.
  public func beginRescan() {
    begin(.everything)
    merging.needsRepublish = true
    completing.isDue = archiving.state != nil
  }

  /// Merges a slice of what is noticed, and reads a piece of it first if all that was read is merged.
  public func mergeSlice() -> Effects {
    let effects = proceed(atMost: Self.slice, reading: pieceSize)
    endMerging()
    return effects
  }

  /// Reads and merges everything that is noticed.
  public func mergeAll() -> Effects {
    var effects = Effects()
    while isMerging {
      effects.merge(proceed())
      endMerging()
    }
    return effects
  }

  private func endMerging() {
    guard merging.needsRepublish, !isMerging else { return }
    merging.needsRepublish = false
    tryToRepublish()
  }

  /// Reads and merges what other processes have written since the last call.
  public func refresh() -> Effects {
    beginRefresh()
    return mergeAll()
  }

  /// Reads and merges everything that is in any file. See `beginRescan`.
  public func rescan() -> Effects {
    beginRescan()
    return mergeAll()
  }
}
