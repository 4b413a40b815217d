import Foundation
import ReplicatingTypes
import TestSupport
import Testing

/// What `Sources/ReplicatingTypes/README.md` says, held against the code.
@Suite final class `The description of the library` {
  private var alice = Replica(id: ReplicaID(high: 0, low: 0xA1))
  private var bob = Replica(id: ReplicaID(high: 0, low: 0xB2))

  private static func lines() throws -> [Substring] {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    let readme = tests.deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/ReplicatingTypes/README.md")
    return String(decoding: try Data(contentsOf: readme), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The bytes of an example: in the lines that follow its name, hexadecimal up to the bar.
  private static func bytes(of example: String) throws -> [UInt8] {
    let lines = try lines()
    let start = try #require(lines.firstIndex { $0 == "    example: \(example)" })
    var bytes: [UInt8] = []
    for line in lines[(start + 1)...].prefix(while: { $0.hasPrefix("    ") }) {
      var digits = line.prefix { $0 != "|" }.filter { $0 != " " }[...]
      while !digits.isEmpty {
        bytes.append(try #require(UInt8(digits.prefix(2), radix: 16), "\(line)"))
        digits = digits.dropFirst(2)
      }
    }
    return bytes
  }

  /// The bytes as the examples have them, for whoever writes one.
  private static func hex(_ bytes: [UInt8]) -> Comment {
    let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    return "the code writes \(digits.joined(separator: " "))"
  }

  private static func expect<Value: BinaryCodable>(_ example: String, _ value: Value) throws {
    let bytes = value.encoded()
    #expect(try Self.bytes(of: example) == bytes, hex(bytes))
    #expect(try Value(encoded: bytes).encoded() == bytes, "\(example), read and written again")
  }

  /// The text of the examples in bytes, and what both had seen when they parted.
  private func text() -> (text: ReplicatingText, parted: Version) {
    var text = ReplicatingText()
    text.insert("a".utf8.span, at: 0, by: &alice)
    text.insert("c".utf8.span, at: 1, by: &alice)
    let parted = text.version
    var other = text
    other.insert("b".utf8.span, at: 1, by: &bob)
    text.insert("d".utf8.span, at: 2, by: &alice)
    text.insert("x".utf8.span, at: 1, by: &alice)
    text.remove(2..<3, by: &alice)
    text.merge(other)
    return (text, parted)
  }

  @Test func `has the bytes of a sequence and of its changes`() throws {
    let (text, parted) = text()
    #expect(text.string == "axbd")
    try Self.expect("sequence", text)
    try Self.expect("changes", text.changes(since: parted))
  }

  @Test func `has the bytes of a register, a set and a dictionary`() throws {
    var register = ReplicatingRegister("no")
    try Self.expect("register that nobody wrote", register)
    register.assign("yes", at: 3, by: &alice)
    try Self.expect("register", register)

    var set = ReplicatingSet<String>()
    set.insert("p", by: &bob)
    set.remove("p", by: &bob)
    set.insert("q", by: &bob)
    try Self.expect("set", set)

    var letters = ReplicatingAddOnlySet(array: ["b", "a"], by: &alice)
    for letter in ["z", "y"] { letters.insert(letter, by: &alice) }
    try Self.expect("add-only set", letters)

    var carol = Replica(id: ReplicaID(high: 0, low: 0xC3))
    var dictionary = ReplicatingDictionary<String, ReplicatingAddOnlySet<String>>()
    dictionary.update("k", default: ReplicatingAddOnlySet(), by: &carol) { $0.insert("e", by: &$1) }
    dictionary.remove("k", by: &carol)
    try Self.expect("dictionary", dictionary)
  }

  @Test func `has an example that works`() throws {
    var (mine, theirs) = (ReplicatingText(), ReplicatingText())
    mine.insert("Milk\n".utf8.span, at: 0, by: &alice)
    theirs.insert("Eggs\n".utf8.span, at: 0, by: &bob)
    let sent = mine.changes(since: theirs.version).encoded()
    try theirs.apply(ReplicatingText.Changes(encoded: sent))
    try mine.apply(theirs.changes(since: mine.version))
    #expect(mine.string == theirs.string)
    #expect(mine.string == "Eggs\nMilk\n")
    let saved = theirs.encoded()
    let isSame = try ReplicatingText(encoded: saved) == theirs
    #expect(isSame)

    // Its lines are these, up to `  //`, behind which stands what comes out.
    let lines = try Self.lines()
    let start = try #require(lines.firstIndex { $0.contains("import ReplicatingTypes") })
    let code = String(decoding: try Data(contentsOf: URL(filePath: #filePath)), as: UTF8.self)
    for line in lines[(start + 1)...].prefix(while: { $0.isEmpty || $0.hasPrefix("    ") }) {
      guard let text = line.split(separator: "  //").first?.filter({ !$0.isWhitespace }) else {
        continue
      }
      if text.hasPrefix("varalice") || text.hasPrefix("varbob") { continue }
      #expect(code.filter { !$0.isWhitespace }.contains(text), "\(line)")
    }
  }

  // MARK: - The order

  @Test func `tells what two people get who type backward at one place`() {
    var (a, b) = (ReplicatingText(), ReplicatingText())
    for letter in ["c", "b", "a"] { a.insert(letter.utf8.span, at: 0, by: &alice) }
    for letter in ["z", "y", "x"] { b.insert(letter.utf8.span, at: 0, by: &bob) }
    #expect(a.merged(with: b).string == "xyzabc")
    #expect(b.merged(with: a).string == "xyzabc")
  }

  @Test func `tells where an insertion beside a removed element goes`() {
    var a = ReplicatingText()
    a.insert("abc".utf8.span, at: 0, by: &alice)
    var b = a
    a.remove(1..<2, by: &alice)
    a.insert("X".utf8.span, at: 1, by: &alice)
    b.insert("Y".utf8.span, at: 2, by: &bob)
    #expect(a.merged(with: b).string == "aXYc")
  }

  @Test func `tells how siblings with different right origins stand`() {
    var carol = Replica(id: ReplicaID(high: 0, low: 0xC3))
    var dave = Replica(id: ReplicaID(high: 0, low: 0xD4))
    var a = ReplicatingText()
    a.insert("()".utf8.span, at: 0, by: &alice)
    var b = a
    a.insert("a".utf8.span, at: 1, by: &alice)
    b.insert("b".utf8.span, at: 1, by: &bob)
    var c = b
    c.insert("x".utf8.span, at: 2, by: &carol)
    var d = a.merged(with: b)
    #expect(d.string == "(ba)")
    d.insert("y".utf8.span, at: 2, by: &dave)
    #expect(c.merged(with: d).string == "(bxya)")
    #expect(d.merged(with: c).string == "(bxya)")
  }
}
