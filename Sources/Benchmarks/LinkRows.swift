import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// Links between machines: how long a keystroke takes from one editor to another, and what a machine does that links of fifty meet at.

/// Two editors at two folders with a link between, and fifty at folders with links to one.
func linkRows(_ report: inout Report) {
  withProgram("link", &report) { program, scratch, report in
    let own = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().path
    func pair(_ name: String, _ line: String?) -> Typing {
      let folder = "\(scratch)/\(name)"
      let there = "\(program.path) --notebook \(folder)/there"
      let state = "env XDG_STATE_HOME=\(folder)/there.state"
      let sync = line.map { ["--sync", "\($0)\(state) \(there)"] }
      var room = Room(
        program,
        [
          ("\(folder)/\(line == nil ? "there" : "here")", "\(folder)/here.state", sync ?? []),
          ("\(folder)/there", line == nil ? "\(folder)/here.state" : "\(folder)/there.state", []),
        ], notes: 1)
      defer { room.end() }
      return room.type(keys: 100)
    }
    let near = pair("near", nil)
    report.add(
      Row("link", "a keystroke in one folder, median", near.quantile(0.5), .microseconds))
    let link = pair("link", "")
    report.add(
      Row(
        "link", "the same over a link, median; the floor: in one folder", link.quantile(0.5),
        .microseconds, floor: near.quantile(0.5), goal: .floor(3)))
    let far = pair("far", "\(own) --delay 40 ")
    report.add(
      Row(
        "link", "the same with a line of 40 ms each way, median", far.quantile(0.5),
        goal: .median(45e6)))
    report.add(Row("link", "99 of 100 of them", far.quantile(0.99), goal: .median(60e6)))

    for (people, notes) in [(10, 1), (20, 1), (50, 1), (50, 5), (50, 50)] {
      let folder = "\(scratch)/hub-\(people)-\(notes)"
      let hub =
        "env XDG_STATE_HOME=\(folder)/hub.state \(program.path) --notebook \(folder)/hub"
      var room = Room(
        program,
        (1...people).map { ("\(folder)/\($0)", "\(folder)/\($0).state", ["--sync", hub]) },
        notes: notes)
      let (before, start) = (room.processorTimeOfPeers, ContinuousClock.now)
      let typing = room.type(keys: 50)
      let name = "\(people), each 5 keys a second, in \(notes == 1 ? "one note" : "\(notes) notes")"
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      // If each editor has a note of its own, none is shown the keys of another.
      if notes < people {
        report.add(Row("link", "\(name): a keystroke, median", typing.quantile(0.5)))
        report.add(Row("link", "\(name): 99 of 100 of them", typing.quantile(0.99)))
      }
      report.add(
        Row(
          "link", "\(name): processor time of the hub in a second",
          Timing([(room.processorTimeOfPeers - before) / seconds])))
      report.add(Row("link", "\(name): memory of the hub", bytes: room.memoryOfPeers))
      room.end()
    }
  }
}

/// The times from a keystroke until it was shown, in nanoseconds.
private struct Typing {
  var latencies: [Double]

  func quantile(_ part: Double) -> Timing {
    let sorted = latencies.sorted()
    return Timing([sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]])
  }
}

/// Editors that have notes open, of which each types into one.
private struct Room {
  private struct Editor {
    let client: Client
    let note: String
    var version = 0
    var rev = 0
  }

  private var editors: [Editor] = []

  /// - Parameters:
  ///   - places: the folder, the state folder and the arguments of each editor's process. The last one's notes are those of all.
  ///   - notes: how many notes there are, among which the editors are divided.
  init(_ program: URL, _ places: [(folder: String, state: String, arguments: [String])], notes: Int)
  {
    let clients = places.map { place in
      Client(
        program, ["--notebook", place.folder, "--framing", "lines"] + place.arguments,
        state: place.state)
    }
    _ = clients[0].request("initialize", "{}")
    let ids = (0..<notes).map { _ in clients[0].createNote(#"{"text":"\n"}"#) }
    for client in clients.dropFirst() { _ = client.request("initialize", "{}") }
    for (index, client) in clients.enumerated() {
      while client.request("notebook/list", "{}").components(separatedBy: "\"length\"").count
        <= notes
      { usleep(10_000) }
      let id = ids[index % notes]
      _ = client.request("note/open", #"{"id":"\#(id)","mode":"edit","check":"none"}"#)
      editors.append(Editor(client: client, note: id))
    }
    for client in clients { client.waitUntilIdle() }
  }

  /// Everybody types five keys a second, so many; returns how long each took to be shown to each of the others who have the note open.
  mutating func type(keys: Int) -> Typing {
    let start = ContinuousClock.now
    var typing = Typing(latencies: [])
    var sent: [String: ContinuousClock.Instant] = [:]
    let step = Duration.milliseconds(200)
    var order: [(due: ContinuousClock.Instant, editor: Int, key: Int)] = []
    for key in 0..<keys {
      for editor in editors.indices {
        order.append((start + step * key + step * editor / editors.count, editor, key))
      }
    }
    order.sort { $0.due < $1.due }
    var next = 0
    // All that was typed has time to arrive.
    let end = start + step * keys + .seconds(3)
    while ContinuousClock.now < end {
      let due = next < order.count ? order[next].due : end
      if ContinuousClock.now >= due, next < order.count {
        let (_, editor, key) = order[next]
        next += 1
        editors[editor].version += 1
        let word = "k\(editor)x\(key)k"
        sent[word] = .now
        editors[editor].client.send(
          #"{"jsonrpc":"2.0","id":\#(1_000_000 + key),"method":"note/change","params":{"attachment":1,"version":"#
            + #"\#(editors[editor].version),"rev":\#(editors[editor].rev),"lines":[[0,0,["\#(word)"]]]}}"#
            + "\n")
        continue
      }
      read(until: due, sent, &typing)
    }
    return typing
  }

  /// Takes what comes until a time.
  private mutating func read(
    until due: ContinuousClock.Instant, _ sent: [String: ContinuousClock.Instant],
    _ typing: inout Typing
  ) {
    var polls = editors.map {
      pollfd(fd: $0.client.descriptor, events: Int16(POLLIN), revents: 0)
    }
    let rest = max(.zero, due - ContinuousClock.now)
    guard poll(&polls, nfds_t(polls.count), Int32(rest / .milliseconds(1))) > 0 else { return }
    let now = ContinuousClock.now
    for (index, entry) in polls.enumerated() where entry.revents != 0 {
      for line in editors[index].client.lines() {
        let text = String(decoding: line, as: UTF8.self)
        guard text.contains("\"note/edit\"") else { continue }
        func number(_ name: String) -> Int {
          let parts = text.components(separatedBy: "\"\(name)\":")
          return parts.count > 1 ? Int(parts[1].prefix { $0.isNumber }) ?? 0 : 0
        }
        if number("version") == editors[index].version { editors[index].rev = number("rev") }
        for word in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
        where word.first == "k" && word.last == "k" {
          guard let time = sent[String(word)] else { continue }
          typing.latencies.append((now - time) / .seconds(1) * 1e9)
        }
      }
    }
  }

  /// Of the processes that serve the links.
  var processorTimeOfPeers: Double {
    editors.reduce(0) { $0 + $1.client.children.reduce(0) { $0 + Client.processorTime(of: $1) } }
  }

  var memoryOfPeers: Int {
    editors.reduce(0) { $0 + $1.client.children.reduce(0) { $0 + Client.memory(of: $1) } }
  }

  mutating func end() {
    for editor in editors { editor.client.end() }
    editors = []
  }
}

/// Runs a command and carries its standard input and output, each byte so many milliseconds later: a long line.
func delay(_ milliseconds: Int, _ command: [String]) -> Never {
  let process = Process()
  let (input, output) = (Pipe(), Pipe())
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = command
  process.standardInput = input
  process.standardOutput = output
  do { try process.run() } catch { fatalError("\(command): \(error)") }
  let delay = Duration.milliseconds(milliseconds)
  for (source, target) in [
    (STDIN_FILENO, input.fileHandleForWriting.fileDescriptor),
    (output.fileHandleForReading.fileDescriptor, STDOUT_FILENO),
  ] {
    let line = Line()
    Thread.detachNewThread {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = buffer.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
        line.append(Array(buffer[..<max(0, count)]), at: .now + delay)
        if count <= 0 { return }
      }
    }
    Thread.detachNewThread {
      while true {
        let (bytes, due) = line.next()
        let rest = due - ContinuousClock.now
        if rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
        if bytes.isEmpty { exit(0) }
        var sent = 0
        while sent < bytes.count {
          let count = bytes[sent...].withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
          if count <= 0 { exit(0) }
          sent += count
        }
      }
    }
  }
  while true { sleep(1000) }
}

/// Bytes on their way, with the times at which they arrive.
private final class Line: @unchecked Sendable {
  private let condition = NSCondition()
  private var queue: [([UInt8], ContinuousClock.Instant)] = []

  func append(_ bytes: [UInt8], at due: ContinuousClock.Instant) {
    condition.lock()
    queue.append((bytes, due))
    condition.signal()
    condition.unlock()
  }

  func next() -> ([UInt8], ContinuousClock.Instant) {
    condition.lock()
    defer { condition.unlock() }
    while queue.isEmpty { condition.wait() }
    return queue.removeFirst()
  }
}
