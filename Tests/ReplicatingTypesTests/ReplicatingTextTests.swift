import TestSupport
import Testing

@testable import ReplicatingTypes

/// Texts of every kind of scalar, some of which combine with their neighbours.
private let words = [
  "a", "bc", "\n", "\r\n", "é", "e\u{301}", "\u{301}", "中文", "😀", "👩‍👧", "🇩🇪", "\u{1F1EA}",
  "\u{200D}", "각", "\u{1100}\u{1161}", "don't ", "quick ",
]

/// One person's text, and everything that can be told of its past.
private final class Writer {
  let author: Author
  var text = ReplicatingText()
  /// What the text was at each version it had.
  var past: [(version: Version, utf8: [UInt8])] = [(Version(), [])]
  /// What happened since a moment in the past, as an editor is told: the text then, and the effects since.
  var seen: [UInt8] = []
  var insertions: [ElementRange] = []
  var removals: [ElementRange] = []

  init(_ number: UInt64) { author = Author(number) }

  func note(_ effects: [ReplicatingText.Effect]) {
    for effect in effects {
      switch effect {
      case .inserted(let range): insertions.append(range)
      case .removed(let range): removals.append(range)
      case .returned, .withdrawn: Issue.record("a change of what nothing had spared")
      }
    }
  }

  func remember() { past.append((text.version, text.utf8)) }

  func lookUp() {
    seen = text.utf8
    insertions = []
    removals = []
  }

  var view: SequenceView { SequenceView(before: insertions, and: removals) }
}

private func isBoundary(_ utf8: [UInt8], _ offset: Int) -> Bool {
  (0...utf8.count).contains(offset) && (offset == utf8.count || utf8[offset] & 0xC0 != 0x80)
}

/// Edits made by hand: from the last to the first.
private func applied(_ edits: [Edit<UInt8>], to utf8: [UInt8]) -> [UInt8] {
  var result = utf8
  for edit in edits.reversed() { result.replaceSubrange(edit.range, with: edit.replacement) }
  return result
}

/// Whether edits are sorted, apart, between scalars, and of valid text.
private func areProper(_ edits: [Edit<UInt8>], of utf8: [UInt8]) -> Bool {
  edits.allSatisfy {
    isBoundary(utf8, $0.range.lowerBound) && isBoundary(utf8, $0.range.upperBound)
      && String(validating: $0.replacement, as: UTF8.self) != nil
  } && zip(edits, edits.dropFirst()).allSatisfy { $0.range.upperBound < $1.range.lowerBound }
}

extension SplitMix64 {
  /// A place between two scalars.
  fileprivate mutating func place(in utf8: [UInt8]) -> Int {
    pick((0...utf8.count).filter { isBoundary(utf8, $0) })
  }

  fileprivate mutating func text() -> [UInt8] {
    (0..<1 + below(3)).flatMap { _ in Array(pick(words).utf8) }
  }

  /// One to three edits of a text, sorted and apart.
  fileprivate mutating func edits(of utf8: [UInt8]) -> [Edit<UInt8>] {
    let places = Set((0..<2 + 2 * below(3)).map { _ in place(in: utf8) }).sorted()
    var edits: [Edit<UInt8>] = []
    for index in stride(from: 0, to: places.count, by: 2) {
      let end = chance(50) && index + 1 < places.count ? places[index + 1] : places[index]
      let replacement = chance(70) || end == places[index] ? text() : []
      edits.append(Edit(range: places[index]..<end, replacement: replacement))
    }
    return edits
  }
}

/// Several people write one text; each change is checked as if it came from outside, wherever it arrives.
private struct TextHistory {
  let writers: [Writer]
  var generator: SplitMix64
  let seed: UInt64
  var log: [(stamp: Stamp, operations: [ReplicatingText.Operation])] = []
  /// What the author of a change had seen with it.
  var seen: [ChangeID: Version] = [:]

  init(seed: UInt64) {
    self.seed = seed
    generator = SplitMix64(seed: seed)
    writers = (1...UInt64(3 + generator.below(2))).map(Writer.init)
  }

  mutating func run(steps: Int) throws {
    for step in 0..<steps {
      let writer = generator.pick(writers)
      if generator.chance(15) { writer.lookUp() }
      switch generator.below(10) {
      case 0...3:
        let edits = generator.edits(of: writer.text.utf8)
        let expected = applied(edits, to: writer.text.utf8)
        try make(writer.text.operations(for: edits), writer)
        #expect(writer.text.utf8 == expected, at(seed, step))
        let more = step % 40
        let roomy = writer.text.utf8(withRoomFor: more)
        #expect(roomy == expected && roomy.capacity >= expected.count + more, at(seed, step))
      case 4, 5: try editWhatIsSeen(writer, step)
      default: try pull(writer, from: generator.pick(writers), step)
      }
      writer.text.checkInvariants()
      writer.remember()
      check(writer, step)
    }
  }

  /// Applies one change, as its author does.
  private mutating func make(_ operations: [ReplicatingText.Operation], _ writer: Writer) throws {
    guard !operations.isEmpty else { return }
    var ticks: UInt64 = 0
    for case .insert(let bytes, _, _, _) in operations { ticks += UInt64(bytes.count) }
    var stamp = writer.author.replica.stamp(after: writer.text.lamport, ticks: ticks)
    log.append((stamp, operations))
    for operation in operations {
      var version = writer.text.version
      version.insert(stamp.change)
      seen[stamp.change] = version
      do {
        try writer.text.validate(operation, by: stamp.change.replica) { version.contains($0) }
      } catch {
        Issue.record("an honest change is refused, \(error.reason), seed \(seed)")
      }
      writer.note(writer.text.apply(operation, stamp))
      if case .insert(let bytes, _, _, _) = operation { stamp.lamport += UInt64(bytes.count) }
    }
  }

  /// An edit in the text that the editor shows, while others have changed it.
  private mutating func editWhatIsSeen(_ writer: Writer, _ step: Int) throws {
    let view = writer.view
    #expect(writer.text.utf8(in: view) == writer.seen, at(seed, step))
    let edits = generator.edits(of: writer.seen)
    try make(writer.text.operations(for: edits, in: view), writer)
    writer.lookUp()
  }

  private mutating func pull(_ writer: Writer, from other: Writer, _ step: Int) throws {
    for (stamp, operations) in log
    where other.text.version.contains(stamp.change) && !writer.text.version.contains(stamp.change) {
      var stamp = stamp
      let version = seen[stamp.change]!
      for operation in operations {
        do {
          try writer.text.validate(operation, by: stamp.change.replica) { version.contains($0) }
        } catch {
          Issue.record("an honest change is refused, \(error.reason), seed \(seed), step \(step)")
        }
        writer.note(writer.text.apply(operation, stamp))
        if case .insert(let bytes, _, _, _) = operation { stamp.lamport += UInt64(bytes.count) }
      }
    }
  }

  private mutating func check(_ writer: Writer, _ step: Int) {
    let edits = writer.text.edits(from: writer.view)
    #expect(areProper(edits, of: writer.seen), at(seed, step))
    #expect(applied(edits, to: writer.seen) == writer.text.utf8, at(seed, step))
    let (version, utf8) = generator.pick(writer.past)
    let view = writer.text.view(at: version)
    #expect(writer.text.utf8(in: view) == utf8, at(seed, step))
    let fromThen = writer.text.edits(from: view)
    #expect(areProper(fromThen, of: utf8), at(seed, step))
    #expect(applied(fromThen, to: utf8) == writer.text.utf8, at(seed, step))
    // Somebody else's past, where it is known here.
    let (others, then) = generator.pick(generator.pick(writers).past)
    if writer.text.version.isSuperset(of: others) {
      #expect(writer.text.utf8(in: writer.text.view(at: others)) == then, at(seed, step))
    }
  }
}

@Suite struct `Replicating text` {
  private let alice = Author(1)
  private let bob = Author(2)

  @Test func `keeps its past, its views and its rules in random histories`() throws {
    for seed in seeds(40) {
      var history = TextHistory(seed: seed)
      try history.run(steps: 40)
      let texts = history.writers.map(\.text)
      for text in texts { #expect(text.merged(with: texts[0]) == texts[0].merged(with: text)) }
      try expectLaws(texts[0], texts[1], texts[2], empty: ReplicatingText(), at(seed))
      try expectEncodings(texts[0], texts[1], empty: ReplicatingText(), at(seed))
    }
  }

  /// Values are unique here, so what an edit in a view other than the present must do can be told from the values alone.
  @Test func `an edit of what is seen lands between the elements that are seen`() throws {
    for seed in seeds(60) {
      var generator = SplitMix64(seed: seed)
      var counter = 0
      func values(_ generator: inout SplitMix64) -> [Int] {
        let count = 1 + generator.below(3)
        counter += count
        return Array(counter - count..<counter)
      }
      let authors = [alice, bob]
      var array = ReplicatingArray<Int>()
      func edit(_ author: Author, _ edits: [Edit<Int>], in view: SequenceView?) {
        let operations =
          view.map { array.operations(for: edits, in: $0) } ?? array.operations(for: edits)
        let known = array.version
        let stamp = author.replica.stamp(after: array.lamport, ticks: 100)
        var ticks: UInt64 = 0
        for operation in operations {
          do {
            try array.validate(operation, by: stamp.change.replica) {
              known.contains($0) || $0 == stamp.change
            }
          } catch { Issue.record("an honest change is refused, \(error.reason), seed \(seed)") }
          array.apply(operation, Stamp(change: stamp.change, lamport: stamp.lamport + ticks))
          if case .insert(let elements, _, _, _) = operation { ticks += UInt64(elements.count) }
        }
        array.checkInvariants()
      }
      func edits(of count: Int, _ generator: inout SplitMix64) -> [Edit<Int>] {
        let places = Set((0..<2 + 2 * generator.below(3)).map { _ in generator.below(count + 1) })
          .sorted()
        return stride(from: 0, to: places.count, by: 2).map { index in
          let end =
            index + 1 < places.count && generator.chance(60) ? places[index + 1] : places[index]
          let isInsertion = end == places[index] || generator.chance(60)
          return Edit(
            range: places[index]..<end, replacement: isInsertion ? values(&generator) : [])
        }
      }
      for step in 0..<12 {
        let version = array.version
        let seen = array.values
        for _ in 0..<generator.below(4) {
          edit(bob, edits(of: array.count, &generator), in: nil)
        }
        let before = array.values
        let view = array.view(at: version)
        #expect(array.elements(in: view) == seen, at(seed, step))
        let mine = edits(of: seen.count, &generator)
        edit(authors[0], mine, in: view)

        var shown = seen
        var gone: Set<Int> = []
        for edit in mine.reversed() {
          gone.formUnion(shown[edit.range])
          shown.replaceSubrange(edit.range, with: edit.replacement)
        }
        let present = array.values
        let new = Set(mine.flatMap(\.replacement))
        #expect(Set(present) == Set(before).subtracting(gone).union(new), at(seed, step))
        #expect(
          present.filter(Set(shown).contains) == shown.filter(Set(present).contains), at(seed, step)
        )
        #expect(
          present.filter { !new.contains($0) } == before.filter { !gone.contains($0) },
          at(seed, step))
      }
    }
  }

  // MARK: - What is refused

  private func text(_ string: String) -> ReplicatingText {
    var text = ReplicatingText()
    text.replace([Edit(range: 0..<0, replacement: Array(string.utf8))], by: &alice.replica)
    return text
  }

  private func id(_ author: UInt64, _ offset: Int) -> ElementID {
    ElementID(author: replicaID(author), offset: offset)
  }

  private func isRefused(
    _ operation: ReplicatingText.Operation, _ text: ReplicatingText,
    isKnown: (ChangeID) -> Bool = { _ in true }
  ) -> Bool {
    var text = text
    return (try? text.validate(operation, by: replicaID(2), isKnown: isKnown)) == nil
  }

  private static let x = Array("x".utf8)

  @Test func `what honest authors make is accepted`() {
    let text = text("aé😀b")
    let offsets = [0, 1, 3, 7, 8]
    for (left, right) in zip(offsets, offsets) {
      let operation = ReplicatingText.Operation.insert(
        Self.x, after: left == 0 ? nil : id(1, left - 1), before: right == 8 ? nil : id(1, right))
      #expect(!isRefused(operation, text))
    }
    for start in offsets {
      for end in offsets where end > start {
        let range = ElementRange(author: replicaID(1), offset: start, count: end - start)
        #expect(!isRefused(.remove(range), text))
      }
    }
  }

  @Test(arguments: [
    (nil, 1), (0, nil), (0, 0), (1, 0), (7, 0), (0, 7), (nil, nil), (7, 7), (3, 1), (1, 2), (2, 4),
    (4, 5), (5, 6), (-1, 0), (Int.min, nil), (7, Int.max), (Int.max, nil), (7, 8), (8, nil),
    (0, -1),
  ])
  func `an insertion between elements that never were neighbours, or inside a scalar, is refused`(
    left: Int?, right: Int?
  ) {
    let operation = ReplicatingText.Operation.insert(
      Self.x, after: left.map { id(1, $0) }, before: right.map { id(1, $0) })
    #expect(isRefused(operation, text("aé😀b")))
  }

  @Test(arguments: [
    (1, 1), (2, 1), (3, 1), (3, 3), (4, 3), (0, 2), (0, 0), (0, -1), (-1, 2), (0, 9), (8, 1),
    (0, Int.max), (Int.max, 1), (Int.max, Int.max), (1, Int.max), (Int.min, 1), (Int.min, Int.max),
    (7, Int.max), (-1, Int.max),
  ])
  func `a removal of half a scalar or of what does not exist is refused`(offset: Int, count: Int) {
    let range = ElementRange(author: replicaID(1), offset: offset, count: count)
    #expect(isRefused(.remove(range), text("aé😀b")))
  }

  @Test(arguments: [
    [], [0], [0x61, 0, 0x62], [0x80], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80],
    [0xF4, 0x90, 0x80, 0x80], [0xFF], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
  ])
  func `an insertion of what is no text is refused`(bytes: [UInt8]) {
    #expect(isRefused(.insert(bytes, after: nil, before: id(1, 0)), text("aé😀b")))
    #expect(isRefused(.insert(bytes, after: nil, before: nil), ReplicatingText()))
  }

  @Test func `elements of unknown authors, or that the author had not seen, are refused`() {
    let text = text("ab")
    let range = ElementRange(author: replicaID(7), offset: 0, count: 1)
    #expect(isRefused(.remove(range), text))
    #expect(isRefused(.insert(Self.x, after: id(7, 0), before: nil), text))
    #expect(isRefused(.insert(Self.x, after: id(1, 1), before: id(7, 0)), text))
    #expect(
      isRefused(.insert(Self.x, after: id(1, 1), before: nil), text, isKnown: { _ in false }))
    let removal = ElementRange(author: replicaID(1), offset: 0, count: 1)
    #expect(isRefused(.remove(removal), text, isKnown: { _ in false }))
    // But its own place, from when it knew nothing.
    #expect(
      !isRefused(.insert(Self.x, after: nil, before: nil), text, isKnown: { _ in false }))
  }

  @Test func `origins may be apart by what the author had not seen, and by nothing else`() {
    var text = text("ab")
    let old = text.version
    text.replace([Edit(range: 1..<1, replacement: Array("123".utf8))], by: &bob.replica)
    let operation = ReplicatingText.Operation.insert(Self.x, after: id(1, 0), before: id(1, 1))
    #expect(!isRefused(operation, text, isKnown: { old.contains($0) }))
    #expect(isRefused(operation, text))
    #expect(
      isRefused(
        .insert(Self.x, after: nil, before: id(1, 1)), text, isKnown: { old.contains($0) }))
  }

  @Test func `what others insert beside a replaced text stays beside what replaces it`() throws {
    for seed in seeds(300) {
      var generator = SplitMix64(seed: seed)
      let before = generator.text()
      let removed = Array("aé".utf8) + generator.text()
      let after = generator.text()
      let (replacement, inserted) = (Array("new".utf8), Array("x\n".utf8))
      var alice = Replica(id: ReplicaID(high: 0, low: generator.below(2) == 0 ? 1 : 3))
      var bob = Replica(id: ReplicaID(high: 0, low: 2))
      var text = ReplicatingText()
      text.replace([Edit(range: 0..<0, replacement: before + removed + after)], by: &bob)
      var other = text
      let base = text.version
      let range = before.count..<before.count + removed.count
      text.replace([Edit(range: range, replacement: replacement)], by: &alice)
      let isBefore = generator.chance(50)
      let place = isBefore ? range.lowerBound : range.upperBound
      other.replace([Edit(range: place..<place, replacement: inserted)], by: &bob)
      let middle = isBefore ? inserted + replacement : replacement + inserted
      #expect(text.merged(with: other).utf8 == before + middle + after, at(seed))
      #expect(other.merged(with: text).utf8 == before + middle + after, at(seed))
      // The same by one who shows it without what was inserted, and has it already.
      let view = other.view(at: base)
      let operations = other.operations(
        for: [Edit(range: range, replacement: replacement)], in: view)
      for operation in operations {
        other.apply(operation, alice.stamp(after: other.lamport, ticks: 3))
      }
      #expect(other.utf8 == before + middle + after, at(seed))
    }
  }

  @Test func `edits that touch each other keep their order and are in order for others`() throws {
    for view in [nil, SequenceView(before: [], and: [])] {
      var text = text("a\n\nc")
      let edits = [
        Edit(range: 2..<2, replacement: Array("Y\n".utf8)),
        Edit(range: 2..<4, replacement: Array("\nZ".utf8)),
      ]
      let known = text.version
      let stamp = bob.replica.stamp(after: text.lamport, ticks: 4)
      for operation in text.operations(for: edits, in: view) {
        try text.validate(operation, by: bob.replica.id) {
          known.contains($0) || $0 == stamp.change
        }
        text.apply(operation, stamp)
      }
      #expect(text.string == "a\nY\n\nZ")
    }
  }

  @Test func `what a client and another both removed is gone from what the client shows`() {
    let base = text("abc")
    var text = base
    // Bob removes b; the client doesn't know it yet and removes b as well.
    let arrivals = text.operations(for: [Edit(range: 1..<2, replacement: [])])
      .flatMap { text.apply($0, bob.replica.stamp(after: text.lamport)) }
    var removals: [ElementRange] = []
    for case .removed(let range) in arrivals { removals.append(range) }
    let view = SequenceView(before: [], and: removals)
    #expect(text.utf8(in: view) == base.utf8)
    var own: [ElementRange] = []
    for operation in text.operations(for: [Edit(range: 1..<2, replacement: [])], in: view) {
      if case .remove(let range) = operation { own.append(range) }
      text.apply(operation, alice.replica.stamp(after: text.lamport))
    }
    let after = SequenceView(
      hidden: ElementRanges(),
      revealed: ElementRanges(removals).subtracting(ElementRanges(own)))
    #expect(text.utf8(in: after) == Array("ac".utf8))
  }

  /// Typing behind a large text had all of it copied, once, which took milliseconds.
  @Test func `what comes at once has room for what its author types behind it`() {
    var text = ReplicatingText()
    let large = [UInt8](repeating: 0x61, count: 1 << 20)
    for operation in text.operations(for: [Edit(range: 0..<0, replacement: large)]) {
      text.apply(operation, alice.replica.stamp(after: text.lamport))
    }
    func place() -> UnsafeRawPointer? {
      text.bytes.authors[0].content.withUnsafeBytes { $0.baseAddress }
    }
    let first = place()
    for _ in 0..<5_000 {
      let end = text.count
      for operation in text.operations(for: [Edit(range: end..<end, replacement: [0x62])]) {
        text.apply(operation, alice.replica.stamp(after: text.lamport))
      }
    }
    #expect(text.utf8 == large + [UInt8](repeating: 0x62, count: 5_000))
    #expect(place() == first)
  }
}
