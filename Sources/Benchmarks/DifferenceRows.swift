import Notes
import ReplicatingTypes

/// Edits that lead from one text to another, found by comparing the two. The floor is one look at each byte of both.
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
