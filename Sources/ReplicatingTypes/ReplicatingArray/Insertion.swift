/// The elements that one change put between the same two elements: neighbours in its author's numbering.
struct Insertion: Hashable {
  var author: AuthorIndex
  var offset: UInt32
  var count: UInt32

  var first: LocalID { LocalID(author, offset) }
  var offsets: Range<UInt32> { offset..<offset + count }
}

/// The elements of copies that correspond to each other.
struct Counterparts {
  /// By author, the copies sorted by their offsets, each with its list.
  private var copies: [AuthorIndex: [(copy: Insertion, list: [Insertion])]] = [:]

  init(in lists: [[Insertion]]) {
    for list in lists { for copy in list { copies[copy.author, default: []].append((copy, list)) } }
    for author in copies.keys { copies[author]!.sort { $0.copy.offset < $1.copy.offset } }
  }

  var all: [Insertion] { copies.values.flatMap { $0.map(\.copy) } }

  /// The copy that an element belongs to. O(log copies).
  func copy(holding element: LocalID) -> Insertion? {
    if element.isNone { return nil }
    return copies(of: element.author, in: element.offset..<element.offset + 1).first?.copy
  }

  /// The copies of which some of these elements are, each with its list. O(log copies + answer).
  func copies(
    of author: AuthorIndex, in offsets: Range<UInt32>
  ) -> ArraySlice<(copy: Insertion, list: [Insertion])> {
    guard let all = copies[author] else { return [] }
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle].copy.offsets.upperBound <= offsets.lowerBound {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return all[low...].prefix { $0.copy.offset < offsets.upperBound }
  }
}
