internal import ReplicatingTypes

// Writing: sessions, appends, and the completion of segments.

extension LogFolder {
  /// The identity under which the next append is written.
  ///
  /// Checks the open segment first: if it is no longer in its place (deleted,
  /// renamed over, linked, of another size), the session is given up here, so that the caller's next
  /// change carries an identity under which no other process can go on. Call it for every change, right
  /// before its identity is used. An identity is never given out again after a failure. Between `beginTurn()` and `endTurn()` the
  /// first call looks, and those after it don't.
  ///
  /// Mints an identity in memory when there is none; writes nothing.
  ///
  /// - Parameter isLooking: whether to look; else the next append does it before it writes, and throws where the identity is no longer one
  ///   to be used.
  mutating func session(isLooking: Bool = true) -> Identifier {
    if isLooking { _ = leaveUnlessOurs() }
    return writer.nextSession(isChecked: isLooking)
  }

  // One look is enough for all changes that are made without a pause: those for the requests of one read. No look is proof that the
  // segment stays where it is. Between a look and the write after it another program can take the file away, and does so unseen; then
  // the change is in a file that no process finds any more, and in our memory. It is the next look that finds it out, or the event of the
  // watched folder before that: the session ends, all of its records count as missing, and `republish` writes from memory what the
  // folder lacks. So what an acknowledged change needs is a look after it, while this process lives. There is one with the next read,
  // with each request for the disk, and with each pass over the folder, whether a read makes one change or a thousand. Only the
  // time grows in which a kill of this process, together with the file's removal, takes changes with it: by the time in which the
  // rest of a read is carried out. Since that must stay a moment, a request that only looks something up, or a merge, requires another
  // look: both may take long. A write into a file that has got its final name, or that another process has added to, is found by the
  // same look, since neither has the status that we know.

  /// Begins a time in which one look is enough, until `endTurn()`: the requests of one read are carried out.
  mutating func beginTurn() { look = .due }

  /// Ends it: there is a look with each change.
  mutating func endTurn() { look = .always }

  /// Requires another look: time has passed, or may have.
  mutating func requireLook() { if look == .done { look = .due } }

  /// Appends records with one `write`; readers see all of them or none.
  ///
  /// On return they are in the file. The first append creates what is missing of the folder, `decent.json`, and the session's file.
  ///
  /// - Throws: `tooLarge` when the records take more than 64 MiB together; nothing happened then. After
  ///   any other error the session is given up, nothing is taken back or tried again, and the next
  ///   append begins a new session: ask `session()` for its identity.
  mutating func append(
    _ records: [(type: UInt8, payload: [UInt8])]
  ) throws(StoreError) {
    guard !records.isEmpty else { return }
    mayHoldFailedAppend = false
    try writer.checkSize(records)
    // The records were made for a session that has just ended.
    if !writer.isChecked, let path = leaveUnlessOurs() { throw Self.replaced(path) }
    do { try writer.append(records) } catch {
      mayHoldFailedAppend = writer.open?.mayHoldFailedAppend ?? false
      writer.open?.discardIfEmpty()
      abandon(takenAway: false)
      writer.releaseComplete()
      throw error
    }
    if let open = writer.open,
      open.end.number == open.header.recordsBefore + UInt64(records.count)
    {
      // The segment begins with these records. The one before it may be another process's.
      reader.addEnd(before: open.header)
    }
  }

  /// Gives up the current session if its file is not as this process left it; returns the file's path then.
  ///
  /// Does nothing if the one look that is enough has been taken.
  private mutating func leaveUnlessOurs() -> String? {
    if look == .done { return nil }
    if look == .due { look = .done }
    guard let file = writer.open else { return nil }
    let place = file.place
    guard place != .ours else { return nil }
    // A complete segment that was folded may be gone with its folder, and nothing is lost.
    let isFolded =
      place == .gone && file.isComplete && !file.needsSync
      && coverage.contains(file.numbers, of: file.session)
    abandon(takenAway: place == .gone && !isFolded)
    return file.path
  }

  /// True if `count` bytes can be written into the notebook's folder now. Writes them to a file and removes it again.
  func canWrite(_ count: Int) -> Bool { root.canWrite(count) }

  /// Completes the open segment if it is time. A synchronisation engine can harm only a file that is still written. Never
  /// waits.
  ///
  /// Call it whenever something may have been appended; what was appended since the last call counts as appended
  /// now.
  ///
  /// - Parameter isSoon: true if a second without an append is enough, in place of five.
  /// - Returns: when to call it at the latest, if nothing is appended until then.
  mutating func sealIfDue(at now: Instant, isSoon: Bool = false) -> Instant? {
    guard let open = writer.open, !open.isCompleteOrEmpty else { return nil }
    if let due = open.completionTime(at: now, isSoon: isSoon) { return due }
    seal()
    return nil
  }

  /// Completes the open segment: the next append goes to the next segment of the session. The segment gets its final name as
  /// soon as all of it is on disk.
  ///
  /// Never waits. If it does not get that name, nothing is lost: the file is read under its first name as well.
  mutating func seal() {
    guard let file = writer.open, !file.isComplete else { return }
    file.complete()
    reader.remember(file, isUnread: false)
    ledger.add(file)
    disk.close(file)
    if file.needsSync { requestSync() } else { finishClosed() }
  }

  /// Completes the open segment and ends its session in order, or leaves it to another process. The next append begins another
  /// session.
  ///
  /// The name of the last segment of a session that has ended says so, so that no start has to look into its folder again. A
  /// segment that has its final name already keeps it: to synchronisation engines a renamed file is another file.
  ///
  /// - Returns: the last segment.
  mutating func finishSession() -> OpenSegment? {
    let last = writer.open
    last?.endsSession = !writer.canHandOver
    seal()
    endSession()
    return last
  }
}
