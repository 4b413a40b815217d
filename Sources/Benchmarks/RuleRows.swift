import Notes
import ReplicatingTypes

/// Two people change one note apart from each other, and one merges the other's changes.
func ruleRows(_ report: inout Report) {
  var random = SeededRandom(seed: 12)
  let lines = (0..<2_000).map { "\(random.below(10_000)) line of the list, number \($0)" }
  func text(_ lines: [String]) -> [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }
  let places = stride(from: 5, to: lines.count, by: 10)

  func row(
    _ name: String, _ start: [UInt8],
    _ ana: @escaping (inout NotebookWriter) -> Void,
    _ ben: @escaping (inout NotebookWriter) -> Void
  ) {
    var first = NotebookWriter()
    first.replica = ReplicaID(high: 1, low: 1)
    first.edit(0..<0, start)
    var second = first
    second.replica = ReplicaID(high: 2, low: 2)
    ana(&first)
    ben(&second)
    let book = first.book
    let changes = second.book.changes(since: book.version).encoded(of: Identifier(high: 1, low: 1))
    let both = second.book.merged(with: book)
    let timing = measure {
      merged(book, changes)
    } check: {
      expect($0 == both, "\(name), the other way round")
    }
    report.add(Row("rules", name, timing))
  }

  let long = [UInt8](repeating: 120, count: 100_000)
  let edits = (0..<2).map { _ in RandomEdits(1_000, in: long.count, &random) }
  row("1,000 edits of one letter each", long) {
    $0.make(edits[0])
  } _: {
    $0.make(edits[1])
  }
  row("200 lines deleted here and changed there", text(lines)) { writer in
    for place in places.reversed() {
      let start = lines[..<place].reduce(0) { $0 + $1.utf8.count + 1 }
      writer.edit(start..<start + lines[place].utf8.count + 1, [])
    }
  } _: { writer in
    for place in places.reversed() {
      let start = lines[..<place].reduce(0) { $0 + $1.utf8.count + 1 }
      let word = start + lines[place].utf8.count - " of the list, number ".utf8.count
      writer.edit(word..<word, Array("new ".utf8))
    }
  }
  let list = Array(lines.prefix(400))
  let sort: (inout NotebookWriter) -> Void = { $0.edit(to: text(list.sorted())) }
  row("400 lines sorted by both", text(list), sort, sort)
  undoRows(&report)
  meetingRows(&report)
}

/// Two replicas type in turn, each of them knowing what the other has typed; then two others change another note, unseen by each other, and
/// one merges the other's change. The floor is the same after ten keys: how much is past makes no difference.
private func meetingRows(_ report: inout Report) {
  for isArchived in [false, true] {
    var floor: Timing?
    for keys in [10, 1_000, 100_000] {
      let timing = meeting(after: keys, isArchived)
      let place = isArchived ? "in an archive" : "in memory"
      report.add(
        Row(
          "rules", "two changes that don't know each other, after \(keys) keys in turn, \(place)",
          timing, .microseconds, floor: floor, goal: floor.map { _ in .floor(2) }))
      floor = floor ?? timing
    }
  }
}

private func meeting(after keys: Int, _ isArchived: Bool) -> Timing {
  func replica(_ number: UInt64) -> ReplicaID {
    ReplicaID(high: number, low: number)
  }
  var typist = NotebookWriter()
  for key in 0..<keys {
    typist.replica = replica(UInt64(1 + key % 2))
    typist.edit(key..<key, [97])
  }
  var book = typist.book
  let lines = NoteID(creation: book.next(by: replica(1)))
  apply(
    book.change(
      by: replica(1), at: 1_000, [.create, .place(book.placementInFront(of: lines))]), to: &book)
  func edit(_ book: inout NoteBook, by number: UInt64, _ range: Range<Int>, _ text: String) {
    let edit = Edit(range: range, replacement: Array(text.utf8))
    let operations = readable {
      try book.open(lines) ? book.operations(for: [edit], in: lines) : []
    }
    apply(book.change(by: replica(number), at: 1_000, operations), to: &book)
  }
  edit(&book, by: 2, 0..<0, "one\ntwo\nthree\n")
  if isArchived {
    book = readable {
      var writer = ArchiveWriter(&book, appendix: [])
      var bytes: [UInt8] = []
      while let piece = try writer.next() { bytes += piece }
      let all = bytes
      return NoteBook(
        try NotebookArchive(size: all.count) { range throws(ArchiveFailure) in Array(all[range]) })
    }
  }
  var (joined, typed) = (book, book)
  edit(&joined, by: 3, 3..<4, "")
  edit(&typed, by: 4, 4..<4, " ")
  let changes = typed.changes(since: book.version)
  return measure(
    prepare: { (joined, PendingChanges(changes)) },
    body: { state in _ = state.0.drain(&state.1) },
    check: { state, _ in
      let text = readable { try state.0.note(lines)?.text.utf8 }
      expect(text == Array("one\n two\nthree\n".utf8), "the line feed is spared")
    })
}

/// Changes taken back by name, in a text of 100,000 letters after 10,000 random edits. The floor is a random edit.
private func undoRows(_ report: inout Report) {
  var random = SeededRandom(seed: 13)
  var writer = NotebookWriter()
  writer.edit(0..<0, [UInt8](repeating: 120, count: 100_000))
  let before = RandomEdits(10_000, in: 100_000, &random)
  writer.make(before)
  let last = RandomEdits(100, in: before.length, &random)
  let floor = measure(prepare: { writer }, body: { $0.make(last) }, check: { _, _ in })
  let start = writer.book.next(by: writer.replica).number - 100
  let undoing = measure(
    prepare: { writer },
    body: { writer in
      for number in (start..<start + 100).reversed() { writer.withdraw(number) }
    },
    check: { writer, _ in
      expect(!writer.text.withdrawn.isEmpty, "changes that are taken back")
    })
  report.add(
    Row(
      "rules", "a change taken back, after 10,000 random edits", undoing.divided(by: 100),
      .microseconds, floor: floor.divided(by: 100)))
  let (few, many) = (undo(ofChanging: 3_500), undo(ofChanging: 35_000))
  for (name, few, many) in [("undone", few.undo, many.undo), ("made again", few.redo, many.redo)] {
    report.add(
      Row(
        "rules", "a letter in each of 35,000 lines, \(name)", many, floor: few, goal: .floor(20)))
  }
  // Where others' changes met them, all that was removed is looked at again: 12 times as many elements as there are.
  let worn = undo(ofChanging: 35_000, after: 12)
  let met = undo(ofChanging: 35_000, after: 12, isConcurrent: true)
  for (name, timings, goal) in [("", worn, 3.0), (" and others' changes met", met, 20)] {
    let past = "a letter in each of 35,000 lines, after 12 removals of all lines were undone\(name)"
    report.add(
      Row("rules", "\(past): undone", timings.undo, floor: many.undo, goal: .floor(goal)))
    report.add(
      Row("rules", "\(past): made again", timings.redo, floor: many.redo, goal: .floor(goal)))
  }
  for isOneChange in [true, false] {
    let shape = isOneChange ? "by one change" : "by a change each"
    let (few, many) = (redo(ofRemoving: 3_500, isOneChange), redo(ofRemoving: 35_000, isOneChange))
    report.add(
      Row(
        "rules", "35,000 lines removed \(shape), undone and removed again: the last", many,
        floor: few, goal: .floor(20)))
  }
}

/// A removal of lines that was taken back is made again. With ten times the lines it is to take ten times as long.
private func redo(ofRemoving count: Int, _ isOneChange: Bool) -> Timing {
  var writer = NotebookWriter()
  writer.edit(0..<0, Array((0..<count).map { "line \($0) of the list\n" }.joined().utf8))
  let start = writer.book.next(by: writer.replica).number
  if isOneChange {
    writer.edit(0..<writer.text.count, [])
  } else {
    for number in 0..<count { writer.edit(0..<"line \(number) of the list\n".utf8.count, []) }
  }
  let end = writer.book.next(by: writer.replica).number
  writer.withdraw(start..<end)
  let undo = writer.book.next(by: writer.replica).number - 1
  let before = writer
  return measure(
    prepare: { before }, body: { $0.withdraw(undo) },
    check: { writer, _ in expect(writer.text.isEmpty, "all lines are removed again") })
}

/// A letter at the end of each line, by one change, is taken back and made again.
///
/// - Parameters:
///   - generations: so many times all lines were removed and a letter was put at their ends before, and both were taken back.
///   - isConcurrent: whether somebody else has put a letter at the beginning each time, unseen.
private func undo(
  ofChanging count: Int, after generations: Int = 0, isConcurrent: Bool = false
) -> (undo: Timing, redo: Timing) {
  var writer = NotebookWriter()
  let lines = (0..<count).map { "line \($0) of the list\n" }
  writer.edit(0..<0, Array(lines.joined().utf8))
  func change(_ body: (inout NotebookWriter) -> Void) -> UInt64 {
    body(&writer)
    return writer.book.next(by: writer.replica).number - 1
  }
  func put(_ letter: UInt8, _ writer: inout NotebookWriter) {
    writer.edit(to: writer.text.utf8.flatMap { $0 == 10 ? [letter, 10] : [$0] })
  }
  for generation in 0..<generations {
    var other = writer
    writer.withdraw(change { $0.edit(0..<$0.text.count, []) })
    writer.withdraw(change { put(63, &$0) })
    guard isConcurrent else { continue }
    other.replica = ReplicaID(high: 2, low: UInt64(generation))
    other.edit(0..<0, [120])
    writer.book = writer.book.merged(with: other.book)
  }
  let change = change { put(33, &$0) }
  let before = writer
  let undo = measure(
    prepare: { before }, body: { $0.withdraw(change) },
    check: { writer, _ in expect(!writer.text.utf8.contains(33), "no letter is left") })
  writer.withdraw(change)
  let undone = writer
  let redo = measure(
    prepare: { undone }, body: { $0.withdraw(change + 1) },
    check: { writer, _ in
      expect(writer.text.utf8.count { $0 == 33 } == count, "the letters are there again")
    })
  return (undo, redo)
}
