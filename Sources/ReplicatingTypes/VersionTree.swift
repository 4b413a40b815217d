// The last changes of replicas: a hash array mapped trie (Bagwell, "Ideal Hash Trees", 2001), of which copies share what is the same.
//
// Versions of one history differ in little, as a rule: what a change follows is what the one before it follows, and a few changes more. As
// a dictionary each, those of n changes by n replicas would take n² steps and as much memory. Here a version with one more change has one
// new path, and a part that two versions share is told by where it is in memory, without a look into it.
//
// The replicas are spread by a mix of their bits, four bits a level. Who chooses identities can make them equal in the mix, so the bits
// themselves follow: no path is longer than 48 levels.
//
// The shape follows from the replicas alone: a subtree of no more than `leafLimit` of them is a leaf, and no other is. So equal trees are
// equal values.

/// The last changes of replicas, of each one.
enum VersionTree: Hashable, Sendable {
  /// In the order of the replicas.
  case leaf([ChangeID])
  /// By the next four bits of the path.
  case branch([VersionTree])

  static let empty = VersionTree.leaf([])
  static var leafLimit: Int { 32 }
  private static var width: Int { 16 }

  /// The path to a replica.
  struct Path {
    private let mix: UInt64
    private let replica: ReplicaID

    @inline(__always)
    init(_ replica: ReplicaID) {
      self.replica = replica
      var bits = replica.high &* 0x9E37_79B9_7F4A_7C15
      bits = (bits ^ (bits &>> 32) ^ replica.low) &* 0xBF58_476D_1CE4_E5B9
      mix = bits ^ (bits &>> 29)
    }

    /// The child of a branch at a level.
    @inline(__always)
    subscript(level: Int) -> Int {
      let bits = level < 16 ? mix : level < 32 ? replica.high : replica.low
      return Int(truncatingIfNeeded: bits &>> UInt64((level & 15) &* 4) & 15)
    }
  }

  // MARK: - One replica

  /// The last number of a replica; 0 if it isn't here. O(log n).
  @inline(__always)
  func number(of replica: ReplicaID) -> UInt64 {
    switch self {
    case .leaf(let changes): changes.number(of: replica)
    case .branch: number(of: replica, Path(replica), at: 0)
    }
  }

  @inline(never)
  private func number(of replica: ReplicaID, _ path: Path, at level: Int) -> UInt64 {
    switch self {
    case .leaf(let changes): changes.number(of: replica)
    case .branch(let children): children[path[level]].number(of: replica, path, at: level &+ 1)
    }
  }

  /// Sets the last number of a replica; 0 removes it. O(log n).
  mutating func set(_ change: ChangeID, at level: Int = 0) {
    switch self {
    case .leaf(var changes):
      self = .empty  // or it would be copied
      changes.set(change)
      self = changes.count <= Self.leafLimit ? .leaf(changes) : Self.branch(changes, at: level)
    case .branch(var children):
      self = .empty
      children[Path(change.replica)[level]].set(change, at: level &+ 1)
      self = change.number == 0 ? Self.node(children) : .branch(children)
    }
  }

  /// Lets the last number of a replica be no less than that of a change. O(log n).
  @inline(__always)
  mutating func insert(_ change: ChangeID) {
    // Of a few, the place is looked up once.
    if case .leaf(var changes) = self {
      let place = changes.firstIndex { $0.replica == change.replica }
      if let place {
        if changes[place].number >= change.number { return }
        self = .empty
        changes[place].number = change.number
        self = .leaf(changes)
        return
      }
    }
    if number(of: change.replica) < change.number { set(change) }
  }

  /// A branch of changes that are in order.
  private static func branch(_ changes: [ChangeID], at level: Int) -> VersionTree {
    var parts = Array(repeating: [ChangeID](), count: width)
    for change in changes { parts[Path(change.replica)[level]].append(change) }
    return .branch(parts.map { $0.count <= leafLimit ? .leaf($0) : branch($0, at: level + 1) })
  }

  /// What a branch with these children is: a leaf, if they hold few.
  private static func node(_ children: [VersionTree]) -> VersionTree {
    var count = 0
    for child in children {
      guard case .leaf(let changes) = child, count + changes.count <= leafLimit else {
        return .branch(children)
      }
      count += changes.count
    }
    return .leaf(children.flatMap(\.sortedChanges).sorted())
  }

  // MARK: - All replicas

  var isEmpty: Bool {
    switch self {
    case .leaf(let changes): changes.isEmpty
    case .branch: false
    }
  }

  /// The last change of each replica, in order. O(n log n).
  var sortedChanges: [ChangeID] {
    switch self {
    case .leaf(let changes): changes
    case .branch(let children): children.flatMap(\.sortedChanges).sorted()
    }
  }

  /// The number of replicas. O(n).
  var count: Int {
    switch self {
    case .leaf(let changes): changes.count
    case .branch(let children): children.reduce(0) { $0 + $1.count }
    }
  }

  /// True if the condition holds for the last change of each replica of which `other` has seen less. In no order.
  func allSatisfy(
    beyond other: VersionTree, at level: Int = 0, _ condition: (ChangeID) -> Bool
  ) -> Bool {
    switch (self, other) {
    case (.leaf(let changes), .leaf(let others)) where changes.isShared(with: others): true
    case (.branch(let children), .branch(let others)) where children.isShared(with: others): true
    case (.branch(let children), .branch(let others)):
      children.indices.allSatisfy {
        children[$0].allSatisfy(beyond: others[$0], at: level + 1, condition)
      }
    case (.branch(let children), .leaf):
      children.allSatisfy { $0.allSatisfy(beyond: other, condition) }
    case (.leaf(let changes), _):
      changes.allSatisfy {
        $0.number <= other.number(of: $0.replica, Path($0.replica), at: level) || condition($0)
      }
    }
  }

  /// The last change of each replica of either. What is the same as in one of them is shared with it.
  func joined(with other: VersionTree, at level: Int = 0) -> VersionTree {
    switch (self, other) {
    case (.branch(let children), .branch(let others)):
      if children.isShared(with: others) { return self }
      var joined: [VersionTree] = []
      joined.reserveCapacity(Self.width)
      // What one of the two has seen is no new tree.
      var (isOurs, isTheirs) = (true, true)
      for child in children.indices {
        let next = children[child].joined(with: others[child], at: level + 1)
        isOurs = isOurs && next.isShared(with: children[child])
        isTheirs = isTheirs && next.isShared(with: others[child])
        joined.append(next)
      }
      return isOurs ? self : isTheirs ? other : .branch(joined)
    case (_, .leaf(let changes)): return inserting(changes, at: level)
    case (.leaf(let changes), .branch): return other.inserting(changes, at: level)
    }
  }

  /// The same with some changes more. The result is this one if they are here, and `.leaf(changes)` if they are all.
  private func inserting(_ changes: [ChangeID], at level: Int) -> VersionTree {
    if case .leaf(let own) = self {
      if own.isShared(with: changes) { return self }
      if own.allSatisfy({ $0.number <= changes.number(of: $0.replica) }) { return .leaf(changes) }
    }
    var result = self
    for change in changes
    where result.number(of: change.replica, Path(change.replica), at: level) < change.number {
      result.set(change, at: level)
    }
    return result
  }

  /// The last change of each replica that both have seen. What is the same as here is shared.
  func intersection(_ other: VersionTree, at level: Int = 0) -> VersionTree {
    switch (self, other) {
    case (.branch(let children), .branch(let others)):
      if children.isShared(with: others) { return self }
      return Self.node(
        children.indices.map { children[$0].intersection(others[$0], at: level + 1) })
    case (.branch, .leaf): return other.intersection(self, at: level)
    case (.leaf(let changes), _):
      let common = changes.compactMap { change in
        let number = other.number(of: change.replica, Path(change.replica), at: level)
        return number == 0
          ? nil : ChangeID(replica: change.replica, number: min(number, change.number))
      }
      return common == changes ? self : .leaf(common)
    }
  }

  /// True if the two are certainly equal, because they are in one place in memory.
  private func isShared(with other: VersionTree) -> Bool {
    switch (self, other) {
    case (.leaf(let changes), .leaf(let others)): changes.isShared(with: others)
    case (.branch(let children), .branch(let others)): children.isShared(with: others)
    default: false
    }
  }
}

extension Array {
  fileprivate func isShared(with other: [Element]) -> Bool { span.isIdentical(to: other.span) }
}

extension [ChangeID] {
  /// Where a replica stands, or would stand, among the last changes of each, which are in order.
  @inline(__always)
  fileprivate func place(of replica: ReplicaID) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low &+ high) / 2
      if self[middle].replica < replica { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  @inline(__always)
  fileprivate func number(of replica: ReplicaID) -> UInt64 {
    // Looking at each of a few takes less time.
    if count <= 8 {
      for change in self where change.replica == replica { return change.number }
      return 0
    }
    let place = place(of: replica)
    return place < count && self[place].replica == replica ? self[place].number : 0
  }

  @inline(__always)
  fileprivate mutating func set(_ change: ChangeID) {
    let place = place(of: change.replica)
    if place < count, self[place].replica == change.replica {
      if change.number == 0 { remove(at: place) } else { self[place].number = change.number }
    } else if change.number > 0 {
      insert(change, at: place)
    }
  }
}
