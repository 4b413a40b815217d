import TestSupport
import Testing

@testable import ReplicatingTypes

// What a merged text has to be by the rules alone, and people who write without knowing of each other.

/// The way in which a writer says what text there is to be.
enum MeaningForm: String, CaseIterable, Sendable {
  /// The whole new text.
  case text
  /// The lines that are replaced.
  case lines
  /// The ranges that are replaced.
  case ranges
  /// The first letter replaces the selection and is said as a whole text; the next ones are inserted.
  case typedText
  /// The same with its line.
  case typedLines
  /// The first letter replaces the selection and is said as a range; the next ones are inserted.
  case typedRanges

  var isTyped: Bool { self == .typedText || self == .typedLines || self == .typedRanges }
  /// True if it is not told what is selected.
  var isSelectionUnknown: Bool { self == .typedText || self == .typedLines }
}

/// Writers who have one text, change it without knowing of each other, and meet.
final class MeaningMeeting {
  private(set) var writers: [SharedWriter]
  private var log = SharedLog()
  private let old: String
  private var told: [String] = []
  private(set) var result = ""

  /// - Parameter count: how many change the text. One more has written it.
  init(_ text: String, of count: Int, _ random: inout SplitMix64) {
    old = text
    writers = (1...UInt64(count + 1)).shuffled(using: &random).map { SharedWriter($0) }
    writers[count].edit([Edit(range: 0..<0, replacement: Array(text.utf8))], &log)
    for writer in writers { writer.pull(writers[count].version, log) { 1 } }
  }

  /// Makes edits, as one change unless they are typed.
  func write(_ index: Int, _ edits: [Edit<UInt8>], as form: MeaningForm) {
    let writer = writers[index]
    let meant = writer.text.utf8.applying(edits)
    if form.isTyped, edits.count == 1, !edits[0].replacement.isEmpty {
      var place = edits[0].range.lowerBound
      let letters = String(decoding: edits[0].replacement, as: UTF8.self)
      for (step, letter) in letters.enumerated() {
        let letter = Array(String(letter).utf8)
        let range = step == 0 ? edits[0].range : place..<place
        say([Edit(range: range, replacement: letter)], writer, form, isFirst: step == 0)
        place += letter.count
      }
    } else {
      say(edits, writer, form, isFirst: true)
    }
    told.append("\(index) \(form) \(writer.text.string.debugDescription)")
    if writer.text.utf8 != meant {
      Issue.record("the writer does not have what it meant: \(story)")
    }
  }

  private func say(
    _ edits: [Edit<UInt8>], _ writer: SharedWriter, _ form: MeaningForm, isFirst: Bool
  ) {
    let old = writer.text.utf8
    let said =
      if !isFirst {
        edits
      } else if form == .text || form == .typedText {
        textDifference(from: old, to: old.applying(edits))
      } else if form == .lines || form == .typedLines {
        differences(within: edits.isEmpty ? [] : [ofWholeLines(edits, old)], of: old)
      } else {
        differences(within: edits, of: old)
      }
    if !said.isEmpty { writer.edit(said, isGoingOn: !isFirst, &log) }
  }

  /// The lines from the first edit to the last, each with its end, as one edit.
  private func ofWholeLines(_ edits: [Edit<UInt8>], _ text: [UInt8]) -> Edit<UInt8> {
    let (first, last) = (edits[0].range.lowerBound, edits.last!.range.upperBound)
    let low = text[..<first].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let high = text[last...].firstIndex(of: 0x0A).map { $0 + 1 } ?? text.count
    let rest = text.count - high
    return Edit(
      range: low..<high, replacement: Array(text.applying(edits).dropFirst(low).dropLast(rest)))
  }

  /// A writer gets what another one has.
  func pull(_ index: Int, from other: Int, _ random: inout SplitMix64) {
    writers[index].pull(writers[other].version, log) { 1 + random.below(4) }
  }

  /// Everybody gets everything, each in another order; two readers get it in opposite orders.
  @discardableResult func meet(_ random: inout SplitMix64) -> String {
    let versions = writers.map(\.version)
    let readers = [SharedWriter(98), SharedWriter(99)]
    for (reader, order) in zip(readers, [versions, versions.reversed()]) {
      for version in order { reader.pull(version, log) { 1 + random.below(4) } }
    }
    for writer in writers {
      for version in versions.shuffled(using: &random) {
        writer.pull(version, log) { 1 + random.below(4) }
      }
    }
    result = readers[0].text.string
    for writer in writers + readers where writer.text.string != result {
      let number = writer.replica.id.high
      Issue.record("\(number) sees \(writer.text.string.debugDescription): \(story)")
    }
    return result
  }

  /// What everybody had, wrote and got, on one line.
  var story: String {
    let numbers = writers.map { String($0.replica.id.high) }.joined(separator: ",")
    return "had \(old.debugDescription) | \(told.joined(separator: " | ")) | ids \(numbers)"
      + " | got \(result.debugDescription)"
  }

  /// Records what is wrong with the result, if something is.
  func report(_ complaint: String?, _ seed: UInt64) {
    if let complaint { Issue.record("\(complaint): \(story) | seed \(seed)") }
  }
}

// MARK: - What a word is

extension Character {
  /// True if it may be a part of a word that another such character lengthens.
  var isWordPart: Bool { isLetter || isNumber }
}

/// True if one of two words only lengthens the other, or deletes a part of it.
///
/// The rules promise only for other changes that the word is replaced.
func isLengthened(_ one: String, _ other: String) -> Bool {
  let (short, long) = one.count < other.count ? (one, other) : (other, one)
  let head = zip(short, long).prefix { $0 == $1 }.count
  let tail = zip(short.reversed(), long.reversed()).prefix { $0 == $1 }.count
  return head + tail >= short.count
}

/// The words between blanks and line ends, without full stops.
func meaningWords(_ text: String) -> [String] {
  text.split(whereSeparator: { (letter: Character) in letter.isWhitespace || letter == "." })
    .map { String($0) }
}

// MARK: - What is wrong with a result

/// A letter that is not in a result as often as it was typed and stood beside what was replaced.
func lettersMiscounted(in result: String, typed: [String], beside: String) -> String? {
  let letters = Set(typed.joined().filter(\.isWordPart))
  for letter in letters.sorted() {
    let (count, expected) = (
      result.count { $0 == letter },
      typed.joined().count { $0 == letter } + beside.count { $0 == letter }
    )
    if count != expected { return "\(letter) is there \(count) times, not \(expected)" }
  }
  return nil
}

/// A text that is not a part of a result.
func partMissing(in result: String, of parts: [String]) -> String? {
  for part in parts where !result.contains(part) { return "\(part.debugDescription) is missing" }
  return nil
}

/// A word that does not stand as a word in a result: another letter or digit is glued to it.
func wordMissing(in result: String, of words: [String]) -> String? {
  let letters = Array(result)
  for word in words where !hasWord(letters, Array(word)) {
    return "\(word.debugDescription) is no word"
  }
  return nil
}

private func hasWord(_ letters: [Character], _ word: [Character]) -> Bool {
  let isBox = word.first == "["
  /// True if what stands beside the word is no part of another word or number.
  func isFree(_ first: Int, _ second: Int) -> Bool {
    guard letters.indices.contains(first) else { return true }
    if isBox { return letters[first].isWhitespace }
    if letters[first].isWordPart || "'[]€$¥".contains(letters[first]) { return false }
    return
      !(".,:/-#+%°".contains(letters[first]) && letters.indices.contains(second)
      && letters[second].isWordPart)
  }
  return letters.indices.contains { start in
    let end = start + word.count
    return letters[start...].starts(with: word) && isFree(start - 1, start - 2)
      && isFree(end, end + 1)
  }
}

/// The lines of a text with ends of any kind, without these.
func meaningLines(_ text: String) -> [String] {
  var lines = [""]
  for letter in text {
    if ["\n", "\r\n", "\r"].contains(letter) {
      lines.append("")
    } else {
      lines[lines.count - 1].append(letter)
    }
  }
  return lines
}

/// The number of line ends, and one if something stands behind the last one.
func lineCount(_ text: String) -> Int {
  let lines = meaningLines(text)
  return lines.count - (lines.last == "" ? 1 : 0)
}

/// What a line has behind its indentation, list mark, number, quote mark and box.
func behindMark(_ line: String) -> String {
  for mark in ["  * ", "- [ ] ", "[ ] ", "- ", "> ", "1. "] where line.hasPrefix(mark) {
    return String(line.dropFirst(mark.count))
  }
  return line
}

/// A line that is not a line of a result.
func lineMissing(
  in result: String, of lines: [String], ignoringMarks: Bool
) -> String? {
  let all = meaningLines(result)
  for line in lines {
    let isThere =
      ignoringMarks
      ? all.contains { behindMark($0) == behindMark(line) } : all.contains(line)
    if !isThere { return "\(line.debugDescription) is no line" }
  }
  return nil
}

/// A sentence within which another one begins, or that is glued to another one.
func sentenceMissing(in result: String, of sentences: [String]) -> String? {
  let letters = Array(result)
  for sentence in sentences {
    let sentence = Array(sentence)
    let isThere = letters.indices.contains { start in
      let end = start + sentence.count
      return letters[start...].starts(with: sentence)
        && (start == 0 || letters[start - 1].isWhitespace)
        && (end == letters.count || letters[end].isWhitespace)
    }
    if !isThere { return "\(String(sentence).debugDescription) is no sentence" }
  }
  return nil
}

/// A line end that is a half of another kind, in a text of which people wrote only some kinds.
func lineEndHalved(in result: String, kinds: Set<String>) -> String? {
  for end in ["\r", "\n"] where !kinds.contains(end) {
    if result.contains(where: { $0 == Character(end) }) { return "\(end.debugDescription) alone" }
  }
  return nil
}

/// A number of lines that conversions have changed.
func linesMiscounted(in result: String, unconverted: String) -> String? {
  let (count, expected) = (lineCount(result), lineCount(unconverted))
  if count == expected { return nil }
  return "\(count) lines, not \(expected) as in \(unconverted.debugDescription)"
}

/// A character that is in no text that people had or wrote.
func characterMade(in result: String, of texts: [String]) -> String? {
  let known = Set(texts.joined(separator: "\n")).union([" ", "\n"])
  guard let made = result.first(where: { !known.contains($0) }) else { return nil }
  let scalars = made.unicodeScalars.map { String($0.value, radix: 16) }
  return "\(made) is made of \(scalars.joined(separator: " "))"
}

/// A text whose bytes are others than those that were meant.
func textMissed(in result: String, meant: String) -> String? {
  Array(result.utf8) == Array(meant.utf8) ? nil : "not \(meant.debugDescription)"
}
