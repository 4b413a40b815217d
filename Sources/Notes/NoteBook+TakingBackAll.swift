public import ReplicatingTypes

// The changes of one participant since a time, and the operations that take them back.

/// The operations that take back changes of any notes, as far as nobody else has written anything there since.
public struct TakenBack: Sendable {
  /// A note that becomes another one.
  public struct ChangedNote: Sendable {
    /// The note.
    public let id: NoteID
    fileprivate let created: Int64
    /// The kinds of changes that are taken back.
    public internal(set) var what: ChangeKind
  }

  /// The notes that become other ones: in the order of their creation.
  public fileprivate(set) var notes: [ChangedNote] = []
  /// The operations that take back everything but moves.
  public fileprivate(set) var operations: [Change.Operation] = []
  /// The notes that are put back where they were, and the notes behind which they stood, nearest first: in the order in which to do it. Those that are put
  /// back first count as there.
  public fileprivate(set) var moves: [(note: NoteID, behind: [NoteID])] = []
}

extension NoteBook {
  /// The changes of an author with this name, whichever programs they used, since a time by their own clocks.
  ///
  /// O(replicas + authors + changes since then).
  ///
  /// - Parameter time: milliseconds since 1970.
  public func changes(
    by name: String, since time: Int64
  ) throws(ArchiveFailure) -> ChangeRanges {
    var runs: [ChangeRanges.Run] = []
    for replica in version.replicas {
      let authors = try authors(of: replica)
      guard authors.runs.contains(where: { $0.author.name == name }) else { continue }
      try forEachRecent(of: replica, after: 0, since: time) { number, _, _ in
        if authors.author(of: number)?.name != name { return }
        if let last = runs.last, last.replica == replica, last.numbers.upperBound == number - 1 {
          runs[runs.count - 1].numbers = last.numbers.lowerBound...number
        } else {
          runs.append(ChangeRanges.Run(replica, number...number))
        }
      }
    }
    return ChangeRanges(runs)
  }

  /// The operations that take back some changes, which are known here. Text that they inserted goes, and text that they removed comes back. Titles,
  /// tags, priorities, the trash and places in the list become what they were, if nobody has written them since. A note that the changes created goes
  /// to the trash, unless others have written in it. Notes that are in the trash for another reason stay as they are, and purged ones are left out.
  ///
  /// O(changes of all sessions that have changed the notes, and of each note for each of those changes that is not of its text), and where notes were
  /// moved O(slots) for each replica that did. The notes' order is open.
  ///
  /// - Parameter now: the time, in milliseconds since 1970.
  public func takingBack(
    _ changes: ChangeRanges, at now: Int64
  ) throws(ArchiveFailure) -> TakenBack {
    var result = TakenBack()
    let done = try doneToNotes(by: changes)
    var known: Set<NoteID> = []
    for (id, what) in done where !isPurged(id) {
      // To write in a note that was in the trash has taken it out.
      let hasDeletions = try note(id).map { !$0.deletions.isEmpty } ?? false
      if hasDeletions || !what.isOfTextAlone { known.insert(id) }
    }
    let past = try PastParts(of: known, in: self)
    var moved: [NoteID: DoneToNote.Made] = [:]
    for (id, what) in done.sorted(by: { $0.key < $1.key }) {
      guard !isPurged(id), let note = try note(id) else { continue }
      var taken = TakenBack.ChangedNote(id: id, created: note.created, what: [])
      let mayBeTrashed = what.isOfTrash || !note.deletions.isEmpty
      let others = try foreign(in: note, besides: changes, if: mayBeTrashed)
      let isTrashed = try self.isTrashed(note, what, others, past)
      if isTrashed != note.isTrashed {
        result.operations.append(.edit(id, isTrashed ? note.deletion : .restore))
        taken.what.insert(isTrashed ? .trash : .restore)
      }
      if !isTrashed {
        let edits = try edits(of: note, what, past, &taken.what, at: now)
        result.operations += edits.map { .edit(id, $0) }
        let withdrawn = what.ranges.runs.count < changes.runs.count ? what.ranges : changes
        if what.all.contains(.text) || what.all.contains(.created),
          note.isTextChanged(withdrawing: withdrawn)
        {
          let text = try self.edits(withdrawing: withdrawn, from: note)
          if !text.areVoid {
            result.operations += (text.operations + [.withdraw(withdrawn)]).map { .edit(id, $0) }
            taken.what.insert(.text)
          }
        }
      }
      if let move = what.firstMove, let placer = openedOrder?.placer(of: id.creation),
        changes.contains(placer)
      {
        moved[id] = move
        taken.what.insert(.move)
      }
      if !taken.what.isEmpty { result.notes.append(taken) }
    }
    result.moves = try moves(of: moved)
    // The others are where they were.
    let putBack = Set(result.moves.map(\.note))
    for place in result.notes.indices where !putBack.contains(result.notes[place].id) {
      result.notes[place].what.remove(.move)
    }
    result.notes.removeAll { $0.what.isEmpty }
    result.notes.sort { ($0.created, $0.id) < ($1.created, $1.id) }
    return result
  }

  // MARK: - The trash

  /// The part of others in a note: `decided` if the last change that put it into the trash or took it out is theirs, `wrote` if they wrote in it.
  private struct Foreign {
    var decided = false
    var wrote = false
  }

  private func foreign(
    in note: Note, besides changes: ChangeRanges, if isWanted: Bool
  ) throws(ArchiveFailure) -> Foreign {
    var foreign = Foreign()
    if !isWanted { return foreign }
    var isDecided = false
    var log = try log(of: note)
    _ = try log.proceed(in: self) { entry in
      let isOwn = changes.contains(entry.last)
      // To write in a note takes it out of the trash, too.
      if isOwn ? !entry.what.isDisjoint(with: .content) : !entry.what.isDisjoint(with: .trashing) {
        foreign.decided = foreign.decided || !isDecided && !isOwn
        isDecided = true
      }
      if !isOwn, entry.what.contains(.title) { foreign.wrote = true }
      return true
    }
    // Of others' changes of the text only insertions count as writing: a removal, or an undo, does not.
    foreign.wrote =
      foreign.wrote
      || note.text.contributions.contains { author, done in
        done.contains {
          $0.inserted > 0
            && !changes.contains(ChangeID(replica: author, number: UInt64($0.number)))
        }
      }
    return foreign
  }

  /// True if a note is in the trash when what was done to it is taken back.
  private func isTrashed(
    _ note: Note, _ done: DoneToNote, _ others: Foreign, _ past: PastParts
  ) throws(ArchiveFailure) -> Bool {
    var isTrashed = note.isTrashed
    if others.decided { return isTrashed }
    let counts: ChangeKind = note.deletions.isEmpty ? .trashing : .content
    for change in done.made.reversed() where !change.what.isDisjoint(with: counts) {
      if change.what.contains(.created) {
        if !isTrashed { isTrashed = !others.wrote }
        continue
      }
      let (before, after) = try past.states(of: note, around: change.id, in: self)
      if isTrashed == after.isTrashed { isTrashed = before.isTrashed }
    }
    return isTrashed
  }

  // MARK: - Titles, tags, priorities, paths, headers

  private func edits(
    of note: Note, _ done: DoneToNote, _ past: PastParts, _ what: inout ChangeKind, at now: Int64
  ) throws(ArchiveFailure) -> [Note.Operation] {
    var (title, priority) = (note.title, note.priority)
    var tags = note.tags.values
    var properties: [PropertyName: ReplicatingRegister<String>] = [:]
    for change in done.made.reversed()
    where !change.what.isDisjoint(with: [.title, .tags, .priority, .property]) {
      let (before, after) = try past.states(of: note, around: change.id, in: self)
      // Changes are compared, and not values: a value stays if somebody else has written the same since.
      if title.lastChange == after.title.lastChange { title = before.title }
      if priority.lastChange == after.priority.lastChange { priority = before.priority }
      for (name, register) in after.properties where name == .path || name.isContent {
        let present = properties[name] ?? note.properties[name]
        if present?.lastChange == register.lastChange {
          properties[name] = before.properties[name] ?? ReplicatingRegister("")
        }
      }
      let (old, new) = (before.tags.values, after.tags.values)
      let added = new.subtracting(old).filter {
        note.tags.additions(of: $0).allSatisfy(done.ranges.contains)
      }
      tags = tags.subtracting(added).union(old.subtracting(new))
    }
    var edits: [Note.Operation] = []
    if !title.value.utf8.elementsEqual(note.title.value.utf8) {
      edits.append(.title(note.title.assignment(of: title.value, at: now)))
      what.insert(.title)
    }
    if priority.value != note.priority.value {
      edits.append(.priority(note.priority.assignment(of: priority.value, at: now)))
      what.insert(.priority)
    }
    for (name, register) in properties.sorted(by: { $0.key < $1.key }) {
      if let operation = note.operation(setting: name, to: register.value, at: now) {
        edits.append(operation)
        what.insert(.property)
      }
    }
    let changes = note.operations(settingTags: tags)
    if !changes.isEmpty { what.insert(.tags) }
    return edits + changes
  }

  // MARK: - Places

  /// The old places of notes: those before their first moves.
  private func moves(
    of moved: [NoteID: DoneToNote.Made]
  ) throws(ArchiveFailure) -> [(note: NoteID, behind: [NoteID])] {
    var moves: [(note: NoteID, behind: [NoteID])] = []
    let byReplica = Dictionary(grouping: moved, by: \.value.id.replica)
    for (_, notes) in byReplica.sorted(by: { $0.key < $1.key }) {
      // The order that the replica saw before it began, in which each of these stood at its old place.
      let first = notes.map(\.value.id).min()!
      guard var version = try version(of: [first]), let order = openedOrder else { continue }
      version[first.replica] = first.number - 1
      let old = order.elements(at: version).map { NoteID(creation: $0) }
      var stays: [NoteID] = []
      var moving: Set<NoteID> = []
      for id in old {
        // Of many, the nearest are enough: one of them is there.
        let behind: [NoteID] = stays.suffix(8).reversed()
        if moved[id]?.id.replica == first.replica,
          !isPlaced(id, behind: behind, moving: moving)
        {
          moves.append((id, behind))
          moving.insert(id)
        }
        stays.append(id)
      }
    }
    return moves
  }

  /// True if a note stands where it is to be put back, and will when these are put back.
  private func isPlaced(
    _ note: NoteID, behind neighbours: [NoteID], moving: Set<NoteID>
  ) -> Bool {
    guard let neighbour = neighbours.first(where: { !isPurged($0) }) else {
      return order.position(of: note.creation) == 0
    }
    return !moving.contains(neighbour)
      && isPlaced(placement(of: note, beside: neighbour, isAfter: true))
  }

  // MARK: - What was done

  private func doneToNotes(
    by changes: ChangeRanges
  ) throws(ArchiveFailure) -> [NoteID: DoneToNote] {
    var done: [NoteID: DoneToNote] = [:]
    for run in changes.runs {
      try forEachEffect(of: run.replica, in: run.numbers) { number, lamport, note, what in
        let change = ChangeID(replica: run.replica, number: number)
        done[note, default: DoneToNote()].add(
          DoneToNote.Made(
            id: change, stamp: LamportTimestamp(count: lamport, replica: run.replica), what: what))
      }
    }
    for id in done.keys { done[id]!.sort() }
    return done
  }
}

/// The effects of some changes on one note.
private struct DoneToNote {
  struct Made {
    let id: ChangeID
    /// The last tick of the change.
    let stamp: LamportTimestamp
    let what: ChangeKind
  }

  /// The changes that did more than to edit its text, and of those in between that only did that the first, in their order.
  private(set) var made: [Made] = []
  private(set) var ranges = ChangeRanges()
  private(set) var all: ChangeKind = []
  /// True if the change that was added last only edited the text.
  private var isInText = false

  mutating func add(_ change: Made) {
    all.formUnion(change.what)
    let isText = change.what.subtracting([.text, .imported]).isEmpty
    if !isText || !isInText || made.last?.id.replica != change.id.replica { made.append(change) }
    isInText = isText
    ranges.insert(change.id)
  }

  mutating func sort() { made.sort { $0.stamp < $1.stamp } }

  var isOfTextAlone: Bool { made.allSatisfy { $0.what.subtracting([.text, .move]).isEmpty } }
  var isOfTrash: Bool { !all.isDisjoint(with: .trashing) }
  private var isCreated: Bool { all.contains(.created) }
  var firstMove: Made? { isCreated ? nil : made.first { $0.what.contains(.move) } }
}

extension ChangeKind {
  /// The kinds of changes that put a note into the trash, or keep it out.
  fileprivate static let trashing: ChangeKind = [.created, .trash, .restore]
  /// The same, and what takes a note out of the trash besides.
  fileprivate static let content: ChangeKind = [.created, .trash, .restore, .text, .title]
}

/// Some notes as they were, but for their texts, at any number of versions.
private struct PastParts {
  private typealias Edit = (moment: WallTime, stamp: Stamp, operation: Note.Operation)
  private var edits: [NoteID: [Edit]] = [:]

  /// O(changes of the sessions that have changed one of the notes).
  init(of notes: Set<NoteID>, in book: borrowing NoteBook) throws(ArchiveFailure) {
    var all = Version()
    for id in notes where !book.isPurged(id) {
      if let note = try book.note(id) { all.merge(note.version.intersection(book.version)) }
    }
    var edits: [NoteID: [Edit]] = [:]
    for replica in all.replicas {
      try book.forEachChange(of: replica, upTo: all[replica]) { change, first in
        let moment = WallTime(logical: first.timestamp, clock: change.time)
        var stamp = first
        for operation in change.operations {
          if case .edit(let id, let edit) = operation, notes.contains(id) {
            // Of what was done to a text it counts only that something was.
            edits[id, default: []].append((moment, stamp, edit.isOfText ? .restore : edit))
          }
          stamp.lamport += operation.ticks
        }
      }
    }
    self.edits = edits.mapValues { list in
      let order = list.indices.sorted {
        (list[$0].moment.logical, $0) < (list[$1].moment.logical, $1)
      }
      return order.map { list[$0] }
    }
  }

  /// A note before and after a change, as the author of that saw it. It existed before. O(edits of the note), and what finding the version takes.
  func states(
    of note: Note, around change: ChangeID, in book: borrowing NoteBook
  ) throws(ArchiveFailure) -> (before: Note, after: Note) {
    guard var version = try book.version(of: [change]) else { return (note, note) }
    let after = state(of: note, at: version)
    version[change.replica] = change.number - 1
    return (state(of: note, at: version), after)
  }

  private func state(of note: Note, at version: Version) -> Note {
    var past = Note(id: note.id, created: note.created, imported: note.imported)
    for edit in edits[note.id] ?? [] where version.contains(edit.stamp.change) {
      past.record(edit.operation, edit.stamp, at: edit.moment)
    }
    return past
  }
}
