public import ReplicatingTypes

// The rules of merging text (DuplicateCoalescing.swift and SeparatorPreservation.swift of ReplicatingTypes), applied to what came.

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
      guard case .edit(let note, .text) = operation, !isPurged(note) else { continue }
      let base = bases.isEmpty ? nil : bases[note]?.version
      let isNew = undecided[note, default: []].append(change.id, knowing: known, on: base)
      if isNew { undecidedCount += 1 }
    }
  }

  /// The texts in which a change, the next to be performed, does what nobody does who has seen all that is shown, though its author says so; as if it had
  /// been made on a base that has nothing, so that all of it is looked at. The rules themselves take what it says for true.
  ///
  /// A client whose server has died goes on like that: no base can say what it shows.
  mutating func strayBases(of change: Change) -> [NoteID: SeenChanges] {
    var bases: [NoteID: SeenChanges] = [:]
    for operation in change.operations {
      guard case .edit(let note, .text) = operation, bases[note] == nil, noteCache.contains(note),
        !isPurged(note), case .edit(_, .text(let edit)) = operation,
        !noteCache[existing: note].text.goesOnFromWhatIsShown(edit)
      else { continue }
      bases[note] = SeenChanges(version: Version(), own: [], author: change.id.replica)
    }
    return bases
  }

  /// Notes the texts of which a change, which was admitted last, has withdrawn something. Many withdrawals are looked at together: each
  /// time all of them are.
  mutating func note(withdrawalsIn change: Change) {
    guard change.rareKinds.contains(.withdrawal) else { return }
    for case .edit(let note, .withdraw) in change.operations where !isPurged(note) {
      undecided[note, default: []] += []
      withdrawing.insert(note)
    }
  }

  /// The changes that the author of a change had seen of the texts that it has a base for. It is the next to be admitted, or known.
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

  /// Applies the rules after the edits that were noted. What the archive can't tell now is asked for the next time.
  mutating func settleMerges(_ effects: inout Effects) {
    undecidedCount = 0
    if undecided.isEmpty { return }
    for note in undecided.keys.sorted() {
      if RuleGuard.excluded.contains(note) {
        withdrawing.remove(note)
        undecided[note] = nil
        continue
      }
      do throws(ArchiveFailure) {
        try RuleGuard.applying(to: note) { () throws(ArchiveFailure) in
          try settleMerge(of: note, &effects)
        }
        undecided[note] = nil
      } catch {}
    }
    noteCache.tidy()
  }

  private mutating func settleMerge(
    of note: NoteID, _ effects: inout Effects
  ) throws(ArchiveFailure) {
    var causality = KnownPasts(of: self, in: note)
    try noteCache.open(note)
    if withdrawing.remove(note) != nil {
      noteCache[existing: note].settleWithdrawals { effects.insert($0, note) }
    }
    try noteCache[existing: note].text.settleMerge(after: undecided[note]!, &causality) {
      effects.insert($0, note)
    }
  }
}

extension [UnseenEdits] {
  /// Adds a change to those of its author, which has seen `known` if it is the first; whether it is.
  fileprivate mutating func append(
    _ change: ChangeID, knowing known: Version, on base: Version?
  ) -> Bool {
    let author = change.replica
    let place = firstIndex { $0.author == author }
    if place == nil { append(UnseenEdits(by: author, knowing: known)) }
    self[place ?? count - 1].append(change, on: base)
    return place == nil
  }
}

extension NoteBook {
  /// The elements of a note's text that are not in a base of the next change of a replica; nil if there may be no such change,
  /// because the base stands on too many others of its author.
  public func unseen(
    in note: NoteID, on base: TextBase, by author: ReplicaID
  ) throws(ArchiveFailure) -> ElementRanges? {
    var causality = KnownPasts(of: self, in: note)
    let seen = try causality.seen(
      by: ChangeID(replica: author, number: version[author] + 1), on: base)
    if seen.own.count > TextBase.longestChain { return nil }
    guard let text = try noteCache.note(note)?.text else { return ElementRanges() }
    let own = seen.own.compactMap {
      text.elements(insertedBy: ChangeID(replica: author, number: $0))
    }
    return text.insertions(after: seen.version).subtracting(ElementRanges(own))
  }
}

// A rule of merging that ends the process, by a mistake of this program, must not end each later one with all other notes in it.
//
// A trap can't be caught. So while the rules are applied to a text, the name of its note stands at an address that a handler of signals
// reads (`decent-notes/RuleFailures.swift`). The handler writes the name down, and later processes show this note without the rules: all
// that was written in it, perhaps twice.

/// The notes to which the rules of merging are not applied, and the one to which they are being applied.
///
/// Both are of the process, as its signals are. They are set before the first notebook is opened, and not after that.
public enum RuleGuard {
  /// Notes with which the rules have ended an earlier process.
  nonisolated(unsafe) public private(set) static var excluded: Set<NoteID> = []
  /// The buffer for the name of a note: its length, and its bytes. `nil` where nothing reads them.
  nonisolated(unsafe) private static var name: UnsafeMutableBufferPointer<UInt8>?

  #if DEBUG
    /// A note with which the rules end the process, for tests.
    nonisolated(unsafe) public static var failing: NoteID?
  #endif

  /// Has the rules not be applied to some notes.
  ///
  /// - Parameter name: where to put the length of a note's name, 0 for none, and behind it the name, while the rules are applied to the note. It is never freed, and has
  ///   room for 128 bytes.
  public static func begin(excluding notes: Set<NoteID>, name: UnsafeMutableBufferPointer<UInt8>) {
    excluded = notes
    self.name = name
  }

  /// Runs `body`, which applies rules to a note's text.
  static func applying<Failure, Result>(
    to note: NoteID, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let name else { return try body() }
    var end = 1
    for byte in note.description.utf8.prefix(name.count - 1) {
      name[end] = byte
      end += 1
    }
    // The length comes last: until then there is no name.
    name[0] = UInt8(end - 1)
    defer { name[0] = 0 }
    #if DEBUG
      precondition(note != failing, "a rule of merging that fails")
    #endif
    return try body()
  }
}
