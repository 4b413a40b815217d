import TestSupport
import Testing

@testable import ReplicatingTypes

/// Two or more who replace the same, each without having seen what the others did.
private struct Meeting {
  var log = SharedLog()
  var writers: [SharedWriter]

  init(_ text: String, of numbers: [UInt64]) {
    writers = numbers.map { SharedWriter($0) }
    writers[0].edit([Edit(range: 0..<0, replacement: Array(text.utf8))], &log)
    for writer in writers.dropFirst() { pull(writer, from: writers[0]) }
  }

  func pull(_ writer: SharedWriter, from other: SharedWriter) {
    writer.pull(other.version, log) { 3 }
  }

  /// Everybody gets everything; the one text that all show.
  func result() -> String {
    for writer in writers { for other in writers { pull(writer, from: other) } }
    for writer in writers { #expect(writer.text.string == writers[0].text.string) }
    return writers[0].text.string
  }

  mutating func replace(
    _ index: Int, _ old: String, with new: String, divider: String = " "
  ) {
    let text = writers[index].text.string
    let place = text.utf8.count - text.utf8(behind: old)
    let range = place..<place + old.utf8.count
    writers[index].edit(
      [Edit(range: range, replacement: Array(new.utf8), divider: Array(divider.utf8))], &log)
  }
}

extension String {
  /// The number of bytes from the first occurrence of another one on.
  fileprivate func utf8(behind other: String) -> Int {
    let (bytes, other) = (Array(utf8), Array(other.utf8))
    let place = bytes.indices.first { bytes[$0...].starts(with: other) }!
    return bytes.count - place
  }
}

/// What two people make of a part of a text.
struct MeetingRow: Sendable, CustomTestStringConvertible {
  var text: String
  var old: String
  var new: [String]
  var divider = " "
  /// One of these is the result.
  var results: Set<String>

  var testDescription: String { "\(text.debugDescription): \(old) → \(new)" }

  static let all = [
    MeetingRow(
      text: "alpha beta gamma", old: "alpha beta gamma", new: ["uno dos tres", "eins zwei drei"],
      results: ["uno dos tres eins zwei drei", "eins zwei drei uno dos tres"]),
    MeetingRow(
      text: "x there y", old: "there", new: ["their", "then"],
      results: ["x their then y", "x then their y"]),
    MeetingRow(
      text: "price 10", old: "10", new: ["12", "15"], results: ["price 12 15", "price 15 12"]),
    MeetingRow(text: "5 %", old: "5", new: ["6", "7"], results: ["6 7 %", "7 6 %"]),
    MeetingRow(text: "a 5 %", old: "5", new: ["6", "7"], results: ["a 6 7 %", "a 7 6 %"]),
    MeetingRow(
      text: "on 2026-11-03.", old: "2026-11-03", new: ["2026-11-04", "2026-12-03"],
      results: ["on 2026-11-04 2026-12-03.", "on 2026-12-03 2026-11-04."]),
    MeetingRow(
      text: "- milk\n", old: "milk", new: ["bread", "eggs"], divider: "\n- ",
      results: ["- bread\n- eggs\n", "- eggs\n- bread\n"]),
    MeetingRow(
      text: "a\nmilk\nb", old: "milk", new: ["bread", "eggs"], divider: "\n",
      results: ["a\nbread\neggs\nb", "a\neggs\nbread\nb"]),
    MeetingRow(
      text: "> • q\r\n", old: "q", new: ["é", "ü"], divider: "\r\n> • ",
      results: ["> • é\r\n> • ü\r\n", "> • ü\r\n> • é\r\n"]),
    MeetingRow(
      text: "- [ ] milk", old: "[ ]", new: ["[x]", "[-]"],
      results: ["- [x] [-] milk", "- [-] [x] milk"]),
    MeetingRow(
      text: "東京に行く", old: "東京", new: ["大阪", "京都"], divider: "",
      results: ["大阪京都に行く", "京都大阪に行く"]),
    MeetingRow(text: "👍🏽", old: "👍🏽", new: ["👍🏿", "👍🏻"], divider: "", results: ["👍🏿👍🏻", "👍🏻👍🏿"]),
    MeetingRow(
      text: "tea, or", old: "tea", new: ["", "juice"], results: ["juice, or"]),
    MeetingRow(text: "one two", old: "one", new: ["1", "1"], results: ["1 two"]),
    MeetingRow(
      text: "one two", old: "one", new: ["1", "2", "3"],
      results: Set(
        ["1 2 3", "1 3 2", "2 1 3", "2 3 1", "3 1 2", "3 2 1"].map { $0 + " two" })),
    MeetingRow(
      text: "one two", old: "one", new: ["1", "2", "1"], results: ["1 2 two", "2 1 two"]),
  ]
}

@Suite(.computing) struct `Replacements of the same text` {
  @Test(arguments: MeetingRow.all)
  func `stand side by side and divided`(row: MeetingRow) {
    for numbers in [[1, 2, 3], [2, 1, 3], [3, 2, 1], [2, 3, 1]] as [[UInt64]] {
      var meeting = Meeting(row.text, of: Array(numbers.prefix(row.new.count)))
      for (index, new) in row.new.enumerated() {
        meeting.replace(index, row.old, with: new, divider: row.divider)
        #expect(!row.new[index].isEmpty || meeting.writers[index].text.string != row.text)
      }
      let result = meeting.result()
      #expect(row.results.contains(result), "\(result.debugDescription)")
    }
  }

  @Test(arguments: [[1, 2], [2, 1]] as [[UInt64]])
  func `leave one as if it had been alone when the other is taken back`(numbers: [UInt64]) {
    for taken in 0...1 {
      var meeting = Meeting("- milk\n", of: numbers)
      for (index, new) in ["bread", "eggs"].enumerated() {
        meeting.replace(index, "milk", with: new, divider: "\n- ")
      }
      let change = meeting.writers[taken].last!
      let both = meeting.result()
      meeting.writers[taken].make(
        [], withdrawing: ChangeRanges([.init(change.replica, change.number...change.number)]),
        &meeting.log)
      #expect(meeting.result() == ["- eggs\n", "- bread\n"][taken])
      let withdrawal = meeting.writers[taken].last!
      meeting.writers[1 - taken].make(
        [],
        withdrawing: ChangeRanges([
          .init(withdrawal.replica, withdrawal.number...withdrawal.number)
        ]), &meeting.log)
      #expect(meeting.result() == both)
    }
  }

  @Test func `keep their divider when one is deleted, and lose it when it is deleted`() {
    var meeting = Meeting("x there y", of: [1, 2])
    meeting.replace(0, "there", with: "their")
    meeting.replace(1, "there", with: "then")
    let text = meeting.result()
    let words = text.split(separator: " ").map(String.init)
    meeting.replace(0, words[1] + " ", with: "")
    #expect(meeting.result() == "x \(words[2]) y")
    meeting.replace(1, words[2], with: "")
    #expect(meeting.result() == "x  y")
  }

  @Test func `are divided from what others wrote within what was replaced`() {
    var meeting = Meeting("hello world", of: [1, 2])
    meeting.replace(0, "hello world", with: "bye")
    meeting.writers[1].edit([Edit(range: 6..<6, replacement: Array("big ".utf8))], &meeting.log)
    #expect(meeting.result() == "bye big ")
  }

  @Test func `and not from a line feed that others wrote there`() {
    for divider in [" ", "\n"] {
      var meeting = Meeting("hello world", of: [1, 2])
      meeting.replace(0, "hello world", with: "bye", divider: divider)
      meeting.writers[1].edit([Edit(range: 6..<6, replacement: [0x0A])], &meeting.log)
      #expect(meeting.result() == "bye\n")
    }
  }

  /// A divider and a separator that the replacement removed would both stand there.
  @Test(arguments: [[1, 2], [2, 1]] as [[UInt64]])
  func `are divided once where they replaced a blank, too`(numbers: [UInt64]) {
    var meeting = Meeting("the quick brown fox", of: numbers)
    meeting.replace(0, "quick brown", with: "slow")
    meeting.replace(1, "brown", with: "red")
    #expect(meeting.result() == "the slow red fox")
  }

  /// The one scalar is replaced in front of what the other replaced, too: `p 862 70 q`.
  @Test(arguments: [[1, 2], [2, 1]])
  func `stand beside a longer one that begins with the same scalar`(numbers: [UInt64]) {
    var meeting = Meeting("p 5 6 q", of: numbers)
    meeting.replace(0, "5", with: "8")
    meeting.replace(1, "5 6", with: "62 70")
    #expect(meeting.result() == "p 8 62 70 q")
  }

  /// A withdrawal alone hides a line end: the text was not restored, because it had been merged where nothing was concurrent.
  @Test func `are restored where a withdrawn line has a converted end`() throws {
    var meeting = Meeting("a\nb\n", of: [1])
    let writer = meeting.writers[0]
    func write(_ text: String) {
      writer.edit(textDifference(from: writer.text.utf8, to: Array(text.utf8)), &meeting.log)
    }
    write("a\nx\nb\n")
    let line = writer.last!
    write("a\r\nx\r\nb\r\n")
    let run = ChangeRanges.Run(line.replica, line.number...line.number)
    writer.make([], withdrawing: ChangeRanges([run]), &meeting.log)
    #expect(writer.text.string == "a\r\nb\r\n")
    try writer.reopen()
  }

  /// A state in which a divider is shown was not found by its text, where the divider has a list mark.
  @Test func `are found by the text of a state with the dividers`() {
    var meeting = Meeting("- milk\n", of: [1, 2])
    for (index, new) in ["bread", "eggs"].enumerated() {
      meeting.replace(index, "milk", with: new, divider: "\n- ")
    }
    #expect(["- bread\n- eggs\n", "- eggs\n- bread\n"].contains(meeting.result()))
    let text = meeting.writers[0].text
    var sum = TextFingerprint(of: text)
    sum.move(to: text.version)
    #expect(sum.value == sum.value(of: text.utf8))
    #expect(sum.value != sum.value(of: Array("- bread\n".utf8)))
  }

  @Test func `leave no bytes of a divider in what their changes did`() {
    var meeting = Meeting("one two", of: [1])
    meeting.replace(0, "one", with: "three")
    let change = meeting.writers[0].last!
    let text = meeting.writers[0].text
    let run = ChangeRanges([.init(change.replica, change.number...change.number)])
    let contribution = text.contribution(of: run)
    #expect(contribution.inserted == 5 && contribution.removed == 3)
    let last = text.contributions[0].changes.last!
    #expect(last.inserted == 5 && last.removed == 3)
  }

  @Test func `have no divider that their author may not bring`() {
    let writer = SharedWriter(1)
    func refusal(_ text: String, _ divider: Int, by author: ReplicaID) -> Bool {
      do {
        try writer.text.validate(
          .insert(Array(text.utf8), after: nil, before: nil, divider: divider), by: author
        ) { _ in true }
        return false
      } catch { return true }
    }
    #expect(!refusal("a ", 1, by: writer.replica.id))
    #expect(!refusal("a" + "\n" + String(repeating: "•", count: 85), 256, by: writer.replica.id))
    #expect(refusal("a\n" + String(repeating: "-", count: 256), 257, by: writer.replica.id))
    for (text, divider) in [("a ", 2), ("a ", -1), ("a ", 3), ("ab", 1), ("aé", 1), ("", 1)] {
      #expect(refusal(text, divider, by: writer.replica.id))
    }
  }
}

/// Two to four people select the same and type over it, letter by letter.
private struct TypingOver {
  private var log = SharedLog()
  private var writers: [SharedWriter]
  /// What everybody is to type, and the elements that were typed of it.
  private let words: [String]
  private var typed: [[ElementID]]
  private var places: [ElementID?]
  private(set) var result = ""

  /// - Parameter isOneProcess: true if all are clients of a process that has all that was typed.
  init(seed: UInt64, isOneProcess: Bool) {
    var random = SplitMix64(seed: seed)
    let count = 2 + random.below(3)
    // Of words that begin alike the first letters are the same replacement, until one of the writers goes on: neither sees the other here.
    let areAlike = random.chance(50)
    words = Array(
      (areAlike ? ["their", "then", "tö", "thou"] : ["anna", "bertram", "carla", "dö"])
        .prefix(count))
    (typed, places) = (words.map { _ in [] }, words.map { _ in nil })
    writers = (0...UInt64(count)).map { SharedWriter($0 + 1) }
    let (before, selected, behind) = random.pick([
      ("", "x", ""), ("", "some words here", ""), ("a ", "word", " z"), ("a\n", "x", "\nz"),
      ("a ", "x", " z"), ("- ", "milk and eggs", "\n- z"),
    ])
    writers[count].edit(
      [Edit(range: 0..<0, replacement: Array((before + selected + behind).utf8))], &log)
    for writer in writers { writer.pull(writers[count].version, log) { 9 } }
    let range = before.utf8.count..<(before + selected).utf8.count
    let isDeleting = random.chance(50) && !areAlike
    while let index = words.indices.filter({ typed[$0].count < words[$0].utf8.count })
      .randomElement(using: &random)
    {
      step(index, range, &random, isOneProcess, isDeleting: isDeleting)
      // Who has deleted all of it and then sees another's word would type a blank, too.
      let isEmpty = typed[index].isEmpty
      if !isEmpty, !areAlike || typed.allSatisfy({ $0.count > 1 }),
        random.chance(isOneProcess ? 10 : 20)
      {
        let other = writers[random.below(count)]
        writers[index].pull(other.version, log) { 1 + random.below(3) }
      }
    }
    for writer in writers { writers[0].pull(writer.version, log) { 1 + random.below(3) } }
    result = writers[0].text.string
  }

  /// Everybody's words, once each.
  var hasAllWords: Bool {
    let all = result.split { $0 == " " || $0 == "\n" }
    return words.allSatisfy { word in all.count { $0 == word } == 1 }
  }

  private mutating func step(
    _ index: Int, _ range: Range<Int>, _ random: inout SplitMix64, _ isOneProcess: Bool,
    isDeleting: Bool
  ) {
    let writer = writers[index]
    let word = Array(words[index].utf8)
    if typed[index].isEmpty, places[index] == nil {
      let first = Array(String(words[index].first!).utf8)
      return make(index, Edit(range: range, replacement: first, divider: [0x20]), isOneProcess)
    }
    let place = writer.text.places(of: [places[index]!])[places[index]!]!
    let caret = place.offset + (place.isVisible ? 1 : 0)
    if isDeleting, random.chance(15) {
      // All of it, or the last letter.
      let count = random.chance(50) ? typed[index].count : 1
      for _ in 0..<count {
        guard let last = typed[index].last else { break }
        var start = writer.text.places(of: [last])[last]!.offset
        let end = start + 1
        typed[index].removeLast()
        while word[typed[index].count] & 0xC0 == 0x80 {
          typed[index].removeLast()
          start -= 1
        }
        make(index, Edit(range: start..<end, replacement: []), isOneProcess)
      }
      return
    }
    var count = 1
    while typed[index].count + count < word.count, word[typed[index].count + count] & 0xC0 == 0x80 {
      count += 1
    }
    let letter = Array(word[typed[index].count..<typed[index].count + count])
    make(index, Edit(range: caret..<caret, replacement: letter), isOneProcess)
  }

  private mutating func make(_ index: Int, _ edit: Edit<UInt8>, _ isOneProcess: Bool) {
    let writer = writers[index]
    let first = writer.text.count(by: writer.replica.id)
    if isOneProcess {
      let process = writers[words.count]
      for writer in writers { process.pull(writer.version, log) { 1 } }
      var pasts = log.pasts
      let spared = process.text.sparedElements(
        at: writer.version, without: ChangeRanges(), &pasts)
      var view = process.text.view(at: writer.version)
      view.hidden = view.hidden.subtracting(ElementRanges(spared)).union(
        process.text.withheldElements(
          at: writer.version, sparing: spared, without: ChangeRanges()))
      view.unseen = process.text.insertions(after: writer.version)
      #expect(process.text.utf8(in: view) == writer.text.utf8)
      writer.make(
        process.text.operations(for: [edit], in: view, goingOnFrom: writer.last), &log)
    } else {
      writer.edit([edit], isGoingOn: true, &log)
    }
    let new = edit.replacement.indices.map {
      ElementID(author: writer.replica.id, offset: first + $0)
    }
    typed[index] += new
    if let last = new.last { places[index] = last }
  }
}

extension `Replacements of the same text` {
  @Test(arguments: seeds(1_000))
  func `have every letter once, typed one by one on several machines`(seed: UInt64) {
    let typing = TypingOver(seed: seed, isOneProcess: false)
    let hasAllWords = typing.hasAllWords
    #expect(hasAllWords, "\(typing.result.debugDescription), seed \(seed)")
  }

  @Test(arguments: seeds(1_000))
  func `have every letter once, typed one by one by clients of one process`(seed: UInt64) {
    let typing = TypingOver(seed: seed, isOneProcess: true)
    let hasAllWords = typing.hasAllWords
    #expect(hasAllWords, "\(typing.result.debugDescription), seed \(seed)")
  }
}
