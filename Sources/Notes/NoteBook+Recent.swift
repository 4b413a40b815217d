internal import ReplicatingTypes

// Going back through the changes of a replica as far as a time.

extension NoteBook {
  /// Visits changes of a replica that its author made since a time, by their own clock: 256 and more that belong together in their order, the
  /// latest of these groups first.
  ///
  /// O(those changes), and a group more. Where the clock was set back by more than a group took, what is before that is left out.
  ///
  /// - Parameters:
  ///   - number: only later changes than this are visited.
  ///   - oldest: milliseconds since 1970.
  func forEachRecent(
    of replica: ReplicaID, after number: UInt64, since oldest: Int64,
    _ body: (_ number: UInt64, _ encoded: ArraySlice<UInt8>, _ time: Int64) -> Void
  ) throws(ArchiveFailure) {
    var rest = version[replica]
    if rest <= number { return }
    if try lastTime(of: replica) < oldest { return }
    while rest > number {
      let (numbers, timeBefore) = try stretch(of: replica, upTo: rest)
      var (time, isRecent) = (timeBefore, false)
      try forEachEncoded(of: replica, in: numbers) { next, encoded, _ in
        // An archive may say anything.
        time = Change.clamped(time &+ encoded.timeStep)
        if time < oldest { return true }
        isRecent = true
        if next > number { body(next, encoded, time) }
        return true
      }
      if !isRecent { return }
      rest = numbers.lowerBound - 1
    }
  }

  /// The time of a replica's last change, by its author's clock. O(log replicas).
  private func lastTime(of replica: ReplicaID) throws(ArchiveFailure) -> Int64 {
    if let place = histories.place(of: replica) { return histories.all[place].lastTime }
    return try session(of: replica)?.time ?? 0
  }
}
