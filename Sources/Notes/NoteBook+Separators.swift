internal import ReplicatingTypes

// Which removed separators are shown: SparedSeparators.swift of ReplicatingTypes has the rule.

extension NoteBook {
  /// Finds out which separators are spared after a change that was admitted last and did not know all others.
  mutating func spareSeparators(
    after change: Change, knowing known: Version, _ effects: inout Effects
  ) {
    for operation in change.operations {
      guard case .edit(let note, .text(let edit)) = operation else { continue }
      if undecided.last?.change != change.id || undecided.last?.note != note {
        let inserted = shelf[existing: note].text.elements(insertedBy: change.id)
        undecided.append(
          UnawareChange(
            change: change.id, note: note, touched: inserted.map { [$0] } ?? [], known: known))
      }
      if case .remove(let range) = edit { undecided[undecided.count - 1].touched.append(range) }
    }
    if undecided.isEmpty { return }
    var causality = KnownPasts(of: self)
    undecided.removeAll { unaware in
      do throws(ArchiveFailure) {
        try shelf.open(unaware.note)
        try shelf[existing: unaware.note].text.spareSeparators(
          after: unaware.change, touching: unaware.touched, knowing: unaware.known, &causality
        ) { effects.insert($0, unaware.note) }
        return true
      } catch {
        return false
      }
    }
  }
}
