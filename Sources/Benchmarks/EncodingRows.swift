import Bytes
import ReplicatingTypes

/// A text in bytes, all of its changes: their number, also compressed, and the time to write and read them.
func encodingRows(_ trace: Trace, _ report: inout Report) {
  let floor = floor(trace)
  let text = ReplicatingText.replaying(trace)
  let bytes = text.encoded()
  report.add(Row("encoding", trace.name, bytes: bytes.count))
  let compressed = LZ4.compress(bytes[...])
  report.add(
    Row(
      "encoding", "\(trace.name), compressed", bytes: compressed.count,
      goal: trace.name == "automerge-paper" ? .bytes(140_000) : nil))
  let writing = measure {
    text.encoded()
  } check: {
    expect($0 == bytes, "encoding, \(trace.name)")
  }
  report.add(Row("encoding", "\(trace.name), write", writing, floor: floor))
  let reading = measure {
    let read = decoded(ReplicatingText.self, bytes)
    return (read, read.utf8)
  } check: {
    expect($0.1 == trace.end && $0.0 == text, "decoding, \(trace.name)")
  }
  let goals = ["automerge-paper": 1.5, "friendsforever_flat": 3, "rustcode": 4]
  report.add(
    Row(
      "encoding", "\(trace.name), read", reading, floor: floor,
      goal: goals[trace.name].map { .floor($0) }))
}

/// The value of an encoding that must be a right one.
func decoded<Value: BinaryCodable>(_: Value.Type, _ bytes: [UInt8]) -> Value {
  do { return try Value(encoded: bytes) } catch {
    fatalError("wrong result: an encoding is refused: \(error)")
  }
}
