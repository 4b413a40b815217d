import Foundation
import JSONRPC

/// A file of traces can't be used.
struct TraceError: Error, CustomStringConvertible {
  var description: String
}

/// Reads the traces of a folder: every `*.json.gz` in the format of https://github.com/josephg/editing-traces.
func readTraces(in folder: String) throws -> (flat: [Trace], concurrent: [ConcurrentTrace]) {
  var flat: [Trace] = []
  var concurrent: [ConcurrentTrace] = []
  let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  for file in names where file.hasSuffix(".json.gz") {
    let name = String(file.dropLast(".json.gz".count))
    let bytes = try unzipped(folder + "/" + file)
    let json = try JSONValue(parsing: bytes, maximumValues: 100_000_000)
    guard let txns = json["txns"]?.array, let end = json["endContent"]?.utf8 else {
      throw TraceError(description: "\(file): no txns and endContent")
    }
    if json["kind"]?.string == "concurrent" {
      concurrent.append(try concurrentTrace(name, txns, end))
    } else {
      flat.append(try flatTrace(name, json["startContent"]?.utf8 ?? [], txns, end))
    }
  }
  return (flat, concurrent)
}

private func unzipped(_ path: String) throws -> [UInt8] {
  let process = Process()
  let pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["gzip", "-dc", path]
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw TraceError(description: "\(path): gzip fails") }
  return Array(data)
}

/// A patch in scalars: `[position, removed, inserted]`.
private func patches(
  _ txn: JSONValue
) throws -> [(position: Int, removed: Int, inserted: [UInt8])] {
  guard let patches = txn["patches"]?.array else {
    throw TraceError(description: "a txn without patches")
  }
  return try patches.map { patch in
    var parts = patch.array?.makeIterator()
    guard let position = parts?.next()?.integer, let removed = parts?.next()?.integer,
      let inserted = parts?.next()?.utf8
    else { throw TraceError(description: "a patch that is none") }
    return (position, removed, inserted)
  }
}

private func flatTrace(
  _ name: String, _ start: [UInt8], _ txns: JSONArray, _ end: [UInt8]
) throws -> Trace {
  var trace = Trace(name: name)
  var offsets = ScalarOffsets()
  trace.end = end
  if !start.isEmpty {
    _ = offsets.replace(at: 0, removing: 0, with: start)
    trace.append(at: 0, removing: 0, inserting: start)
  }
  for txn in txns {
    for patch in try patches(txn) {
      let (offset, removed) = offsets.replace(
        at: patch.position, removing: patch.removed, with: patch.inserted)
      trace.append(at: offset, removing: removed, inserting: patch.inserted)
    }
  }
  return trace
}

private func concurrentTrace(
  _ name: String, _ txns: JSONArray, _ end: [UInt8]
) throws -> ConcurrentTrace {
  let agents = (txns.compactMap { $0["agent"]?.integer }.max() ?? -1) + 1
  var recorder = ConcurrentRecorder(name: name, agents: agents)
  for txn in txns {
    guard let agent = txn["agent"]?.integer,
      let parents = txn["parents"]?.array?.compactMap({ $0.integer })
    else { throw TraceError(description: "\(name): a txn without agent or parents") }
    recorder.begin(agent, after: parents)
    for patch in try patches(txn) {
      recorder.editScalars(
        agent, at: patch.position, removing: patch.removed, inserting: patch.inserted)
    }
    recorder.end(agent)
  }
  return recorder.finished(end: end)
}
