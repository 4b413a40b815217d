internal import Bytes

/// Writes one JSON value, without white space, in the order of the calls.
///
/// Commas come by themselves. That calls nest and every `key` is followed by a value is up to the
/// caller: a wrong order gives wrong JSON, not a trap.
///
/// Text is escaped where JSON demands it and nowhere else, so it stays readable and one byte a byte.
/// U+0000 comes out as U+FFFD: some clients throw away a whole message that holds an escaped one.
public struct JSONWriter: Sendable {
  /// The text that has been written, in UTF-8.
  public private(set) var bytes: [UInt8] = []

  /// True if a value ends here, so that another one needs a comma.
  private var needsComma = false

  /// Creates a writer that has written nothing.
  public init() {}

  /// Forgets what has been written and keeps the memory, unless there is more than `limit` bytes of it.
  mutating func reset(keepingAtMost limit: Int) {
    if bytes.capacity > limit {
      bytes = []
    } else {
      bytes.removeAll(keepingCapacity: true)
    }
    needsComma = false
  }

  /// Opens an object: keys and values follow, up to `endObject`.
  public mutating func beginObject() { begin(UInt8(ascii: "{")) }

  /// Closes the object opened last.
  public mutating func endObject() { end(UInt8(ascii: "}")) }

  /// Opens an array: values follow, up to `endArray`.
  public mutating func beginArray() { begin(UInt8(ascii: "[")) }

  /// Closes the array opened last.
  public mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Writes the name of a member; its value follows.
  public mutating func key(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a string.
  ///
  /// - Complexity: O(length of `text`).
  public mutating func string(_ text: String) {
    beginString()
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    endString(from: start)
  }

  /// Writes a string whose contents are `utf8`, which must be valid UTF-8.
  ///
  /// - Complexity: O(`utf8.count`).
  public mutating func string(utf8: [UInt8]) {
    beginString()
    let start = bytes.count
    bytes.append(contentsOf: utf8)
    endString(from: start)
  }

  /// Writes a string whose contents are `utf8`, which must be valid UTF-8.
  ///
  /// - Complexity: O(`utf8.count`).
  public mutating func string(utf8: ArraySlice<UInt8>) {
    beginString()
    let start = bytes.count
    bytes.append(contentsOf: utf8)
    endString(from: start)
  }

  /// Writes a string whose contents are `utf8`, which must be valid UTF-8.
  ///
  /// - Complexity: O(`utf8.count`).
  public mutating func string(utf8: some Collection<UInt8>) { string(utf8: Array(utf8)) }

  /// Writes a whole number.
  public mutating func integer(_ number: Int) {
    beginValue()
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    digits(UInt64(number.magnitude))
  }

  /// Writes a whole number that is not negative.
  public mutating func unsigned(_ number: UInt64) {
    beginValue()
    digits(number)
  }

  /// Writes `true` or `false`.
  public mutating func boolean(_ value: Bool) {
    beginValue()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Writes `null`.
  public mutating func null() {
    beginValue()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a value that is JSON already, such as `JSONValue.rawBytes`.
  ///
  /// It comes out as it is, except that line breaks between its tokens become spaces, since a frame may
  /// have to be one line, and `\u0000` becomes `\ufffd`.
  ///
  /// - Complexity: O(length of `json`).
  public mutating func raw(_ json: some Sequence<UInt8>) {
    beginValue()
    let start = bytes.count
    bytes.append(contentsOf: json)
    var next = start
    while next < bytes.count {
      if bytes.count - next >= ByteWord.size {
        let word = ByteWord(bytes.span, at: next)
        let marks = word.marks(below: 0x20) | word.marks(of: UInt8(ascii: "\\"))
        next += ByteWord.countBefore(marks)
        if marks == 0 { continue }
      }
      if bytes[next] < 0x20 {
        // Control characters stand only between tokens: strings hold none that are not escaped.
        bytes[next] = 0x20
      } else if bytes[next] == UInt8(ascii: "\\") {
        // Step over the escaped character, which may be a backslash.
        next += 1
        if bytes.count - next >= 5, bytes[next] == UInt8(ascii: "u"),
          bytes[(next + 1)...(next + 4)].allSatisfy({ $0 == UInt8(ascii: "0") })
        {
          bytes.replaceSubrange((next + 1)...(next + 4), with: "fffd".utf8)
        }
      }
      next += 1
    }
  }

  /// Writes a value that is what another writer has written, as it is.
  ///
  /// - Complexity: O(length of `json`).
  public mutating func written(_ json: [UInt8]) {
    beginValue()
    bytes.append(contentsOf: json)
  }

  /// Writes a part of a message as it stands.
  ///
  /// - Parameter isEnd: whether it ends with a value.
  mutating func literal(_ json: StaticString, endsValue isEnd: Bool = false) {
    json.withUTF8Buffer { bytes.append(contentsOf: $0) }
    needsComma = isEnd
  }

  private mutating func begin(_ bracket: UInt8) {
    beginValue()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func beginValue() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func digits(_ number: UInt64) {
    if number < 10 {
      bytes.append(UInt8(ascii: "0") + UInt8(number))
      return
    }
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var first = 20
    var rest = number
    while rest > 0 {
      first -= 1
      digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    for index in first..<20 { bytes.append(digits[index]) }
  }

  private mutating func beginString() {
    beginValue()
    bytes.append(UInt8(ascii: "\""))
  }

  /// Escapes the contents that stand from `start` on as they are, and closes the string.
  private mutating func endString(from start: Int) {
    JSONString.escape(&bytes, from: start)
    bytes.append(UInt8(ascii: "\""))
  }
}

extension JSONWriter {
  /// Writes a member of an object whose value is a text.
  ///
  /// - Complexity: O(length of `value`).
  public mutating func member(_ name: String, _ value: String) {
    key(name)
    string(value)
  }

  /// Writes a member of an object whose value is a whole number.
  public mutating func member(_ name: String, _ value: Int) {
    key(name)
    integer(value)
  }

  /// Writes a member of an object whose value is `true` or `false`.
  public mutating func member(_ name: String, _ value: Bool) {
    key(name)
    boolean(value)
  }

  /// Writes a member of an object whose value is an array of texts.
  ///
  /// - Complexity: O(length of all of them).
  public mutating func member(_ name: String, _ values: [String]) {
    key(name)
    beginArray()
    for value in values { string(value) }
    endArray()
  }
}
