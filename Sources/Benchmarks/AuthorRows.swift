import Notes
import ReplicatingTypes

/// Very many changes, or changes of very many authors, merged at once, and in slices between which a client is answered.
///
/// The floor is as many changes that do the same, of one author who has seen everything: what remains is what it costs that there are many
/// of them. The floor of slices is the same at once.
func authorRows(_ report: inout Report) {
  let start = Crowd()
  let rows: [(name: String, make: (inout Crowd) -> Void, floor: (inout Crowd) -> Void)] = [
    (
      "8,000 sessions beside an unseen head",
      {
        for number in 1...8_000 { $0.create(by: number) }
        $0.addUnseenHead()
      }, { for _ in 1...8_000 { $0.create(by: 1) } }
    ),
    (
      "32,000 authors create a note each",
      { crowd in crowd.apart(32_000) { $0.create(by: $1) } },
      { for _ in 1...32_000 { $0.create(by: 1) } }
    ),
    (
      "32,000 authors at one place",
      { crowd in crowd.apart(32_000) { $0.insert(by: $1) } },
      { for _ in 1...32_000 { $0.insert(by: 1) } }
    ),
    (
      "300 authors in turn beside an unseen head",
      {
        for number in 0..<9_000 { $0.insert(by: 1 + number % 300) }
        $0.addUnseenHead()
      }, { for _ in 0..<9_000 { $0.insert(by: 1) } }
    ),
    (
      "100,000 changes of one author beside an unseen head",
      {
        for _ in 0..<100_000 { $0.insert(by: 1) }
        $0.addUnseenHead()
      }, { for _ in 0..<100_000 { $0.insert(by: 1) } }
    ),
    (
      "100,000 notes", { for _ in 0..<100_000 { $0.create(by: 1) } },
      { for _ in 0..<100_000 { $0.create(by: 1) } }
    ),
    (
      "1,000,000 notes", { for _ in 0..<1_000_000 { $0.create(by: 1) } },
      { for _ in 0..<100_000 { $0.create(by: 1) } }
    ),
  ]
  for row in rows {
    var (crowd, plain) = (start, start)
    row.make(&crowd)
    row.floor(&plain)
    let floor = plain.measureWhole().divided(by: plain.count)
    let whole = crowd.measureWhole()
    let (slices, longest) = crowd.measureSlices()
    report.add(
      Row("authors", row.name, whole.divided(by: crowd.count), .microseconds, floor: floor))
    report.add(
      Row("authors", "\(row.name), in slices", slices, floor: whole, goal: .floor(1.1)))
    report.add(
      Row("authors", "\(row.name), the longest slice", longest, goal: .median(20e6)))
  }
}

/// A notebook of one note, and changes that come to it.
private struct Crowd {
  /// The work of a slice, as in a process.
  static let slice = 512

  /// The notebook in which the changes are made.
  private var book = NoteBook()
  /// That into which they are merged.
  private var reader = NoteBook()
  private var note: NoteID
  private var start = Version()
  private var sets: [ChangeSet] = []

  init() {
    note = NoteID(creation: book.next(by: Self.author(0)))
    create(by: 0)
    let operations = readable { () throws(ArchiveFailure) in
      try book.open(note)
        ? book.operations(for: [Edit(range: 0..<0, replacement: Array("[]\n".utf8))], in: note) : []
    }
    make(operations, by: 0)
    reader = book
    start = book.version
  }

  private static func author(_ number: Int) -> ReplicaID {
    // Those that come one after the other are not neighbours.
    ReplicaID(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number))
  }

  private mutating func make(_ operations: [Change.Operation], by number: Int) {
    Benchmarks.apply(book.change(by: Self.author(number), at: 1_000, operations), to: &book)
  }

  mutating func create(by number: Int) {
    let new = NoteID(creation: book.next(by: Self.author(number)))
    make([.create, .place(book.placement(of: new, at: 0))], by: number)
  }

  /// Inserts a letter behind the first one of the note.
  mutating func insert(by number: Int) {
    let edit = Edit(range: 1..<1, replacement: [UInt8(97 + number % 26)])
    make(book.operations(for: [edit], in: note), by: number)
  }

  /// Lets so many authors make a change each who have seen nothing but the first note.
  mutating func apart(_ count: Int, _ change: (inout Self, Int) -> Void) {
    let start = self
    for number in 1...count {
      var one = start
      change(&one, number)
      sets.append(one.book.changes(since: one.start))
    }
  }

  /// The reader has made a change that none of the authors has seen.
  mutating func addUnseenHead() {
    sets = [book.changes(since: start)]
    let edit = Edit(range: 3..<3, replacement: Array("mine".utf8))
    let operations = reader.operations(for: [edit], in: note)
    Benchmarks.apply(reader.change(by: Self.author(1 << 40), at: 1_000, operations), to: &reader)
  }

  private var all: [ChangeSet] { sets.isEmpty ? [book.changes(since: start)] : sets }

  /// The number of changes that come.
  var count: Int { all.reduce(0) { $0 + $1.consecutive.reduce(0) { $0 + $1.encoded.count } } }

  private func prepare() -> (NoteBook, PendingChanges) {
    var pending = PendingChanges()
    for set in all { pending.insert(set) }
    return (reader, pending)
  }

  func measureWhole() -> Timing {
    measure(
      prepare: prepare, body: { $0.0.drain(&$0.1) },
      check: { state, merged in
        expect(state.1.isEmpty && merged.refused.isEmpty, "all is merged")
      })
  }

  /// The times of all slices together, and of the longest.
  func measureSlices() -> (all: Timing, longest: Timing) {
    let clock = ContinuousClock()
    var longest: [Double] = []
    let all = measure(
      prepare: prepare,
      body: { state in
        var most = Duration.zero
        while state.1.isReady {
          let start = clock.now
          _ = state.0.drain(&state.1, atMost: Self.slice)
          most = max(most, clock.now - start)
        }
        let (seconds, attoseconds) = most.components
        longest.append(Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
      },
      check: { state, _ in expect(state.1.isEmpty, "all is merged in slices") })
    return (all, Timing(longest))
  }
}
