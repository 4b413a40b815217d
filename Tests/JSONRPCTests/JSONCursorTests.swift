import JSONRPC
import TestSupport
import Testing

/// A document read by a cursor, as far as that reads documents.
private indirect enum Value: Equatable {
  case text([UInt8])
  case count(Int)
  case boolean(Bool)
  case array([Value])
  case object([Member])

  struct Member: Equatable {
    var name: [UInt8]
    var value: Value
  }

  /// Reads by kind of the first byte, which the reader of a message knows.
  init?(_ cursor: inout JSONCursor, like value: JSONValue?) {
    switch value?.kind {
    case .string:
      guard let text = cursor.utf8() else { return nil }
      self = .text(text)
    case .number:
      guard let count = cursor.count() else { return nil }
      self = .count(count)
    case .boolean:
      guard let boolean = cursor.boolean() else { return nil }
      self = .boolean(boolean)
    case .array:
      var values: [Value] = []
      var iterator = value?.array?.makeIterator()
      guard
        cursor.array({ cursor in
          Value(&cursor, like: iterator?.next()).map { values.append($0) } != nil
        })
      else { return nil }
      self = .array(values)
    case .object:
      var members: [Member] = []
      var iterator = value?.members.makeIterator()
      guard
        cursor.object({ word, cursor in
          guard let (name, value) = iterator?.next(), word == JSONWord(name),
            let value = Value(&cursor, like: value)
          else { return false }
          members.append(Member(name: Array(name.utf8), value: value))
          return true
        })
      else { return nil }
      self = .object(members)
    case .null, nil: return nil
    }
  }

  /// The same of a value; nil if a cursor need not read it.
  init?(_ value: JSONValue) {
    switch value.kind {
    case .string: self = .text(value.utf8!)
    case .number:
      guard let number = value.integer, number >= 0,
        value.rawBytes.allSatisfy({ (48...57).contains($0) }), value.rawBytes.count <= 18
      else { return nil }
      self = .count(number)
    case .boolean: self = .boolean(value.boolean!)
    case .array:
      let values = value.array!.map(Value.init)
      guard !values.contains(where: { $0 == nil }) else { return nil }
      self = .array(values.map { $0! })
    case .object:
      var members: [Member] = []
      for (name, value) in value.members {
        guard let value = Value(value), JSONWord(name) != nil else { return nil }
        members.append(Member(name: Array(name.utf8), value: value))
      }
      self = .object(members)
    case .null: return nil
    }
  }
}

@Suite struct `Reading without a tape` {
  @Test(arguments: 0..<20) func `a cursor reads a document as its value is`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var read = 0
    for _ in 0..<500 {
      let bytes = Array(random.document().utf8)
      let value = try JSONValue(parsing: bytes)
      var cursor = JSONCursor(bytes)
      let found = Value(&cursor, like: value)
      let isAtEnd = cursor.isAtEnd()
      // The rest of a number that is no count is left.
      if let found, isAtEnd {
        read += 1
        #expect(found == Value(value), "\(String(decoding: bytes, as: UTF8.self))")
      } else if !bytes.contains(UInt8(ascii: "\\")) {
        #expect(Value(value) == nil, "\(String(decoding: bytes, as: UTF8.self))")
      }
    }
    #expect(read > 100)
  }

  @Test(arguments: 0..<20) func `what is no document is read by no call`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var refused = 0
    for _ in 0..<2_000 {
      var bytes = Array(random.chance(50) ? random.string().utf8 : random.number().utf8)
      for _ in 0..<Int.random(in: 1...2, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.remove(at: place)
        case 1: bytes[place] = random.pick([0, 10, 31, 34, 48, 92, 0x80, 0xC3, 0xED, 0xFF])
        default: bytes.removeSubrange(place...)
        }
      }
      let value = try? JSONValue(parsing: bytes)
      if value == nil { refused += 1 }
      var cursor = JSONCursor(bytes)
      if let text = cursor.utf8(), cursor.isAtEnd() { #expect(text == value?.utf8, "\(bytes)") }
      cursor = JSONCursor(bytes)
      if let count = cursor.count(), cursor.isAtEnd() {
        #expect(count == value?.integer, "\(bytes)")
      }
      cursor = JSONCursor(bytes)
      if let word = cursor.word(), cursor.isAtEnd() {
        #expect(value?.string.flatMap(JSONWord.init) == word, "\(bytes)")
      }
      cursor = JSONCursor(bytes)
      if let boolean = cursor.boolean(), cursor.isAtEnd() {
        #expect(boolean == value?.boolean, "\(bytes)")
      }
    }
    #expect(refused > 500)
  }

  @Test func `a word has 16 characters at most, and is one of them alone`() {
    let letters = "abcdefghijklmnopq"
    for count in 0...16 {
      let word = JSONWord(String(letters.prefix(count)))
      #expect(word != nil)
      // At each distance from the end of the document.
      for rest in 0..<20 {
        var cursor = JSONCursor(
          Array("\"\(letters.prefix(count))\"\(String(repeating: ",", count: rest))".utf8))
        #expect(cursor.word() == word)
      }
      #expect(word != JSONWord(String(letters.dropFirst().prefix(count))) || count == 0)
    }
    #expect(JSONWord("abcdefgh1") != JSONWord("abcdefgh2"))
    for none in [letters, "é", "a\\b", "a\"", "a\n", "a\u{0}", "\u{7F}\u{80}"] {
      #expect(JSONWord(none) == nil)
    }
    for document in ["\"a", "\"abcdefgh", "\"", "", "a", "\"abcdefghijklmnop"] {
      var cursor = JSONCursor(Array(document.utf8))
      #expect(cursor.word() == nil)
    }
  }

  @Test(arguments: ["t", "tru", "truth", "f", "fals", "null", "", "1", "True"])
  func `a part of a boolean is none`(text: String) {
    var cursor = JSONCursor(Array(text.utf8))
    #expect(cursor.boolean() == nil)
  }

  @Test(arguments: ["01", "-1", "1234567890123456789", "", "-", "x", "\"1\"", " "])
  func `a count consists of few digits`(text: String) {
    var cursor = JSONCursor(Array(text.utf8))
    #expect(cursor.count() == nil)
  }

  @Test(arguments: ["1.5", "1e2", "1E2", "1-", "1x", "0x1"])
  func `of another number nothing is left to go on with`(text: String) {
    for document in ["[\(text)]", "[\(text),2]"] {
      var cursor = JSONCursor(Array(document.utf8))
      #expect(!cursor.array { $0.count() != nil })
    }
  }

  @Test(arguments: ["[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", "{}", "[1]]"])
  func `an array that is not closed is none`(text: String) {
    var cursor = JSONCursor(Array(text.utf8))
    let isArray = cursor.array { $0.count() != nil }
    let isAtEnd = cursor.isAtEnd()
    #expect(!isArray || !isAtEnd)
  }

  @Test(
    arguments: [
      "{", "}", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}",
      "{\"a\" 1}", "{\"a\":1]", "{1:1}", "{\"a\":1 \"b\":2}", "[]",
    ])
  func `an object that is not closed is none`(text: String) {
    var cursor = JSONCursor(Array(text.utf8))
    #expect(!cursor.object { $1.count() != nil })
  }
}
