import TestSupport
import Testing

@testable import ReplicatingTypes

private let words = ["a", "b", "\n", "é", "中文", "😀", "ab ", "one two "].map { Array($0.utf8) }

/// One replica of a text, edited in every way there is: typing, and changes of several operations as a book makes them.
private final class Scribe {
  let author: Author
  var text: ReplicatingText

  init(_ number: UInt64, _ sizes: PieceNodes.Sizes) {
    author = Author(number)
    text = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes))
  }

  /// A place between two scalars; one of a few, so that they are contested.
  func place(_ generator: inout SplitMix64) -> Int {
    let utf8 = text.utf8
    let all = (0...utf8.count).filter { $0 == utf8.count || utf8[$0] & 0xC0 != 0x80 }
    return generator.chance(30) ? all[all.count / 2] : generator.pick(all)
  }

  private func range(_ generator: inout SplitMix64) -> Range<Int> {
    let start = place(&generator)
    var end = min(start + generator.below(7), text.count)
    let utf8 = text.utf8
    while end < utf8.count, utf8[end] & 0xC0 == 0x80 { end += 1 }
    return start..<end
  }

  func edit(_ generator: inout SplitMix64) {
    switch generator.below(8) {
    case 0, 1: type(&generator)
    case 2: delete(&generator, step: -1)
    case 3: delete(&generator, step: 0)
    case 4:
      let word = generator.pick(words)
      text.insert(word.span, at: place(&generator), by: &author.replica)
    case 5: text.remove(range(&generator), by: &author.replica)
    case 6: _ = author.replica.stamp(after: text.lamport)  // It changed something else.
    default: change(&generator)
    }
  }

  private func type(_ generator: inout SplitMix64) {
    var place = place(&generator)
    for _ in 0..<1 + generator.below(6) {
      let letter = generator.chance(80) ? [UInt8(97 + generator.below(26))] : generator.pick(words)
      text.insert(letter.span, at: place, by: &author.replica)
      place += letter.count
    }
  }

  private func delete(_ generator: inout SplitMix64, step: Int) {
    var place = place(&generator)
    for _ in 0..<1 + generator.below(4) {
      let utf8 = text.utf8
      guard place + step >= 0, place + step < utf8.count, utf8[place + step] < 0x80 else { break }
      place += step
      text.remove(place..<place + 1, by: &author.replica)
    }
  }

  /// Insertions and removals by one change, one after the other, some of what was just inserted.
  private func change(_ generator: inout SplitMix64) {
    var stamp = author.replica.stamp(after: text.lamport, ticks: 200)
    var inserted: [ElementRange] = []
    for _ in 0..<1 + generator.below(4) {
      let operations: [ReplicatingText.Operation]
      switch generator.below(4) {
      case 0 where !inserted.isEmpty: operations = [.remove(generator.pick(inserted))]
      case 1: operations = text.operations(for: [Edit(range: range(&generator), replacement: [])])
      default:
        let (range, word) = (range(&generator), generator.pick(words))
        operations = text.operations(for: [Edit(range: range, replacement: word)])
      }
      for operation in operations {
        for case .inserted(let range) in text.apply(operation, stamp) { inserted.append(range) }
        stamp.lamport += 10
      }
      // Somebody who shows a past state removes what has gone already.
      if generator.chance(20), let range = inserted.last { text.apply(.remove(range), stamp) }
    }
  }
}

private let nodeSizes = [(4, 2, 3), (4, 4, 5), (6, 3, 7), (64, 128, 2047)].map {
  PieceNodes.Sizes(leaf: $0.0, block: $0.1, piece: UInt32($0.2))
}

/// What a few people wrote, who now and then took what the others had; and states along the way, edits often still open.
private struct TextHistory {
  var scribes: [Scribe]
  var states: [ReplicatingText] = [ReplicatingText()]
  var end = ReplicatingText()
  var generator: SplitMix64

  init(_ seed: UInt64, steps: Int) throws {
    generator = SplitMix64(seed: seed)
    var scribes: [Scribe] = []
    for number in 1...UInt64(2 + generator.below(3)) {
      scribes.append(Scribe(number, generator.pick(nodeSizes)))
    }
    self.scribes = scribes
    for _ in 0..<steps {
      let scribe = generator.pick(scribes)
      if generator.chance(65) {
        scribe.edit(&generator)
      } else {
        let other = generator.pick(scribes).text
        if generator.chance(30) {
          scribe.text.merge(other)
        } else {
          let since = generator.pick(states).version.intersection(scribe.text.version)
          try scribe.text.apply(other.changes(since: since))
        }
      }
      if generator.chance(40) { states.append(scribe.text) }
    }
    for scribe in scribes {
      states.append(scribe.text)
      end.merge(scribe.text)
    }
  }
}

/// A stream made by hand.
private struct Stream {
  var writer = ByteWriter()
  var bytes: [UInt8] { writer.bytes }

  func id(_ number: UInt64) -> ReplicaID { replicaID(number) }

  /// The beginning of changes: authors 1, 2 … with their last numbers, and how many of these are new.
  static func changes(
    lamport: UInt64, _ numbers: [(last: UInt64, new: UInt64)], _ text: [UInt8], makers: Int
  ) -> Stream {
    var stream = Stream()
    stream.writer.format(1)
    stream.writer.varint(lamport)
    stream.writer.varint(numbers.count)
    for (index, number) in numbers.enumerated() {
      stream.writer.identifier(replicaID(UInt64(index + 1)))
      stream.writer.varint(number.last)
      stream.writer.varint(number.new)
    }
    stream.writer.counted(text)
    stream.writer.varint(makers)
    return stream
  }

  func maker(_ place: Int, first: Int, steps: Int) -> Stream {
    number(UInt64(place)).number(UInt64(first)).number(UInt64(steps))
  }

  func step(_ kind: Step.Kind, _ count: Int, _ distance: Int = 0) -> Stream {
    var copy = self
    copy.writer.step(Step(kind: kind, count: count), distance: distance)
    return copy
  }

  func note(_ note: StepNote, _ value: Int, _ offset: Int? = nil) -> Stream {
    var copy = self
    copy.writer.note(note, value)
    if let offset { copy.writer.varint(offset) }
    return copy
  }

  func number(_ number: UInt64) -> Stream {
    var copy = self
    copy.writer.varint(number)
    return copy
  }

  func raw(_ bytes: [UInt8]) -> Stream {
    var copy = self
    copy.writer.raw(bytes)
    return copy
  }
}

@Suite(.computing) struct `Sequence attack` {
  let mallory = Author(666)

  // MARK: - What damaged bytes may become

  /// Bytes that are refused, or are a text that can be used as any other.
  private func expectText(_ bytes: [UInt8], _ sound: [ReplicatingText], _ comment: Comment) {
    guard let text = try? ReplicatingText(encoded: bytes) else { return }
    expectUsable(text, sound, wasRead: true, comment)
  }

  private func expectUsable(
    _ text: ReplicatingText, _ sound: [ReplicatingText], wasRead: Bool, _ comment: Comment
  ) {
    text.checkInvariants()
    let written = text.encoded()
    guard let again = try? ReplicatingText(encoded: written) else {
      Issue.record("what was written can't be read, \(comment)")
      return
    }
    #expect(again.encoded() == written, comment)
    if wasRead {
      #expect(again == text, comment)
    }
    // Others may refuse what this one took: their elements tell what an author must have seen, and its time is far off.
    var other = ReplicatingText()
    let sent = text.changes(since: Version()).encoded()
    if (try? other.apply(ReplicatingText.Changes(encoded: sent))) != nil {
      #expect(other.encoded() == written, comment)
    }
    for version in sound.map(\.version) {
      let changes = text.changes(since: version)
      #expect((try? ReplicatingText.Changes(encoded: changes.encoded())) != nil, comment)
      #expect(
        String(validating: text.utf8(in: text.view(at: version)), as: UTF8.self) != nil, comment)
    }
    var edited = text
    let author = Author(1 << 40)
    edited.insert([65].span, at: 0, by: &author.replica)
    edited.insert([66].span, at: edited.count, by: &author.replica)
    edited.insert([67].span, at: edited.count, by: &author.replica)
    edited.remove(0..<1, by: &author.replica)
    edited.checkInvariants()
    guard text.lamport < 1 << 61 else { return }
    #expect((try? ReplicatingText(encoded: edited.encoded())) != nil, comment)
    for other in sound {
      var joined = edited
      guard
        (try? joined.apply(other.changes(since: edited.version.intersection(other.version))))
          != nil
      else { continue }
      joined.checkInvariants()
      #expect((try? ReplicatingText(encoded: joined.encoded())) != nil, comment)
    }
  }

  /// Bytes that are refused, or changes that are refused without a trace, or leave a text that can be used.
  private func expectChanges(_ bytes: [UInt8], _ sound: [ReplicatingText], _ comment: Comment) {
    guard let changes = try? ReplicatingText.Changes(encoded: bytes) else { return }
    let written = changes.encoded()
    #expect(written == bytes, "changes are written in one way, \(comment)")
    for text in sound {
      var result = text
      let isValid = (try? text.validate(changes)) != nil
      do {
        try result.apply(changes)
        #expect(isValid, comment)
        expectUsable(result, [text], wasRead: false, comment)
        var twice = result
        #expect((try? twice.apply(changes)) != nil && twice == result, comment)
      } catch {
        if case .invalid = error { #expect(!isValid, comment) }
        #expect(result == text && result.encoded() == text.encoded(), comment)
      }
    }
  }

  @Test func `every truncation and every flipped bit is refused or is sound`() throws {
    for seed in seeds(3) {
      var history = try TextHistory(seed &+ 100_000, steps: 14)
      let (some, all) = (history.generator.pick(history.states), history.end)
      let sound = [some, all]
      let whole = all.encoded()
      let changes = all.changes(since: some.version).encoded()
      for length in whole.indices {
        #expect(throws: DecodingFailure.self) {
          try ReplicatingText(encoded: Array(whole[..<length]))
        }
      }
      for length in changes.indices {
        #expect(throws: DecodingFailure.self) {
          try ReplicatingText.Changes(encoded: Array(changes[..<length]))
        }
      }
      // Every third bit of one history, and the others of the next ones.
      func bits(_ bytes: [UInt8]) -> StrideTo<Int> {
        stride(from: Int(seed % 3), to: 8 * bytes.count, by: 3)
      }
      for bit in bits(whole) { expectText(whole.flipped(bit), sound, at(seed, bit)) }
      for bit in bits(changes) { expectChanges(changes.flipped(bit), sound, at(seed, bit)) }
    }
  }

  @Test func `random damage is refused or is sound`() throws {
    for seed in seeds(8) {
      var history = try TextHistory(seed &+ 200_000, steps: 20)
      let (some, all) = (history.generator.pick(history.states), history.end)
      let sound = [some, all]
      let whole = all.encoded()
      let changes = all.changes(since: some.version).encoded()
      for step in 0..<150 {
        expectText(history.generator.damage(whole), sound, at(seed, step))
        expectChanges(history.generator.damage(changes), sound, at(seed, step))
      }
    }
  }

  // MARK: - Numbers at their ends

  @Test func `notes that add up to more than a number holds are refused`() {
    let large = Int(LamportTimestamp.largestCount)
    let changes = Stream.changes(lamport: 1 << 62, [(5, 5)], [97, 98], makers: 1)
      .maker(0, first: 0, steps: 2)
    for note in [StepNote.number, .lamport] {
      let twice = changes.note(note, large).note(note, large).note(.right, -1).step(.typed, 1)
        .note(.right, -1).step(.typed, 1)
      #expect(throws: DecodingFailure.self) { try ReplicatingText.Changes(encoded: twice.bytes) }
    }
    let lateChanges = changes.note(.lamport, large - 1).note(.right, -1).step(.typed, 1)
      .note(.lamport, large).note(.right, -1).step(.typed, 1)
    #expect(throws: DecodingFailure.self) {
      try ReplicatingText.Changes(encoded: lateChanges.bytes)
    }
  }

  // MARK: - Scalars

  @Test func `a scalar whose first byte is known as another is refused`() throws {
    let author = Author(1)
    var text = ReplicatingText()
    text.insert([97].span, at: 0, by: &author.replica)
    let before = text
    let changes = Stream.changes(lamport: 2, [(2, 2)], Array("é".utf8), makers: 1)
      .maker(0, first: 0, steps: 1).note(.right, -1).step(.typed, 2)
    let decoded = try ReplicatingText.Changes(encoded: changes.bytes)
    #expect(throws: RefusedChanges.self) { try text.apply(decoded) }
    #expect(text == before && text.string == "a")
  }

  @Test func `an insertion inside a scalar is refused while that is being typed`() throws {
    let author = Author(1)
    var text = ReplicatingText()
    text.insert([97].span, at: 0, by: &author.replica)
    text.insert(Array("é".utf8).span, at: 1, by: &author.replica)
    let before = text
    let changes = Stream.changes(lamport: 4, [(2, 0), (1, 1)], [98], makers: 1)
      .maker(1, first: 0, steps: 1).note(.place, 0).note(.lamport, 3).step(.typed, 1, 2)
    let decoded = try ReplicatingText.Changes(encoded: changes.bytes)
    #expect(throws: RefusedChanges.invalid(InvalidChange("an insertion inside a scalar"))) {
      try text.apply(decoded)
    }
    #expect(text == before && text.string == "aé")
  }

  @Test func `a scalar inserted by two changes is refused`() throws {
    let changes = Stream.changes(lamport: 2, [(2, 2)], Array("é".utf8), makers: 1)
      .maker(0, first: 0, steps: 1).note(.right, -1).step(.typed, 2)
    let decoded = try ReplicatingText.Changes(encoded: changes.bytes)
    var text = ReplicatingText()
    #expect(throws: RefusedChanges.self) { try text.apply(decoded) }
    let two = Stream.changes(lamport: 3, [(3, 3)], Array("éa".utf8), makers: 1)
      .maker(0, first: 0, steps: 2).note(.right, -1).step(.typed, 2)
      .note(.right, -1).step(.typed, 1)
    #expect(throws: RefusedChanges.self) {
      try text.apply(ReplicatingText.Changes(encoded: two.bytes))
    }
    #expect(throws: DecodingFailure.self) { try ReplicatingText(encoded: changes.bytes) }
    // A scalar of one byte and one of several make such runs, too.
    let author = Author(1)
    text = ReplicatingText()
    for word in ["a", "é", "b", "é", "é", "c"] {
      text.insert(Array(word.utf8).span, at: text.count, by: &author.replica)
    }
    var other = ReplicatingText()
    try other.apply(text.changes(since: Version()))
    #expect(try ReplicatingText(encoded: text.encoded()) == other)
  }

  // MARK: - Names and numbers of changes

  @Test func `a run of changes that begins with the last one keeps its numbers`() throws {
    // Two elements by change 1, and then by 1, 2 and 3: the last was by 3.
    let changes = Stream.changes(lamport: 5, [(3, 3)], Array("abcde".utf8), makers: 1)
      .maker(0, first: 0, steps: 2).note(.right, -1).step(.inserted, 2)
      .note(.number, -1).note(.right, -1).step(.typed, 3)
    var text = ReplicatingText()
    try text.apply(ReplicatingText.Changes(encoded: changes.bytes))
    var slots: [UInt64] = []
    let array = text.bytes.settled
    for offset in 0..<array.authors[0].count { slots.append(array.authors[0].number(of: offset)) }
    #expect(slots == [1, 1, 1, 2, 3])
    let again = try ReplicatingText(encoded: text.encoded())
    #expect(again == text && again.encoded() == text.encoded())
  }

  @Test func `removals are the same runs, whatever the pieces they were made of`() throws {
    let author = Author(1)
    var text = ReplicatingText()
    text.insert([UInt8](repeating: 97, count: 2000).span, at: 0, by: &author.replica)
    for _ in 0..<100 { text.insert([98].span, at: text.count, by: &author.replica) }
    // By one change from one piece here; what is decoded has two.
    text.remove(1998..<1999, by: &author.replica)
    text.remove(1998..<2000, by: &author.replica)
    let decoded = try ReplicatingText(encoded: text.encoded())
    #expect(decoded == text)
    #expect(decoded.encoded() == text.encoded())
    #expect(
      decoded.changes(since: Version()).encoded() == text.changes(since: Version()).encoded())
  }

  @Test func `one who writes in another's name brings nobody down`() throws {
    let author = Author(1)
    var text = ReplicatingText()
    for letter in Array("abc".utf8) {
      text.insert([letter].span, at: text.count, by: &author.replica)
    }
    let changes = Stream.changes(lamport: 510, [(510, 507)], Array("xy".utf8), makers: 1)
      .maker(0, first: 3, steps: 1).note(.number, 505).note(.lamport, 505).note(.right, -1)
      .step(.typed, 2, 3)
    try text.apply(ReplicatingText.Changes(encoded: changes.bytes))
    text.remove(3..<4, by: &author.replica)
    text.insert([100].span, at: 0, by: &author.replica)
    text.checkInvariants()
    _ = text.encoded()
    _ = text.changes(since: Version()).encoded()
    #expect(text.string == "dabcy")
  }

  @Test func `a change that goes on removing, and removes what it inserts, is the same elsewhere`()
    throws
  {
    let author = Author(1)
    var text = ReplicatingText()
    text.insert([97].span, at: 0, by: &author.replica)
    text.insert([98].span, at: 1, by: &author.replica)
    // Change 3 removes the second element, and change 4 the third, which it inserted.
    text.remove(1..<2, by: &author.replica)
    var stamp = author.replica.stamp(after: text.lamport, ticks: 2)
    let operations = text.operations(for: [Edit(range: 1..<1, replacement: [99])])
    for operation in operations { text.apply(operation, stamp) }
    stamp.lamport += 1
    text.apply(.remove(ElementRange(author: author.replica.id, offset: 2, count: 1)), stamp)
    var other = ReplicatingText()
    try other.apply(text.changes(since: Version()))
    #expect(try other == text && ReplicatingText(encoded: text.encoded()) == text)
  }

  // MARK: - What encodings don't hold

  @Test func `what is plain without a note has none`() throws {
    let changes = Stream.changes(lamport: 2, [(2, 2)], [97, 98], makers: 1)
      .maker(0, first: 0, steps: 1)
    for wrong in [
      changes.note(.right, -1).note(.right, -1).step(.typed, 2),
      changes.note(.right, 0, 0).step(.typed, 2),
      changes.note(.right, -1).note(.lamport, 1).step(.typed, 2),
    ] {
      #expect(throws: DecodingFailure.self) {
        try ReplicatingText.Changes(encoded: wrong.bytes)
      }
    }
    _ = try ReplicatingText.Changes(encoded: changes.note(.right, -1).step(.typed, 2).bytes)
  }

  @Test func `counts and offsets at the end of the numbers are refused`() throws {
    let most = UInt64(Int32.max)
    for number in [most, most + 1, 1 << 32, 1 << 63, .max] {
      let bytes = Stream().number(number).bytes
      for head: [UInt8] in [[1], [1, 0], [1, 0, 0], [1, 0, 0, 0]] {
        #expect(throws: DecodingFailure.self) { try ReplicatingText(encoded: head + bytes) }
        #expect(throws: DecodingFailure.self) { try ReplicatingText.Changes(encoded: head + bytes) }
      }
      let changes = Stream.changes(lamport: 9, [(9, 9), (9, 9)], [97], makers: 1)
      for wrong in [
        changes.number(0).number(number).number(1).note(.right, -1).step(.typed, 1),
        changes.number(0).number(0).number(1).note(.right, 1).number(number).step(.typed, 1),
        changes.number(0).number(0).number(2).note(.right, -1).step(.typed, 1)
          .raw([126 << 1]).number(number),
        changes.number(0).number(0).number(2).note(.right, -1).step(.typed, 1)
          .raw([103 << 1 | 1]).number(number).number(number),
      ] {
        guard let decoded = try? ReplicatingText.Changes(encoded: wrong.bytes) else { continue }
        var text = ReplicatingText()
        #expect(throws: RefusedChanges.self) { try text.apply(decoded) }
        #expect(text == ReplicatingText())
      }
    }
  }

  // MARK: - Rules of changes

  /// What is here: "ab" by 1, and "x" by 2 between them.
  @Test func `changes that break a rule are refused, each with its reason`() throws {
    let (alice, bob) = (Author(1), Author(2))
    var text = ReplicatingText()
    text.insert([97, 98].span, at: 0, by: &alice.replica)
    text.insert([120].span, at: 1, by: &bob.replica)
    let known: [(UInt64, UInt64)] = [(1, 0), (1, 0)]
    func refusal(_ stream: Stream) -> RefusedChanges? {
      var result = text
      defer { #expect(result == text && result.encoded() == text.encoded()) }
      do {
        try result.apply(ReplicatingText.Changes(encoded: stream.bytes))
        return nil
      } catch let error as RefusedChanges {
        return error
      } catch {
        return .invalid(InvalidChange("\(error)"))
      }
    }
    func expect(
      _ stream: Stream, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        refusal(stream) == .invalid(InvalidChange(reason)), sourceLocation: sourceLocation)
    }
    func third(
      _ last: UInt64 = 1, lamport: UInt64 = 9, text: [UInt8] = [99], steps: Int = 1
    ) -> Stream {
      Stream.changes(lamport: lamport, known + [(last, last)], text, makers: 1)
        .maker(2, first: 0, steps: steps)
    }
    expect(
      third().note(.place, 0).note(.lamport, 8).note(.right, 0, 7).step(.typed, 1, 1),
      "an origin that is not here")
    expect(
      third().note(.place, 0).note(.lamport, 8).step(.typed, 1, 5), "an origin that is not here")
    expect(third().note(.place, 0).step(.typed, 1, 1), "an origin that is not earlier")
    expect(
      third().note(.place, 0).note(.lamport, 8).note(.right, 0, 0).step(.typed, 1, 2),
      "a right origin that stands before the left one")
    expect(
      third().note(.place, 1).note(.lamport, 8).note(.right, 0, 0).step(.typed, 1, 1),
      "a right origin that stands before the left one")
    let second = Stream.changes(lamport: 9, [(1, 0), (2, 1)], [99], makers: 1)
    expect(
      second.maker(1, first: 1, steps: 1).note(.place, 0).note(.lamport, 5).step(.typed, 1, 1),
      "origins that never stood side by side")
    let first = Stream.changes(lamport: 9, [(2, 1), (1, 0)], [99], makers: 1)
    expect(
      first.maker(0, first: 3, steps: 1).note(.right, -1).step(.typed, 1), "elements are left out")
    expect(
      first.maker(0, first: 2, steps: 1).note(.right, -1).step(.typed, 1, 2),
      "a logical time that does not grow")
    expect(
      third(lamport: (1 << 40) + 5).note(.right, 0, 0).step(.typed, 1),
      "a logical time of \((1 << 40) + 5), where \(text.lamport) is the latest known")
    expect(
      third(lamport: 1 << 62).note(.right, 0, 0).step(.typed, 1),
      "a logical time of \(1 << 62), where \(text.lamport) is the latest known")
    for bytes: [UInt8] in [[0], [0xFF], [0xC3], [0xED, 0xA0, 0x80], [97, 0], [0xFF, 0xFF]] {
      let kind: Step.Kind = bytes.count == 1 ? .typed : .inserted
      expect(
        third(text: bytes).note(.lamport, 5).note(.right, -1).step(kind, bytes.count),
        "text that is not valid UTF-8, or holds U+0000")
    }
    expect(
      third(text: []).note(.place, 0).step(.removedAtOnce, 3),
      "a removal of elements that are not here")
    var stranger = Stream.changes(lamport: 9, [(1, 0), (5, 1)], [], makers: 0)
    #expect(refusal(stranger).map { if case .missing = $0 { true } else { false } } == true)
    stranger = Stream.changes(lamport: 9, [(3, 3), (1, 0)], [99], makers: 1)
      .maker(0, first: 2, steps: 1).note(.right, -1).step(.typed, 1, 2)
    expect(stranger, "an insertion by an earlier change than the one before it")
  }

  /// Else sorting by time puts a removal before the insertion of what it removes, and what was accepted can't be sent.
  @Test func `an author's time grows with all it did, its removals too`() throws {
    /// "abc" by 1, and then what 2 did, whose `late`th insertion says that it was that much earlier than it was.
    func expect(
      allowed: UInt64, late: Int, isLast: Bool = false, _ reason: String,
      _ edit: (inout ReplicatingText, inout Replica) -> Void,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      let (alice, bob) = (Author(1), Author(2))
      var text = ReplicatingText()
      for letter in Array("abc".utf8) {
        text.insert([letter].span, at: text.count, by: &alice.replica)
      }
      edit(&text, &bob.replica)
      for earlier in 0...allowed + 1 {
        var changes = text.changes(since: Version())
        changes.bytes.insertions[late].lamport -= earlier
        if isLast { changes.bytes.removals[0].place = UInt32(changes.bytes.insertions.count) }
        var other = ReplicatingText()
        if earlier <= allowed {
          let read = try ReplicatingText(encoded: changes.encoded())
          #expect(try ReplicatingText(encoded: read.encoded()) == read)
          try other.apply(changes)
          #expect(other == read, sourceLocation: sourceLocation)
        } else {
          #expect(
            throws: RefusedChanges.invalid(InvalidChange(reason)), sourceLocation: sourceLocation
          ) {
            try other.apply(changes)
          }
          #expect(throws: DecodingFailure.self, sourceLocation: sourceLocation) {
            try ReplicatingText(encoded: changes.encoded())
          }
        }
      }
    }
    let noGrowth = "a logical time that does not grow"
    // An insertion and a removal before.
    try expect(allowed: 0, late: 2, noGrowth) { text, bob in
      text.insert([120].span, at: 0, by: &bob)
      text.remove(3..<4, by: &bob)
      text.insert([121].span, at: 0, by: &bob)
    }
    // The removal of another's.
    try expect(allowed: 1, late: 1, noGrowth) { text, bob in
      text.remove(2..<3, by: &bob)
      text.insert([120].span, at: 0, by: &bob)
    }
    // A removal by the same change, which the changes have before it.
    try expect(allowed: 0, late: 1, isLast: true, "a removal of what its change has not seen") {
      text, bob in
      let edits = [
        Edit(range: 0..<0, replacement: Array("xy".utf8)), Edit(range: 2..<3, replacement: []),
      ]
      let stamp = bob.stamp(after: text.lamport, ticks: 2)
      for operation in text.operations(for: edits) { text.apply(operation, stamp) }
    }
  }

  // MARK: - Time

  /// Ever again the same elements are removed, which stand in many pieces.
  @Test func `removing again what was removed takes no time, and no room`() throws {
    let (pieces, removals) = (UInt32(20_000), UInt32(20_000))
    let author = replicaID(1)
    var version = Version()
    version[author] = UInt64(pieces + 1 + removals)
    typealias Changes = ReplicatingArray<UInt8>.Changes
    let insertions = (0..<pieces).map { index in
      Changes.Insertion(
        author: 0, offset: index, count: 1, isStepping: false, left: .none,
        right: index == 0 ? .none : LocalID(0, index - 1), number: UInt64(index) + 1,
        lamport: UInt64(index) + 1)
    }
    let runs = (0...removals).map { index in
      // All; then from the first on, or from anywhere.
      let first = index.isMultiple(of: 2) ? 0 : index % (pieces - 1)
      return Changes.Removal(
        author: 0, place: pieces,
        run: RemovalRun(
          number: pieces + 1 + index, offset: first, count: pieces - first, target: 0,
          order: .atOnce))
    }
    let changes = ReplicatingText.Changes(
      bytes: Changes(
        since: Version(), version: version, lamport: UInt64(pieces), authors: [author],
        insertions: insertions, removals: runs,
        content: [UInt8](repeating: 97, count: Int(pieces))))
    let bytes = changes.encoded()
    var text = ReplicatingText()
    let time = try processorTime { text = try ReplicatingText(encoded: bytes) }
    // A look at each piece for each removal were 400 million of them.
    #expect(time < .seconds(20))
    let written = text.encoded()
    #expect(written.count <= bytes.count)
    let again = try ReplicatingText(encoded: written)
    #expect(again == text)
    let sent = text.changes(since: Version()).encoded()
    var other = ReplicatingText()
    try other.apply(ReplicatingText.Changes(encoded: sent))
    #expect(other.encoded() == written)
  }

  // MARK: - However it came about

  @Test func `equal texts have equal bytes, whatever the way to them`() throws {
    for seed in seeds(60) {
      var history = try TextHistory(seed &+ 300_000, steps: 40)
      let end = history.end
      let bytes = end.encoded()
      let sent = end.changes(since: Version()).encoded()
      for _ in 0..<4 {
        let sizes = history.generator.pick(nodeSizes)
        var text = ReplicatingText(bytes: ReplicatingArray(nodeSizes: sizes))
        var past = [Version()]
        for _ in 0..<6 {
          let state = history.generator.pick(history.states)
          let since = history.generator.pick(past)
          let changes = state.changes(since: since)
          if history.generator.chance(50) {
            try text.apply(ReplicatingText.Changes(encoded: changes.encoded()))
          } else if history.generator.chance(50) {
            try text.apply(changes)
          } else {
            text.merge(state)
          }
          #expect(text.version.isSuperset(of: state.version), at(seed))
          // What comes of an encoding is divided otherwise.
          if history.generator.chance(30) { text = try ReplicatingText(encoded: text.encoded()) }
          past.append(text.version)
        }
        try text.apply(end.changes(since: history.generator.pick(past)))
        text.checkInvariants()
        #expect(text == end && text.encoded() == bytes, at(seed))
        #expect(text.changes(since: Version()).encoded() == sent, at(seed))
        for state in history.states {
          // What they follow depends on what is remembered of who was the last, but not what they do.
          for value in [text, end] {
            let sent = value.changes(since: state.version).encoded()
            var received = state
            try received.apply(ReplicatingText.Changes(encoded: sent))
            #expect(received.encoded() == bytes, at(seed))
          }
          #expect(text.utf8(in: text.view(at: state.version)) == state.utf8, at(seed))
        }
      }
      for state in history.states {
        let decoded = try ReplicatingText(encoded: state.encoded())
        #expect(decoded == state && decoded.encoded() == state.encoded(), at(seed))
        #expect(
          decoded.changes(since: Version()).encoded() == state.changes(since: Version()).encoded(),
          at(seed))
      }
    }
  }
}

extension [UInt8] {
  fileprivate func flipped(_ bit: Int) -> [UInt8] {
    var copy = self
    copy[bit / 8] ^= 1 << UInt8(bit % 8)
    return copy
  }
}

extension SplitMix64 {
  /// The bytes with some of them replaced, inserted, removed or repeated; with a length before them, that is set right.
  fileprivate mutating func damage(_ bytes: [UInt8], keepingLength: Bool = false) -> [UInt8] {
    var bytes = bytes
    if keepingLength {
      var reader = ByteReader(bytes)
      bytes = Array((try? reader.counted()) ?? [])
    }
    for _ in 0...below(3) {
      guard !bytes.isEmpty else { break }
      let place = below(bytes.count)
      switch below(6) {
      case 0: bytes[place] = UInt8(below(256))
      case 1: bytes[place] = bytes[below(bytes.count)]
      case 2: bytes[place] = bytes[place] &+ UInt8(pick([1, 2, 254, 255]))
      case 3: bytes.insert(UInt8(pick([0, 1, 2, 127, 128, 255])), at: place)
      case 4: bytes.remove(at: place)
      default:
        let end = place + below(Swift.min(20, bytes.count - place) + 1)
        bytes.insert(contentsOf: bytes[place..<end], at: below(bytes.count + 1))
      }
    }
    guard keepingLength else { return bytes }
    var writer = ByteWriter()
    writer.counted(bytes)
    return writer.bytes
  }
}
