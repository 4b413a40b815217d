import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// A change of one note, and all that its author had seen when making it.
struct KnownChange {
  /// A version, and later changes of one client.
  struct Seen {
    var version: Version
    var own: [ChangeID] = []

    func contains(_ change: ChangeID) -> Bool { version.contains(change) || own.contains(change) }
  }

  var change: Change
  /// What it follows.
  var past: Version
  /// What its author had seen of the text: all of that, or what its client had read.
  var seen: Seen
  /// The text that it makes of what its author had seen, if that is known.
  var text: String?
}

/// A history of one note that several people edit, and the texts that their notebooks show on the way.
struct SharedNote {
  let note: NoteID
  /// In an order in which each change comes after those that it knows.
  private(set) var changes: [KnownChange] = []
  /// What a notebook has shown of a version.
  private(set) var states: [(version: Version, text: String)] = []
  /// The text of all changes.
  private(set) var result = ""
  private let people: [Person]
  /// The percentage of changes by clients that do not say what the client had seen, as after a resume.
  private var strayPercentage = 0
  /// The notebooks on the way, of a history in which much is taken back.
  private(set) var books: [NoteBook] = []

  /// Everybody has the note with this text.
  private init(of numbers: [UInt64], _ text: String) {
    people = numbers.map { Person($0) }
    note = people[0].create("", text)
    keepChange(of: people[0], after: Version(), seeing: KnownChange.Seen(version: Version()), text)
    for person in people.dropFirst() { try! person.pull(people[0]) }
  }

  init(_ example: Example) {
    self.init(of: example.people, example.text)
    for step in example.steps {
      switch step {
      case .pull(let index, let other): pull(index, other)
      case .write(let index, let text): write(index, text)
      case .read(let index): read(index)
      case .writeByClient(let index, let text): writeByClient(index, text)
      case .withdraw(let index, let changes, let text): withdraw(index, changes, writing: text)
      case .withdrawByClient(let index, let changes, let text):
        withdrawByClient(index, changes, writing: text)
      }
    }
    end()
  }

  /// A history in which the same is often done twice.
  init(seedOfCopies seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let (numbers, text) = random.peopleAndText()
    self.init(of: numbers, text)
    var texts = [text]
    for _ in 0..<(3 + random.below(6)) { random.step(in: &self, &texts) }
    end()
  }

  /// - Parameters:
  ///   - lineEnd: that of all lines at first.
  ///   - strayPercentage: of changes by clients that do not say what the client had seen.
  init(seed: UInt64, lineEnd: String = "\n", strayPercentage: Int = 0) {
    var random = SplitMix64(seed: seed)
    // The deletions of 3 spare nothing.
    let numbers: [UInt64] = random.pick([
      [1, 2, 4], [1, 2, 3], [2, 4, 5], [1, 2, 3, 4], [1, 4, 5, 7],
    ])
    var text = ""
    for _ in 0...(1 + random.below(3)) { text += random.line() + lineEnd }
    self.init(of: numbers, text)
    self.strayPercentage = strayPercentage
    for _ in 0..<(10 + random.below(5)) { step(&random) }
    end()
  }

  /// A history in which much is taken back. What travels is all that somebody has, or had at any time; and in the end one person
  /// looks at all that was shown on the way.
  init(seedOfWithdrawals seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let (numbers, text) = random.peopleAndText()
    self.init(of: numbers, text)
    var texts = [text]
    books = [people[0].book]
    for _ in 0..<(6 + random.below(7)) {
      if random.chance(35) {
        random.withdraw(in: &self)
      } else if seed.isMultiple(of: 2) {
        random.step(in: &self, &texts)
      } else {
        step(&random)
      }
      let person = random.pick(people)
      if random.chance(25) {
        try! person.pull(random.pick(books))
        keepText(of: person)
      }
      if random.chance(10) { try! person.putAway(andReopen: random.chance(50)) }
      books.append(person.book)
    }
    let last = people[0]
    for person in people.dropFirst() { try! last.pull(person) }
    if random.chance(30) { try! last.putAway(andReopen: random.chance(50)) }
    for version in Set(states.map(\.version)) { keepText(of: last, at: version) }
    end()
    books.append(last.book)
  }

  /// A history in which very many write at one place, and some remove what stands beside it.
  init(seedOfSiblings seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.init(of: (1...UInt64(80 + random.below(40))).map { $0 }, "a b\nc d\ne f\n")
    let places = [random.below(12), random.below(12)]
    var (last, rest) = (people[0], Array(people.dropFirst().shuffled(using: &random)))
    for person in rest {
      var text = Array(person.book[note]!.text.string.utf8)
      if random.chance(85) {
        let place = random.chance(85) ? places[0] : random.pick(places)
        text.insert(contentsOf: random.pick(["x", "y ", "z\n"]).utf8, at: place)
        write(String(decoding: text, as: UTF8.self), person)
        if random.chance(30) {
          text.insert(random.pick([65, 66, 10]), at: place + 1)
          write(String(decoding: text, as: UTF8.self), person)
        }
      } else {
        write(random.edited(person.book[note]!.text.string), person)
      }
      if random.chance(5) { try! person.pull(random.pick(rest)) }
    }
    while let other = rest.popLast() {
      try! last.pull(other)
      if random.chance(5) { keepText(of: last) }
      if random.chance(2), !rest.isEmpty { swap(&last, &rest[random.below(rest.count)]) }
    }
    keepText(of: last)
  }

  private mutating func step(_ random: inout SplitMix64) {
    let person = random.pick(people)
    if random.chance(40) {
      try! person.pull(random.pick(people.filter { $0 !== person }))
    } else if random.chance(25) {
      cross(person, &random)
    } else {
      write(random.edited(person.book[note]!.text.string), person)
    }
    if random.chance(10) { try! person.putAway(andReopen: random.chance(50)) }
    keepText(of: person)
    // What two versions have in common has all that its changes know, too.
    if let other = states.randomElement(using: &random) {
      keepText(of: person, at: other.version.intersection(person.book.version))
    }
  }

  private mutating func write(_ text: String, _ person: Person) {
    let seen = person.book.version
    person.setText(note, text)
    #expect(person.book[note]!.text.string == text)
    keepChange(of: person, after: seen, seeing: KnownChange.Seen(version: seen), text)
    keepText(of: person)
  }

  /// A client of the person's process changes a text that it has read, or begins to read.
  private mutating func cross(_ person: Person, _ random: inout SplitMix64) {
    if person.reader == nil || random.chance(25) {
      person.reader = Reader(note: note, version: person.book.version)
    } else {
      let isStray = strayPercentage > 0 && random.chance(strayPercentage)
      writeByClient(
        random.edited(String(decoding: person.text(of: person.reader!), as: UTF8.self)), person,
        isStray: isStray)
    }
  }

  /// - Parameter isStray: whether the change says that its author had seen all, and had not.
  private mutating func writeByClient(_ text: String, _ person: Person, isStray: Bool = false) {
    let past = person.book.version
    if isStray { person.reader!.claimed = past }
    let claimed = person.reader!.claimed
    let seen = KnownChange.Seen(
      version: claimed ?? person.reader!.version, own: person.reader!.own)
    person.write(text, &person.reader!, hasBase: !isStray)
    keepChange(of: person, after: past, seeing: seen, claimed == nil ? text : nil)
    keepText(of: person)
  }

  /// One person gets everything, and looks at what each author had.
  private mutating func end() {
    let last = people[0]
    for person in people.dropFirst() { try! last.pull(person) }
    keepText(of: last)
    result = last.book[note]!.text.string
    for known in changes {
      var version = known.past
      version.insert(known.change.id)
      keepText(of: last, at: version)
    }
  }

  private mutating func keepChange(
    of person: Person, after past: Version, seeing seen: KnownChange.Seen, _ text: String?
  ) {
    if person.book.version == past { return }
    let number = person.book.version[person.id]
    try! person.book.forEachChange(of: person.id, upTo: number) { change, _ in
      if change.id.number == number {
        changes.append(KnownChange(change: change, past: past, seen: seen, text: text))
      }
    }
  }

  private mutating func keepText(of person: Person) {
    let text = person.book[note]!.text.string
    states.append((person.book.version, text))
  }

  private mutating func keepText(of person: Person, at version: Version) {
    guard let past = try! person.book.note(note, at: version) else { return }
    states.append((version, String(decoding: past.utf8, as: UTF8.self)))
  }
}

extension SharedNote: SharedText {
  var count: Int { people.count }

  func text(of person: Int) -> String { people[person].book[note]!.text.string }

  func clientText(of person: Int) -> String? {
    people[person].reader.map { String(decoding: people[person].text(of: $0), as: UTF8.self) }
  }

  mutating func pull(_ person: Int, _ other: Int) {
    try! people[person].pull(people[other])
    keepText(of: people[person])
  }

  mutating func write(_ person: Int, _ text: String) { write(text, people[person]) }

  mutating func read(_ person: Int) {
    people[person].reader = Reader(note: note, version: people[person].book.version)
  }

  func id(of person: Int) -> ReplicaID { people[person].id }

  func version(of person: Int) -> Version { people[person].book.version }

  mutating func withdraw(_ index: Int, _ changes: ChangeRanges, writing text: String?) {
    let person = people[index]
    let past = person.book.version
    person.withdraw(note, changes, writing: text)
    keepWithdrawal(of: person, after: past, seeing: KnownChange.Seen(version: past))
  }

  mutating func withdrawByClient(_ index: Int, _ changes: ChangeRanges, writing text: String) {
    let person = people[index]
    guard var reader = person.reader else { return }
    let past = person.book.version
    let seen = KnownChange.Seen(version: reader.version, own: reader.own)
    person.write(text, &reader, withdrawing: changes)
    person.reader = nil
    keepWithdrawal(of: person, after: past, seeing: seen)
  }

  /// What its author makes of what its author had seen is what the notebook shows, unless a client has made it.
  private mutating func keepWithdrawal(
    of person: Person, after past: Version, seeing seen: KnownChange.Seen
  ) {
    let text = seen.version == past ? person.book[note]!.text.string : nil
    keepChange(of: person, after: past, seeing: seen, text)
    keepText(of: person)
  }

  mutating func writeByClient(_ person: Int, _ text: String) {
    if people[person].reader != nil { writeByClient(text, people[person]) }
  }
}

extension SplitMix64 {
  fileprivate mutating func word() -> String { pick(["a", "b", "c", "dd"]) }

  fileprivate mutating func line() -> String {
    (0...below(3)).map { _ in word() }.joined(separator: " ")
  }

  /// A text after one or two edits.
  mutating func edited(_ text: String) -> String {
    var bytes = Array(text.utf8)
    for _ in 0...(chance(25) ? 1 : 0) {
      switch below(4) {
      case 0: changeStretch(&bytes)
      case 1: changeWords(&bytes)
      default: changeLines(&bytes)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Replaces one white character, or any stretch.
  private mutating func changeStretch(_ bytes: inout [UInt8]) {
    let white = bytes.indices.filter { isWhite(bytes[$0]) }
    if let place = white.randomElement(using: &self), chance(60) {
      let other = pick([" ", "  ", "\t", "", "\n", "\r\n", "\n\n"])
      bytes.replaceSubrange(place...place, with: Array(other.utf8))
    } else {
      let start = below(bytes.count + 1)
      let end = min(bytes.count, start + below(5))
      bytes.replaceSubrange(start..<end, with: Array(pick(["", "", "e", " ", "\n"]).utf8))
    }
  }

  /// Deletes, inserts or replaces a word, or splits a line at one.
  private mutating func changeWords(_ bytes: inout [UInt8]) {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
    let line = below(lines.count)
    var words = lines[line].split(separator: 32, omittingEmptySubsequences: false)
      .map { Array($0) }
    let place = below(words.count)
    switch below(4) {
    case 0: words.remove(at: place)
    case 1: words.insert(Array(word().utf8), at: below(words.count + 1))
    case 2: words[place] = Array(word().utf8)
    default:
      lines.insert(Array(words[place...].joined(separator: [32])), at: line + 1)
      words.removeSubrange(place...)
    }
    lines[line] = Array(words.joined(separator: [32]))
    bytes = Array(lines.joined(separator: [10]))
  }

  /// Deletes, inserts, replaces, moves or joins lines.
  private mutating func changeLines(_ bytes: inout [UInt8]) {
    var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
    let line = below(lines.count)
    switch below(6) {
    case 0, 1: lines.remove(at: line)
    case 2: lines.insert(Array(self.line().utf8), at: line)
    case 3: lines[line] = Array(self.line().utf8)
    case 4:
      let moved = lines.remove(at: line)
      lines.insert(moved, at: below(lines.count + 1))
    default:
      guard line + 1 < lines.count else { return }
      lines[line] += (chance(50) ? [32] : []) + lines.remove(at: line + 1)
    }
    bytes = Array(lines.joined(separator: [10]))
  }
}
