import Foundation
import ReplicatingTypes
import TestSupport
import Testing

/// What the types are to a Swift developer beside what they replicate.
@Suite struct `Habits of Swift` {
  let alice = Author(1)
  let bob = Author(2)

  // MARK: - Text and strings

  @Test func `text is made of strings, and becomes others`() throws {
    var text = ReplicatingText("milk", by: &alice.replica)
    text.append(", eggs", by: &alice.replica)
    text.insert("oat ", at: 0, by: &alice.replica)
    #expect(String(text) == "oat milk, eggs")
    let before = text.version
    text.append("", by: &alice.replica)
    text.become("oat milk, eggs", by: &alice.replica)
    #expect(text.version == before)
    #expect(ReplicatingText("", by: &alice.replica).version == Version())
    var other = text
    other.become("oat milk, two eggs", by: &bob.replica)
    text.become("milk, eggs, 🥖", by: &alice.replica)
    text.merge(other)
    #expect(text.string == "milk, two eggs, 🥖")
  }

  @Test func `text becomes what it is told, and others' words stay, in random histories`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let pieces = ["one ", "two ", "three ", "é", "あ", "😀", "\n", ". "]
      func string() -> String {
        (0..<generator.below(20)).map { _ in generator.pick(pieces) }.joined()
      }
      let (alice, bob) = (Author(1), Author(2))
      var a = ReplicatingText(string(), by: &alice.replica)
      for _ in 0..<8 {
        var b = a
        b.append(" Bob\(generator.below(1_000))", by: &bob.replica)
        let word = String(b.string.split(separator: " ").last!)
        let new = string()
        a.become(new, by: &alice.replica)
        #expect(a.string == new, at(seed))
        try a.apply(b.changes(since: a.version))
        #expect(a.string.contains(word), at(seed))
        a.checkInvariants()
      }
    }
  }

  @Test(.enabled(if: isExitTestingPossible)) func `text refuses what peers would refuse`() async {
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("é", by: &author.replica)
      text.insert("a", at: 1, by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      _ = ReplicatingText("a\0b", by: &author.replica)
    }
    await #expect(processExitsWith: .failure) {
      let author = Author(1)
      var text = ReplicatingText("é", by: &author.replica)
      text.append("b", by: &author.replica)
      text.insert("a", at: 4, by: &author.replica)
    }
  }

  private static var isExitTestingPossible: Bool {
    #if os(Linux) || os(macOS)
      true
    #else
      false
    #endif
  }

  // MARK: - Sequences

  @Test func `an array has its elements by position, in the midst of typing, too`() {
    for seed in seeds(20) {
      var generator = SplitMix64(seed: seed)
      let authors = [Author(1), Author(2)]
      var array = ReplicatingArray<Int>()
      var expected: [Int] = []
      var place = 0
      for step in 0..<200 {
        let author = authors[step / 50 % 2]
        if generator.below(8) == 0 { place = generator.below(expected.count + 1) }
        place = min(place, expected.count)
        if generator.below(3) > 0 || place == 0 {
          array.insert(contentsOf: [step], at: place, by: &author.replica)
          expected.insert(step, at: place)
          place += 1
        } else {
          array.remove(place - 1..<place, by: &author.replica)
          expected.remove(at: place - 1)
          place -= 1
        }
        for index in [0, place - 1, place, expected.count - 1]
        where expected.indices.contains(index) {
          #expect(array[index] == expected[index], at(seed, step))
        }
      }
      #expect(Array(array) == expected && array.map { $0 } == expected, at(seed))
      #expect(array.indices.map { array[$0] } == expected, at(seed))
      #expect(array.last == expected.last && array.isEmpty == expected.isEmpty, at(seed))
      array.append(-1, by: &authors[0].replica)
      array.append(contentsOf: [-2, -3], by: &authors[0].replica)
      array.append(contentsOf: [], by: &authors[0].replica)
      #expect(Array(array) == expected + [-1, -2, -3], at(seed))
    }
  }

  @Test func `an ordered set has its elements by position`() {
    let author = Author(1)
    var order = ReplicatingOrderedSet<String>()
    for name in ["a", "b", "c", "d"] { order.append(name, by: &author.replica) }
    order.remove("b", by: &author.replica)
    order.move("d", to: 0, by: &author.replica)
    #expect(Array(order) == ["d", "a", "c"])
    #expect(order.indices.map { order[$0] } == ["d", "a", "c"])
    #expect(order.firstIndex(of: "c") == 2 && order.firstIndex(of: "b") == nil)
    #expect(order.last == "c" && order.contains("a"))
    order.append("d", by: &author.replica)
    #expect(Array(order) == ["a", "c", "d"])
  }

  @Test func `sets and dictionaries are gone through with for`() {
    let author = Author(1)
    var tags = ReplicatingSet<String>()
    var shown = ReplicatingAddOnlySet<String>()
    var sizes = ReplicatingDictionary<String, ReplicatingRegister<Int>>()
    #expect(tags.isEmpty && shown.isEmpty && sizes.isEmpty)
    for name in ["a", "b", "c"] {
      tags.insert(name, by: &author.replica)
      shown.insert(name, by: &author.replica)
      sizes.update(name, default: ReplicatingRegister(0), by: &author.replica) {
        $0.assign(name.utf8.count, at: 0, by: &$1)
      }
    }
    tags.remove("b", by: &author.replica)
    sizes.remove("b", by: &author.replica)
    #expect(tags.sorted() == ["a", "c"] && shown.sorted() == ["a", "b", "c"])
    #expect(sizes.map(\.key).sorted() == ["a", "c"])
    #expect(sizes.allSatisfy { $0.value.value == 1 })
    #expect(!tags.isEmpty && !shown.isEmpty && !sizes.isEmpty)
  }

  // MARK: - Hashing, printing

  @Test func `equal values have one hash`() throws {
    let author = Author(1)
    var a = ReplicatingText("one", by: &author.replica)
    var b = a
    b.append(" two", by: &bob.replica)
    #expect(Set([a, b]).count == 2)
    try a.apply(b.changes(since: a.version))
    #expect(Set([a, b]).count == 1)
    var order = ReplicatingOrderedSet<Int>()
    order.append(1, by: &author.replica)
    #expect(
      Set([order, ReplicatingOrderedSet(), try ReplicatingOrderedSet(encoded: order.encoded())])
        .count == 2)
    var array = ReplicatingArray<Int>()
    array.append(1, by: &author.replica)
    #expect(Set([array, ReplicatingArray(), array]).count == 2)
  }

  @Test func `what is visible is printed`() {
    let author = Author(1)
    let text = ReplicatingText("one\ntwo", by: &author.replica)
    #expect("\(text)" == "one\ntwo" && String(reflecting: text) == #""one\ntwo""#)
    var array = ReplicatingArray<Int>()
    array.append(contentsOf: [1, 2], by: &author.replica)
    var order = ReplicatingOrderedSet<String>()
    order.append("a", by: &author.replica)
    var set = ReplicatingSet<Int>()
    set.insert(3, by: &author.replica)
    #expect("\(array) \(order) \(set)" == #"[1, 2] ["a"] [3]"#)
    #expect("\(ReplicatingRegister(7))" == "7")
    var shown = ReplicatingAddOnlySet<Int>()
    shown.insert(4, by: &author.replica)
    var sizes = ReplicatingDictionary<String, ReplicatingRegister<Int>>()
    sizes.update("a", default: ReplicatingRegister(0), by: &author.replica) {
      $0.assign(5, at: 0, by: &$1)
    }
    #expect("\(shown) \(sizes)" == #"[4] ["a": 5]"#)
    for number in [2, 9, 1] {
      set.insert(number, by: &author.replica)
      shown.insert(number, by: &author.replica)
    }
    #expect("\(set) \(shown)" == "[1, 2, 3, 9] [1, 2, 4, 9]")
    let register = ReplicatingRegister("a\nb")
    #expect("\(register)" == "a\nb" && "\([register])" == #"["a\nb"]"#)
    #expect("\(ReplicatingDictionary<Int, ReplicatingText>())" == "[:]")
  }

  @Test func `errors say what can't be done, and why`() {
    var text = ReplicatingText("one", by: &alice.replica)
    let first = text.version
    text.append(" two", by: &alice.replica)
    var late = ReplicatingText()
    #expect {
      try late.apply(text.changes(since: first))
    } throws: {
      "\($0)"
        == "The changes can't be applied yet: they follow changes that may be missing here, up to 1 of \(alice.replica.id)."
    }
    #expect(
      "\(InvalidChange("an element twice"))"
        == "The changes can't be applied, now or later: an element twice.")
    #expect(throws: DecodingFailure.self) { try ReplicatingText(encoded: [9]) }
    #expect(
      "\(DecodingFailure(offset: 3, reason: "a number too long"))"
        == "The bytes can't be read, at byte 3: a number too long.")
  }

  // MARK: - Codable

  private struct Document: Codable, Equatable {
    var title = ReplicatingRegister("")
    var text = ReplicatingText()
    var tags = ReplicatingSet<String>()
    var shown = ReplicatingAddOnlySet<String>()
    var order = ReplicatingOrderedSet<String>()
    var list = ReplicatingArray<Int>()
    var sizes = ReplicatingDictionary<String, ReplicatingRegister<Int>>()
    var changes: ReplicatingText.Changes?
    var author: ReplicaID?

    static func == (a: Self, b: Self) -> Bool {
      a.title == b.title && a.text == b.text && a.tags == b.tags && a.shown == b.shown
        && a.order == b.order && a.list == b.list && a.sizes == b.sizes && a.author == b.author
        && a.changes?.encoded() == b.changes?.encoded()
    }
  }

  @Test func `a document of replicating values goes through JSON, and a damaged one is refused`()
    throws
  {
    var document = Document()
    document.title.assign("Shopping", at: 1_767_225_600_000, by: &alice.replica)
    document.text.append("milk", by: &alice.replica)
    document.tags.insert("home", by: &alice.replica)
    document.shown.insert("welcome", by: &alice.replica)
    document.order.append("a", by: &alice.replica)
    document.list.append(1, by: &alice.replica)
    document.sizes.update("a", default: ReplicatingRegister(0), by: &alice.replica) {
      $0.assign(1, at: 0, by: &$1)
    }
    document.changes = document.text.changes(since: Version())
    document.author = alice.replica.id
    let data = try JSONEncoder().encode(document)
    #expect(try JSONDecoder().decode(Document.self, from: data) == document)
    #expect(
      try JSONDecoder().decode(Document.self, from: JSONEncoder().encode(Document())) == Document())
    for damaged in [#""?""#, #""AA==""#, #""""#, "7"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(ReplicatingText.self, from: Data(damaged.utf8))
      }
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(ReplicaID.self, from: Data(damaged.utf8))
      }
    }
  }

  private struct Memo: Composed, StringCodable {
    var title = ReplicatingRegister("")
    var text = ReplicatingText()
    static var parts: some PartsOf<Self> { Composition(\Self.title, \.text) }
  }

  @Test func `a composed value goes through JSON if it says so`() throws {
    var memo = Memo()
    memo.title.assign("Shopping", at: 1_767_225_600_000, by: &alice.replica)
    memo.text.append("milk", by: &alice.replica)
    let data = try JSONEncoder().encode([memo])
    #expect(try JSONDecoder().decode([Memo].self, from: data) == [memo])
    #expect(try JSONDecoder().decode([String].self, from: data).count == 1)
  }

  private enum Priority: UInt8, BinaryCodable { case normal, high }
  private enum Colour: String, BinaryCodable { case red, green }

  @Test func `plain values are read as they were written, and nothing else is`() throws {
    for number in [0, -0.0, 1.5, .infinity, -.greatestFiniteMagnitude, .nan] {
      #expect(try Double(encoded: number.encoded()).bitPattern == number.bitPattern)
    }
    for value in [nil, 1, -7] as [Int?] { #expect(try Int?(encoded: value.encoded()) == value) }
    for value in [nil, .some(nil), 3] as [Int??] {
      #expect(try Int??(encoded: value.encoded()) == value)
    }
    for list in [[], ["a"], ["", "é", "a"]] {
      #expect(try [String](encoded: list.encoded()) == list)
    }
    #expect(
      try [[Bool]](encoded: [[true], [], [false, true]].encoded()) == [[true], [], [false, true]])
    #expect(
      try Priority(encoded: Priority.high.encoded()) == .high && Priority.high.encoded() == [1])
    #expect(try Colour(encoded: Colour.green.encoded()) == .green)
    #expect(throws: DecodingFailure.self) { try Priority(encoded: [2]) }
    #expect(throws: DecodingFailure.self) { try Colour(encoded: "blue".encoded()) }
    #expect(throws: DecodingFailure.self) { try Double(encoded: [0, 0, 0]) }
    #expect(throws: DecodingFailure.self) { try Int?(encoded: [2, 0]) }
    #expect(throws: DecodingFailure.self) { try [Int](encoded: [200, 200, 200, 200, 4]) }
    #expect(throws: DecodingFailure.self) { try [Int](encoded: [2, 0]) }
    var register = ReplicatingRegister([Priority.normal])
    register.assign([.high, .normal], at: 5, by: &alice.replica)
    #expect(try ReplicatingRegister(encoded: register.encoded()) == register)
  }

  @Test func `identities are drawn from the generator that is given`() {
    var (one, same, other) = (SplitMix64(seed: 1), SplitMix64(seed: 1), SplitMix64(seed: 2))
    let id = ReplicaID.random(using: &one)
    #expect(
      id == .random(using: &same) && id != .random(using: &other) && id != .random(using: &one))
  }
}
