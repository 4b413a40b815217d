/// In which leaf each element of one author is.
///
/// Offsets are in pages of 32. A page whose elements are all in one leaf is that leaf's number. A page in up to four parts,
/// each in one leaf, points to four numbers; any other points to one for each element.
struct LeafIndex: Sendable {
  private static var pageBits: UInt32 { 5 }
  private static var lastInPage: UInt32 { 31 }
  private static var pageSize: Int { 32 }
  private static var mostParts: Int { 4 }
  /// The kind of a page is in its two highest bits: neither is set for one leaf.
  private static var hasParts: UInt32 { 1 << 31 }
  private static var isDetailed: UInt32 { 1 << 30 }
  private static var numberMask: UInt32 { isDetailed - 1 }

  private var pages: [UInt32] = []
  /// Parts in groups of four: the leaf, and in the lowest 5 bits the last place in the page. The last part ends with the
  /// page; behind it is nothing of meaning.
  private var parts: [UInt32] = []
  /// The leaves of detailed pages.
  private var details: [UInt32] = []
  /// A group of parts that no page points to; in it, the next one.
  private var freeGroup: UInt32?

  @inline(__always)
  subscript(offset: UInt32) -> Int {
    let page = pages[Int(offset &>> Self.pageBits)]
    if page <= Self.numberMask { return Int(page) }
    return leaf(offset & Self.lastInPage, page)
  }

  @inline(__always)
  private func leaf(_ place: UInt32, _ page: UInt32) -> Int {
    let number = Int(page & Self.numberMask)
    if page & Self.hasParts == 0 { return Int(details[number &* Self.pageSize &+ Int(place)]) }
    var index = number &* Self.mostParts
    while parts[index] & Self.lastInPage < place { index &+= 1 }
    return Int(parts[index] &>> Self.pageBits)
  }

  @inline(__always)
  mutating func set(_ piece: Piece, to leaf: Int) {
    let page = Int(piece.offset &>> Self.pageBits)
    if page < pages.count, pages[page] == UInt32(truncatingIfNeeded: leaf),
      (piece.offset & Self.lastInPage) &+ piece.count <= 32
    {
      return
    }
    setPages(piece.offset, piece.end, UInt32(truncatingIfNeeded: leaf))
  }

  /// The same for many elements.
  mutating func set(_ range: Range<UInt32>, to leaf: Int) {
    setPages(range.lowerBound, range.upperBound, UInt32(truncatingIfNeeded: leaf))
  }

  @inline(never)
  private mutating func setPages(_ first: UInt32, _ end: UInt32, _ leaf: UInt32) {
    precondition(leaf < 1 << 27, "too many leaves")
    var offset = first
    while offset < end {
      let page = Int(offset &>> Self.pageBits)
      let last = min(end &- 1, offset | Self.lastInPage)
      while pages.count <= page { pages.append(leaf) }
      if pages[page] != leaf {
        setPart(page, offset & Self.lastInPage, last & Self.lastInPage, leaf)
      }
      offset = last &+ 1
    }
  }

  /// Enters a leaf for the places from `first` to `last` of a page.
  private mutating func setPart(_ page: Int, _ first: UInt32, _ last: UInt32, _ leaf: UInt32) {
    let old = pages[page]
    let number = Int(old & Self.numberMask)
    if old & Self.isDetailed != 0 {
      for place in first...last { details[number &* Self.pageSize &+ Int(place)] = leaf }
      return
    }
    // The old parts up to `first`, the new one, and the old ones from `last` on.
    var new = Parts()
    var index = number &* Self.mostParts
    var isEntered = false
    var start: UInt32 = 0
    while start <= Self.lastInPage {
      let part = old & Self.hasParts == 0 ? old &<< Self.pageBits | Self.lastInPage : parts[index]
      let end = part & Self.lastInPage
      if start < first { new.append(part &>> Self.pageBits, min(end, first &- 1)) }
      if end >= first, !isEntered {
        new.append(leaf, last)
        isEntered = true
      }
      if end > last { new.append(part &>> Self.pageBits, end) }
      start = end &+ 1
      index &+= 1
    }
    if new.count > 1, new.count <= Self.mostParts {
      let group = old & Self.hasParts != 0 ? UInt32(number) : newGroup()
      pages[page] = group | Self.hasParts
      for part in 0..<new.count { parts[Int(group) &* Self.mostParts &+ part] = new.parts[part] }
      return
    }
    if old & Self.hasParts != 0 { release(UInt32(number)) }
    if new.count == 1 {
      pages[page] = leaf
    } else {
      pages[page] = UInt32(details.count / Self.pageSize) | Self.isDetailed
      var part = 0
      for place in 0...Self.lastInPage {
        if new.parts[part] & Self.lastInPage < place { part &+= 1 }
        details.append(new.parts[part] &>> Self.pageBits)
      }
    }
  }

  /// The parts of a page while they are changed: at most two more than before.
  private struct Parts {
    var parts = SIMD8<UInt32>()
    var count = 0

    /// Appends a part of one leaf that ends at `last`.
    mutating func append(_ leaf: UInt32, _ last: UInt32) {
      if count == 0 || parts[count &- 1] &>> LeafIndex.pageBits != leaf { count &+= 1 }
      parts[count &- 1] = leaf &<< LeafIndex.pageBits | last
    }
  }

  private mutating func newGroup() -> UInt32 {
    if let group = freeGroup {
      let next = parts[Int(group) &* Self.mostParts]
      freeGroup = next == .max ? nil : next
      return group
    }
    parts.append(contentsOf: repeatElement(0, count: Self.mostParts))
    return UInt32(parts.count / Self.mostParts - 1)
  }

  private mutating func release(_ group: UInt32) {
    parts[Int(group) &* Self.mostParts] = freeGroup ?? .max
    freeGroup = group
  }

  // MARK: - Invariants

  /// Every group of parts is that of one page, and in order, or free.
  func checkInvariants() {
    var isUsed = Array(repeating: false, count: parts.count / Self.mostParts)
    func use(_ group: Int) {
      precondition(!isUsed[group], "a group of parts that is used twice")
      isUsed[group] = true
    }
    for page in pages where page & Self.hasParts != 0 {
      let group = Int(page & Self.numberMask)
      use(group)
      let ends = parts[group * Self.mostParts..<(group + 1) * Self.mostParts].map {
        $0 & Self.lastInPage
      }
      let count = ends.firstIndex(of: Self.lastInPage)! + 1
      precondition(count > 1 && zip(ends, ends[1..<count]).allSatisfy(<), "parts of a page")
    }
    var free = freeGroup
    while let group = free {
      use(Int(group))
      let next = parts[Int(group) * Self.mostParts]
      free = next == .max ? nil : next
    }
    precondition(isUsed.allSatisfy { $0 }, "a group of parts that is lost")
  }
}
