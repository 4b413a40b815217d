internal import ReplicatingTypes

/// Makes the pasts of an archive.
struct ArchivedPasts: Sendable {
  /// A session of the notebook that has more changes than in the old archive.
  private struct Grown: Sendable {
    let id: ReplicaID
    /// The number of its changes in the old archive.
    let before: UInt64
    /// A past of the old archive that is of a later time is another one now.
    let time: UInt64
  }

  /// In the order of their times.
  private var grown: [Grown] = []
  /// By the first changes of runs.
  private var new: [ChangeID: ArchivedPast] = [:]

  /// O(sessions + changes of sessions between one run and the next), bounded by some for each session and run.
  init(of book: borrowing NoteBook) throws(ArchiveFailure) {
    var sessions: [(last: UInt64, change: ChangeID)] = []
    var lasts: [ReplicaID: UInt64] = [:]
    for change in book.version.changes {
      let last = try book.lastLamport(of: change.replica)
      sessions.append((last, change))
      lasts[change.replica] = last
    }
    sessions.sort { $0 < $1 }
    if let archive = book.archive {
      for (last, change) in sessions where archive.version[change.replica] < change.number {
        let before = archive.version[change.replica]
        let time = before > 0 ? archive.lamport(of: change.replica) ?? 0 : last
        grown.append(Grown(id: change.replica, before: before, time: time))
      }
      grown.sort { $0.time < $1.time }
    }
    var runs: [(time: UInt64, change: ChangeID, past: Version)] = []
    for history in book.histories.all {
      for run in history.links.runs where run.first > history.archived {
        guard let past = run.past, let time = history.lamport(run.first) else { continue }
        runs.append((time, ChangeID(replica: history.id, number: run.first), past))
      }
    }
    runs.sort { ($0.time, $0.change) < ($1.time, $1.change) }
    // The exceptions of one are those of the one before it, but for the sessions in which the two differ, and those that ended in between.
    var exceptions: [ReplicaID: UInt64] = [:]
    var (ended, latest) = (0, Version())
    // Of histories that went on side by side for long, two pasts may differ in very many sessions.
    var rest = sessions.count
    for (time, change, past) in runs {
      rest += ArchivedPast.mostExceptions
      var differing: [ReplicaID] = []
      let isNear =
        past.allSatisfy(beyond: latest) {
          differing.append($0.replica)
          return differing.count <= rest
        }
        && latest.allSatisfy(beyond: past) {
          differing.append($0.replica)
          return differing.count <= rest
        }
      rest -= min(rest, differing.count)
      if !isNear { continue }
      while ended < sessions.count, sessions[ended].last < time {
        differing.append(sessions[ended].change.replica)
        ended += 1
      }
      for id in differing {
        let implied = lasts[id].map { $0 < time } == true ? book.version[id] : 0
        exceptions[id] = past[id] == implied ? nil : past[id]
      }
      latest = past
      if exceptions.count > ArchivedPast.mostExceptions { continue }
      let list = exceptions.map { ChangeID(replica: $0.key, number: $0.value) }
      new[change] = ArchivedPast(time: time, exceptions: list.sorted())
    }
  }

  /// The past with which a run that is not in the old archive begins; nil if it is left out.
  func past(of change: ChangeID) -> ArchivedPast? { new[change] }

  /// A past of the old archive as it is in the new one; nil if it is left out. O(exceptions).
  func updated(_ old: ArchivedPast) -> ArchivedPast? {
    var past = old
    for session in grown {
      if session.time >= past.time { break }
      // What was all of it is a part now.
      if old.exceptions.contains(where: { $0.replica == session.id }) { continue }
      past.exceptions.append(ChangeID(replica: session.id, number: session.before))
      if past.exceptions.count > ArchivedPast.mostExceptions { return nil }
    }
    return past
  }
}
