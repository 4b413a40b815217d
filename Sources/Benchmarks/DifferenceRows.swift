import Notes
import ReplicatingTypes

/// Edits that lead from one text to another, found by comparing the two. The floor is one look at each byte of both; in the last
/// rows it is the standard library's `difference(from:)` over the whole texts, where ours does something else before.
func differenceRows(_ report: inout Report) {
  for (name, length) in [("1k", 1_000), ("10k", 10_000), ("100k", 100_000), ("1M", 1_000_000)] {
    var random = SeededRandom(seed: 5)
    var prose = Prose()
    let old = prose.text(atLeast: length, &random)
    for count in [1, 10, 100] {
      var new = old
      for _ in 0..<count {
        let place = boundary(new, random.below(new.count))
        new.insert(contentsOf: prose.word(&random), at: place)
      }
      row("\(name), \(count == 1 ? "one edit" : "\(count) edits")", old, new)
    }
    let (head, tail) = (boundary(old, old.count / 10), boundary(old, old.count * 9 / 10))
    let (first, second) = (prose.word(&random), prose.word(&random))
    row(
      "\(name), 2 edits far apart", old,
      old[..<head] + first + old[head..<tail] + second + old[tail...])
    row("\(name), unrelated", old, prose.text(atLeast: length, &random))
  }
  linesRows()
  comparisonRows()

  /// Changes that touch every line of 1 MB.
  func linesRows() {
    var random = SeededRandom(seed: 6)
    var prose = Prose()
    let text = String(decoding: prose.text(atLeast: 1_000_000, &random), as: UTF8.self)
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    func joined(_ change: (String) -> String) -> [UInt8] {
      Array(lines.map(change).joined(separator: "\n").utf8)
    }
    let old = joined { $0 }
    row("1M, line feeds get carriage returns", old, joined { $0 + "\r" })
    row("1M, every line indented", old, joined { "  " + $0 })
    row("1M, a word at the end of every line", old, joined { $0 + " word" })
  }

  /// The work before `difference(from:)`, in its place, and beside it.
  func comparisonRows() {
    var random = SeededRandom(seed: 7)
    var prose = Prose()
    let text = String(decoding: prose.text(atLeast: 100_000, &random), as: UTF8.self)
    let place = text.unicodeScalars.index(text.startIndex, offsetBy: 50_000)
    let typed = text[..<place] + "x" + text[place...]
    comparison("100k, a letter typed, beside characters", text, String(typed)) {
      typed.difference(from: text).count
    }
    // Lines of one word, so that all that is done is done with lines.
    let lines = (0..<400).map { _ in
      String((0..<8).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random)! })
    }
    comparison("400 lines sorted, beside lines", lines, lines.sorted())
    var moved = lines
    moved.insert(moved.remove(at: 20), at: 300)
    comparison("a line of 400 moved, beside lines", lines, moved)
  }

  func comparison(_ name: String, _ old: [String], _ new: [String]) {
    comparison(name, old.joined(separator: "\n"), new.joined(separator: "\n")) {
      new.difference(from: old).count
    }
  }

  func comparison(_ name: String, _ old: String, _ new: String, _ difference: () -> Int) {
    let floor = measure {
      difference()
    } check: {
      expect($0 > 0, "the standard library's difference, \(name)")
    }
    row(name, Array(old.utf8), Array(new.utf8), floor: floor)
  }

  func boundary(_ text: [UInt8], _ place: Int) -> Int {
    var place = place
    while text[place] & 0xC0 == 0x80 { place -= 1 }
    return place
  }

  func row(_ name: String, _ old: [UInt8], _ new: [UInt8]) {
    let copies = (old + [0], new + [0])
    let floor = measure {
      sum(copies.0) &+ sum(copies.1)
    } check: {
      expect($0 > 0, "the floor of a difference")
    }
    row(name, old, new, floor: floor)
  }

  func row(_ name: String, _ old: [UInt8], _ new: [UInt8], floor: Timing) {
    let timing = measure {
      textDifference(from: old, to: new)
    } check: {
      expect(applied($0, to: old) == new, "text difference, \(name)")
    }
    report.add(Row("text difference", name, timing, .microseconds, floor: floor))
  }
}

@inline(never)
private func sum(_ bytes: [UInt8]) -> Int {
  var sum = 0
  for byte in bytes { sum &+= Int(byte) }
  return sum
}

private func applied(_ edits: [Edit<UInt8>], to old: [UInt8]) -> [UInt8] {
  var new: [UInt8] = []
  var next = 0
  for edit in edits {
    new += old[next..<edit.range.lowerBound] + edit.replacement
    next = edit.range.upperBound
  }
  return new + old[next...]
}
