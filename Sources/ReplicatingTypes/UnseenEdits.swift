/// Tells which changes the author of a change had seen.
public protocol Causality {
  /// Why a question can't be answered.
  associatedtype Failure: Error
  /// True if the author of `change` had seen `other` when making it. They are not the same.
  mutating func knows(_ change: ChangeID, _ other: ChangeID) throws(Failure) -> Bool
  /// The changes that the author of some changes had seen for certain when making each of them.
  mutating func seen(by changes: ChangeRanges.Run) throws(Failure) -> Version
}

/// What the author of an operation had seen, by who can tell more than whether that was one change. With it a validation needn't look at
/// each of many changes.
public struct Awareness: Sendable {
  /// All that it had seen, but for its own changes.
  public var version: Version
  /// The number of its first change with which it had seen the same, and its own changes since.
  public var since: UInt64

  /// All that an author had seen, since its change with this number.
  public init(version: Version, since: UInt64) {
    self.version = version
    self.since = since
  }
}

/// Changes of one author that edited a text without being aware of all that is in it.
public struct UnseenEdits: Sendable {
  /// The author.
  public let author: ReplicaID
  /// The numbers of the changes.
  private(set) var numbers: [ClosedRange<UInt64>] = []
  /// The changes that the author had seen with each of them for certain.
  private(set) var known: Version
  /// True if one of them was made on a base, so that its author had not seen all of its earlier changes.
  private var hasBase = false

  /// No changes yet, by an author that has seen `known`.
  public init(by author: ReplicaID, knowing known: Version) {
    self.author = author
    self.known = known
  }

  /// Adds a change of the author that edited the text. It comes after the others, or is the last of them.
  ///
  /// - Parameter base: changes that the author had seen when editing this text, if they are fewer than those that the change follows.
  public mutating func append(_ change: ChangeID, on base: Version? = nil) {
    if let base {
      known = known.intersection(base)
      hasBase = true
    } else if !hasBase {
      known.insert(change)
    }
    if let last = numbers.last, last.upperBound + 1 >= change.number {
      numbers[numbers.count - 1] = last.lowerBound...max(last.upperBound, change.number)
    } else {
      numbers.append(change.number...change.number)
    }
  }
}

/// The elements that changes of one author inserted and removed.
struct TouchedElements {
  let author: ReplicaID
  let changes: ChangeRanges
  /// The changes that the author had seen with each of them for certain.
  let known: Version
  var ranges: [ElementRange]
}

extension ReplicatingArray {
  /// The elements that edits touched. What was typed last counts when the array is settled.
  func elements(touchedBy edits: UnseenEdits) -> TouchedElements {
    let changes = ChangeRanges(edits.numbers.map { ChangeRanges.Run(edits.author, $0) })
    return TouchedElements(
      author: edits.author, changes: changes, known: edits.known, ranges: touched(by: changes))
  }

  /// The elements that some changes inserted and removed.
  func touched(by changes: ChangeRanges) -> [ElementRange] {
    (insertions(by: changes) + removals(by: changes)).filter { $0.count > 0 }
  }
}
