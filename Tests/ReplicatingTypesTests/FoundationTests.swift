import Foundation
import Observation
import ReplicatingTypes
import ReplicatingTypesFoundation
import ReplicatingTypesTesting
import TestSupport
import Testing

private typealias Note = `From the articles to here`.Note

private struct Address: Hashable, JSONCodable {
  var street: String
  var city: String?
  var height = 1.5
  var rooms: [String: Int] = [:]
}

@Suite struct `Values of Foundation` {
  let alice = Author(1)
  let bob = Author(2)

  private func expectSame<Value: BinaryCodable & Equatable>(
    _ value: Value, _ bytes: [UInt8]? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let encoded = value.encoded()
    #expect(try Value(encoded: encoded) == value, sourceLocation: sourceLocation)
    if let bytes { #expect(encoded == bytes, sourceLocation: sourceLocation) }
    for length in encoded.indices {
      #expect(throws: DecodingFailure.self, sourceLocation: sourceLocation) {
        try Value(encoded: Array(encoded[..<length]))
      }
    }
  }

  @Test func `come out of their bytes as they were`() throws {
    try expectSame(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")!, Array(0..<16))
    try expectSame(UUID())
    try expectSame(Date(timeIntervalSinceReferenceDate: 1), [0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
    try expectSame(Date())
    try expectSame(Date.distantPast)
    try expectSame(Data([1, 2, 3]), [3, 1, 2, 3])
    try expectSame(Data())
    for text in ["https://example.org/a%20b?q=1#x", "file:///tmp/x", "mailto:ann@example.org"] {
      try expectSame(URL(string: text)!)
    }
    try expectSame(URL(string: "notes/1", relativeTo: URL(string: "https://example.org/a/"))!)
    for text in ["0", "1.5", "-12345678901234567890.123456789", "1e-100", "3e120"] {
      try expectSame(Decimal(string: text)!)
    }
    #expect(
      Decimal(sign: .plus, exponent: -1, significand: 10).encoded() == Decimal(1).encoded(),
      "equal numbers, equal bytes")
    try expectSame(Decimal.greatestFiniteMagnitude)
    #expect(throws: DecodingFailure.self) { try Decimal(encoded: "12abc".encoded()) }
    #expect(throws: DecodingFailure.self) { try Decimal(encoded: "01".encoded()) }
    #expect(try Decimal(encoded: Decimal.nan.encoded()).isNaN)
  }

  @Test func `may be whatever is Codable`() throws {
    var address = Address(street: "Main Street 1/2", city: "Zürich 🏔")
    for (number, name) in ["kitchen", "bath", "attic", "cellar"].enumerated() {
      address.rooms[name] = number
    }
    try expectSame(address)
    try expectSame(Address(street: "", city: nil, height: .infinity))
    let json = #"{"height":1.5,"rooms":{"attic":2,"bath":1},"street":"x/y"}"#
    try expectSame(
      Address(street: "x/y", rooms: ["bath": 1, "attic": 2]), [UInt8(json.utf8.count)] + json.utf8)
    #expect(throws: DecodingFailure.self) { try Address(encoded: "{}".encoded()) }
    #expect(throws: DecodingFailure.self) { try Address(encoded: "no JSON".encoded()) }
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: DecodingFailure.self) { try Address(encoded: deep.encoded()) }
    var home = ReplicatingRegister(address)
    address.city = "Genève"
    home.assign(address, at: 1, by: &alice.replica)
    try expectSame(home)
  }

  @Test func `are parts of the articles' note, as it is declared there`() throws {
    var mine = Note()
    mine.text.insert("M", at: 0, by: &alice.replica)
    var theirs = try Note(encoded: mine.encoded())
    #expect(theirs == mine && theirs.id == mine.id && theirs.creationDate == mine.creationDate)
    theirs.title.assign("Shopping", at: 1, by: &bob.replica)
    theirs.priority.assign(.high, at: 1, by: &bob.replica)
    mine.tags.insert(.home, by: &alice.replica)
    let merged = try mine.merged(with: theirs)
    #expect(try merged == theirs.merged(with: mine))
    #expect(merged.title.value == "Shopping" && merged.priority.value == .high)
    #expect(merged.tags.values == [.home] && merged.text.string == "M")
    let json = try JSONEncoder().encode(merged)
    #expect(try JSONDecoder().decode(Note.self, from: json) == merged)
    #expect(String(decoding: json, as: UTF8.self).contains(#""id":"\#(mine.id.uuidString)""#))
    // Another note is not merged.
    #expect {
      try mine.merge(Note())
    } throws: {
      "\($0)".contains("Note.id: the constant")
    }
    #expect(throws: RefusedChanges.self) { try mine.apply(Note().changes(since: Version())) }
  }

  @Test func `keep the laws in a note and in a notebook`() throws {
    let note = Note()
    try expectLaws(of: note, seeds: seeds(8)) { note, replica, generator in
      Self.edit(&note, &replica, &generator)
    }
    let notes = (0..<3).map { _ in Note() }
    try expectLaws(of: ReplicatingDictionary<UUID, Note>(), seeds: seeds(4)) {
      notebook, replica, generator in
      let new = notes.randomElement(using: &generator)!
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: notebook.remove(new.id, by: &replica)
      case 1:
        var note = notebook[new.id] ?? new
        Self.edit(&note, &replica, &generator)
        // Refused if it was used before and removed: by whom, is not known here.
        try? notebook.set(note, forKey: new.id, by: &replica)
      default:
        notebook.update(new.id, default: new, by: &replica) {
          Self.edit(&$0, &$1, &generator)
        }
      }
    }
  }

  private static func edit(
    _ note: inout Note, _ replica: inout Replica, _ generator: inout SeededGenerator
  ) {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: note.title.assign("\(generator.next() % 3)", at: 1, by: &replica)
    case 1: note.tags.insert(.allCases.randomElement(using: &generator)!, by: &replica)
    case 2: note.priority.assign(.high, at: 2, by: &replica)
    default:
      let place = Int.random(in: 0...note.text.count, using: &generator)
      note.text.insert("x", at: place, by: &replica)
    }
  }
}

@Suite struct `A document` {
  @Test func `gives its value, takes edits, and sends changes`() throws {
    let (a, b) = (Document(ReplicatingText()), Document(ReplicatingText()))
    #expect(a.author.id != b.author.id)
    var sent: [[UInt8]] = []
    a.onEdit = { sent.append($0.encoded()) }
    a.edit { $0.become("Milk", by: &$1) }
    a.edit { text, replica in text.become("Milk", by: &replica) }
    let length = a.edit { text, replica in
      text.append("\n", by: &replica)
      return text.count
    }
    #expect(length == 5 && sent.count == 2)
    a.edit { text, _ in #expect(text == a.value, "the document can be read in an edit") }
    for changes in sent { try b.apply(ReplicatingText.Changes(encoded: changes)) }
    #expect(b.value == a.value && b.value.string == "Milk\n")
    b.edit { $0.append("Eggs", by: &$1) }
    try a.apply(b.value.changes(since: a.value.version))
    #expect(a.value.string == "Milk\nEggs" && sent.count == 2)
    let known = b.value.version
    b.edit { $0.append("!", by: &$1) }
    let behind = Document(ReplicatingText())
    #expect(throws: RefusedChanges.self) {
      try behind.apply(b.value.changes(since: known))
    }
    #expect(behind.value.isEmpty)
  }

  @Test func `keeps and sends what was edited before an error`() {
    struct Refusal: Error {}
    let document = Document(ReplicatingSet<Int>())
    var sent = 0
    document.onEdit = { _ in sent += 1 }
    #expect(throws: Refusal.self) {
      try document.edit { (set, replica) throws(Refusal) in
        set.insert(1, by: &replica)
        throw Refusal()
      }
    }
    #expect(document.value.values == [1] && sent == 1)
  }

  @Test func `tells those who look at its value that it changes`() throws {
    let (a, b) = (Document(ReplicatingText()), Document(ReplicatingText()))
    final class Count: Sendable { nonisolated(unsafe) var value = 0 }
    let told = Count()
    func look() {
      withObservationTracking({ _ = a.value.string }, onChange: { told.value += 1 })
    }
    look()
    a.edit { $0.become("Milk", by: &$1) }
    #expect(told.value == 1)
    look()
    b.edit { $0.become("Eggs", by: &$1) }
    try a.apply(b.value.changes(since: Version()))
    #expect(told.value == 2)
  }

  @Test func `may share its author, who goes on in another process`() throws {
    let author = ReplicatingTypesFoundation.Author()
    let (title, text) = (
      Document(ReplicatingRegister(""), by: author), Document(ReplicatingText(), by: author)
    )
    text.edit { $0.become("Milk", by: &$1) }
    title.edit { $0.assign("Shopping", at: 1, by: &$1) }
    #expect(title.value.version[author.id] == 2 && text.value.version[author.id] == 1)
    var version = title.value.version
    version.merge(text.value.version)
    let next = ReplicatingTypesFoundation.Author(try Replica(resuming: author.saved, in: version))
    next.edit { title in
      var copy = text.value
      copy.append("!", by: &title)
    }
    #expect(next.id == author.id && next.saved.number == 3)
  }
}
