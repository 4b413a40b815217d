import Foundation
import ReplicatingTypes
import Testing

private struct Memo: Composed {
  @Constant var id = ""
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var tags = ReplicatingSet<String>()
  static var parts: some PartsOf<Self> { Composition(\Self._id, \.title, \.text, \.tags) }
}

private struct Task: Composed, Identifiable {
  @Constant var id = ""
  var isDone = ReplicatingRegister(false)
  static var parts: some PartsOf<Self> { Composition(\Self._id, \.isDone) }
}

/// The examples of the types' descriptions, run. The last test sees to it that they are the same.
@Suite struct `Examples of the descriptions` {
  @Test func `replicable: two replicas exchange what each lacks`() throws {
    var alice = Replica(id: ReplicaID(high: 0, low: 1))
    var bob = Replica(id: ReplicaID(high: 0, low: 2))
    var (a, b) = (ReplicatingSet<String>(), ReplicatingSet<String>())
    a.insert("milk", by: &alice)
    b.insert("eggs", by: &bob)
    let sent = b.changes(since: a.version).encoded()
    try a.apply(ReplicatingSet.Changes(encoded: sent))
    try b.apply(a.changes(since: b.version))
    #expect(a == b)
    #expect(a.values == ["eggs", "milk"])
  }

  @Test func `replica: each stamp is the next`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    let first = replica.stamp(after: 0)
    let second = replica.stamp(after: 41)
    #expect(first.change.number == 1)
    #expect(second.change.number == 2)
    #expect(second.lamport == 42)
  }

  @Test func `version: what a replica has seen`() {
    var alice = Replica(id: ReplicaID(high: 0, low: 1))
    var a = ReplicatingSet<String>()
    a.insert("milk", by: &alice)
    let seen = a.version
    a.insert("eggs", by: &alice)
    #expect(a.version[alice.id] == 2)
    #expect(a.version.isSuperset(of: seen) == true)
    #expect(seen.isSuperset(of: a.version) == false)
  }

  @Test func `register: a title`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var title = ReplicatingRegister("")
    title.assign("Shopping", at: 1_767_225_600_000, by: &replica)
    #expect(title.value == "Shopping")
    let size = ReplicatingRegister(12, at: 1_767_225_600_000, by: &replica)
    #expect(size.value == 12)
  }

  @Test func `add-only set: what was shown`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var shown = ReplicatingAddOnlySet<String>()
    shown.insert("welcome", by: &replica)
    #expect(shown.contains("welcome"))
  }

  @Test func `set: an addition beside a removal`() {
    var alice = Replica(id: ReplicaID(high: 0, low: 1))
    var bob = Replica(id: ReplicaID(high: 0, low: 2))
    var a = ReplicatingSet<String>()
    a.insert("home", by: &alice)
    var b = a
    a.remove("home", by: &alice)
    b.insert("home", by: &bob)
    #expect(a.merged(with: b).values == ["home"])
  }

  @Test func `dictionary: cities and settings`() throws {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var cities = ReplicatingDictionary<
      String, ReplicatingDictionary<String, ReplicatingSet<String>>
    >()
    cities.update("Italy", default: ReplicatingDictionary(), by: &replica) { country, replica in
      country.update("Rome", default: ReplicatingSet(), by: &replica) { tags, replica in
        tags.insert("travel", by: &replica)
      }
    }
    #expect(cities["Italy"]?["Rome"]?.values == ["travel"])

    var settings = ReplicatingDictionary<String, ReplicatingRegister<Int>>()
    settings.update("size", default: ReplicatingRegister(0), by: &replica) { size, replica in
      size.assign(12, at: 1_767_225_600_000, by: &replica)
    }
    #expect(settings["size"]?.value == 12)

    var tags = ReplicatingSet<String>()
    tags.insert("travel", by: &replica)
    var notes = ReplicatingDictionary<String, ReplicatingSet<String>>()
    try notes.set(tags, forKey: "Rome", by: &replica)
    #expect(notes["Rome"]?.values == ["travel"])
  }

  @Test func `ordered set: a list`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var list = ReplicatingOrderedSet<String>()
    list.insert("milk", at: 0, by: &replica)
    list.insert("eggs", at: 1, by: &replica)
    list.move("eggs", to: 0, by: &replica)
    #expect(list.values == ["eggs", "milk"])
  }

  @Test func `array: THECARE`() {
    var alice = Replica(id: ReplicaID(high: 0, low: 1))
    var bob = Replica(id: ReplicaID(high: 0, low: 2))
    var a = ReplicatingArray<Character>()
    a.insert(contentsOf: Array("THEAT"), at: 0, by: &alice)
    var b = a
    a.insert(contentsOf: ["C"], at: 3, by: &alice)
    b.insert(contentsOf: ["R", "E"], at: 5, by: &bob)
    b.remove(4..<5, by: &bob)
    a.merge(b)
    #expect(String(a.values) == "THECARE")
  }

  @Test func `text: bytes, and whole scalars`() {
    var alice = Replica(id: ReplicaID(high: 0, low: 1))
    var bob = Replica(id: ReplicaID(high: 0, low: 2))
    var a = ReplicatingText()
    a.insert("Grüße".utf8.span, at: 0, by: &alice)
    var b = a
    a.remove(2..<7, by: &alice)
    a.insert("een".utf8.span, at: 2, by: &alice)
    b.insert(" from home".utf8.span, at: b.count, by: &bob)
    a.merge(b)
    #expect(a.string == "Green from home")
  }

  @Test func `parts of a text`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var text = ReplicatingText("oat milk", by: &replica)
    #expect(text[4..<8] == "milk")
    text.replace(0..<3, with: "rice", by: &replica)
    #expect(text.string == "rice milk")
  }

  @Test func `editing: a list and tags`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var list = ReplicatingArray<String>()
    list.append(contentsOf: ["milk", "eggs", "bread"], by: &replica)
    list.remove(at: 1, by: &replica)
    #expect(list[1] == "bread")
    list.become(["oats", "bread"], by: &replica)
    #expect(list.joined(separator: ", ") == "oats, bread")

    var tags = ReplicatingSet<String>()
    tags.become(["work", "home"], by: &replica)
    tags.become(["home", "travel"], by: &replica)
    #expect(tags.sorted() == ["home", "travel"])
  }

  @Test func `text from strings and back`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var text = ReplicatingText("milk", by: &replica)
    text.append(", eggs", by: &replica)
    text.insert("oat ", at: 0, by: &replica)
    text.become("oat milk, two eggs", by: &replica)
    #expect(String(text) == "oat milk, two eggs")
  }

  @Test func `positions: other units than bytes`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var text = ReplicatingText()
    text.insert("aé😀\nb".utf8.span, at: 0, by: &replica)
    #expect(text.convert(7, from: .utf8, to: .utf16) == 4)
    #expect(text.convert(3, from: .utf16, to: .utf8) == nil)
    #expect(text.convert(1, from: .line, to: .utf8) == 8)
    #expect(text.offset(line: 0, column: 4, .utf16) == 7)
  }

  @Test func `text sum`() {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var text = ReplicatingText()
    text.insert("Hello".utf8.span, at: 0, by: &replica)
    var sum = TextFingerprint(of: text)
    sum.move(to: text.version)
    #expect(sum.value == sum.value(of: text.utf8))
  }

  @Test func `composed: a memo`() throws {
    var alice = Replica(id: ReplicaID(high: 0, low: 1))
    var bob = Replica(id: ReplicaID(high: 0, low: 2))
    var a = Memo(id: "shopping")
    a.text.insert("Milk".utf8.span, at: 0, by: &alice)
    var b = try Memo(encoded: a.encoded())
    b.title.assign("Shop", at: 1_767_225_600_000, by: &bob)
    a.tags.insert("errand", by: &alice)
    try a.apply(b.changes(since: a.version))
    #expect(a.title.value == "Shop")
    #expect(a.text.string == "Milk")
  }

  @Test func `replica: resumed`() throws {
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    var title = ReplicatingRegister("")
    title.assign("Shopping", at: 1_767_225_600_000, by: &replica)
    let kept = replica.saved.encoded() + title.encoded()
    var reader = ByteReader(kept)
    let saved = try SavedReplica(from: &reader)
    title = try ReplicatingRegister(from: &reader)
    replica = try Replica(resuming: saved, in: title.version)
    let number = replica.number  // replica.number
    #expect(number == 1)
  }

  @Test func `constant: an identity`() {
    let task = Task(id: "milk")
    #expect(task.id == "milk")
  }

  @Test func `encoding: a string`() throws {
    let bytes = "milk".encoded()
    #expect(bytes == [4, 109, 105, 108, 107])
    let isSame = try String(encoded: bytes) == "milk"
    #expect(isSame)
  }

  /// Every line of code in the descriptions is in this file: up to `  //`, behind which stands what comes out.
  @Test func `are the same as here`() throws {
    let tests = URL(filePath: #filePath)
    let sources = tests.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/ReplicatingTypes")
    let code = String(decoding: try Data(contentsOf: tests), as: UTF8.self).filter {
      !$0.isWhitespace
    }
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var lines = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let source = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      for line in source.split(separator: "\n") where line.hasPrefix("///     ") {
        let parts = line.dropFirst(4).split(separator: "  // ", maxSplits: 1)
        let expected = parts[0].filter { !$0.isWhitespace }
        #expect(code.contains(expected), "\(file.lastPathComponent): \(line)")
        lines += 1
      }
    }
    #expect(lines > 50)
  }
}
