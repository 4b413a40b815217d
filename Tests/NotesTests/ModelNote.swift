import ReplicatingTypes
import TestSupport

@testable import Notes

/// Several people who edit one note, each in a notebook, with a client that may lag behind.
protocol SharedText {
  /// How many there are, numbered from 0.
  var count: Int { get }
  /// In an order in which each change comes after those that it knows.
  var changes: [KnownChange] { get }

  func id(of person: Int) -> ReplicaID
  /// What the person knows.
  func version(of person: Int) -> Version
  func text(of person: Int) -> String
  /// What the person's client shows, if there is one.
  func clientText(of person: Int) -> String?

  /// A person takes over what the other one has.
  mutating func pull(_ person: Int, _ other: Int)
  mutating func write(_ person: Int, _ text: String)
  /// A client begins to show what the notebook does now.
  mutating func read(_ person: Int)
  mutating func writeByClient(_ person: Int, _ text: String)
  /// A person takes changes back, and writes, if there is a text, with the same change.
  mutating func withdraw(_ person: Int, _ changes: ChangeRanges, writing text: String?)
  /// A client takes changes back and writes with one change, and shows the text no more.
  mutating func withdrawByClient(_ person: Int, _ changes: ChangeRanges, writing text: String)
}

/// A history of one note whose authors see the texts that the oracle gives: it shows what the description means by itself.
///
/// An author inserts directly behind an element that is shown, and in front of what follows it, shown or not, of all that the
/// author knows; and removes what is shown.
struct ModelNote: SharedText {
  private struct Author {
    var id: ReplicaID
    var past = Version()
    var reader: KnownChange.Seen?
  }

  let note: NoteID
  private(set) var changes: [KnownChange] = []
  /// All that was done.
  private(set) var steps: [Example.Step] = []
  private var authors: [Author]
  private var oracle: TextOracle
  private let mistake: TextOracle.Mistake?

  init(of numbers: [UInt64], _ text: String, mistake: TextOracle.Mistake? = nil) {
    self.mistake = mistake
    authors = numbers.map { Author(id: replicaID($0)) }
    note = NoteID(creation: ChangeID(replica: authors[0].id, number: 1))
    oracle = TextOracle(of: [], in: note)
    let insertion = Note.Operation.text(.insert(Array(text.utf8), after: nil, before: nil))
    add([.create, .edit(note, insertion)], by: 0, KnownChange.Seen(version: Version()), text)
    for person in authors.indices.dropFirst() { authors[person].past = authors[0].past }
  }

  init(_ example: Example, mistake: TextOracle.Mistake? = nil) {
    self.init(of: example.people, example.text, mistake: mistake)
    for step in example.steps {
      switch step {
      case .pull(let person, let other): pull(person, other)
      case .write(let person, let text): write(person, text)
      case .read(let person): read(person)
      case .writeByClient(let person, let text): writeByClient(person, text)
      case .withdraw(let person, let changes, let text):
        withdraw(person, changes, writing: text)
      case .withdrawByClient(let person, let changes, let text):
        withdrawByClient(person, changes, writing: text)
      }
    }
  }

  var count: Int { authors.count }

  func id(of person: Int) -> ReplicaID { authors[person].id }

  func version(of person: Int) -> Version { authors[person].past }

  func text(of person: Int) -> String { text(of: authors[person].past) }

  func text(of version: Version) -> String {
    String(decoding: oracle.text(of: version), as: UTF8.self)
  }

  func clientText(of person: Int) -> String? {
    authors[person].reader.map { String(decoding: oracle.text($0.contains), as: UTF8.self) }
  }

  /// The text of all changes.
  var result: String { String(decoding: oracle.text { _ in true }, as: UTF8.self) }

  /// What everybody had in the end, and in common.
  var versions: [Version] {
    let each = authors.map(\.past)
    var all = Version()
    for version in each { all.merge(version) }
    return each + [all]
      + changes.map { known in
        var version = known.past
        version.insert(known.change.id)
        return version
      }
  }

  mutating func pull(_ person: Int, _ other: Int) {
    steps.append(.pull(person, other))
    authors[person].past.merge(authors[other].past)
  }

  mutating func read(_ person: Int) {
    steps.append(.read(person))
    authors[person].reader = KnownChange.Seen(version: authors[person].past)
  }

  mutating func write(_ person: Int, _ text: String) {
    steps.append(.write(person, text))
    let seen = KnownChange.Seen(version: authors[person].past)
    let edits = operations(making: text, seeing: seen)
    if !edits.isEmpty { add(edits, by: person, seen, text) }
  }

  mutating func writeByClient(_ person: Int, _ text: String) {
    guard let seen = authors[person].reader else { return }
    steps.append(.writeByClient(person, text))
    let edits = operations(making: text, seeing: seen)
    if !edits.isEmpty {
      authors[person].reader!.own.append(add(edits, by: person, seen, text))
    }
  }

  mutating func withdraw(_ person: Int, _ changes: ChangeRanges, writing text: String?) {
    steps.append(.withdraw(person, changes, text))
    let seen = KnownChange.Seen(version: authors[person].past)
    let edits = text.map { operations(making: $0, seeing: seen) } ?? []
    add([.edit(note, .withdraw(changes))] + edits, by: person, seen)
  }

  mutating func withdrawByClient(_ person: Int, _ changes: ChangeRanges, writing text: String) {
    guard let seen = authors[person].reader else { return }
    steps.append(.withdrawByClient(person, changes, text))
    let edits = operations(making: text, seeing: seen)
    add(edits + [.edit(note, .withdraw(changes))], by: person, seen)
    authors[person].reader = nil
  }

  /// The operations that make a text of what somebody has seen.
  private func operations(
    making text: String, seeing seen: KnownChange.Seen
  ) -> [Change.Operation] {
    let elements = oracle.elements(seen.contains)
    let shown = elements.indices.filter { elements[$0].isShown }
    var operations: [Change.Operation] = []
    let edits = textDifference(from: shown.map { elements[$0].byte }, to: Array(text.utf8))
    // Of two insertions between the same two elements the later one stands in front.
    for edit in edits.reversed() {
      if !edit.replacement.isEmpty {
        // Behind the first element that is replaced; if it is the only one, before it, but at the beginning of a line.
        var place = edit.range.lowerBound
        let isFirst = place == 0 || elements[shown[place - 1]].byte == 0x0A
        if edit.range.count > 1 || edit.range.count == 1 && isFirst { place += 1 }
        var left = place > 0 ? shown[place - 1] : nil
        var right = left.map { $0 + 1 } ?? 0
        // A converted line end stands beside the one that it was made of.
        let isInFront =
          edit.range.isEmpty
          ? edit.divider == [0x0D] : place == edit.range.lowerBound
        if edit.convertsLineEnd, isInFront {
          right = shown[place]
          left = right > 0 ? right - 1 : nil
        }
        var edit = edit
        // Beside a line end that is shown though it was removed there is none.
        let isRemoved =
          left.map { elements[$0].isRemoved && elements[$0].isShown } ?? false
          || right < elements.count && elements[right].isRemoved && elements[right].isShown
        if edit.convertsLineEnd, isRemoved { edit.divider = [] }
        operations.append(
          .edit(
            note,
            .text(
              .insert(
                edit.replacement + edit.divider, after: left.map { elements[$0].id },
                before: right < elements.count ? elements[right].id : nil,
                divider: edit.divider.count))))
      }
      for removed in edit.range.map({ elements[shown[$0]].id }) {
        let range = ElementRange(author: removed.author, offset: removed.offset, count: 1)
        operations.append(.edit(note, .text(.remove(range))))
      }
    }
    return operations
  }

  /// Adds a change, which makes `text`, or what the description says, of what its author had seen.
  @discardableResult
  private mutating func add(
    _ operations: [Change.Operation], by person: Int, _ seen: KnownChange.Seen,
    _ text: String? = nil
  ) -> ChangeID {
    let (id, past) = (authors[person].id, authors[person].past)
    let change = Change(
      id: ChangeID(replica: id, number: past[id] + 1), time: 0, predecessors: [],
      operations: operations)
    changes.append(KnownChange(change: change, past: past, seen: seen, text: text))
    authors[person].past.insert(change.id)
    oracle = TextOracle(of: changes, in: note, mistake: mistake)
    if text == nil {
      let new = oracle.text { seen.contains($0) || $0 == change.id }
      changes[changes.count - 1].text = String(decoding: new, as: UTF8.self)
    }
    return change.id
  }
}

extension SplitMix64 {
  /// Somebody takes back something, as often as not what was taken back before.
  mutating func withdraw(in note: inout some SharedText) {
    let person = below(note.count)
    if chance(25) { return undo(in: &note, person) }
    let version = note.version(of: person)
    let known = note.changes.filter { version.contains($0.change.id) }
    let changes = someChanges(of: known, seenBy: note.id(of: person), in: note.changes[0].change.id)
    switch below(20) {
    case 0, 1: note.withdraw(person, changes, writing: edited(note.text(of: person)))
    case 2, 3:
      guard let text = note.clientText(of: person) else { fallthrough }
      note.withdrawByClient(person, changes, writing: chance(50) ? text : edited(text))
    default: note.withdraw(person, changes, writing: nil)
    }
  }

  /// Somebody makes a change and takes it back, and may make it again.
  private mutating func undo(in note: inout some SharedText, _ person: Int) {
    let id = note.id(of: person)
    func latest() -> ChangeRanges {
      ChangeRanges(ChangeID(replica: id, number: note.version(of: person)[id]))
    }
    let before = note.version(of: person)[id]
    if chance(50) { note.pull(person, (person + 1 + below(note.count - 1)) % note.count) }
    let text = note.text(of: person)
    note.write(person, chance(30) ? "" : edited(text))
    guard note.version(of: person)[id] > before else { return }
    note.withdraw(person, latest(), writing: nil)
    if chance(50) { note.withdraw(person, latest(), writing: nil) }
  }

  /// Changes that somebody may take back, of those that are known.
  private mutating func someChanges(
    of known: [KnownChange], seenBy author: ReplicaID, in creation: ChangeID
  ) -> ChangeRanges {
    func isWithdrawal(_ known: KnownChange) -> Bool {
      known.change.operations.contains {
        if case .edit(_, .withdraw) = $0 { true } else { false }
      }
    }
    func union(_ changes: some Sequence<KnownChange>) -> ChangeRanges {
      ChangeRanges(
        changes.map {
          ChangeRanges.Run($0.change.id.replica, $0.change.id.number...$0.change.id.number)
        })
    }
    // Without its first text there is little left of a note.
    let rest = known.filter { $0.change.id != creation || chance(10) }
    let withdrawals = rest.filter(isWithdrawal)
    let (own, others) = (
      rest.filter { $0.change.id.replica == author },
      rest.filter { $0.change.id.replica != author }
    )
    var changes = ChangeRanges()
    switch below(10) {
    case 0, 1: changes = union(own.suffix(1 + below(3)))
    case 2: if let one = own.randomElement(using: &self) { changes = union([one]) }
    case 3: changes = union(others.suffix(1 + below(2)))
    case 4: if let one = others.randomElement(using: &self) { changes = union([one]) }
    case 5: changes = union(withdrawals.filter { $0.change.id.replica == author }.suffix(1))
    case 6: if let one = withdrawals.randomElement(using: &self) { changes = union([one]) }
    case 7: changes = union(withdrawals.filter { _ in chance(50) })
    case 8: changes = union(rest.filter { _ in chance(30) })
    default:
      // All that one person did, or a part of it.
      let replica = pick(known).change.id.replica
      let all = rest.filter { $0.change.id.replica == replica }
      changes = union(all.dropFirst(chance(50) ? 0 : below(all.count + 1)))
    }
    return changes.isEmpty ? ChangeRanges(pick(known).change.id) : changes
  }
}

extension SplitMix64 {
  /// Who edits a note in which the same is often done twice, and its first text.
  mutating func peopleAndText() -> (people: [UInt64], text: String) {
    let people: [UInt64] = pick([[1, 2, 4], [1, 2, 3], [2, 4, 5], [1, 2, 3, 4], [1, 4, 5, 7]])
    let lines = ["- [ ] a", "- [x] b", "teh a", "a teh b", "10 b", "c", "(a)", "b a", "b\r"]
    let text = (0...below(3)).map { _ in pick(lines) + "\n" }.joined()
    return (people, chance(20) ? String(text.dropLast()) : text)
  }

  /// Somebody does something in a note, which others often do as well. `texts` are all texts so far.
  mutating func step(in note: inout some SharedText, _ texts: inout [String]) {
    let person = below(note.count)
    let other = (person + 1 + below(note.count - 1)) % note.count
    switch below(20) {
    case 0...4: note.pull(person, other)
    case 5...11: replace(in: &note, person, &texts)
    case 12: note.read(person)
    case 13, 14:
      if let text = note.clientText(of: person) {
        note.writeByClient(person, chance(50) ? edited(text) : replaced(text))
      }
    case 15: note.write(person, pick(texts))
    case 16, 17: note.write(person, writtenInside(note.text(of: person)))
    default: note.write(person, edited(note.text(of: person)))
    }
    texts.append(note.text(of: person))
  }

  /// All who have the same text make the same of it, and some go on.
  private mutating func replace(
    in note: inout some SharedText, _ person: Int, _ texts: inout [String]
  ) {
    if chance(20) {
      for other in 0..<note.count where other != person {
        note.pull(person, other)
        note.pull(other, person)
      }
    }
    let text = note.text(of: person)
    let new = chance(25) ? edited(text) : replaced(text)
    for other in 0..<note.count {
      let isWriting = other == person || chance(70)
      if note.clientText(of: other) == text, isWriting || chance(50) {
        note.writeByClient(other, new)
        if chance(25) { note.writeByClient(other, writtenInside(new)) }
      }
      guard isWriting, note.text(of: other) == text else { continue }
      // Others may do something more at once.
      note.write(other, chance(15) ? edited(new) : new)
      if chance(30) {
        let next = [writtenInside(new), text, replaced(new), edited(new)]
        note.write(other, pick(next))
      }
    }
    texts.append(new)
  }

  /// A text in which something was replaced, as anybody would do it.
  private mutating func replaced(_ text: String) -> String {
    let ways: [(String, String)] = [
      ("[ ]", "[x]"), ("[x]", "[ ]"), ("teh", "the"), ("10", "20"), ("20", "30"), ("the", "then"),
      ("\r\n", "\n"), ("(", "x"), (")", "x"), ("a", "dd"), ("b", "a b"), (" ", "\n"), ("\n", " "),
      ("c", "e  e"),
    ]
    let possible = ways.filter { text.contains($0.0) }
    if chance(10) || possible.isEmpty {
      return text.split(separator: "\n", omittingEmptySubsequences: false).sorted()
        .joined(separator: "\n")
    }
    let (old, new) = pick(possible)
    if chance(30) { return text.replacing(old, with: new) }
    return text.replacing(old, with: new, maxReplacements: 1)
  }

  /// A text with something new or nothing in the place of one character, or of nothing.
  private mutating func writtenInside(_ text: String) -> String {
    var characters = Array(text)
    let place = below(characters.count + 1)
    let end = min(characters.count, place + below(2))
    characters.replaceSubrange(place..<end, with: Array(pick(["", "q", "q", " ", "\n"])))
    return String(characters)
  }
}
