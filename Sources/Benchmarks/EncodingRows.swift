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

/// A text without its past: the bytes, and the time to read it and to edit it for the first time.
func trimmedRows(_ trace: Trace, _ report: inout Report) {
  let floor = floor(trace)
  let isPaper = trace.name == "automerge-paper"
  let text = ReplicatingText.replaying(trace)
  let bytes = TrimmedText(text).encoded()
  report.add(
    Row(
      "trimmed", "\(trace.name), bytes", bytes: bytes.count,
      goal: isPaper ? .bytes(139_200) : nil))
  let writing = measure {
    TrimmedText(text).encoded()
  } check: {
    expect($0 == bytes, "trimming, \(trace.name)")
  }
  report.add(Row("trimmed", "\(trace.name), write", writing, floor: floor))
  let reading = measure {
    decoded(TrimmedText.self, bytes).utf8
  } check: {
    expect($0 == trace.end, "a trimmed text, \(trace.name)")
  }
  report.add(
    Row(
      "trimmed", "\(trace.name), read to text", reading, floor: floor,
      goal: isPaper ? .floor(0.05) : nil))
  compressionRows(
    "trimmed", trace.name, bytes, goal: isPaper ? .bytes(72_000) : nil, &report)
  let letter: [UInt8] = [65]
  let place = trace.end.count / 2
  let editing = measure {
    var saved = decoded(TrimmedText.self, bytes)
    var replica = Replica(id: ReplicaID(high: 0, low: 77))
    let version = saved.version
    do { try saved.insert(letter.span, at: place, by: &replica) } catch {
      fatalError("wrong result: a trimmed text is refused: \(error)")
    }
    return saved.changes(since: version)!.encoded()
  } check: {
    expect($0.count < 200, "a first edit, \(trace.name)")
  }
  report.add(
    Row(
      "trimmed", "\(trace.name), read, first edit, delta", editing, floor: floor,
      goal: isPaper ? .floor(0.3) : nil))
}
