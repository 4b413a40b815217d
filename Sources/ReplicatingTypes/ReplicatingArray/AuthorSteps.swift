/// The insertions and removals of an author after one of its changes, in the order of its changes. A run is cut where a step of the other kind comes between.
///
/// All runs are gone through once, side by side. An insertion goes up to where the next origin, stamp or skew begins; whether it or a removal
/// comes next, the numbers of their changes say.
struct AuthorSteps<Element: Equatable & Sendable> {
  typealias Insertion = ReplicatingArray<Element>.Changes.Insertion

  enum Step {
    case insertion(Insertion)
    case removal(RemovalRun)
  }

  private let author: AuthorIndex
  private let origins: [AuthorLog<Element>.Origin]
  private let stamps: [AuthorLog<Element>.StampRun]
  private let skews: [AuthorLog<Element>.Skew]
  private let removals: [RemovalRun]
  /// The number of elements that the author inserted.
  private let count: UInt32

  /// The runs that hold the next element.
  private var origin: Int
  private var stamp: Int
  private var skew: Int
  /// The offset of the next element; all are told if it is `count`.
  private(set) var first: UInt32
  /// The offset at which the insertion ends that begins there, and the number of its first change.
  private var end: UInt32 = 0
  private var number: UInt64 = 0
  private var isStepping = false
  /// The next removal by its place, and what is left of it; all are told if it is their number.
  private var next: Int
  private var removal: RemovalRun

  /// Those of an author at a place, after change `known`.
  init(of author: AuthorLog<Element>, _ index: AuthorIndex, since known: UInt64) {
    self.author = index
    (origins, stamps, skews) = (author.origins, author.stamps, author.skews)
    removals = author.removals
    count = author.count
    first = author.count(upTo: known)
    origin = origins.index(holding: first)
    stamp = stamps.index(holding: first)
    skew = skews.index(holding: first)
    next = removals.firstIndex(after: known)
    removal = RemovalRun(number: 0, offset: 0, count: 0, target: index, order: .atOnce)
    if next < removals.count { removal = removals[next].dropping(upTo: known) }
    if first < count { measureInsertion() }
  }

  /// The next step; `nil` if there is none.
  @inline(__always)
  mutating func step() -> Step? {
    guard first < count else {
      return next < removals.count ? .removal(takeRemoval(upTo: .max)) : nil
    }
    var count = end &- first
    if next < removals.count {
      let other = UInt64(removal.number)
      if number >= other, !needsNextElement { return .removal(takeRemoval(upTo: number)) }
      if isStepping, number <= other, number &+ UInt64(count) &- 1 > other {
        count = UInt32(truncatingIfNeeded: other &- number &+ 1)
      }
    }
    let insertion = insertion(count)
    first &+= count
    if first < self.count {
      origin &+= Self.goesOn(behind: origin, in: origins, at: first)
      stamp &+= Self.goesOn(behind: stamp, in: stamps, at: first)
      skew &+= Self.goesOn(behind: skew, in: skews, at: first)
      measureInsertion()
    }
    return .insertion(insertion)
  }

  // MARK: - Insertions

  /// 1 if the run behind another one begins at an offset, else 0. It is added, since a branch would be foretold wrongly.
  @inline(__always)
  private static func goesOn(
    behind index: Int, in runs: [some ElementRun], at offset: UInt32
  ) -> Int {
    index &+ 1 < runs.count && runs[index &+ 1].first == offset ? 1 : 0
  }

  /// Finds up to where neither origin nor stamp change.
  @inline(__always)
  private mutating func measureInsertion() {
    end = count
    if origin &+ 1 < origins.count { end = min(end, origins[origin &+ 1].first) }
    if stamp &+ 1 < stamps.count { end = min(end, stamps[stamp &+ 1].first) }
    if skew &+ 1 < skews.count { end = min(end, skews[skew &+ 1].first) }
    let stamp = stamps[stamp]
    isStepping = stamp.isStepping
    number = stamp.number &+ (isStepping ? UInt64(first &- stamp.first) : 0)
  }

  /// The next elements, which are so many at least.
  @inline(__always)
  private func insertion(_ count: UInt32) -> Insertion {
    let origin = origins[origin]
    let stamp = stamps[stamp]
    let time = Int64(stamp.number &+ UInt64(first &- stamp.first)) &+ skews[skew].skew
    return Insertion(
      author: author, offset: first, count: count, isStepping: isStepping,
      left: origin.first == first ? origin.left : LocalID(author, first &- 1),
      right: origin.right, number: number, lamport: UInt64(bitPattern: time))
  }

  // MARK: - Removals

  /// True if the first change of the removal removes an element that is not inserted yet.
  @inline(__always)
  private var needsNextElement: Bool {
    let end = removal.offset &+ (removal.isForward ? 1 : removal.count)
    return removal.target == author && end > first
  }

  /// Takes of the removal what changes up to `last` removed of elements that are here.
  @inline(__always)
  private mutating func takeRemoval(upTo last: UInt64) -> RemovalRun {
    let all = removal
    if all.lastNumber <= last, all.target != author || all.offset &+ all.count <= first {
      next &+= 1
      if next < removals.count { removal = removals[next] }
      return all
    }
    return cutRemoval(upTo: last)
  }

  @inline(never)
  private mutating func cutRemoval(upTo last: UInt64) -> RemovalRun {
    var part = removal
    part.keep(upTo: last)
    if part.target == author, part.offset + part.count > first {
      // One by one, and the next ones are not there yet.
      part.count = first - part.offset
    }
    if part.lastNumber == removals[next].lastNumber {
      next += 1
      if next < removals.count { removal = removals[next] }
    } else {
      removal = removals[next].dropping(upTo: part.lastNumber)
    }
    return part
  }
}
