// Library product only: the programs of this package do not use this file.

// The replicating types as sequences, and as collections where an element is found in O(log n). None of them is mutable by itself: a change needs its
// author.

/// In no order.
extension ReplicatingSet: Sequence {
  public func makeIterator() -> Set<Element>.Iterator { values.makeIterator() }
  public var underestimatedCount: Int { count }
  /// True if there are no elements. O(1).
  public var isEmpty: Bool { count == 0 }
}

/// In no order.
extension ReplicatingAddOnlySet: Sequence {
  public func makeIterator() -> Set<Element>.Iterator { values.makeIterator() }
  public var underestimatedCount: Int { count }
  /// True if there are no elements. O(1).
  public var isEmpty: Bool { count == 0 }
}

/// The keys that have a value, each with it, in no order.
extension ReplicatingDictionary: Sequence {
  public func makeIterator() -> AnyIterator<(key: Key, value: Value)> {
    var keys = keys.makeIterator()
    return AnyIterator { keys.next().map { ($0, self[$0]!) } }
  }

  /// True if no key has a value. O(keys ever used).
  public var isEmpty: Bool { !entries.values.contains { $0.isPresent } }
}

/// An element by its position: O(log n). Going through all takes O(count + n), and in the midst of typing copies the value first.
extension ReplicatingArray: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The element at a position, which must be one of those that are visible. O(log n).
  public subscript(position: Int) -> Element {
    precondition(
      (0..<count).contains(position), "element \(position) of a sequence of \(count) elements")
    var place = position
    // An open edit is not entered in the tree for a question.
    if open.position >= 0 {
      let typed = open.position - open.typedCount..<open.position
      if typed.contains(position) { return typedElement(position - typed.lowerBound) }
      if position >= typed.upperBound { place -= typed.count }
    } else if open.removedFrom >= 0, position >= open.removedFrom {
      place += open.removedCount
    }
    var tree = tree
    let skipped = Int(tree.seek(place))
    let piece = tree.current
    return authors[Int(piece.author)].content[Int(piece.offset) + skipped]
  }

  private func typedElement(_ index: Int) -> Element {
    let content = authors[Int(open.author)].content
    let offset = Int(open.first) + index
    if offset < content.count { return content[offset] }
    return open.kept(keptCount)[offset - content.count] as! Element
  }

  public func makeIterator() -> Array<Element>.Iterator { values.makeIterator() }

  /// Inserts an element at the end, as one change. O(log n).
  public mutating func append(_ element: Element, by replica: inout Replica) {
    insert(contentsOf: [element], at: count, by: &replica)
  }

  /// Inserts elements at the end, as one change; none is no change. O(log n + elements).
  public mutating func append(
    contentsOf elements: some Sequence<Element>, by replica: inout Replica
  ) {
    let elements = Array(elements)
    if !elements.isEmpty { insert(contentsOf: elements, at: count, by: &replica) }
  }
}

/// An element by its position: O(log slots). Going through all takes O(slots).
extension ReplicatingOrderedSet: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  /// The element at a position, which must be less than `count`. O(log slots).
  public subscript(position: Int) -> Element {
    precondition(
      (0..<count).contains(position), "element \(position) of an ordered set of \(count) elements")
    var found: Element?
    slots.forEachElement(from: position) {
      found = $0
      return false
    }
    return found!
  }

  public func makeIterator() -> Array<Element>.Iterator { values.makeIterator() }

  /// The position of an element; nil if it is no member. O(log slots).
  public func firstIndex(of element: Element) -> Int? { slots.position(of: element) }

  /// Inserts an element at the end, as one change, or moves it there when it is a member already. O(log slots).
  public mutating func append(_ element: Element, by replica: inout Replica) {
    insert(element, at: count, by: &replica)
  }
}
