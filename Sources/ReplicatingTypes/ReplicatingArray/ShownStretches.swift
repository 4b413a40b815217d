/// The longest stretches of pieces of a text that are shown and hold nothing that is spared.
struct ShownStretches {
  /// Walks of fewer steps don't ask.
  static var fewSteps: Int { 32 }

  /// The first and the last piece; nil where the text ends there, and nothing follows that is removed or spared.
  private struct Ends {
    var first: Piece?
    var last: Piece?
  }

  /// The stretch of each piece, by where the piece stands in the tree; −1 for none.
  private var numbers: [Int32]
  private var ends: [Ends] = []
  private let tree: PieceTree

  /// - Parameters:
  ///   - tree: a tree that is not empty.
  ///   - spared: the first elements of the pieces that hold spared elements.
  /// - Complexity: O(pieces).
  init(of tree: PieceTree, without spared: Set<LocalID>) {
    self.tree = tree
    var tree = tree
    numbers = Array(repeating: -1, count: tree.nodes.leafCount * tree.sizes.leaf)
    var isInStretch = false
    var previous: Piece?
    tree.moveToStart()
    repeat {
      let piece = tree.current
      if piece.isRemoved || spared.contains(piece.first) {
        if isInStretch { ends[ends.count - 1].last = previous }
        isInStretch = false
      } else {
        if !isInStretch { ends.append(Ends(first: previous == nil ? nil : piece)) }
        isInStretch = true
        numbers[tree.at] = Int32(ends.count - 1)
      }
      previous = piece
    } while tree.stepForward()
  }

  /// The last piece on one side of the stretch that holds the piece at a place in the tree; nil if the text ends with it. A piece in no
  /// stretch is the last itself. O(1).
  func last(isForward: Bool, from place: Int) -> Piece? {
    let number = Int(numbers[place])
    if number < 0 { return tree.nodes.pieces[place] }
    return isForward ? ends[number].last : ends[number].first
  }
}
