import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The folder: the cost of many sessions, and the delay that a compaction causes to others.

/// Starts in folders of many sessions, and answers during a compaction.
func folderRows(_ report: inout Report) {
  withProgram("folder", &report) { program, scratch, report in
    sessionRows(program, scratch + "/sessions", state: scratch + "/state", &report)
    compactionRows(program, scratch + "/history", state: scratch + "/state", &report)
  }
}

/// 10,000 sessions of a note each: the start with all of their logs, where they have ended in order and where not, and when they were
/// folded.
private func sessionRows(
  _ program: URL, _ folder: String, state: String, _ report: inout Report
) {
  let count = 10_000
  var writer = Client(notebook: folder, program, state: state + "-writer")
  for number in 0..<count {
    // It has files of each of its sessions open, and a process may have so many.
    if number > 0, number.isMultiple(of: 1000) {
      writer.end()
      writer = Client(notebook: folder, program, state: state + "-writer")
    }
    let note = writer.createNote()
    // A session is named by its notes. It ends when another process has linked its file.
    let session = note.split(separator: "-")[1]
    let log = "\(folder)/log/\(session)/0.open"
    expect(link(log, "\(folder)/../link-\(number % 2)") == 0, log)
    unlink("\(folder)/../link-\((number + 1) % 2)")
  }
  writer.end()
  for number in 0..<2 { unlink("\(folder)/../link-\(number)") }
  complete(folder)

  func start(_ name: String, state: String, goal: Row.Goal?) {
    Client(notebook: folder, program, state: state).end()
    let (timing, version) = measureStarts(program, folder, state: state)
    report.add(Row("folder", name, timing, floor: version, goal: goal))
  }
  let cold = measure(
    prepare: { try? FileManager.default.removeItem(atPath: state) },
    body: { _ in Client(notebook: folder, program, state: state) },
    check: { _, client in client.end() })
  report.add(Row("folder", "10,000 sessions, start that reads all logs", cold))
  start("10,000 sessions, start", state: state, goal: .floor(6))
  forgetEnds(folder)
  try? FileManager.default.removeItem(atPath: state)
  start("10,000 sessions that have not ended in order, start", state: state, goal: nil)
  expect(run(program, ["--notebook", folder, "compact"], state: state) == 0, "compact")
  try? FileManager.default.removeItem(atPath: folder + "/log")
  let folded = measure(
    prepare: { try? FileManager.default.removeItem(atPath: state) },
    body: { _ in Client(notebook: folder, program, state: state) },
    check: { _, client in client.end() })
  report.add(Row("folder", "10,000 sessions, folded, start that reads the snapshot", folded))
  start("10,000 sessions, folded, start", state: state, goal: .floor(6))
}

/// Gives the files of sessions that ended without completing them the names of complete ones: most sessions end in order.
private func complete(_ folder: String) {
  let log = folder + "/log"
  for session in (try? FileManager.default.contentsOfDirectory(atPath: log)) ?? [] {
    let path = "\(log)/\(session)/0.open"
    guard let bytes = FileManager.default.contents(atPath: path) else {
      // Another process has completed what this one had left.
      for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(log)/\(session)")) ?? []
      where name.hasSuffix(".seg") && !name.hasSuffix("-end.seg") {
        rename("\(log)/\(session)/\(name)", "\(log)/\(session)/\(name.dropLast(4))-end.seg")
      }
      continue
    }
    let hash = bytes.suffix(8).prefix(4).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }
    rename(path, "\(log)/\(session)/0-\(hash.joined())-end.seg")
  }
  waitForOldFolders()
}

/// Takes away what says that the sessions have ended: as if they might go on.
private func forgetEnds(_ folder: String) {
  let log = folder + "/log"
  for session in (try? FileManager.default.contentsOfDirectory(atPath: log)) ?? [] {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(log)/\(session)")) ?? []
    where name.hasSuffix("-end.seg") {
      rename("\(log)/\(session)/\(name)", "\(log)/\(session)/\(name.dropLast(8)).seg")
    }
  }
  waitForOldFolders()
}

/// A folder that has changed within two seconds is looked at again.
private func waitForOldFolders() { sleep(3) }

/// A process folds 100 MB of its own history while the user types: the longest time that an answer takes.
private func compactionRows(
  _ program: URL, _ folder: String, state: String, _ report: inout Report
) {
  let writer = Client(notebook: folder, program, state: state)
  let notes = (0..<1000).map { _ in writer.createNote() }
  var random = SeededRandom(seed: 12)
  var prose = Prose()
  let texts = (0..<100).map { _ in
    String(decoding: prose.text(atLeast: 5000, &random), as: UTF8.self)
      .replacingOccurrences(of: "\n", with: "\\n").replacingOccurrences(of: "\"", with: "'")
  }
  var (sent, answered) = (0, 0)
  while answered < 20_000 {
    while sent < 20_000, sent - answered < 64 {
      sent += 1
      // One note after the other, as people write.
      writer.send(
        #"{"jsonrpc":"2.0","id":\#(sent + 5000),"method":"note/append","params":{"id":"\#(notes[sent / 21])","#
          + #""text":"\#(texts[sent % 100])"}}"# + "\n")
    }
    answered += writer.lines().count
  }
  writer.end()
  let client = Client(notebook: folder, program, state: state)
  let note = client.createNote()
  let clock = ContinuousClock()
  var times: [Double] = []
  func isFolded() -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/snap")) ?? []
    return names.contains { $0.hasSuffix(".snap") }
  }
  var rest = 1000
  while rest > 0 {
    let start = clock.now
    _ = client.request("note/append", #"{"id":"\#(note)","text":"x"}"#)
    let (seconds, attoseconds) = (clock.now - start).components
    times.append(Double(seconds) * 1e9 + Double(attoseconds) / 1e9)
    usleep(2000)
    // The bytes after its name belong to it, too.
    if isFolded() { rest -= 1 }
  }
  client.end()
  report.add(
    Row(
      "folder", "an answer while 100 MB are folded, the longest", Timing([times.max()!]),
      .microseconds, goal: .median(50e6)))
  report.add(Row("folder", "the median of these", Timing(times), .microseconds))
}
