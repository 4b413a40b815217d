internal import Notes
internal import ReplicatingTypes

// Changes that are made one after the other, and written together: a burst.
//
// They go to the log as one append with many records, which a reader takes whole or not at all: so there are only two things that can
// become of a burst, also where the process is killed in the middle of the write, or the disk takes half of it. That is why there is a
// way back for all of them together, and none for some.

extension NoteStore {
  /// Begins to gather the changes that `commit` makes: until `finishBurst` they are in the notebook, and not in the log. Nobody may be told
  /// of them, and nothing else may be asked for that changes the notebook or reads the folder.
  ///
  /// A burst takes no copy of the notebook, and its changes are applied in place. The look whether the open segment is still in its
  /// place comes directly before the write.
  ///
  /// - Throws: the error that keeps changes that are missing from being written again.
  public func beginBurst() throws(StoreError) {
    precondition(batching == nil, "a burst in a batch")
    let session = try nextSession(isLooking: false)
    batching = Batching(session, at: notebook.version[session], before: nil)
  }

  /// The outcome of a burst.
  public enum BurstOutcome {
    /// All of its changes are in the log and survive the end of the process.
    case written
    /// None of them is in the log, nor ever will be. They have not happened, and none of their names is used again.
    case notWritten
    /// The disk has refused them, and all of them may be in the log nevertheless. They count as changes of others: if they are there, they
    /// are read like those. Where there is no way back they are in the notebook now.
    case unknown(StoreError, isTakenBack: Bool)
  }

  /// Writes the changes that were gathered, with one write.
  public func finishBurst() -> BurstOutcome {
    guard let burst = batching else { return .written }
    defer { batching = nil }
    if burst.records.isEmpty { return .written }
    do throws(StoreError) { try append(burst.records, isTriedAgain: true) } catch {
      let mayBeThere = folder.mayHoldFailedAppend
      // Otherwise the next change would have the name of one of these.
      folder.endSession()
      let isTakenBack = takeBack(burst)
      if isTakenBack, !mayBeThere { return .notWritten }
      noteRefusal(of: burst.records)
      return .unknown(error, isTakenBack: isTakenBack)
    }
    count(burst)
    return .written
  }

  /// Goes back to the notebook before a burst that was not written; returns false if nothing is there from which that could be made.
  private func takeBack(_ burst: Batching) -> Bool {
    batching = nil
    func book() -> NoteBook? {
      try? notebook.without(changesOf: burst.session, after: burst.number)
    }
    guard let before = book() ?? (giveUpArchive() ? book() : nil) else {
      // Neither the archive nor the folder can be read. So the changes stay, and are written again from memory when that can be done.
      folder.needsRepublish = true
      count(burst)
      return false
    }
    notebook = before
    // The archive that is being written is one of the notebook that was left.
    archiving.writing = nil
    return true
  }
}
