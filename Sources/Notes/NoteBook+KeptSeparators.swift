internal import ReplicatingTypes

// A withdrawal takes away text between which others have written. Where their text would then stand on one line, or in one word, with what
// nobody put beside it, a separator is inserted with the withdrawal.
//
// Let u and v be two bytes of the text between which a withdrawal takes bytes away and brings none back. The separators are the white bytes
// that it takes. They are kept apart, as the rule on deletions keeps them (SparedSeparators.swift), if the change that inserted u or v was
// made by somebody who had seen one of the separators:
//
//   1. If neither u nor v is a line feed, there are line feeds among the separators, and the same is true of these alone: by a line feed, with a
//      carriage return before it if the last of them has one.
//   2. Otherwise, if neither u nor v is white: by the last separator.
//
// Nobody of the rule's authors decides this anew: what is inserted is text like any other, of who withdraws. Text that others
// write there at the same time, and that has not come yet, is not kept apart.

extension NoteBook {
  /// The operations that insert, before some changes of a note's text are withdrawn, the separators without which others' text would be joined: none as a
  /// rule. The changes are known here.
  ///
  /// O(n log n), and for each place at which separators go what looking up the changes beside takes.
  func operations(
    keepingApart note: Note, withdrawing changes: ChangeRanges
  ) throws(ArchiveFailure) -> [Note.Operation] {
    var (gone, returned): ([ElementRange], [ElementRange]) = ([], [])
    let later = note.text(withdrawing: changes) {
      switch $0 {
      case .withdrawn(let range), .removed(let range): gone.append(range)
      case .returned(let range), .inserted(let range): returned.append(range)
      }
    }
    if gone.isEmpty { return [] }
    let edits = later.edits(from: SequenceView(before: returned, and: gone))
    let bytes = note.text.utf8
    let joints = edits.compactMap { Joint($0, in: bytes) }
    if joints.isEmpty { return [] }
    let changes = note.text.insertions(
      ofBytesAt: Set(joints.flatMap { $0.beside + $0.separators }).sorted())
    var known = KnownPasts(of: self, in: note.id)
    var insertions: [Edit<UInt8>] = []
    for joint in joints {
      let authors = Set(joint.beside.map { changes[$0]! })
      /// True if who wrote a byte beside had seen one of these separators.
      func isSeen(_ separators: [Int]) throws(ArchiveFailure) -> Bool {
        for separator in Set(separators.map { changes[$0]! }) {
          for author in authors where try known.knows(author, separator) { return true }
        }
        return false
      }
      var kept: Range<Int>?
      if let last = joint.lineFeeds.last, try isSeen(joint.lineFeeds) {
        let hasReturn = last > joint.range.lowerBound && bytes[last - 1] == UInt8(ascii: "\r")
        kept = (hasReturn ? last - 1 : last)..<last + 1
      } else if joint.isOfWords, let last = joint.separators.last, try isSeen(joint.separators) {
        kept = last..<last + 1
      }
      if let kept {
        let end = joint.range.upperBound
        insertions.append(Edit(range: end..<end, replacement: Array(bytes[kept])))
      }
    }
    return note.text.operations(for: insertions).map { .text($0) }
  }
}

/// A place at which bytes go, with separators among them, and others come together.
private struct Joint {
  /// The bytes that go.
  let range: Range<Int>
  let separators: [Int]
  /// Empty if there is a line feed beside.
  let lineFeeds: [Int]
  /// True if there is no white byte beside.
  let isOfWords: Bool
  var beside: [Int] { [range.lowerBound - 1, range.upperBound] }

  /// Nil if an edit joins nothing.
  init?(_ edit: Edit<UInt8>, in bytes: [UInt8]) {
    range = edit.range
    guard edit.replacement.isEmpty, range.lowerBound > 0, range.upperBound < bytes.count else {
      return nil
    }
    let (left, right) = (bytes[range.lowerBound - 1], bytes[range.upperBound])
    separators = range.filter { bytes[$0].isWhite }
    let isOfLines = !left.isLineFeed && !right.isLineFeed
    lineFeeds = isOfLines ? separators.filter { bytes[$0].isLineFeed } : []
    isOfWords = !left.isWhite && !right.isWhite
    guard !lineFeeds.isEmpty || isOfWords && !separators.isEmpty else { return nil }
  }
}

extension UInt8 {
  fileprivate var isWhite: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
  fileprivate var isLineFeed: Bool { self == UInt8(ascii: "\n") }
}

extension ReplicatingText {
  /// The changes that inserted the bytes at some offsets, which are sorted. O(n).
  fileprivate func insertions(ofBytesAt offsets: [Int]) -> [Int: ChangeID] {
    let elements = neighbours(of: offsets, in: nil).map { $0.right! }
    return Dictionary(uniqueKeysWithValues: zip(offsets, elements.map { insertion(of: $0)! }))
  }
}
