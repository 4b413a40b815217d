// The world of a change and the text of that world, about which the rules of merging ask (SeparatorPreservation.swift defines both).

/// The worlds of changes, and what is spared in them.
struct Worlds {
  /// Elements of an author, side by side, that one change inserted and the same changes removed: in each world all of them are in the text
  /// or none is.
  struct Stretch {
    var author = AuthorIndex.max
    var offsets: Range<UInt32> = 0..<0
    var inserter = LocalChange(author: .max, number: 0)
    /// The changes that removed the elements or counterparts of theirs.
    var removers: [LocalChange] = []

    func contains(_ element: LocalID) -> Bool {
      element.author == author && offsets.contains(element.offset)
    }
  }

  let removals: RemovalIndex
  /// The state that is asked about; nil for the present one.
  let version: Version?
  /// True if a change knows another one.
  private struct Question: Hashable {
    var change: LocalChange
    var other: LocalChange
  }

  /// By change and separator: whether the change spares it.
  var spared: [LocalChange: [LocalID: Bool]] = [:]
  private var known: [Question: Bool] = [:]
  let copies: CopyRoles
  var neighbours = DividerNeighbours()
  /// The elements that were asked about last.
  private var last = Stretch()
  /// The answers for single elements, in a text with copies: each element may have counterparts of its own.
  private var answered: [LocalID: Stretch] = [:]

  init(of value: ReplicatingArray<UInt8>, _ copies: CopyRoles, at version: Version? = nil) {
    removals = RemovalIndex(of: value.authors, without: value.withdrawn)
    self.version = version
    self.copies = copies
  }

  /// True if an element itself was removed.
  func isRemoved(_ element: LocalID) -> Bool { !removals.removers(of: element).isEmpty }

  /// The stretch that holds an element. O(1) if it was asked about last; else O(log runs), and the removals of the element.
  mutating func stretch(
    of element: LocalID, _ value: ReplicatingArray<UInt8>
  ) -> Stretch {
    if last.contains(element) { return last }
    if copies.isEmpty {
      let (removers, offsets) = removals.removal(of: element)
      let inserted = value.authors[Int(element.author)].offsets(insertedWith: element.offset)
      last = Stretch(
        author: element.author,
        offsets: value.dividers.part(of: offsets.clamped(to: inserted), holding: element),
        inserter: inserter(of: element, value), removers: changes(in: removers, value))
    } else if let answer = answered[element] {
      last = answer
    } else {
      let all = [element] + copies.counterparts(of: element)
      last = Stretch(
        author: element.author, offsets: element.offset..<element.offset + 1,
        inserter: inserter(of: element, value),
        removers: changes(in: all.flatMap { removals.removers(of: $0) }, value))
      answered[element] = last
    }
    return last
  }

  mutating func removers(
    of element: LocalID, _ value: ReplicatingArray<UInt8>
  ) -> [LocalChange] { stretch(of: element, value).removers }

  /// The changes of the state that is asked about.
  private func changes(
    in changes: [LocalChange], _ value: ReplicatingArray<UInt8>
  ) -> [LocalChange] {
    guard let version else { return changes }
    return changes.filter { $0.number <= version[value.authors[Int($0.author)].id] }
  }

  func inserter(of element: LocalID, _ value: ReplicatingArray<UInt8>) -> LocalChange {
    LocalChange(
      author: element.author,
      number: value.authors[Int(element.author)].number(of: element.offset))
  }

  /// True if a change is in the state that is asked about.
  func isThere(_ change: LocalChange, _ value: ReplicatingArray<UInt8>) -> Bool {
    changes(in: [change], value) == [change] && !value.isWithdrawn(change)
  }

  /// True if a change is another one, or knows it; and the other one is not withdrawn.
  mutating func knows<Asked: Causality>(
    _ change: LocalChange, _ other: LocalChange, _ value: ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    if value.isWithdrawn(other) { return false }
    if change == other { return true }
    let question = Question(change: change, other: other)
    if let answer = known[question] { return answer }
    func id(_ change: LocalChange) -> ChangeID {
      ChangeID(replica: value.authors[Int(change.author)].id, number: change.number)
    }
    let answer = try causality.knows(id(change), id(other))
    known[question] = answer
    return answer
  }

  /// True if a change is in the world of another.
  mutating func isInWorld<Asked: Causality>(
    of change: LocalChange, _ other: LocalChange, _ value: ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    if other == change { return true }
    if let version, other.number > version[value.authors[Int(other.author)].id] { return false }
    if value.isWithdrawn(other) { return false }
    return !(try knows(other, change, value, &causality))
  }

  /// True if a change of a world inserted an element, or a counterpart that it stands for.
  mutating func isInserted<Asked: Causality>(
    _ element: LocalID, in change: LocalChange, _ value: ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    if try isInWorld(of: change, inserter(of: element, value), value, &causality) { return true }
    for counterpart in copies.counterparts(of: element) {
      if try isInWorld(of: change, inserter(of: counterpart, value), value, &causality) {
        return true
      }
    }
    return false
  }

  /// True if an element is in the text of a change's world.
  mutating func isInText<Asked: Causality>(
    of change: LocalChange, _ element: LocalID, _ value: ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    guard try isInserted(element, in: change, value, &causality) else { return false }
    for remover in removers(of: element, value) {
      if try isInWorld(of: change, remover, value, &causality) { return false }
    }
    return true
  }

  /// The separators of a gap on one side of an element in it, from there on, and the element of the text of the change's world that ends it.
  mutating func side<Asked: Causality>(
    of element: LocalID, isForward: Bool, _ change: LocalChange,
    _ value: inout ReplicatingArray<UInt8>, _ causality: inout Asked
  ) throws(Asked.Failure) -> (separators: [LocalID], end: LocalID?) {
    var separators: [LocalID] = []
    var last = element
    while let next = value.neighbour(of: last, isForward: isForward) {
      let piece = value.piece(of: next)
      let offsets = stretch(of: next, value).offsets.clamped(to: piece.offset..<piece.end)
      let rest = isForward ? next.offset..<offsets.upperBound : offsets.lowerBound..<next.offset + 1
      last = LocalID(next.author, isForward ? rest.upperBound - 1 : rest.lowerBound)
      if copies.isWithheld(next) { continue }
      if try isInText(of: change, next, value, &causality) { return (separators, next) }
      guard value.dividers.divider(holding: next) == nil,
        try isRemoved(next, in: change, value, &causality)
      else { continue }
      let content = value.authors[Int(next.author)].content
      let found = rest.filter { ReplicatingArray.isWhite(content[Int($0)]) }
        .map { LocalID(next.author, $0) }
      separators += isForward ? found : found.reversed()
    }
    return (separators, nil)
  }

  /// True if a change of a world removed an element.
  mutating func isRemoved<Asked: Causality>(
    _ element: LocalID, in change: LocalChange, _ value: ReplicatingArray<UInt8>,
    _ causality: inout Asked
  ) throws(Asked.Failure) -> Bool {
    if value.isWithdrawn(inserter(of: element, value)) { return false }
    for remover in removers(of: element, value) {
      if try isInWorld(of: change, remover, value, &causality) { return true }
    }
    return false
  }

}

/// The elements that dividers are to divide, found in the worlds of their changes.
struct DividerNeighbours {
  struct Pair {
    /// The last element of the span, and the first of the extent.
    var last: LocalID
    var first: LocalID
    /// The dividers between the last element of the span and the divider.
    var between: [Divider]
  }

  /// By the first elements of dividers.
  var pairs: [LocalID: Pair?] = [:]
  /// The first elements of those that were found to have no *v*.
  var alone: Set<LocalID> = []

  func isAlone(_ divider: Divider) -> Bool { alone.contains(divider.first) }
}

extension ReplicatingArray<UInt8> {
  /// The piece that holds an element.
  mutating func piece(of element: LocalID) -> Piece {
    locate(element)
    return tree.current
  }

  /// The element directly before or behind another one.
  mutating func neighbour(of element: LocalID, isForward: Bool) -> LocalID? {
    locate(element)
    if isForward {
      let next = LocalID(element.author, element.offset &+ 1)
      if tree.current.contains(next) { return next }
      return tree.following.isNone ? nil : tree.following
    }
    if element.offset > tree.current.offset { return LocalID(element.author, element.offset &- 1) }
    return tree.stepBackward() ? tree.current.last : nil
  }
}
