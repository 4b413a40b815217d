import Notes
import ReplicatingTypes

/// Packed changes: their bytes, and the time to write and read them, by raw bytes of changes.
func packedRows(_ trace: Trace, _ report: inout Report) {
  var random = SeededRandom(seed: 21)
  let steady = NotebookWriter.typing(trace) { 100 }
  packedRows("\(trace.name), an even clock", steady, trace.name == "automerge-paper", &report)
  let typed = NotebookWriter.typing(trace) {
    // A key each 80 to 400 ms, and a pause each 50 keys.
    random.oneIn(50) ? 1_000 + Int64(random.below(60_000)) : 80 + Int64(random.below(320))
  }
  packedRows("\(trace.name), typed by a person", typed, false, &report)
}

/// Many small notes by many sessions.
func packedNotebookRows(_ report: inout Report) {
  for (notes, sessions) in [(1_000, 1), (1_000, 100)] {
    let book = smallNotes(notes, by: sessions)
    let name = "\(notes) notes of 1 kB by \(sessions) sessions"
    packedRows(name, book, false, &report)
  }
}

private let notebook = Identifier(high: 1, low: 1)

private func packedRows(_ name: String, _ book: NoteBook, _ hasGoal: Bool, _ report: inout Report) {
  let plain = book.changes(since: Version()).encoded(of: notebook)
  let packed = readable { try book.packed(of: notebook) }
  report.add(Row("packed", "\(name), as they travel", bytes: plain.count))
  report.add(Row("packed", name, bytes: packed.count, goal: hasGoal ? .bytes(203_500) : nil))
  let writing = measure {
    readable { try book.packed(of: notebook) }
  } check: {
    expect($0 == packed, "packing")
  }
  report.add(Row("packed", "\(name), write", writing))
  let reading = measure {
    unpacked(packed)
  } check: { _ in
  }
  report.add(Row("packed", "\(name), read", reading))
}

private func unpacked(_ bytes: [UInt8]) -> Int {
  do {
    let packed = try PackedChanges(bytes)
    var count = 0
    for (replica, _) in packed.ranges {
      for block in packed.blocks(of: replica) {
        count += try packed.decode(block, bytes[block.bytes]).numbers.count
      }
    }
    return count
  } catch {
    fatalError("wrong result: packed changes are refused: \(error)")
  }
}

private func smallNotes(_ notes: Int, by sessions: Int) -> NoteBook {
  var random = SeededRandom(seed: 22)
  var prose = Prose()
  var book = NoteBook()
  var time: Int64 = 1_767_225_600_000
  for index in 0..<notes {
    let session = index * sessions / notes
    let author = ReplicaID(high: UInt64(session) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(session))
    let note = NoteID(creation: book.next(by: author))
    let text = prose.text(atLeast: 1_000, &random)
    time += 1_000 + Int64(random.below(1_000_000))
    let title = ReplicatingRegister<String>.Assignment(value: "", time: time)
    apply(
      book.change(
        by: author, at: time,
        [
          .create, .place(book.placement(of: note, at: 0)), .edit(note, .title(title)),
          .edit(note, .text(.insert(text, after: nil, before: nil))),
        ]), to: &book)
  }
  return book
}
