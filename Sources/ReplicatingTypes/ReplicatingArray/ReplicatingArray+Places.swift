// From places to elements, in any state, and back: for what is to stay where it is in a text that changes.

extension ReplicatingArray {
  /// The elements before and behind places in another state, or in the present one; `nil` at the beginning and at the end. The
  /// places are sorted and within that state. O(n), and the logarithm of the view's ranges for each piece.
  public func neighbours(
    of offsets: [Int], in view: SequenceView?
  ) -> [(left: ElementID?, right: ElementID?)] {
    let value = settled
    var neighbours: [(left: ElementID?, right: ElementID?)] = []
    neighbours.append(contentsOf: offsets.map { _ in (nil, nil) })
    var offset = 0
    /// The first places that have no neighbour on that side yet.
    var (left, right) = (0, 0)
    while left < offsets.count, offsets[left] == 0 { left += 1 }
    value.forEachSegment(in: view ?? SequenceView(before: [], and: [])) { segment in
      guard segment.isInView else { return }
      let author = value.authors[Int(segment.author)].id
      let first = segment.offset - offset
      offset += segment.count
      while left < offsets.count, offsets[left] <= offset {
        neighbours[left].left = ElementID(author: author, offset: first + offsets[left] - 1)
        left += 1
      }
      while right < offsets.count, offsets[right] < offset {
        neighbours[right].right = ElementID(author: author, offset: first + offsets[right])
        right += 1
      }
    }
    return neighbours
  }

  /// Where elements are in the present state: how many visible ones stand before each, and whether it is visible itself. All of
  /// them are here. O(n + elements × log elements).
  public func places(
    of elements: Set<ElementID>
  ) -> [ElementID: (offset: Int, isVisible: Bool)] {
    let value = settled
    var wanted = Array(repeating: [Int](), count: value.authors.count)
    for element in elements {
      guard let author = value.index(known: element.author) else { continue }
      wanted[Int(author)].append(element.offset)
    }
    for author in wanted.indices { wanted[author].sort() }
    var places: [ElementID: (offset: Int, isVisible: Bool)] = [:]
    var offset = 0
    value.tree.forEachPiece { piece in
      let list = wanted[Int(piece.author)]
      if !list.isEmpty {
        var low = 0
        var high = list.count
        while low < high {
          let middle = (low + high) / 2
          if list[middle] < Int(piece.offset) { low = middle + 1 } else { high = middle }
        }
        while low < list.count, list[low] < Int(piece.end) {
          let element = ElementID(
            author: value.authors[Int(piece.author)].id, offset: list[low])
          let skipped = piece.isRemoved ? 0 : list[low] - Int(piece.offset)
          places[element] = (offset + skipped, !piece.isRemoved)
          low += 1
        }
      }
      if !piece.isRemoved { offset += Int(piece.count) }
    }
    return places
  }
}
