internal import ReplicatingTypes

/// The changes that a change follows besides its author's previous one, and the bases of its edits.
struct HistoryLink: Sendable {
  let number: UInt64
  let predecessors: [ChangeID]
  let bases: [(note: NoteID, base: TextBase)]
}
