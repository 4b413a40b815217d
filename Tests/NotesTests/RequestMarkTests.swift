import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `Marks of requests` {
  private let mark = RequestMark(key: Identifier(high: 1, low: 2), kind: 3, place: 300)

  private func change(_ bytes: [UInt8]) throws -> Change {
    var mentions = ReplicaTable()
    return try Change(
      ChangeID(replica: replicaID(1), number: 1), decoding: bytes[...], after: 0, &mentions)
  }

  private let encoded: [UInt8] =
    [0x21, 19, 3, 0xac, 2] + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 2]

  @Test func `stand in front of the operations, behind the other marks`() throws {
    let plain = [0, 0] + encoded + [1]
    #expect(try change(plain).request == mark)
    var mentions = ReplicaTable()
    #expect(try change(plain).encoded(after: 0, &mentions) == plain)
    let imported = [0, 0, 0x1f, 3, 0x61, 0x0a, 0x62, 0x20] + encoded + [1]
    let both = try change(imported)
    #expect(both.request == mark && both.isImport && both.author != nil)
    #expect(both.encoded(after: 0, &mentions) == imported)
  }

  @Test func `that are none are refused`() {
    let short = [0x21, 18] + encoded[2...].dropLast()
    let long = [0x21, 20] + encoded[2...] + [0]
    let far = [0x21, 20, 3, 0x80, 0x80, 4] + encoded.suffix(16)
    let marks: [[UInt8]] = [
      encoded + encoded, encoded + [0x20], short, long, far, [0x21, 0], [0x21], [1] + encoded,
    ]
    for mark in marks {
      #expect(throws: DecodingFailure.self, "\(mark)") { try change([0, 0] + mark + [1]) }
    }
    // A mark alone is no change.
    #expect(throws: DecodingFailure.self) { try change([0, 0] + encoded) }
  }

  /// The requests of all changes that a version has not, as they are found, and as the changes say.
  private func requests(
    of book: NoteBook, after version: Version, since oldest: Int64
  ) throws -> (found: Set<String>, said: Set<String>) {
    var (found, said): (Set<String>, Set<String>) = ([], [])
    try book.forEachRequest(after: version, since: oldest) { mark, change, time in
      found.insert("\(mark) \(change) \(time)")
    }
    for replica in book.version.replicas where version[replica] < book.version[replica] {
      try book.forEachChange(of: replica, upTo: book.version[replica]) { change, _ in
        guard let mark = change.request, change.id.number > version[replica],
          change.time >= oldest
        else { return }
        said.insert("\(mark) \(change.id) \(change.time)")
      }
    }
    return (found, said)
  }

  @Test func `are found in all changes, wherever these are kept, also when notes were purged`()
    throws
  {
    var count = 0
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let people = (1...3).map { Person($0) }
      var known = Version()
      for _ in 0..<60 {
        let person = generator.pick(people)
        if generator.chance(20) { try person.pull(generator.pick(people)) }
        generator.actOrPurge(person)
        if generator.chance(5) { known = people[0].book.version }
      }
      var book = people[0].book
      let middle = (book.histories.all.map(\.lastTime).min() ?? 0) - 1
      for oldest in [0, middle] {
        let all = try requests(of: book, after: Version(), since: oldest)
        #expect(all.found == all.said, at(seed))
        let new = try requests(of: book, after: known, since: oldest)
        #expect(new.found == new.said, at(seed))
        count += new.found.count
      }
      let before = try requests(of: book, after: Version(), since: 0).found
      let again = NoteBook(try Disk(&book).archive())
      #expect(try requests(of: again, after: Version(), since: 0).found == before, at(seed))
    }
    #expect(count > 40)
  }

  @Test func `are not looked for in changes from before, but for those of the same 256`() throws {
    let person = Person(2)
    person.create("a")
    for number in 2...1000 {
      person.now += 1
      person.create("\(number)")
    }
    var found: [UInt64] = []
    try person.book.forEachRequest(after: Version(), since: person.now - 10) { _, change, _ in
      found.append(change.number)
    }
    #expect(found.sorted() == [990, 992, 994, 996, 998, 1000])
    found = []
    try person.book.forEachRequest(after: Version(), since: person.now) { _, change, _ in
      found.append(change.number)
    }
    #expect(found == [1000])
  }
}
