import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// A session that edits notes as an editor does, and what is known of each of its changes without looking into them.
private final class Editor {
  /// One change of one note.
  struct Step {
    let number: UInt64
    let note: NoteID
    let time: Int64
    var isText = false
    var removed = 0
    var inserted = 0
    var isWithdrawal = false
    /// The bytes of the text before it.
    var length = 0
    /// True if the note was saved behind its step before, or its process ended.
    var isSaved = false
    /// True if others had written in the note since its step before, as far as the editor knew.
    var hasOthers = false
  }

  let id: ReplicaID
  var book = NoteBook()
  var entries = OpenEntries()
  var now: Int64
  var steps: [Step] = []
  private var saved: Set<NoteID> = []
  /// What others had written in each note when the editor wrote there last.
  private var seen: [NoteID: Version] = [:]

  init(_ number: UInt64, at now: Int64 = 1_767_225_600_000) {
    id = replicaID(number)
    self.now = now
  }

  private func others(in note: NoteID) -> Version {
    var content = book[note]?.content ?? Version()
    content[id] = 0
    return content
  }

  private func make(_ operations: [Change.Operation], _ step: Step) {
    var step = step
    step.isSaved = saved.remove(step.note) != nil
    step.hasOthers = seen[step.note].map { !$0.isSuperset(of: others(in: step.note)) } ?? false
    let encoded = try! book.encodedChange(
      by: id, at: now, author: Author(name: "\(id.high)", program: "tests"), in: &entries,
      operations)!
    book.apply(encoded)
    seen[step.note] = others(in: step.note)
    steps.append(step)
  }

  private func step(in note: NoteID) -> Step {
    Step(number: book.next(by: id).number, note: note, time: now)
  }

  @discardableResult
  func create(_ text: String = "") -> NoteID {
    let note = NoteID(creation: book.next(by: id))
    try! book.openOrder()
    let edit = Edit(range: 0..<0, replacement: Array(text.utf8))
    var step = step(in: note)
    (step.isText, step.inserted) = (!text.isEmpty, text.utf8.count)
    make(
      [.create, .place(book.placement(of: note, at: 0))]
        + ReplicatingText().operations(for: [edit]).map { .edit(note, .text($0)) }, step)
    return note
  }

  func replace(_ range: Range<Int>, with text: String, in note: NoteID) {
    var step = step(in: note)
    step.isText = true
    step.length = book[note]!.text.count
    (step.removed, step.inserted) = (range.count, text.utf8.count)
    let edit = Edit(range: range, replacement: Array(text.utf8))
    make(book.plan(for: [edit], in: note), step)
  }

  func type(_ text: String, in note: NoteID) {
    let count = book[note]!.text.count
    replace(count..<count, with: text, in: note)
  }

  func withdraw(_ change: ChangeID, in note: NoteID) {
    var step = step(in: note)
    (step.isText, step.isWithdrawal) = (true, true)
    let run = ChangeRanges.Run(change.replica, change.number...change.number)
    make([.edit(note, .withdraw(ChangeRanges([run])))], step)
  }

  func setTitle(_ title: String, of note: NoteID) {
    let assignment = book[note]!.title.assignment(of: title, at: now)
    make([.edit(note, .title(assignment))], step(in: note))
  }

  func save(_ note: NoteID) {
    entries.end(note)
    saved.insert(note)
  }

  /// Another process goes on with the session.
  func handOver() {
    entries = OpenEntries()
    saved = Set(steps.map(\.note))
  }

  func pull(_ other: Editor) throws {
    let bytes = other.book.changes(since: book.version).encoded(of: notebook)
    try book.merge(foreign: try ChangeSet.decode(bytes).1)
  }

  func text(_ note: NoteID, at revision: Revision) throws -> String {
    let version = try book.version(of: revision.heads)!
    return String(decoding: try book.note(note, at: version)!.utf8, as: UTF8.self)
  }

  func history(_ note: NoteID) throws -> [HistoryEntry] {
    try book.history(of: note, limit: .max)
  }
}

/// The numbers of the changes with which entries of one note begin, by the laws that `OpenEntries` states, change by change.
private func starts(of steps: [Editor.Step], among all: [Editor.Step]) -> [UInt64] {
  func large(_ length: Int) -> Int { min(200, max(20, Int((Double(length) / 2).rounded(.up)))) }
  func interval(_ time: Int64) -> Int64 { Int64((Double(time) / 600_000).rounded(.down)) }
  /// True if the sitting ends between two steps.
  func isApart(_ first: Editor.Step, _ second: Editor.Step) -> Bool {
    let between = all.filter { (first.number...second.number).contains($0.number) }
    return zip(between, between.dropFirst()).contains {
      interval($0.time) != interval($1.time) || $0.number % 4096 == 0
    }
  }
  var starts: [UInt64] = []
  for (index, step) in steps.enumerated() {
    guard index > 0 else {
      starts.append(step.number)
      continue
    }
    let last = steps[index - 1]
    let text = steps[..<index].last { $0.isText }
    let pause = abs(step.time - last.time)
    let isStart =
      pause >= 60_000 || isApart(last, step) || step.isSaved
      || step.isWithdrawal && text?.isWithdrawal != true
      || step.removed > 0 && step.removed >= large(step.length)
      || pause >= 5000 && step.hasOthers
    if isStart {
      starts.append(step.number)
      continue
    }
    // A run of removals in this entry that ends here and has become large.
    var run: [Editor.Step] = []
    for earlier in steps[...index].reversed() where earlier.number >= starts.last! {
      if !earlier.isText { continue }
      guard earlier.removed > 0, earlier.inserted == 0 else { break }
      run.append(earlier)
    }
    guard let first = run.last, first.number > starts.last! else { continue }
    if run.reduce(0, { $0 + $1.removed }) >= large(first.length) { starts.append(first.number) }
  }
  return starts
}

@Suite(.computing) struct `The entries of a history` {
  /// Three sentences, and more, of 40 bytes each.
  private let sentences = (1...5).map { "This is sentence number \($0), all of it...\n" }

  @Test
  func `begin where the laws say, cover all changes in their order, and are of one session each`()
    throws
  {
    var reasons = 0
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      let editors = [Editor(1), Editor(2)]
      var notes = [editors[0].create("a text to begin with"), editors[0].create()]
      try editors[1].pull(editors[0])
      for _ in 0..<150 {
        let editor = generator.pick(editors)
        let other = editors.first { $0 !== editor }!
        editor.now += generator.pick([20, 20, 300, 4999, 5000, 20_000, 59_999, 60_000])
        if generator.chance(2) { editor.now += generator.pick([-700_000, 700_000]) }
        let note = generator.pick(notes)
        let count = editor.book[note]!.text.count
        switch generator.below(20) {
        case 0..<6: editor.type(String(repeating: "x", count: 1 + generator.below(60)), in: note)
        case 6..<12:
          guard count > 0 else { continue }
          let range = count - 1 - generator.below(min(count, generator.pick([3, 30, 300])))..<count
          editor.replace(range, with: generator.chance(15) ? "y" : "", in: note)
        case 12: editor.setTitle("\(editor.now)", of: note)
        case 13, 14: editor.save(note)
        case 15: if generator.chance(20) { editor.handOver() }
        case 16:
          guard let step = editor.steps.filter({ $0.note == note && $0.isText }).last else {
            continue
          }
          editor.withdraw(ChangeID(replica: editor.id, number: step.number), in: note)
        case 17: if generator.chance(20) { notes.append(editor.create("new")) }
        default: try editor.pull(other)
        }
        for editor in editors {
          for other in editors where other !== editor {
            if !notes.allSatisfy({ editor.book[$0] != nil }) { try editor.pull(other) }
          }
        }
      }
      try editors[0].pull(editors[1])
      try editors[1].pull(editors[0])
      for note in notes {
        let history = try editors[0].history(note)
        #expect(try editors[1].history(note) == history, at(seed))
        for editor in editors {
          let steps = editor.steps.filter { $0.note == note }
          let expected = starts(of: steps, among: editor.steps)
          reasons += expected.count
          let own = history.filter { $0.replica == editor.id }.map { $0.revision.heads[0].number }
          #expect(zip(own, own.dropFirst()).allSatisfy(>), at(seed))
          // Each entry ends with the last change before the next one begins.
          let ends = expected.dropFirst().map { start in
            steps.last { $0.number < start }!.number
          }
          #expect(own.reversed() == ends + steps.suffix(1).map(\.number), at(seed))
        }
      }
    }
    #expect(reasons > 3000)
  }

  @Test func `give back five sentences that were saved and then deleted within a minute`() throws {
    let editor = Editor(1)
    let note = editor.create()
    for sentence in sentences {
      editor.now += 2000
      editor.type(sentence, in: note)
    }
    editor.save(note)
    let text = sentences.joined()
    for _ in sentences {
      editor.now += 1000
      let count = editor.book[note]!.text.count
      editor.replace(count - 1..<count, with: "", in: note)
    }
    editor.type("something else", in: note)
    let history = try editor.history(note)
    #expect(history.count == 2)
    #expect(try editor.text(note, at: history[1].revision) == text)
  }

  @Test func `end before a large removal, at once or piece by piece, and before no small one`()
    throws
  {
    // The removals, one behind the other, and whether an entry begins with the first.
    let cases: [(text: Int, removals: [Int], isLarge: Bool)] = [
      (1000, [200], true), (1000, [199], false), (1000, [100, 99], false),
      (1000, Array(repeating: 1, count: 200), true), (1000, [50, 50, 50, 50], true),
      (100, [50], true), (100, [49], false), (101, [50], false), (100, [10, 10, 10, 10, 10], true),
      (30, [19], false), (30, [20], true), (20, [20], true), (19, [19], false),
    ]
    for (count, removals, isLarge) in cases {
      let editor = Editor(1)
      let note = editor.create()
      let text = String(repeating: "t", count: count)
      editor.type(text, in: note)
      for removal in removals {
        let count = editor.book[note]!.text.count
        editor.replace(count - removal..<count, with: "", in: note)
      }
      let history = try editor.history(note)
      #expect(history.count == (isLarge ? 2 : 1), "\(removals) of \(count)")
      if isLarge { #expect(try editor.text(note, at: history[1].revision) == text) }
      #expect(history.reduce(0) { $0 + $1.inserted - $1.deleted } == count - removals.reduce(0, +))
    }
  }

  @Test func `are as many as removals became large, however long a key is held`() throws {
    let editor = Editor(1)
    let note = editor.create()
    editor.type(String(repeating: "t", count: 3000), in: note)
    for count in (1...3000).reversed() { editor.replace(count - 1..<count, with: "", in: note) }
    #expect(try editor.history(note).count == 2)
  }

  @Test func `end before undoing, and go on while undoing goes on`() throws {
    let editor = Editor(1)
    let note = editor.create()
    for word in ["one ", "two ", "three "] { editor.type(word, in: note) }
    for number in [4, 3] as [UInt64] {
      editor.withdraw(ChangeID(replica: editor.id, number: number), in: note)
    }
    editor.type("2", in: note)
    let history = try editor.history(note)
    #expect(history.count == 2)
    #expect(try editor.text(note, at: history[1].revision) == "one two three ")
  }

  @Test func `of two participants who write in turns are one for each turn`() throws {
    let (ana, ben) = (Editor(1), Editor(2))
    let note = ana.create()
    try ben.pull(ana)
    var texts: [String] = []
    for turn in 0..<6 {
      let (writer, other) = turn.isMultiple(of: 2) ? (ana, ben) : (ben, ana)
      writer.now = 1_767_225_600_000 + Int64(turn) * 6000
      try writer.pull(other)
      for letter in ["a", "b"] { writer.type("\(turn)\(letter) ", in: note) }
      texts.append(writer.book[note]!.text.string)
    }
    try ana.pull(ben)
    let history = try ana.history(note)
    #expect(history.map { $0.author?.name } == ["2", "1", "2", "1", "2", "1"])
    let shown = try history.map { try ana.text(note, at: $0.revision) }
    #expect(shown == texts.reversed())
  }

  @Test func `of two participants who type at the same time are not one for each key`() throws {
    let (ana, ben) = (Editor(1), Editor(2))
    let note = ana.create()
    try ben.pull(ana)
    for key in 0..<40 {
      let (writer, other) = key.isMultiple(of: 2) ? (ana, ben) : (ben, ana)
      writer.now = 1_767_225_600_000 + Int64(key) * 200
      writer.type("x", in: note)
      try other.pull(writer)
    }
    #expect(try ana.history(note).count == 2)
  }

  @Test func `are the same in an archive, and on another machine`() throws {
    for seed in seeds(10) {
      var generator = SplitMix64(seed: seed)
      let editor = Editor(3)
      let note = editor.create()
      for _ in 0..<600 {
        editor.now += generator.pick([20, 500, 20_000])
        editor.type("some words more ", in: note)
        let count = editor.book[note]!.text.count
        if generator.chance(10) {
          editor.replace(count - 1 - generator.below(count)..<count, with: "", in: note)
        }
        if generator.chance(10) { editor.save(note) }
      }
      let history = try editor.history(note)
      #expect(history.count > 50)
      let other = Editor(4)
      try other.pull(editor)
      #expect(try other.history(note) == history, at(seed))
      let (archive, _) = try editor.book.putAway()
      editor.book = NoteBook(archive)
      #expect(try editor.history(note) == history, at(seed))
      editor.type("more", in: note)
      let later = try editor.history(note)
      #expect(Array(later.dropFirst()).suffix(history.count - 1) == history.dropFirst(), at(seed))
    }
  }

  @Test func `can't begin before the session's first change, nor 4,096 changes earlier`() throws {
    let change = Change(
      id: ChangeID(replica: replicaID(1), number: 5000), time: 0, predecessors: [],
      entryStart: 4000,
      operations: [.edit(NoteID(creation: .init(replica: replicaID(1), number: 1)), .restore)])
    func decoded(_ start: UInt64?, _ number: UInt64) throws -> UInt64? {
      var (change, mentions) = (change, ReplicaTable())
      change.id.number = number
      change.entryStart = start
      var reading = ReplicaTable()
      let bytes = change.encoded(after: 0, &mentions)
      return try Change(change.id, decoding: bytes[...], after: 0, &reading).entryStart
    }
    #expect(try decoded(nil, 5000) == nil && decoded(4000, 5000) == 4000)
    #expect(try decoded(905, 5000) == 905 && decoded(1, 1) == 1 && decoded(5000, 5000) == 5000)
    #expect(throws: DecodingFailure.self) { try decoded(904, 5000) }
    #expect(throws: DecodingFailure.self) { try decoded(0, 5) }
  }

  @Test func `of notes that were forgotten among many begin anew, and never go on wrongly`() throws
  {
    let editor = Editor(1)
    var notes: [NoteID] = []
    for _ in 0..<1100 { notes.append(editor.create()) }
    for note in notes { editor.type("text", in: note) }
    for note in notes.suffix(20) { #expect(try editor.history(note).count <= 2) }
    editor.save(notes[1099])
    editor.type("more", in: notes[1099])
    let history = try editor.history(notes[1099])
    #expect(try editor.text(notes[1099], at: history[1].revision) == "text")
  }
}
