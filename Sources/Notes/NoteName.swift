internal import ReplicatingTypes

/// A name by which somebody asks for notes that are not known by their ids.
public enum NoteName: Sendable, Equatable {
  /// A title: the same bytes, or, if no note has them, a title that is canonically equivalent.
  case title(String)
  /// The beginning of a title, byte by byte.
  case titleBeginning(String)
  /// The beginning of an id: the number, and the first digits behind the hyphen.
  case idBeginning(number: UInt64, digits: String)

  /// The digits behind the hyphen that the beginning of an id must have, so that it is not taken for a title that begins with a number.
  public static let fewestDigits = 4

  /// The beginning of an id: a number, a hyphen, and at least four of the digits behind it; nil for anything else.
  public init?(idBeginning text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = UInt64(canonical: parts[0]), number > 0,
      (Self.fewestDigits...32).contains(parts[1].utf8.count),
      parts[1].utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    else { return nil }
    self = .idBeginning(number: number, digits: String(parts[1]))
  }
}

extension NoteBook {
  /// The notes that go by a name, the oldest first, but for those that were purged.
  ///
  /// If more than `limit` go by it, these are the oldest; of the beginning of a title, any.
  ///
  /// - Parameters:
  ///   - isTrashed: whether to look in the trash, or outside of it.
  ///   - tags: those that a note must have, all of them.
  ///   - limit: the most notes that are found, at least 1.
  /// - Returns: the notes, and whether there are others.
  /// - Complexity: O(notes): for the beginning of a title, and one in other forms of its signs, a look at each title.
  public func notes(
    named name: NoteName, isTrashed: Bool, tags: [Tag] = [], atMost limit: Int
  ) throws(ArchiveFailure) -> (notes: [NoteSummary], isMore: Bool) {
    var found = OldestNotes(limit)
    /// Takes a note if it is one of those that are looked for.
    func take(_ id: NoteID) throws(ArchiveFailure) {
      guard !isPurged(id), noteCache.isTrashed(id) == isTrashed else { return }
      let summary = try noteCache.summary(of: id, among: nil)
      if tags.allSatisfy({ summary.tags.hasTag(of: $0) }) { found.insert(summary) }
    }
    switch name {
    case .idBeginning(let number, let digits):
      for id in noteCache.ids(numbered: number) where "\(id.creation.replica)".hasPrefix(digits) {
        try take(id)
      }
    case .titleBeginning(let beginning):
      let bytes = Array(beginning.utf8)
      func isLonger(_ other: Span<UInt8>) -> Bool { other.starts(with: bytes.span) }
      try noteCache.forEachNote(withTitle: isLonger) { id throws(ArchiveFailure) in
        try take(id)
        return !found.isMore
      }
    case .title(let title):
      let bytes = Array(title.utf8)
      try noteCache.forEachNote(titled: bytes) { id throws(ArchiveFailure) in try take(id) }
      // Only signs outside of ASCII can be written in several ways.
      if !found.notes.isEmpty || bytes.allSatisfy({ $0 < 0x80 }) { break }
      func isEquivalent(_ other: Span<UInt8>) -> Bool { other.isEquivalent(to: title) }
      try noteCache.forEachNote(withTitle: isEquivalent) { id throws(ArchiveFailure) in
        try take(id)
        return true
      }
    }
    return (found.notes, found.isMore)
  }
}

/// The oldest of some notes, by the time of their creation and then by their ids: the same ones on every machine.
private struct OldestNotes {
  private(set) var notes: [NoteSummary] = []
  private(set) var isMore = false
  private let limit: Int

  init(_ limit: Int) { self.limit = limit }

  mutating func insert(_ note: NoteSummary) {
    let index =
      notes.lastIndex { ($0.created, $0.id) < (note.created, note.id) }.map { $0 + 1 } ?? 0
    isMore = isMore || notes.count == limit
    if index == limit { return }
    notes.insert(note, at: index)
    if notes.count > limit { notes.removeLast() }
  }
}

extension Span<UInt8> {
  fileprivate func starts(with other: Span<UInt8>) -> Bool {
    if count < other.count { return false }
    for index in other.indices where self[index] != other[index] { return false }
    return true
  }

  /// Compares a title in UTF-8 with a text that is not ASCII alone.
  fileprivate func isEquivalent(to text: String) -> Bool {
    var isASCII = true
    for index in indices where self[index] >= 0x80 { isASCII = false }
    return !isASCII && withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } == text
  }
}
