/// A sequence into which every replica inserts and from which every replica removes.
///
/// Elements have names that never change (`ElementID`) and never move. An insertion says between which two elements it
/// was made, removed ones included; a removal names elements and leaves a tombstone. What two replicas insert at one
/// place stays whole: neither forward nor backward typing is ever mixed. The order is FugueMax (Weidner, Kleppmann: "The
/// Art of the Fugue", 2023), ties going to the newest insertion; `ReplicatingArray+Order.swift` has the rule.
///
///     var alice = Replica(id: ReplicaID(high: 0, low: 1))
///     var bob = Replica(id: ReplicaID(high: 0, low: 2))
///     var a = ReplicatingArray<Character>()
///     a.insert(contentsOf: Array("THEAT"), at: 0, by: &alice)
///     var b = a
///     a.insert(contentsOf: ["C"], at: 3, by: &alice)
///     b.insert(contentsOf: ["R", "E"], at: 5, by: &bob)
///     b.remove(4..<5, by: &bob)
///     a.merge(b)
///     String(a.elements)  // THECARE
///
/// Elements are kept in runs: what one author inserted in one go, or typed one after the other, is one piece. `n` below
/// is the number of pieces; neighbouring edits cost O(1), since a search starts where the last edit was.
///
/// - `insert`, `remove`, `apply` of an operation: O(n) in the worst case, O(1) beside the last one.
/// - `elements`: O(count + n).
public struct ReplicatingArray<Element: Equatable & Sendable>: Sendable {
  /// An insertion or removal that has no author yet.
  public enum Operation: Equatable, Sendable {
    /// Inserts elements directly after one element and before another; `nil` is the beginning and the end.
    case insert([Element], after: ElementID?, before: ElementID?)
    case remove(ElementRange)
  }

  /// What an operation did to the elements that were visible.
  public enum Effect: Equatable, Sendable {
    case inserted(ElementRange)
    case removed(ElementRange)
  }

  var authors: [Author] = []
  var authorIndex: [ReplicaID: UInt32] = [:]
  /// All elements in their order, tombstones included. No two neighbours could be one piece.
  var pieces: [Piece] = []
  /// Where the last edit was: a piece, and how many visible elements stand before it.
  var cursor = Cursor(piece: 0, start: 0)
  /// The end of the latest operation in logical time.
  var lamport: UInt64 = 0
  /// The number of visible elements.
  public internal(set) var count = 0

  public init() {}

  /// The most elements that one author can insert into one sequence.
  public static var maximumCount: Int { Int(Int32.max) }

  // MARK: - Editing

  public mutating func insert(
    contentsOf elements: [Element], at position: Int, by replica: inout Replica
  ) {
    precondition((0...count).contains(position), "position \(position) outside 0...\(count)")
    guard !elements.isEmpty else { return }
    let edit = Edit(range: position..<position, replacement: elements)
    for operation in operations(for: [edit]) {
      apply(operation, replica.stamp(after: lamport, ticks: UInt64(elements.count)))
    }
  }

  public mutating func remove(_ range: Range<Int>, by replica: inout Replica) {
    precondition((0...count).contains(range.upperBound), "range \(range) outside 0..<\(count)")
    guard !range.isEmpty else { return }
    let stamp = replica.stamp(after: lamport)
    for operation in operations(for: [Edit(range: range, replacement: [])]) {
      apply(operation, stamp)
    }
  }

  /// Applies an operation whose origins and targets are here and in order: a local one, or one that `validate` passed.
  @discardableResult
  public mutating func apply(_ operation: Operation, _ stamp: Stamp) -> [Effect] {
    let author = index(of: stamp.change.replica)
    authors[Int(author)].lastNumber = max(authors[Int(author)].lastNumber, stamp.change.number)
    switch operation {
    case .insert(let elements, let left, let right):
      guard !elements.isEmpty else { return [] }
      let run = StampRun(
        first: 0, number: stamp.change.number, lamport: stamp.lamport, isStepping: false)
      let offset = integrate(
        elements, by: author, stamped: run, left: local(left), right: local(right))
      let range = ElementRange(
        author: stamp.change.replica, offset: offset, count: elements.count)
      return [.inserted(range)]
    case .remove(let range):
      lamport = max(lamport, stamp.lamport)
      authors[Int(author)].record(
        Removal(
          number: stamp.change.number, target: index(of: range.author),
          offset: UInt32(range.offset), count: UInt32(range.count)))
      return erase(range).map { .removed($0) }
    }
  }

  // MARK: - Reading

  /// The visible elements in order.
  public var elements: [Element] {
    var result: [Element] = []
    result.reserveCapacity(count)
    for piece in pieces where !piece.isRemoved {
      let start = Int(piece.offset)
      result.append(
        contentsOf: authors[Int(piece.author)].content[start..<start + Int(piece.count)])
    }
    return result
  }

  /// The state that a replica at `version` sees: everything removed is revealed but what was removed by then, and what
  /// was inserted later is hidden. O(runs).
  public func view(at version: Version) -> SequenceView {
    var hidden: [ElementRange] = []
    for author in authors {
      let seen = author.count(upTo: version[author.id])
      if seen < author.content.count {
        hidden.append(
          ElementRange(author: author.id, offset: seen, count: author.content.count - seen))
      }
      for removal in author.removals {
        if removal.number > version[author.id] { break }
        hidden.append(range(of: removal))
      }
    }
    return SequenceView(hidden: ElementRanges(hidden), revealed: nil)
  }

  /// The elements visible in `view`, in order. O(count + n).
  public func elements(in view: SequenceView) -> [Element] {
    var result: [Element] = []
    forEachSegment(in: view) { segment in
      if segment.isInView { result.append(contentsOf: content(of: segment)) }
    }
    return result
  }

  /// What leads from `view` to the present. O(count + n).
  public func edits(from view: SequenceView) -> [Edit<Element>] {
    var edits: [Edit<Element>] = []
    var offset = 0
    var isOpen = false
    forEachSegment(in: view) { segment in
      if segment.isInView != segment.isInPresent {
        if !isOpen {
          edits.append(Edit(range: offset..<offset, replacement: []))
          isOpen = true
        }
        let last = edits.count - 1
        if segment.isInView {
          edits[last].range = edits[last].range.lowerBound..<offset + segment.count
        } else {
          edits[last].replacement.append(contentsOf: content(of: segment))
        }
      } else if segment.isInView {
        isOpen = false
      }
      if segment.isInView { offset += segment.count }
    }
    return edits
  }

  // MARK: - From positions to operations

  /// The operations that make `edits`, which are sorted, apart from each other, and in offsets of the present.
  public func operations(for edits: [Edit<Element>]) -> [Operation] {
    var operations: [Operation] = []
    for edit in edits {
      if !edit.replacement.isEmpty {
        let (left, right) = gap(at: edit.range.lowerBound)
        operations.append(.insert(edit.replacement, after: left, before: right))
      }
      var place = edit.range.isEmpty ? cursor : seek(edit.range.lowerBound)
      var position = edit.range.lowerBound
      while position < edit.range.upperBound {
        let piece = pieces[place.piece]
        let skipped = position - place.start
        if skipped < piece.visibleCount {
          let taken = min(piece.visibleCount - skipped, edit.range.upperBound - position)
          let range = ElementRange(
            author: authors[Int(piece.author)].id, offset: Int(piece.offset) + skipped,
            count: taken)
          operations.append(.remove(range))
          position += taken
        }
        place.start += piece.visibleCount
        place.piece += 1
      }
    }
    return operations
  }

  /// The same for edits in offsets of `view`. What is removed already stays as it is. O(n).
  public func operations(for edits: [Edit<Element>], in view: SequenceView) -> [Operation] {
    var operations: [Operation] = []
    var next = 0
    var offset = 0
    var before: ElementID?
    /// Set when an insertion waits for the element that follows its place.
    var waiting: (replacement: [Element], after: ElementID?)?
    func begin() {
      while next < edits.count, edits[next].range.lowerBound == offset, waiting == nil {
        if !edits[next].replacement.isEmpty { waiting = (edits[next].replacement, before) }
        if edits[next].range.isEmpty { next += 1 } else { break }
      }
    }
    begin()
    forEachSegment(in: view) { segment in
      let author = authors[Int(segment.author)].id
      var start = segment.offset
      let end = segment.offset + segment.count
      while start < end {
        if let (replacement, after) = waiting {
          operations.append(
            .insert(replacement, after: after, before: ElementID(author: author, offset: start)))
          waiting = nil
        }
        guard segment.isInView else { return }
        var stop = end
        if next < edits.count {
          let edge =
            offset < edits[next].range.lowerBound
            ? edits[next].range.lowerBound : edits[next].range.upperBound
          stop = min(end, start + edge - offset)
          if offset >= edits[next].range.lowerBound, segment.isInPresent {
            operations.append(
              .remove(ElementRange(author: author, offset: start, count: stop - start)))
          }
        }
        offset += stop - start
        start = stop
        before = ElementID(author: author, offset: stop - 1)
        if next < edits.count, !edits[next].range.isEmpty, offset == edits[next].range.upperBound {
          next += 1
        }
        begin()
      }
    }
    if let (replacement, after) = waiting {
      operations.append(.insert(replacement, after: after, before: nil))
    }
    return operations
  }

  /// The neighbours of the place at a position: the visible element before it, and whatever stands directly after that.
  func gap(at position: Int) -> (left: ElementID?, right: ElementID?) {
    guard position > 0 else { return (nil, pieces.first.map { id(of: $0.first) }) }
    let place = seek(position - 1)
    let piece = pieces[place.piece]
    let left = Local(
      author: piece.author, offset: piece.offset + UInt32(position - 1 - place.start))
    return (id(of: left), element(after: left, in: place.piece).map { id(of: $0) })
  }
}
