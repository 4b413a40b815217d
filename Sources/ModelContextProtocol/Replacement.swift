internal import Bytes

/// A text in which a part was replaced.
struct Replacement {
  /// The reason why nothing is replaced, in a sentence for an agent.
  enum Mistake: Error {
    case absent
    case ambiguous

    var message: String {
      switch self {
      case .absent:
        "this text does not occur in the note at this base. Read the note again with read_note, and take old from its text, character by character, and base from its revision."
      case .ambiguous:
        "this text occurs several times in the note. Take more of the text around it into old and new."
      }
    }
  }

  let text: [UInt8]
  /// The place of what was put in.
  let range: Range<Int>

  /// The most bytes of lines that are shown.
  private static let mostShown = 8000

  /// Replaces what occurs once in a text. Line ends of both kinds are the same in that comparison, and the text keeps its own.
  ///
  /// - Complexity: O(text + old + new).
  init(of old: [UInt8], in text: [UInt8], by new: [UInt8]) throws(Mistake) {
    let (plain, plainOld) = (PlainLines(text), PlainLines(old).bytes)
    let places = Occurrence.firstTwo(of: plainOld, in: plain.bytes)
    guard let first = places.first else { throw .absent }
    var range =
      plain.originalOffset(of: first)..<plain.originalOffset(of: first + plainOld.count)
    if places.count > 1 {
      // It may occur once with just these line ends.
      let exact = Occurrence.firstTwo(of: old, in: text)
      guard exact.count == 1 else { throw .ambiguous }
      range = exact[0]..<exact[0] + old.count
      guard !Self.isInsideLineEnd(range.lowerBound, of: text),
        !Self.isInsideLineEnd(range.upperBound, of: text)
      else { throw .ambiguous }
    }
    let fitting = Self.fitting(new, inPlaceOf: text[range], LineEnd(of: text))
    self.text = Array(text[..<range.lowerBound]) + fitting + text[range.upperBound...]
    self.range = range.lowerBound..<range.lowerBound + fitting.count
  }

  private static func isInsideLineEnd(_ offset: Int, of text: [UInt8]) -> Bool {
    (1..<text.count).contains(offset) && text[offset - 1] == 0x0D && text[offset] == 0x0A
  }

  /// A text with the line ends of the one whose place it takes, as far as the two begin and end with the same lines, and else with the given ones.
  private static func fitting(
    _ new: [UInt8], inPlaceOf old: ArraySlice<UInt8>, _ lineEnd: LineEnd?
  ) -> [UInt8] {
    guard let lineEnd else { return new }
    let (plainOld, plainNew) = (PlainLines(old), PlainLines(new).bytes)
    let same = CommonEnds(plainOld.bytes[...], plainNew[...])
    let start = plainOld.originalOffset(of: same.prefix)
    let end = plainOld.originalOffset(of: plainOld.bytes.count - same.suffix)
    return Array(old.prefix(start))
      + lineEnd.ending(linesOf: plainNew[same.prefix..<plainNew.count - same.suffix])
      + old.dropFirst(end)
  }

  /// The lines in which something is new, without what is too long.
  var lines: String {
    let lines = Lines(text)
    return Self.shown(lines.elements[lines.range(of: range)])
  }

  /// The lines of a text that has come of merging this one: those that stand in the place of the replacement, and all that the merge has changed.
  ///
  /// - Parameter present: the text before the merge.
  /// - Complexity: O(the three texts).
  func lines(in merged: [UInt8], insteadOf present: [UInt8]) -> String {
    if merged == text { return lines }
    let (ours, theirs) = (Lines(text), Lines(merged))
    var place = ours.place(of: ours.range(of: range), in: theirs)
    let same = CommonEnds(Lines(present).elements[...], theirs.elements[...])
    let changed = same.prefix..<theirs.elements.count - same.suffix
    if !changed.isEmpty {
      place =
        min(place.lowerBound, changed.lowerBound)..<max(place.upperBound, changed.upperBound)
    }
    return Self.shown(theirs.elements[place])
  }

  private static func shown(_ lines: ArraySlice<ArraySlice<UInt8>>) -> String {
    var shown = Array(lines.joined(separator: [0x0A]).prefix(mostShown + 1))
    let isCut = shown.count > mostShown
    if isCut { shown.removeLast() }
    // It may end inside a code point.
    while isCut, let last = shown.last, last >= 0x80 {
      shown.removeLast()
      if last >= 0xC0 { break }
    }
    if !isCut, shown.last == 0x0D { shown.removeLast() }
    return String(decoding: shown, as: UTF8.self) + (isCut ? "…" : "")
  }
}
