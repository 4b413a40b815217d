/// The floor: text in one block of bytes with a gap where the last edit was. No history, no merging, no lines.
///
/// It is written to be as fast as it can simply be, and kept as it is: the other figures are ratios to it. Room for
/// everything is allocated when it is made, outside the timed part.
struct GapBuffer: ~Copyable {
  private let bytes: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private var gapStart = 0
  private var gapEnd: Int

  /// Makes an empty text with room for so many bytes.
  init(capacity: Int) {
    self.capacity = capacity
    gapEnd = capacity
    bytes = .allocate(capacity: capacity)
    bytes.initialize(repeating: 0, count: capacity)
  }

  deinit { bytes.deallocate() }

  /// The bytes of the text.
  var count: Int { capacity &- gapEnd &+ gapStart }

  /// The byte at an offset in the text.
  subscript(offset: Int) -> UInt8 {
    bytes[offset < gapStart ? offset : offset &+ (gapEnd &- gapStart)]
  }

  /// A copy of the text.
  var text: [UInt8] {
    Array(UnsafeBufferPointer(start: bytes, count: gapStart))
      + Array(UnsafeBufferPointer(start: bytes + gapEnd, count: capacity - gapEnd))
  }

  /// Replaces some bytes. There must be room for the result.
  @inline(__always)
  mutating func replace(at offset: Int, removing count: Int, with new: borrowing Span<UInt8>) {
    precondition(
      offset >= 0 && count >= 0 && offset &+ count <= self.count
        && new.count <= gapEnd &- gapStart &+ count, "an edit outside the buffer")
    if offset < gapStart {
      let moved = gapStart &- offset
      (bytes + (gapEnd &- moved)).update(from: bytes + offset, count: moved)
      gapEnd &-= moved
    } else if offset > gapStart {
      let moved = offset &- gapStart
      (bytes + gapStart).update(from: bytes + gapEnd, count: moved)
      gapEnd &+= moved
    }
    gapStart = offset
    gapEnd &+= count
    for index in 0..<new.count { bytes[gapStart &+ index] = new[index] }
    gapStart &+= new.count
  }
}
