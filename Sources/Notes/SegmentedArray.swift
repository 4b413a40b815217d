/// An array that never moves what it has: for what grows to a million while a client waits.
///
/// Growing moves the elements of one segment at most. So an append is O(1), not only on average; and in a copy a change copies one segment.
struct SegmentedArray<Element>: RandomAccessCollection {
  /// Elements of a segment, a power of two.
  private static var segment: Int { 1024 }

  /// All but the last are full; the last isn't empty.
  private var segments: [[Element]] = []
  private(set) var count = 0

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(index: Int) -> Element {
    _read { yield segments[index / Self.segment][index % Self.segment] }
    _modify { yield &segments[index / Self.segment][index % Self.segment] }
  }

  mutating func append(_ element: Element) {
    if count % Self.segment == 0 { segments.append([]) }
    segments[count / Self.segment].append(element)
    count += 1
  }

  mutating func removeLast() -> Element {
    count -= 1
    if count % Self.segment == 0 { return segments.removeLast()[0] }
    return segments[count / Self.segment].removeLast()
  }
}

extension SegmentedArray: Sendable where Element: Sendable {}
