import Bytes
import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

private func changes(of person: Person, _ numbers: ClosedRange<UInt64>) -> ChangeRanges {
  ChangeRanges([ChangeRanges.Run(person.id, numbers)])
}

/// What the description of taking changes back says by itself, without the oracle ("Taking changes back").
@Suite struct `Taking changes back` {
  /// Several people who have the note, and know nothing else of each other.
  private func share(_ text: String, _ numbers: [UInt64]) throws -> (people: [Person], note: NoteID)
  {
    let people = numbers.map { Person($0) }
    let note = people[0].create("title", text)
    for person in people.dropFirst() { try person.pull(people[0]) }
    return (people, note)
  }

  private func text(_ person: Person, _ note: NoteID) -> String { person.book[note]!.text.string }

  private func latest(_ person: Person) -> ChangeRanges {
    let number = person.book.version[person.id]
    return number == 0 ? ChangeRanges() : changes(of: person, number...number)
  }

  // MARK: - As if it had not been made

  /// One person sees what the others do, and they see nothing of that.
  @Test(arguments: seeds(60))
  func `leaves what the others have made who had not seen it`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (people, note) = try share(
      random.pick(["a b\nc\n- [ ] d\n", "teh cat\nand\tb\n", "one two\r\nthree\r\n"]), [1, 2, 4])
    let (one, others) = (people[0], Array(people.dropFirst()))
    for _ in 0..<(6 + random.below(6)) {
      let person = random.pick(people)
      if random.chance(40) { try person.pull(random.pick(others.filter { $0 !== person })) }
      let text = text(person, note)
      person.setText(note, random.chance(30) ? text.replacing("a", with: "e") : random.edited(text))
      if random.chance(20) { try person.putAway(andReopen: random.chance(50)) }
    }
    try others[0].pull(others[1])
    let expected = text(others[0], note)
    guard one.book.version[one.id] > 1 else { return }
    // All at once or one by one, in any order, by whom it is or by somebody who has got it.
    let all = 2...one.book.version[one.id]
    let withdrawing = random.chance(50) ? one : others[1]
    if withdrawing !== one { try withdrawing.pull(one) }
    if random.chance(50) {
      withdrawing.withdraw(note, changes(of: one, all))
    } else {
      for number in all.shuffled(using: &random) {
        withdrawing.withdraw(note, changes(of: one, number...number))
      }
    }
    try exchangeAll(people, at(seed))
    for person in people { #expect(text(person, note) == expected, at(seed)) }
  }

  /// All see what all do, and each writes in a paragraph of their own.
  @Test(arguments: seeds(30))
  func `leaves what the others have written elsewhere`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let ends = ["<1>", "<2>", "<3>"]
    let first = "a b c\nteh d\n"
    let (people, note) = try share(ends.map { first + $0 }.joined(), [1, 2, 4])
    func paragraphs(_ person: Person) -> [String] {
      var rest = Substring(text(person, note))
      return ends.map { end in
        let range = rest.firstRange(of: end)!
        defer { rest = rest[range.upperBound...] }
        return String(rest[..<range.lowerBound])
      }
    }
    for _ in 0..<(8 + random.below(8)) {
      let index = random.below(3)
      if random.chance(40) { try people[index].pull(people[(index + 1 + random.below(2)) % 3]) }
      var texts = paragraphs(people[index])
      texts[index] = random.edited(texts[index])
      people[index].setText(note, zip(texts, ends).map { $0 + $1 }.joined())
    }
    var expected = people.indices.map { paragraphs(people[$0])[$0] }
    let index = random.below(3)
    expected[index] = first
    let number = people[index].book.version[people[index].id]
    let start: UInt64 = index == 0 ? 2 : 1
    guard number >= start else { return }
    let withdrawing = random.pick(people)
    try withdrawing.pull(people[index])
    withdrawing.withdraw(note, changes(of: people[index], start...number))
    try exchangeAll(people, at(seed))
    #expect(paragraphs(people[0]) == expected, at(seed))
  }

  // MARK: - To and fro

  /// People who know some of each other, each with a text in which changes have met.
  private func history(_ random: inout SplitMix64) throws -> (people: [Person], note: NoteID) {
    let (numbers, text) = random.peopleAndText()
    let (people, note) = try share(text, numbers)
    for _ in 0..<(4 + random.below(6)) {
      let person = random.pick(people)
      if random.chance(50) { try person.pull(random.pick(people.filter { $0 !== person })) }
      if random.chance(15) {
        let seen = latest(random.pick(people)).intersection(person.book.version)
        if !seen.isEmpty { person.withdraw(note, seen) }
      } else {
        person.setText(note, random.edited(self.text(person, note)))
      }
    }
    return (people, note)
  }

  @Test(arguments: seeds(100))
  func `gives the text that was there before, and again the one that was there then`(seed: UInt64)
    throws
  {
    var random = SplitMix64(seed: seed)
    let (people, note) = try history(&random)
    let (person, other) = (random.pick(people), random.pick(people))
    if person !== other { try person.pull(other) }
    var texts = [text(person, note)]
    var withdrawn: [ChangeRanges] = []
    for _ in 0..<3 {
      let number = person.book.version[person.id]
      person.setText(note, random.chance(20) ? "" : random.edited(texts.last!))
      guard person.book.version[person.id] > number else { continue }
      texts.append(text(person, note))
      withdrawn.append(latest(person))
    }
    func check(_ expected: String, _ comment: Comment) throws {
      #expect(text(person, note) == expected, comment)
      #expect(try person.book.note(note, at: person.book.version)?.utf8 == Array(expected.utf8))
      if person !== other, random.chance(30) {
        try other.pull(person)
        if other.book.version == person.book.version {
          #expect(other.book == person.book, comment)
        }
      }
    }
    for _ in 0..<2 {
      for step in withdrawn.indices.reversed() {
        person.withdraw(note, withdrawn[step])
        withdrawn[step] = latest(person)
        try check(texts[step], "undone \(step), seed \(seed)")
      }
      for step in withdrawn.indices {
        person.withdraw(note, withdrawn[step])
        withdrawn[step] = latest(person)
        try check(texts[step + 1], "made again \(step), seed \(seed)")
      }
    }
  }

  /// A separator is shown that one of two has removed; one of them deletes it with what stands beside it, and takes that back.
  @Test(arguments: [
    ("eggs\nmilk\nbread\n", "eggs\nbread\n", "eggs\ncheese\nbread\n", "eggs\nbread\n"),
    ("the quick fox", "the fox", "the slow fox", "the fox"), ("a b", "a", "a c", ""),
    ("x\n", "x", "xy\n", "x"),
  ])
  func `shows a separator again that was spared`(
    _ base: String, _ one: String, _ other: String, _ then: String
  ) throws {
    for deleting in 0...1 {
      let (people, note) = try share(base, [1, 2])
      people[0].setText(note, one)
      people[1].setText(note, other)
      try exchangeAll(people)
      let text = text(people[0], note)
      #expect(text == other)
      people[deleting].setText(note, then)
      people[deleting].withdraw(note, latest(people[deleting]))
      #expect(self.text(people[deleting], note) == text)
      try people[1 - deleting].pull(people[deleting])
      #expect(self.text(people[1 - deleting], note) == text)
      let reader = Person(4)
      try reader.pull(people[deleting])
      #expect(self.text(reader, note) == text)
      #expect(reader.book == people[deleting].book && reader.book == people[1 - deleting].book)
    }
  }

  /// Others go on meanwhile, and learn of neither.
  @Test(arguments: seeds(60))
  func `makes no difference once it is taken back itself`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (people, note) = try history(&random)
    try exchangeAll(people, at(seed))
    let (person, others) = (people[0], Array(people.dropFirst()))
    let all = person.book.version.changes.flatMap { last in
      (1...last.number).map { ChangeID(replica: last.replica, number: $0) }
    }
    let some = all.filter { _ in random.chance(30) }.map {
      ChangeRanges.Run($0.replica, $0.number...$0.number)
    }
    guard !some.isEmpty else { return }
    person.withdraw(note, ChangeRanges(some))
    let withdrawal = latest(person)
    for other in others {
      if random.chance(50) { try other.pull(random.pick(others)) }
      other.setText(note, random.edited(text(other, note)))
    }
    if random.chance(50) { try person.pull(random.pick(others)) }
    for other in others.dropFirst() { try others[0].pull(other) }
    let expected = text(others[0], note)
    person.withdraw(note, withdrawal)
    try exchangeAll(people, at(seed))
    #expect(text(person, note) == expected, at(seed))
  }

  // MARK: - The order of arrival

  /// What arrives is what somebody had at some time, in any order, or everything at once.
  @Test(arguments: seeds(60))
  func `leads to one state and one encoding, however the changes arrive`(seed: UInt64) throws {
    let history = SharedNote(seedOfWithdrawals: seed)
    var random = SplitMix64(seed: seed)
    let whole = history.books.last!
    let bytes = whole.changes(since: Version()).encoded(of: notebook)
    for number in [8, 10, 9] as [UInt64] {
      let person = Person(number)
      if number > 8 {
        for book in history.books.shuffled(using: &random).prefix(6) { try person.pull(book) }
        if random.chance(30) { try person.putAway(andReopen: random.chance(50)) }
      }
      try person.pull(whole)
      #expect(person.book == whole, at(seed))
      #expect(text(person, history.note) == history.result, at(seed))
      #expect(person.book.changes(since: Version()).encoded(of: notebook) == bytes, at(seed))
      #expect(person.book[history.note] == whole[history.note], at(seed))
      checkInvariants(person.book, at(seed))
    }
  }

  // MARK: - What it is about

  @Test func `concerns one text, and nothing else that the changes did`() throws {
    let (people, note) = try share("one two", [1, 2])
    let (ana, ben) = (people[0], people[1])
    let other = ana.create("other", "three")
    let number = ana.book.next(by: ana.id).number
    ana.make(
      ana.book.plan(for: [Edit(range: 3..<7, replacement: [])], in: note)
        + ana.book.plan(for: [Edit(range: 0..<0, replacement: [0x78])], in: other)
        + [.edit(note, .title(ana.book[note]!.title.assignment(of: "new", at: ana.now)))]
        + [.edit(note, .tags(.insert(Tag("home"))))])
    let made = changes(of: ana, number...number)
    ana.withdraw(note, made)
    func check(_ one: String, _ two: String) throws {
      try exchangeAll(people)
      for person in people {
        #expect(text(person, note) == one && text(person, other) == two)
        #expect(person.book[note]!.title.value == "new")
        #expect(person.book[note]!.tags.values == [Tag("home")])
      }
    }
    try check("one two", "xthree")
    // The withdrawal is one of the one text, so the other one is not changed by naming it.
    let withdrawal = latest(ana)
    ben.withdraw(other, withdrawal)
    try check("one two", "xthree")
    ben.withdraw(other, made)
    try check("one two", "three")
    ben.withdraw(note, withdrawal)
    try check("one", "three")
    // A creation is a change like others; the note stays.
    ben.withdraw(note, ChangeRanges(note.creation))
    try check("", "three")
  }

  /// The first withdrawal of the two comes behind an insertion in its change, at whose end the next change begins.
  @Test func `is put away and read again, also where the same change has written something`() throws
  {
    let (people, note) = try share("one two", [1, 2])
    let ana = people[0]
    ana.setText(note, "one")
    let insertion = ana.book.plan(for: [Edit(range: 3..<3, replacement: Array("!".utf8))], in: note)
    ana.make(insertion + [.edit(note, .withdraw(latest(ana)))])
    #expect(text(ana, note) == "one! two")
    ana.withdraw(note, latest(ana))
    #expect(text(ana, note) == "one")
    var writer = ByteWriter()
    ana.book[note]!.encode(into: &writer)
    var reader = ByteReader(writer.bytes)
    #expect(try Note(note, from: &reader) == ana.book[note]!)
    try people[1].pull(ana)
    #expect(people[1].book == ana.book && text(people[1], note) == "one")
  }

  @Test func `takes a note out of the trash`() throws {
    let (people, note) = try share("one", [1, 2])
    people[0].setText(note, "one two")
    people[0].delete(note)
    people[0].withdraw(note, latest(people[0]))
    #expect(!people[0].book[note]!.isTrashed && text(people[0], note) == "one two")
    try exchangeAll(people)
  }

  @Test(arguments: seeds(60))
  func `is the same twice as once`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let (people, note) = try history(&random)
    for other in people.dropFirst() where random.chance(70) { try people[0].pull(other) }
    let person = people[0]
    let all = person.book.version.changes.flatMap { last in
      (1...last.number).map { ChangeRanges(ChangeID(replica: last.replica, number: $0)) }
    }
    for _ in 0..<4 {
      let withdrawn = random.pick(all)
      person.withdraw(note, withdrawn)
      #expect(!person.book[note]!.isTextChanged(withdrawing: withdrawn), at(seed))
      let after = text(person, note)
      person.withdraw(note, withdrawn)
      #expect(text(person, note) == after, at(seed))
    }
  }
}

/// Withdrawals from outside.
@Suite struct `Withdrawals that no author makes` {
  private let ana = Person(1)
  private let ben = Person(2)

  /// Ana's note, which both have edited: two changes of hers, two of his, and then one of each that the other one does not know.
  private func share() throws -> NoteID {
    let note = ana.create("title", "one two")
    ana.setText(note, "one")
    try ben.pull(ana)
    ben.setText(note, "one!")
    ben.setText(note, "one!?")
    try ana.pull(ben)
    ana.setText(note, "one!? three")
    ben.setText(note, "none!?")
    return note
  }

  /// The same change as it would be by Ana with other operations.
  private func forged(_ operations: [Change.Operation]) -> Forgery {
    var all = Forgery.decoded(ana.book)
    let last = ana.book.change(by: ana.id, at: ana.now, operations)
    all.insert(last, at: all.lastIndex { $0.id.replica == ana.id }! + 1)
    return Forgery(all)
  }

  private func check(_ forgery: Forgery, isValid: Bool, _ comment: Comment) throws {
    let changes = try ChangeSet.decode(forgery.encoded).changes
    var whole = ana.book
    whole.merge(ben.book)
    for start in [ana.book, ben.book, whole, NoteBook()] {
      var book = start
      do {
        try book.merge(foreign: changes)
        #expect(isValid, comment)
      } catch MergeRefusal.invalid(let change, _) {
        #expect(!isValid && change == ana.book.next(by: ana.id), comment)
        #expect(book == start, comment)
        let bytes = book.changes(since: Version()).encoded(of: notebook)
        #expect(bytes == start.changes(since: Version()).encoded(of: notebook), comment)
      }
      checkInvariants(book, comment)
    }
  }

  @Test func `are refused where they name what their author could not know`() throws {
    let note = try share()
    func withdraw(_ runs: (Person, ClosedRange<UInt64>)...) -> [Change.Operation] {
      [.edit(note, .withdraw(ChangeRanges(runs.map { ChangeRanges.Run($0.id, $1) })))]
    }
    for right in [
      withdraw((ana, 1...1)), withdraw((ana, 3...3)), withdraw((ana, 1...3)),
      withdraw((ben, 2...2)),
      withdraw((ben, 1...2), (ana, 1...1), (ana, 3...3)),
    ] {
      try check(forged(right), isValid: true, "\(right)")
    }
    let stranger = Person(5)
    for wrong in [
      // Ben's third change, the change itself, a later one, and one of somebody unknown.
      withdraw((ben, 3...3)), withdraw((ben, 1...3)), withdraw((ben, 2...UInt64.max)),
      withdraw((ana, 4...4)), withdraw((ana, 3...4)), withdraw((ana, 1...5)),
      withdraw((ana, 9...9)), withdraw((ana, 1...UInt64.max)), withdraw((stranger, 1...1)),
      withdraw((ana, 3...3), (ben, 3...3)),
      // Twice of one text; and in a note that is not there.
      withdraw((ana, 3...3)) + withdraw((ben, 2...2)),
      [.edit(NoteID(creation: ChangeID(replica: ben.id, number: 1)), .withdraw(latest))],
    ] {
      try check(forged(wrong), isValid: false, "\(wrong)")
    }
    // What is right does not help.
    let insertion = ana.book.plan(for: [Edit(range: 0..<0, replacement: [0x78])], in: note)
    try check(forged(insertion + withdraw((ben, 3...3))), isValid: false, "with an insertion")
    try check(forged(withdraw((ben, 3...3)) + insertion), isValid: false, "with an insertion")
    try check(forged(insertion + withdraw((ben, 2...2))), isValid: true, "with an insertion")
  }

  private var latest: ChangeRanges { changes(of: ana, 3...3) }

  @Test func `are refused where their bytes are not those of runs in order`() throws {
    let note = try share()
    // Who is named: the author by 0, and Ben by 2, as he was named before; 1 would name him anew.
    func payload(_ numbers: [UInt64], count: Int? = nil, behind end: [UInt8] = []) -> [UInt8] {
      var writer = ByteWriter()
      writer.varint(count ?? numbers.count / 2)
      for number in numbers { writer.varint(number) }
      return writer.bytes + end
    }
    func decoded(_ bytes: [UInt8]) throws -> Change {
      // A time as before, no predecessors, and a note of the author's first change.
      var mentions = ReplicaTable()
      mentions.append(ben.id)
      let id = ChangeID(replica: ana.id, number: 4)
      return try Change(id, decoding: ([0, 0, 0x19, 0, 1] + bytes)[...], after: 0, &mentions)
    }
    func runs(_ runs: (Person, ClosedRange<UInt64>)...) -> Note.Operation {
      .withdraw(ChangeRanges(runs.map { ChangeRanges.Run($0.id, $1) }))
    }
    let right: [([UInt64], Note.Operation)] = [
      ([0, 1, 0, 1], runs((ana, 1...1))), ([0, 1, 0, 3], runs((ana, 1...3))),
      ([2, 1, 2, 2], runs((ben, 1...2))), ([0, 1, 0, .max], runs((ana, 1...UInt64.max))),
      ([0, 1, 0, 1, 0, 3, 0, 3], runs((ana, 1...1), (ana, 3...3))),
      ([0, 3, 0, 3, 2, 1, 2, 1], runs((ana, 3...3), (ben, 1...1))),
    ]
    for (numbers, operation) in right {
      #expect(try decoded(payload(numbers)).operations == [.edit(note, operation)])
    }
    let wrong: [(String, [UInt8])] = [
      ("no runs", payload([])),
      ("half a run", payload([0, 1])),
      ("an odd count", payload([0, 1, 0, 1, 0, 3])),
      ("backward", payload([0, 3, 0, 1])),
      ("of two replicas", payload([0, 1, 2, 2])),
      ("the replicas out of order", payload([2, 1, 2, 1, 0, 1, 0, 1])),
      ("the numbers out of order", payload([0, 3, 0, 3, 0, 1, 0, 1])),
      ("twice", payload([0, 1, 0, 1, 0, 1, 0, 1])),
      ("overlapping", payload([0, 1, 0, 2, 0, 2, 0, 3])),
      ("one in the other", payload([0, 1, 0, 3, 0, 2, 0, 2])),
      ("adjacent", payload([0, 1, 0, 1, 0, 2, 0, 2])),
      ("from 0", payload([0, 0, 0, 1])),
      ("0", payload([0, 0, 0, 0])),
      ("to 0", payload([0, 1, 0, 0])),
      ("a replica that was not named", payload([3, 1, 3, 1])),
      ("cut short", payload([0, 1, 0, 1], count: 4)),
      ("a count of gigabytes", [0xFF, 0xFF, 0xFF, 0xFF, 0x07]),
      ("more behind it", payload([0, 1, 0, 1], behind: [0])),
      ("longer than it need be", [2, 0, 0x81, 0, 0, 1]),
    ]
    for (comment, bytes) in wrong {
      #expect(throws: DecodingFailure.self, "\(comment)") { try decoded(bytes) }
      // On the way through a notebook it is refused, too, and changes nothing.
      var forgery = forged([.edit(note, .withdraw(latest))])
      let place = forgery.groups.firstIndex { $0.replica == ana.id }!
      let last = forgery.groups[place].changes.count - 1
      let head = try #require(forgery.groups[place].changes[last].firstIndex(of: 0x19))
      let change = forgery.groups[place].changes[last]
      forgery.groups[place].changes[last] = change[...head] + [0, 1] + bytes
      try check(forgery, isValid: false, "\(comment)")
    }
  }

  /// What is put away is read again, whatever has become of it.
  @Test func `do no harm where a note that is put away is damaged`() throws {
    let note = try share()
    ana.withdraw(note, changes(of: ana, 2...3))
    try ana.pull(ben)
    ana.withdraw(note, ChangeRanges(ChangeID(replica: ana.id, number: 4)))
    ana.withdraw(
      note, changes(of: ana, 1...1).union(changes(of: ben, 1...1)).union(changes(of: ben, 3...3)))
    var writer = ByteWriter()
    ana.book[note]!.encode(into: &writer)
    let bytes = writer.bytes
    var count = 0
    for place in bytes.indices {
      for byte in [0, 1, 2, 0x7F, 0x80, 0xFF, bytes[place] ^ 1, bytes[place] &+ 1] {
        var damaged = bytes
        damaged[place] = byte
        var reader = ByteReader(damaged)
        guard let read = try? Note(note, from: &reader), reader.isAtEnd else { continue }
        count += 1
        read.text.checkInvariants()
        var writer = ByteWriter()
        read.encode(into: &writer)
        var second = ByteReader(writer.bytes)
        #expect((try? Note(note, from: &second)) == read, "\(byte) at \(place)")
      }
      #expect(throws: DecodingFailure.self) {
        var reader = ByteReader(Array(bytes[..<place]))
        _ = try Note(note, from: &reader)
      }
    }
    #expect(count > bytes.count)
  }
}
