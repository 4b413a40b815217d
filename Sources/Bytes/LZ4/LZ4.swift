/// Bytes in fewer bytes: blocks as in the block format of LZ4 (Yann Collet, https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md).
///
///     block    = sequence... last
///     sequence = token                  1 byte: in the upper half the number of literals, in the lower one the length of the match less 4
///                more                   if the upper half is 15: bytes that are added to the number, up to the first that is not 255
///                literals               bytes that are taken as they are
///                distance               2 bytes, little-endian, at least 1: how far before here the match begins in what was written
///                more                   if the lower half is 15: likewise for the length
///     last     = token more literals    without a match; the lower half is 0
///
/// A match may reach beyond the place where it is copied to, and repeats itself then. The last 5 bytes are literals, and no match begins
/// in the last 12: a reader may count on it, and this one does not.
///
/// A block does not say how many bytes it makes, nor whether they are those that were compressed: who keeps one keeps their number, and a
/// checksum.
///
///     let block = LZ4.compress(bytes[...])
///     let again = try LZ4.decompress(block[...], count: bytes.count)
public enum LZ4 {
  /// Bytes are not a block that makes the bytes it is said to make.
  public struct Failure: Error, Equatable, Sendable {
    /// The place in the block, in bytes from its beginning.
    public let offset: Int
    /// The rule that was broken, for people to read.
    public let reason: String
  }

  /// The shortest match.
  static let shortestMatch = 4
  /// The greatest distance of a match.
  static let longestDistance = 0xFFFF
  /// The value of half a token that more bytes follow.
  static let open = 15
  /// No byte of a block makes more bytes.
  private static let mostByByte = 255

  /// The `count` bytes that `block` makes.
  ///
  /// Whatever the bytes are, no more than `count` are allocated, and nothing if `block` is too short to make so many: 255 times its size are
  /// possible. The caller limits `count`.
  ///
  /// - Throws: if `block` is no block, or one of another number of bytes.
  /// - Complexity: O(`count` + `block.count`), eight bytes at a time where the distance allows it.
  public static func decompress(
    _ block: ArraySlice<UInt8>, count: Int
  ) throws(Failure) -> [UInt8] {
    guard count >= 0, count / mostByByte <= block.count else {
      throw Failure(offset: 0, reason: "\(block.count) bytes do not make \(count)")
    }
    var bytes = [UInt8](repeating: 0, count: count)
    var target = bytes.mutableSpan
    let source = block.span
    var position = 0
    var end = 0
    while true {
      let token = try byte(source, &position)
      let literals = try number(Int(token >> 4), source, &position)
      guard literals <= source.count - position, literals <= count - end else {
        throw Failure(offset: position, reason: "more literals than there is room for")
      }
      target.put(source, at: position, literals, at: end)
      position += literals
      end += literals
      if position == source.count {
        guard token & 15 == 0, end == count else {
          throw Failure(
            offset: position, reason: "it ends in a match, or at byte \(end) of \(count)")
        }
        return bytes
      }
      let distance =
        Int(try byte(source, &position)) | Int(try byte(source, &position)) << 8
      let length = try number(Int(token & 15), source, &position) + shortestMatch
      guard distance > 0, distance <= end, length <= count - end else {
        throw Failure(
          offset: position, reason: "a match of \(length) bytes, \(distance) before byte \(end)")
      }
      target.repeat(length, from: end - distance, at: end)
      end += length
    }
  }

  @inline(__always)
  private static func byte(
    _ block: Span<UInt8>, _ position: inout Int
  ) throws(Failure) -> UInt8 {
    guard position < block.count else {
      throw Failure(offset: position, reason: "it ends too soon")
    }
    position += 1
    return block[position - 1]
  }

  /// The number that half a token begins.
  @inline(__always)
  private static func number(
    _ half: Int, _ block: Span<UInt8>, _ position: inout Int
  ) throws(Failure) -> Int {
    var number = half
    if half < open { return number }
    while true {
      let more = try byte(block, &position)
      number += Int(more)
      if more < 255 { return number }
    }
  }
}

extension MutableSpan<UInt8> {
  /// Puts `count` bytes of `source` from `start` on in the place of those from `target` on. What stands behind these may be others afterwards.
  @inline(__always)
  fileprivate mutating func put(
    _ source: Span<UInt8>, at start: Int, _ count: Int, at target: Int
  ) {
    let rounded = (count + 7) & ~7
    if rounded <= source.count - start, rounded <= self.count - target {
      var next = 0
      while next < count {
        ByteWord(source, at: start + next).store(into: &self, at: target + next)
        next += ByteWord.size
      }
    } else {
      for next in 0..<count { self[target + next] = source[start + next] }
    }
  }

  /// Puts `count` bytes from `start` on, of which the last may be among those that are put, in the place of those from `target` on. What
  /// stands behind these may be others afterwards.
  @inline(__always)
  fileprivate mutating func `repeat`(_ count: Int, from start: Int, at target: Int) {
    let rounded = (count + 7) & ~7
    if target - start >= ByteWord.size, rounded <= self.count - target {
      var next = 0
      while next < count {
        ByteWord(span, at: start + next).store(into: &self, at: target + next)
        next += ByteWord.size
      }
    } else {
      for next in 0..<count { self[target + next] = self[start + next] }
    }
  }
}
