import Notes
import ReplicatingTypes

/// Random single edits in a text of ASCII; also made in plain bytes, to compare with.
struct RandomEdits {
  /// Inserts a letter at an offset, or removes the one there if `letter` is nil.
  var edits: [(offset: Int, letter: UInt8?)] = []
  /// The bytes of the text afterwards.
  var length: Int

  /// Makes edits of a text of so many bytes, two thirds of them insertions.
  init(_ count: Int, in length: Int, _ random: inout SeededRandom) {
    self.length = length
    for _ in 0..<count {
      if random.oneIn(3) {
        edits.append((random.below(self.length), nil))
        self.length -= 1
      } else {
        edits.append((random.below(self.length + 1), UInt8(97 + random.below(26))))
        self.length += 1
      }
    }
  }

  /// Makes the edits in a replicating text.
  @inline(__always)
  func make(in text: inout ReplicatingText, by replica: inout Replica) {
    for (offset, letter) in edits {
      if let letter {
        text.insert(CollectionOfOne(letter).span, at: offset, by: &replica)
      } else {
        text.remove(offset..<offset &+ 1, by: &replica)
      }
    }
  }

  /// Makes the edits in plain bytes.
  func make(in buffer: inout GapBuffer) {
    for (offset, letter) in edits {
      if let letter {
        buffer.replace(at: offset, removing: 0, with: CollectionOfOne(letter).span)
      } else {
        buffer.replace(at: offset, removing: 1, with: Span())
      }
    }
  }
}

/// Two replicas of 100,000 characters that made edits apart from each other.
func mergeRows(_ report: inout Report) {
  let length = 100_000
  let start = [UInt8](repeating: 120, count: length)
  for count in [1_000, 10_000] {
    var random = SeededRandom(seed: 8)
    var base = ReplicatingText()
    var first = Replica(id: ReplicaID(high: 0, low: 1))
    var second = Replica(id: ReplicaID(high: 0, low: 2))
    base.insert(start.span, at: 0, by: &first)
    var (a, b) = (base, base)
    RandomEdits(count, in: length, &random).make(in: &a, by: &first)
    RandomEdits(count, in: length, &random).make(in: &b, by: &second)
    let merged = b.merged(with: a)
    expect(merged.utf8 == a.merged(with: b).utf8, "the merge the other way round")
    let name = "two replicas, \(count / 1_000),000 edits each"

    let making = measure {
      b.changes(since: a.version)
    } check: { _ in
    }
    report.add(Row("diverged", "\(name), changes", making))
    let changes = b.changes(since: a.version)
    let bytes = changes.encoded()
    report.add(
      Row(
        "diverged", "\(name), delta", bytes: bytes.count,
        goal: count == 1_000 ? .bytes(3_700) : nil))
    let apply = measure(
      prepare: { a }, body: { $0.join(decoded(ReplicatingText.Changes.self, bytes)) },
      check: { text, _ in expect(text == merged, "a merge of diverged replicas") })
    report.add(
      Row("diverged", "\(name), delta, apply", apply, goal: count == 1_000 ? .units(0.3) : nil))
    let whole = measure {
      a.merged(with: b)
    } check: {
      expect($0 == merged, "a merge of diverged replicas")
    }
    report.add(Row("diverged", "\(name), merged(with:)", whole))
  }
}
