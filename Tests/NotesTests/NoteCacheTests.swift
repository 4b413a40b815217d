import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `NoteCache of notes` {
  /// A notebook of several people, of which every note has been written by all.
  private func book(_ generator: inout SplitMix64, steps: Int) throws -> NoteBook {
    let people = (1...3).map { Person($0) }
    for _ in 0..<steps {
      let person = generator.pick(people)
      if generator.chance(20) { try person.pull(generator.pick(people)) }
      generator.actOrWithdraw(person)
    }
    try exchangeAll(people)
    return people[0].book
  }

  @Test func `a note in bytes is the note, and has one encoding`() throws {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      for note in try book(&generator, steps: 40).notes {
        var writer = ByteWriter()
        note.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        let again = try Note(note.id, from: &reader)
        #expect(again == note && reader.isAtEnd, at(seed))
        var second = ByteWriter()
        again.encode(into: &second)
        #expect(second.bytes == writer.bytes, at(seed))
      }
    }
  }

  @Test func `damaged bytes of a note are refused or are a note`() throws {
    var generator = SplitMix64(seed: 1)
    let note = try book(&generator, steps: 30).notes.max { $0.text.count < $1.text.count }!
    var writer = ByteWriter()
    note.encode(into: &writer)
    for length in writer.bytes.indices {
      var reader = ByteReader(writer.bytes[..<length])
      #expect(throws: DecodingFailure.self) { try Note(note.id, from: &reader) }
    }
    for bit in 0..<8 * writer.bytes.count {
      var bytes = writer.bytes
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      var reader = ByteReader(bytes)
      guard let other = try? Note(note.id, from: &reader) else { continue }
      other.text.checkInvariants()
      var again = ByteWriter()
      other.encode(into: &again)
      var second = ByteReader(again.bytes)
      #expect((try? Note(note.id, from: &second)) == other, "bit \(bit)")
    }
  }

  @Test func `only so many notes stay open, and what is packed is the same`() throws {
    let person = Person(1)
    person.book.noteCache.mostOpen = 8
    var notes: [NoteID] = []
    for number in 0..<100 { notes.append(person.create("note \(number)", "text \(number)")) }
    #expect(person.book.noteCache.openCount <= 8)
    for (number, note) in notes.enumerated() {
      #expect(person.book[note]?.text.string == "text \(number)")
      #expect(try person.book.noteCache.summary(of: note, among: nil).title == "note \(number)")
      person.setText(note, "text \(number), changed")
      #expect(person.book.noteCache.openCount <= 8)
    }
    person.delete(notes[3])
    for note in notes.reversed() {
      let isHere = try person.book.open(note)
      #expect(isHere)
    }
    #expect(person.book.noteCache.openCount <= 9)
    #expect(person.book.counts == (99, 1))
    #expect(person.book[notes[3]]?.isTrashed == true)
    let isHere = try person.book.open(NoteID(creation: ChangeID(replica: replicaID(9), number: 1)))
    #expect(!isHere)
    checkInvariants(person.book, "")
  }

  @Test func `a text that has grown while no other was open is counted when one is`() {
    let person = Person(1)
    person.book.noteCache.mostOpenBytes = 10_000
    let long = person.create("long", "")
    person.setText(long, String(repeating: "x", count: 9_000))
    #expect(person.book.noteCache.openCount == 1)
    let short = person.create("short", String(repeating: "y", count: 2_000))
    #expect(person.book.noteCache.openCount == 1)
    #expect(person.book[long]?.text.count == 9_000 && person.book[short]?.text.count == 2_000)
  }

  @Test func `long texts do not stay open, but for the one in use`() {
    let person = Person(1)
    person.book.noteCache.mostOpenBytes = 1000
    let notes = (0..<10).map { person.create("\($0)", String(repeating: "x", count: 600)) }
    #expect(person.book.noteCache.openCount == 1)
    for note in notes {
      person.setText(note, String(repeating: "y", count: 5000))
      #expect(person.book.noteCache.openCount == 1)
    }
    for note in notes { #expect(person.book[note]?.text.count == 5000) }
  }
}
