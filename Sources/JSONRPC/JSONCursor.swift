internal import Bytes

/// Reads the values of a document one after the other, without a tape (see `JSONDocument`).
///
/// It is for messages whose form is known and that come with each keystroke: a tape of one takes longer than all else that is done to read
/// it. Each call moves behind what its name says, and behind the white space before that. If something else stands there, it says so by
/// `false` or `nil`, and the document is to be read as a `JSONValue`, which knows what to say of it. So nothing may be taken here that
/// `JSONValue` refuses, or reads as another value; what it has to refuse it may.
public struct JSONCursor: ~Copyable {
  private let bytes: [UInt8]
  private var position = 0

  /// A cursor before the first value of a document.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// True if nothing but white space is left.
  public mutating func isAtEnd() -> Bool { next() == nil }

  /// Moves behind an object.
  ///
  /// - Parameter readMember: is given each name, and moves behind the value; false to give up.
  /// - Complexity: that of reading the values.
  @inlinable
  public mutating func object(_ readMember: (JSONWord, inout JSONCursor) -> Bool) -> Bool {
    guard skip(UInt8(ascii: "{")) else { return false }
    if skip(UInt8(ascii: "}")) { return true }
    repeat {
      guard let name = word(), skip(UInt8(ascii: ":")), readMember(name, &self) else {
        return false
      }
    } while skip(UInt8(ascii: ","))
    return skip(UInt8(ascii: "}"))
  }

  /// Moves behind an array.
  ///
  /// - Parameter readValue: moves behind each value; false to give up.
  /// - Complexity: that of reading the values.
  @inlinable
  public mutating func array(_ readValue: (inout JSONCursor) -> Bool) -> Bool {
    guard skip(UInt8(ascii: "[")) else { return false }
    if skip(UInt8(ascii: "]")) { return true }
    repeat {
      guard readValue(&self) else { return false }
    } while skip(UInt8(ascii: ","))
    return skip(UInt8(ascii: "]"))
  }

  /// Moves behind a byte that is no part of a value; false if that is not what comes.
  @usableFromInline
  mutating func skip(_ byte: UInt8) -> Bool {
    guard next() == byte else { return false }
    position += 1
    return true
  }

  /// Moves behind `true` or `false`.
  public mutating func boolean() -> Bool? {
    switch next() {
    case UInt8(ascii: "t") where hasBytes(of: "true"): true
    case UInt8(ascii: "f") where hasBytes(of: "false"): false
    default: nil
    }
  }

  private mutating func hasBytes(of literal: String) -> Bool {
    for byte in literal.utf8 {
      guard position < bytes.count, bytes[position] == byte else { return false }
      position += 1
    }
    return true
  }

  /// Moves behind a whole number from 0 that consists of 18 digits at most, and nothing else. What may follow in another number, as a fraction,
  /// is not what the next call expects.
  public mutating func count() -> Int? {
    _ = next()
    var end = position
    var value = 0
    while end < bytes.count {
      let digit = bytes[end] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value &* 10 &+ Int(digit)
      end += 1
    }
    let count = end - position
    guard 1...18 ~= count, count == 1 || bytes[position] != UInt8(ascii: "0") else { return nil }
    position = end
    return value
  }

  /// Moves behind a string of 16 characters of ASCII at most, none of them escaped.
  public mutating func word() -> JSONWord? {
    guard next() == UInt8(ascii: "\"") else { return nil }
    let start = position + 1
    var first = plainBytes(at: start)
    var second = (word: ByteWord.none, count: 0)
    if first.count == ByteWord.size {
      second = plainBytes(at: start + ByteWord.size)
    } else {
      first.word = first.word.prefix(first.count)
    }
    let end = start + first.count + second.count
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
    position = end + 1
    return JSONWord(first.word, second.word.prefix(second.count))
  }

  /// Eight bytes of a string, and how many of the first ones stand for themselves. Behind the end of the document are zeros, which do not.
  @inline(__always)
  private func plainBytes(at start: Int) -> (word: ByteWord, count: Int) {
    let bytes = bytes.span
    let left = bytes.count - start
    let word =
      left >= ByteWord.size
      ? ByteWord(bytes, at: start) : ByteWord(bytes, at: start, count: left)
    return (word, ByteWord.countBefore(JSONString.marksOfOthers(word)))
  }

  /// Moves behind a string, and returns its contents as UTF-8.
  ///
  /// - Complexity: O(length of the string).
  public mutating func utf8() -> [UInt8]? {
    guard next() == UInt8(ascii: "\"") else { return nil }
    let start = position + 1
    do throws(JSONError) {
      var end = position
      let hasEscapes = try JSONString.scan(bytes.span, from: &end)
      position = end
      let contents = start..<end - 1
      return hasEscapes
        ? JSONString.unescaped(bytes.span.extracting(contents)) : Array(bytes[contents])
    } catch { return nil }
  }

  /// Moves to the next byte that is no white space and returns it; nil at the end.
  @inline(__always)
  private mutating func next() -> UInt8? {
    var place = position
    let byte = JSONParser.skipSpace(bytes.span, &place)
    position = place
    return byte
  }
}

/// A short string of a document: 16 characters of ASCII at most. Two of them are compared without a look at their characters.
public struct JSONWord: Equatable, Sendable {
  private let first: ByteWord
  private let second: ByteWord

  fileprivate init(_ first: ByteWord, _ second: ByteWord) {
    (self.first, self.second) = (first, second)
  }

  /// The word with these characters; nil if they are no word.
  public init?(_ text: String) {
    var cursor = JSONCursor(Array("\"\(text)\"".utf8))
    guard let word = cursor.word(), cursor.isAtEnd() else { return nil }
    self = word
  }
}
