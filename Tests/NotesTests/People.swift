import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// Swift Testing has tags of its own.
typealias Tag = Notes.Tag

let notebook = Identifier(high: 7, low: 7)

/// Small numbers are replicas of tests; larger ones win ties.
func replicaID(_ number: UInt64) -> ReplicaID { ReplicaID(high: number, low: 0) }

extension NoteBook {
  subscript(id: NoteID) -> Note? { try! note(id) }

  /// All notes in their order.
  var notes: [Note] { summaries.map { self[$0.id]! } }

  var summaries: [NoteSummary] {
    var book = self
    try! book.openOrder()
    var summaries: [NoteSummary] = []
    try! book.forEachSummary {
      summaries.append($0)
      return true
    }
    return summaries
  }

  /// The operations that make edits in a note, opened for that.
  mutating func plan(for edits: [Edit<UInt8>], in note: NoteID) -> [Change.Operation] {
    let isHere = try! open(note)
    return isHere ? operations(for: edits, in: note) : []
  }

  /// The notebook as an archive, in memory.
  mutating func putAway(appendix: [UInt8] = []) throws -> (archive: NotebookArchive, mark: UInt64) {
    var writer = ArchiveWriter(&self, appendix: appendix)
    var bytes: [UInt8] = []
    while let piece = try writer.next() { bytes += piece }
    #expect(writer.size == bytes.count)
    return (try NotebookArchive(bytes), writer.mark)
  }
}

extension NotebookArchive {
  convenience init(_ bytes: [UInt8]) throws(ArchiveFailure) {
    try self.init(size: bytes.count) { range throws(ArchiveFailure) in
      guard range.upperBound <= bytes.count else { throw ArchiveFailure(reason: "beyond the end") }
      return Array(bytes[range])
    }
  }
}

/// What a person can see of a note.
struct Face: Equatable {
  var title: [UInt8]
  var tags: Set<Tag>
  var priority: Priority
  var isTrashed: Bool
  var created: Int64
  var modified: Int64
  var text: [UInt8]
  var path: [UInt8]
  var header: [[UInt8]]

  init(_ note: Note, text: [UInt8]) {
    title = Array(note.title.value.utf8)
    tags = note.tags.values
    priority = note.priority.value
    isTrashed = note.isTrashed
    created = note.created
    modified = note.modified
    self.text = text
    path = Array(note.path.utf8)
    header = note.header.flatMap { [Array($0.key.utf8), Array($0.value.utf8)] }
  }

  init(_ note: Note) { self.init(note, text: note.text.utf8) }
}

/// A client of a person's process that shows a text as it was at a version, with its own changes since.
struct Reader {
  var note: NoteID
  var version: Version
  var heads: [ChangeID] = []
  var own: [ChangeID] = []
  /// The version that a change of the client has said to have seen, and had not.
  var claimed: Version?

  init(note: NoteID, version: Version) {
    self.note = note
    self.version = version
    heads = version.replicas.map { ChangeID(replica: $0, number: version[$0]) }
  }

  var base: TextBase { TextBase(heads: heads, previous: own.last?.number ?? 0) }
}

/// One person with a notebook, who does what a client can ask for.
final class Person {
  let id: ReplicaID
  var book = NoteBook()
  var now: Int64 = 1_767_225_600_000
  /// A client that shows a text as it was.
  var reader: Reader?
  /// The entries of history that it writes. Every third person says with which changes they begin, and saves every fifth of them.
  var entries = OpenEntries()
  private var isSaying: Bool { id.high.isMultiple(of: 3) }

  /// The names with which the next change is made. Every fourth person has none, every third goes on with another program after five
  /// changes, and imports then.
  var author: Author? {
    let number = id.high
    if number.isMultiple(of: 4) { return nil }
    let isLater = number.isMultiple(of: 3) && book.version[id] >= 5
    return Author(name: "person \(number)", program: isLater ? "other" : "tests")
  }

  /// The request for which the next change is made: every other person makes every other change for one.
  private var request: RequestMark? {
    let number = book.version[id] + 1
    if !number.isMultiple(of: 2) || !id.high.isMultiple(of: 2) { return nil }
    return RequestMark(
      key: Identifier(high: id.low, low: number), kind: UInt8(number % 8),
      place: UInt16(number % 300))
  }

  /// Every other person keeps hardly anything open.
  init(_ number: UInt64) {
    id = replicaID(number)
    if number.isMultiple(of: 2) { book.noteCache.mostOpen = 1 }
  }

  @discardableResult
  func make(_ operations: [Change.Operation]) -> Effects {
    if operations.isEmpty { return Effects() }
    let isImport = author?.program == "other"
    guard isSaying else {
      let change = book.change(
        by: id, at: now, isImport: isImport, request: request, operations)
      try! book.open(change)
      return book.apply(book.encode(change, by: author))
    }
    let encoded = try! book.encodedChange(
      by: id, at: now, isImport: isImport, request: request, author: author, in: &entries,
      operations)!
    if encoded.change.id.number.isMultiple(of: 5) {
      for case .edit(let note, _) in operations { entries.end(note) }
    }
    return book.apply(encoded)
  }

  @discardableResult
  func create(
    _ title: String, _ text: String = "", at index: Int = 0, created: Int64? = nil,
    modified: Int64? = nil
  ) -> NoteID {
    let note = NoteID(creation: book.next(by: id))
    try! book.openOrder()
    var operations: [Change.Operation] = [
      .create, .place(book.placement(of: note, at: index)),
      .edit(note, .title(ReplicatingRegister("").assignment(of: title, at: now))),
    ]
    let edit = Edit(range: 0..<0, replacement: Array(text.utf8))
    if let created { operations.append(.edit(note, .created(created))) }
    if let modified { operations.append(.edit(note, .modified(modified))) }
    operations += ReplicatingText().operations(for: [edit]).map { .edit(note, .text($0)) }
    make(operations)
    return note
  }

  /// Creates a note that is named by its title and text, and says that it is of now; nil if it is known.
  @discardableResult
  func createByContent(_ title: String, _ text: String) -> NoteID? {
    let change = creation(titled: title, text)
    if book.version.contains(change.id) { return nil }
    try! book.merge(foreign: change.changeSet)
    let note = NoteID(creation: change.id)
    try! book.openOrder()
    let created = Change.clamped(now)
    make([.place(book.placement(of: note, at: 0)), .edit(note, .created(created))])
    return note
  }

  func edit(_ note: NoteID, _ edit: Note.Operation) { make([.edit(note, edit)]) }

  func setTitle(_ note: NoteID, _ title: String) {
    edit(note, .title(book[note]!.title.assignment(of: title, at: now)))
  }

  func setText(_ note: NoteID, _ text: String) {
    let present = book[note]!.text
    let edits = textDifference(from: present.utf8, to: Array(text.utf8))
    make(present.operations(for: edits).map { .edit(note, .text($0)) })
  }

  /// Makes of the text as it was at an earlier version another one, like a client of the process that has read it then.
  func setText(_ note: NoteID, _ text: String, base version: Version) {
    var reader = Reader(note: note, version: version)
    write(text, &reader)
  }

  /// The text that a client shows.
  func text(of reader: Reader) -> [UInt8] { book[reader.note]!.text.utf8(in: view(of: reader)) }

  private func view(of reader: Reader) -> SequenceView {
    #expect(try! book.open(reader.note))
    var view = try! book.view(of: reader.note, at: reader.version)
    let own = book[reader.note]!.text.touched(by: reader.own)
    view.hidden = view.hidden.subtracting(ElementRanges(own.compactMap(\.inserted)))
      .union(own.flatMap(\.removed))
    if let unseen = try! book.unseen(in: reader.note, on: reader.base, by: id) {
      view.unseen = unseen
    }
    return view
  }

  /// Makes of the text that a client shows another one, and may take changes back with the same change.
  func write(
    _ text: String, _ reader: inout Reader, withdrawing changes: ChangeRanges = ChangeRanges(),
    hasBase: Bool = true
  ) {
    let note = reader.note
    var view = view(of: reader)
    if !hasBase { view.unseen = ElementRanges([]) }
    let present = book[note]!.text
    let edits = textDifference(from: present.utf8(in: view), to: Array(text.utf8))
    if edits.isEmpty, changes.isEmpty { return }
    let change = book.next(by: id)
    make(
      (hasBase ? [.edit(note, .base(reader.base))] : [])
        + present.operations(for: edits, in: view).map { .edit(note, .text($0)) }
        + (changes.isEmpty ? [] : [.edit(note, .withdraw(changes))]))
    reader.own.append(change)
  }

  /// Takes back what changes did to a text, and may make another one of it with the same change.
  func withdraw(_ note: NoteID, _ changes: ChangeRanges, writing text: String? = nil) {
    let present = book[note]!.text
    let edits = text.map { textDifference(from: present.utf8, to: Array($0.utf8)) } ?? []
    make(
      [.edit(note, .withdraw(changes))]
        + present.operations(for: edits).map { .edit(note, .text($0)) })
  }

  func setTags(_ note: NoteID, _ tags: String...) {
    make(book[note]!.operations(settingTags: Set(tags.map { Tag($0) })).map { .edit(note, $0) })
  }

  func setPriority(_ note: NoteID, _ priority: Priority) {
    edit(note, .priority(book[note]!.priority.assignment(of: priority, at: now)))
  }

  func set(_ name: PropertyName, of note: NoteID, to value: String) {
    make(
      [book[note]!.operation(setting: name, to: value, at: now)].compactMap { $0 }
        .map { .edit(note, $0) })
  }

  func delete(_ note: NoteID) { edit(note, book[note]!.deletion) }
  func restore(_ note: NoteID) { edit(note, .restore) }
  func purge(_ notes: NoteID...) { make(notes.map { .purge($0) }) }
  func move(_ note: NoteID, to index: Int) {
    try! book.openOrder()
    make([.place(book.placement(of: note, at: index))])
  }

  /// Takes over what another person has, as it travels.
  func pull(_ other: Person) throws { try pull(other.book) }

  func pull(_ other: NoteBook) throws {
    let bytes = other.changes(since: book.version).encoded(of: notebook)
    let (name, changes) = try ChangeSet.decode(bytes)
    #expect(name == notebook)
    try book.merge(foreign: changes)
  }

  /// Leaves little in memory: of the same notebook, or of one that begins with the archive.
  func putAway(andReopen isReopening: Bool) throws {
    let (archive, mark) = try book.putAway()
    if isReopening {
      let mostOpen = book.noteCache.mostOpen
      book = NoteBook(archive)
      book.noteCache.mostOpen = mostOpen
    } else {
      try book.adopt(archive, markedAt: mark)
    }
  }

  var titles: [String] { book.notes.map(\.title.value) }
}

extension ContentAddressedChange {
  /// The change as it travels.
  var changeSet: ChangeSet { Self.changeSet(of: [self]) }
}

/// The change that creates a note named by its title and text.
func creation(titled title: String, _ text: String) -> ContentAddressedChange {
  ContentAddressedChange { change in
    let note = NoteID(creation: change)
    return [
      .create, .place(.init(change, after: nil, before: nil)),
      .edit(note, .title(.init(value: title, time: 0))),
      .edit(note, .text(.insert(Array(text.utf8), after: nil, before: nil))),
    ]
  }
}

/// Everybody gets everything, and all are equal, to the byte.
func exchangeAll(_ people: [Person], _ comment: Comment = "") throws {
  for _ in 0..<2 {
    for person in people {
      for other in people where other !== person { try person.pull(other) }
    }
  }
  let bytes = people[0].book.changes(since: Version()).encoded(of: notebook)
  for person in people {
    #expect(person.book == people[0].book, comment)
    #expect(person.book.changes(since: Version()).encoded(of: notebook) == bytes, comment)
    #expect(person.book.revision == people[0].book.revision, comment)
    checkInvariants(person.book, comment)
  }
}

/// What holds for every notebook at every moment.
func checkInvariants(_ book: NoteBook, _ comment: Comment) {
  var book = book
  try! book.openOrder()
  book.order.checkInvariants()
  #expect(Set(book.notes.map(\.id)) == Set(book.noteCache.ids).subtracting(book.purged), comment)
  #expect(book.notes.count == book.noteCache.count - book.purged.count, "a note twice, \(comment)")
  checkAuthors(book, comment)
  for id in book.purged { #expect(try! book.noteCache.note(id) == Note(purged: id), comment) }
  for replica in book.purged.isEmpty ? [] : book.version.replicas {
    try! book.forEachChange(of: replica, upTo: book.version[replica]) { change, _ in
      #expect(!change.edits(anyOf: book.purged), comment)
    }
  }
  #expect(book.counts.live + book.counts.trashed == book.notes.count, comment)
  #expect(book.counts.trashed == book.notes.count { $0.isTrashed }, comment)
  for note in book.notes {
    note.text.checkInvariants()
    var writer = ByteWriter()
    note.encode(into: &writer)
    var reader = ByteReader(writer.bytes)
    #expect(try! Note(note.id, from: &reader) == note && reader.isAtEnd, comment)
  }
  #expect(book.summaries == book.notes.map { NoteSummary($0) }, comment)
  #expect(try! book.revision(of: book.version) == book.revision, comment)
  #expect(try! book.version(ofRevision: book.revision.description) == book.version, comment)
  #expect(book.changes(since: book.version).isEmpty, comment)
}

/// The author of each change is the one whom the replica named last.
func checkAuthors(_ book: NoteBook, _ comment: Comment) {
  for replica in book.version.replicas {
    var author: Author?
    try! book.forEachChange(of: replica, upTo: book.version[replica]) { change, _ in
      author = change.author ?? author
      #expect(try! book.author(of: change.id) == author, comment)
    }
  }
}

extension SplitMix64 {
  /// Something that a person may do, takes back or forgets.
  mutating func actOrPurge(_ person: Person) {
    let trashed = person.book.notes.filter(\.isTrashed).map(\.id)
    if chance(12), let note = trashed.randomElement(using: &self) { return person.purge(note) }
    if chance(8), let note = person.book.notes.randomElement(using: &self) {
      return person.delete(note.id)
    }
    actOrWithdraw(person)
  }

  /// Something that a person may do, or takes back.
  mutating func actOrWithdraw(_ person: Person) {
    if chance(15) { withdraw(person) } else { act(person) }
  }

  /// A person takes back what some changes did to the text of a note, whatever that was.
  private mutating func withdraw(_ person: Person) {
    guard let note = person.book.notes.randomElement(using: &self) else { return }
    let latest = person.book.version.changes.flatMap { last in
      (1...last.number).suffix(4).map { ChangeID(replica: last.replica, number: $0) }
    }
    let named = latest.filter { _ in chance(30) } + [pick(latest)]
    let runs = named.map { ChangeRanges.Run($0.replica, $0.number...$0.number) }
    person.withdraw(note.id, ChangeRanges(runs))
  }

  /// Something that a person may do.
  mutating func act(_ person: Person) {
    person.now = 1_767_225_600_000 + Int64(pick([0, 0, 1, 2, 1000]))
    if chance(2) { person.now = pick([0, -5, 2_524_608_000_000, .max, .min]) }
    let notes = person.book.notes.map(\.id)
    guard let note = notes.randomElement(using: &self) else {
      person.create("first", "text")
      return
    }
    let texts = ["a", "the ", "é", "e\u{301}", "😀", "\n", "\r\n", "word", "中"]
    switch below(18) {
    case 17:
      if chance(50) {
        person.createByContent(pick(["day", "new"]), pick(["a\nb\n", "é", "word\r\n"]))
      }
    case 0, 1:
      let live = person.book.counts.live
      let index = below(live + 1)
      let created: Int64? = chance(20) ? pick([0, 5, -5_000_000_000_000]) : nil
      let new = person.create(
        pick(["x", "y", ""]), chance(50) ? pick(texts) : "", at: index, created: created,
        modified: chance(20) ? pick([0, 7, 5_000_000_000_000]) : nil)
      if let created { #expect(person.book[new]!.created == created) }
      let shown = person.book.notes.filter { !$0.isTrashed }.map(\.id)
      #expect(shown.firstIndex(of: new) == index)
    case 2: person.setTitle(note, pick(["one", "two", "é", "e\u{301}", ""]))
    case 3: person.setPriority(note, pick(Priority.allCases))
    case 4, 5:
      let tags = ["home", "work", "travel", "é", "e\u{301}"].filter { _ in below(2) == 0 }
      let operations = person.book[note]!.operations(settingTags: Set(tags.map { Tag($0) }))
      person.make(operations.map { .edit(note, $0) })
      #expect(person.book[note]!.tags.values == Set(tags.map { Tag($0) }))
    case 6: person.delete(note)
    case 7: if person.book[note]!.isTrashed { person.restore(note) }
    case 8, 9:
      let live = person.book.notes.filter { !$0.isTrashed }.map(\.id)
      guard let moved = live.randomElement(using: &self) else { return }
      let index = below(live.count)
      person.move(moved, to: index)
      var expected = live.filter { $0 != moved }
      expected.insert(moved, at: index)
      #expect(person.book.notes.filter { !$0.isTrashed }.map(\.id) == expected)
    case 10:
      if person.reader.map({ person.book.isPurged($0.note) }) ?? true || chance(20) {
        person.reader = Reader(note: note, version: person.book.version)
      } else {
        let text = String(decoding: person.text(of: person.reader!), as: UTF8.self)
        let new = chance(50) ? pick(texts) + text : String(text.dropFirst()) + pick(texts)
        person.write(new, &person.reader!)
        #expect(person.text(of: person.reader!) == Array(new.utf8))
      }
    case 11:
      let name: PropertyName = pick([.path, .file, .header("a"), .header("é"), .header("e\u{301}")])
      let value = pick(["", "a/b.md", "tags: [é]\n# more\n"])
      person.set(name, of: note, to: value)
      #expect(Array(person.book[note]![name].utf8) == Array(value.utf8))
    default:
      var scalars = Array(person.book[note]!.text.string.unicodeScalars)
      let start = below(scalars.count + 1)
      let end = chance(60) ? start : start + below(scalars.count - start + 1)
      scalars.replaceSubrange(start..<end, with: pick(texts).unicodeScalars)
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars)
      person.setText(note, String(text))
      #expect(person.book[note]!.text.utf8 == Array(String(text).utf8))
    }
  }
}

extension Person {
  /// Does something with a note, at random: gives it a title, a text or tags, moves it, or takes it to the trash, out of it or away.
  func change(
    _ note: Note, title: String, tags: [String], _ random: inout SplitMix64,
    _ text: (inout SplitMix64) -> String
  ) {
    switch random.below(10) {
    case 0: setTitle(note.id, title)
    case 1, 2, 3: setText(note.id, text(&random))
    case 4, 5: setTags(note.id, random.pick(tags), random.pick(tags))
    case 6: note.isTrashed ? restore(note.id) : delete(note.id)
    case 7: if note.isTrashed, random.chance(50) { purge(note.id) }
    default: move(note.id, to: random.below(book.notes.count))
    }
  }
}
