internal import Bytes

/// The number of bytes that two texts have in common from two places on, `most` at most. A block that differs is looked at word
/// by word; the others cost a few instructions each, because their comparison has no exit in the middle.
func commonPrefix(
  _ old: [UInt8], from oldStart: Int, _ new: [UInt8], from newStart: Int, atMost most: Int
) -> Int {
  let (old, new) = (old.span, new.span)
  var count = 0
  while count + block <= most,
    isEqualBlock(
      old.extracting(oldStart + count..<oldStart + count + block),
      new.extracting(newStart + count..<newStart + count + block))
  {
    count += block
  }
  while count + ByteWord.size <= most {
    let equal = ByteWord(old, at: oldStart + count)
      .commonPrefix(with: ByteWord(new, at: newStart + count))
    count += equal
    if equal < ByteWord.size { return count }
  }
  while count < most, old[oldStart + count] == new[newStart + count] { count += 1 }
  return count
}

/// The same before two places.
func commonSuffix(
  _ old: [UInt8], before oldEnd: Int, _ new: [UInt8], before newEnd: Int, atMost most: Int
) -> Int {
  let (old, new) = (old.span, new.span)
  var count = 0
  while count + block <= most,
    isEqualBlock(
      old.extracting(oldEnd - count - block..<oldEnd - count),
      new.extracting(newEnd - count - block..<newEnd - count))
  {
    count += block
  }
  while count + ByteWord.size <= most {
    let equal = ByteWord(old, at: oldEnd - count - ByteWord.size)
      .commonSuffix(with: ByteWord(new, at: newEnd - count - ByteWord.size))
    count += equal
    if equal < ByteWord.size { return count }
  }
  while count < most, old[oldEnd - count - 1] == new[newEnd - count - 1] { count += 1 }
  return count
}

private let block = 64

@inline(__always)
private func isEqualBlock(_ old: Span<UInt8>, _ new: Span<UInt8>) -> Bool {
  var difference: UInt8 = 0
  for index in 0..<64 { difference |= old[index] ^ new[index] }
  return difference == 0
}

extension Hunk {
  /// The hunk without what both sides begin and end with, between scalars.
  func trimmed(_ oldText: [UInt8], _ newText: [UInt8]) -> Hunk {
    func isInside(_ text: [UInt8], _ range: Range<Int>, _ place: Int) -> Bool {
      place < range.upperBound && text[place] & 0xC0 == 0x80
    }
    var start = (old: old.lowerBound, new: new.lowerBound)
    let prefix = commonPrefix(
      oldText, from: start.old, newText, from: start.new, atMost: min(old.count, new.count))
    start = (start.old + prefix, start.new + prefix)
    while start.old > old.lowerBound,
      isInside(oldText, old, start.old) || isInside(newText, new, start.new)
    {
      start = (start.old - 1, start.new - 1)
    }
    var end = (old: old.upperBound, new: new.upperBound)
    let suffix = commonSuffix(
      oldText, before: end.old, newText, before: end.new,
      atMost: min(end.old - start.old, end.new - start.new))
    end = (end.old - suffix, end.new - suffix)
    while end.old < old.upperBound,
      isInside(oldText, old, end.old) || isInside(newText, new, end.new)
    {
      end = (end.old + 1, end.new + 1)
    }
    return Hunk(old: start.old..<end.old, new: start.new..<end.new)
  }
}

/// The number of bytes of the scalar that begins with this byte of UTF-8.
func sizeOfScalar(beginningWith byte: UInt8) -> Int {
  byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
}
