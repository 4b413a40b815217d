internal import ReplicatingTypes

// Edits that are made when all that a participant did is taken back, so that it neither joins nor tears what others have written.
//
// SEPARATORS. A withdrawal takes text away between which others have written. Let u and v be two bytes of the text between which it takes
// bytes away and brings none back. The separators are the white bytes that it takes. They are kept apart, as the rule on deletions keeps them
// (SeparatorPreservation.swift), if the change that inserted u or v was made by an author who had seen one of the separators, or one of these was itself inserted
// with an earlier withdrawal, of changes that are among those withdrawn now:
//
//   1. If neither u nor v is a line feed, there are line feeds among the separators, and the same is true of these alone: by a line feed, with a
//      carriage return before it if the last of them has one.
//   2. Otherwise, if neither u nor v is white: by the last separator.
//
// TORN TEXT. What replaces text stands behind the first scalar of that (`ReplicatingArray.place`), and so does what others write in it. When the
// replacement is withdrawn, what was replaced comes back around their text: its first scalar before, and the rest behind. It is put together again:
// the scalar is removed, and inserted anew right before the rest, behind a blank if their text ends with a letter and it begins with one. Only where all of the text in between was written by who had seen the
// replacement. Who wrote there without it has written inside of what was replaced, and there that stays. Two who withdraw the same at once make the
// same replacement, which is one (DuplicateCoalescing.swift).
//
// The inserted text is text like any other, by the author of the withdrawal. Text that others write there at the same time, and that has not come
// yet, is not considered.

/// The edits that are made together with a withdrawal of changes of a text.
struct WithdrawalEdits {
  /// The operations that insert and remove text.
  var operations: [Note.Operation] = []
  /// True if the text is the same afterwards.
  var areVoid = false
}

extension NoteBook {
  /// The edits that are made together with a withdrawal of some changes of a note's text, which are known here.
  ///
  /// O(n log n + changes of the text), and for each place at which something is inserted what looking up the changes beside it takes.
  func edits(
    withdrawing changes: ChangeRanges, from note: Note
  ) throws(ArchiveFailure) -> WithdrawalEdits {
    var (gone, returned): ([ElementRange], [ElementRange]) = ([], [])
    let later = note.text(withdrawing: changes) {
      switch $0 {
      case .withdrawn(let range), .removed(let range): gone.append(range)
      case .returned(let range), .inserted(let range): returned.append(range)
      }
    }
    var known = KnownPasts(of: self, in: note.id)
    let differences = later.edits(from: SequenceView(before: returned, and: gone))
    var edits = try separators(keptBy: differences, note, changes, &known)
    if !returned.isEmpty {
      edits += try mended(later, ElementRanges(returned), changes, &known)
    }
    if edits.isEmpty { return WithdrawalEdits() }
    edits.sort {
      ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
    }
    var bytes = later.utf8
    for edit in edits.reversed() { bytes.replaceSubrange(edit.range, with: edit.replacement) }
    return WithdrawalEdits(
      operations: later.operations(for: edits).map { .text($0) }, areVoid: bytes == note.text.utf8)
  }

  /// The edits, of the later text, that insert separators.
  private func separators(
    keptBy differences: [Edit<UInt8>], _ note: Note, _ changes: ChangeRanges,
    _ known: inout KnownPasts
  ) throws(ArchiveFailure) -> [Edit<UInt8>] {
    let bytes = note.text.utf8
    var joints: [Joint] = []
    var shift = 0
    for edit in differences {
      if let joint = Joint(edit, in: bytes, shift) { joints.append(joint) }
      shift += edit.replacement.count - edit.range.count
    }
    if joints.isEmpty { return [] }
    let authors = note.text.insertions(
      ofBytesAt: Set(joints.flatMap { $0.beside + $0.separators }).sorted())
    // Of those that are taken back, too, but for what they withdrew.
    let withdrawals = Set(
      note.withdrawals.list.filter { $0.changes.subtracting(changes).isEmpty }
        .map(\.stamp.change))
    var edits: [Edit<UInt8>] = []
    for joint in joints {
      /// True if who wrote a byte beside had seen one of these separators.
      func isSeen(_ separators: [Int]) throws(ArchiveFailure) -> Bool {
        let beside = Set(joint.beside.map { authors[$0]! })
        for separator in Set(separators.map { authors[$0]! }) {
          if withdrawals.contains(separator) { return true }
          for author in beside where try known.knows(author, separator) { return true }
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
        edits.append(
          Edit(range: joint.later..<joint.later, replacement: Array(bytes[kept])))
      }
    }
    return edits
  }

  /// The edits, of the later text, that put torn text together.
  private func mended(
    _ later: ReplicatingText, _ returned: ElementRanges, _ changes: ChangeRanges,
    _ known: inout KnownPasts
  ) throws(ArchiveFailure) -> [Edit<UInt8>] {
    let bytes = later.utf8
    let torn = later.torn(returned, bytes)
    if torn.isEmpty { return [] }
    var removers: [ElementID: [ChangeID]] = [:]
    // Of this text: the changes that are withdrawn may be of many notes.
    let list = later.contributions.flatMap { author, done in
      done.map { ChangeID(replica: author, number: UInt64($0.number)) }
    }.filter(changes.contains)
    for (change, touched) in zip(list, later.touched(by: list)) {
      for text in torn where touched.removed.contains(where: { $0.holds(text.element) }) {
        removers[text.element, default: []].append(change)
      }
    }
    var edits: [Edit<UInt8>] = []
    for text in torn {
      let between = later.neighbours(of: Array(text.first.upperBound..<text.rest), in: nil)
        .map { $0.right! }
      let elements = ElementRanges(
        between.map { ElementRange(author: $0.author, offset: $0.offset, count: 1) })
      let isOfOthers = elements.subtracting(returned) == elements
      guard isOfOthers else { continue }
      var isAware = true
      for change in Set(between.map { later.insertion(of: $0)! }) where isAware {
        isAware = false
        for remover in removers[text.element] ?? [] where try known.knows(change, remover) {
          isAware = true
        }
      }
      if isAware {
        // Their last word is not to grow into the first one.
        let isOneWord =
          bytes[text.rest - 1].isLetterOrDigit && bytes[text.first.lowerBound].isLetterOrDigit
        edits.append(Edit(range: text.first, replacement: []))
        edits.append(
          Edit(
            range: text.rest..<text.rest,
            replacement: (isOneWord ? [0x20] : []) + bytes[text.first]))
      }
    }
    return edits
  }
}

/// A place at which bytes go, with separators among them, and others come together.
private struct Joint {
  /// The bytes that go, and where that is in the later text.
  let range: Range<Int>
  let later: Int
  let separators: [Int]
  /// Empty if there is a line feed beside.
  let lineFeeds: [Int]
  /// True if there is no white byte beside.
  let isOfWords: Bool
  var beside: [Int] { [range.lowerBound - 1, range.upperBound] }

  /// Nil if an edit joins nothing.
  init?(_ edit: Edit<UInt8>, in bytes: [UInt8], _ shift: Int) {
    range = edit.range
    later = range.lowerBound + shift
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

/// Text that others' text stands inside, behind its first scalar.
private struct TornText {
  let element: ElementID
  /// The range of its first scalar, and the offset at which the rest begins.
  let first: Range<Int>
  let rest: Int
}

extension UInt8 {
  fileprivate var isWhite: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
  fileprivate var isLineFeed: Bool { self == UInt8(ascii: "\n") }
  /// Of ASCII.
  fileprivate var isLetterOrDigit: Bool {
    (0x61...0x7A).contains(self | 0x20) || (0x30...0x39).contains(self)
  }
}

extension ElementRange {
  fileprivate func holds(_ element: ElementID) -> Bool {
    element.author == author && (offset..<end).contains(element.offset)
  }
}

extension ReplicatingText {
  /// The changes that inserted the bytes at some offsets, which are sorted. O(n).
  fileprivate func insertions(ofBytesAt offsets: [Int]) -> [Int: ChangeID] {
    let elements = neighbours(of: offsets, in: nil).map { $0.right! }
    return Dictionary(uniqueKeysWithValues: zip(offsets, elements.map { insertion(of: $0)! }))
  }

  /// Those of some visible elements whose first scalar stands apart from the rest, in the order of the text. O(n).
  fileprivate func torn(_ ranges: ElementRanges, _ utf8: [UInt8]) -> [TornText] {
    let firsts = ranges.sorted.map { ElementID(author: $0.author, offset: $0.offset) }
    let places = self.places(of: Set(firsts))
    var candidates: [(element: ElementID, first: Range<Int>, second: ElementID)] = []
    for (range, element) in zip(ranges.sorted, firsts) {
      guard let place = places[element], place.isVisible else { continue }
      let byte = utf8[place.offset]
      let size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      if size >= range.count { continue }
      let second = ElementID(author: element.author, offset: element.offset + size)
      candidates.append((element, place.offset..<place.offset + size, second))
    }
    let rests = self.places(of: Set(candidates.map(\.second)))
    return candidates.compactMap { candidate in
      guard let rest = rests[candidate.second], rest.isVisible,
        rest.offset > candidate.first.upperBound
      else { return nil }
      return TornText(element: candidate.element, first: candidate.first, rest: rest.offset)
    }.sorted { $0.first.lowerBound < $1.first.lowerBound }
  }
}
