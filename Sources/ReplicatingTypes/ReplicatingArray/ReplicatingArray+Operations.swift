extension ReplicatingArray {
  /// Applies an operation whose origins and targets are here and in order: a local one, or one that `validate` passed.
  /// Returns what became visible, or no longer is. A divider is inserted and removed: of that nothing is told.
  @discardableResult
  public mutating func apply(_ operation: Operation, _ stamp: Stamp) -> [Effect] {
    var effects: [Effect] = []
    apply(operation, stamp) { effects.append($0) }
    return effects
  }

  /// The same, reporting each effect.
  public mutating func apply(
    _ operation: Operation, _ stamp: Stamp, _ report: (Effect) -> Void
  ) {
    settle()
    noteQuestions()
    let author = index(of: stamp.change.replica)
    switch operation {
    case .insert(let elements, let left, let right, let divider):
      if elements.isEmpty {
        authors[Int(author)].lastNumber = Swift.max(
          authors[Int(author)].lastNumber, stamp.change.number)
        return
      }
      let offset = integrate(
        Self.read(elements).span, by: author, number: stamp.change.number, lamport: stamp.lamport,
        isStepping: false, left: local(left), right: local(right), whole: elements)
      report(
        .inserted(
          ElementRange(
            author: stamp.change.replica, offset: offset, count: elements.count - divider)))
      if divider > 0 {
        let range = ElementRange(
          author: stamp.change.replica, offset: offset + elements.count - divider, count: divider)
        erase(range, by: author, number: stamp.change.number) { _ in }
      }
    case .remove(let range):
      if stamp.lamport > lamport {
        lamport = stamp.lamport
        latest.set(stamp.change.replica)
      }
      erase(range, by: author, number: stamp.change.number) { report(.removed($0)) }
    }
  }

  /// True if an operation removes only elements that are shown, and inserts behind such a one, at the beginning, or behind one that is not here.
  mutating func goesOnFromWhatIsShown(_ operation: Operation) -> Bool {
    settle()
    switch operation {
    case .insert(_, let left?, _, _): return isShown(left.author, left.offset, count: 1)
    case .insert: return true
    case .remove(let range): return isShown(range.author, range.offset, count: range.count)
    }
  }

  /// True if none of some elements is hidden, as far as they are here: the numbers may come from outside, and be any.
  private mutating func isShown(_ author: ReplicaID, _ first: Int, count: Int) -> Bool {
    guard let author = index(known: author), first >= 0,
      first < authors[Int(author)].content.count, count > 0
    else { return true }
    let end = UInt32(first + Swift.min(count, authors[Int(author)].content.count - first))
    var offset = UInt32(first)
    while offset < end {
      locate(LocalID(author, offset))
      if tree.current.isRemoved { return false }
      offset = tree.current.end
    }
    return true
  }
}
