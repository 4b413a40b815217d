import TestSupport
import Testing

@testable import NotesServer

/// A text that a program has saved does not say which text the program had read: the mirror sees the reading.
@Suite("What programs have read of a mirrored file", .computing) struct MirrorReadingTests {
  private let scratch = TemporaryFolder()
  private let tree = MemoryTree("/mirror")
  private let peer: Peer
  private let id: String

  private static let list = "Tasks\n\n- call Ben about the boiler\n- buy milk\n- dentist\n"

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"), mirror: tree)
    peer.initialize()
    peer.run(for: .seconds(5))
    id = peer.create(["title": "a", "text": .string(Self.list)])
    peer.run(for: .seconds(2))
  }

  private var text: String { peer.text(id) }
  private var messages: [String] {
    peer.take("window/showMessage").map { $0["message"]!.string! }
  }

  private func type(_ line: String) {
    peer.call("note/setText", ["id": .string(id), "text": .string(text + line)])
    peer.run(for: .seconds(1))
  }

  private func save(_ text: String) {
    tree.write(text, "a.md")
    peer.run(for: .seconds(4))
    #expect(tree.text("a.md") == self.text)
  }

  @Test(arguments: ["- call Ben about the boiler\n", "- call Ben about the invoice\n", "- x\n"])
  func `a line that no program has read stays`(_ line: String) {
    for round in 1...2 {
      let old = tree.load("a.md")!
      type(line)
      save(old.replacing("dentist", with: "dentist at \(round)"))
      #expect(text == old.replacing("dentist", with: "dentist at \(round)") + line)
    }
    #expect(messages == [])
  }

  @Test func `a line that a program has read and deleted is gone, and its user is told`() {
    let line = "- call Ben about the boiler\n"
    for _ in 1...3 {
      let old = text
      type(line)
      #expect(tree.load("a.md") == old + line)
      save(old)
      #expect(text == old)
      let told = messages
      #expect(told.count == 1 && told[0].contains("a.md was saved without"))
      #expect(told[0].contains("\"- call Ben about the boiler\""))
      #expect(told[0].contains("history \(id)"))
    }
  }

  /// An indexer reads what was written, and an editor reads the file before it writes over it.
  @Test func `a line stays that is read by the way before an older text is saved`() {
    for round in 1...2 {
      let old = tree.load("a.md")!
      let line = "- call Ben about the boiler\n"
      type(line)
      _ = tree.load("a.md")
      save(old.replacing("dentist", with: "dentist at \(round)"))
      #expect(text == old.replacing("dentist", with: "dentist at \(round)") + line)
    }
    #expect(messages == [])
  }

  /// The program has not read the second line: what is read after its save is its own text.
  @Test func `a line stays of which a program reads no more after an older text is saved`() {
    let old = text
    type("- call Ben about the boiler\n")
    #expect(tree.load("a.md") == text)
    type("- buy bread\n")
    tree.write(old, "a.md")
    peer.run(for: .milliseconds(500))
    #expect(tree.load("a.md") == old)
    peer.run(for: .seconds(4))
    #expect(text == old + "- buy bread\n")
    #expect(tree.text("a.md") == text)
  }

  @Test func `a text with what was read where that is not reported is made on that`() {
    let old = text
    type("- write the long report about the boiler\n")
    let new = text.replacing("milk", with: "oat milk")
    save(new)
    #expect(text == new && text != old)
    #expect(messages == [])
  }

  @Test(arguments: ["- x\n", "- call Ben about the boiler\n"])
  func `what is appended to a file that was not read stands behind all that is there`(
    _ line: String
  ) {
    let old = text
    type(line)
    save(old + line + "- more\n")
    #expect(text == old + line + "- more\n")
  }

  // MARK: - Lists

  private static let beginnings = [
    "- call Ben", "- call Ben about the boiler", "- call Ben about the invoice", "- buy milk",
    "- buy milk and bread", "- [ ] buy milk", "- write", "- write the report",
  ]

  /// One program and one who types. Every line of the program has a number; those that are typed are there already, mostly.
  @Test(arguments: seeds(150))
  func `no typed line is missing, no deleted one is back and none is there twice`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var expected = Self.count(text)
    var buffer = text
    /// What the program has saved last.
    var saved = text
    var log: [String] = []
    func typeSome() {
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let line = random.pick(Self.beginnings)
      expected[line, default: 0] += 1
      lines.insert(line, at: random.below(lines.count))
      log.append("types \(line) in line")
      peer.call(
        "note/setText", ["id": .string(id), "text": .string(lines.joined(separator: "\n"))])
    }
    func pause() {
      var rest = random.pick([100, 300, 700, 2000, 10_000])
      while rest > 0 {
        if random.chance(30) { typeSome() }
        let step = min(rest, random.pick([50, 200, 1000, 3000]))
        peer.run(for: .milliseconds(step))
        rest -= step
      }
    }
    for round in 0..<8 {
      /// True if the program has read the last state.
      var isFresh = false
      if random.chance(60) {
        buffer = tree.load("a.md")!
        isFresh = true
        log.append("reads")
      }
      if random.chance(80) {
        pause()
        isFresh = isFresh && buffer == text
      }
      var lines = buffer.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let isTakenBack = isFresh && buffer != saved && random.chance(30)
      if isTakenBack {
        // What came since the last save is deleted.
        let (present, earlier) = (Self.count(buffer), Self.count(saved))
        for (line, count) in present {
          expected[line, default: 0] += earlier[line, default: 0] - count
        }
        lines = saved.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        log.append("takes back")
      }
      let known = Self.count(saved)
      for _ in 0...random.below(2) where !isTakenBack {
        let place = random.below(lines.count)
        if random.chance(60), place < lines.count - 1, lines[place].hasPrefix("-"),
          known[lines[place]] == Self.count(buffer)[lines[place]]
        {
          let line = lines.remove(at: place)
          expected[line, default: 0] -= 1
          log.append("deletes \(line)")
        } else {
          let line = "- number \(round) \(random.below(1000))"
          lines.insert(line, at: place)
          expected[line, default: 0] += 1
          log.append("adds \(line)")
        }
      }
      buffer = lines.joined(separator: "\n")
      saved = buffer
      log.append("saves \(buffer.debugDescription) over \(tree.text("a.md")!.debugDescription)")
      if random.chance(50) {
        tree.write(buffer, "a.md")
      } else {
        tree.writeAtomically(buffer, "a.md")
      }
      // What is left there for 200 milliseconds is read.
      peer.run(for: .milliseconds(2300))
      log.append("has \(text.debugDescription)")
    }
    peer.run(for: .seconds(5))
    #expect(tree.text("a.md") == text)
    let found = Self.count(text)
    let lines = Set(expected.keys).union(found.keys)
    let wrong = lines.filter { expected[$0, default: 0] != found[$0, default: 0] }.sorted()
    #expect(wrong.isEmpty, "\(at(seed)) \(wrong) \(log.joined(separator: "; "))")
  }

  private static func count(_ text: String) -> [String: Int] {
    text.split(separator: "\n").reduce(into: [:]) { $0[String($1), default: 0] += 1 }
  }
}
