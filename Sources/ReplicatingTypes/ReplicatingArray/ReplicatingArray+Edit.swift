// Local editing, and what changes the tree.

extension ReplicatingArray {
  // MARK: - By position

  /// Inserts elements before the one at `position`, as one change. O(log n + elements); typing on is O(1).
  @inline(__always)
  @specialized(where Element == UInt8)
  @specialized(where Element == Character)
  @specialized(where Element == String)
  @specialized(where Element == Int)
  public mutating func insert(
    _ elements: borrowing Span<Element>, at position: Int, by replica: inout Replica
  ) {
    if goOnTyping(elements, at: position, by: &replica) { return }
    precondition(position >= 0 && position <= count, "a position outside the sequence")
    if !elements.isEmpty { insertAnew(elements, at: position, by: &replica) }
  }

  /// Inserts an element if it goes on with what was typed last. The caller says whether it is known to be a byte of ASCII.
  @inline(__always)
  mutating func goOnTyping(
    _ elements: borrowing Span<Element>, at position: Int, by replica: inout Replica,
    isPlain: Bool = false
  ) -> Bool {
    // If the author has made no change since, the value is as it was left, and so is logical time.
    guard elements.count == 1, position == open.position, position < open.limit,
      replica.advance(to: open.nextNumber, of: open.replica)
    else { return false }
    type(elements[0], isPlain: isPlain)
    return true
  }

  @inline(__always)
  private mutating func type(_ element: Element, isPlain: Bool) {
    if Element.self == UInt8.self {
      let byte = element as! UInt8
      open.keep(byte)
      if !isPlain, byte >= 0x80 { open.isPlain = false }
    } else {
      authors[Int(open.author)].content.append(element)
    }
    open.position &+= 1
    open.nextNumber &+= 1
    lamport &+= 1
  }

  /// The same for an array.
  @specialized(where Element == UInt8)
  @specialized(where Element == Character)
  @specialized(where Element == String)
  @specialized(where Element == Int)
  public mutating func insert(
    contentsOf elements: [Element], at position: Int, by replica: inout Replica
  ) {
    insert(Self.read(elements).span, at: position, by: &replica)
  }

  /// The same elements, of which one is read.
  ///
  /// With Swift 6.3.1 an optimised build does not see that `span` is read from: to a caller in another module, a function
  /// that only takes the span of an array seems not to look at its elements, and those of an array literal are left out.
  @inline(__always)
  static func read(_ elements: [Element]) -> [Element] {
    withExtendedLifetime(elements.first) { elements }
  }

  /// Inserts elements, of which there are any, at a position that exists. If the caller has weighed them, it says their weight, and
  /// whether that has their line feeds.
  @inline(never)
  mutating func insertAnew(
    _ elements: borrowing Span<Element>, at position: Int, by replica: inout Replica,
    _ weight: TextWeight? = nil, hasLines: Bool = true
  ) {
    if elements.count == 1, position == open.position, position < open.end,
      replica.advance(to: open.nextNumber, of: open.replica)
    {
      if position == open.limit {
        appendTyped()
        open.limit = Swift.min(open.end, position &+ OpenEdit.room)
      }
      return type(elements[0], isPlain: false)
    }
    settle()
    noteQuestions()
    let stamp = replica.stamp(
      after: lamport, ticks: UInt64(truncatingIfNeeded: elements.count))
    let author = index(of: stamp.change.replica)
    let (left, right, skipped) = moveToGap(at: position)
    insert(
      elements, by: author, number: stamp.change.number, lamport: stamp.lamport,
      isStepping: false, left: left, right: right, behind: skipped,
      weight: hasLines || !tree.keepsWeights ? weight : nil)
    open.begin(author, after: stamp.change)
    open.start = position &+ elements.count
    open.position = open.start
    // The piece that ends there may grow, unless it is full.
    open.end = open.start &+ Int(tree.sizes.piece &- tree.current.count)
    open.limit =
      Element.self == UInt8.self ? Swift.min(open.end, open.start &+ OpenEdit.room) : open.end
    open.first = authors[Int(author)].count
  }

  /// The number of elements that were typed and are not yet among those that their author inserted.
  @inline(__always)
  var keptCount: Int {
    open.typedCount &+ Int(open.first) &- authors[Int(open.author)].content.count
  }

  /// Appends what was typed to what its author inserted: when all places of `open.typed` are taken, or typing ends. At any other time the next byte would
  /// not be kept at the first place.
  @inline(never)
  private mutating func appendTyped() {
    if Element.self == UInt8.self {
      let (count, author) = (keptCount, Int(open.author))
      OpenEdit.append(count, of: &open.typed, to: &authors[author].content)
    }
  }

  /// Removes elements, as one change. O(log n + pieces); deleting on, forward or backward, is O(1).
  @inline(__always)
  @specialized(where Element == UInt8)
  @specialized(where Element == Character)
  @specialized(where Element == String)
  @specialized(where Element == Int)
  public mutating func remove(_ range: Range<Int>, by replica: inout Replica) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "a range outside the sequence")
    if goOnRemoving(range, by: &replica, where: { _ in true }) { return }
    removeAnew(range, by: &replica)
  }

  /// Removes an element if that goes on with what was removed last, and if it may be removed: `isRemovable` is asked for its place in
  /// the tree, where all that is removed still is.
  @inline(__always)
  mutating func goOnRemoving(
    _ range: Range<Int>, by replica: inout Replica, where isRemovable: (Int) -> Bool
  ) -> Bool {
    guard range.lowerBound &+ 1 == range.upperBound, open.removedFrom >= 0 else { return false }
    if range.upperBound == open.removedFrom {
      guard open.order != .forward, isRemovable(range.lowerBound),
        replica.advance(to: open.nextNumber, of: open.replica)
      else { return false }
      open.order = .backward
      open.removedFrom &-= 1
    } else {
      guard range.lowerBound == open.removedFrom, open.order != .backward,
        isRemovable(range.lowerBound &+ open.removedCount),
        replica.advance(to: open.nextNumber, of: open.replica)
      else { return false }
      open.order = .forward
    }
    open.removedCount &+= 1
    open.nextNumber &+= 1
    lamport &+= 1
    return true
  }

  @inline(never)
  mutating func removeAnew(_ range: Range<Int>, by replica: inout Replica) {
    if range.isEmpty { return }
    settle()
    noteQuestions()
    let stamp = replica.stamp(after: lamport)
    lamport = stamp.lamport
    latest.set(stamp.change.replica)
    let author = index(of: stamp.change.replica)
    if range.count > 1 {
      removeNow(range, by: author, number: stamp.change.number, .atOnce)
      return
    }
    open.begin(author, after: stamp.change)
    open.removedFrom = range.lowerBound
    open.removedCount = 1
    open.order = .atOnce
    open.plain = tree.plain
  }

  /// Enters what is open in the tree and in its author's runs.
  @inline(__always)
  mutating func settle() {
    if open.position >= 0 {
      if open.typedCount == 0 { open.endTyping() } else { settleTyping() }
    } else if open.removedFrom >= 0 {
      settleRemoving()
    }
  }

  /// The same value with nothing open.
  var settled: Self {
    var copy = self
    copy.settle()
    return copy
  }

  @inline(never)
  private mutating func settleTyping() {
    let count = UInt32(truncatingIfNeeded: open.typedCount)
    noteQuestions()
    let (author, first, kept) = (Int(open.author), open.first, keptCount)
    authors[author].settleTyping(
      kept, of: &open.typed, first, count: count, upTo: open.nextNumber &- 1, lamport: lamport)
    open.endTyping()
    let piece = Piece(open.author, first, count)
    let isPlain = open.isPlain && !tree.keepsWeights
    tree.lengthen(by: count, isPlain ? .zero : weight(of: piece))
    if isIndexed { authors[author].leaves.set(piece, to: tree.cursor.leaf) }
  }

  private mutating func settleRemoving() {
    noteQuestions()
    let range = open.removedFrom..<open.removedFrom &+ open.removedCount
    let number = open.nextNumber &- UInt64(open.removedCount)
    open.removedFrom = -1
    open.removedCount = 0
    removeNow(range, by: open.author, number: number, open.order)
  }

  /// Moves to the gap before a position: its neighbours, and how many elements of the cursor's piece are before it.
  mutating func moveToGap(at position: Int) -> (left: LocalID, right: LocalID, skipped: UInt32) {
    if position == 0 {
      tree.moveToStart()
      return (.none, tree.isEmpty ? .none : tree.current.first, 0)
    }
    let skipped = tree.seek(position &- 1) &+ 1
    let piece = tree.current
    let left = LocalID(piece.author, piece.offset &+ skipped &- 1)
    if skipped < piece.count {
      return (left, LocalID(piece.author, piece.offset &+ skipped), skipped)
    }
    return (left, tree.following, skipped)
  }

  // MARK: - Into the tree

  /// Inserts elements, the next in their author's numbering, behind `skipped` elements of the cursor's piece. Afterwards the
  /// cursor is on the piece that ends with them.
  @inline(__always)
  mutating func insert(
    _ elements: borrowing Span<Element>, by author: AuthorIndex, number: UInt64, lamport: UInt64,
    isStepping: Bool, left: LocalID, right: LocalID, behind skipped: UInt32,
    whole: [Element]? = nil, weight: TextWeight? = nil
  ) {
    let count = UInt32(truncatingIfNeeded: elements.count)
    let first = authors[Int(author)].insert(
      elements, number: number, lamport: lamport, isStepping: isStepping, left: left, right: right,
      me: author, whole: whole)
    let time = lamport &+ UInt64(count) &- 1
    if time > self.lamport {
      self.lamport = time
      latest.set(authors[Int(author)].id)
    }
    if count <= tree.sizes.piece {
      let piece = Piece(author, first, count)
      put(piece, behind: skipped, weight ?? self.weight(of: piece))
    } else {
      let isPlain = weight.map { $0.continuations == 0 } ?? false
      putLong(author, first, count, behind: skipped, isPlain && !tree.keepsWeights)
    }
  }

  @inline(never)
  private mutating func putLong(
    _ author: AuthorIndex, _ first: UInt32, _ count: UInt32, behind skipped: UInt32, _ isPlain: Bool
  ) {
    var skipped = skipped
    var done: UInt32 = 0
    while done < count {
      let part = Swift.min(tree.sizes.piece, count - done)
      let piece = Piece(author, first + done, part)
      put(piece, behind: skipped, isPlain ? .zero : weight(of: piece))
      skipped = tree.current.count
      done += part
    }
  }

  @inline(__always)
  private mutating func put(_ piece: Piece, behind skipped: UInt32, _ weight: TextWeight) {
    if !tree.extend(by: piece, behind: skipped, weight) {
      if tree.isFull { splitLeaf() }
      tree.put(piece, behind: skipped, weight)
    }
    if isIndexed { authors[Int(piece.author)].leaves.set(piece, to: tree.cursor.leaf) }
  }
}
