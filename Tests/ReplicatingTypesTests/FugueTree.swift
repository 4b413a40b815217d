import ReplicatingTypes

/// The order of a sequence as the book has it: FugueMax (Weidner, Kleppmann: "The Art of the Fugue", 2023), one node for
/// each element, naive and slow. It shares no code and no rule with `ReplicatingArray`.
///
/// An element is a left child of its right origin if its left origin is also that of its right origin; otherwise it is a
/// right child of its left origin. The document is the tree in order: left children, the element, right children.
struct FugueTree<Element: Equatable> {
  /// An element as it travels between replicas.
  struct Insertion {
    var id: ElementID
    var time: LamportTimestamp
    var left: ElementID?
    var right: ElementID?
    var value: Element
  }

  private struct Node {
    var insertion: Insertion
    var isDeleted = false
    var leftChildren: [ElementID] = []
    var rightChildren: [ElementID] = []
  }

  private enum Visit {
    case subtree(ElementID)
    case node(ElementID)
  }

  private var nodes: [ElementID: Node] = [:]
  /// The right children of the beginning of the document.
  private var roots: [ElementID] = []
  private var counts: [ReplicaID: Int] = [:]
  /// True if of equal ranks the newest comes first. Only a negative control says no.
  private let isNewestFirst: Bool

  init(isNewestFirst: Bool = true) { self.isNewestFirst = isNewestFirst }

  /// All elements in order, deleted ones too.
  var document: [ElementID] {
    var order: [ElementID] = []
    var stack: [Visit] = []
    func push(_ ids: [ElementID]) {
      var index = ids.count
      while index > 0 {
        index -= 1
        stack.append(.subtree(ids[index]))
      }
    }
    push(roots)
    while let visit = stack.popLast() {
      switch visit {
      case .node(let id): order.append(id)
      case .subtree(let id):
        let node = nodes[id]!
        push(node.rightChildren)
        guard !node.leftChildren.isEmpty else {
          order.append(id)
          continue
        }
        stack.append(.node(id))
        push(node.leftChildren)
      }
    }
    return order
  }

  var visible: [ElementID] { document.filter { !nodes[$0]!.isDeleted } }
  var elements: [Element] { visible.map { nodes[$0]!.insertion.value } }
  func insertion(of id: ElementID) -> Insertion { nodes[id]!.insertion }
  private func time(of id: ElementID) -> LamportTimestamp { nodes[id]!.insertion.time }

  /// Inserts before the visible element at `index`, as an author does; the first value at the time `lamport`.
  mutating func insert(
    _ values: [Element], at index: Int, lamport: UInt64, by replica: ReplicaID
  ) -> [Insertion] {
    var left = index > 0 ? visible[index - 1] : nil
    let document = document
    let next = left.map { document.firstIndex(of: $0)! + 1 } ?? 0
    let right = next < document.count ? document[next] : nil
    var insertions: [Insertion] = []
    for (step, value) in values.enumerated() {
      let id = ElementID(author: replica, offset: counts[replica, default: 0])
      let time = LamportTimestamp(count: lamport + UInt64(step), replica: replica)
      let insertion = Insertion(id: id, time: time, left: left, right: right, value: value)
      integrate(insertion)
      insertions.append(insertion)
      left = id
    }
    return insertions
  }

  /// Takes in an element whose origins are here.
  mutating func integrate(_ new: Insertion) {
    precondition(new.id.offset == counts[new.id.author, default: 0], "out of turn")
    counts[new.id.author, default: 0] += 1
    if let right = new.right, nodes[right]!.insertion.left == new.left {
      let place = nodes[right]!.leftChildren.firstIndex { isTieWon(by: new, over: $0) }
      nodes[right]!.leftChildren.insert(new.id, at: place ?? nodes[right]!.leftChildren.count)
    } else {
      let siblings = new.left.map { nodes[$0]!.rightChildren } ?? roots
      // Who has no siblings is put in no place among them.
      let document = siblings.isEmpty ? [] : document
      func position(_ id: ElementID?) -> Int {
        id.map { document.firstIndex(of: $0)! } ?? document.count
      }
      let place =
        siblings.firstIndex { sibling in
          let theirs = nodes[sibling]!.insertion.right
          if theirs == new.right { return isTieWon(by: new, over: sibling) }
          return position(new.right) > position(theirs)
        } ?? siblings.count
      if let left = new.left {
        nodes[left]!.rightChildren.insert(new.id, at: place)
      } else {
        roots.insert(new.id, at: place)
      }
    }
    nodes[new.id] = Node(insertion: new)
  }

  private func isTieWon(by new: Insertion, over other: ElementID) -> Bool {
    let (rank, otherRank) = (rank(of: new), rank(of: nodes[other]!.insertion))
    return rank == otherRank ? (new.time > time(of: other)) == isNewestFirst : rank < otherRank
  }

  /// In text behind anything but white space: 0 for what goes on with that, 1 for a blank, 2 for a line end.
  private func rank(of insertion: Insertion) -> Int {
    guard let left = insertion.left, let before = nodes[left]!.insertion.value as? UInt8,
      let first = insertion.value as? UInt8
    else { return 0 }
    let (blanks, ends): (Set<UInt8>, Set<UInt8>) = ([9, 11, 12, 32], [10, 13])
    if blanks.union(ends).contains(before) { return 0 }
    return blanks.contains(first) ? 1 : ends.contains(first) ? 2 : 0
  }

  mutating func delete(_ ids: some Sequence<ElementID>) {
    for id in ids { nodes[id]!.isDeleted = true }
  }
}
