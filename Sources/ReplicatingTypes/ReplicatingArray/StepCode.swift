// The code in which the changes of a sequence write one step.
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
//     249 … 252     a note about the next step, by its kind, and a signed varint
//     253           a note that its number is 1 less than expected: an author's insertion that began in a run goes on
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

/// A note before a step that isn't as expected. The notes of a step stand in the order of `rank`, each once at most.
enum StepNote: UInt8 {
  /// The number of its first change, and the logical time of an insertion, less what is expected.
  case number, lamport
  /// To which author's element its place is relative.
  case place
  /// The element that it precedes: its author and offset.
  case right

  private var rank: Int {
    switch self {
    case .number: 0
    case .place: 1
    case .lamport: 2
    case .right: 3
    }
  }

  func isAllowed(after last: StepNote?) -> Bool { last.map { $0.rank < rank } ?? true }
}

/// The first bytes of steps of one kind, whose counts lie in a range.
private struct StepCodes {
  var kind: Step.Kind
  var counts: ClosedRange<Int>
  /// The first of these bytes.
  var first: Int
  /// Of each count, the numbers of bytes that stand for one distance, for 256 and for 65,536.
  var alone: Int
  var bytes: Int
  var words: Int

  var width: Int { alone + bytes + words }
  /// The least folded distance that is told by no byte, by one more, and by two more; and the first that is told by none of these ways.
  var starts: [Int] {
    [0, alone, alone + bytes << 8, alone + bytes << 8 + words << 16]
  }

  static let firstOther = 244
  static let firstNote = 249
  static let numberAgain = 253

  static let all: [StepCodes] = {
    let widths: [(Step.Kind, ClosedRange<Int>, Int, Int, Int)] = [
      (.typed, 1...1, 5, 13, 3), (.typed, 2...2, 3, 4, 1), (.typed, 3...18, 1, 1, 1),
      (.typed, 19...56, 1, 0, 0), (.inserted, 2...5, 1, 1, 1), (.inserted, 6...17, 1, 1, 0),
      (.inserted, 18...32, 1, 0, 0), (.removedBackward, 2...7, 1, 1, 1),
      (.removedBackward, 8...10, 0, 1, 0), (.removedForward, 1...1, 6, 5, 3),
      (.removedForward, 2...5, 0, 1, 0), (.removedAtOnce, 2...15, 0, 1, 1),
      (.removedAtOnce, 16...26, 0, 1, 0),
    ]
    var first = 0
    return widths.map { kind, counts, alone, bytes, words in
      defer { first += counts.count * (alone + bytes + words) }
      return StepCodes(
        kind: kind, counts: counts, first: first, alone: alone, bytes: bytes, words: words)
    }
  }()
}

/// A first byte that stands for a kind, a count and the least of the folded distances that `more` bytes behind it tell.
private struct FirstByte {
  var kind: Step.Kind
  var count: UInt8
  var more: UInt8
  var folded: Int32

  /// By the byte. All are made once: a division for each step takes longer.
  static let all: [FirstByte] = StepCodes.all.flatMap { codes in
    codes.counts.flatMap { count in
      (0..<codes.width).map { code in
        let more = code < codes.alone ? 0 : code < codes.alone + codes.bytes ? 1 : 2
        let within = code - [0, codes.alone, codes.alone + codes.bytes][more]
        return FirstByte(
          kind: codes.kind, count: UInt8(count), more: UInt8(more),
          folded: Int32(codes.starts[more] + within << (8 * more)))
      }
    }
  }
}

/// The first bytes of a kind and count.
struct StepBytes {
  /// By the number of bytes that follow: the first of these bytes, and the least folded distance; behind them where these end.
  fileprivate var firsts: [Int] = [0, 0, 0]
  fileprivate var starts: [Int] = [0, 0, 0, 0]

  private static let mostCount = 56

  /// By kind and count; the last of each kind stands for all greater counts, which have no bytes.
  private static let all: [[StepBytes]] = {
    var all = Array(repeating: Array(repeating: StepBytes(), count: mostCount + 2), count: 5)
    for codes in StepCodes.all {
      for count in codes.counts {
        let first = codes.first + (count - codes.counts.lowerBound) * codes.width
        all[codes.kind.rawValue][count] = StepBytes(
          firsts: [first, first + codes.alone, first + codes.alone + codes.bytes],
          starts: codes.starts)
      }
    }
    return all
  }()

  /// Those of a step.
  @inline(__always)
  static func of(_ step: Step) -> StepBytes {
    all[step.kind.rawValue][min(step.count, mostCount + 1)]
  }

  /// The number of distances that have a byte.
  var reach: Int { starts[3] }
}

extension Step.Kind {
  /// The first byte of a step that has none by its count and distance.
  fileprivate var other: Int { StepCodes.firstOther + rawValue }

  fileprivate init(other byte: Int) { self.init(rawValue: byte - StepCodes.firstOther)! }

  /// A single removed element is one that was removed forward.
  fileprivate var least: Int { self == .typed || self == .removedForward ? 1 : 2 }
}

extension ByteWriter {
  /// Writes a step, and how far from where the last one ended it is.
  mutating func step(_ step: Step, distance: Int) {
    let folded = distance &<< 1 ^ distance &>> 63
    let codes = StepBytes.of(step)
    guard folded >= 0, folded < codes.reach else {
      byte(UInt8(step.kind.other))
      varint(step.count - step.kind.least)
      return varint(UInt64(bitPattern: Int64(folded)))
    }
    let more = folded < codes.starts[1] ? 0 : folded < codes.starts[2] ? 1 : 2
    let rest = folded - codes.starts[more]
    byte(UInt8(codes.firsts[more] + rest >> (8 * more)))
    if more > 0 { byte(UInt8(truncatingIfNeeded: rest)) }
    if more > 1 { byte(UInt8(truncatingIfNeeded: rest >> 8)) }
  }

  mutating func note(_ note: StepNote, _ value: Int) {
    if note == .number && value == -1 { return byte(UInt8(StepCodes.numberAgain)) }
    byte(UInt8(StepCodes.firstNote) + note.rawValue)
    signed(Int64(value))
  }
}

extension ByteReader {
  enum StepOrNote {
    case step(Step, distance: Int)
    case note(StepNote, Int)
  }

  @inline(__always)
  mutating func stepOrNote() throws(DecodingFailure) -> StepOrNote {
    let first = Int(try byte())
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
    guard folded >= StepBytes.of(step).reach else {
      throw failure("a step written longer than it is")
    }
    return .step(step, distance: folded >> 1 ^ -(folded & 1))
  }

  private mutating func note(_ first: Int) throws(DecodingFailure) -> StepOrNote {
    if first == StepCodes.numberAgain { return .note(.number, -1) }
    guard let note = StepNote(rawValue: UInt8(first - StepCodes.firstNote)) else {
      throw failure("a note of an unknown kind")
    }
    let value = try signed()
    guard note != .number || value != -1 else { throw failure("a note written longer than it is") }
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
