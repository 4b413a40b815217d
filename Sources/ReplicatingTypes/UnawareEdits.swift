/// Tells which changes the author of a change had seen.
public protocol Causality {
  /// Why a question can't be answered.
  associatedtype Failure: Error
  /// True if the author of `change` had seen `other` when making it. They are not the same.
  mutating func knows(_ change: ChangeID, _ other: ChangeID) throws(Failure) -> Bool
  /// The changes that the author of some changes had seen for certain when making each of them.
  mutating func seen(by changes: ChangeRanges.Run) throws(Failure) -> Version
}

/// Edits of a text whose author was not aware of all that is in the text: one change, or several.
public struct UnawareEdits: Sendable {
  /// The author.
  public let author: ReplicaID
  /// The elements that they inserted and removed.
  public private(set) var touched: [ElementRange] = []
  /// The changes that the author had seen with each of them for certain.
  public private(set) var known: Version
  /// True if one of them was made on a base, so that its author had not seen all of its earlier changes.
  private var hasBase = false

  /// No edits yet, by an author that has seen `known`.
  public init(by author: ReplicaID, knowing known: Version) {
    self.author = author
    self.known = known
  }

  /// Adds elements that they touched.
  mutating func append(_ elements: ElementRange) {
    if let last = touched.last, let joined = last.joined(with: elements) {
      touched[touched.count - 1] = joined
    } else {
      touched.append(elements)
    }
  }

  /// Adds an edit by a change of the author, which comes after the others.
  ///
  /// - Parameter base: changes that the author had seen when editing this text, if they are fewer than those that the change follows.
  public mutating func append(
    _ elements: ElementRange, by change: ChangeID, on base: Version? = nil
  ) {
    if let base {
      known = known.intersection(base)
      hasBase = true
    } else if !hasBase {
      known.insert(change)
    }
    append(elements)
  }
}

extension Identifier {
  /// The last four bytes of the identity of a replica whose deletions spare separators.
  private static var mark: UInt64 { 0x6465_6333 }

  /// True if deletions by this replica spare separators.
  public var sparesSeparators: Bool { low & 0xFFFF_FFFF == Self.mark }

  /// The same identity, of a replica whose deletions spare separators. 96 bits of it are left.
  public var sparingSeparators: Identifier {
    Identifier(high: high, low: low & ~0xFFFF_FFFF | Self.mark)
  }
}
