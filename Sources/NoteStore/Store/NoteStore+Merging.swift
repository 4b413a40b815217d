internal import Notes
internal import ReplicatingTypes

// Merging the records that were read.

extension NoteStore {
  /// Merges the changes in records, as far as the changes before them are known.
  func merge(_ records: [LogRecord]) -> Effects {
    for record in records { take(record) }
    return mergePending()
  }

  /// Merges the pending changes, as far as the changes before them are known.
  func mergePending() -> Effects {
    // Only replicas of pending changes can advance. A loop over all replicas would let the cost of a remote keystroke grow
    // with the number of sessions there ever were.
    let waiting = pending.replicas.map { ($0, number: notebook.version[$0]) }
    let effects = drainPending()
    for (replica, number) in waiting
    where notebook.version[replica] > number && elsewhere[replica] == number {
      elsewhere[replica] = notebook.version[replica]
    }
    return effects
  }

  /// Merges the pending changes without noting that files of others hold them.
  func drainPending() -> Effects {
    if pending.isEmpty { return Effects() }
    let (effects, refused, unreadable) = notebook.drain(&pending)
    if unreadable != nil { archiving.isUnreadable = true }
    if republishing.endWaiting(notebook.version) { folder.needsRepublish = true }
    for (change, reason) in refused {
      refuse("change \(change.number) of \(change.replica) is left out: \(reason)")
    }
    return effects
  }

  private func take(_ record: LogRecord) {
    archiving.unkept += record.payload.count
    switch RecordType(rawValue: record.type) {
    case .change:
      // Of a session of ours that was given up, only records behind those that we applied are read.
      let applied = written[record.session] ?? 0
      counts[record.session, default: applied] += 1
      let change = ChangeID(replica: record.session, number: counts[record.session]!)
      if !notebook.version.contains(change) { pending.insert(change, record.payload) }
    case .changes:
      do { pending.insert(try ChangeSet.decode(record.payload).changes) } catch {
        refuse(record, error.reason)
      }
    case nil: refuse(record, "its type, \(record.type), is of a later version")
    }
  }

  private func refuse(_ record: LogRecord, _ reason: String) {
    refuse("record \(record.number) of session \(record.session) is left out: \(reason)")
  }
}
