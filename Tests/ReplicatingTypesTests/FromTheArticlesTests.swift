import Foundation
import ReplicatingTypes
import ReplicatingTypesFoundation
import TestSupport
import Testing

/// What a reader of the articles writes: all code of `Sources/ReplicatingTypes/FromTheArticles.md`.
@Suite struct `From the articles to here` {
  struct Note: Identifiable, Composed, Codable {
    enum Priority: Int, Codable, BinaryCodable {
      case low, normal, high
    }

    enum Tag: String, Codable, CaseIterable, BinaryCodable {
      case home, work, travel, leisure
    }

    var id: UUID = .init()
    var title: ReplicatingRegister<String> = .init("")
    var text: ReplicatingText = .init()
    var tags: ReplicatingSet<Tag> = .init()
    var priority: ReplicatingRegister<Priority> = .init(.normal)
    var creationDate: Date = .init()

    static var parts: some PartsOf<Self> {
      Composition(\Self.id, \.title, \.text, \.tags, \.priority, \.creationDate)
    }
  }

  struct NoteBook: Composed, Codable {
    var notesByIdentifier: ReplicatingDictionary<Note.ID, Note> = .init()
    var orderedNoteIdentifiers: ReplicatingOrderedSet<Note.ID> = .init()

    static var parts: some PartsOf<Self> {
      Composition(\Self.notesByIdentifier, \.orderedNoteIdentifiers)
    }

    var notes: [Note] { orderedNoteIdentifiers.compactMap { notesByIdentifier[$0] } }
  }

  private var generator = SystemRandomNumberGenerator()

  @Test mutating func `a register`() throws {
    var replica = Replica(id: .random(using: &generator))
    let now: Int64 = 1_767_225_600_000
    var a = ReplicatingRegister(5)
    a.assign(6, at: now, by: &replica)
    let number = a.value
    #expect(number == 6)
    let b = ReplicatingRegister(7, at: now, by: &replica)
    #expect(b.value == 7)
    #expect(throws: InvalidChange.self) { try a.merged(with: b) }
    let copy = a
    a.assign(8, at: now, by: &replica)
    #expect(try a.merged(with: copy).value == 8)
    var c = copy
    try c.apply(a.changes(since: c.version))
    #expect(c == a)

    let title = ReplicatingRegister("Shopping", at: now, by: &replica)
    let json = try JSONEncoder().encode(title)
    #expect(json.count > title.encoded().count)
    let stamp = replica.stamp(after: 0)
    #expect(stamp.change.number == 5)
  }

  @Test mutating func `a set`() throws {
    var replica = Replica(id: .random(using: &generator))
    var tags = ReplicatingSet(array: ["home", "work"], by: &replica)
    let isNew = tags.insert("travel", by: &replica)
    let removed = tags.remove("work", by: &replica)
    let travels = tags.contains("travel")
    #expect(isNew && removed == "work" && travels && tags.values == ["home", "travel"])
    var a = ReplicatingSet<String>()
    let b = tags
    try a.apply(b.changes(since: a.version))
    #expect(a == b)
    tags.become(["home"], by: &replica)
    #expect(tags.values == ["home"])

    let json = try JSONEncoder().encode(tags)
    let read = try JSONDecoder().decode(ReplicatingSet<String>.self, from: json)
    #expect(read == tags)

    var visits = ReplicatingAddOnlySet<Int>()
    visits.insert(1, by: &replica)
    #expect(visits.values == [1])
  }

  @Test mutating func `a dictionary, and one in another`() throws {
    var replica = Replica(id: .random(using: &generator))
    let tags = ReplicatingSet(array: ["home"], by: &replica)
    var cities = ReplicatingDictionary<String, ReplicatingSet<String>>()
    try cities.set(tags, forKey: "Rome", by: &replica)
    cities.update("Rome", default: ReplicatingSet(), by: &replica) { $0.insert("food", by: &$1) }
    let rome = cities["Rome"]
    #expect(rome?.values == ["home", "food"])
    #expect(cities.dictionary == ["Rome": rome!])
    #expect(cities.keys == ["Rome"])
    #expect(cities.values == [rome!])
    let other = cities
    cities.remove("Rome", by: &replica)
    #expect(cities["Rome"] == nil)
    #expect(cities.merged(with: other) == cities)

    var countries = ReplicatingDictionary<
      String, ReplicatingDictionary<String, ReplicatingSet<String>>
    >()
    countries.update("Italy", default: ReplicatingDictionary(), by: &replica) { cities, replica in
      cities.update("Rome", default: ReplicatingSet(), by: &replica) { $0.insert("food", by: &$1) }
    }
    #expect(countries["Italy"]?["Rome"]?.values == ["food"])
  }

  @Test mutating func `an array`() throws {
    var replica = Replica(id: .random(using: &generator))
    var list = ReplicatingArray(array: ["milk", "eggs"], by: &replica)
    list.insert("bread", at: 1, by: &replica)
    list.append("tea", by: &replica)
    let first = list.remove(at: 0, by: &replica)
    #expect(first == "milk" && list.values == ["bread", "eggs", "tea"])

    var order = ReplicatingOrderedSet<Int>()
    order.insert(0, at: 0, by: &replica)
    order.insert(1, at: 1, by: &replica)
    order.move(1, to: 0, by: &replica)
    #expect(order.values == [1, 0])
  }

  @Test func `a notebook`() throws {
    let author = ReplicatingTypesFoundation.Author()
    let book = Document(NoteBook(), by: author)
    var note = Note()
    author.edit { note.title.assign("Shopping", at: 1, by: &$0) }
    try book.edit { noteBook, replica in
      try noteBook.notesByIdentifier.set(note, forKey: note.id, by: &replica)
      noteBook.orderedNoteIdentifiers.insert(note.id, at: 0, by: &replica)
    }
    let noteBook = book.value
    #expect(noteBook.notes.map(\.title.value) == ["Shopping"])
    #expect(noteBook.version[author.id] == 3)
    let json = try JSONEncoder().encode(noteBook)
    #expect(try JSONDecoder().decode(NoteBook.self, from: json) == noteBook)
  }

  @Test func `a text view`() {
    let document = Document(ReplicatingText())
    document.edit { $0.become("Milk", by: &$1) }
    let shown = document.value.string
    #expect(shown == "Milk")
  }

  // MARK: - The page

  private static let project = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func bare(_ text: some StringProtocol) -> String {
    String(text.filter { !$0.isWhitespace })
  }

  @Test func `the page has the code that is here, and names tests that there are`() throws {
    let page = String(
      decoding: try Data(
        contentsOf: Self.project.appending(path: "Sources/ReplicatingTypes/FromTheArticles.md")),
      as: UTF8.self)
    let code = Self.bare(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
    var (lines, names, tests) = (0, 0, 0)
    var titles = ""
    for folder in ["ReplicatingTypesTests", "NotesTests", "NoteStoreTests"] {
      let folder = Self.project.appending(path: "Tests/\(folder)")
      for file in try FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil) where file.pathExtension == "swift"
      {
        titles += try String(contentsOf: file, encoding: .utf8)
      }
    }
    for line in page.split(separator: "\n") {
      if line.hasPrefix("    ") {
        #expect(code.contains(Self.bare(line)), "\(line)")
        lines += 1
      } else if line.hasPrefix("| "), !line.hasPrefix("| there") {
        let cells = line.split(separator: "|").map { $0.split(separator: "`") }
        if cells.count == 2 {
          let name = try #require(cells[1].dropFirst().first, "\(line)")
          #expect(titles.contains("func `\(name)`("), "\(name)")
          tests += 1
        } else {
          // Of the cell in the middle what stands between backticks.
          for (place, name) in cells[1].enumerated() where place % 2 == 1 {
            #expect(code.contains(Self.bare(name)), "\(name)")
            names += 1
          }
        }
      }
    }
    #expect(lines > 50 && names > 15 && tests == 16)
  }
}
