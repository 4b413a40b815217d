/// The bytes of a document and the tape that says where its values are.
///
/// The tape has one entry for each value and each member name, in the order of the document, and one more
/// where an array or object ends. Eight bytes each: a message of 32 MiB must not become gigabytes.
final class JSONDocument: Sendable {
  struct Entry {
    /// Where the value starts in the bytes, or the closing bracket is.
    var position: UInt32
    /// Of an array or object: the index of its closing entry. Of a closing entry: how many values or
    /// members there are. Of a string: its end, with `escapeFlag`. Of every other value: its end.
    var extra: UInt32
  }

  /// Marks a string that holds at least one escape sequence.
  static let escapeFlag: UInt32 = 1 << 31

  let bytes: [UInt8]
  let tape: [Entry]

  init(bytes: [UInt8], tape: [Entry]) {
    self.bytes = bytes
    self.tape = tape
  }

  func firstByte(at index: Int) -> UInt8 { bytes[Int(tape[index].position)] }

  func isContainer(at index: Int) -> Bool {
    let byte = firstByte(at: index)
    return byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
  }

  func hasEscapes(at index: Int) -> Bool { tape[index].extra & Self.escapeFlag != 0 }

  /// The index of the closing entry of the array or object at `index`.
  func closing(of index: Int) -> Int { Int(tape[index].extra) }

  /// The number of values or members of the array or object at `index`.
  func count(at index: Int) -> Int { Int(tape[closing(of: index)].extra) }

  /// The index after the value at `index` and all that is in it.
  func indexAfterValue(at index: Int) -> Int {
    isContainer(at: index) ? closing(of: index) + 1 : index + 1
  }

  /// Where the value at `index` stands in the bytes.
  func byteRange(at index: Int) -> Range<Int> {
    let entry = tape[index]
    let end =
      isContainer(at: index)
      ? Int(tape[Int(entry.extra)].position) + 1 : Int(entry.extra & ~Self.escapeFlag)
    return Int(entry.position)..<end
  }

  /// Where the contents of the string at `index` stand in the bytes, without the quotation marks.
  func contentRange(at index: Int) -> Range<Int> {
    let entry = tape[index]
    return Int(entry.position) + 1..<Int(entry.extra & ~Self.escapeFlag) - 1
  }
}
