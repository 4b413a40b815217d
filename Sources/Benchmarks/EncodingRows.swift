import ReplicatingTypes

/// A text in bytes: how many, and how fast they are written and read.
func encodingRows(_ trace: Trace, _ report: inout Report) {
  let floor = floor(trace)
  let isPaper = trace.name == "automerge-paper"
  let text = ReplicatingText.replaying(trace)
  let history = text.encoded()
  report.add(
    Row(
      "encoding", "\(trace.name), with all of its past", bytes: history.count,
      goal: isPaper ? .bytes(203_500) : nil))
  let writing = measure {
    text.encoded()
  } check: {
    expect($0 == history, "encoding, \(trace.name)")
  }
  report.add(Row("encoding", "\(trace.name), with all of its past, write", writing, floor: floor))
  let reading = measure {
    let read = decoded(ReplicatingText.self, history)
    return (read, read.utf8)
  } check: {
    expect($0.1 == trace.end && $0.0 == text, "decoding, \(trace.name)")
  }
  report.add(
    Row(
      "encoding", "\(trace.name), with all of its past, read", reading, floor: floor,
      goal: isPaper ? .floor(1.5) : nil))
  let changes = text.changes(since: Version()).encoded()
  report.add(Row("encoding", "\(trace.name), as changes", bytes: changes.count))
  let joining = measure {
    var read = ReplicatingText()
    read.join(decoded(ReplicatingText.Changes.self, changes))
    return (read, read.utf8)
  } check: {
    expect($0.1 == trace.end && $0.0 == text, "decoding changes, \(trace.name)")
  }
  report.add(Row("encoding", "\(trace.name), as changes, read and join", joining, floor: floor))
}

func decoded<Value: BinaryCodable>(_: Value.Type, _ bytes: [UInt8]) -> Value {
  do { return try Value(encoded: bytes) } catch {
    fatalError("wrong result: an encoding is refused: \(error)")
  }
}
