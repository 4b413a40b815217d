public import ReplicatingTypes

extension NoteBook {
  /// The operations that take back what changes did to a note's title, tags and priority, its path and its header, as far as nobody has written
  /// anything else there since. (What they did to the text a withdrawal takes back.)
  ///
  /// O(changes), and for each that did something there what reading the note's past takes.
  ///
  /// - Parameter now: the time, in milliseconds since 1970; asked if there is something to take back.
  public func operations(
    takingBack changes: ChangeRanges, of note: Note, at now: () -> Int64
  ) throws(ArchiveFailure) -> [Note.Operation] {
    var title = note.title.value
    var priority = note.priority.value
    var tags = note.tags.values
    var properties: [PropertyName: String] = [:]
    for change in try writers(among: changes, of: note.id) {
      guard var version = try version(of: [change]) else { continue }
      let after = try past(of: note, at: version)
      version[change.replica] = change.number - 1
      let before = try past(of: note, at: version)
      if title.utf8.elementsEqual(after.title.value.utf8) { title = before.title.value }
      if priority == after.priority.value { priority = before.priority.value }
      for name in after.properties.keys where name == .path || name.isContent {
        let value = properties[name] ?? note[name]
        if value.utf8.elementsEqual(after[name].utf8) { properties[name] = before[name] }
      }
      let (old, new) = (before.tags.values, after.tags.values)
      tags = tags.subtracting(new.subtracting(old)).union(old.subtracting(new))
    }
    var operations: [Note.Operation] = []
    if !title.utf8.elementsEqual(note.title.value.utf8) {
      operations.append(.title(note.title.assignment(of: title, at: now())))
    }
    if priority != note.priority.value {
      operations.append(.priority(note.priority.assignment(of: priority, at: now())))
    }
    for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
      if let operation = note.operation(setting: name, to: value, at: now()) {
        operations.append(operation)
      }
    }
    return operations + note.operations(settingTags: tags)
  }

  /// The operations that take back what changes did to other notes than one, and to their texts: none, if nothing of that stands any more. Notes that other
  /// changes put into the trash stay there, as they are.
  ///
  /// O(changes), and for each other note what reading it takes, and its past.
  ///
  /// - Parameter now: the time, in milliseconds since 1970; asked if there is something to take back.
  public func operations(
    takingBack changes: ChangeRanges, ofOthersThan note: NoteID, at now: () -> Int64
  ) throws(ArchiveFailure) -> [Change.Operation] {
    var (others, trashed, restored): (Set<NoteID>, Set<NoteID>, Set<NoteID>) = ([], [], [])
    for run in changes.runs {
      try forEachEffect(of: run.replica, in: run.numbers) { _, _, changed, what in
        if changed == note { return }
        if isLive(changed) {
          // An edit beside a deletion would be content that this one does not cover.
          if what.contains(.restore) { restored.insert(changed) } else { others.insert(changed) }
        } else if what.contains(.trash), !isPurged(changed) {
          trashed.insert(changed)
        }
      }
    }
    var operations: [Change.Operation] = []
    for other in trashed.sorted() {
      let deletions = try self.note(other)?.coveringDeletions ?? []
      guard deletions.allSatisfy(changes.contains) else { continue }
      operations.append(.edit(other, .restore))
    }
    for other in restored.sorted() {
      if let present = try self.note(other) { operations.append(.edit(other, present.deletion)) }
    }
    var isEffective = !operations.isEmpty
    for other in others.sorted() {
      guard let present = try self.note(other) else { continue }
      let edits = try self.operations(takingBack: changes, of: present, at: now)
      isEffective = isEffective || !edits.isEmpty || present.isTextChanged(withdrawing: changes)
      // Also where there is nothing to take back any more: then it is known that this was done.
      operations += ([.withdraw(changes)] + edits).map { .edit(other, $0) }
    }
    return isEffective ? operations : []
  }

  /// Those of some changes, known here, that wrote the title, tags, the priority, the path or the header of a note after it was created: the newest
  /// first.
  private func writers(
    among changes: ChangeRanges, of note: NoteID
  ) throws(ArchiveFailure) -> [ChangeID] {
    var writers: [LamportTimestamp: ChangeID] = [:]
    for run in changes.runs {
      try forEachEffect(of: run.replica, in: run.numbers) { number, lamport, changed, what in
        if changed != note || what.isDisjoint(with: [.title, .tags, .priority, .property]) {
          return
        }
        writers[LamportTimestamp(count: lamport, replica: run.replica)] = ChangeID(
          replica: run.replica, number: number)
      }
    }
    return writers.sorted { $0.key > $1.key }.map(\.value)
  }
}
