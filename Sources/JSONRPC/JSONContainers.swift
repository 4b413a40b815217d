extension JSONValue {
  /// The values of an array; nil for every other kind.
  public var array: JSONArray? {
    kind == .array ? JSONArray(document: document, index: index) : nil
  }

  /// The members of an object in the order of the document; none for every other kind.
  ///
  /// A name that is there twice comes twice.
  public var members: JSONMembers { JSONMembers(value: self) }

  /// The value of the object's member called `key`; nil if there is none, or if this is no object.
  ///
  /// Of members with the same name the last counts. Names are the same when their UTF-8 is:
  /// canonically equivalent names differ.
  ///
  /// - Complexity: O(number of members), not of what is in them.
  public subscript(key: String) -> JSONValue? {
    guard kind == .object else { return nil }
    return document.value(of: key.utf8.span, in: index)
      .map { JSONValue(document: document, index: $0) }
  }
}

extension JSONValue {
  /// The lengths that the names of an object's members have, in bytes. A name of another length is no member's, which is found out
  /// without a look at the members.
  public struct NameLengths: Sendable {
    /// Bit n stands for n bytes, the last one for all longer names, and for those whose length is not known without unescaping them.
    private var bits: UInt64 = 0
    private static let last = 63

    fileprivate init() {}

    fileprivate mutating func insert(_ count: Int?) {
      bits |= 1 << UInt64(min(count ?? Self.last, Self.last))
    }

    /// True if a name of so many bytes may be there.
    public func mayHave(_ count: Int) -> Bool {
      bits & (1 << UInt64(min(count, Self.last)) | 1 << UInt64(Self.last)) != 0
    }
  }

  /// The lengths of the names of an object's members; of every other kind none.
  ///
  /// - Complexity: O(number of members).
  public var nameLengths: NameLengths {
    var lengths = NameLengths()
    guard kind == .object else { return lengths }
    var index = index + 1
    let end = document.closing(of: self.index)
    while index < end {
      lengths.insert(document.hasEscapes(at: index) ? nil : document.contentRange(at: index).count)
      index = document.indexAfterValue(at: index + 1)
    }
    return lengths
  }
}

extension JSONDocument {
  /// The index of the value of the last member with a name in the object at `object`; nil if there is none.
  ///
  /// A message is asked for a dozen members, so the bytes and the tape are taken out of the document once, and not for each member.
  fileprivate func value(of wanted: Span<UInt8>, in object: Int) -> Int? {
    let (allBytes, allEntries) = (self.bytes, self.tape)
    let bytes = allBytes.span
    let tape = allEntries.span
    var found: Int?
    var index = object + 1
    let end = Int(tape[object].extra)
    while index < end {
      let (name, value) = (tape[index], index + 1)
      let start = Int(name.position) + 1
      let count = Int(name.extra & ~Self.escapeFlag) - 1 - start
      if name.extra & Self.escapeFlag != 0 {
        let text = JSONString.unescaped(bytes.extracting(start..<start + count))
        if text.span.hasSameBytes(as: wanted) { found = value }
      } else if count == wanted.count,
        bytes.extracting(start..<start + count).hasSameBytes(as: wanted)
      {
        found = value
      }
      let first = bytes[Int(tape[value].position)]
      let isContainer = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
      index = isContainer ? Int(tape[value].extra) + 1 : value + 1
    }
    return found
  }
}

/// The values of a JSON array, first to last.
public struct JSONArray: Sequence, Sendable {
  let document: JSONDocument
  let index: Int

  /// The number of values.
  public var count: Int { document.count(at: index) }

  /// True if there are no values.
  public var isEmpty: Bool { count == 0 }

  public var underestimatedCount: Int { count }

  public func makeIterator() -> Iterator {
    Iterator(document: document, index: index + 1, end: document.closing(of: index))
  }

  /// Steps from value to value in O(1), over what is in them.
  public struct Iterator: IteratorProtocol, Sendable {
    let document: JSONDocument
    var index: Int
    let end: Int

    public mutating func next() -> JSONValue? {
      guard index < end else { return nil }
      defer { index = document.indexAfterValue(at: index) }
      return JSONValue(document: document, index: index)
    }
  }
}

/// The members of a JSON object in the order of the document.
public struct JSONMembers: Sequence, Sendable {
  let value: JSONValue

  /// The number of members, doubled names counted twice.
  public var count: Int {
    value.kind == .object ? value.document.count(at: value.index) : 0
  }

  /// True if there are no members.
  public var isEmpty: Bool { count == 0 }

  public var underestimatedCount: Int { count }

  public func makeIterator() -> Iterator {
    let start = value.index + 1
    let end = value.kind == .object ? value.document.closing(of: value.index) : start
    return Iterator(document: value.document, index: start, end: end)
  }

  /// Steps from member to member in O(length of the name), over what is in the values.
  public struct Iterator: IteratorProtocol, Sendable {
    let document: JSONDocument
    var index: Int
    let end: Int

    public mutating func next() -> (name: String, value: JSONValue)? {
      guard index < end,
        let name = JSONValue(document: document, index: index).string
      else { return nil }
      let value = JSONValue(document: document, index: index + 1)
      index = document.indexAfterValue(at: index + 1)
      return (name, value)
    }
  }
}
