internal import ReplicatingTypes

// Which removed separators are shown: SparedSeparators.swift of ReplicatingTypes has the rule.

extension NoteBook {
  /// So many changes are noted at most before it is found out what they decide: each is kept with all that its author had seen.
  static var mostUndecided: Int { 256 }

  /// Notes which texts a change that was admitted last, and did not know all others, has touched.
  mutating func note(unaware change: Change, knowing known: Version) {
    for operation in change.operations {
      guard case .edit(let note, .text(let edit)) = operation else { continue }
      if undecided[note]?.last?.change != change.id {
        let inserted = shelf[existing: note].text.elements(insertedBy: change.id)
        undecided[note, default: []].append(
          UnawareEdit(change: change.id, touched: inserted.map { [$0] } ?? [], known: known))
        undecidedCount += 1
      }
      if case .remove(let range) = edit {
        let last = undecided[note]!.count - 1
        undecided[note]![last].touched.append(range)
      }
    }
  }

  /// Finds out which separators are spared after the changes that were noted. What the archive can't tell now is asked for the next time.
  mutating func spareSeparators(_ effects: inout Effects) {
    undecidedCount = 0
    if undecided.isEmpty { return }
    var causality = KnownPasts(of: self)
    for note in undecided.keys.sorted() {
      do throws(ArchiveFailure) {
        try shelf.open(note)
        try shelf[existing: note].text.spareSeparators(after: undecided[note]!, &causality) {
          effects.insert($0, note)
        }
        undecided[note] = nil
      } catch {}
    }
    shelf.tidy()
  }
}
