import ReplicatingTypes

/// A text in bytes: their number, and the time to write and read them.
func encodingRows(_ trace: Trace, _ report: inout Report) {
  let floor = floor(trace)
  let goals = EncodingGoals(trace.name)
  let text = ReplicatingText.replaying(trace)
  let history = text.encoded()
  report.add(
    Row(
      "encoding", "\(trace.name), with all of its past", bytes: history.count,
      goal: (goals?.bytes).map { .bytes($0) }))
  let writing = measure {
    text.encoded()
  } check: {
    expect($0 == history, "encoding, \(trace.name)")
  }
  report.add(
    Row(
      "encoding", "\(trace.name), with all of its past, write", writing, floor: floor,
      goal: (goals?.writing ?? nil).map { .floor($0) }))
  let reading = measure {
    let read = decoded(ReplicatingText.self, history)
    return (read, read.utf8)
  } check: {
    expect($0.1 == trace.end && $0.0 == text, "decoding, \(trace.name)")
  }
  report.add(
    Row(
      "encoding", "\(trace.name), with all of its past, read", reading, floor: floor,
      goal: (goals?.reading).map { .floor($0) }))
  compressionRows(
    "encoding", "\(trace.name), with all of its past", history,
    goal: trace.name == "automerge-paper" ? .bytes(110_000) : nil, &report)
  let changes = text.changes(since: Version()).encoded()
  report.add(Row("encoding", "\(trace.name), as changes", bytes: changes.count))
  let joining = measure {
    var read = ReplicatingText()
    read.join(decoded(ReplicatingText.Changes.self, changes))
    return (read, read.utf8)
  } check: {
    expect($0.1 == trace.end && $0.0 == text, "decoding changes, \(trace.name)")
  }
  report.add(
    Row(
      "encoding", "\(trace.name), as changes, read and join", joining, floor: floor,
      goal: (goals?.joining).map { .floor($0) }))
}

/// The goals for a trace: ahead of the best of other programs by a tenth, in floors.
private struct EncodingGoals {
  var bytes: Double
  var writing: Double?
  var reading: Double
  var joining: Double

  init?(_ trace: String) {
    switch trace {
    case "automerge-paper": (bytes, writing, reading, joining) = (203_500, 0.63, 1.5, 3.3)
    case "rustcode": (bytes, writing, reading, joining) = (553_515, 2.7, 4.7, 5.1)
    case "friendsforever_flat": (bytes, writing, reading, joining) = (33_345, nil, 2.7, 6.9)
    default: return nil
    }
  }
}

/// The value of an encoding that must be a right one.
func decoded<Value: BinaryCodable>(_: Value.Type, _ bytes: [UInt8]) -> Value {
  do { return try Value(encoded: bytes) } catch {
    fatalError("wrong result: an encoding is refused: \(error)")
  }
}
