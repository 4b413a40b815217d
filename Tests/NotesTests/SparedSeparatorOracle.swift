import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// What the description of the rule says ("What a deletion spares"), with plain arrays and from scratch for every set of
/// changes. It shares no code with the implementation.
///
/// Where the description can be read in several ways, it is read thus:
/// - At the end of the text, *u* must be in the text after *y*, and none of the line feeds.
/// - *y* is one of those that can have put *u* and *v* side by side: *c*, who inserted one of the two, and who removed one
///   of those that must not be between them (of rule 1: line feeds).
/// - A gap has only elements that a change of the world inserted, which matters for what stands directly before a line
///   feed.
@Suite struct `The rule on spared separators, written by its description` {
  @Test(arguments: seeds(30))
  func `gives the text that every notebook shows, now and for earlier versions`(seed: UInt64) {
    let history = SharedNote(seed: seed)
    let oracle = SeparatorOracle(of: history)
    for (step, state) in history.states.enumerated() {
      let expected = String(decoding: oracle.text(of: state.version), as: UTF8.self)
      #expect(state.text == expected, at(seed, step))
    }
    for (index, change) in history.changes.enumerated() {
      let text = oracle.text { change.seen.contains($0) || $0 == change.change.id }
      #expect(String(decoding: text, as: UTF8.self) == change.text, "seed \(seed), change \(index)")
    }
  }

  @Test(arguments: Example.all)
  func `gives the text of the examples`(example: Example) {
    let history = SharedNote(example)
    let oracle = SeparatorOracle(of: history)
    #expect(history.result == example.result)
    for state in history.states {
      #expect(state.text == String(decoding: oracle.text(of: state.version), as: UTF8.self))
    }
  }

  @Test(arguments: SeparatorOracle.Mistake.allCases)
  func `differs from the notebooks when it is written with a mistake`(
    mistake: SeparatorOracle.Mistake
  ) {
    func isNoticed(in history: SharedNote) -> Bool {
      let oracle = SeparatorOracle(of: history, mistake: mistake)
      return history.states.contains { Array($0.text.utf8) != oracle.text(of: $0.version) }
    }
    let isNoticed =
      Example.all.contains { isNoticed(in: SharedNote($0)) }
      || (UInt64(1)...200).contains { isNoticed(in: SharedNote(seed: $0)) }
    #expect(isNoticed)
  }
}

/// A history that was found at random and made small.
struct Example: Sendable, CustomTestStringConvertible {
  enum Step: Sendable {
    /// The one takes over what the other has.
    case pull(Int, Int)
    case write(Int, String)
  }

  var testDescription: String
  var people: [UInt64]
  var text: String
  var steps: [Step]
  /// What everybody sees in the end.
  var result: String

  static let all = [
    Example(
      testDescription: "who knows two changes puts nothing side by side", people: [1, 2, 4],
      text: "\n",
      steps: [.write(1, "b\n"), .write(0, ""), .pull(1, 0), .write(1, "cb\n"), .write(2, "")],
      result: "cb\n"),
    Example(
      testDescription: "who removes a blank puts nothing onto one line", people: [1, 4, 5, 7],
      text: "d\n",
      steps: [
        .write(3, "\n"), .write(0, "b"), .write(3, "\n d"), .pull(1, 0), .pull(1, 3),
        .write(3, "d"), .write(1, "b\nd"),
      ], result: "b\nd"),
    Example(
      testDescription: "what is written behind a carriage return leaves it there",
      people: [2, 4, 5],
      text: " \n",
      steps: [
        .write(0, "d\r"), .write(0, "b"), .write(2, "\n "), .pull(0, 2), .write(0, "b\r  "),
      ], result: "b\r  "),
  ]
}

/// A history of one note that several people edit, and the texts that their notebooks show on the way.
private struct SharedNote {
  /// A change, and all that its author had seen when making it.
  struct Known {
    var change: Change
    /// What it follows.
    var past: Version
    /// What its author had seen of the text: all of that, or what its client had read.
    var seen: Seen
    /// The text that it makes of what its author had seen.
    var text: String
  }

  /// A version, and later changes of one client.
  struct Seen {
    var version: Version
    var own: [ChangeID] = []

    func contains(_ change: ChangeID) -> Bool { version.contains(change) || own.contains(change) }
  }

  let note: NoteID
  /// In an order in which each change comes after those that it knows.
  private(set) var changes: [Known] = []
  /// What a notebook has shown of a version.
  private(set) var states: [(version: Version, text: String)] = []
  /// The text of all changes.
  private(set) var result = ""
  private let people: [Person]

  /// Everybody has the note with this text.
  private init(of numbers: [UInt64], _ text: String) {
    people = numbers.map { Person($0) }
    note = people[0].create("", text)
    keepChange(of: people[0], after: Version(), seeing: Seen(version: Version()), text)
    for person in people.dropFirst() { try! person.pull(people[0]) }
  }

  init(_ example: Example) {
    self.init(of: example.people, example.text)
    for step in example.steps {
      switch step {
      case .pull(let index, let other): try! people[index].pull(people[other])
      case .write(let index, let text): write(text, people[index])
      }
    }
    end()
  }

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    // The deletions of 3 spare nothing.
    let numbers: [UInt64] = random.pick([
      [1, 2, 4], [1, 2, 3], [2, 4, 5], [1, 2, 3, 4], [1, 4, 5, 7],
    ])
    var text = ""
    for _ in 0...(1 + random.below(3)) { text += random.line() + "\n" }
    self.init(of: numbers, text)
    for _ in 0..<(10 + random.below(5)) { step(&random) }
    end()
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
    keepChange(of: person, after: seen, seeing: Seen(version: seen), text)
    keepText(of: person)
  }

  /// A client of the person's process changes a text that it has read, or begins to read.
  private mutating func cross(_ person: Person, _ random: inout SplitMix64) {
    if person.reader == nil || random.chance(25) {
      person.reader = Reader(note: note, version: person.book.version)
    } else {
      let text = random.edited(String(decoding: person.text(of: person.reader!), as: UTF8.self))
      let past = person.book.version
      let seen = Seen(version: person.reader!.version, own: person.reader!.own)
      person.write(text, &person.reader!)
      keepChange(of: person, after: past, seeing: seen, text)
      keepText(of: person)
    }
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
    of person: Person, after past: Version, seeing seen: Seen, _ text: String
  ) {
    if person.book.version == past { return }
    let number = person.book.version[person.id]
    try! person.book.forEachChange(of: person.id, upTo: number) { change, _ in
      if change.id.number == number {
        changes.append(Known(change: change, past: past, seen: seen, text: text))
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

extension SplitMix64 {
  fileprivate mutating func word() -> String { pick(["a", "b", "c", "dd"]) }

  fileprivate mutating func line() -> String {
    (0...below(3)).map { _ in word() }.joined(separator: " ")
  }

  /// A text after one or two edits.
  fileprivate mutating func edited(_ text: String) -> String {
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

private let lineFeed: UInt8 = 0x0A
private let carriageReturn: UInt8 = 0x0D
private func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

/// The text of any set of changes that contains all that its changes know.
struct SeparatorOracle {
  /// How the oracle is written wrong, to show that it can differ.
  enum Mistake: CaseIterable {
    case withoutTheSecondRule
    case theFirstLineFeed
    case theFirstSeparator
    case withoutWhoPutThemTogether
    case withoutCarriageReturns
    case ofEveryReplica
    case ifOneRemovalSparesIt
    case nothingAtTheEnd
    case whoKnowsThem
    case whoRemovedAnySeparator
    case gapsOfElementsBeyondTheWorld
    case whatTheProcessHadSeen
  }

  private struct Element {
    var byte: UInt8
    /// The index of the change that inserted it.
    var inserter: Int
    /// Those of the changes that removed it.
    var removers: [Int] = []
  }

  private let mistake: Mistake?
  private let ids: [ChangeID]
  /// `isKnown[y][x]`: whether change y knows change x.
  private let isKnown: [[Bool]]
  /// All elements that were ever inserted, in order.
  private let document: [Element]
  /// Whether each of them is in the text after each change.
  private let isAfter: [[Bool]]

  fileprivate init(of history: SharedNote, mistake: Mistake? = nil) {
    self.mistake = mistake
    let changes = history.changes
    ids = changes.map(\.change.id)
    isKnown = changes.map { later in
      changes.map { earlier in
        mistake == .whatTheProcessHadSeen
          ? later.past.contains(earlier.change.id) : later.seen.contains(earlier.change.id)
      }
    }
    var tree = OrderTree()
    var elements: [ElementID: Element] = [:]
    var counts: [ReplicaID: Int] = [:]
    var ends: [ChangeID: UInt64] = [:]
    for (index, known) in changes.enumerated() {
      let author = known.change.id.replica
      let past = changes.filter { known.past.contains($0.change.id) }
      let start = past.map { ends[$0.change.id]! }.max() ?? 0
      // An insertion takes a tick for each byte, a place one, all else none; and a change at least one.
      var time = start
      for operation in known.change.operations {
        guard case .edit(history.note, .text(let edit)) = operation else {
          if case .place = operation { time += 1 }
          continue
        }
        switch edit {
        case .insert(let bytes, var left, let right):
          for byte in bytes {
            time += 1
            let id = ElementID(author: author, offset: counts[author, default: 0])
            counts[author, default: 0] += 1
            elements[id] = Element(byte: byte, inserter: index)
            let timestamp = LamportTimestamp(count: time, replica: author)
            tree.insert(id, at: timestamp, left: left, right: right)
            left = id
          }
        case .remove(let range):
          for offset in range.offset..<range.end {
            elements[ElementID(author: range.author, offset: offset)]!.removers.append(index)
          }
        }
      }
      ends[known.change.id] = max(time, start + 1)
    }
    let document = tree.document.map { elements[$0]! }
    self.document = document
    isAfter = isKnown.enumerated().map { index, known in
      document.map { element in
        func isIn(_ change: Int) -> Bool { change == index || known[change] }
        return isIn(element.inserter) && !element.removers.contains(where: isIn)
      }
    }
  }

  func text(of version: Version) -> [UInt8] { text { version.contains($0) } }

  /// The text of some changes.
  func text(_ contains: (ChangeID) -> Bool) -> [UInt8] {
    let isMember = ids.map(contains)
    let members = ids.indices.filter { isMember[$0] }
    let elements = document.indices.filter { isMember[document[$0].inserter] }
    let removers = Set(elements.flatMap { document[$0].removers }.filter { isMember[$0] })
    var spared: [Int: Set<Int>] = [:]
    for change in removers {
      spared[change] = self.spared(by: change, of: members, elements)
    }
    let shown = elements.filter { element in
      let removers = document[element].removers.filter { isMember[$0] }
      if mistake == .ifOneRemovalSparesIt, !removers.isEmpty {
        return removers.contains { spared[$0]!.contains(element) }
      }
      return removers.allSatisfy { spared[$0]!.contains(element) }
    }
    return shown.map { document[$0].byte }
  }

  /// The elements that a change spares, in a set of changes that inserted `elements`.
  private func spared(by change: Int, of members: [Int], _ elements: [Int]) -> Set<Int> {
    let sparing: UInt64 = 0x6465_6333
    let isSparing = ids[change].replica.low & 0xFFFF_FFFF == sparing
    guard isSparing || mistake == .ofEveryReplica else { return [] }
    let world = members.filter { !isKnown[$0][change] }
    var isWorld = ids.map { _ in false }
    for member in world { isWorld[member] = true }
    var spared: Set<Int> = []
    var before: Int?
    var gap: [Int] = []
    func endGap(_ behind: Int?) {
      let separators = gap.filter { element in
        isWhite(document[element].byte) && document[element].removers.contains { isWorld[$0] }
      }
      if let before, !separators.isEmpty {
        spare(separators, of: gap, between: before, behind, by: change, in: world, &spared)
      }
    }
    for element in elements {
      let isThere =
        isWorld[document[element].inserter] && !document[element].removers.contains { isWorld[$0] }
      if isThere {
        endGap(element)
        before = element
        gap = []
      } else if isWorld[document[element].inserter] || mistake == .gapsOfElementsBeyondTheWorld {
        gap.append(element)
      }
    }
    endGap(nil)
    return spared
  }

  /// What a change spares of the separators of a gap that is between `before` and `behind`, or the end.
  private func spare(
    _ separators: [Int], of gap: [Int], between before: Int, _ behind: Int?, by change: Int,
    in world: [Int], _ spared: inout Set<Int>
  ) {
    /// Whether somebody put both side by side without any of these: the change itself, who inserted one of both, or who
    /// removed one of these. Who only knows such changes, each of a part, put nothing side by side.
    func isTogether(without missing: [Int]) -> Bool {
      if mistake == .withoutWhoPutThemTogether { return false }
      if behind == nil, mistake == .nothingAtTheEnd { return true }
      let inserters = [before, behind ?? before].map { document[$0].inserter }
      let removers = (mistake == .whoRemovedAnySeparator ? separators : missing)
        .flatMap { document[$0].removers }
      return world.contains { other in
        let isThere = isAfter[other]
        return
          (other == change || (inserters + removers).contains(other)
          || mistake == .whoKnowsThem)
          && isThere[before] && behind.map { isThere[$0] } ?? true
          && !missing.contains { isThere[$0] }
      }
    }
    let ends = [document[before].byte] + (behind.map { [document[$0].byte] } ?? [])
    let lineFeeds = separators.filter { document[$0].byte == lineFeed }
    if !lineFeeds.isEmpty, !ends.contains(lineFeed), !isTogether(without: lineFeeds) {
      let kept = mistake == .theFirstLineFeed ? lineFeeds[0] : lineFeeds.last!
      spared.insert(kept)
      let place = gap.firstIndex(of: kept)!
      if place > 0, document[gap[place - 1]].byte == carriageReturn,
        mistake != .withoutCarriageReturns
      {
        spared.insert(gap[place - 1])
      }
    } else if behind != nil, !ends.contains(where: isWhite), !isTogether(without: separators),
      mistake != .withoutTheSecondRule
    {
      spared.insert(mistake == .theFirstSeparator ? separators[0] : separators.last!)
    }
  }
}

/// The order of all elements, as a tree ("The order").
private struct OrderTree {
  private struct Node {
    var time: LamportTimestamp
    var left: ElementID?
    var right: ElementID?
    var leftChildren: [ElementID] = []
    var rightChildren: [ElementID] = []
  }

  private var nodes: [ElementID: Node] = [:]
  private var roots: [ElementID] = []

  var document: [ElementID] { roots.flatMap { subtree($0) } }

  private func subtree(_ id: ElementID) -> [ElementID] {
    let node = nodes[id]!
    return node.leftChildren.flatMap { subtree($0) } + [id]
      + node.rightChildren.flatMap { subtree($0) }
  }

  mutating func insert(
    _ id: ElementID, at time: LamportTimestamp, left: ElementID?, right: ElementID?
  ) {
    let node = Node(time: time, left: left, right: right)
    if let right, nodes[right]!.left == left {
      let siblings = nodes[right]!.leftChildren
      let place = siblings.firstIndex { time > nodes[$0]!.time } ?? siblings.count
      nodes[right]!.leftChildren.insert(id, at: place)
    } else {
      let siblings = left.map { nodes[$0]!.rightChildren } ?? roots
      let document = siblings.isEmpty ? [] : document
      func position(_ id: ElementID?) -> Int {
        id.map { document.firstIndex(of: $0)! } ?? document.count
      }
      let place = siblings.firstIndex { sibling in
        let other = nodes[sibling]!
        if other.right == right { return time > other.time }
        return position(right) > position(other.right)
      }
      if let left {
        nodes[left]!.rightChildren.insert(id, at: place ?? siblings.count)
      } else {
        roots.insert(id, at: place ?? siblings.count)
      }
    }
    nodes[id] = node
  }
}
