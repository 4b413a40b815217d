import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The whole process: requests that are logged and answered, what another process sees of it, and how it starts.

/// Answers each line with a result, as fast as that can simply be: one read, all whole lines in it, one write.
func echo() -> Never {
  var buffer = [UInt8](repeating: 0, count: 1 << 21)
  var have = 0
  var seen = 0
  var out: [UInt8] = []
  while true {
    let count = buffer.withUnsafeMutableBytes {
      read(STDIN_FILENO, $0.baseAddress! + have, $0.count - have)
    }
    if count <= 0 { exit(0) }
    have += count
    out.removeAll(keepingCapacity: true)
    var start = 0
    while seen < have {
      let place = seen
      seen += 1
      guard buffer[place] == 10 else { continue }
      // The identity stands at the same place in every message of the benchmark.
      out += #"{"jsonrpc":"2.0","id":"#.utf8
      var digit = start + 22
      while buffer[digit] >= 48, buffer[digit] <= 57 {
        out.append(buffer[digit])
        digit += 1
      }
      out += #","result":{"version":1}}"#.utf8
      out.append(10)
      start = place + 1
    }
    if start > 0 {
      for index in start..<have { buffer[index - start] = buffer[index] }
      have -= start
      seen -= start
    }
    out.withUnsafeBytes { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }
}

/// Requests, changes, pushes and starts of whole processes.
func processRows(_ report: inout Report) {
  withProgram("process", &report) { program, scratch, report in
    let state = scratch + "/state"
    requestRows(program, scratch + "/requests", state: state, &report)
    wholeTextRow(program, scratch + "/whole", state: state, &report)
    typingRows(program, scratch + "/typing", state: state, &report)
    visibilityRows(program, scratch + "/visibility", state: state, &report)
    for (count, ratio) in [(100, 2.0), (20_000, 4), (100_000, 6)] {
      startRows(program, scratch + "/start-\(count)", notes: count, ratio, state: state, &report)
    }
  }
}

/// Times the starts of a process up to its first reply, and in turns with them, as their floor, those of one that prints its version. `look` is
/// called with each process before it ends.
func measureStarts(
  _ program: URL, _ folder: String, state: String, _ look: (Client) -> Void = { _ in }
) -> (start: Timing, version: Timing) {
  measureInTurns(
    25,
    {
      time(
        prepare: {}, body: { _ in Client(notebook: folder, program, state: state) },
        check: { _, client in
          look(client)
          client.end()
        })
    },
    {
      time(
        prepare: {},
        body: { _ in
          let client = Client(program, ["--version"], state: state)
          while client.lines().isEmpty {}
          return client
        }, check: { _, _ in })
    })
}

/// Messages one behind the other, so that any that follow each other are sent as they stand.
private struct Messages {
  private var bytes: [UInt8] = []
  private var ends = [0]

  init(_ messages: [String]) {
    for message in messages {
      bytes += message.utf8
      ends.append(bytes.count)
    }
  }

  var count: Int { ends.count - 1 }

  subscript(range: Range<Int>) -> ArraySlice<UInt8> {
    bytes[ends[range.lowerBound]..<ends[range.upperBound]]
  }
}

/// `note/change` of one letter each, logged: one after the other, and 64 in flight. The messages are made before they are timed.
private func requestRows(
  _ program: URL, _ folder: String, state: String, _ report: inout Report
) {
  func change(_ number: Int) -> String {
    #"{"jsonrpc":"2.0","id":\#(1000 + number),"method":"note/change","params":{"attachment":1,"#
      + #""version":\#(number),"rev":0,"lines":[[0,1,["\#(String(repeating: "x", count: number % 60))"]]]}}"#
      + "\n"
  }
  /// Sends all messages, and waits for the answers; no more than so many are on their way.
  func run(_ client: Client, _ messages: Messages, atOnce: Int) {
    var next = 0
    var answered = 0
    while answered < messages.count {
      if next < messages.count, next - answered < atOnce {
        let end = min(messages.count, answered + atOnce)
        client.send(messages[next..<end])
        next = end
      }
      answered += client.lineEnds()
    }
  }
  for atOnce in [1, 64] {
    let messages = Messages((1...(atOnce == 1 ? 2_000 : 16_384)).map(change))
    let name = atOnce == 1 ? "one note/change at a time" : "note/change, 64 in flight"
    let floor = measure(
      prepare: {
        Client(URL(fileURLWithPath: CommandLine.arguments[0]), ["--echo"], state: state)
      }, body: { run($0, messages, atOnce: atOnce) }, check: { _, _ in })
    var folders = 0
    let timing = measure(
      prepare: {
        folders += 1
        let client = Client(notebook: "\(folder)-\(atOnce)-\(folders)", program, state: state)
        let id = client.createNote()
        _ = client.request("note/open", #"{"id":"\#(id)","mode":"edit","check":"none"}"#)
        return client
      }, body: { run($0, messages, atOnce: atOnce) },
      check: { client, _ in client.end() })
    report.add(
      Row(
        "process", name, timing.divided(by: messages.count), .microseconds,
        floor: floor.divided(by: messages.count), goal: .median(atOnce == 1 ? 12_000 : 4_000)))
  }
}

/// A client that sends its whole text of 1 MB with each word: beside another client that only reads the text, and answers.
private func wholeTextRow(
  _ program: URL, _ folder: String, state: String, _ report: inout Report
) {
  let text = prose(1_000_000)
  let middle = text.index(text.startIndex, offsetBy: text.count / 2)
  let (head, tail) = (text[..<middle], text[middle...])
  let messages = (1...20).map { number in
    let words = (1...number).map { "word\($0) " }.joined()
    return
      #"{"jsonrpc":"2.0","id":\#(1000 + number),"method":"note/change","params":{"attachment":1,"#
      + #""version":\#(number),"rev":0,"text":"\#(head)\#(words)\#(tail)"}}"# + "\n"
  }
  func run(_ client: Client) {
    for message in messages {
      client.send(message)
      while client.lines().isEmpty {}
    }
  }
  let echo = URL(fileURLWithPath: CommandLine.arguments[0])
  let floor = measure(
    prepare: { Client(echo, ["--echo"], state: state) }, body: { run($0) }, check: { _, _ in })
  var folders = 0
  let timing = measure(
    prepare: {
      folders += 1
      let client = Client(notebook: "\(folder)-\(folders)", program, state: state)
      let id = client.createNote(#"{"text":"\#(text)"}"#)
      _ = client.request("note/open", #"{"id":"\#(id)","mode":"edit","check":"none"}"#)
      return client
    }, body: { run($0) }, check: { client, _ in client.end() })
  report.add(
    Row(
      "process", "note/change with the whole text of 1 MB", timing.divided(by: messages.count),
      .microseconds, floor: floor.divided(by: messages.count), goal: .floor(3)))
}

/// From the moment one process is told of a keystroke until the other one's client is: that there is something new, and, when it
/// shows the note, of the keystroke; and that in a note of 10 MB.
private func visibilityRows(
  _ program: URL, _ folder: String, state: String, _ report: inout Report
) {
  let clock = ContinuousClock()
  let count = 500
  func latencies(_ name: String, _ text: String, untilTold: Bool) -> Timing {
    let writer = Client(notebook: "\(folder)-\(name)", program, state: state)
    let id = writer.createNote(#"{"text":"\#(text)"}"#)
    _ = writer.request("notebook/flush", "{}")
    let reader = Client(notebook: "\(folder)-\(name)", program, state: state)
    let open = #"{"id":"\#(id)","mode":"edit","check":"none"}"#
    _ = writer.request("note/open", open)
    if !untilTold { _ = reader.request("note/open", open) }
    for client in [writer, reader] { client.waitUntilIdle() }
    let line = text.components(separatedBy: "\\n").count - 1
    let timing = Timing(
      (1...count).map { version in
        let message =
          #"{"jsonrpc":"2.0","id":7,"method":"note/change","params":{"attachment":1,"version":\#(version),"#
          + #""rev":0,"lines":[[\#(line),\#(line + 1),["\#(version)"]]]}}"# + "\n"
        let start = clock.now
        writer.send(message)
        _ = reader.line(with: untilTold ? "notebook/didChange" : "note/edit")
        let (seconds, attoseconds) = (clock.now - start).components
        _ = writer.line(with: "\"id\":")
        return Double(seconds) * 1e9 + Double(attoseconds) / 1e9
      })
    for client in [writer, reader] { client.end() }
    return timing
  }
  report.add(
    Row(
      "process", "a keystroke told by another process", latencies("told", "", untilTold: true),
      .microseconds, goal: .median(200_000)))
  let shown = latencies("shown", "", untilTold: false)
  report.add(
    Row(
      "process", "a keystroke shown by another process", shown, .microseconds,
      goal: .median(200_000)))
  report.add(
    Row(
      "process", "a keystroke in a note of 10 MB shown by another process",
      latencies("large", prose(10_000_000) + "\\n", untilTold: false), .microseconds, floor: shown,
      goal: .floor(2)))
}

/// Makes `notes` notes of `size` bytes, called `Note 1` and so on, in a new notebook.
func makeNotes(_ program: URL, _ folder: String, notes: Int, of size: Int = 1000, state: String) {
  let writer = Client(notebook: folder, program, state: state)
  var random = SeededRandom(seed: 11)
  var prose = Prose()
  var sent = 0
  var answered = 0
  while answered < notes {
    while sent < notes, sent - answered < 64 {
      sent += 1
      let text = String(decoding: prose.text(atLeast: size, &random), as: UTF8.self)
        .replacingOccurrences(of: "\n", with: "\\n").replacingOccurrences(of: "\"", with: "'")
      writer.send(
        #"{"jsonrpc":"2.0","id":\#(sent),"method":"note/create","params":{"title":"Note \#(sent)","#
          + #""text":"\#(text)"}}"# + "\n")
    }
    answered += writer.lines().count
  }
  writer.end()
}

/// A notebook of so many notes of 1 kB: from the start of the process to its first reply, and its memory then.
private func startRows(
  _ program: URL, _ folder: String, notes: Int, _ ratio: Double, state: String,
  _ report: inout Report
) {
  makeNotes(program, folder, notes: notes, state: state)
  // The changes since the archive was written are read from the logs, and the archive is written anew, once.
  let clock = ContinuousClock()
  let start = clock.now
  let first = Client(notebook: folder, program, state: state)
  let (seconds, attoseconds) = (clock.now - start).components
  report.add(
    Row(
      "process", "the first start after \(notes) notes were made",
      Timing([Double(seconds) * 1e9 + Double(attoseconds) / 1e9])))
  report.add(Row("process", "memory then", bytes: first.peakMemory))
  first.end()
  // A folder that has changed within two seconds is looked at again.
  sleep(3)
  var memory = 0
  let (timing, version) = measureStarts(program, folder, state: state) {
    memory = max(memory, $0.peakMemory)
  }
  let name = "start to the first reply, \(notes) notes"
  report.add(Row("process", name, timing, floor: version, goal: .floor(ratio)))
  report.add(
    Row("process", "memory then", bytes: memory, goal: .bytes(notes == 100 ? 10e6 : 60e6)))
}
