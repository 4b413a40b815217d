import TestSupport
import Testing

@testable import ReplicatingTypes

/// A note of the articles, but for its text.
private struct Card: Composed, Checked {
  @Constant var id = "none"
  var title = ReplicatingRegister("")
  var tags = ReplicatingSet<String>()
  var seen = ReplicatingAddOnlySet<Int>()
  static var parts: some PartsOf<Self> { Composition(\Self._id, \.title, \.tags, \.seen) }

  func checkAll() {
    title.checkAll()
    tags.checkAll()
    seen.checkAll()
  }

  mutating func edit(by replica: inout Replica, _ generator: inout SplitMix64) {
    let tag = generator.pick(["a", "b"])
    switch generator.below(5) {
    case 0: title.assign(tag, at: generator.pick([0, 5]), by: &replica)
    case 1: tags.remove(tag, by: &replica)
    case 2: seen.insert(generator.below(4), by: &replica)
    default: tags.insert(tag, by: &replica)
    }
  }
}

/// Cards in an order, and one beside them.
private struct Box: Composed, Checked {
  var label = Card()
  var order = ReplicatingOrderedSet<String>()
  var cards = ReplicatingDictionary<String, Card>()
  static var parts: some PartsOf<Self> { Composition(\Self.label, \.order, \.cards) }

  func checkAll() {
    label.checkAll()
    order.checkAll()
    cards.checkAll()
  }

  mutating func edit(by replica: inout Replica, _ generator: inout SplitMix64) {
    let key = generator.pick(["x", "y"])
    switch generator.below(4) {
    case 0: label.edit(by: &replica, &generator)
    case 1: order.insert(key, at: 0, by: &replica)
    case 2: cards.remove(key, by: &replica)
    default:
      cards.update(key, default: Card(id: key), by: &replica) { $0.edit(by: &$1, &generator) }
    }
  }
}

/// A text beside other parts.
private struct Page: Composed, Checked {
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var footnotes = ReplicatingText()
  var tags = ReplicatingSet<String>()
  static var parts: some PartsOf<Self> {
    Composition(\Self.title, \.text, \.footnotes, \.tags)
  }

  func checkAll() {
    title.checkAll()
    text.checkAll()
    footnotes.checkAll()
    tags.checkAll()
  }

  mutating func edit(by replica: inout Replica, _ generator: inout SplitMix64) {
    switch generator.below(6) {
    case 0: title.assign(generator.pick(["a", "b"]), at: 1, by: &replica)
    case 1: tags.insert(generator.pick(["a", "b"]), by: &replica)
    case 2: Self.edit(&footnotes, by: &replica, &generator)
    default: Self.edit(&text, by: &replica, &generator)
    }
  }

  static func edit(
    _ text: inout ReplicatingText, by replica: inout Replica, _ generator: inout SplitMix64
  ) {
    if text.count > 2, generator.chance(30) {
      let start = generator.below(text.count)
      text.remove(start..<min(text.count, start + 1 + generator.below(2)), by: &replica)
    } else {
      let letters = [UInt8](generator.pick(["a", "bc", "def"]).utf8)
      text.insert(letters.span, at: generator.below(text.count + 1), by: &replica)
    }
  }
}

/// The same parts in two lists, as of a value with very many.
private struct LongPage: Composed {
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var footnotes = ReplicatingText()
  var tags = ReplicatingSet<String>()
  static var parts: some PartsOf<Self> {
    Composition(\Self.title, rest: Composition(\.text, rest: Composition(\.footnotes, \.tags)))
  }
}

/// As many parts as a list takes without another.
private struct Dozen: Composed {
  var (a, b, c, d) = (count, count, count, count)
  var (e, f, g, h) = (count, count, count, count)
  var (i, j, k, l) = (count, count, count, count)
  static var count: ReplicatingRegister<Int> { ReplicatingRegister(0) }
  static var parts: some PartsOf<Self> {
    Composition(\Self.a, \.b, \.c, \.d, \.e, \.f, \.g, \.h, \.i, \.j, \.k, \.l)
  }
}

private let card = Sample(Card()) { $0.edit(by: &$1.replica, &$2) }
private let box = Sample(Box()) { $0.edit(by: &$1.replica, &$2) }
private let page = Sample(Page()) { $0.edit(by: &$1.replica, &$2) }

@Suite(.computing) struct `Composed values` {
  let alice = Author(1)
  let bob = Author(2)

  private static func expectAllLaws<Value>(
    of sample: Sample<Value>, seeds: ClosedRange<UInt64>
  ) throws {
    for seed in seeds {
      var (states, _, generator) = try history(sample.empty, seed: seed, steps: 40, sample.edit)
      for _ in 0..<6 {
        let (a, b, c) = (generator.pick(states), generator.pick(states), generator.pick(states))
        try expectLaws(a, b, c, empty: sample.empty, at(seed))
      }
    }
  }

  @Test func `keep the laws of merging in random histories`() throws {
    try Self.expectAllLaws(of: card, seeds: seeds(40))
    try Self.expectAllLaws(of: box, seeds: seeds(30))
    try Self.expectAllLaws(of: page, seeds: seeds(30))
  }

  @Test func `keep the rules of encodings`() throws {
    try expectEncodings(card, seeds: seeds(20))
    try expectDamageIsSeen(card, seeds: seeds(4))
    try expectEncodings(box, seeds: seeds(15))
    try expectDamageIsSeen(box, seeds: seeds(2))
    try expectEncodings(page, seeds: seeds(20))
  }

  /// A sequence is read from other bytes than it is written in, too, so what is read need not be these bytes again.
  @Test func `with a text are in order after whatever bytes are taken`() throws {
    for seed in seeds(4) {
      var (states, final, generator) = try history(Page(), seed: seed, steps: 12, page.edit)
      let (some, all) = (generator.pick(states), final[0])
      let (value, changes) = (all.encoded(), all.changes(since: some.version).encoded())
      for bit in 0..<8 * value.count {
        var damaged = value
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        (try? Page(encoded: damaged))?.checkAll()
      }
      for length in value.indices {
        #expect(throws: DecodingFailure.self) { try Page(encoded: Array(value[..<length])) }
      }
      for length in changes.indices {
        #expect(throws: DecodingFailure.self) {
          try Page.Changes(encoded: Array(changes[..<length]))
        }
      }
      for bit in 0..<8 * changes.count {
        var damaged = changes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        guard let read = try? Page.Changes(encoded: damaged) else { continue }
        for value in [Page(), some, all] {
          var result = value
          guard (try? result.apply(read)) != nil else {
            #expect(result == value, "refused, and yet something was taken, \(at(seed, bit))")
            continue
          }
          result.checkAll()
        }
      }
    }
  }

  /// `apply` looks at one part while joining it. The way without that looks at all parts on a copy, and then joins them.
  @Test func `apply what they find valid, and nothing else`() throws {
    try Self.expectApplyingAsValidated(card, seeds: seeds(10))
    try Self.expectApplyingAsValidated(box, seeds: seeds(10))
    try Self.expectApplyingAsValidated(page, seeds: seeds(20))
  }

  private static func expectApplyingAsValidated<Value: Composed>(
    _ sample: Sample<Value>, seeds: ClosedRange<UInt64>
  ) throws {
    for seed in seeds {
      var (states, final, generator) = try history(
        sample.empty, seed: seed, steps: 20, sample.edit)
      for step in 0..<100 {
        let (value, since) = (generator.pick(states), generator.pick(states).version)
        var bytes = generator.pick(final + states).changes(since: since).encoded()
        if generator.chance(70) {
          bytes[generator.below(bytes.count)] ^= 1 << UInt8(generator.below(8))
        }
        guard let changes = try? Value.Changes(encoded: bytes) else { continue }
        let (applied, joined) = (applying(changes, to: value), joining(changes, to: value))
        #expect(applied?.encoded() == joined?.encoded(), at(seed, step))
        #expect(applied?.joinedVersion == joined?.joinedVersion, at(seed, step))
      }
    }
  }

  /// The value with the changes; nil if they are refused, and then it is as it was.
  private static func applying<Value: Composed>(
    _ changes: Value.Changes, to value: Value
  ) -> Value? {
    var result = value
    do { try result.apply(changes) } catch {
      #expect(result == value && result.joinedVersion == value.joinedVersion)
      return nil
    }
    return result
  }

  /// The same, by looking at all of them first.
  private static func joining<Value: Composed>(
    _ changes: Value.Changes, to value: Value
  ) -> Value? {
    guard value.version.isSuperset(of: changes.since), (try? value.validate(changes)) != nil
    else { return nil }
    var result = value
    result.join(changes)
    return result
  }

  @Test func `merge part by part`() throws {
    var a = Page()
    a.title.assign("Shopping", at: 1, by: &alice.replica)
    var b = try Page(encoded: a.encoded())
    a.text.insert("Milk".utf8.span, at: 0, by: &alice.replica)
    b.text.insert("Eggs".utf8.span, at: 0, by: &bob.replica)
    b.tags.insert("home", by: &bob.replica)
    try a.apply(b.changes(since: a.version))
    try b.apply(a.changes(since: b.version))
    #expect(a == b && a.encoded() == b.encoded())
    #expect(a.title.value == "Shopping" && a.tags.values == ["home"])
    #expect(["MilkEggs", "EggsMilk"].contains(a.text.string))
  }

  @Test func `may have a list within a list, and a dozen parts in one`() throws {
    var page = Page()
    page.title.assign("Shopping", at: 1, by: &alice.replica)
    page.text.insert("Milk".utf8.span, at: 0, by: &alice.replica)
    page.footnotes.insert("1".utf8.span, at: 0, by: &alice.replica)
    page.tags.insert("home", by: &alice.replica)
    let long = try LongPage(encoded: page.encoded())
    #expect(long.encoded() == page.encoded())
    let changes = page.changes(since: Version()).encoded()
    var other = LongPage()
    try other.apply(LongPage.Changes(encoded: changes))
    #expect(other == long)

    var (a, b) = (Dozen(), Dozen())
    a.a.assign(1, at: 1, by: &alice.replica)
    a.l.assign(12, at: 1, by: &alice.replica)
    b.f.assign(6, at: 1, by: &bob.replica)
    try a.apply(Dozen.Changes(encoded: b.changes(since: a.version).encoded()))
    try b.apply(a.changes(since: b.version))
    #expect(a == b && (a.a.value, a.f.value, a.l.value) == (1, 6, 12))
    #expect(try Dozen(encoded: a.encoded()) == a)
  }

  @Test func `refuse all changes if those of one part are invalid`() throws {
    var a = Page()
    a.text.insert("Milk".utf8.span, at: 0, by: &alice.replica)
    a.footnotes.insert("#".utf8.span, at: 0, by: &alice.replica)
    a.title.assign("Shopping", at: 1, by: &alice.replica)
    // What came of a text with a byte that is no text.
    var bytes = a.changes(since: Version()).encoded()
    let place = try #require(bytes.firstIndex(of: UInt8(ascii: "#")))
    bytes[place] = 0xFF
    let invalid = try Page.Changes(encoded: bytes)
    var b = Page()
    #expect(throws: RefusedChanges.self) { try b.apply(invalid) }
    #expect(b == Page() && b.version.isEmpty)
    #expect(b.text.string == "")
  }

  @Test func `have constants that are the same everywhere`() throws {
    var a = Card(id: "a")
    a.tags.insert("home", by: &alice.replica)
    let b = try Card(encoded: a.encoded())
    #expect(b == a && b.id == "a")
    var other = Card(id: "b")
    let reason = InvalidChange("the constant a, where b is here")
    #expect(throws: RefusedChanges.invalid(reason)) {
      try other.apply(a.changes(since: other.version))
    }
    #expect {
      try other.merge(a)
    } throws: {
      "\($0)".contains("_id: the constant a, where b is here")
    }
    #expect(other == Card(id: "b"))
  }

  @Test func `are made of parts that were saved one by one`() throws {
    var a = Page()
    a.text.insert("Milk".utf8.span, at: 0, by: &alice.replica)
    a.title.assign("Shopping", at: 1, by: &alice.replica)
    var b = Page()
    b.text = try ReplicatingText(encoded: a.text.encoded())
    b.title = try ReplicatingRegister(encoded: a.title.encoded())
    b.tags = try ReplicatingSet(encoded: a.tags.encoded())
    #expect(b == a && b.encoded() == a.encoded())
    a.tags.insert("home", by: &alice.replica)
    try b.apply(a.changes(since: b.version))
    #expect(b == a)
  }

  // MARK: - A part that was joined by itself

  /// As the note of the articles merges.
  private static func mergedByParts(_ a: Page, _ b: Page) throws -> Page {
    var result = a
    result.title = try a.title.merged(with: b.title)
    result.text = a.text.merged(with: b.text)
    result.footnotes = a.footnotes.merged(with: b.footnotes)
    result.tags = a.tags.merged(with: b.tags)
    return result
  }

  @Test func `may be merged part by part, if all parts are`() throws {
    for seed in seeds(40) {
      var (states, _, generator) = try history(Page(), seed: seed, steps: 30, page.edit)
      for _ in 0..<4 {
        let (a, b, c) = (generator.pick(states), generator.pick(states), generator.pick(states))
        var result = try Self.mergedByParts(a, b)
        #expect(try result == a.merged(with: b), at(seed))
        #expect(try Page(encoded: result.encoded()) == result, at(seed))
        result = try Self.mergedByParts(result, c)
        try result.apply(a.changes(since: result.version))
        var fresh = Page()
        try fresh.apply(result.changes(since: Version()))
        #expect(try fresh == a.merged(with: b).merged(with: c), at(seed))
      }
    }
  }

  @Test func `bring all that a part of another value follows, in a merge`() throws {
    for seed in seeds(40) {
      var (states, final, generator) = try history(Page(), seed: seed, steps: 30, page.edit)
      for b in states + final {
        var a = Page()
        switch generator.below(4) {
        case 0: a.title = b.title
        case 1: a.text = b.text
        case 2: (a.footnotes, a.title) = (b.footnotes, b.title)
        default: a.tags = b.tags
        }
        // A part of one who has joined something is noticed.
        guard (try? a.merge(b)) != nil else { continue }
        #expect(a == b, at(seed))
      }
    }
    // Two who have joined nothing.
    var (a, b) = (Page(), Page())
    b.tags.insert("home", by: &bob.replica)
    b.title.assign("Shopping", at: 1, by: &bob.replica)
    a.title = b.title
    try a.merge(b)
    #expect(a == b && a.tags.values == ["home"])
  }

  @Test func `throw if a part was merged by itself, and name it`() throws {
    func expectRefusal<Value: Composed>(
      _ value: Value, _ other: Value, _ part: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      func expectWords(_ error: any Error) {
        let words = "\(error)"
        for word in [part, "has joined changes by itself", "value.merge(other)"] {
          #expect(words.contains(word), sourceLocation: sourceLocation)
        }
      }
      for (value, other) in [(value, other), (other, value)] {
        var value = value
        do {
          try value.merge(other)
          Issue.record("merged", sourceLocation: sourceLocation)
        } catch { expectWords(error) }
      }
      var copy = value
      let changes = other.changes(since: value.version)
      do {
        try copy.apply(changes)
        Issue.record("applied", sourceLocation: sourceLocation)
      } catch { expectWords(error) }
      do {
        try copy.validate(changes)
        Issue.record("validated", sourceLocation: sourceLocation)
      } catch { expectWords(error) }
      #expect(copy == value, sourceLocation: sourceLocation)
    }
    let (a, start) = Self.diverged()
    var b = start
    try b.title.merge(a.title)
    expectRefusal(b, a, "Page.title")
    // Made good by the others.
    b.text.merge(a.text)
    b.footnotes.merge(a.footnotes)
    expectRefusal(b, a, "Page.")
    b.tags.merge(a.tags)
    #expect(try b == a.merged(with: start))

    b = start
    try b.text.apply(a.text.changes(since: b.text.version))
    expectRefusal(b, a, "Page.text")
    b = start
    try b.apply(a.changes(since: b.version))
    b.tags = a.tags
    expectRefusal(b, a, "Page.")

    var (box, other) = (Box(), Box())
    box.label.tags.insert("home", by: &alice.replica)
    try other.label.merge(box.label)
    expectRefusal(other, box, "Box.label")
    other = Box()
    other.label.tags.merge(box.label.tags)
    expectRefusal(other, box, "Box.label")
  }

  @Test func `end the program where a part was merged by itself and nothing can be thrown`() async {
    await #expect(processExitsWith: .failure) {
      var (a, b) = `Composed values`.diverged()
      try b.title.merge(a.title)
      _ = b.encoded()
    }
    await #expect(processExitsWith: .failure) {
      var (a, b) = `Composed values`.diverged()
      try b.text.apply(a.text.changes(since: b.text.version))
      b.join(a.changes(since: b.version))
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var (a, b) = `Composed values`.diverged()
      try b.apply(a.changes(since: b.version))
      b.title = a.title
      _ = b.changes(since: Version())
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("has joined changes by itself"))
    await #expect(processExitsWith: .success) {
      var (a, b) = `Composed values`.diverged()
      try b.apply(a.changes(since: b.version))
      try a.merge(b)
      _ = a.encoded()
    }
  }

  /// Two values that both have what the other lacks.
  private static func diverged() -> (Page, Page) {
    let (alice, bob) = (Author(1), Author(2))
    var a = Page()
    a.text.insert("Milk".utf8.span, at: 0, by: &alice.replica)
    a.title.assign("Shopping", at: 1, by: &alice.replica)
    var b = Page()
    b.text.insert("Eggs".utf8.span, at: 0, by: &bob.replica)
    return (a, b)
  }
}
