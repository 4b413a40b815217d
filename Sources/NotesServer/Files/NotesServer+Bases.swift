internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The state of its note on which the text of a file was made, and whether the notebook has it.

extension NotesServer {
  /// True if the notebook has all that was known with a state of a file. It has not if it is older: restored from a backup, or damaged.
  func has(_ state: FileState) -> Bool {
    state.heads.allSatisfy(book.version.contains) && state.own.allSatisfy(book.version.contains)
  }

  /// True if the notebook has never had a note, or lacks it: a note that was purged is known.
  func isUnknown(_ note: NoteID) throws(ResponseError) -> Bool {
    try lookUp(note) == nil && !book.isPurged(note)
  }

  /// True if the present text of a note, and all else of it, stood in its file: then whatever the notebook lacks is not about that.
  private func isAsKnown(_ note: Note, at path: FilePath, _ states: [FileState]) -> Bool {
    guard let bytes = try? file(of: note, at: path).rendered() else { return false }
    let hash = SHA256.prefix64(of: bytes[...])
    return states.contains { $0.hash == hash }
  }

  /// True if nothing is read from a file because what it was written from would be in its note twice: edits of the note wait for missing
  /// changes, or the note or its edits are in what can't be read at present, or was not delivered yet. What is damaged or gone is not waited for.
  func isExpected(
    _ record: FileRecords.Record, at path: FilePath
  ) throws(ResponseError) -> Bool {
    let causes = Set((store?.gaps ?? []).map(\.cause))
    if causes.isEmpty { return false }
    let note = try lookUp(record.note)
    if let shown = try shownNote(record.note), shown.version != note?.version { return true }
    guard causes.contains(.unreadable) || causes == [.waiting] else { return false }
    guard let note else { return !book.isPurged(record.note) }
    return !has(record.states.last!) && !isAsKnown(note, at: path, record.states)
  }

  // MARK: - What users are told of that

  /// What keeps the notebook from being whole, for the beginning of a message; nil if nothing does.
  var gapsText: String? {
    guard let gaps = store?.gaps, let first = gaps.first else { return nil }
    let more = gaps.count > 1 ? ", and \(gaps.count - 1) more" : ""
    return
      "the notebook is not whole: \(first.path), byte \(first.offset): \(first.description)\(more)"
  }

  /// The same for a notebook that is whole, and older than what files were written from.
  static let olderText =
    "the notebook is older than the files, as one that was restored from a backup: it lacks changes from which they were written"

  /// What helps if the notebook lacks something.
  var helpText: String {
    "`\(commandLine("check"))` says what is damaged, `\(commandLine("check", "--repair"))` brings back what this machine still"
      + " knows and takes the rest as it is, and an exchange with another machine (sync) brings what that knows"
  }

  /// Tells the user what the notebook lacks, if it lacks something, at the end of an import or export.
  ///
  /// - Parameters:
  ///   - isOlder: whether files of this folder were written from changes that it lacks.
  ///   - isImport: whether what files have was taken in.
  mutating func tellLacking(of tree: any FileTree, _ isOlder: Bool, isImport: Bool) {
    guard let reason = gapsText ?? (isOlder ? Self.olderText : nil) else { return }
    let outcome =
      isImport
      ? "What the files have and it lacks was taken in"
      : "No file is removed or set back, and `\(commandLine("import", tree.resolvedPath))` takes in what they have and it lacks"
    showMessage(.error, "\(tree.resolvedPath): \(reason). \(outcome). \(helpText).")
  }

  // MARK: - Bases

  /// The state on which the text of a file was made: of those that a program may have read the nearest one. If the notebook lacks the newest, it
  /// may be as well the part of that which it has, or the present. Nil if nothing is known of the file.
  ///
  /// - Parameter path: of a file of the mirror.
  func base(
    of file: ReadFile, _ note: Note, among states: [FileState], at path: FilePath? = nil
  ) throws(ResponseError) -> FileState? {
    guard let lost = states.last, !has(lost) else {
      let all = Array(states.indices)
      let possible =
        path.flatMap {
          mirroring.mirror?.writtenStates.possibleBases(of: file.hash, among: states, at: $0)
        } ?? all
      // A program that appends to a file reads nothing.
      if possible != all, let newest = states.last, let last = try state(of: note, newest),
        file.text.starts(with: last.view.map(note.text.utf8(in:)) ?? note.text.utf8)
      {
        return newest
      }
      let nearest = try nearest(possible, of: states, to: file, note, at: path)
      // The program has read a later state where that is not reported: through another name, or on another machine.
      if possible != all, nearest?.hasLaterLines == true {
        return try self.nearest(all, of: states, to: file, note, at: path)?.state
      }
      return nearest?.state
    }
    let part = (lost.heads + lost.own).compactMap { head -> ChangeID? in
      let number = min(head.number, book.version[head.replica])
      return number > 0 ? ChangeID(replica: head.replica, number: number) : nil
    }
    let past = try recall { book throws(ArchiveFailure) -> Note? in
      guard let version = try book.version(of: part), version.contains(note.id.creation) else {
        return nil
      }
      return try book.note(note.id, at: version)?.note
    }
    var candidates = states.filter { has($0) }
    if let past { candidates.append(Self.state(of: past, heads: part)) }
    candidates.append(Self.state(of: note, heads: book.revision.heads))
    return try nearest(Array(candidates.indices), of: candidates, to: file, note)?.state
  }

  /// A note as a file would have it, of which there is none.
  static func state(of note: Note, heads: [ChangeID]) -> FileState {
    FileState(
      hash: FileState.unwritten, heads: heads, title: note.title.value,
      tags: note.tags.values.distinct, priority: note.priority.value,
      header: note.header.map {
        .init(key: $0.key, hash: SHA256.prefix64(of: Array($0.value.utf8)[...]))
      })
  }

  /// The state that a program had before it, that has written a text: the one from which it differs least, of equals the newest. Nil if none
  /// is known.
  ///
  /// What it lacks of a state counts only if it is still there: it may be missing because somebody else has removed it, and a guess that
  /// takes nothing away is the better one. It counts more of a state that stood in the file for a moment only. And a phrase that it has, and that
  /// came into the note after a state, says that its writer had seen a later one.
  ///
  /// - Parameter possible: the indices of the states that may be the one.
  private func nearest(
    _ possible: [Int], of states: [FileState], to file: ReadFile, _ note: Note,
    at path: FilePath? = nil
  ) throws(ResponseError) -> (state: FileState, hasLaterLines: Bool)? {
    if states.count == 1 { return try state(of: note, states[0]).map { _ in (states[0], false) } }
    var nearest: (state: FileState, distance: Int, hasLaterLines: Bool)?
    let (present, written) = (Self.phrases(in: note.text.utf8), Self.phrases(in: file.text))
    let lines = (written: Self.lines(in: file.text), present: Self.lines(in: note.text.utf8))
    let isPassing = try isPassing(states, at: path)
    var order = Array(states.indices.reversed())
    // The one who has written what was read goes on with that.
    if isPassing { order.swapAt(order.count - 1, order.count - 2) }
    for index in order where possible.contains(index) {
      guard let edited = try self.state(of: note, states[index]) else { continue }
      let old = edited.view.map(note.text.utf8(in:)) ?? note.text.utf8
      let edits = textDifference(from: old, to: file.text)
      let removed = try shownBytes(removedBy: edits, of: note, in: edited)
      var distance = edits.reduce(removed * (isPassing && index == 1 ? Self.weight : 1)) {
        $0 + $1.replacement.count
      }
      distance +=
        Self.lineWeight * Self.differing(Self.lines(in: old), lines.written, lines.present)
      // One may have grown together with what was there before. One that was there already says nothing, unless it is there once more.
      let earlier = Self.phrases(in: old)
      var later = Set(present.keys.filter { earlier[$0] == nil })
      let inserted = (edited.view.map(note.text.edits(from:)) ?? []).map(\.replacement)
      for text in inserted { later.formUnion(Self.phrases(in: text).keys) }
      later = later.filter { written[$0, default: 0] > earlier[$0, default: 0] }
      distance = later.reduce(distance) {
        $0 + Self.weight * $1.prefix { $0 > 0x20 }.count
      }
      if nearest.map({ distance < $0.distance }) ?? true {
        nearest = (
          states[index], distance, Self.hasLines(of: [note.text.utf8] + inserted, file.text, old)
        )
      }
    }
    return nearest.map { ($0.state, $0.hasLaterLines) }
  }

  /// True if the second of a file's states was in the file for a moment only: the mirror has put it there over the first (`readReplaced`), read
  /// that at once, and written the file again. False if a program has read it.
  private func isPassing(
    _ states: [FileState], at path: FilePath?
  ) throws(ResponseError) -> Bool {
    guard states.count > 1 else { return false }
    if let path, mirroring.mirror?.writtenStates.isRead(1, of: states, at: path) == true {
      return false
    }
    let version = try recall { book throws(ArchiveFailure) in
      try book.version(of: states[1].heads)
    }
    guard let version else { return false }
    return !(states[0].own.last.map { [$0] } ?? states[0].heads).allSatisfy(version.contains)
  }

  /// By how much a byte of a word that a state had not is worth more than one that is added, and one that is missing of a state which was in the
  /// file for a moment only.
  private static let weight = 4

  /// The distance, in bytes, that a line adds which only one of two texts has: a state from which a whole line was deleted is nearer than one in which
  /// another line was rewritten to the same rest.
  private static let lineWeight = 32

  /// The lines of a text, each with the number of times that it is there. O(n).
  private static func lines(in text: [UInt8]) -> [ArraySlice<UInt8>: Int] {
    text.split(separator: 0x0A).reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  /// The number of lines by which a text differs from a state of a note: those that it has besides, and those of the state that it lacks and
  /// that the note still has. O(lines).
  private static func differing(
    _ state: [ArraySlice<UInt8>: Int], _ text: [ArraySlice<UInt8>: Int],
    _ present: [ArraySlice<UInt8>: Int]
  ) -> Int {
    let added = text.reduce(0) { $0 + max(0, $1.value - state[$1.key, default: 0]) }
    return state.reduce(added) { count, line in
      let known = text[line.key, default: 0]
      return count + max(0, min(line.value, present[line.key, default: 0]) - known)
    }
  }

  /// The phrases of a text, each a word and those behind it up to `phraseLength`, with the number of times that each is there. Two people do not
  /// write one by chance.
  private static func phrases(in text: [UInt8]) -> [ArraySlice<UInt8>: Int] {
    let words = text.split { $0 <= 0x20 }
    var phrases: [ArraySlice<UInt8>: Int] = [:]
    var last = 0
    for first in words.indices {
      last = max(first, last)
      while last < words.count, words[last].endIndex - words[first].startIndex < phraseLength {
        last += 1
      }
      guard last < words.count else { break }
      phrases[text[words[first].startIndex..<words[last].endIndex], default: 0] += 1
    }
    return phrases
  }

  /// True if a text has a line of later ones more often than an older text has it.
  private static func hasLines(of later: [[UInt8]], _ text: [UInt8], _ old: [UInt8]) -> Bool {
    let (counts, earlier) = (lines(in: text), lines(in: old))
    let known = later.reduce(into: Set<ArraySlice<UInt8>>()) { $0.formUnion(lines(in: $1).keys) }
    return known.contains {
      $0.count >= phraseLength && counts[$0, default: 0] > earlier[$0, default: 0]
    }
  }

  /// The length of such a phrase at least, in bytes.
  private static let phraseLength = 12

  /// How many bytes of the present text edits of a state of it would remove.
  private func shownBytes(
    removedBy edits: [Edit<UInt8>], of note: Note, in state: EditedState
  ) throws(ResponseError) -> Int {
    if edits.allSatisfy(\.range.isEmpty) { return 0 }
    let operations: [Change.Operation]
    do { operations = try store!.operations(for: edits, in: note.id, state.view) } catch {
      throw ResponseError(error)
    }
    let rest = SequenceView(
      hidden: ElementRanges(operations.removals), revealed: ElementRanges())
    return note.text.count - note.text.utf8(in: rest).count
  }
}
