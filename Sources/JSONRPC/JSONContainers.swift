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
    let wanted = key.utf8.span
    let documentBytes = document.bytes
    let bytes = documentBytes.span
    var found: Int?
    var index = index + 1
    let end = document.closing(of: self.index)
    while index < end {
      let content = document.contentRange(at: index)
      if document.hasEscapes(at: index) {
        let name = JSONString.unescaped(bytes.extracting(content))
        if name.span.hasSameBytes(as: wanted) { found = index + 1 }
      } else if content.count == wanted.count,
        bytes.extracting(content).hasSameBytes(as: wanted)
      {
        found = index + 1
      }
      index = document.indexAfterValue(at: index + 1)
    }
    return found.map { JSONValue(document: document, index: $0) }
  }
}

extension Span<UInt8> {
  fileprivate func hasSameBytes(as other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] { return false }
    return true
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
