import Notes
import ReplicatingTypes

/// A note in a notebook: each edit a change, encoded; and changes on their way to other notebooks.
func encodeRows(_ trace: Trace, _ report: inout Report) {
  let part = trace.prefix(5_000)
  let timing = measure(
    prepare: { NotebookWriter() },
    body: { $0.replay(part) },
    check: { writer, _ in
      expect(writer.text.utf8 == part.end, "edits in a notebook")
    })
  report.add(
    Row(
      "encode", "\(trace.name), edit with its message", timing.divided(by: part.edits.count),
      .microseconds, goal: .units(1e-4)))

  var random = SeededRandom(seed: 10)
  let length = 100_000
  var scattered = NotebookWriter()
  scattered.edit(0..<0, [UInt8](repeating: 120, count: length))
  let before = RandomEdits(10_000, in: length, &random)
  scattered.make(before)
  let last = RandomEdits(1_000, in: before.length, &random)
  let later = measure(
    prepare: { scattered },
    body: { $0.make(last) },
    check: { writer, _ in
      expect(writer.text.count == last.length, "random edits in a notebook")
    })
  report.add(
    Row(
      "encode", "random edit with its message, after 10,000", later.divided(by: 1_000),
      .microseconds, goal: .units(1e-4)))

  var writer = NotebookWriter()
  writer.replay(part)
  let book = writer.book
  let name = Identifier(high: 1, low: 1)
  let encode = measure {
    book.changes(since: Version()).encoded(of: name)
  } check: { _ in
  }
  let bytes = book.changes(since: Version()).encoded(of: name)
  report.add(Row("encode", "\(trace.name), 5,000 changes, encode", encode))
  let merge = measure {
    merged(NoteBook(), bytes)
  } check: {
    expect($0 == book, "a notebook from its changes")
  }
  report.add(Row("encode", "\(trace.name), 5,000 changes, merge", merge))
  report.add(Row("encode", "\(trace.name), 5,000 changes", bytes: bytes.count))
}

/// Two notebooks whose note of 100,000 characters got 1,000 edits on each side.
func divergedNotebookRows(_ report: inout Report) {
  var random = SeededRandom(seed: 8)
  let length = 100_000
  var first = NotebookWriter()
  first.edit(0..<0, [UInt8](repeating: 120, count: length))
  var second = first
  second.replica = ReplicaID(high: 0, low: 2)
  first.make(RandomEdits(1_000, in: length, &random))
  second.make(RandomEdits(1_000, in: length, &random))
  let name = Identifier(high: 1, low: 1)
  let bytes = second.book.changes(since: first.book.version).encoded(of: name)
  let both = first.book.merged(with: second.book)
  let book = first.book
  let timing = measure {
    merged(book, bytes)
  } check: {
    expect($0 == both, "a merge of diverged notebooks")
  }
  let row = "two notebooks, 1,000 edits each"
  report.add(Row("diverged", "\(row), apply", timing))
  report.add(Row("diverged", "\(row), delta", bytes: bytes.count))
}

/// 10,000 notes, merged with themselves and into an empty notebook.
func notebookRows(_ report: inout Report) {
  let author = ReplicaID(high: 0, low: 1)
  var random = SeededRandom(seed: 9)
  var prose = Prose()
  var book = NoteBook()
  for _ in 0..<10_000 {
    let note = NoteID(creation: book.next(by: author))
    let text = prose.text(atLeast: 100, &random)
    apply(
      book.change(
        by: author, at: 1_000,
        [
          .create, .place(book.placement(of: note, at: 0)),
          .edit(note, .text(.insert(text, after: nil, before: nil))),
        ]), to: &book)
  }
  let bytes = book.changes(since: Version()).encoded(of: Identifier(high: 1, low: 1))
  let whole = book
  for (name, start) in [("with itself", whole), ("into an empty one", NoteBook())] {
    let timing = measure {
      merged(start, bytes)
    } check: {
      expect($0 == whole, "10,000 notes \(name)")
    }
    report.add(Row("notebook", "10,000 notes \(name), from bytes", timing))
  }
  let timing = measure {
    whole.merged(with: whole)
  } check: {
    expect($0 == whole, "10,000 notes merged with themselves")
  }
  report.add(Row("notebook", "10,000 notes with itself, merged(with:)", timing))
  report.add(Row("notebook", "10,000 notes, all changes", bytes: bytes.count))
  let moving = measure {
    moved(whole, 1_000)
  } check: {
    expect($0.counts == whole.counts, "1,000 notes moved among 10,000")
  }
  report.add(Row("notebook", "10,000 notes, 1,000 moves, each with a list of ten", moving))
  let deleting = measure {
    changed(whole, 1_000) { book, note in .edit(note, book.read(note) { $0.deletion }) }
  } check: {
    expect($0.counts.trashed == 1_000, "1,000 of 10,000 notes in the trash")
  }
  let trashed = changed(whole, 1_000) { book, note in .edit(note, book.read(note) { $0.deletion }) }
  let purging = measure {
    changed(trashed, 1_000) { .purge($1) }
  } check: {
    expect($0.purged.count == 1_000, "1,000 of 10,000 notes forgotten")
  }
  report.add(
    Row(
      "notebook", "10,000 notes, one of 1,000 forgotten; its floor: put into the trash",
      purging.divided(by: 1_000), .microseconds, floor: deleting.divided(by: 1_000),
      goal: .floor(2)))
}

/// Makes a change to each of the first notes.
private func changed(
  _ book: NoteBook, _ count: UInt64, _ operation: (NoteBook, NoteID) -> Change.Operation
) -> NoteBook {
  var book = book
  let author = ReplicaID(high: 0, low: 1)
  for number in 1...count {
    let note = NoteID(creation: ChangeID(replica: author, number: number))
    _ = readable { try book.open(note) }
    apply(book.change(by: author, at: 1_000, [operation(book, note)]), to: &book)
  }
  return book
}

/// Moves notes by their index, and looks at the first after each.
private func moved(_ book: NoteBook, _ count: Int) -> NoteBook {
  var book = book
  let author = ReplicaID(high: 0, low: 2)
  var random = SeededRandom(seed: 3)
  for _ in 0..<count {
    let note = NoteID(
      creation: ChangeID(
        replica: ReplicaID(high: 0, low: 1), number: UInt64(random.below(10_000) + 1)))
    let placement = book.placement(of: note, at: random.below(10_000))
    if !book.isPlaced(placement) {
      apply(book.change(by: author, at: 1_000, [.place(placement)]), to: &book)
    }
    var listed = 0
    readable {
      try book.forEachSummary { _ in
        listed += 1
        return listed < 10
      }
    }
  }
  return book
}

/// Applies a change that must be a right one.
func apply(_ change: Change, to book: inout NoteBook) {
  readable { try book.apply(change) }
}

/// The result of reading a notebook that is in memory, where nothing can be unreadable.
@discardableResult
func readable<Result>(_ body: () throws -> Result) -> Result {
  do { return try body() } catch { fatalError("a notebook in memory: \(error)") }
}

/// A notebook with changes from elsewhere, which must be right ones.
func merged(_ book: NoteBook, _ bytes: [UInt8]) -> NoteBook {
  var book = book
  do {
    try book.merge(foreign: ChangeSet.decode(bytes).changes)
  } catch {
    fatalError("wrong result: changes are refused: \(error)")
  }
  return book
}

/// Writes one note, as the server does: a change is planned, encoded, and then applied.
struct NotebookWriter {
  var book = NoteBook()
  /// The author of the edits.
  var replica = ReplicaID(high: 0, low: 1)
  /// The only note.
  let note: NoteID
  private var encodedBytes = 0
  private var time: Int64 = 1_000

  /// A notebook with one note, into which a trace was typed, with so many milliseconds before each edit.
  static func typing(_ trace: Trace, _ pause: () -> Int64) -> NoteBook {
    var writer = NotebookWriter()
    for edit in trace.edits where edit.removed > 0 || edit.count > 0 {
      writer.time += pause()
      writer.make(edit, of: trace)
    }
    return writer.book
  }

  /// Makes a notebook with one empty note.
  init() {
    note = NoteID(creation: book.next(by: replica))
    let placement = book.placement(of: note, at: 0)
    apply(book.change(by: replica, at: 1_000, [.create, .place(placement)]), to: &book)
  }

  /// The note's text.
  var text: ReplicatingText { book.read(note) { $0.text } }

  /// Replaces a range of bytes.
  mutating func edit(_ range: Range<Int>, _ new: [UInt8]) {
    let operations = book.operations(for: [Edit(range: range, replacement: new)], in: note)
    let encoded = book.encode(book.change(by: replica, at: time, operations))
    encodedBytes += encoded.bytes.count
    book.apply(encoded)
  }

  /// Makes the text another one, in one change.
  mutating func edit(to new: [UInt8]) {
    let operations = book.operations(
      for: textDifference(from: text.utf8, to: new), in: note)
    book.apply(book.encode(book.change(by: replica, at: time, operations)))
  }

  /// Takes back what a change of the same author did.
  mutating func withdraw(_ number: UInt64) { withdraw(number..<number + 1) }

  /// The same for several changes.
  mutating func withdraw(_ numbers: Range<UInt64>) {
    let changes = ChangeRanges([
      ChangeRanges.Run(replica, numbers.lowerBound...numbers.upperBound - 1)
    ])
    book.apply(book.encode(book.change(by: replica, at: time, [.edit(note, .withdraw(changes))])))
  }

  /// Makes random edits, each as a change.
  mutating func make(_ random: RandomEdits) {
    for (offset, letter) in random.edits {
      edit(offset..<offset + (letter == nil ? 1 : 0), letter.map { [$0] } ?? [])
    }
  }

  /// Makes all edits of a trace, each as a change.
  mutating func replay(_ trace: Trace) {
    for edit in trace.edits where edit.removed > 0 || edit.count > 0 {
      make(edit, of: trace)
    }
  }

  private mutating func make(_ edit: Trace.Edit, of trace: Trace) {
    let offset = Int(edit.offset)
    self.edit(offset..<offset + Int(edit.removed), Array(trace.inserted[edit.range]))
  }
}
