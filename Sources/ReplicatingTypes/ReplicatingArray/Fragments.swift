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
///
/// The memory is managed here, since checks of uniqueness and bounds took a third of the time. It is safe because of these invariants:
/// - Elements are those of the value: an author is looked at wherever a bit is asked for, and the beginnings and ends of all pieces, insertions and
///   removals when fragments are cut. `fragments` has one more, at bit `size`, at which the last one ends and which is never removed: so `unremoved`
///   leads to a fragment or to that, and a search for an end of at most `size` finds one.
/// - Each fragment has its own place, less than `placeCount`, and a place has its groups. A search for a place from `placeCount` on finds
///   none, and is not begun beyond that.
struct Fragments: ~Copyable {
  /// 64 elements, in order of author and offset.
  private struct Word {
    /// One bit for each, which is set if a fragment begins there.
    var starts: UInt64 = 0
    /// The number of fragments that begin before them.
    var rank: UInt32 = 0
  }

  private struct Fragment {
    /// The number of elements before it, in that order.
    var bit: Int
    var place: UInt32 = 0
    /// The fragment itself, or, if it is removed, a later one before which all are.
    var unremoved: UInt32
  }

  /// The first bit of each author, and the number of all.
  private let firstBits: UnsafeMutablePointer<Int>
  private let authorCount: Int
  private let size: Int
  private let words: UnsafeMutablePointer<Word>
  private let fragments: UnsafeMutablePointer<Fragment>

  // By place.

  private let placeCount: Int
  /// The fragment at each place.
  private let ranks: UnsafeMutablePointer<UInt32>
  /// The number of shown elements at each place, in each 64 places, and in each 4096.
  private let shown: UnsafeMutablePointer<UInt32>
  private let groups: UnsafeMutablePointer<Int>
  private let largeGroups: UnsafeMutablePointer<Int>
  /// One bit for each place: whether its fragment has been inserted. One for each word of that: whether a bit of it is set.
  private let present: UnsafeMutablePointer<UInt64>
  private let presentWords: UnsafeMutablePointer<UInt64>
  private let largeCount: Int
  /// The place whose position was asked for last: the next one is near it as a rule. A step asks for that of its first element and then changes what
  /// is shown there and behind.
  private var last = (place: 0, position: 0)
  /// The fragment behind those that were shown last.
  private var following = 0

  /// The fragments of a value in which nothing is open, for its changes since the beginning. None has been inserted yet.
  init<Element>(of value: ReplicatingArray<Element>, for changes: ReplicatingArray<Element>.Changes)
  {
    authorCount = value.authors.count
    let firstBits = UnsafeMutablePointer<Int>.allocate(capacity: authorCount + 1)
    var size = 0
    for (index, author) in value.authors.enumerated() {
      (firstBits + index).initialize(to: size)
      size += author.content.count
    }
    // The last fragment ends where another would begin.
    (firstBits + authorCount).initialize(to: size)
    let wordCount = size / 64 + 1
    let words = UnsafeMutablePointer<Word>.allocate(capacity: wordCount)
    words.initialize(repeating: Word(), count: wordCount)
    var count = 0
    // Lets a fragment begin at an element, or end before it.
    func cut(_ bit: Int) {
      precondition(bit <= size)
      let mark: UInt64 = 1 &<< UInt64(bit & 63)
      let old = words[bit &>> 6].starts
      words[bit &>> 6].starts = old | mark
      count &+= old & mark == 0 ? 1 : 0
    }
    func cut(_ first: LocalID, _ count: UInt32) {
      precondition(Int(first.author) < value.authors.count)
      let bit = Self.bit(first, firstBits)
      cut(bit)
      cut(bit &+ Int(count))
    }
    for author in 0...authorCount { cut(firstBits[author]) }
    value.tree.forEachPiece { cut($0.first, $0.count) }
    for insertion in changes.insertions {
      cut(LocalID(insertion.author, insertion.offset), insertion.count)
    }
    for removal in changes.removals {
      cut(LocalID(removal.run.target, removal.run.offset), removal.run.count)
    }
    let fragments = UnsafeMutablePointer<Fragment>.allocate(capacity: count)
    var rank = 0
    for index in 0..<wordCount {
      words[index].rank = UInt32(truncatingIfNeeded: rank)
      var rest = words[index].starts
      while rest != 0 {
        (fragments + rank).initialize(
          to: Fragment(
            bit: index &<< 6 &+ rest.trailingZeroBitCount,
            unremoved: UInt32(truncatingIfNeeded: rank)))
        rank &+= 1
        rest &= rest &- 1
      }
    }
    (self.firstBits, self.size) = (firstBits, size)
    (self.words, self.fragments) = (words, fragments)
    placeCount = count - 1
    let ranks = UnsafeMutablePointer<UInt32>.allocate(capacity: placeCount)
    ranks.initialize(repeating: 0, count: placeCount)
    self.ranks = ranks
    largeCount = placeCount / 4096 + 1
    largeGroups = .allocate(capacity: largeCount)
    largeGroups.initialize(repeating: 0, count: largeCount)
    groups = .allocate(capacity: largeCount * 64)
    groups.initialize(repeating: 0, count: largeCount * 64)
    shown = .allocate(capacity: largeCount * 4096)
    shown.initialize(repeating: 0, count: largeCount * 4096)
    present = .allocate(capacity: largeCount * 64)
    present.initialize(repeating: 0, count: largeCount * 64)
    presentWords = .allocate(capacity: largeCount)
    presentWords.initialize(repeating: 0, count: largeCount)
    let places = placeCount
    var place = 0
    value.tree.forEachPiece { piece in
      let bit = Self.bit(piece.first, firstBits)
      precondition(bit < size)
      var fragment = Self.fragment(at: bit, words)
      let end = bit &+ Int(piece.count)
      while fragments[fragment].bit < end {
        precondition(place < places, "elements that stand twice")
        fragments[fragment].place = UInt32(truncatingIfNeeded: place)
        ranks[place] = UInt32(truncatingIfNeeded: fragment)
        place &+= 1
        fragment &+= 1
      }
    }
    precondition(place == places, "elements that stand nowhere")
  }

  deinit {
    firstBits.deallocate()
    words.deallocate()
    fragments.deallocate()
    ranks.deallocate()
    shown.deallocate()
    groups.deallocate()
    largeGroups.deallocate()
    present.deallocate()
    presentWords.deallocate()
  }

  @inline(__always)
  private static func bit(_ element: LocalID, _ firstBits: UnsafeMutablePointer<Int>) -> Int {
    firstBits[Int(element.author)] &+ Int(element.offset)
  }

  @inline(__always)
  private func bit(_ element: LocalID) -> Int {
    precondition(Int(element.author) < authorCount)
    return Self.bit(element, firstBits)
  }

  /// The fragment that has an element.
  @inline(__always)
  private func fragment(of element: LocalID) -> Int {
    let bit = bit(element)
    precondition(bit < size)
    return Self.fragment(at: bit, words)
  }

  @inline(__always)
  private static func fragment(at bit: Int, _ words: UnsafeMutablePointer<Word>) -> Int {
    let word = words[bit &>> 6]
    let begun = word.starts &<< UInt64(63 &- bit & 63)
    return Int(word.rank) &+ begun.nonzeroBitCount &- 1
  }

  // MARK: - What is there now

  /// True if an element is shown, and the next one that has been inserted is another: between the two an author who sees all inserts at a
  /// position.
  @inline(__always)
  func isGap(between left: LocalID, and right: LocalID) -> Bool {
    var place = 0
    if !left.isNone {
      let index = fragment(of: left)
      let fragment = fragments[index]
      guard Int(fragment.unremoved) == index, fragments[index &+ 1].bit == bit(left) &+ 1 else {
        return false
      }
      place = Int(fragment.place) &+ 1
    }
    guard let next = firstPresent(from: place) else { return right.isNone }
    return !right.isNone && fragments[Int(ranks[next])].bit == bit(right)
  }

  @inline(__always)
  private func firstPresent(from place: Int) -> Int? {
    let word = place &>> 6
    guard word < largeCount &<< 6 else { return nil }
    let here = present[word] & (~0 &<< UInt64(place & 63))
    return here != 0 ? word &<< 6 &+ here.trailingZeroBitCount : firstPresent(behind: word)
  }

  @inline(never)
  private func firstPresent(behind word: Int) -> Int? {
    var word = word &+ 1
    var large = word &>> 6
    guard large < largeCount else { return nil }
    var words = presentWords[large] & (~0 &<< UInt64(word & 63))
    while words == 0 {
      large &+= 1
      if large == largeCount { return nil }
      words = presentWords[large]
    }
    word = large &<< 6 &+ words.trailingZeroBitCount
    return word &<< 6 &+ present[word].trailingZeroBitCount
  }

  /// The number of shown elements before one.
  @inline(__always)
  mutating func position(of element: LocalID) -> Int {
    position(at: Int(fragments[fragment(of: element)].place))
  }

  @inline(__always)
  private mutating func position(at place: Int) -> Int {
    let way = place &- last.place
    var position = last.position
    if way.magnitude > 64 {
      position =
        Self.sum(largeGroups, place &>> 12)
        &+ Self.sum(groups + (place &>> 6 & ~63), place &>> 6 & 63)
        &+ Self.sum(shown + (place & ~63), place & 63)
    } else if way >= 0 {
      position &+= Self.sum(shown + last.place, way)
    } else {
      position &-= Self.sum(shown + place, 0 &- way)
    }
    last = (place, position)
    return position
  }

  @inline(__always)
  private static func sum<Number: BinaryInteger>(
    _ numbers: UnsafeMutablePointer<Number>, _ count: Int
  ) -> Int {
    var sum = 0
    var index = 0
    while index < count {
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
    let author = bit(LocalID(run.target, 0))
    let end = author &+ Int(run.offset &+ run.count)
    var first = fragment(of: LocalID(run.target, run.offset))
    while fragments[first].bit < end {
      var next = firstUnremoved(from: first)
      let isRemoved = next > first
      if !isRemoved {
        repeat {
          next &+= 1
        } while fragments[next].bit < end && Int(fragments[next].unremoved) == next
          && firstPresent(from: Int(fragments[next &- 1].place) &+ 1)
            == Int(fragments[next].place)
      }
      let range = fragments[first].bit..<Swift.min(fragments[next].bit, end)
      stretches.append(
        (UInt32(range.lowerBound &- author)..<UInt32(range.upperBound &- author), isRemoved))
      first = next
    }
  }

  /// A fragment or the first later one that is not removed.
  private mutating func firstUnremoved(from fragment: Int) -> Int {
    var fragment = fragment
    while Int(fragments[fragment].unremoved) != fragment {
      let next = Int(fragments[fragment].unremoved)
      fragments[fragment].unremoved = fragments[next].unremoved
      fragment = next
    }
    return fragment
  }

  // MARK: - Steps

  /// Shows elements; returns the position of the first.
  @inline(__always)
  mutating func insert(_ first: LocalID, _ count: UInt32) -> Int {
    // As a rule they are the next ones of the author who inserted last.
    let isNext = fragments[following].bit == bit(first)
    var fragment = isNext ? following : fragment(of: first)
    let end = bit(first) &+ Int(count)
    let position = position(at: Int(fragments[fragment].place))
    while fragments[fragment].bit < end {
      let place = Int(fragments[fragment].place)
      let word = place &>> 6
      if present[word] == 0 { presentWords[word &>> 6] |= 1 &<< UInt64(word & 63) }
      present[word] |= 1 &<< UInt64(place & 63)
      self.count(fragments[fragment &+ 1].bit &- fragments[fragment].bit, at: place)
      fragment &+= 1
    }
    following = fragment
    return position
  }

  /// Hides the elements of a run that are one fragment, and shown; returns the position of the first, or `nil` if they are not.
  @inline(__always)
  mutating func removeFragment(_ run: RemovalRun) -> Int? {
    let index = fragment(of: LocalID(run.target, run.offset))
    let fragment = fragments[index]
    guard Int(fragment.unremoved) == index,
      fragments[index &+ 1].bit == fragment.bit &+ Int(run.count)
    else { return nil }
    let position = position(at: Int(fragment.place))
    hide(index)
    return position
  }

  /// Hides elements that are shown and stand side by side; the position of the first was asked for last.
  mutating func remove(_ first: LocalID, _ count: Int) {
    var fragment = fragment(of: first)
    let end = bit(first) &+ count
    while fragments[fragment].bit < end {
      hide(fragment)
      fragment &+= 1
    }
  }

  @inline(__always)
  private mutating func hide(_ index: Int) {
    let fragment = fragments[index]
    count(fragment.bit &- fragments[index &+ 1].bit, at: Int(fragment.place))
    fragments[index].unremoved = UInt32(truncatingIfNeeded: index &+ 1)
  }

  @inline(__always)
  private mutating func count(_ elements: Int, at place: Int) {
    shown[place] = UInt32(truncatingIfNeeded: Int(shown[place]) &+ elements)
    groups[place &>> 6] &+= elements
    largeGroups[place &>> 12] &+= elements
    assert(
      place >= last.place,
      "what stands before the last place is as it was when its position was found")
  }
}
