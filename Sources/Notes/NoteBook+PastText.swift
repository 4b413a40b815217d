public import ReplicatingTypes

extension NoteBook {
  /// A note as it was, and its text then; `nil` if it did not exist yet. `version` is known here.
  ///
  /// O(changes, up to then, of the sessions that have changed the note); the text is O(its runs and length).
  public func note(
    _ id: NoteID, at version: Version
  ) throws(ArchiveFailure) -> (note: Note, utf8: [UInt8])? {
    guard version.contains(id.creation), let present = try note(id) else { return nil }
    let text = present.text.utf8(in: try view(of: present, at: version))
    return (try past(of: present, at: version), text)
  }

  /// A note as it was, but for its text; it existed then. `version` is known here.
  func past(of present: Note, at version: Version) throws(ArchiveFailure) -> Note {
    try pasts(of: [present], at: version)[present.id]!
  }

  /// Notes as they were, but for their texts; they existed then. `version` is known here.
  ///
  /// O(changes, up to then, of the sessions that have changed one of the notes).
  func pasts(of present: [Note], at version: Version) throws(ArchiveFailure) -> [NoteID: Note] {
    var part = Version()
    var notes: [NoteID: Note] = [:]
    for note in present {
      part.merge(version.intersection(note.version))
      notes[note.id] = Note(id: note.id, created: note.created, imported: note.imported)
    }
    var edits: [(moment: WallTime, stamp: Stamp, note: NoteID, operation: Note.Operation)] = []
    for replica in part.replicas {
      try forEachChange(of: replica, upTo: part[replica]) { change, first in
        let moment = WallTime(logical: first.timestamp, clock: change.time)
        var stamp = first
        for operation in change.operations {
          if case .edit(let id, let edit) = operation, notes[id] != nil {
            edits.append((moment, stamp, id, edit))
          }
          stamp.lamport += operation.ticks
        }
      }
    }
    // Any causal order gives the same. That of the changes' logical times is one, but not that of their operations': a change
    // that takes one tick may have several operations, each with its own.
    let order = edits.indices.sorted {
      (edits[$0].moment.logical, $0) < (edits[$1].moment.logical, $1)
    }
    for place in order {
      let edit = edits[place]
      notes[edit.note]!.record(edit.operation, edit.stamp, at: edit.moment)
    }
    return notes
  }

  /// The state of a note's text at a version that is known here. The note is open.
  ///
  /// O(runs × log runs). In a text in which changes met that did not know each other, and the elements around the separators
  /// that were removed by then.
  public func view(of note: NoteID, at version: Version) throws(ArchiveFailure) -> SequenceView {
    try view(of: noteCache[existing: note], at: version)
  }

  func view(of note: Note, at version: Version) throws(ArchiveFailure) -> SequenceView {
    let text = note.text
    let spared: [ElementRange]
    let withdrawn: ChangeRanges
    if version == self.version {
      withdrawn = text.withdrawn
      spared = text.sparedElements.sorted
    } else {
      withdrawn = note.withdrawals.withdrawn(at: version)
      var causality = KnownPasts(of: self, in: note.id)
      spared = try text.sparedElements(at: version, without: withdrawn, &causality)
    }
    var view = text.view(at: version, without: withdrawn)
    view.unseen = text.insertions(after: version)
    if !spared.isEmpty { view.hidden = view.hidden.subtracting(ElementRanges(spared)) }
    let withheld = text.withheldElements(at: version, sparing: spared, without: withdrawn)
    if !withheld.isEmpty { view.hidden = view.hidden.union(withheld) }
    return view
  }
}
