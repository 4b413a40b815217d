/// An order in which notes are listed.
public enum NoteOrder: String, CaseIterable, Sendable {
  /// The user's own.
  case order
  /// The one that was changed last comes first.
  case modified
  /// The youngest comes first.
  case created
  /// By title, without case and marks.
  case title
}

/// A place in a listing of notes: where the next page begins.
///
/// A listing is of the notes as they were in order when its first page was read. So a place says when that was, the note that it is
/// behind, and for an order by a value that note's value then, since the note may be forgotten meanwhile.
///
/// As a string: the order, the note, the state and the value, with `/` between them.
public struct ListingPlace: Equatable, Sendable {
  /// A value by which notes are ordered: the smaller comes first.
  enum Key: Comparable, Sendable {
    /// Of an order that needs none.
    case none
    case number(Int64)
    /// A title, folded.
    case text([UInt8])

    static func < (a: Self, b: Self) -> Bool {
      switch (a, b) {
      case (.number(let a), .number(let b)): a < b
      case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
      default: false
      }
    }
  }

  /// The order of the listing.
  public let order: NoteOrder
  /// The state of the notebook when its first page was read.
  let began: Revision
  let note: NoteID
  let key: Key
}

extension ListingPlace: CustomStringConvertible {
  public var description: String {
    let start = "\(order.rawValue)/\(note)/\(began)"
    return switch key {
    case .none: start
    case .number(let number): "\(start)/\(number)"
    case .text(let text): "\(start)/\(String(decoding: text, as: UTF8.self))"
    }
  }

  /// Reads what `description` writes; `nil` for anything else.
  public init?(_ description: String) {
    let parts = description.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    guard parts.count >= 3, let order = NoteOrder(rawValue: parts[0]), let note = NoteID(parts[1]),
      let began = Revision(parts[2])
    else { return nil }
    self.order = order
    self.note = note
    self.began = began
    switch (order, parts.count) {
    case (.order, 3): key = .none
    case (.title, 4): key = .text(Array(parts[3].utf8))
    case (.modified, 4), (.created, 4):
      guard let number = Int64(parts[3]), String(number) == parts[3] else { return nil }
      key = .number(number)
    default: return nil
    }
  }
}
