/// A sequence into which every replica inserts and from which every replica removes.
///
/// Elements have names that never change (`ElementID`) and never move. An insertion says between which two elements it
/// was made, removed ones included; a removal names elements and leaves a tombstone. What two replicas insert at one
/// place stays whole: neither forward nor backward typing is ever mixed. The order is FugueMax (Weidner, Kleppmann: "The
/// Art of the Fugue", 2023), ties going to the newest insertion; `ReplicatingArray+Order.swift` has the rule.
///
///     var alice = Replica(id: ReplicaID(high: 0, low: 1))
///     var bob = Replica(id: ReplicaID(high: 0, low: 2))
///     var a = ReplicatingArray<Character>()
///     a.insert(contentsOf: Array("THEAT"), at: 0, by: &alice)
///     var b = a
///     a.insert(contentsOf: ["C"], at: 3, by: &alice)
///     b.insert(contentsOf: ["R", "E"], at: 5, by: &bob)
///     b.remove(4..<5, by: &bob)
///     a.merge(b)
///     String(a.values)  // THECARE
///
/// Elements are kept in runs: what one author inserted in one go, or typed one after the other, is one piece of a counted
/// tree, `n` pieces in all.
///
/// - `insert`, `remove`, `apply` of an operation: O(log n), and O(1) beside the last one: a search starts where the last
///   edit was, and typing on, or deleting on, in one place is entered in the tree when something else happens. The tree has
///   three levels, the uppermost a list with an entry for every 4,096 pieces or more, which is looked through.
/// - An operation of another replica whose place is contested: O(pieces inserted there concurrently), with a bound where
///   many replicas insert at one place.
/// - `values`: O(count + n).
/// - A function that changes nothing and is called in the midst of typing copies the value first, O(n + runs): all but `count`,
///   `version` and, in text, places.
public struct ReplicatingArray<Element: Equatable & Sendable>: Sendable {
  /// An insertion or removal that has no author yet.
  public enum Operation: Equatable, Sendable {
    /// Inserts elements directly after one element and before another; `nil` is the beginning and the end. The last `divider` of them
    /// divide a replacement from another one (Dividers.swift): the change that inserts them removes them, too.
    case insert([Element], after: ElementID?, before: ElementID?, divider: Int = 0)
    case remove(ElementRange)
  }

  /// The effect of an operation on the visible elements.
  public enum Effect: Equatable, Sendable {
    case inserted(ElementRange)
    case removed(ElementRange)
    /// Elements that were not shown are shown again, because no change that counts does away with them any more.
    case returned(ElementRange)
    /// Elements are not shown any more, although no change has removed them now.
    case withdrawn(ElementRange)
  }

  var authors: [AuthorLog<Element>] = []
  var authorIndex: [ReplicaID: AuthorIndex] = [:]
  var tree: PieceTree
  /// The end of the latest operation in logical time.
  public internal(set) var lamport: UInt64 = 0
  var latest = LatestAuthors()
  @usableFromInline
  var joined = JoinedVersion()
  /// True if the authors know in which leaf their elements are. That is needed from the first operation of another
  /// replica on.
  var isIndexed = false
  var siblings = SiblingCache()
  var open = OpenEdit()
  /// The removed elements that are visible.
  var spared: Set<LocalID> = []
  /// False if it is certain that no removed element was ever spared, in any state of the past either.
  var isContested = false
  /// False if it is certain that each change knew all changes before it, whichever of them are withdrawn. Then no removed element is spared.
  var isConcurrent = false
  /// The insertions that are copies of each other (DuplicateCoalescing.swift), each list in the order of stamps.
  var copies: [[Insertion]] = []
  /// The elements of copies that are not shown, removed or not.
  var withheld: Set<LocalID> = []
  /// The changes that are withdrawn (Withdrawals.swift).
  var withdrawn = ChangeRanges()
  /// The changes that were withdrawn, or are not any more, since the rules of merging were applied.
  var turned = ChangeRanges()
  /// False if no change was ever withdrawn.
  var hasWithdrawals = false
  /// The dividers of replacements that `findDividers` has found (Dividers.swift).
  var dividers = DividerIndex()

  /// An empty sequence.
  public init() {
    self.init(nodeSizes: PieceNodes.Sizes())
  }

  init(nodeSizes: PieceNodes.Sizes) {
    tree = PieceTree(nodeSizes)
  }

  /// The most elements that one author can insert into one sequence. What comes from outside is held to it, and the number
  /// of a change as well; who edits here needn't be told.
  public static var maximumCount: Int { Int(Int32.max) }
  /// The most replicas that can write into one sequence. One more is refused from outside, and traps here: see `hasRoom`.
  public static var maximumAuthors: Int { Piece.authors }

  /// The number of visible elements.
  public var count: Int { tree.visible &+ open.typedCount &- open.removedCount }

  // MARK: - Names

  @inline(__always)
  mutating func index(of replica: ReplicaID) -> AuthorIndex {
    if let last = authors.last, last.id == replica {
      return AuthorIndex(truncatingIfNeeded: authors.count &- 1)
    }
    return lookUp(replica)
  }

  /// The place of an author that is here.
  @inline(__always)
  func index(known replica: ReplicaID) -> AuthorIndex? {
    guard authors.count <= Self.fewAuthors else { return authorIndex[replica] }
    var index = 0
    while index < authors.count {
      if authors[index].id == replica { return AuthorIndex(truncatingIfNeeded: index) }
      index &+= 1
    }
    return nil
  }

  /// So many are looked at one by one, which takes less time than hashing.
  private static var fewAuthors: Int { 8 }

  @inline(never)
  private mutating func lookUp(_ replica: ReplicaID) -> AuthorIndex {
    if authors.count <= Self.fewAuthors, let index = index(known: replica) { return index }
    // One look at the dictionary, which enters who isn't there.
    let next = AuthorIndex(authors.count)
    func entered(_ index: inout AuthorIndex) -> AuthorIndex { index }
    let index = entered(&authorIndex[replica, default: next])
    if index == next {
      precondition(authors.count < Self.maximumAuthors, "too many replicas")
      authors.append(AuthorLog(id: replica))
    }
    return index
  }

  func id(of element: LocalID) -> ElementID? {
    if element.isNone { return nil }
    return ElementID(author: authors[Int(element.author)].id, offset: Int(element.offset))
  }

  /// The element's name inside this value. It must be here.
  ///
  /// Inlined, because a call copies the whole value.
  @inline(__always)
  func local(_ element: ElementID?) -> LocalID {
    guard let element else { return .none }
    return LocalID(index(known: element.author)!, UInt32(element.offset))
  }

  func range(_ piece: Piece) -> ElementRange {
    range(of: piece.author, piece.offset..<piece.end)
  }

  func range(of element: LocalID) -> ElementRange {
    range(of: element.author, element.offset..<element.offset + 1)
  }

  /// Elements of one author, of any number: a piece holds `Piece.largest` at most.
  func range(of author: AuthorIndex, _ offsets: Range<UInt32>) -> ElementRange {
    ElementRange(
      author: authors[Int(author)].id, offset: Int(offsets.lowerBound), count: offsets.count)
  }

  // MARK: - Weights

  /// The weight with which a piece is put into the tree, or taken out of it: while that keeps no weights, the continuations are right, and nothing
  /// else.
  @inline(__always)
  func weight(of piece: Piece) -> TextWeight {
    guard Element.self == UInt8.self else { return .zero }
    let bytes = same(authors[Int(piece.author)].content, as: [UInt8].self)
    let range = Int(piece.offset)..<Int(piece.end)
    if !tree.keepsWeights, !bytes.span.extracting(range).containsNonASCII { return .zero }
    return TextWeight(of: range, in: bytes.span)
  }

  /// True if nothing was ever inserted but ASCII, of which each byte is a scalar, or these are no bytes. O(elements), and fast.
  var isASCII: Bool {
    guard Element.self == UInt8.self else { return true }
    return authors.allSatisfy { author in
      let content = same(author.content, as: [UInt8].self)
      return !content.span.containsNonASCII
    }
  }

  /// Finds the weights of the tree.
  mutating func weigh() {
    let authors = authors
    tree.weigh { Self.weight(of: $0, in: authors[Int($0.author)].content) }
  }

  /// Keeps the weights from now on if somebody has asked for them. Called before each change, outside of it.
  @inline(__always)
  mutating func noteQuestions() {
    if tree.wasAsked { keepWeights() }
  }

  @inline(never)
  private mutating func keepWeights() {
    weigh()
    tree.keepsWeights = true
  }

  @inline(__always)
  static func weight(of piece: Piece, in content: [Element]) -> TextWeight {
    guard Element.self == UInt8.self else { return .zero }
    let bytes = same(content, as: [UInt8].self)
    return TextWeight(of: Int(piece.offset)..<Int(piece.end), in: bytes.span)
  }
}
