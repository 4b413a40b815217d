import TestSupport
import Testing

@testable import ReplicatingTypes

// What people mean, as properties: held against the rules alone.

/// Bytes of a text in the place of a part of another one.
private func edit(
  _ text: String, from start: Int, to end: Int, with new: String
) -> Edit<UInt8> {
  Edit(range: start..<end, replacement: Array(new.utf8))
}

extension SplitMix64 {
  fileprivate mutating func form() -> MeaningForm { pick(MeaningForm.allCases) }

  /// A text of `count` parts.
  fileprivate mutating func join(
    _ count: Int, _ separator: String, _ part: (inout SplitMix64) -> String
  ) -> String {
    var parts: [String] = []
    for _ in 0..<count { parts.append(part(&self)) }
    return parts.joined(separator: separator)
  }
}

// MARK: - 1. Typed over the same

/// Two or three people type over the same word, line or paragraph.
private struct TypedOverCase {
  var before = ""
  var selected = ""
  var behind = ""
  /// What everybody types, in which form, and over which part of what is selected.
  var typed: [String] = []
  var forms: [MeaningForm] = []
  var ranges: [Range<Int>] = []

  private static let alphabets: [[[String]]] = [
    [["a", "b", "c", "d"], ["A", "B", "C", "D"], ["u", "v", "w"]],
    [["e", "é", "o"], ["E", "É", "ö"], ["ü", "ß", "s"]],
    [["α", "β", "γ"], ["а", "б", "в"], ["a", "b", "c"]],
    [["東", "京", "大"], ["阪", "都", "府"], ["a", "b"]],
    [["あ", "い", "う"], ["ア", "イ", "ウ"], ["亜", "以", "宇"]],
  ]

  init(_ random: inout SplitMix64) {
    repeat { self = Self(unchecked: &random) } while !isPromised
  }

  private init(unchecked random: inout SplitMix64) {
    let alphabets = random.pick(Self.alphabets)
    let isSame = random.chance(80)
    // Where the selections differ a word of one may be kept by the other: its letters are others.
    let all = isSame ? alphabets.joined() + ["m", "n"] : ["m", "n", "r"]
    let size = random.below(3)
    selected = Self.text(size, all, &random)
    (before, behind) = random.pick([
      ("", ""), ("p ", " q"), ("p\n", "\nq"), ("- ", "\n- q\n"), ("(", ")"), ("p", "q"),
      ("語 ", " 語"), ("", "\n"), ("p. ", " q."),
    ])
    let count = 2 + (random.chance(30) ? 1 : 0)
    for index in 0..<count {
      typed.append(Self.text(random.chance(70) ? size : random.below(3), alphabets[index], &random))
      forms.append(random.form())
      ranges.append(0..<selected.utf8.count)
    }
    if isSame { return }
    // One of them selects all, so that nothing of it is left.
    let blanks = Array(selected.utf8).indices.filter { Array(selected.utf8)[$0] == 0x20 }
    guard let blank = blanks.randomElement(using: &random) else { return }
    ranges[1] = random.chance(50) ? 0..<blank : blank + 1..<selected.utf8.count
  }

  /// A word, a line or a paragraph.
  private static func text(
    _ size: Int, _ alphabet: [String], _ random: inout SplitMix64
  ) -> String {
    func word(_ random: inout SplitMix64) -> String {
      random.join(1 + random.below(5), "") { $0.pick(alphabet) }
    }
    switch size {
    case 0: return word(&random)
    case 1: return random.join(2 + random.below(4), " ", word)
    default:
      let separator = random.pick([". ", ".\n"])
      return random.join(2 + random.below(2), separator) { random in
        random.join(1 + random.below(3), " ", word)
      } + "."
    }
  }

  /// True if the rules say what comes out.
  private var isPromised: Bool {
    for (text, form) in zip(typed, forms) {
      if form.isTyped {
        let first = text.first!
        // The first letter would replace nothing.
        if String(first) == selected { return false }
        if !form.isSelectionUnknown { continue }
        // Of a word of which only a part is selected the first letter may be one that is kept.
        if before == "p", behind == "q", selected.contains(first) { return false }
        // A whole text or line does not tell the first letter from a word that is kept.
        if isWord(first) { return false }
        continue
      }
      // A word that is in both texts is kept, and what is only lengthened is not replaced.
      if isLengthened(selected, text) { return false }
      let edge = (before == "p" ? "p" : "", before == "p" ? "q" : "")
      let (old, new) = (
        meaningWords(edge.0 + selected + edge.1), meaningWords(edge.0 + text + edge.1)
      )
      if new.contains(where: { word in old.contains { isLengthened($0, word) } }) { return false }
      if !Set(text.filter(\.isIdeograph)).isDisjoint(with: selected) { return false }
    }
    return true
  }

  /// True if a letter is a whole word of what is selected: one between blanks, or beside a character that is a word by itself.
  private func isWord(_ letter: Character) -> Bool {
    meaningWords(selected).contains(String(letter))
      || selected.contains(letter) && selected.contains(where: \.isIdeograph)
  }

  func complaint(about result: String) -> String? {
    if let complaint = lettersMiscounted(in: result, typed: typed, beside: before + behind) {
      return complaint
    }
    if ranges.contains(where: { $0 != ranges[0] }) { return nil }
    // A stop that is in both texts may be kept by one and deleted by the other.
    let parts = typed.flatMap { text in text.split { $0 == "\n" || $0 == "." } }
    return partMissing(in: result, of: parts.map { $0.drop { $0 == " " } }.map(String.init))
  }

  func run(_ seed: UInt64, _ random: inout SplitMix64) {
    let meeting = MeaningMeeting(before + selected + behind, of: typed.count, &random)
    let start = before.utf8.count
    for index in typed.indices {
      meeting.write(
        index,
        [
          Edit(
            range: start + ranges[index].lowerBound..<start + ranges[index].upperBound,
            replacement: Array(typed[index].utf8))
        ], as: forms[index])
    }
    meeting.report(complaint(about: meeting.meet(&random)), seed)
  }
}

extension Character {
  /// True if the character is a word by itself.
  fileprivate var isIdeograph: Bool {
    unicodeScalars.contains { (0x3040...0x9FFF).contains($0.value) }
  }
}

// MARK: - 2. Words and numbers

/// Two or three people replace one word of a line by others.
private struct WordCase {
  var before = ""
  var old = ""
  var behind = ""
  var new: [String] = []
  var forms: [MeaningForm] = []
  /// What another one does meanwhile, as edits of the whole text.
  var others: [Edit<UInt8>] = []

  init(_ random: inout SplitMix64) {
    repeat { self = Self(unchecked: &random) } while !isPromised
  }

  private init(unchecked random: inout SplitMix64) {
    let kind = random.below(8)
    old = Self.word(kind, &random)
    (before, behind) = random.pick(
      kind == 7
        ? [
          ("- ", " milk"), ("- ", " milk\n"), ("a\n- ", " milk\n- [ ] tea\n"), ("* ", " two words"),
        ]
        : [
          ("", ""), ("", "\n"), ("price ", ""), ("zig ", " zag"), ("- ", "\n"), ("- zig ", "\n"),
          ("(", ")"), ("zig: ", "."), ("zig ", ", zag"), ("zig zag ", " zog zug\n"),
          ("zig\n", "\nzag"), ("zig zag (", ") zog"), ("zig ", "\nzag zog"),
        ])
    for _ in 0..<(2 + (random.chance(25) ? 1 : 0)) {
      new.append(Self.word(random.chance(75) || kind == 7 ? kind : random.below(7), &random))
      forms.append(random.form())
    }
    if new.count == 2, random.chance(60) { others = other(&random) }
  }

  /// The word is deleted, a word is inserted beside it, a line is appended, or the line is deleted.
  private func other(_ random: inout SplitMix64) -> [Edit<UInt8>] {
    let (start, end) = (before.utf8.count, (before + old).utf8.count)
    let all = (before + old + behind).utf8.count
    let text = before + old + behind
    var choices = [
      edit(text, from: start, to: end, with: ""), edit(text, from: start, to: start, with: "yy "),
      edit(text, from: 0, to: 0, with: "yy\n"), edit(text, from: 0, to: all, with: ""),
    ]
    choices.append(edit(text, from: end, to: end, with: " yy"))
    choices.append(edit(text, from: all, to: all, with: "\nyy"))
    if before.hasPrefix("zig") { choices.append(edit(text, from: 0, to: 3, with: "yy")) }
    if behind.hasSuffix(" zag") {
      choices.append(edit(text, from: all - 3, to: all, with: "yy"))
    }
    return [random.pick(choices)]
  }

  private static func word(_ kind: Int, _ random: inout SplitMix64) -> String {
    func digits(_ most: Int, _ random: inout SplitMix64) -> String {
      random.join(1 + random.below(most), "") { String($0.below(10)) }
    }
    func two(_ random: inout SplitMix64) -> String { random.join(2, "") { String($0.below(10)) } }
    switch kind {
    case 0:
      let number = digits(4, &random)
      return random.pick([
        number, number, "-" + number, "+" + number, "#" + number, number + "%", number + "°",
        number + "." + two(&random), number + "," + two(&random),
      ])
    case 1:
      let (day, month) = ("0\(1 + random.below(9))", "1\(random.below(3))")
      return random.pick(["2026-\(month)-\(day)", "\(day).\(month).2026", "\(day)/\(month)/26"])
    case 2:
      let time = "\(10 + random.below(14)):\(two(&random))"
      return random.pick([time, time, time + ":" + two(&random)])
    case 3:
      let price = digits(3, &random) + random.pick(["", "." + two(&random), "," + two(&random)])
      return random.pick(["€" + price, "$" + price, "¥" + price, price + "€"])
    case 4:
      let numbers = random.join(1 + random.below(3), ".") { String($0.below(12)) }
      return "v" + numbers
    case 7: return random.pick(["[ ]", "[x]", "[-]", "[X]", "[/]"])
    default:
      let scripts = ["abcdé", "ABCDÉ", "абвг", "αβγδ", "אבגד", "한국어글", "ابتث", "01"]
      var some = [Array(random.pick(scripts.dropLast()))]
      for _ in 0..<random.below(3) { some.append(Array(random.pick(scripts))) }
      let word = some.map { letters in
        random.join(1 + random.below(3), "") { String($0.pick(letters)) }
      }
      .joined()
      return random.chance(10) ? word + "'s" : word
    }
  }

  private var isPromised: Bool {
    for (index, word) in new.enumerated() {
      if new[..<index].contains(word) || word == old { return false }
      if forms[index].isTyped {
        if String(word.first!) == old { return false }
        // The same replacement is there once, and goes on with what one of them types.
        if new.contains(String(word.first!)) { return false }
      } else if isLengthened(old, word), !(old + word).allSatisfy({ $0.isNumber || $0 == "." }) {
        return false
      }
    }
    return true
  }

  func complaint(about result: String) -> String? { wordMissing(in: result, of: new) }

  func run(_ seed: UInt64, _ random: inout SplitMix64) {
    let text = before + old + behind
    let meeting = MeaningMeeting(text, of: new.count + (others.isEmpty ? 0 : 1), &random)
    let (start, end) = (before.utf8.count, (before + old).utf8.count)
    for (index, word) in new.enumerated() {
      meeting.write(index, [edit(text, from: start, to: end, with: word)], as: forms[index])
    }
    if !others.isEmpty { meeting.write(new.count, others, as: random.form()) }
    meeting.report(complaint(about: meeting.meet(&random)), seed)
  }

  /// All put the same word there, each in a form of its own.
  func runAlike(_ seed: UInt64, _ random: inout SplitMix64) {
    let text = before + old + behind
    // A number of which a part is added or deleted is replaced where a range names it, and a whole text may tell another part.
    if isLengthened(old, new[0]) { return }
    let meeting = MeaningMeeting(text, of: new.count, &random)
    let (start, end) = (before.utf8.count, (before + old).utf8.count)
    for index in new.indices {
      let form = random.pick([MeaningForm.text, .lines, .ranges])
      meeting.write(index, [edit(text, from: start, to: end, with: new[0])], as: form)
    }
    meeting.report(
      textMissed(in: meeting.meet(&random), meant: before + new[0] + behind), seed)
  }
}

// MARK: - 3. Lines and sentences written anew

private let meaningList = [
  "the", "to", "a", "and", "milk", "bread", "eggs", "boiler", "friday", "ben", "calls", "tea",
  "coffee", "garden", "house", "window", "door", "letter", "paper", "night", "morning", "rain",
  "river", "stone", "green", "small", "quick", "brown", "lazy", "fox",
]

/// Lines, or sentences of a paragraph, some of which one writes anew while others do something else.
private struct LineCase {
  enum Act: String, CaseIterable {
    case rewrite, rewriteToo, delete, append, move, insertWord, replaceWord
  }

  var isParagraph = false
  var mark = ""
  var end = "\n"
  var lines: [String] = []
  var hasLastEnd = true
  /// The lines that are written anew.
  var target = 0..<1
  var acts: [Act] = [.rewrite]
  var new: [[String]] = [[]]
  var forms: [MeaningForm] = []
  var edits: [[Edit<UInt8>]] = []
  /// True if one types the mark of the line, too: what another one writes behind the mark of that line is without one then.
  private var isMarkTyped = false
  /// The lines of each side that have to be there.
  var promised: [String] = []
  /// True if all lines that are written anew are new ones by the rules.
  private var isPromised = true

  init(_ random: inout SplitMix64) {
    repeat { self = Self(unchecked: &random) } while !isPromised
  }

  private init(unchecked random: inout SplitMix64) {
    isParagraph = random.chance(30)
    mark = isParagraph ? "" : random.pick(["", "", "- ", "> ", "- [ ] ", "  * ", "1. "])
    end = isParagraph ? " " : "\n"
    hasLastEnd = !isParagraph && random.chance(60)
    let stop = isParagraph ? "." : random.pick(["", "", "."])
    let context = ["kiwi lime plum", "pear fig quince", "olive grape melon", "date sloe medlar"]
    let (before, behind, count) = (random.below(3), random.below(3), 1 + random.below(3))
    let old = (0..<count).map { _ in
      random.join(2 + random.below(6), " ") { $0.pick(meaningList) } + stop
    }
    lines = context.prefix(before).map { mark + $0 + stop } + old.map { mark + $0 }
    lines += context.suffix(behind).map { mark + $0 + stop }
    target = before..<before + count
    acts += (0..<(1 + (random.chance(25) ? 1 : 0))).map { _ in
      random.pick(Array(Act.allCases.dropFirst()))
    }
    // All of a text without a line end and a stop are words, and the first letter is no sentence.
    isPromised = lines.count > 1 || hasLastEnd || !mark.isEmpty
    new = []
    for act in acts {
      forms.append(random.form())
      new.append([])
      write(act, stop, &random)
    }
  }

  var text: String { lines.joined(separator: end) + (hasLastEnd ? end : "") }

  /// The place of the first byte of a line.
  private func start(_ line: Int) -> Int {
    lines[..<line].reduce(0) { $0 + $1.utf8.count + end.utf8.count }
  }

  private func newLine(_ stop: String, _ random: inout SplitMix64) -> String {
    let old = lines[target].flatMap { meaningWords(behindMark($0)) }
    var words = Array(old.shuffled(using: &random).prefix(random.below(7)))
    if random.chance(70) { words = old.filter { words.contains($0) } }
    words = Array(words.prefix(6))
    for _ in 0..<(2 + random.below(7)) {
      words.insert(random.pick(meaningList), at: random.below(words.count + 1))
    }
    return words.joined(separator: " ") + stop
  }

  private mutating func write(_ act: Act, _ stop: String, _ random: inout SplitMix64) {
    let index = edits.count
    let from = start(target.lowerBound)
    let to = start(target.upperBound - 1) + lines[target.upperBound - 1].utf8.count
    switch act {
    case .rewrite, .rewriteToo:
      for _ in 0..<(1 + random.below(3)) { new[index].append(mark + newLine(stop, &random)) }
      // A mark is not typed first where only the whole text or line is told, and indentation never.
      let isSkipped =
        forms[index].isSelectionUnknown || forms[index].isTyped && mark.hasPrefix(" ")
      let skipped = isSkipped || random.chance(50) ? mark.utf8.count : 0
      if forms[index].isTyped, skipped < mark.utf8.count { isMarkTyped = true }
      let words = new[index].joined(separator: end).utf8.dropFirst(skipped)
      edits.append([Edit(range: from + skipped..<to, replacement: Array(words))])
      if areNew(index) { promised += new[index] } else { isPromised = false }
    case .delete:
      // With the end of the last line, or else with the one before.
      let hasEnd = target.upperBound < lines.count || hasLastEnd
      let behind = hasEnd ? to + end.utf8.count : to
      let first = hasEnd || target.lowerBound == 0 ? from : from - end.utf8.count
      edits.append([edit(text, from: first, to: behind, with: "")])
    case .append:
      // A digit typed in front of a number lengthens that, as far as a whole text or line tells.
      if forms[index].isSelectionUnknown, mark == "1. " { forms[index] = .typedRanges }
      // What begins or ends like its neighbour may be inserted within that: the rules name no best blank.
      func edges(_ line: String) -> [String] {
        let words = meaningWords(behindMark(line))
        return [words.first!, words.last!]
      }
      let old = Set(lines[target].flatMap(edges))
      repeat {
        new[index] = [mark + newLine(stop, &random)]
      } while edges(new[index][0]).contains { old.contains($0) }
      promised += new[index]
      let place = random.pick([from, to])
      let line = place == from ? new[index][0] + end : end + new[index][0]
      edits.append([edit(text, from: place, to: place, with: line)])
    case .move:
      // A line that has an end goes before another one.
      let movable = lines.indices.filter { $0 + 1 < lines.count || hasLastEnd }
      guard let line = movable.randomElement(using: &random), lines.count > 2 else {
        edits.append([])
        return
      }
      let places = lines.indices.filter { $0 != line && $0 != line + 1 }
      guard let place = places.randomElement(using: &random) else {
        edits.append([])
        return
      }
      let (at, text) = (start(line), lines[line] + end)
      let removal = edit(text, from: at, to: at + text.utf8.count, with: "")
      let insertion = edit(text, from: start(place), to: start(place), with: text)
      edits.append(place < line ? [insertion, removal] : [removal, insertion])
    case .insertWord:
      let line = target.lowerBound + random.below(target.count)
      let bytes = Array(lines[line].utf8)
      let blanks = bytes.indices.filter { bytes[$0] == 0x20 && $0 >= mark.utf8.count }
      guard let blank = blanks.randomElement(using: &random) else {
        edits.append([])
        return
      }
      let place = start(line) + blank
      let isBehind = random.chance(50)
      edits.append([
        isBehind
          ? edit(text, from: place, to: place, with: " inserted")
          : edit(text, from: place + 1, to: place + 1, with: "inserted ")
      ])
    case .replaceWord:
      let line = target.lowerBound + random.below(target.count)
      let bytes = Array(lines[line].utf8)
      let blanks = bytes.indices.filter { bytes[$0] == 0x20 && $0 >= mark.utf8.count }
      guard blanks.count > 1 else {
        edits.append([])
        return
      }
      let (place, end) = (start(line) + blanks[0] + 1, start(line) + blanks[1])
      edits.append([edit(text, from: place, to: end, with: "other")])
    }
  }

  /// True if each new line is a new one by the rules: more than half of its words are in no old line, and of each old line's words some are gone.
  private func areNew(_ index: Int) -> Bool {
    if forms[index].isTyped {
      // The first letter replaces all that is selected, unless it is a word of that.
      let first = String(behindMark(new[index][0]).prefix(1))
      return !lines[target].contains { meaningWords(behindMark($0)).contains(first) }
    }
    let old = Set(lines.flatMap { meaningWords($0) })
    let words = Set(new[index].flatMap { meaningWords($0) })
    return new[index].allSatisfy { line in
      let words = meaningWords(behindMark(line))
      return words.count { !old.contains($0) } * 2 > words.count
    }
      && lines[target].allSatisfy { line in
        meaningWords(behindMark(line)).contains { !words.contains($0) }
      }
  }

  func complaint(about result: String) -> String? {
    if isParagraph { return sentenceMissing(in: result, of: promised) }
    return lineMissing(
      in: result, of: promised,
      ignoringMarks: acts.contains(.delete) || acts.contains(.move) || target.count > 1
        || isMarkTyped)
  }

  func run(_ seed: UInt64, _ random: inout SplitMix64) {
    let meeting = MeaningMeeting(text, of: edits.count, &random)
    for index in edits.indices { meeting.write(index, edits[index], as: forms[index]) }
    meeting.report(complaint(about: meeting.meet(&random)), seed)
  }
}

// MARK: - 4. Line ends

/// Some convert the line ends of a text, and some do something with its lines.
private struct LineEndCase {
  enum Act: String, CaseIterable { case nothing, delete, join, split, add, move }
  enum Conversion: CaseIterable { case before, behind, within }

  static let kinds = ["\n", "\r\n", "\r"]

  var lines: [String] = []
  var kind = ""
  var hasLastEnd = true
  var acts: [(act: Act, line: Int, place: Int)] = []
  /// The kind of line ends that each writer makes of all, if it does.
  var conversions: [(kind: String, time: Conversion)?] = []
  var forms: [MeaningForm] = []

  init(_ random: inout SplitMix64) {
    repeat { self = Self(unchecked: &random) } while !isPromised || isKnownToFail
  }

  private var kinds: Set<String> { Set(conversions.compactMap { $0?.kind }) }

  /// True if the rules say how many lines come out.
  private var isPromised: Bool {
    // Lines that two move are there twice where a conversion comes with it.
    if acts.count(where: { $0.act == .move }) > 1 { return false }
    // The same is split twice by line ends of two kinds.
    let split = acts.filter { $0.act == .split }.map(\.line)
    if Set(split).count < split.count { return false }
    // A carriage return in front of a line feed that another person types is one line end with it.
    let isMixed = kinds.union([kind]).isSuperset(of: ["\r", "\n"])
    return !isMixed || !acts.contains { [.add, .move, .split].contains($0.act) }
  }

  private var isKnownToFail: Bool { isJoinedBeside }

  /// Known to fail: two lines are joined, and another person joins them, too, deletes one of them, adds one between them or moves one.
  private var isJoinedBeside: Bool {
    acts.indices.contains { index in
      let (act, line, _) = acts[index]
      if act != .join { return false }
      return acts.indices.contains { other in
        let (otherAct, otherLine, _) = acts[other]
        return other != index
          && (otherAct == .join && otherLine == line || otherAct == .move
            || otherAct == .add && otherLine == line + 1
            || otherAct == .delete && (line...line + 1).contains(otherLine))
      }
    }
  }

  private init(unchecked random: inout SplitMix64) {
    lines = Array(
      ["ant bee", "cat dog", "eel fox", "gnu hen", "ibis jay"].prefix(2 + random.below(4)))
    kind = random.pick(Self.kinds)
    hasLastEnd = random.chance(70)
    let count = 2 + (random.chance(40) ? 1 : 0)
    let converters = 1 + random.below(count)
    for index in 0..<count {
      let act = index < converters && random.chance(50) ? .nothing : random.pick(Act.allCases)
      let line = random.below(lines.count - 1)
      let places = lines.indices.filter { $0 != line && $0 != line + 1 }
      acts.append((act, line, places.randomElement(using: &random) ?? line))
      conversions.append(
        index < converters
          ? (random.pick(Self.kinds.filter { $0 != kind }), random.pick(Conversion.allCases)) : nil)
      forms.append(random.pick([.text, .lines, .ranges]))
    }
  }

  var text: String { lines.joined(separator: kind) + (hasLastEnd ? kind : "") }

  /// The edits that an act makes of the lines, whose ends are of one kind.
  private func edits(_ index: Int, _ kind: String) -> [Edit<UInt8>] {
    let (act, line, place) = acts[index]
    func start(_ line: Int) -> Int {
      lines[..<line].reduce(0) { $0 + $1.utf8.count + kind.utf8.count }
    }
    let (from, to) = (start(line), start(line) + lines[line].utf8.count)
    let end = to + kind.utf8.count
    switch act {
    case .nothing: return []
    case .delete: return [edit("", from: from, to: end, with: "")]
    case .join: return [edit("", from: to, to: end, with: " ")]
    case .split:
      let blank = from + Array(lines[line].utf8).firstIndex(of: 0x20)!
      return [edit("", from: blank, to: blank + 1, with: kind)]
    case .add: return [edit("", from: from, to: from, with: "new \(index)" + kind)]
    case .move:
      if place == line { return [] }
      let removal = edit("", from: from, to: end, with: "")
      let insertion = edit("", from: start(place), to: start(place), with: lines[line] + kind)
      return place < line ? [insertion, removal] : [removal, insertion]
    }
  }

  /// The edits that make all line ends others.
  private static func conversion(
    _ text: String, from kind: String, to new: String
  ) -> [Edit<UInt8>] {
    let (bytes, kind) = (Array(text.utf8), Array(kind.utf8))
    return bytes.indices.filter { bytes[$0...].starts(with: kind) }.map {
      Edit(range: $0..<$0 + kind.count, replacement: Array(new.utf8))
    }
  }

  /// What comes out, with or without the conversions.
  private func meeting(isConverting: Bool, _ random: SplitMix64) -> MeaningMeeting {
    var random = random
    let meeting = MeaningMeeting(text, of: acts.count, &random)
    for index in acts.indices {
      let form = forms[index]
      func act(_ kind: String) {
        let edits = edits(index, kind)
        if !edits.isEmpty { meeting.write(index, edits, as: form) }
      }
      func convert(_ new: String) {
        let text = meeting.writers[index].text.string
        meeting.write(index, Self.conversion(text, from: kind, to: new), as: form)
      }
      let time = conversions[index]?.time
      let newKind = isConverting ? conversions[index]?.kind ?? kind : kind
      switch time {
      case nil: act(kind)
      case .before:
        if isConverting { convert(newKind) }
        act(newKind)
      case .behind:
        act(kind)
        if isConverting { convert(newKind) }
      case .within:
        // Said as a whole with and without the conversion: which of two lines was moved is not told.
        let acted = String(
          decoding: Array(text.utf8).applying(edits(index, kind)), as: UTF8.self)
        let new = Array(acted.utf8).applying(Self.conversion(acted, from: kind, to: newKind))
        meeting.write(
          index, [Edit(range: 0..<text.utf8.count, replacement: new)], as: form)
      }
    }
    meeting.meet(&random)
    return meeting
  }

  func complaint(about result: String, unconverted: String) -> String? {
    linesMiscounted(in: result, unconverted: unconverted)
      ?? lineEndHalved(in: result, kinds: Set([kind] + conversions.compactMap { $0?.kind }))
  }

  func run(_ seed: UInt64, _ random: inout SplitMix64) {
    let meeting = meeting(isConverting: true, random)
    let unconverted = self.meeting(isConverting: false, random).result
    meeting.report(complaint(about: meeting.result, unconverted: unconverted), seed)
  }
}

// MARK: - 5. Characters

/// Some replace, insert and delete characters of several scalars.
private struct CharacterCase {
  private static let families: [[Character]] = [
    ["👍", "👍🏻", "👍🏽", "👍🏿", "👎🏽"], ["👨‍💻", "👩‍💻", "👨‍🚒", "👩🏽‍🚒", "👨", "👩🏽"],
    ["👨‍👩‍👧", "👨‍👩‍👧‍👦", "👩‍👩‍👦", "👨"], ["❤", "❤️", "❤️‍🔥"], ["🏳️", "🏳️‍🌈", "🏴", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴‍☠️"],
    ["🇩🇪", "🇫🇷", "🇩🇰", "🇬🇧", "🇧🇬"], ["1", "1️⃣", "2️⃣", "2", "#️⃣", "#"],
    ["e", "e\u{301}", "e\u{300}", "e\u{323}\u{302}", "o", "o\u{308}"],
    ["\u{1112}\u{1161}\u{11AB}", "\u{1112}\u{1161}", "\u{1100}\u{1173}\u{11AF}", "한", "하"],
    ["क", "कि", "की", "कं", "न", "नि", "नी", "हिं"], ["ก", "กี", "กี่", "กำ"],
  ]

  private var old: [Character] = []
  private var new: [[Character]] = []
  private var edits: [[Edit<UInt8>]] = []

  init(_ random: inout SplitMix64) {
    let families = [random.pick(Self.families), random.pick(Self.families)]
    func some(_ count: Int, _ random: inout SplitMix64) -> [Character] {
      (0..<count).map { _ in random.chance(15) ? " " : random.pick(random.pick(families)) }
    }
    repeat { old = some(1 + random.below(4), &random) } while !isWhole(old)
    for _ in 0..<(2 + (random.chance(30) ? 1 : 0)) {
      var characters = old
      var range = 0..<0
      var replacement: [Character] = []
      repeat {
        characters = old
        let start = random.below(old.count + 1)
        range = start..<min(old.count, start + random.pick([0, 1, 1, 1, 2]))
        replacement = some(range.isEmpty ? 1 + random.below(2) : random.below(3), &random)
        characters.replaceSubrange(range, with: replacement)
      } while !isWhole(characters)
      new.append(characters)
      let start = String(old[..<range.lowerBound]).utf8.count
      let end = String(old[..<range.upperBound]).utf8.count
      var edit = edit("", from: start, to: end, with: String(replacement))
      if random.chance(50) { edit = trimmed(edit) }
      edits.append([edit])
    }
  }

  /// The same edit without the scalars that it keeps.
  private func trimmed(_ edit: Edit<UInt8>) -> Edit<UInt8> {
    var old = Array(String(old).utf8)[edit.range]
    var new = edit.replacement[...]
    func scalars(_ bytes: ArraySlice<UInt8>) -> [Unicode.Scalar] {
      Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
    }
    while let scalar = scalars(old).first, scalar == scalars(new).first {
      old = old.dropFirst(String(scalar).utf8.count)
      new = new.dropFirst(String(scalar).utf8.count)
    }
    while let scalar = scalars(old).last, scalar == scalars(new).last {
      old = old.dropLast(String(scalar).utf8.count)
      new = new.dropLast(String(scalar).utf8.count)
    }
    return Edit(range: old.indices, replacement: Array(new))
  }

  /// True if the characters stay what they are beside each other.
  private func isWhole(_ characters: [Character]) -> Bool {
    Array(String(characters)) == characters
  }

  func complaint(about result: String) -> String? {
    characterMade(in: result, of: ([old] + new).map { String($0) })
  }

  func run(_ seed: UInt64, _ random: inout SplitMix64) {
    let meeting = MeaningMeeting(String(old), of: new.count, &random)
    for index in edits.indices {
      let form = random.form()
      let isWhole = !form.isTyped || isWhole(Array(meeting.writers[index].text.string))
      meeting.write(index, edits[index], as: isWhole ? form : .ranges)
    }
    meeting.report(complaint(about: meeting.meet(&random)), seed)
  }
}

// MARK: - 6. Everything

/// A text of all kinds of words, and changes of it.
private struct AnyCase {
  static func text(_ random: inout SplitMix64) -> String {
    random.join(random.below(8), "") { random in
      random.pick([
        "the ", "milk ", "bread ", "a", " ", "\n", "\r\n", "\n- ", "10", "10.50 ", "[x] ", "東京",
        "👍🏽", "👨‍💻", "🇩🇪", "cafe\u{301} ", "\u{1112}\u{1161}\u{11AB}", "कि", ". ", "to ", "and ",
      ])
    }
  }

  /// An edit that replaces something between two characters.
  static func edit(_ text: String, _ random: inout SplitMix64) -> Edit<UInt8> {
    var places = [0]
    for character in text { places.append(places.last! + String(character).utf8.count) }
    let start = random.below(places.count)
    let end = min(places.count - 1, start + random.pick([0, 0, 1, 2, 5, 20]))
    let new = random.chance(30) ? "" : Self.text(&random)
    return Edit(range: places[start]..<places[end], replacement: Array(new.utf8))
  }
}

// MARK: - The tests

@Suite(.computing) struct `What people mean` {
  @Test(arguments: seeds(500))
  func `has every letter once that people type over the same`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    TypedOverCase(&random).run(seed, &random)
  }

  @Test func `is noticed to be missing where a letter or a word is lost`() {
    func complaint(_ result: String) -> Bool {
      lettersMiscounted(in: result, typed: ["abc", "AB"], beside: "p q b") != nil
    }
    #expect(!complaint("p abcAB q b") && !complaint("p AB abc q b"))
    #expect(complaint("p abAB q b") && complaint("p abcABB q b") && complaint("p abcAB q"))
    #expect(lettersMiscounted(in: "x thenheir", typed: ["their", "then"], beside: "x") != nil)
    #expect(partMissing(in: "uno dos tresins zwei", of: ["uno dos tres", "eins zwei"]) != nil)
    #expect(partMissing(in: "uno dos tres eins zwei", of: ["uno dos tres", "eins zwei"]) == nil)
  }

  @Test(arguments: seeds(500))
  func `has each side's word as a word`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    WordCase(&random).run(seed, &random)
  }

  @Test func `is noticed to be missing where a word is glued to another one`() {
    for (result, words) in [
      ("price 1512", ["12", "15"]), ("12.75", ["12.50", "10.75"]), ("- [-x] milk", ["[x]", "[-]"]),
      ("- [x][-] milk", ["[x]", "[-]"]), ("12.5010.75", ["12.50", "10.75"]),
      ("12:30:10", ["12:30"]), ("the kafetea here", ["tea", "kafe"]), ("€$10", ["$10"]),
    ] {
      #expect(wordMissing(in: result, of: words) != nil, "\(result)")
    }
    for (result, words) in [
      ("price 15 12", ["12", "15"]), ("(12.50 10.75).", ["12.50", "10.75"]),
      ("- [x] [-] milk", ["[x]", "[-]"]), ("tea,\nkafe", ["tea", "kafe"]),
    ] {
      #expect(wordMissing(in: result, of: words) == nil, "\(result)")
    }
  }

  @Test(arguments: seeds(200))
  func `has every new line as a line`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    LineCase(&random).run(seed, &random)
  }

  @Test func `is noticed to be missing where a line or a sentence is mixed`() {
    let lines = ["- a milk", "- the tea"]
    for (result, ignoringMarks) in [
      ("- a the milk tea\n", false), ("- a milk- the tea", true), ("a milk\n- the tea", false),
      ("- a milk\n- the tea x", true),
    ] {
      #expect(lineMissing(in: result, of: lines, ignoringMarks: ignoringMarks) != nil)
    }
    #expect(lineMissing(in: "- a milk\r\n- the tea", of: lines, ignoringMarks: false) == nil)
    #expect(lineMissing(in: "a milk\n- the tea\n", of: lines, ignoringMarks: true) == nil)
    let sentences = ["a milk.", "the tea."]
    for result in ["a the tea. milk.", "a milk.the tea.", "a milk. the tea.x"] {
      #expect(sentenceMissing(in: result, of: sentences) != nil)
    }
    #expect(sentenceMissing(in: "b. the tea. a milk.", of: sentences) == nil)
  }

  @Test(arguments: seeds(400))
  func `has as many lines as without conversions of line ends`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    LineEndCase(&random).run(seed, &random)
  }

  @Test func `is noticed to be missing where a line end is halved or doubled`() {
    for result in ["a\r\n\r\nc\r\n", "a\r\r\nc\n", "a c", "a\r\nc\r\n\n"] {
      #expect(linesMiscounted(in: result, unconverted: "a\nc\n") != nil)
    }
    for result in ["a\r\nc\n", "a\rc", "a\nc\r\n"] {
      #expect(linesMiscounted(in: result, unconverted: "a\nc\n") == nil)
    }
    #expect(lineEndHalved(in: "a\r b\r\n", kinds: ["\n", "\r\n"]) != nil)
    #expect(lineEndHalved(in: "a\r\nb\n", kinds: ["\r\n"]) != nil)
    #expect(lineEndHalved(in: "a\r\nb\n", kinds: ["\n", "\r\n"]) == nil)
  }

  @Test(arguments: seeds(800))
  func `has no character that was not written`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    CharacterCase(&random).run(seed, &random)
  }

  @Test func `is noticed to be missing where a character is made of two`() {
    let flags = ["🇩🇪", "🇫🇷", "🇩🇰"]
    #expect(characterMade(in: "🇰🇫🇷", of: flags) != nil)
    #expect(characterMade(in: "🇫🇷🇩🇰", of: flags) == nil)
    #expect(characterMade(in: "👍🏻🏿", of: ["👍🏽", "👍🏻", "👍🏿"]) != nil)
    #expect(characterMade(in: "e\u{301}\u{300}", of: ["e", "e\u{301}", "e\u{300}"]) != nil)
  }

  @Test(arguments: seeds(300))
  func `is what the last one means who sees all`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let meeting = MeaningMeeting(AnyCase.text(&random), of: 2 + random.below(2), &random)
    for _ in 0..<(2 + random.below(6)) {
      let index = random.below(meeting.writers.count)
      let edit = AnyCase.edit(meeting.writers[index].text.string, &random)
      meeting.write(index, [edit], as: random.form())
      if random.chance(30) {
        meeting.pull(
          random.below(meeting.writers.count), from: random.below(meeting.writers.count), &random)
      }
    }
    let text = meeting.meet(&random)
    let edit = AnyCase.edit(text, &random)
    meeting.write(random.below(meeting.writers.count), [edit], as: random.form())
    let meant = String(decoding: Array(text.utf8).applying([edit]), as: UTF8.self)
    meeting.report(textMissed(in: meeting.meet(&random), meant: meant), seed)
  }

  /// The carriage return stands in front of what the other one typed, so it is hidden; it appeared when that was deleted.
  @Test(arguments: [[1, 2], [2, 1]] as [[UInt64]])
  func `is without a carriage return that stood in front of text that is deleted`(ids: [UInt64]) {
    var log = SharedLog()
    let (converter, other, reader) = (SharedWriter(ids[0]), SharedWriter(ids[1]), SharedWriter(9))
    converter.edit([Edit(range: 0..<0, replacement: Array("- \n".utf8))], &log)
    other.pull(converter.version, log) { 1 }
    converter.edit(textDifference(from: Array("- \n".utf8), to: Array("- \r\n".utf8)), &log)
    other.edit([Edit(range: 2..<2, replacement: Array("tea".utf8))], &log)
    other.pull(converter.version, log) { 1 }
    let shown = other.text.string
    other.edit([Edit(range: 2..<5, replacement: [])], &log)
    let meant = shown.replacing("tea", with: "")
    reader.pull(other.version, log) { log.changes.count }
    #expect(other.text.string == meant && reader.text.string == meant)
  }

  @Test(arguments: seeds(500))
  func `has the same change once that several make`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let text = AnyCase.text(&random)
    let edit = AnyCase.edit(text, &random)
    // What is only inserted is there twice, also within a word.
    let old = String(decoding: Array(text.utf8)[edit.range], as: UTF8.self)
    let new = String(decoding: edit.replacement, as: UTF8.self)
    if isLengthened(old, new), !new.isEmpty { return }
    let meeting = MeaningMeeting(text, of: 2 + random.below(2), &random)
    let form = random.pick([MeaningForm.text, .lines, .ranges])
    for index in meeting.writers.indices.dropLast() { meeting.write(index, [edit], as: form) }
    let meant = meeting.writers[0].text.string
    meeting.report(textMissed(in: meeting.meet(&random), meant: meant), seed)
  }

  @Test(arguments: seeds(500))
  func `has the same word once that several put in the place of another one`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    WordCase(&random).runAlike(seed, &random)
  }

  @Test func `is noticed to be missing where a text is another one or there twice`() {
    var random = SplitMix64(seed: 1)
    // What is only inserted is there twice.
    let meeting = MeaningMeeting("tally |", of: 2, &random)
    for index in 0...1 {
      meeting.write(index, [edit("tally |", from: 7, to: 7, with: "|")], as: .text)
    }
    #expect(textMissed(in: meeting.meet(&random), meant: "tally ||") != nil)
    #expect(textMissed(in: meeting.result, meant: "tally |||") == nil)
    // Swift takes the two for the same text.
    #expect(textMissed(in: "e\u{301}", meant: "é") != nil)
  }
}
