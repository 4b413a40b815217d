/// The positions of elements while the history of a sequence was made, told from their places at its end.
///
/// No step changes the order of two elements. So the history need not be made again in a tree that grows: all elements have their
/// places from the beginning, and a step shows or hides those at some of them. The position of an element is the number of
/// those shown before it.
///
/// A fragment is neighbouring elements of one author with consecutive offsets that are removed together: the pieces of the tree,
/// cut where a removal begins or ends. A single author may insert one in several steps, between which it inserts nothing
/// else, so the beginning of a fragment is there, and is shown. With several authors fragments are cut where an insertion begins,
/// too, because others may insert in between. A fragment's rank is its place among all in order of author and offset; its
/// place is that in the sequence. The elements shown are counted by place (ShownCounts.swift).
///
/// To make this takes O(elements / 64 + n) for *n* fragments; a step, O(1) and O(n / 4096) for each of its fragments.
///
/// The memory is managed here, since checks of uniqueness and bounds took a third of the time. It is safe because of these invariants:
/// - Elements are those of the value: the author and the end of what is named are looked at wherever a bit is asked for, and `placeCount` when
///   places are given. `fragments` has one more, at bit `size`, at which the last one ends and which is never removed: so `unremoved`
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
  /// The number of shown elements at each place.
  private var shown: ShownCounts
  /// One bit for each place: whether its fragment has been inserted. One for each word of that: whether a bit of it is set.
  private let present: UnsafeMutablePointer<UInt64>
  private let presentWords: UnsafeMutablePointer<UInt64>
  private let largeCount: Int
  /// The element behind those that were shown last, and its fragment.
  private var following = (bit: 0, fragment: 0)

  /// The fragments of a value in which nothing is open. None has been inserted yet.
  ///
  /// - Parameter changes: all there are; needed if there are several authors.
  init<Element>(
    of value: ReplicatingArray<Element>, cutBy changes: ReplicatingArray<Element>.Changes? = nil
  ) {
    let authors = value.authors.count
    authorCount = authors
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
    // Lets a fragment begin at an element, or end before it.
    func cut(_ bit: Int) {
      precondition(bit <= size)
      words[bit &>> 6].starts |= 1 &<< UInt64(bit & 63)
    }
    func bits(_ author: AuthorIndex, _ offset: UInt32, _ count: UInt32) -> Range<Int> {
      precondition(Int(author) < authors)
      let bit = Self.bit(LocalID(author, offset), firstBits)
      precondition(bit &+ Int(count) <= size)
      return bit..<bit &+ Int(count)
    }
    func cut(_ run: RemovalRun) {
      let bits = bits(run.target, run.offset, run.count)
      cut(bits.lowerBound)
      cut(bits.upperBound)
    }
    for author in 0...authorCount { cut(firstBits[author]) }
    // A piece ends at the beginning of another piece of its author, or at the end of the author's elements. So does an insertion.
    value.tree.forEachPiece { cut(bits($0.author, $0.offset, $0.count).lowerBound) }
    if let changes {
      for insertion in changes.insertions {
        cut(bits(insertion.author, insertion.offset, insertion.count).lowerBound)
      }
      for removal in changes.removals { cut(removal.run) }
    } else {
      precondition(authors == 1)
      value.authors[0].forEachRemoval { cut($0) }
    }
    var count = 0
    for index in 0..<wordCount {
      words[index].rank = UInt32(truncatingIfNeeded: count)
      count &+= words[index].starts.nonzeroBitCount
    }
    let fragments = UnsafeMutablePointer<Fragment>.allocate(capacity: count)
    var rank = 0
    for index in 0..<wordCount {
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
    shown = ShownCounts(capacity: placeCount)
    present = .allocate(capacity: largeCount * 64)
    present.initialize(repeating: 0, count: largeCount * 64)
    presentWords = .allocate(capacity: largeCount)
    presentWords.initialize(repeating: 0, count: largeCount)
    let places = placeCount
    var place = 0
    value.tree.forEachPiece { piece in
      let bit = Self.bit(piece.first, firstBits)
      let end = bit &+ Int(piece.count)
      precondition(bit < end && end <= size)
      var fragment = Self.fragment(at: bit, words)
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
  /// position. `first` is what is inserted next: the element before it may be followed, in its fragment, by what is not there yet.
  @inline(__always)
  mutating func isGap(between left: LocalID, and right: LocalID, for first: LocalID) -> Bool {
    var place = 0
    if !left.isNone {
      let index = fragment(of: left)
      let fragment = fragments[index]
      let next = bit(left) &+ 1
      guard Int(fragment.unremoved) == index,
        fragments[index &+ 1].bit == next || bit(first) == next
      else { return false }
      place = Int(fragment.place) &+ 1
    }
    guard let next = firstPresent(from: place) else { return right.isNone }
    return !right.isNone && fragments[Int(ranks[next])].bit == bit(right)
  }

  @inline(__always)
  private mutating func firstPresent(from place: Int) -> Int? {
    let word = place &>> 6
    guard word < largeCount &<< 6 else { return nil }
    let here = present[word] & (~0 &<< UInt64(place & 63))
    return here != 0 ? word &<< 6 &+ here.trailingZeroBitCount : firstPresent(behind: word)
  }

  @inline(never)
  private mutating func firstPresent(behind word: Int) -> Int? {
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
  func position(of element: LocalID) -> Int {
    shown.sum(before: Int(fragments[fragment(of: element)].place))
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
    var bit = bit(first)
    let end = bit &+ Int(count)
    precondition(bit < end && end <= size)
    // As a rule they are the next ones of the author who inserted last.
    var fragment = bit == following.bit ? following.fragment : fragment(of: first)
    let position =
      shown.sum(before: Int(fragments[fragment].place)) &+ (bit &- fragments[fragment].bit)
    while bit < end {
      let place = Int(fragments[fragment].place)
      let word = place &>> 6
      presentWords[word &>> 6] |= 1 &<< UInt64(word & 63)
      present[word] |= 1 &<< UInt64(place & 63)
      let next = fragments[fragment &+ 1].bit
      shown.add(min(next, end) &- bit, at: place)
      bit = next
      fragment &+= 1
    }
    following = (end, bit == end ? fragment : fragment &- 1)
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
    let position = shown.sum(before: Int(fragment.place))
    hide(index)
    return position
  }

  /// Hides elements that are shown and stand side by side.
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
    shown.add(fragment.bit &- fragments[index &+ 1].bit, at: Int(fragment.place))
    fragments[index].unremoved = UInt32(truncatingIfNeeded: index &+ 1)
  }
}
