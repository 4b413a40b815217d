// The code in which the encodings of a sequence write one step of its history.
//
// A step is a run of one author: elements typed one after the other, inserted at once, or removed. Its first byte is its kind,
// its count and the beginning of the way there from where the last one ended. The distance is folded: 0, −1, 1, −2 are 0, 1, 2,
// 3. Of each kind and count there are so many bytes that stand for the least distances themselves, then so many for 256
// distances each, of which a second byte tells one, then so many for 65,536, with two more bytes, the lower first:
//
//     bytes         kind                            counts      alone   256   65,536
//       0 …  20     typed, each by its own change   1              5    13       3
//      21 …  28                                     2              3     4       1
//      29 …  76                                      3 … 18        1     1       1
//      77 … 114                                     19 … 56        1
//     115 … 126     inserted at once                 2 …  5        1     1       1
//     127 … 150                                      6 … 17        1     1
//     151 … 165                                     18 … 32        1
//     166 … 183     removed one by one, backward     2 …  7        1     1       1
//     184 … 186                                      8 … 10              1
//     187 … 200     removed one by one, forward     1              6     5       3
//     201 … 204                                      2 …  5              1
//     205 … 232     removed at once                  2 … 15              1       1
//     233 … 243                                     16 … 26              1
//     244 … 248     typed; inserted; backward; forward; at once: every other, its count less the least of its kind and
//                   its distance as varints
//     249 … 254     a note about the next step, by its kind, and a signed varint
//     255           a note that its number is 1 less than expected: an author's insertion that began in a run goes on
//
// A step has one encoding: what has a byte is not written as every other. The counts of bytes were found by what typing, removing
// and random edits need: most of typing is short runs near each other, and one that is far away takes three bytes.

/// One run of one author, as it is encoded.
struct Step: Equatable {
  enum Kind: Int, Equatable {
    /// Elements inserted by as many changes, and elements inserted by one.
    case typed, inserted
    case removedBackward, removedForward, removedAtOnce
  }

  var kind: Kind
  var count: Int

  @inline(__always) var isRemoval: Bool { kind != .typed && kind != .inserted }

  /// The number of changes that made it.
  @inline(__always)
  var changes: UInt64 { kind == .inserted || kind == .removedAtOnce ? 1 : UInt64(count) }

  /// The number of ticks of logical time that it takes.
  @inline(__always)
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

/// The first bytes of steps of one kind and so many elements.
private struct StepCodes {
  var kind: Step.Kind
  /// The least and the largest count.
  var least: Int
  var most: Int
  /// The first of these bytes.
  var first: Int
  /// For each count: how many stand for one distance, for 256, for 65,536.
  var alone: Int
  var bytes: Int
  var words: Int

  @inline(__always)
  private init(
    _ kind: Step.Kind, _ least: Int, _ most: Int, from first: Int, _ alone: Int, _ bytes: Int,
    _ words: Int
  ) {
    (self.kind, self.least, self.most, self.first) = (kind, least, most, first)
    (self.alone, self.bytes, self.words) = (alone, bytes, words)
  }

  @inline(__always) var width: Int { alone &+ bytes &+ words }
  static let firstOther = 244
  static let firstNote = 249
  static let numberAgain = 255

  /// Those of a first byte, which is less than `firstOther`.
  @inline(__always)
  init(of byte: Int) {
    switch byte {
    case ..<21: self.init(.typed, 1, 1, from: 0, 5, 13, 3)
    case ..<29: self.init(.typed, 2, 2, from: 21, 3, 4, 1)
    case ..<77: self.init(.typed, 3, 18, from: 29, 1, 1, 1)
    case ..<115: self.init(.typed, 19, 56, from: 77, 1, 0, 0)
    case ..<127: self.init(.inserted, 2, 5, from: 115, 1, 1, 1)
    case ..<151: self.init(.inserted, 6, 17, from: 127, 1, 1, 0)
    case ..<166: self.init(.inserted, 18, 32, from: 151, 1, 0, 0)
    case ..<184: self.init(.removedBackward, 2, 7, from: 166, 1, 1, 1)
    case ..<187: self.init(.removedBackward, 8, 10, from: 184, 0, 1, 0)
    case ..<201: self.init(.removedForward, 1, 1, from: 187, 6, 5, 3)
    case ..<205: self.init(.removedForward, 2, 5, from: 201, 0, 1, 0)
    case ..<233: self.init(.removedAtOnce, 2, 15, from: 205, 0, 1, 1)
    default: self.init(.removedAtOnce, 16, 26, from: 233, 0, 1, 0)
    }
  }
}

/// A first byte that stands for a kind, a count and the beginning of a distance.
private struct FirstByte {
  var kind: Step.Kind
  var count: UInt8
  /// The number of bytes of the distance that follow.
  var more: UInt8
  /// The least folded distance.
  var folded: Int32

  init(_ byte: Int) {
    let codes = StepCodes(of: byte)
    let (counts, code) = (byte - codes.first).quotientAndRemainder(dividingBy: codes.width)
    kind = codes.kind
    count = UInt8(codes.least + counts)
    if code < codes.alone {
      (more, folded) = (0, Int32(code))
    } else if code < codes.alone + codes.bytes {
      (more, folded) = (1, Int32((code - codes.alone) << 8 + codes.alone))
    } else {
      let word = code - codes.alone - codes.bytes
      (more, folded) = (2, Int32(word << 16 + codes.alone + codes.bytes << 8))
    }
  }

  /// All there are: to find one out takes a division, and a branch that can't be foreseen.
  static let all = (0..<StepCodes.firstOther).map { FirstByte($0) }
}

/// The first bytes of all kinds and counts.
///
/// They are written once, before `shared` is anybody's, and stay for as long as the program runs: an array is retained and released for each
/// step. An index is of one of five kinds, and at most `mostCount + 1` within its own.
struct StepTable: @unchecked Sendable {
  /// Of a kind and count the first bytes whose distance takes no other byte, one more, and two more.
  private struct Entry {
    /// The least folded distances of these, and the first that has no byte.
    var starts: InlineArray<4, Int32> = [0, 0, 0, 0]
    /// The first of these bytes.
    var firsts: InlineArray<4, UInt8> = [0, 0, 0, 0]
  }

  private static let mostCount = 56
  /// For each kind those of the counts up to the one after `mostCount`, which stands for all that follow and has no bytes.
  private let entries: UnsafePointer<Entry>

  static let shared = StepTable()

  private init() {
    let count = 5 * (Self.mostCount + 2)
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    entries.initialize(repeating: Entry(), count: count)
    for byte in 0..<StepCodes.firstOther {
      let codes = StepCodes(of: byte)
      let counts = (byte - codes.first) / codes.width
      let first = codes.first + counts * codes.width
      let near = codes.alone + codes.bytes << 8
      entries[Self.index(codes.kind, codes.least + counts)] = Entry(
        starts: [0, Int32(codes.alone), Int32(near), Int32(near + codes.words << 16)],
        firsts: [
          UInt8(first), UInt8(first + codes.alone), UInt8(first + codes.alone + codes.bytes), 0,
        ])
    }
    self.entries = UnsafePointer(entries)
  }

  @inline(__always)
  private static func index(_ kind: Step.Kind, _ count: Int) -> Int {
    kind.rawValue &* (mostCount &+ 2) &+ Int(min(UInt(bitPattern: count), UInt(mostCount &+ 1)))
  }

  /// The number of distances that have a byte.
  func reach(of step: Step) -> Int { Int(entries[Self.index(step.kind, step.count)].starts[3]) }

  /// The bytes of a step at a folded distance, the first in the lowest bits, and their number; `nil` if it is written like any other. How many
  /// there are is computed, since a branch would be foretold wrongly for every third step.
  @inline(__always)
  func bytes(of step: Step, _ folded: Int) -> (bytes: UInt32, count: Int)? {
    let index = Self.index(step.kind, step.count)
    guard folded >= 0, folded < Int(entries[index].starts[3]) else { return nil }
    let more =
      (folded >= Int(entries[index].starts[1]) ? 1 : 0)
      &+ (folded >= Int(entries[index].starts[2]) ? 1 : 0)
    let rest = folded &- Int(entries[index].starts[more])
    let first = Int(entries[index].firsts[more]) &+ rest &>> (more &<< 3)
    let bytes = first | (rest & ~(-1 &<< (more &<< 3))) &<< 8
    return (UInt32(truncatingIfNeeded: bytes), 1 &+ more)
  }
}

extension Step.Kind {
  /// The first byte of a step that has none by its count and distance.
  @inline(__always)
  fileprivate var other: Int { StepCodes.firstOther + rawValue }

  fileprivate init(other byte: Int) { self.init(rawValue: byte - StepCodes.firstOther)! }

  /// A single removed element is one that was removed forward.
  @inline(__always)
  fileprivate var least: Int { self == .typed || self == .removedForward ? 1 : 2 }
}

/// A writer to which steps are written.
protocol StepWriting: ~Copyable {
  var stepTable: StepTable { get }
  mutating func byte(_ byte: UInt8)
  mutating func varint(_ number: UInt64)
  /// Writes so many bytes, at most four, the first in the lowest bits.
  mutating func put(_ bytes: UInt32, count: Int)
}

extension StepWriting where Self: ~Copyable {
  /// Writes a step, and how far from where the last one ended it is.
  @inline(__always)
  mutating func step(_ step: Step, distance: Int) {
    let folded = distance &<< 1 ^ distance &>> 63
    if let (bytes, count) = stepTable.bytes(of: step, folded) {
      put(bytes, count: count)
    } else {
      byte(UInt8(step.kind.other))
      varint(UInt64(step.count - step.kind.least))
      varint(UInt64(bitPattern: Int64(folded)))
    }
  }

  mutating func note(_ note: StepNote, _ value: Int) {
    if note == .number && value == -1 { return byte(UInt8(StepCodes.numberAgain)) }
    byte(UInt8(StepCodes.firstNote) + note.rawValue)
    varint(UInt64(bitPattern: Int64(value) << 1 ^ Int64(value) >> 63))
  }
}

extension ByteWriter: StepWriting {
  var stepTable: StepTable { .shared }

  mutating func put(_ bytes: UInt32, count: Int) {
    var rest = bytes
    for _ in 0..<count {
      byte(UInt8(truncatingIfNeeded: rest))
      rest &>>= 8
    }
  }
}

extension ByteReader {
  enum StepOrNote {
    case step(Step, distance: Int)
    case note(StepNote, Int)
  }

  @inline(__always)
  mutating func stepOrNote() throws(DecodingFailure) -> StepOrNote {
    try stepOrNote(behind: try byte())
  }

  /// The same of one whose first byte was read before.
  @inline(__always)
  mutating func stepOrNote(behind byte: UInt8) throws(DecodingFailure) -> StepOrNote {
    let first = Int(byte)
    if first >= StepCodes.firstOther { return try otherOrNote(first) }
    let code = FirstByte.all[first]
    var folded = Int(code.folded)
    if code.more > 0 {
      folded &+= Int(try self.byte())
      if code.more > 1 { folded &+= Int(try self.byte()) &<< 8 }
    }
    return .step(
      Step(kind: code.kind, count: Int(code.count)), distance: folded &>> 1 ^ -(folded & 1))
  }

  @inline(never)
  private mutating func otherOrNote(_ first: Int) throws(DecodingFailure) -> StepOrNote {
    guard first < StepCodes.firstNote else { return try note(first) }
    let kind = Step.Kind(other: first)
    let more = try self.count()
    guard more <= Int(Int32.max) - kind.least else { throw failure("a step of \(more) elements") }
    let count = more + kind.least
    let folded = try self.count()
    let step = Step(kind: kind, count: count)
    guard folded >= StepTable.shared.reach(of: step) else {
      throw failure("a step written longer than it is")
    }
    return .step(step, distance: folded >> 1 ^ -(folded & 1))
  }

  private mutating func note(_ first: Int) throws(DecodingFailure) -> StepOrNote {
    guard let note = StepNote(rawValue: UInt8(first - StepCodes.firstNote)) else {
      return .note(.number, -1)
    }
    let value = try signed()
    guard note != .number || value != -1 else { throw failure("a note written longer than it is") }
    guard value.magnitude <= LamportTimestamp.largestCount else {
      throw failure("a note of \(value)")
    }
    return .note(note, Int(value))
  }

  /// Reads over what follows the first byte of a step of changes, or of a note with the element that it names.
  mutating func skipRest(behind first: UInt8) throws(DecodingFailure) {
    let first = Int(first)
    if first < StepCodes.firstOther {
      _ = try raw(Int(FirstByte.all[first].more))
    } else if case .note(.right, let author) = try otherOrNote(first), author != -1 {
      _ = try varint()
    }
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
