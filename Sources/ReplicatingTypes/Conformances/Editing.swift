// Library product only: the programs of this package do not use this file.

// Edits by one element, as the collections of the standard library have them.

/// Edits of elements by position.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var list = ReplicatingArray<String>()
///     list.append(contentsOf: ["milk", "eggs", "bread"], by: &replica)
///     list.remove(at: 1, by: &replica)
///     list[1]  // "bread"
///     list.become(["oats", "bread"], by: &replica)
///     list.joined(separator: ", ")  // "oats, bread"
///
/// There is no literal, and nothing is assigned by a subscript: every change has an author, and a new value in the place of a shared one
/// has no past.
extension ReplicatingArray {
  /// A sequence of some elements, which a replica inserts by one change; none is no change.
  public init(array elements: [Element], by replica: inout Replica) {
    self.init()
    append(contentsOf: elements, by: &replica)
  }

  /// Inserts an element before the one at `position`, as one change. O(log n); typing on is O(1).
  public mutating func insert(_ element: Element, at position: Int, by replica: inout Replica) {
    insert(contentsOf: [element], at: position, by: &replica)
  }

  /// Removes an element, as one change, and returns it. Traps when there is none at `position`. O(log n).
  @discardableResult
  public mutating func remove(at position: Int, by replica: inout Replica) -> Element {
    let element = self[position]
    remove(position..<position + 1, by: &replica)
    return element
  }

  /// Removes all visible elements, as one change; none is no change. What others insert meanwhile stays. O(pieces).
  public mutating func removeAll(by replica: inout Replica) {
    remove(0..<count, by: &replica)
  }
}

extension ReplicatingOrderedSet {
  /// Removes the element at a position, as one change, and returns it. Traps when there is none.
  @discardableResult
  public mutating func remove(at position: Int, by replica: inout Replica) -> Element {
    let element = self[position]
    remove(element, by: &replica)
    return element
  }

  /// The position of an element, which has only one; `nil` if it is no member. O(log slots).
  public func lastIndex(of element: Element) -> Int? { firstIndex(of: element) }
}

/// Another set.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var tags = ReplicatingSet<String>()
///     tags.become(["work", "home"], by: &replica)
///     tags.become(["home", "travel"], by: &replica)
///     tags.sorted()  // ["home", "travel"]
extension ReplicatingSet {
  /// Makes the set equal to `elements` by what differs: a change for each element that is removed, and one for all that are added. So what others
  /// add or remove at the same time merges; adding all anew would undo their removals.
  public mutating func become(_ elements: some Sequence<Element>, by replica: inout Replica) {
    let elements = Array(elements)
    for element in values.subtracting(elements) { remove(element, by: &replica) }
    insert(contentsOf: elements.filter { !contains($0) }, by: &replica)
  }
}
