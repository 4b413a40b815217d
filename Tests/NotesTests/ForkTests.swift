import Bytes
import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What a version comes to without what follows some changes: found by looking at each change in turn.
private func uncontested(_ book: NoteBook, _ limits: [ReplicaID: UInt64]) throws -> Version {
  var rest = Version()
  for group in book.changes(since: Version()).consecutive {
    for number in group.first.number..<(group.first.number + UInt64(group.encoded.count)) {
      let id = ChangeID(replica: group.first.replica, number: number)
      var predecessors: [ChangeID] = []
      try book.forEachChange(of: id.replica, upTo: number) { change, _ in
        if change.id == id { predecessors = change.predecessors }
      }
      if number <= limits[id.replica] ?? .max, rest[id.replica] == number - 1,
        predecessors.allSatisfy(rest.contains)
      {
        rest.insert(id)
      }
    }
  }
  return rest
}

/// The digest of a replica's changes up to a number, from all of them.
private func naiveDigest(_ book: NoteBook, of last: ChangeID) throws -> UInt64 {
  var digest: UInt64 = 0
  try book.forEachEncoded(of: last.replica, in: 1...last.number) { _, encoded, _ in
    let change = UInt64(SHA256.hexDigest(of: Array(encoded)).prefix(16), radix: 16)!
    let hash = SHA256.hexDigest(
      of: [digest, change].flatMap { word in
        (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
      })
    digest = UInt64(hash.prefix(16), radix: 16)!
    return true
  }
  return digest
}

/// The history of people who take turns, or act at once.
private func randomPeople(
  _ generator: inout SplitMix64, steps: Int, takingTurns: Bool
) throws -> [Person] {
  let people = (1...UInt64(2 + generator.below(3))).map(Person.init)
  for _ in 0..<steps {
    let person = generator.pick(people)
    if takingTurns || generator.chance(30) {
      for other in takingTurns ? people : [generator.pick(people)] where other !== person {
        try person.pull(other)
      }
    }
    generator.actOrWithdraw(person)
    if generator.chance(5) { try person.putAway(andReopen: generator.chance(50)) }
  }
  return people
}

@Suite struct `Digests of histories` {
  @Test func `are those of every change, whatever is in the archive and was asked for before`()
    throws
  {
    for seed in seeds(30) {
      var generator = SplitMix64(seed: seed)
      let people = try randomPeople(&generator, steps: 30, takingTurns: false)
      try exchangeAll(people)
      for person in people {
        for _ in 0..<4 {
          let versions = (0...generator.below(3)).map { _ in
            var version = Version()
            for last in person.book.version.changes where generator.chance(70) {
              version[last.replica] = UInt64(generator.below(Int(last.number) + 1))
            }
            return generator.chance(30) ? person.book.version : version
          }
          let digests = try person.book.digests(of: versions)
          for (version, digests) in zip(versions, digests) {
            #expect(
              digests == (try version.changes.map { try naiveDigest(person.book, of: $0) }),
              at(seed))
          }
          if generator.chance(30) { try person.putAway(andReopen: generator.chance(50)) }
          generator.act(person)
        }
      }
    }
  }

  @Test func `of a version are equal for equal histories, and for no others`() throws {
    let (ana, ben) = (Person(1), Person(2))
    let note = ana.create("note", "text")
    try ben.pull(ana)
    #expect(try ana.book.digest(of: ana.book.version) == ben.book.digest(of: ben.book.version))
    // Two with one name.
    let copy = Person(1)
    try copy.pull(ana)
    ana.setText(note, "here")
    copy.setText(note, "there")
    #expect(ana.book.version == copy.book.version && ana.book.revision == copy.book.revision)
    #expect(try ana.book.digest(of: ana.book.version) != copy.book.digest(of: copy.book.version))
    #expect(try ana.book.digest(of: ben.book.version) == copy.book.digest(of: ben.book.version))
  }
}

@Suite struct `Forks` {
  /// A fork of a replica of a notebook after one of its changes.
  private func fork(
    _ book: inout NoteBook, _ generator: inout SplitMix64
  ) throws -> Fork {
    let last = generator.pick(book.version.changes)
    let shared = UInt64(generator.below(Int(last.number)))
    var first = Version()
    first[last.replica] = shared + 1
    return Fork(
      replica: last.replica, shared: shared, ours: try book.digests(of: [first])[0][0], theirs: 0)
  }

  @Test func `leave out exactly what follows the changes that differ`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let people = try randomPeople(&generator, steps: 25, takingTurns: false)
      for person in people where !person.book.isEmpty {
        var limits: [ReplicaID: UInt64] = [:]
        for _ in 0...generator.below(2) {
          let fork = try fork(&person.book, &generator)
          limits[fork.replica] = min(fork.shared, limits[fork.replica] ?? .max)
        }
        #expect(
          try person.book.version(without: limits) == uncontested(person.book, limits), at(seed))
      }
    }
  }

  /// The law of branches: who has the shared part has the same notes as one who has the changes by their own names.
  @Test func `are shown as branches that mean the same by other names`() throws {
    var count = 0
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed &+ 500)
      let takesTurns = seed.isMultiple(of: 2)
      let people = try randomPeople(&generator, steps: 30, takingTurns: takesTurns)
      try exchangeAll(people)
      var book = people[0].book
      let fork = try fork(&book, &generator)
      let part = try SharedPart(of: book, [fork])
      let branch = fork.branch(fork.ours)
      #expect(part.version[branch] > 0)
      // In pieces, each of which can be merged where those before it were.
      var branched = NoteBook()
      while true {
        let (changes, reached, isMore) = try part.changes(
          of: book, since: branched.version, limit: generator.below(200))
        try branched.merge(foreign: changes)
        #expect(branched.version == reached)
        if !isMore { break }
      }
      #expect(branched.version == part.version, at(seed))
      #expect(branched.newBranches == (fork.shared > 0 ? [branch] : []))
      // The same by its own names.
      var named = part.version
      named[fork.replica] = fork.shared + named[branch]
      named[branch] = 0
      var plain = NoteBook()
      try plain.merge(
        foreign: book.changes(since: Version(), limit: .max, within: named).changes)
      count += Int(part.version[branch])
      func renamed(_ id: NoteID) -> NoteID {
        guard id.creation.replica == fork.replica, id.creation.number > fork.shared else {
          return id
        }
        return NoteID(
          creation: ChangeID(replica: branch, number: id.creation.number - fork.shared))
      }
      #expect(Set(plain.notes.map { renamed($0.id) }) == Set(branched.notes.map(\.id)), at(seed))
      for note in plain.notes {
        let other = branched[renamed(note.id)]!
        #expect(Face(note) == Face(other), at(seed))
      }
      #expect(plain.notes.map { renamed($0.id) } == branched.notes.map(\.id), at(seed))
      for number in 1...part.version[branch] {
        let change = ChangeID(replica: fork.replica, number: fork.shared + number)
        #expect(
          try branched.author(of: ChangeID(replica: branch, number: number))
            == plain.author(of: change), at(seed))
      }
      checkInvariants(branched, at(seed))
    }
    #expect(count > 100)
  }

  @Test func `have a branch that ends where it follows what is contested otherwise`() throws {
    let (ana, ben) = (Person(1), Person(2))
    let note = ana.create("note", "1")
    ana.setText(note, "12")
    try ben.pull(ana)
    ben.setText(note, "123")
    ana.setText(note, "1x2")
    try ana.pull(ben)
    ana.setText(note, "1x234")
    let fork = Fork(
      replica: ana.id, shared: 1, ours: 7, theirs: 8)
    let part = try SharedPart(of: ana.book, [fork])
    // Ben's change follows one that is contested, and so does what Ana made when she had seen it.
    #expect(part.version[ben.id] == 0 && part.version[ana.id] == 1)
    #expect(part.version[fork.branch(7)] == 2)
    // Where the other side's branch has come, it is contested too.
    try ana.pull(
      try {
        let other = Person(1)
        try other.pull(ana.book.changes(since: Version(), limit: 1))
        other.setText(note, "other")
        var book = NoteBook()
        let theirs = Fork(replica: ana.id, shared: 1, ours: 8, theirs: 7)
        try book.merge(
          foreign: SharedPart(of: other.book, [theirs])
            .changes(of: other.book, since: Version(), limit: .max).changes)
        return book
      }())
    #expect(ana.book.version[fork.branch(8)] == 1)
    #expect(try SharedPart(of: ana.book, [fork]).version == part.version)
  }
}

extension Person {
  fileprivate func pull(_ piece: (changes: ChangeSet, version: Version, isMore: Bool)) throws {
    try book.merge(foreign: piece.changes)
  }
}
