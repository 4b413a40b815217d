internal import Notes
internal import ReplicatingTypes

// Merging the records that were read: a slice at a time, because a client may wait.

extension NoteStore {
  /// The work of a slice: a few milliseconds, as a rule. A single change may take longer, which is applied whole.
  static var slice: Int { 512 }

  /// Merges pending changes, as far as the changes before them are known.
  ///
  /// - Parameter limit: the work after which to stop.
  func mergePending(atMost limit: Int = .max) -> Effects {
    let merged = drainPending(atMost: limit)
    for (replica, number) in merged.advanced where elsewhere[replica] == number {
      elsewhere[replica] = notebook.version[replica]
    }
    return merged.effects
  }

  /// The same, without noting that files of others hold them.
  func drainPending(atMost limit: Int = .max) -> NoteBook.Merged {
    if !merging.pending.isReady { return NoteBook.Merged() }
    let merged = notebook.drain(&merging.pending, atMost: limit)
    merging.work += merged.work
    if merged.unreadable != nil { archiving.isUnreadable = true }
    if republishing.endWaiting(notebook.version) { folder.needsRepublish = true }
    for refused in merged.refused {
      let change = refused.change
      refuse(
        "change \(change.number) of \(change.replica) is left out: \(refused.reason)",
        isOfLaterVersion: refused.isOfLaterVersion)
    }
    return merged
  }

  /// Lets the changes in records be merged.
  func take(_ records: [LogRecord]) {
    for record in records { take(record) }
  }

  private func take(_ record: LogRecord) {
    archiving.unkept += record.payload.count
    switch RecordType(rawValue: record.type) {
    case .change:
      // Of a session of ours that was given up, only records behind those that we applied are read.
      let applied = own.written[record.session]
      counts[record.session, default: applied] += 1
      let change = ChangeID(replica: record.session, number: counts[record.session]!)
      if !notebook.version.contains(change) { merging.pending.insert(change, record.payload) }
    case .changes:
      do { merging.pending.insert(try ChangeSet.decode(record.payload).changes) } catch {
        refuse(record, error.reason, isOfLaterVersion: error.isOfLaterVersion)
      }
    case nil:
      refuse(record, "its type, \(record.type), is not known", isOfLaterVersion: true)
    }
  }

  private func refuse(_ record: LogRecord, _ reason: String, isOfLaterVersion: Bool) {
    refuse(
      "record \(record.number) of session \(record.session) is left out: \(reason)",
      isOfLaterVersion: isOfLaterVersion)
  }
}

/// Changes on their way from the folder into the notebook.
struct Merging {
  /// Changes that were read and are not merged yet, or follow others that were not read.
  var pending = PendingChanges()
  /// The files to be read next; nil if none are known to have something new.
  var unread: LogFolder.Scope?
  /// True if all files are to be looked at once more, because a look at all of them has stopped before the last.
  var needsFullLook = false
  /// True if records that the folder lacks are to be written again when everything is merged.
  var needsRepublish = false
  /// The notebook as it is shown while changes wait for missing ones, the number of these, and the version that it was made of.
  var shown: (notebook: NoteBook, waiting: Int, version: Version)?
  /// The work that merging has taken so far.
  var work = 0
}
