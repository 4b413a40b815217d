// The code in which the encodings of a sequence write one step of its history.
//
// A step is a run of one author: elements typed one after the other, inserted at once, or removed. It is a byte, which
// has its kind, its count if that is small, and whether it is somewhere else than where the last one ended; then the rest
// of a larger count; then the way there. Seven bits for kind and count, the lowest for having moved:
//
//       0 …  63   typed, 1 … 63 elements, each by its own change   63: and a varint more
//      64 …  79   inserted at once, 2 … 16                          79: likewise
//      80 … 103   removed one by one, backward, 2 … 24             103: likewise
//     104 … 119   removed one by one, forward, 1 … 15              119: likewise
//     120 … 126   removed at once, 2 … 7                           126: likewise
//     127         a note about the next step: what it is, and a signed varint
//
// Typing consists of short runs near each other, so most steps are one byte or two.

/// One run of one author, as it is encoded.
struct Step: Equatable {
  enum Kind: Equatable {
    /// Elements inserted by as many changes, and elements inserted by one.
    case typed, inserted
    case removedBackward, removedForward, removedAtOnce
  }

  var kind: Kind
  var count: Int

  var isRemoval: Bool { kind != .typed && kind != .inserted }

  /// The number of changes that made it.
  var changes: UInt64 { kind == .inserted || kind == .removedAtOnce ? 1 : UInt64(count) }

  /// The number of ticks of logical time that it takes.
  var ticks: UInt64 { kind == .removedAtOnce ? 1 : UInt64(count) }
}

/// A note before a step that isn't as expected.
enum StepNote: UInt8 {
  /// The number of its first change, and the logical time of an insertion, less what is expected.
  case number, lamport
  /// Whose step it is.
  case author
  /// To which author's element its place is relative.
  case place
  /// It follows this element: its author and offset. It precedes that element.
  case left, right

  /// The notes of a step stand in this order, each once at most.
  private var rank: Int {
    switch self {
    case .author: 0
    case .number: 1
    case .place: 2
    case .lamport: 3
    case .left: 4
    case .right: 5
    }
  }

  func isAllowed(after last: StepNote?) -> Bool { last.map { $0.rank < rank } ?? true }
}

/// The codes of one kind of step: how many there are from the first one on, which stands for the least count.
private struct CodeRange {
  var first: Int
  var width: Int
  var least: Int

  @inline(__always)
  init(_ kind: Step.Kind) {
    (first, width, least) =
      switch kind {
      case .typed: (0, 64, 1)
      case .inserted: (64, 16, 2)
      case .removedBackward: (80, 24, 2)
      case .removedForward: (104, 16, 1)
      case .removedAtOnce: (120, 7, 2)
      }
  }

  static let note = 127
}

extension ByteWriter {
  /// Writes a step, and how far from where the last one ended it is.
  mutating func step(_ step: Step, distance: Int) {
    let range = CodeRange(step.kind)
    let rest = step.count - range.least
    let code = range.first + min(rest, range.width - 1)
    byte(UInt8(code << 1 | (distance == 0 ? 0 : 1)))
    if rest >= range.width - 1 { varint(rest - (range.width - 1)) }
    // Never zero, so that zero need not be writable.
    if distance != 0 { varint(Self.folded(distance) - 1) }
  }

  mutating func note(_ note: StepNote, _ value: Int) {
    byte(UInt8(CodeRange.note << 1))
    byte(note.rawValue)
    signed(Int64(value))
  }

  private static func folded(_ number: Int) -> Int { number << 1 ^ number >> 63 }
}

extension ByteReader {
  enum StepOrNote {
    case step(Step, distance: Int)
    case note(StepNote, Int)
  }

  @inline(__always)
  mutating func stepOrNote() throws(DecodingFailure) -> StepOrNote {
    let byte = try byte()
    let code = Int(byte >> 1)
    if code == CodeRange.note { return try note(byte) }
    let kind = Self.kind(of: code)
    let range = CodeRange(kind)
    var count = code &- range.first &+ range.least
    if code == range.first &+ range.width &- 1 { count += try self.count() }
    guard count <= Int(Int32.max) else { throw failure("a step of \(count) elements") }
    guard byte & 1 == 1 else { return .step(Step(kind: kind, count: count), distance: 0) }
    let folded = try self.count() &+ 1
    return .step(
      Step(kind: kind, count: count), distance: folded &>> 1 ^ -(folded & 1))
  }

  @inline(__always)
  private static func kind(of code: Int) -> Step.Kind {
    switch code {
    case ..<64: .typed
    case ..<80: .inserted
    case ..<104: .removedBackward
    case ..<120: .removedForward
    default: .removedAtOnce
    }
  }

  private mutating func note(_ byte: UInt8) throws(DecodingFailure) -> StepOrNote {
    let kind = try self.byte()
    guard byte & 1 == 0, let note = StepNote(rawValue: kind) else {
      throw failure("a note of an unknown kind")
    }
    let value = try signed()
    guard value.magnitude <= LamportTimestamp.largestCount else {
      throw failure("a note of \(value)")
    }
    return .note(note, Int(value))
  }
}

// MARK: - Elements

extension ByteWriter {
  /// A count of elements, and the elements.
  mutating func elements<Element: BinaryCodable>(_ elements: [Element]) {
    varint(elements.count)
    if Element.self == UInt8.self {
      raw(same(elements, as: [UInt8].self))
    } else {
      for element in elements { element.encode(into: &self) }
    }
  }
}

extension ByteReader {
  /// Reads what `ByteWriter.elements` wrote. An element takes a byte at least: no count can promise more than there is.
  mutating func elements<Element: BinaryCodable>() throws(DecodingFailure) -> [Element] {
    let count = try count()
    guard count <= remaining else { throw failure("\(count) elements in \(remaining) bytes") }
    if Element.self == UInt8.self { return same(Array(try raw(count)), as: [Element].self) }
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try Element(from: &self)) }
    return elements
  }
}
