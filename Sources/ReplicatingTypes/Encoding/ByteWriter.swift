/// Writes the binary encodings of this package.
///
/// A `varint` is a number in groups of seven bits, the lowest first, the high bit set on all bytes but the last; it is as
/// short as it can be, so that one number has one encoding. A signed number is folded into an unsigned one, 0, −1, 1, −2
/// becoming 0, 1, 2, 3. Fixed integers are little-endian.
public struct ByteWriter: Sendable {
  /// All that was written.
  public private(set) var bytes: [UInt8] = []
  /// The replicas that are named by their places, in their order (ReplicaTable.swift).
  var table: [ReplicaID]?

  /// A writer that has written nothing yet.
  public init() {}

  /// With room for so many bytes.
  public init(capacity: Int) { bytes.reserveCapacity(capacity) }

  /// Makes room for more bytes, so that what was written is not moved once and again.
  mutating func reserve(_ more: Int) { bytes.reserveCapacity(bytes.count + more) }

  /// Writes one byte.
  public mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  /// Writes bytes as they are, without their count. O(bytes).
  public mutating func raw(_ raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

  /// Writes a number in 1 to 10 bytes, 7 bits in each.
  public mutating func varint(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// The same for a count or an offset, which isn't negative.
  public mutating func varint(_ number: Int) {
    precondition(number >= 0, "a negative count")
    varint(UInt64(number))
  }

  /// A folded number, as a varint.
  public mutating func signed(_ number: Int64) {
    varint(UInt64(bitPattern: number << 1) ^ UInt64(bitPattern: number >> 63))
  }

  /// A count of bytes, and the bytes.
  public mutating func counted(_ counted: some Collection<UInt8>) {
    varint(counted.count)
    bytes.append(contentsOf: counted)
  }

  /// An integer in all its bytes, the lowest first.
  @specialized(where Integer == UInt64)
  @specialized(where Integer == UInt32)
  public mutating func fixed<Integer: FixedWidthInteger>(_ number: Integer) {
    precondition(Integer.bitWidth <= 64)
    var rest = UInt64(truncatingIfNeeded: number)
    var count = Integer.bitWidth / 8
    while count > 0 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest &>>= 8
      count &-= 1
    }
  }

  /// Writes an integer over four bytes that were written, from a place on, the lowest first.
  public mutating func replace(_ number: UInt32, at place: Int) {
    for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
  }

  /// 16 bytes, the highest first.
  public mutating func identifier(_ identifier: Identifier) {
    // All at once: byte by byte it takes much longer.
    Swift.withUnsafeBytes(of: (identifier.high.bigEndian, identifier.low.bigEndian)) {
      bytes.append(contentsOf: $0)
    }
  }
}

/// Bytes that are not what an encoding allows.
public struct DecodingFailure: Error, Equatable, Sendable {
  /// Where in the bytes, from 0.
  public var offset: Int
  /// The rule that was broken, for people to read.
  public var reason: String
  /// True if the bytes are of a later version of the program, as far as these can tell: they have a format, or a kind of operation, that this one
  /// does not know. Where a checksum shows that they are whole, they are no damage.
  public var isOfLaterVersion: Bool

  /// A failure at the byte `offset`.
  public init(offset: Int, reason: String, isOfLaterVersion: Bool = false) {
    self.offset = offset
    self.reason = reason
    self.isOfLaterVersion = isOfLaterVersion
  }
}

/// Reads what `ByteWriter` writes. Never reads past the end, and allocates no more than the bytes hold. Each function throws
/// when what it is to read is not there, or is not written as `ByteWriter` does.
public struct ByteReader: Sendable {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  /// The replicas that are named by their places, in their order (ReplicaTable.swift).
  var table: [ReplicaID]?

  /// A reader at the beginning of `bytes`. Offsets count from there.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// A reader at the beginning of `bytes`.
  public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// True if all bytes were read.
  public var isAtEnd: Bool { position == bytes.endIndex }
  /// The number of bytes that were not read yet.
  public var remaining: Int { bytes.endIndex - position }
  /// The number of bytes that were read.
  public var offset: Int { position - bytes.startIndex }

  /// A failure here.
  public func failure(_ reason: String, isOfLaterVersion: Bool = false) -> DecodingFailure {
    DecodingFailure(offset: offset, reason: reason, isOfLaterVersion: isOfLaterVersion)
  }

  /// Reads one byte.
  public mutating func byte() throws(DecodingFailure) -> UInt8 {
    guard position < bytes.endIndex else { throw failure("the end comes too early") }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a number that is written in as few bytes as it needs, at most 10.
  @inline(__always)
  public mutating func varint() throws(DecodingFailure) -> UInt64 {
    // Most are a byte.
    if position < bytes.endIndex, bytes[position] < 0x80 {
      defer { position &+= 1 }
      return UInt64(bytes[position])
    }
    return try longVarint()
  }

  private mutating func longVarint() throws(DecodingFailure) -> UInt64 {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      if shift == 63 && next > 1 { throw failure("a number of more than 64 bits") }
      number |= UInt64(next & 0x7F) << shift
      if next < 0x80 {
        if next == 0 && shift > 0 { throw failure("a number longer than it need be") }
        return number
      }
      shift += 7
    }
  }

  /// A number that is a count or an offset: at most 2^31 − 1.
  public mutating func count() throws(DecodingFailure) -> Int {
    let number = try varint()
    guard number <= UInt64(Int32.max) else { throw failure("a count of \(number)") }
    return Int(number)
  }

  /// Reads a folded number.
  public mutating func signed() throws(DecodingFailure) -> Int64 {
    let folded = try varint()
    return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
  }

  /// The next `count` bytes.
  public mutating func raw(_ count: Int) throws(DecodingFailure) -> ArraySlice<UInt8> {
    guard count <= remaining else {
      throw failure("\(count) bytes promised, \(remaining) left")
    }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// A count of bytes, and the bytes.
  public mutating func counted() throws(DecodingFailure) -> ArraySlice<UInt8> {
    try raw(try count())
  }

  /// The bytes read since `start`, an earlier state of this reader.
  func bytes(since start: ByteReader) -> ArraySlice<UInt8> {
    bytes[start.position..<position]
  }

  /// Reads an integer in all its bytes, the lowest first.
  @specialized(where Integer == UInt64)
  @specialized(where Integer == UInt32)
  public mutating func fixed<Integer: FixedWidthInteger>(
    _: Integer.Type
  ) throws(DecodingFailure) -> Integer {
    precondition(Integer.bitWidth <= 64)
    let raw = try raw(Integer.bitWidth / 8)
    var number: UInt64 = 0
    var next = raw.endIndex
    while next > raw.startIndex {
      next &-= 1
      number = number &<< 8 | UInt64(truncatingIfNeeded: raw[next])
    }
    return Integer(truncatingIfNeeded: number)
  }

  /// Reads 16 bytes, the highest first.
  public mutating func identifier() throws(DecodingFailure) -> Identifier {
    let high = try fixed(UInt64.self).byteSwapped
    let low = try fixed(UInt64.self).byteSwapped
    return Identifier(high: high, low: low)
  }
}
