import Foundation
import JSONRPC
import TestSupport
import Testing

/// A short session of the program in which one system call fails, or is the last.
///
/// `strace` makes the k-th call of a kind fail. Which k there are, and which of them have to do with the folder, is found
/// out by a session without faults; identities and times are the same each time (`--seed`).
@Suite(
  .waitingLong, .tags(.tool, .slow),
  .enabled(if: canTrace || isContinuousIntegration, "strace is missing, or not allowed"))
struct `System calls that fail` {
  private static let calls = [
    "write", "fdatasync", "fsync", "openat", "mkdir", "mkdirat", "linkat", "renameat", "unlinkat",
    "pread64", "getdents64", "newfstatat", "fstat", "inotify_add_watch",
  ]

  /// A notebook with one note, written by a process without faults.
  private func notebook(_ path: String) throws -> Ledger {
    var ledger = Ledger()
    let server = try Server(path)
    try server.initialize()
    _ = try server.create("before", &ledger).get()
    try server.leave()
    return ledger
  }

  /// What the session does, as far as it gets; says what is known of its words afterwards.
  private func session(_ path: String, _ strace: String, _ ledger: inout Ledger) throws -> Server {
    let server = try Server(path, ["--seed", "7"], shell: "exec strace -f -qq \(strace) \"$@\"")
    do {
      try server.initialize()
      var note: JSON?
      for number in 0..<2 {
        if case .success(let id) = try server.create("made\(number)", &ledger) { note = note ?? id }
      }
      for number in 0..<3 {
        guard let note else { break }
        _ = try server.append("more\(number)", to: note, &ledger)
        if number == 1 { _ = try server.response(to: try server.post("notebook/flush")) }
      }
      _ = try server.response(to: try server.post("notebook/list"))
      _ = try server.response(to: try server.post("shutdown"))
      try server.notify("exit")
    } catch is Failure {
      // It left, or never began. What of it was acknowledged was noted.
    }
    server.closeInput()
    return server
  }

  /// A call that has to do with the folder.
  private struct Place {
    var call: String
    /// Which of its thread's calls of the kind it is; of those on `files`, if there are any.
    var number: Int
    /// Below the notebook's folder. Writes go to pipes too, and the one between threads does not fail.
    var files: [String] = []

    /// The options of strace that make it the place of a fault.
    func options(_ path: String, _ fault: String) -> String {
      let files = files.map { "-P \(path)\($0)" }.joined(separator: " ")
      return "-o /dev/null -e trace=\(call) \(files) -e inject=\(call):\(fault):when=\(number)"
    }
  }

  /// The calls that have to do with the folder.
  private func places(isNew: Bool) throws -> [Place] {
    let temporary = TemporaryFolder()
    let path = temporary("notes")
    var ledger = isNew ? Ledger() : try notebook(path)
    let trace = temporary("trace")
    let options = "-y -o \(trace) -e trace=\(Self.calls.joined(separator: ","))"
    #expect(try session(path, options, &ledger).waitForEnd() == .status(0))
    var counts: [String: Int] = [:]
    var found: Set<String> = []
    var writes = 0
    var files: Set<String> = []
    for line in try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n") {
      // Short numbers of threads are padded.
      let words = line.split(separator: " ", maxSplits: 1)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard words.count == 2,
        let call = Self.calls.first(where: { words[1].hasPrefix("\($0)(") })
      else { continue }
      counts["\(words[0]) \(call)", default: 0] += 1
      guard let place = line.range(of: path) else { continue }
      if call == "write" {
        writes += 1
        files.insert(String(line[place.upperBound...].prefix { $0 != ">" }))
      } else {
        found.insert("\(call) \(counts["\(words[0]) \(call)"]!)")
      }
    }
    #expect(writes > 3 && found.count > 30, "\(writes) \(found)")
    return (0..<writes).map { Place(call: "write", number: $0 + 1, files: files.sorted()) }
      + found.sorted().map {
        let parts = $0.split(separator: " ")
        return Place(call: String(parts[0]), number: Int(parts[1])!)
      }
  }

  /// Some of them; all, when there is time.
  private func sample<Element>(_ elements: [Element], _ count: Int) -> [Element] {
    guard !isLong, seedFactor == 1 else { return elements }
    var random = SplitMix64(seed: 1)
    return Array(elements.shuffled(using: &random).prefix(count))
  }

  @Test(arguments: [true, false])
  func `Whichever fails, what was acknowledged is kept`(isNew: Bool) throws {
    let places = try places(isNew: isNew)
    let faults = places.flatMap { place in ["EIO", "ENOSPC"].map { (place, $0) } }
    for (place, error) in sample(faults, 25) {
      let fault = "\(place.call) number \(place.number), \(error)"
      let temporary = TemporaryFolder()
      let path = temporary("notes")
      var ledger = isNew ? Ledger() : try notebook(path)
      let server = try session(path, place.options(path, "error=\(error)"), &ledger)
      let ending = try? server.waitForEnd()
      #expect(ending == .status(0) || ending == .status(1), "\(fault): \(server.errorText)")
      try audit(path, ledger, "\(fault)")
    }
  }

  @Test
  func `Whichever is the last, what was acknowledged is kept, and nothing is damaged`() throws {
    let places = try places(isNew: true)
    // Before the call, and after it.
    let faults = places.flatMap { place in ["error=EIO:", ""].map { (place, $0) } }
    for (place, error) in sample(faults, 25) {
      let fault = "\(place.call) number \(place.number), \(error)"
      let temporary = TemporaryFolder()
      let path = temporary("notes")
      var ledger = Ledger()
      let server = try session(path, place.options(path, "\(error)signal=KILL"), &ledger)
      _ = try server.waitForEnd()
      try audit(path, ledger, "\(fault)")
      // It can be written on, too.
      let next = try Server(path)
      try next.initialize()
      _ = try next.create("after", &ledger).get()
      try next.leave()
      try audit(path, ledger, "\(fault)")
    }
  }

  @Test(arguments: ["background", "reply"])
  func `Whichever write is the last, changes that came together are all there or none`(
    _ durability: String
  ) throws {
    let words = (1...20).map { "w\($0)" }
    var outcomes: Set<Int> = []
    // The writes before the changes are few, and the last places are behind all of them.
    for number in 1...16 {
      for error in ["error=EIO:", ""] {
        let temporary = TemporaryFolder()
        let path = temporary("notes")
        let fault = "-e inject=write:\(error)signal=KILL:when=\(number)"
        let server = try Server(
          path, ["--seed", "7", "--durability", durability],
          shell: "exec strace -f -qq -o /dev/null -e trace=write \(fault) \"$@\"")
        var hasSent = false
        var answered = 0
        do {
          try server.initialize()
          let note = JSON(try server.call("note/create", ["text": ""])["note"]!["id"]!)
          try server.call("note/open", ["id": note, "mode": "edit"])
          let start: JSON = ["line": 0, "character": 0]
          var bytes: [UInt8] = []
          for (index, word) in words.enumerated() {
            let change: JSON = [
              "attachment": 1, "version": JSON(index + 1), "rev": 0,
              "ranges": [
                ["range": ["start": start, "end": start], "newText": .string(word + " ")]
              ],
            ]
            let request = JSON.request(JSON(1000 + index), "note/change", change)
            bytes += server.delimiter.frame(request.bytes)
          }
          try server.write(bytes)
          hasSent = true
          for index in words.indices {
            _ = try server.result(of: 1000 + index)
            answered += 1
          }
        } catch is Failure {
          // It was killed.
        }
        server.closeInput()
        _ = try server.waitForEnd()
        let next = try Server(path)
        try next.initialize()
        let found = try next.words()
        let kept = words.count { found[$0] == 1 }
        #expect(kept == 0 || kept == words.count, "\(fault): \(found)")
        #expect(kept == words.count || answered == 0, "\(fault): \(answered) answers")
        #expect(found.values.allSatisfy { $0 == 1 }, "\(fault): \(found)")
        #expect(try next.damage == [], "\(fault)")
        if hasSent { outcomes.insert(kept) }
        try next.leave()
      }
    }
    #expect(outcomes == [0, words.count])
  }
}
