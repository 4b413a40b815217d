/// The edits of one author to one text, in UTF-8 bytes.
struct Trace {
  /// At `offset`, `removed` bytes go and a part of the trace's `inserted` comes.
  struct Edit {
    var offset: Int32
    var removed: Int32
    var start: Int32
    var count: Int32

    /// The part of `inserted`.
    var range: Range<Int> { Int(start)..<Int(start &+ count) }
  }

  /// The name in the table.
  var name: String
  var edits: [Edit] = []
  /// Everything that is inserted, one after the other.
  var inserted: [UInt8] = []
  /// The text after all edits.
  var end: [UInt8] = []

  /// Makes a trace without edits.
  init(name: String) { self.name = name }

  /// Appends an edit.
  mutating func append(at offset: Int, removing removed: Int, inserting new: [UInt8]) {
    edits.append(
      Edit(
        offset: Int32(offset), removed: Int32(removed), start: Int32(inserted.count),
        count: Int32(new.count)))
    inserted.append(contentsOf: new)
  }

  /// Its first edits, and the text after them.
  func prefix(_ count: Int) -> Trace {
    var part = Trace(name: name)
    part.edits = Array(edits.prefix(count))
    part.inserted = inserted
    var buffer = GapBuffer(capacity: inserted.count)
    buffer.replay(part)
    part.end = buffer.text
    return part
  }
}

extension GapBuffer {
  /// Makes all edits of a trace.
  mutating func replay(_ trace: Trace) {
    let inserted = trace.inserted.span
    for edit in trace.edits {
      replace(
        at: Int(edit.offset), removing: Int(edit.removed), with: inserted.extracting(edit.range))
    }
  }
}

/// Turns offsets in scalars into offsets in bytes, for edits most of which are near the one before.
struct ScalarOffsets {
  /// The widths of the scalars before the place of the last edit, and of those after it, the last scalar first.
  private var before: [UInt8] = []
  private var after: [UInt8] = []
  private var offset = 0

  /// Makes an edit in scalars; returns where it is, and how much it removes, in bytes.
  mutating func replace(
    at position: Int, removing count: Int, with new: [UInt8]
  ) -> (offset: Int, removed: Int) {
    while before.count > position {
      let width = before.removeLast()
      offset -= Int(width)
      after.append(width)
    }
    while before.count < position {
      let width = after.removeLast()
      offset += Int(width)
      before.append(width)
    }
    var removed = 0
    for _ in 0..<count { removed += Int(after.removeLast()) }
    let place = offset
    for width in Self.widths(of: new) {
      before.append(width)
      offset += Int(width)
    }
    return (place, removed)
  }

  private static func widths(of text: [UInt8]) -> [UInt8] {
    text.compactMap { byte -> UInt8? in
      switch byte {
      case 0x80..<0xC0: nil
      case 0xC0..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0...: 4
      default: 1
      }
    }
  }
}
