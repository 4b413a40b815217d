import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// Exchanges of changes with a peer: their cost when nothing is new, when one note is, and when everything is.

/// Exchanges with a folder of one session, and of many.
func syncRows(_ report: inout Report) {
  withProgram("sync", &report) { program, scratch, report in
    for (sessions, notes) in [(1, 100), (1000, 100_000)] {
      exchangeRows(
        program, "\(scratch)/\(sessions)", sessions: sessions, notes: notes, &report)
    }
  }
}

private func exchangeRows(
  _ program: URL, _ scratch: String, sessions: Int, notes: Int, _ report: inout Report
) {
  let name = "\(notes) notes of \(sessions) sessions"
  let (here, there, state) = ("\(scratch)/here", "\(scratch)/there", "\(scratch)/state")
  write(notes, in: sessions, program, here, state: state)
  let client = Client(notebook: here, program, state: state)
  func sync(_ peer: String) -> (sent: Int, received: Int) {
    let quoted = peer.replacingOccurrences(of: "\"", with: "\\\"")
    let answer = client.request("notebook/sync", #"{"peer":"\#(quoted)"}"#)
    func count(_ name: String) -> Int {
      let parts = answer.components(separatedBy: "\"\(name)\":")
      return parts.count == 2 ? Int(parts[1].prefix { $0.isNumber }) ?? 0 : 0
    }
    return (count("sent"), count("received"))
  }
  let clock = ContinuousClock()
  let start = clock.now
  let all = sync(there).sent
  let (seconds, attoseconds) = (clock.now - start).components
  report.add(
    Row(
      "sync", "\(name): the first time",
      Timing([Double(seconds) * 1e9 + Double(attoseconds) / 1e9])))
  report.add(Row("sync", "\(name): changes carried the first time", bytes: all))

  // A folder's process is started anew each time; that is a part of it.
  let floor = measure(
    { Client(notebook: there, program, state: state).end() }, check: { _ in })
  let idle = measure(
    { sync(there) }, check: { expect($0 == (0, 0), "\($0) bytes for nothing") })
  report.add(
    Row("sync", "\(name): nothing new; the floor: start and end of the peer", idle, floor: floor))
  let note = client.createNote()
  let changed = measure(
    prepare: { client.request("note/append", #"{"id":"\#(note)","text":"milk"}"#) },
    body: { _ in sync(there) }, check: { expect($1.sent > 0, "nothing was sent") })
  report.add(Row("sync", "\(name): one note changed", changed, floor: floor))

  // The same through a pipe that counts.
  let counted =
    "sh -c 'tee \(scratch)/in | \(program.path) --notebook \(there) | tee \(scratch)/out'"
  func carried(_ what: String) {
    _ = sync(counted)
    let bytes = ["in", "out"].reduce(0) {
      $0 + (FileManager.default.contents(atPath: "\(scratch)/\($1)")?.count ?? 0)
    }
    report.add(Row("sync", "\(name): \(what), all that is said both ways", bytes: bytes))
  }
  carried("nothing new")
  _ = client.request("note/append", #"{"id":"\#(note)","text":"milk"}"#)
  carried("one note changed")
  // Both have something that the other has not heard of: only then the whole version travels.
  let other = Client(notebook: there, program, state: state)
  _ = other.createNote()
  other.end()
  _ = client.request("note/append", #"{"id":"\#(note)","text":"milk"}"#)
  carried("one note changed on each side")
  client.end()
}

/// Writes notes in a number of sessions.
private func write(
  _ notes: Int, in sessions: Int, _ program: URL, _ folder: String, state: String
) {
  let writer = Client(notebook: folder, program, state: state + "-writer")
  for number in 1...notes {
    let note = writer.createNote(
      #"{"title":"Note \#(number)","text":"What note \#(number) says."}"#)
    guard number % (notes / sessions) == 0, number < notes else { continue }
    // A session is named by its notes. It ends when another process has linked its file.
    let session = note.split(separator: "-")[1]
    let log = "\(folder)/log/\(session)"
    for file in (try? FileManager.default.contentsOfDirectory(atPath: log)) ?? []
    where file.hasSuffix(".open") {
      expect(link("\(log)/\(file)", "\(folder)/../link-\(number)") == 0, log)
    }
  }
  writer.end()
}
