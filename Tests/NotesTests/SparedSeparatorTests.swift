import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What people meant when they changed one text, each without having seen what the others did.
@Suite struct `Separators that deletions spare` {
  @Test(arguments: [
    ("eggs\nmilk\nbread\n", "eggs\nbread\n", "eggs\ncheese\nbread\n", "eggs\ncheese\nbread\n"),
    ("- a\n- buy milk\n- c\n", "- a\n- c\n", "- a\n- buy oat milk\n- c\n", "- a\noat \n- c\n"),
    ("one\ntwo\nthree", "one\ntwo", "one\ntwo\nthirty", "one\ntwo\nthirty"),
    ("the quick fox", "the fox", "the slow fox", "the slow fox"),
    ("one\ntwo\nthree\n", "one\nthree\n", "one\nnew two\nthree\n", "one\nnew \nthree\n"),
    ("one\r\ntwo\r\nsix\r\n", "one\r\nsix\r\n", "one\r\nfour\r\nsix\r\n", "one\r\nfour\r\nsix\r\n"),
    ("a\nb\nc\n", "c\n", "a x\nb y\nc\n", " x\n y\nc\n"),
    ("a\nb\nc\n", "a\nb\n", "a\nb\nd\n", "a\nb\nd\n"),
    ("a\nb\nc\n", "a\nc\n", "b\nc\n", "c\n"),
    ("a b\nc d\ne f\n", "a b c d\ne f\n", "a b\ne f\n", "a b \ne f\n"),
  ])
  func `keep lines and words apart that nobody put together`(
    _ base: String, _ one: String, _ other: String, _ wanted: String
  ) throws {
    for texts in [
      try textsAfterMeeting(base, [one, other]), try textsAfterMeeting(base, [other, one]),
    ] {
      #expect(texts == Array(repeating: wanted, count: 3))
    }
    #expect(try textInOneProcess(base, [one, other]) == wanted)
    #expect(try textInOneProcess(base, [other, one]) == wanted)
  }
}

extension `Separators that deletions spare` {
  /// It was shown in one notebook and not in the other: a blank that its deletion did not know stood between it and the line feed.
  @Test func `show a carriage return wherever the line feed behind it is shown`() throws {
    for other in [" \nz", "z\n", "\n", " \n ", ""] {
      let people = [2, 4, 5, 7].map { Person($0) }
      let note = people[0].create("", " \n")
      for person in people.dropFirst() { try person.pull(people[0]) }
      people[0].setText(note, "d\r")
      people[0].setText(note, "b")
      people[1].setText(note, other)
      people[2].setText(note, "\n ")
      try people[0].pull(people[2])
      for index in 0..<3 { try people[3].pull(people[index]) }
      people[0].setText(note, "b\r  ")
      try people[3].pull(people[0])
      try people[0].pull(people[1])
      #expect(people[3].book == people[0].book)
      try exchangeAll(people)
    }
  }
}

extension `Separators that deletions spare` {
  @Test func `are taken out of bytes only where they were removed, in their order`() throws {
    var alice = Replica(id: replicaID(1))
    var text = ReplicatingText()
    text.insert("aé b c d\n".utf8.span, at: 0, by: &alice)
    text.remove(0..<9, by: &alice)
    func ranges(_ offsets: Int...) -> [ElementRange] {
      offsets.map { ElementRange(author: replicaID(1), offset: $0, count: 1) }
    }
    func string(_ ranges: [ElementRange], wasContested: Bool = true, wasConcurrent: Bool = true)
      -> String?
    {
      var text = text
      guard
        text.restoreMerge(sparing: ranges, wasContested: wasContested, wasConcurrent: wasConcurrent)
      else { return nil }
      text.checkInvariants()
      return text.string
    }
    #expect(string(ranges(3, 5)) == "  \n")
    #expect(string(ranges(3), wasContested: false) == nil)
    #expect(string([], wasContested: false, wasConcurrent: false) == "\n")
    #expect(string([], wasConcurrent: false) == nil)
    // A letter, a part of one, what is visible, what is not there, twice, the wrong way round, in pieces.
    for refused in [ranges(0), ranges(2), ranges(9), ranges(10), ranges(3, 3), ranges(5, 3)] {
      #expect(string(refused) == nil)
    }
    for (offset, count) in [(-1, 2), (3, 0), (3, -1), (3, 2), (3, .max)] {
      #expect(string([ElementRange(author: replicaID(1), offset: offset, count: count)]) == nil)
    }
    #expect(string([ElementRange(author: replicaID(2), offset: 0, count: 1)]) == nil)
  }

  /// An undo of a change in each of 35,000 lines took most of a second in a note in which much had been removed before, by nobody else.
  @Test func `are looked for only in a note of which two changes did not know each other`() throws {
    let (alice, bob) = (Person(1), Person(2))
    let note = alice.create("note", "one two\nthree four\n")
    let other = alice.create("other", "text")
    try bob.pull(alice)
    alice.setText(note, "one\nthree four\n")
    let last = alice.book.version[alice.id]
    alice.make([
      .edit(note, .withdraw(ChangeRanges([ChangeRanges.Run(alice.id, last...last)])))
    ])
    bob.setText(other, "text of Bob")
    try alice.pull(bob)
    try bob.pull(alice)
    // They did not know each other, and are not of one note.
    for person in [alice, bob] {
      #expect(!person.book[note]!.text.isConcurrent && !person.book[other]!.text.isConcurrent)
    }
    alice.setText(note, "one twothree four\n")
    bob.setText(note, "one two\nBob three four\n")
    try alice.pull(bob)
    try bob.pull(alice)
    for person in [alice, bob] {
      #expect(person.book[note]!.text.string == "one two\nBob three four\n")
      #expect(person.book[note]!.text.isConcurrent && !person.book[other]!.text.isConcurrent)
      var bytes = ByteWriter()
      person.book[note]!.encode(into: &bytes)
      var reader = ByteReader(bytes.bytes)
      #expect(try Note(note, from: &reader).text.isConcurrent)
    }
  }

  /// Each of a change's operations may name one blank of a large text: what is kept in memory must not be their product.
  @Test func `of a text of blanks are looked at once, however many operations remove it`() throws {
    let (alice, bob) = (Person(1), Person(2))
    let note = alice.create("note", String(repeating: " ", count: 20_000))
    try bob.pull(alice)
    bob.setText(
      note, String(repeating: " ", count: 10_000) + "word" + String(repeating: " ", count: 10_000))
    alice.make(
      (0..<20_000).map {
        .edit(note, .text(.remove(ElementRange(author: alice.id, offset: $0, count: 1))))
      })
    let time = try processorTime { try bob.pull(alice) }
    #expect(time < .seconds(20))
    try alice.pull(bob)
    #expect(alice.book == bob.book && alice.book[note]!.text.string == "word")
  }
}

@Suite struct `The base of an edit` {
  @Test func `is refused where it stands on too many others of its author`() throws {
    let (author, other) = (Person(1), Person(2))
    let note = author.create("note", "text")
    var reader = Reader(note: note, version: author.book.version)
    for count in 1...TextBase.longestChain {
      author.write(String(repeating: "x", count: count) + "text", &reader)
    }
    try other.pull(author)
    #expect(author.book == other.book)
    let last = TextBase(heads: [note.creation], previous: reader.own.last!.number)
    #expect(try author.book.unseen(in: note, on: last, by: author.id) == nil)
    author.write("text", &reader)
    #expect(throws: MergeRefusal.self) { try other.pull(author) }
  }

  @Test func `comes before the edits that were made on it, once`() throws {
    let (author, other) = (Person(1), Person(2))
    let note = author.create("note", "text")
    let base = Note.Operation.base(TextBase(heads: [note.creation]))
    let edit = Note.Operation.text(
      .remove(ElementRange(author: author.id, offset: 0, count: 1)))
    for operations in [[edit, base], [base, base, edit], [base, edit, base]] {
      let book = author.book
      author.make(operations.map { .edit(note, $0) })
      #expect(throws: MergeRefusal.self) { try other.pull(author) }
      author.book = book
    }
    author.make([.edit(note, base), .edit(note, edit)])
    try other.pull(author)
    #expect(other.book[note]!.text.string == "ext")
  }

  @Test func `refuses origins that the author had not seen`() throws {
    let (author, other) = (Person(1), Person(2))
    let note = author.create("note", "text")
    let read = author.book.version
    author.setText(note, "new text")
    let element = ElementID(author: author.id, offset: 4)
    let base = TextBase(heads: read.replicas.map { ChangeID(replica: $0, number: read[$0]) })
    author.make([
      .edit(note, .base(base)), .edit(note, .text(.insert([0x61], after: element, before: nil))),
    ])
    #expect(throws: MergeRefusal.self) { try other.pull(author) }
  }
}

/// A change of a text of words in lines, by somebody.
private struct Deed {
  enum Kind: CaseIterable {
    case deleteWord, replaceWord, insertWord, appendWord, prependWord, deleteLine, insertLine,
      moveLine, joinLines, splitLine, reflow, sort, deleteLines
  }

  var kind: Kind
  var text: String
  /// The words that are new, those that were taken away, and those that others stand for.
  var new: [String] = []
  var gone: [String] = []
  var replaced: String?
  /// The lines of the text before in which something changed.
  var touched: Set<Int> = []

  /// Nothing, if this can't be done with such a text.
  init?(_ kind: Kind, to base: [[String]], new word: String, _ generator: inout SplitMix64) {
    self.kind = kind
    var lines = base
    let line = generator.below(lines.count)
    let place = generator.below(lines[line].count)
    touched = [line]
    switch kind {
    case .deleteWord:
      guard lines[line].count > 1 else { return nil }
      gone = [lines[line].remove(at: place)]
    case .replaceWord:
      replaced = lines[line][place]
      gone = [lines[line][place]]
      lines[line][place] = word
      new = [word]
    case .insertWord:
      guard place > 0 else { return nil }
      lines[line].insert(word, at: place)
      new = [word]
    case .appendWord:
      lines[line].append(word)
      new = [word]
    case .prependWord:
      lines[line].insert(word, at: 0)
      new = [word]
    case .deleteLine: gone = lines.remove(at: line)
    case .deleteLines:
      let last = line + generator.below(lines.count - line)
      gone = lines[line...last].flatMap { $0 }
      touched = Set(line...last)
      lines.removeSubrange(line...last)
    case .insertLine:
      new = [word, word + "too"]
      lines.insert(new, at: line)
      touched = []
    case .moveLine:
      let moved = lines.remove(at: line)
      let target = generator.below(lines.count + 1)
      lines.insert(moved, at: target)
      // Which of two neighbours has moved, nobody can tell.
      touched = Set(min(line, target)...max(line, target))
    case .joinLines:
      guard line + 1 < lines.count else { return nil }
      lines[line] += lines.remove(at: line + 1)
      touched = [line, line + 1]
    case .splitLine:
      guard place > 0 else { return nil }
      lines.insert(Array(lines[line][place...]), at: line + 1)
      lines[line].removeSubrange(place...)
    case .reflow:
      let words = lines.flatMap { $0 }
      let width = 2 + generator.below(4)
      lines = stride(from: 0, to: words.count, by: width).map {
        Array(words[$0..<min(words.count, $0 + width)])
      }
      touched = Set(base.indices)
    case .sort:
      lines.sort { $0.joined() < $1.joined() }
      touched = Set(base.indices)
    }
    if lines == base { return nil }
    text = Self.text(lines)
  }

  static func text(_ lines: [[String]]) -> String {
    lines.map { $0.joined(separator: " ") + "\n" }.joined()
  }
}

extension `Separators that deletions spare` {
  /// The reason why a text is not what everybody can have meant; nil if there is none.
  private func objection(to text: String, _ base: [[String]], _ deeds: [Deed]) -> String? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.split(separator: " ").map(String.init) }
    var counts: [String: Int] = [:]
    for word in lines.joined() { counts[word, default: 0] += 1 }
    let gone = Set(deeds.flatMap(\.gone))
    // Moved text is inserted again, so two who move it have it twice.
    let isMoved = deeds.contains { $0.kind == .moveLine || $0.kind == .sort }
    for word in base.joined() where !gone.contains(word) {
      let count = counts[word] ?? 0
      if count != 1 && !(isMoved && count > 1) { return "\(word) is there \(count) times" }
    }
    let replaced = deeds.compactMap(\.replaced)
    // Two words that replace one stand side by side: nobody typed anything between them.
    if Set(replaced).count == replaced.count {
      for word in deeds.flatMap(\.new) where counts[word] != 1 {
        return "\(word) does not stand alone"
      }
    }
    let touched = deeds.reduce(into: Set<Int>()) { $0.formUnion($1.touched) }
    for (index, line) in base.enumerated() where !touched.contains(index) && !lines.contains(line) {
      return "the line \(line) is not whole"
    }
    return nil
  }

  private func meeting(
    of count: Int, _ generator: inout SplitMix64
  ) throws -> (base: [[String]], deeds: [Deed], texts: [[String]]) {
    var number = 0
    func word() -> String {
      number += 1
      return "w\(number)"
    }
    let base = (0..<3 + generator.below(4)).map { _ in
      (0..<1 + generator.below(4)).map { _ in word() }
    }
    var deeds: [Deed] = []
    while deeds.count < count {
      let kind = generator.pick(Deed.Kind.allCases)
      let new = ["Anna", "Berta", "Carl"][deeds.count]
      if let deed = Deed(kind, to: base, new: new, &generator) { deeds.append(deed) }
    }
    let edits = deeds.map(\.text)
    return (
      base, deeds,
      [
        try textsAfterMeeting(Deed.text(base), edits),
        [try textInOneProcess(Deed.text(base), edits)],
      ]
    )
  }

  @Test func `two or three changes that did not know each other leave lines and words whole`()
    throws
  {
    var objections = 0
    for seed in seeds(150) {
      var generator = SplitMix64(seed: seed)
      let (base, deeds, ways) = try meeting(of: 2 + generator.below(2), &generator)
      for texts in ways {
        #expect(Set(texts).count == 1, at(seed))
        if let objection = objection(to: texts[0], base, deeds) {
          objections += 1
          Issue.record(
            "\(objection), seed \(seed): \(Deed.text(base).debugDescription) \(deeds.map { "\($0.kind)" }) \(deeds.map(\.text)) → \(texts[0].debugDescription)"
          )
        }
      }
    }
    #expect(objections == 0)
  }
}
