import ReplicatingTypes

extension ReplicatingText {
  /// Makes all edits of a trace.
  mutating func replay(_ trace: Trace, by replica: inout Replica) {
    let inserted = trace.inserted.span
    for edit in trace.edits {
      let offset = Int(edit.offset)
      if edit.removed > 0 { remove(offset..<offset &+ Int(edit.removed), by: &replica) }
      if edit.count > 0 { insert(inserted.extracting(edit.range), at: offset, by: &replica) }
    }
  }

  /// The text after all edits of a trace, by the replica of a number.
  static func replaying(_ trace: Trace, number: UInt64 = 1) -> ReplicatingText {
    var text = ReplicatingText()
    var replica = Replica(id: ReplicaID(high: 0, low: number))
    text.replay(trace, by: &replica)
    return text
  }
}

extension ReplicatingArray<UInt8> {
  /// The bytes after all edits of a trace.
  static func replaying(_ trace: Trace) -> ReplicatingArray {
    var array = ReplicatingArray()
    var replica = Replica(id: ReplicaID(high: 0, low: 1))
    let inserted = trace.inserted.span
    for edit in trace.edits {
      let offset = Int(edit.offset)
      if edit.removed > 0 { array.remove(offset..<offset &+ Int(edit.removed), by: &replica) }
      if edit.count > 0 { array.insert(inserted.extracting(edit.range), at: offset, by: &replica) }
    }
    return array
  }
}

/// The floor for a trace.
func floor(_ trace: Trace) -> Timing {
  let capacity = trace.inserted.count + 1
  let clock = ContinuousClock()
  var runs: [Double] = []
  for _ in 0..<25 {
    var buffer = GapBuffer(capacity: capacity)
    let start = clock.now
    buffer.replay(trace)
    runs.append((clock.now - start) / .nanoseconds(1))
    expect(buffer.text == trace.end, "the gap buffer, \(trace.name)")
  }
  return Timing(runs)
}

/// The edits of one author, made here and received from there.
func replayRows(_ trace: Trace, _ report: inout Report) {
  let floor = floor(trace)
  let goals: [String: Double] = [
    "automerge-paper": 2.5, "rustcode": 3.3, "friendsforever_flat": 4,
    // The generated trace is made after this one.
    "generated": 2.5,
  ]
  let local = measure {
    ReplicatingText.replaying(trace)
  } check: {
    expect($0.utf8 == trace.end, "local replay, \(trace.name)")
  }
  report.add(
    Row(
      "local replay", trace.name, local, floor: floor,
      goal: goals[trace.name].map { .floor($0) }))

  // The generic type, as another module sees it: many times slower if nothing specialised it there.
  let generic = measure {
    ReplicatingArray.replaying(trace)
  } check: {
    expect($0.values == trace.end, "local replay, generic, \(trace.name)")
  }
  report.add(
    Row(
      "local replay", "\(trace.name), generic, to that of text", generic, floor: local,
      goal: .floor(1.5)))

  let whole = ReplicatingText.replaying(trace)
  let making = measure {
    whole.changes(since: Version())
  } check: { _ in
  }
  report.add(Row("remote replay", "\(trace.name), making changes", making, floor: floor))

  let changes = whole.changes(since: Version())
  let remote = measure {
    var text = ReplicatingText()
    text.join(changes)
    return (text, text.utf8)
  } check: {
    expect($0.1 == trace.end, "remote replay, \(trace.name)")
    expect($0.0 == whole, "remote replay, history, \(trace.name)")
  }
  let isPaper = ["automerge-paper", "generated"].contains(trace.name)
  report.add(
    Row(
      "remote replay", "\(trace.name), to text", remote, floor: floor,
      goal: isPaper ? .floor(1.5) : nil))
}
