internal import ReplicatingTypes

// Which removed separators are shown: SparedSeparators.swift of ReplicatingTypes has the rule.

extension NoteBook {
  /// So many authors of texts are noted at most before it is found out what their edits decide: with each all is kept that it had seen.
  static var mostUndecided: Int { 256 }

  /// Notes what a change that was admitted last, and did not know all others, did to texts.
  ///
  /// - Parameters:
  ///   - known: the changes that it follows.
  ///   - bases: what its author had seen of the texts that it has a base for.
  mutating func note(
    unaware change: Change, knowing known: Version, on bases: [NoteID: SeenChanges]
  ) {
    for operation in change.operations {
      guard case .edit(let note, .text(let edit)) = operation else { continue }
      let elements: ElementRange?
      switch edit {
      case .insert: elements = shelf[existing: note].text.elements(insertedBy: change.id)
      case .remove(let range): elements = range
      }
      guard let elements else { continue }
      let author = change.id.replica
      var place = undecided[note]?.firstIndex { $0.author == author }
      if place == nil {
        place = undecided[note]?.count ?? 0
        undecided[note, default: []].append(UnawareEdits(by: author, knowing: known))
        undecidedCount += 1
      }
      undecided[note]![place!].append(elements, by: change.id, on: bases[note]?.version)
    }
  }

  /// What the author of a change, which is the next to be admitted or known, had seen of the texts that it has a base for.
  func bases(of change: Change) throws -> [NoteID: SeenChanges] {
    var bases: [NoteID: SeenChanges] = [:]
    for (note, base) in change.bases {
      var causality = KnownPasts(of: self, in: note)
      bases[note] = try causality.seen(by: change.id, on: base)
      guard bases[note]!.own.count <= TextBase.longestChain else {
        throw InvalidChange("more than \(TextBase.longestChain) changes on one base")
      }
    }
    return bases
  }

  /// Finds out which separators are spared after the edits that were noted. What the archive can't tell now is asked for the next time.
  mutating func spareSeparators(_ effects: inout Effects) {
    undecidedCount = 0
    if undecided.isEmpty { return }
    for note in undecided.keys.sorted() {
      var causality = KnownPasts(of: self, in: note)
      do throws(ArchiveFailure) {
        try shelf.open(note)
        try shelf[existing: note].text.settleMerge(after: undecided[note]!, &causality) {
          effects.insert($0, note)
        }
        undecided[note] = nil
      } catch {}
    }
    shelf.tidy()
  }
}
