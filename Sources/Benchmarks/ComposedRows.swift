import ReplicatingTypes

/// A note by the list of its parts.
private struct ComposedNote: Composed {
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var tags = ReplicatingSet<String>()
  var priority = ReplicatingRegister(1)
  static var parts: some PartsOf<Self> { Composition(\Self.title, \.text, \.tags, \.priority) }
}

/// The same by hand.
private struct HandmadeNote: Replicable {
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var tags = ReplicatingSet<String>()
  var priority = ReplicatingRegister(1)

  struct Changes: ReplicatingChanges {
    var title: ReplicatingRegister<String>.Changes
    var text: ReplicatingText.Changes
    var tags: ReplicatingSet<String>.Changes
    var priority: ReplicatingRegister<Int>.Changes
    var since: Version
    var version: Version

    func encoded() -> [UInt8] {
      var writer = ByteWriter()
      title.encode(into: &writer)
      text.encode(into: &writer)
      tags.encode(into: &writer)
      priority.encode(into: &writer)
      return writer.bytes
    }
  }

  var version: Version {
    var version = title.version
    version.merge(text.version)
    version.merge(tags.version)
    version.merge(priority.version)
    return version
  }

  func changes(since version: Version) -> Changes {
    let title = title.changes(since: version)
    let text = text.changes(since: version)
    let tags = tags.changes(since: version)
    let priority = priority.changes(since: version)
    var (since, reached) = (title.since, title.version)
    for (next, last) in [
      (text.since, text.version), (tags.since, tags.version), (priority.since, priority.version),
    ] {
      since.merge(next)
      reached.merge(last)
    }
    return Changes(
      title: title, text: text, tags: tags, priority: priority, since: since, version: reached)
  }

  func validate(_ changes: Changes) throws(InvalidChange) {
    try title.validate(changes.title)
    try text.validate(changes.text)
    try tags.validate(changes.tags)
    try priority.validate(changes.priority)
  }

  mutating func join(_ changes: Changes) {
    title.join(changes.title)
    text.join(changes.text)
    tags.join(changes.tags)
    priority.join(changes.priority)
  }
}

/// Values by the list of their parts, beside the same by hand and beside a part alone; and changes after many launches.
func composedRows(_ report: inout Report) {
  let letter: [UInt8] = [120]
  let count = 100
  var (composed, handmade) = (ComposedNote(), HandmadeNote())
  var first = Replica(id: ReplicaID(high: 1, low: 1))
  composed.text.insert([UInt8](repeating: 97, count: 1_000).span, at: 0, by: &first)
  composed.title.assign("Shopping", at: 1, by: &first)
  (handmade.text, handmade.title) = (composed.text, composed.title)

  let (floor, keystrokes) = measureInTurns {
    time {
      handmade
    } body: { note in
      var replica = Replica(id: ReplicaID(high: 2, low: 2))
      var size = 0
      for index in 0..<count {
        let seen = note.version
        note.text.insert(letter.span, at: 500 + index, by: &replica)
        size += note.changes(since: seen).encoded().count
      }
      return size
    } check: {
      expect($1 > count && $0.text.count == 1_000 + count, "keystrokes by hand")
    }
  } _: {
    time {
      composed
    } body: { note in
      var replica = Replica(id: ReplicaID(high: 2, low: 2))
      var size = 0
      for index in 0..<count {
        let seen = note.version
        note.text.insert(letter.span, at: 500 + index, by: &replica)
        size += note.changes(since: seen).encoded().count
      }
      return size
    } check: {
      expect($1 > count && $0.text.count == 1_000 + count, "keystrokes in a composed value")
    }
  }
  report.add(
    Row(
      "composed", "a keystroke's changes in bytes", keystrokes.divided(by: count), .microseconds,
      floor: floor.divided(by: count), goal: .floor(1.2)))
  stepRows(&report)
  launchRows(&report)
}

/// Steps of another in a text of 200,000 pieces.
private func stepRows(_ report: inout Report) {
  var random = SeededRandom(seed: 31)
  var replica = Replica(id: ReplicaID(high: 1, low: 1))
  var note = ComposedNote()
  for _ in 0..<200_000 {
    let place = random.below(note.text.count + 1)
    note.text.insert([UInt8(97)].span, at: place, by: &replica)
  }
  var other = note
  var steps: [ComposedNote.Changes] = []
  var textSteps: [ReplicatingText.Changes] = []
  var second = Replica(id: ReplicaID(high: 2, low: 2))
  for _ in 0..<200 {
    let seen = other.version
    other.text.insert([UInt8(98)].span, at: random.below(other.text.count + 1), by: &second)
    steps.append(other.changes(since: seen))
    textSteps.append(other.text.changes(since: seen))
  }
  func applied<Value: Replicable>(_ value: inout Value, _ changes: Value.Changes) {
    do { try value.apply(changes) } catch { fatalError("wrong result: refused: \(error)") }
  }
  let (floor, inNote) = measureInTurns {
    time {
      var text = note.text
      applied(&text, textSteps[0])
      return text
    } body: { text in
      for step in textSteps.dropFirst() { applied(&text, step) }
    } check: { text, _ in
      expect(text.count == 200_200, "steps in a text")
    }
  } _: {
    time {
      var copy = note
      applied(&copy, steps[0])
      return copy
    } body: { note in
      for step in steps.dropFirst() { applied(&note, step) }
    } check: { note, _ in
      expect(note.text.count == 200_200, "steps in a composed value")
    }
  }
  report.add(
    Row(
      "composed", "apply a step in 200,000 pieces; its floor: to the text alone",
      inNote.divided(by: steps.count - 1), .microseconds,
      floor: floor.divided(by: steps.count - 1), goal: .floor(1.2)))
}

/// Changes of one keystroke after 1,000 launches.
private func launchRows(_ report: inout Report) {
  var random = SeededRandom(seed: 32)
  func measured(resuming isResuming: Bool) -> (text: Int, note: Int) {
    var note = ComposedNote()
    var replica = Replica(id: ReplicaID(high: random.next(), low: random.next()))
    for launch in 0..<1_001 {
      if !isResuming { replica = Replica(id: ReplicaID(high: random.next(), low: random.next())) }
      if launch == 1_000 { break }
      let place = random.below(note.text.count + 1)
      note.text.insert([UInt8(97)].span, at: place, by: &replica)
    }
    let seen = note.version
    note.text.insert([UInt8(98)].span, at: 500, by: &replica)
    return (
      note.text.changes(since: seen).encoded().count, note.changes(since: seen).encoded().count
    )
  }
  let (anew, resumed) = (measured(resuming: false), measured(resuming: true))
  let rows = [
    ("a text's keystroke, 1,000 replicas", anew.text, 2_000.0),
    ("a note's keystroke, 1,000 replicas", anew.note, 2_000),
    ("a text's keystroke, one replica resumed 1,000 times", resumed.text, 100),
    ("a note's keystroke, one replica resumed 1,000 times", resumed.note, 100),
  ]
  for (name, bytes, goal) in rows {
    report.add(Row("composed", name, bytes: bytes, goal: .bytes(goal)))
  }
}
