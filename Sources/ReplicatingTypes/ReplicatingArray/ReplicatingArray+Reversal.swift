// Undoing changes of one replica in the present state.

extension ReplicatingArray {
  /// A part of taking something back.
  public struct Reversal: Equatable, Sendable {
    /// The insertion or removal to make.
    public var operation: Operation
    /// Of an insertion, the elements that it brings again, in its order; a removed element never returns itself.
    public var copied: [ElementRange] = []
  }

  /// The operations that remove some elements and bring others back: of `inserted` those that are visible are removed, of
  /// `removed` those that are not are inserted again, each next to where the old one stands. Elements that are not here count
  /// for nothing. O(n), and the logarithm of the ranges for each piece.
  public func reversals(
    removing inserted: ElementRanges, restoring removed: ElementRanges
  ) -> [Reversal] {
    let value = settled
    var reversals: [Reversal] = []
    /// Removed elements with nothing between them, to be inserted again together. What stands between others may be brought
    /// back later, and then be in its place.
    var copied: [ElementRange] = []
    var content: [Element] = []
    var last: ElementID?
    /// The element behind the last; unknown as long as `isLast` says that the last was just seen.
    var next: ElementID?
    var isLast = false
    func remove(_ range: ElementRange) {
      // A piece may end anywhere, inside a scalar too.
      if case .remove(let last) = reversals.last?.operation, let whole = last.joined(with: range) {
        reversals[reversals.count - 1].operation = .remove(whole)
      } else {
        reversals.append(Reversal(operation: .remove(range)))
      }
    }
    func restore() {
      if copied.isEmpty { return }
      reversals.append(
        Reversal(operation: .insert(content, after: last, before: next), copied: copied))
      copied = []
      content = []
    }
    value.tree.forEachPiece { piece in
      let author = value.authors[Int(piece.author)].id
      let end = Int(piece.end)
      let wanted = piece.isRemoved ? removed : inserted
      var offset = Int(piece.offset)
      while offset < end {
        if isLast {
          next = ElementID(author: author, offset: offset)
          isLast = false
        }
        let run = wanted.run(of: author, from: offset, to: end)
        let range = ElementRange(author: author, offset: offset, count: run.end - offset)
        if !run.isMember || !piece.isRemoved { restore() }
        if run.isMember {
          if piece.isRemoved {
            copied.append(range)
            content.append(contentsOf: value.authors[Int(piece.author)].content[offset..<run.end])
            last = ElementID(author: author, offset: run.end - 1)
            next = nil
            isLast = true
          } else {
            remove(range)
          }
        }
        offset = run.end
      }
    }
    restore()
    return reversals
  }

  /// The elements that are visible. O(n log n).
  public var visibleElements: ElementRanges {
    let value = settled
    var visible: [ElementRange] = []
    value.tree.forEachPiece { piece in
      if !piece.isRemoved { visible.append(value.range(piece)) }
    }
    return ElementRanges(visible)
  }
}
