internal import ReplicatingTypes

// Writing: sessions, appends, and the completion of segments.

extension LogFolder {
  /// The identity under which the next append is written.
  ///
  /// Checks the open segment first: if it is no longer in its place (deleted,
  /// renamed over, linked, of another size), the session is given up here, so that the caller's next
  /// change carries an identity under which no other process can go on. Call it for every group of changes, right
  /// before its identity is used. An identity is never given out again after a failure.
  ///
  /// No look is proof that the segment stays where it is: between the look and the write another program can take the file away. Then the changes are
  /// in a file that no process finds any more, and in our memory. The next look finds it out, or the event of the watched folder before that: the
  /// session ends, all of its records count as missing, and `republish` writes from memory what the folder lacks.
  ///
  /// Mints an identity in memory when there is none; writes nothing.
  mutating func session() -> Identifier {
    leaveUnlessOurs()
    return writer.nextSession()
  }

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
    try writer.checkSize(records)
    do { try writer.append(records) } catch {
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

  /// Gives up the current session if its file is not as this process left it.
  private mutating func leaveUnlessOurs() {
    guard let file = writer.open else { return }
    let place = file.place
    guard place != .ours else { return }
    // A complete segment that was folded may be gone with its folder, and nothing is lost.
    let isFolded =
      place == .gone && file.isComplete && !file.needsSync
      && coverage.contains(file.numbers, of: file.session)
    abandon(takenAway: place == .gone && !isFolded)
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
