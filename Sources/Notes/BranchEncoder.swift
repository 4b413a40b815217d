internal import ReplicatingTypes

/// Encodes changes of a replica as those of another one, its branch: see `Fork`.
///
/// The changes after number `shared` become those of the branch, from 1 on, and what they name of each other is renamed with them:
/// changes, notes, elements. The first follows the replica's change `shared`. So whoever encodes them gets the same bytes.
struct BranchEncoder {
  let replica: ReplicaID
  let shared: UInt64
  let branch: ReplicaID
  /// The elements of the replica up to change `shared`: of each text, and of the order of the notes.
  private var inserted: [NoteID: Int] = [:]
  private var placed = 0

  init(of replica: ReplicaID, after shared: UInt64, as branch: ReplicaID) {
    self.replica = replica
    self.shared = shared
    self.branch = branch
  }

  /// The changes as those of the branch, up to the first one that follows something outside of `version` other than themselves.
  mutating func encode(
    _ book: NoteBook, within version: Version
  ) throws(ArchiveFailure) -> [[UInt8]] {
    var encoded: [[UInt8]] = []
    var mentions = ReplicaTable()
    var time: Int64 = 0
    var isOver = false
    var author: Author?
    var encoder = self
    try book.forEachChange(of: replica, upTo: book.version[replica]) { change, _ in
      author = change.author ?? author
      guard change.id.number > encoder.shared else { return encoder.count(change) }
      isOver = isOver || !change.predecessors.allSatisfy(version.contains)
      if isOver { return }
      var renamed = encoder.renamed(change)
      // Nobody is named before it under this name.
      if encoded.isEmpty { renamed.author = author }
      encoded.append(renamed.encoded(after: time, &mentions))
      time = renamed.time
    }
    self = encoder
    return encoded
  }

  /// Counts the elements that a change inserted.
  private mutating func count(_ change: Change) {
    for operation in change.operations {
      switch operation {
      case .place: placed += 1
      case .edit(let note, .text(.insert(let bytes, _, _, _))):
        inserted[note, default: 0] += bytes.count
      default: break
      }
    }
  }

  // MARK: - Names

  private func renamed(_ change: Change) -> Change {
    var predecessors = change.predecessors
    if change.id.number == shared + 1, shared > 0 {
      predecessors.append(ChangeID(replica: replica, number: shared))
      predecessors.sort()
    }
    return Change(
      id: renamed(change.id), time: change.time, predecessors: predecessors,
      original: change.original, author: change.author, isImport: change.isImport,
      request: change.request,
      entryStart: change.entryStart.map { max($0, shared + 1) - shared },
      operations: change.operations.flatMap { renamed($0, of: change.id.number) })
  }

  private func renamed(_ change: ChangeID) -> ChangeID {
    guard change.replica == replica, change.number > shared else { return change }
    return ChangeID(replica: branch, number: change.number - shared)
  }

  private func renamed(_ element: ElementID?, after count: Int) -> ElementID? {
    guard let element, element.author == replica, element.offset >= count else { return element }
    return ElementID(author: branch, offset: element.offset - count)
  }

  private func renamed(_ version: Version) -> Version {
    var result = version
    guard version[replica] > shared else { return version }
    result[branch] = version[replica] - shared
    result[replica] = shared
    return result
  }

  /// One operation as one or two: a range of elements may be of both replicas.
  private func renamed(
    _ operation: Change.Operation, of number: UInt64
  ) -> [Change.Operation] {
    switch operation {
    case .create: return [.create]
    case .place(let placement):
      return [
        .place(
          .init(
            renamed(placement.element), after: renamed(placement.after, after: placed),
            before: renamed(placement.before, after: placed)))
      ]
    case .edit(let note, let edit):
      let id = NoteID(creation: renamed(note.creation))
      return renamed(edit, in: inserted[note] ?? 0, of: number).map { .edit(id, $0) }
    case .purge(let note): return [.purge(NoteID(creation: renamed(note.creation)))]
    case .redacted(let note, let ticks, let names):
      return [.redacted(NoteID(creation: renamed(note.creation)), ticks: ticks, names: names)]
    }
  }

  /// - Parameter count: the number of the replica's elements in the text up to change `shared`.
  private func renamed(
    _ edit: Note.Operation, in count: Int, of number: UInt64
  ) -> [Note.Operation] {
    switch edit {
    case .title, .priority, .property, .created, .modified, .restore, .tags(.insert): return [edit]
    case .tags(.remove(let tag, let observed)):
      return [.tags(.remove(tag, observed: observed.map(renamed).sorted()))]
    case .text(.insert(let bytes, let after, let before, let divider)):
      return [
        .text(
          .insert(
            bytes, after: renamed(after, after: count), before: renamed(before, after: count),
            divider: divider))
      ]
    case .text(.remove(let range)):
      guard range.author == replica, range.end > count else { return [edit] }
      let old = max(0, count - range.offset)
      let new = ElementRange(
        author: branch, offset: range.offset + old - count, count: range.count - old)
      guard old > 0 else { return [.text(.remove(new))] }
      let rest = ElementRange(author: replica, offset: range.offset, count: old)
      return [.text(.remove(rest)), .text(.remove(new))]
    case .delete(let covered): return [.delete(covered: renamed(covered))]
    case .base(let base):
      var heads = base.heads.map(renamed)
      var previous: UInt64 = 0
      if base.previous > shared {
        previous = base.previous - shared
      } else if base.previous > 0 {
        // As if its author had been told of all that this one follows; a branch has no change that could say better.
        heads.append(ChangeID(replica: replica, number: base.previous))
      }
      return [.base(TextBase(heads: heads, previous: previous))]
    case .withdraw(let withdrawn):
      var runs: [ChangeRanges.Run] = []
      for run in withdrawn.runs {
        guard run.replica == replica, run.numbers.upperBound > shared else {
          runs.append(run)
          continue
        }
        if run.numbers.lowerBound <= shared {
          runs.append(.init(replica, run.numbers.lowerBound...shared))
        }
        let first = max(run.numbers.lowerBound, shared + 1)
        runs.append(.init(branch, first - shared...run.numbers.upperBound - shared))
      }
      return [.withdraw(ChangeRanges(runs))]
    }
  }
}
