import ReplicatingTypes
import Testing

private typealias Letters = ReplicatingArray<Character>

extension ReplicatingArray<Character> {
  fileprivate var text: String { String(values) }

  fileprivate mutating func type(_ text: String, at place: Int, _ author: Author) {
    for (step, letter) in text.enumerated() {
      insert(contentsOf: [letter], at: place + step, by: &author.replica)
    }
  }

  fileprivate mutating func typeBackwards(_ text: String, at place: Int, _ author: Author) {
    for letter in text { insert(contentsOf: [letter], at: place, by: &author.replica) }
  }
}

/// Joins values in every order, each also a second time, and expects one state.
private func merged(_ values: Letters...) -> String {
  var results: [Letters] = []
  func visit(_ joined: Letters?, _ rest: [Letters]) {
    if rest.isEmpty { results.append(joined!) }
    for index in rest.indices {
      var others = rest
      let next = others.remove(at: index)
      guard var result = joined else {
        visit(next, others)
        continue
      }
      result.merge(next)
      result.checkInvariants()
      result.merge(next)
      visit(result, others)
    }
  }
  visit(nil, values)
  for result in results { #expect(result == results[0]) }
  return results[0].text
}

/// Each scenario in an empty text, and inside one.
private let surroundings: [(before: String, after: String)] = [("", ""), ("<", ">"), ("<<", "")]

@Suite struct `Scenarios of sequences` {
  private let alice = Author(1)
  private let bob = Author(2)
  private let carol = Author(3)
  private let base: Letters
  private let surrounding: (before: String, after: String)
  /// Where the scenario takes place.
  private let start: Int

  init() { self.init(surroundings[0]) }

  private init(_ surrounding: (before: String, after: String)) {
    var base = Letters()
    base.type(surrounding.before + surrounding.after, at: 0, Author(9))
    self.base = base
    self.surrounding = surrounding
    start = surrounding.before.count
  }

  private func inside(_ text: String) -> String {
    surrounding.before + text + surrounding.after
  }

  private static func everywhere(_ scenario: (Self) throws -> Void) rethrows {
    for surrounding in surroundings { try scenario(Self(surrounding)) }
  }

  @Test func `L1: two letters at one place have one order, the newest first`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      a.type("a", at: my.start, my.alice)
      b.type("b", at: my.start, my.bob)
      #expect(merged(a, b) == my.inside("ba"))
    }
  }

  @Test func `L1: behind a word, its rest comes before a blank, and a blank before a line end`() {
    let (alice, bob) = (Author(1), Author(2))
    let start = ReplicatingText("milk\nbread", by: &alice.replica)
    for (one, other, both) in [
      ("s", " and eggs", "milks and eggs"), ("s", "\neggs", "milks\neggs"),
      (" and eggs", "\neggs", "milk and eggs\neggs"), (", oat", " milk", "milk, oat milk"),
    ] {
      for isSwapped in [false, true] {
        var (a, b) = (start, start)
        a.insert(Array((isSwapped ? other : one).utf8).span, at: 4, by: &alice.replica)
        b.insert(Array((isSwapped ? one : other).utf8).span, at: 4, by: &bob.replica)
        #expect(a.merged(with: b).string == both + "\nbread")
      }
    }
  }

  @Test func `L2: typing forwards is not mixed`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      a.type("aaa", at: my.start, my.alice)
      b.type("bbb", at: my.start, my.bob)
      #expect(merged(a, b) == my.inside("bbbaaa"))
    }
  }

  @Test func `L3: typing forwards that another replica continues is not mixed`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      a.type("ham", at: my.start, my.alice)
      b.type("milk", at: my.start, my.bob)
      var c = a
      c.type("eggs", at: my.start + 3, my.carol)
      #expect(merged(a, b, c) == my.inside("milkhameggs"))
    }
  }

  @Test func `L4: typing backwards is not mixed`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      a.typeBackwards("sgge", at: my.start, my.alice)
      b.typeBackwards("klim", at: my.start, my.bob)
      #expect(merged(a, b) == my.inside("milkeggs"))
    }
  }

  @Test func `L5: typing backwards that another replica continues is not mixed`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      a.typeBackwards("sg", at: my.start, my.alice)
      var c = a
      c.typeBackwards("ge", at: my.start, my.carol)
      b.typeBackwards("klim", at: my.start, my.bob)
      #expect(merged(a, b, c) == my.inside("milkeggs"))
    }
  }

  @Test func `L5: also when both are continued`() {
    Self.everywhere { my in
      let dave = Author(4)
      var (a, b) = (my.base, my.base)
      a.typeBackwards("sg", at: my.start, my.alice)
      b.typeBackwards("kl", at: my.start, my.bob)
      var (c, d) = (a, b)
      c.typeBackwards("ge", at: my.start, my.carol)
      d.typeBackwards("im", at: my.start, dave)
      #expect(["milkeggs", "eggsmilk"].map(my.inside).contains(merged(a, b, c, d)))
    }
  }

  @Test func `L6: what is typed on both sides of one's own letter stays whole`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      a.type("b", at: my.start, my.alice)
      a.type("a", at: my.start, my.alice)
      a.type("c", at: my.start + 2, my.alice)
      b.type("y", at: my.start, my.bob)
      b.type("x", at: my.start, my.bob)
      b.type("z", at: my.start + 2, my.bob)
      #expect(["abcxyz", "xyzabc"].map(my.inside).contains(merged(a, b)))
    }
  }

  @Test func `L8: two names before the exclamation mark`() {
    Self.everywhere { my in
      var base = my.base
      base.type("Hello!", at: my.start, my.carol)
      var (a, b) = (base, base)
      a.type(" Alice", at: my.start + 5, my.alice)
      b.type(" Charlie", at: my.start + 5, my.bob)
      #expect(merged(a, b) == my.inside("Hello Charlie Alice!"))
    }
  }

  @Test func `L9: one whole sentence after the other`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      a.type("to be is to do", at: my.start, my.alice)
      b.type("to do is to be", at: my.start, my.bob)
      #expect(merged(a, b) == my.inside("to do is to beto be is to do"))
    }
  }

  @Test func `L10: words prepended in turn stand in order`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      for (word, isAlice) in [("four", true), ("three ", false), ("two ", true), ("one ", false)] {
        if isAlice {
          a.type(word, at: my.start, my.alice)
          b.merge(a)
        } else {
          b.type(word, at: my.start, my.bob)
          a.merge(b)
        }
      }
      #expect(a.text == my.inside("one two three four"))
      #expect(merged(a, b) == my.inside("one two three four"))
    }
  }

  @Test func `L12: an insertion after a letter that another replica removes stays`() {
    Self.everywhere { my in
      var base = my.base
      base.type("abc", at: my.start, my.carol)
      var (a, b) = (base, base)
      a.type("X", at: my.start + 2, my.alice)
      b.remove(my.start + 1..<my.start + 2, by: &my.bob.replica)
      #expect(merged(a, b) == my.inside("aXc"))
    }
  }

  @Test func `L13: what both remove is removed once`() {
    Self.everywhere { my in
      var base = my.base
      base.type("abc", at: my.start, my.carol)
      var (a, b) = (base, base)
      a.remove(my.start + 1..<my.start + 2, by: &my.alice.replica)
      b.remove(my.start + 1..<my.start + 2, by: &my.bob.replica)
      #expect(merged(a, b) == my.inside("ac"))
    }
  }

  @Test func `L14: an insertion inside a range that another replica removes stays in place`() {
    Self.everywhere { my in
      var base = my.base
      base.type("abcdef", at: my.start, my.carol)
      var (a, b) = (base, base)
      a.remove(my.start + 1..<my.start + 5, by: &my.alice.replica)
      b.type("XY", at: my.start + 3, my.bob)
      #expect(merged(a, b) == my.inside("aXYf"))
    }
  }

  @Test func `L15: letters after a letter that goes away converge`() {
    Self.everywhere { my in
      var base = my.base
      base.type("a", at: my.start, my.carol)
      var (a, b) = (base, base)
      a.type("b", at: my.start + 1, my.alice)
      b.type("c", at: my.start + 1, my.bob)
      b.remove(my.start..<my.start + 1, by: &my.bob.replica)
      b.type("d", at: my.start, my.bob)
      #expect(["dbc", "dcb"].map(my.inside).contains(merged(a, b)))
    }
  }

  @Test func `THEATRE: the example of the articles`() {
    Self.everywhere { my in
      var base = my.base
      base.type("THEAT", at: my.start, my.carol)
      var (a, b) = (base, base)
      a.type("C", at: my.start + 3, my.alice)
      b.type("RE", at: my.start + 5, my.bob)
      b.remove(my.start + 4..<my.start + 5, by: &my.bob.replica)
      #expect(merged(a, b) == my.inside("THECARE"))
    }
  }

  @Test func `lines prepended one by one are not mixed`() {
    Self.everywhere { my in
      var (a, b) = (my.base, my.base)
      for line in ["a3 ", "a2 ", "a1 "] {
        a.insert(contentsOf: Array(line), at: my.start, by: &my.alice.replica)
      }
      for line in ["b3 ", "b2 ", "b1 "] {
        b.insert(contentsOf: Array(line), at: my.start, by: &my.bob.replica)
      }
      #expect(merged(a, b) == my.inside("b1 b2 b3 a1 a2 a3 "))
    }
  }

  @Test func `X1: merging with oneself, with nothing and with one's past changes nothing`() throws {
    try Self.everywhere { my in
      var a = my.base
      a.type("past", at: my.start, my.alice)
      let past = a
      a.typeBackwards("tneserp", at: my.start, my.alice)
      a.remove(my.start + 1..<my.start + 3, by: &my.alice.replica)
      for other in [a, past, my.base, Letters()] {
        #expect(a.merged(with: other) == a)
        var late = other
        try late.apply(a.changes(since: other.version))
        #expect(late == a)
      }
    }
  }

  @Test func `three insertions at one place agree in every order`() {
    Self.everywhere { my in
      var (a, b, c) = (my.base, my.base, my.base)
      a.type("aa", at: my.start, my.alice)
      b.typeBackwards("bb", at: my.start, my.bob)
      c.insert(contentsOf: ["c", "c"], at: my.start, by: &my.carol.replica)
      c.type("d", at: my.start + 1, my.carol)
      let text = merged(a, b, c)
      #expect(text.contains("aa") && text.contains("bb") && text.contains("cdc"))
    }
  }
}
