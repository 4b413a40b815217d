/// The positions of elements while the history of a sequence was made, told from their places at its end.
///
/// No step changes the order of two elements. So the history need not be made again in a tree that grows: all elements have their
/// places from the beginning, and a step shows or hides those at some of them. The position of an element is the number of
/// those shown before it.
///
/// A fragment is neighbouring elements of one author with consecutive offsets that every step inserts or removes together: the
/// pieces of the tree, cut where an insertion or a removal begins or ends. A fragment's rank is its place among all in order of
/// author and offset; its place is that in the sequence. Places are counted in groups of 64, and in groups of 4096.
///
/// To make this takes O(elements / 64 + n) for *n* fragments; a step, O(128 + n / 4096) for each of its fragments, of which most are sums of
/// numbers that stand side by side.
struct Fragments {
  // By rank.

  /// One bit for each element, in order of author and offset: whether a fragment begins there.
  private var starts: [UInt64]
  /// The number of fragments that begin before each word of that.
  private var ranks: [UInt32] = []
  /// The first bit of each author.
  private var firstBits: [Int] = []
  /// The bit at which a fragment begins.
  private var bits: [Int] = []
  private var places: [UInt32]
  /// A fragment itself, or, if it is removed, a later one before which all are.
  private var unremoved: [UInt32]

  // By place.

  /// The number of shown elements at each place, in each 64 places, and in each 4096.
  private var shown: [UInt32]
  private var groups: [Int]
  private var largeGroups: [Int]
  /// One bit for each place: whether its fragment has been inserted. One for each word of that: whether a bit of it is set.
  private var present: [UInt64]
  private var presentWords: [UInt64]
  /// The place whose position was asked for last: the next one is near it as a rule. A step asks for that of its first element and then changes what
  /// is shown there and behind.
  private var last = (place: 0, position: 0)

  /// The fragments of a value in which nothing is open, for its changes since the beginning. None has been inserted yet.
  init<Element>(of value: ReplicatingArray<Element>, for changes: ReplicatingArray<Element>.Changes)
  {
    var size = 0
    for author in value.authors {
      firstBits.append(size)
      size += author.content.count
    }
    // The last fragment ends where another would begin.
    firstBits.append(size)
    let first = firstBits
    var starts = [UInt64](repeating: 0, count: size / 64 + 1)
    func cut(_ author: AuthorIndex, _ offset: UInt32) {
      let bit = first[Int(author)] &+ Int(offset)
      starts[bit &>> 6] |= 1 &<< UInt64(bit & 63)
    }
    for author in first.indices { cut(AuthorIndex(author), 0) }
    value.tree.forEachPiece { cut($0.author, $0.offset) }
    for insertion in changes.insertions { cut(insertion.author, insertion.offset) }
    for removal in changes.removals {
      cut(removal.run.target, removal.run.offset)
      cut(removal.run.target, removal.run.offset &+ removal.run.count)
    }
    ranks.reserveCapacity(starts.count)
    for (index, word) in starts.enumerated() {
      ranks.append(UInt32(bits.count))
      var rest = word
      while rest != 0 {
        bits.append(index &<< 6 &+ rest.trailingZeroBitCount)
        rest &= rest &- 1
      }
    }
    self.starts = starts
    let count = bits.count - 1
    unremoved = (0...UInt32(count)).map { $0 }
    places = Array(repeating: 0, count: count)
    largeGroups = Array(repeating: 0, count: count / 4096 + 1)
    groups = Array(repeating: 0, count: largeGroups.count * 64)
    shown = Array(repeating: 0, count: groups.count * 64)
    present = Array(repeating: 0, count: groups.count)
    presentWords = Array(repeating: 0, count: largeGroups.count)
    var place: UInt32 = 0
    value.tree.forEachPiece { piece in
      let end = first[Int(piece.author)] &+ Int(piece.end)
      var fragment = fragment(of: piece.first)
      while bits[fragment] < end {
        places[fragment] = place
        place &+= 1
        fragment &+= 1
      }
    }
  }

  private func bit(_ element: LocalID) -> Int {
    firstBits[Int(element.author)] &+ Int(element.offset)
  }

  /// The fragment that has an element.
  @inline(__always)
  private func fragment(of element: LocalID) -> Int {
    let bit = bit(element)
    let begun = starts[bit &>> 6] &<< UInt64(63 &- bit & 63)
    return Int(ranks[bit &>> 6]) &+ begun.nonzeroBitCount &- 1
  }

  // MARK: - What is there now

  /// True if an element is shown, and the next one that has been inserted is another: between the two an author who sees all inserts at a
  /// position.
  func isGap(between left: LocalID, and right: LocalID) -> Bool {
    var place = 0
    if !left.isNone {
      let fragment = fragment(of: left)
      guard unremoved[fragment] == fragment, bits[fragment &+ 1] == bit(left) &+ 1 else {
        return false
      }
      place = Int(places[fragment]) &+ 1
    }
    guard let next = firstPresent(from: place) else { return right.isNone }
    guard !right.isNone else { return false }
    let fragment = fragment(of: right)
    return Int(places[fragment]) == next && bits[fragment] == bit(right)
  }

  private func firstPresent(from place: Int) -> Int? {
    var word = place &>> 6
    guard word < present.count else { return nil }
    let here = present[word] & (~0 &<< UInt64(place & 63))
    if here != 0 { return word &<< 6 &+ here.trailingZeroBitCount }
    word &+= 1
    var large = word &>> 6
    guard large < presentWords.count else { return nil }
    var words = presentWords[large] & (~0 &<< UInt64(word & 63))
    while words == 0 {
      large &+= 1
      if large == presentWords.count { return nil }
      words = presentWords[large]
    }
    word = large &<< 6 &+ words.trailingZeroBitCount
    return word &<< 6 &+ present[word].trailingZeroBitCount
  }

  /// The number of shown elements before one.
  @inline(__always)
  mutating func position(of element: LocalID) -> Int {
    position(at: Int(places[fragment(of: element)]))
  }

  private mutating func position(at place: Int) -> Int {
    let way = place &- last.place
    let position =
      if way.magnitude > 64 {
        Self.sum(largeGroups, 0, place &>> 12)
          &+ Self.sum(groups, place &>> 6 & ~63, place &>> 6)
          &+ Self.sum(shown, place & ~63, place)
      } else if way >= 0 {
        last.position &+ Self.sum(shown, last.place, place)
      } else {
        last.position &- Self.sum(shown, place, last.place)
      }
    last = (place, position)
    return position
  }

  /// This looks at the bounds first, so that the loop takes several numbers at a time.
  @inline(__always)
  private static func sum<Number: BinaryInteger>(
    _ numbers: [Number], _ start: Int, _ end: Int
  ) -> Int {
    precondition(start >= 0 && end <= numbers.count)
    var sum = 0
    var index = start
    while index < end {
      sum &+= Int(truncatingIfNeeded: numbers[index])
      index &+= 1
    }
    return sum
  }

  /// Puts the elements of a run into `stretches`, in their order: removed ones, and shown ones that stand side by side.
  mutating func find(
    _ run: RemovalRun, _ stretches: inout [(range: Range<UInt32>, isRemoved: Bool)]
  ) {
    stretches.removeAll(keepingCapacity: true)
    let author = firstBits[Int(run.target)]
    let end = author &+ Int(run.offset &+ run.count)
    var first = fragment(of: LocalID(run.target, run.offset))
    while bits[first] < end {
      var next = firstUnremoved(from: first)
      let isRemoved = next > first
      if !isRemoved {
        repeat {
          next &+= 1
        } while bits[next] < end && unremoved[next] == next
          && firstPresent(from: Int(places[next &- 1]) &+ 1) == Int(places[next])
      }
      let range = bits[first]..<Swift.min(bits[next], end)
      stretches.append(
        (UInt32(range.lowerBound &- author)..<UInt32(range.upperBound &- author), isRemoved))
      first = next
    }
  }

  /// A fragment or the first later one that is not removed.
  private mutating func firstUnremoved(from fragment: Int) -> Int {
    var fragment = fragment
    while unremoved[fragment] != fragment {
      let next = Int(unremoved[fragment])
      unremoved[fragment] = unremoved[next]
      fragment = next
    }
    return fragment
  }

  // MARK: - Steps

  /// Shows elements; returns the position of the first.
  mutating func insert(_ first: LocalID, _ count: UInt32) -> Int {
    var fragment = fragment(of: first)
    let end = bit(first) &+ Int(count)
    let position = position(at: Int(places[fragment]))
    while bits[fragment] < end {
      let place = Int(places[fragment])
      let word = place &>> 6
      if present[word] == 0 { presentWords[word &>> 6] |= 1 &<< UInt64(word & 63) }
      present[word] |= 1 &<< UInt64(place & 63)
      self.count(bits[fragment &+ 1] &- bits[fragment], at: place)
      fragment &+= 1
    }
    return position
  }

  /// Hides elements that are shown and stand side by side; the position of the first was asked for last.
  mutating func remove(_ first: LocalID, _ count: Int) {
    var fragment = fragment(of: first)
    let end = bit(first) &+ count
    while bits[fragment] < end {
      self.count(bits[fragment] &- bits[fragment &+ 1], at: Int(places[fragment]))
      unremoved[fragment] = UInt32(truncatingIfNeeded: fragment &+ 1)
      fragment &+= 1
    }
  }

  private mutating func count(_ elements: Int, at place: Int) {
    shown[place] = UInt32(truncatingIfNeeded: Int(shown[place]) &+ elements)
    groups[place &>> 6] &+= elements
    largeGroups[place &>> 12] &+= elements
    assert(
      place >= last.place,
      "what stands before the last place is as it was when its position was found")
  }
}
