import Foundation
import NoteStore
import TestSupport
import Testing

@testable import NotesServer

/// Changes of texts that come with one read and are written together.
@Suite(.computing)
struct `Changes that one read brings` {
  let scratch = TemporaryFolder()

  /// A server with one open note, on a disk that may fail.
  private func begin(
    _ folder: String, seed: UInt64 = 1, longJournal: Int = 16 << 20, text: String = ""
  ) throws -> (peer: Peer, disk: FaultyDisk, note: JSON, open: JSON) {
    let disk = FaultyDisk()
    let peer = Peer(
      scratch(folder), seed: seed, state: scratch(folder + "-state"), longJournal: longJournal)
    try peer.initialize(on: disk)
    let note = peer.call("note/create", ["text": .string(text)])["note"]!["id"]!
    let open = peer.call("note/open", ["id": note, "mode": "edit", "check": "none"])
    return (peer, disk, note, open)
  }

  /// A change that inserts a word at the beginning of a text.
  private func change(_ version: Int, _ word: String, of attachment: Int = 1) -> JSON {
    let start: JSON = ["line": 0, "character": 0]
    return [
      "attachment": JSON(attachment), "version": JSON(version), "rev": 0,
      "ranges": [["range": ["start": start, "end": start], "newText": .string(word + " ")]],
    ]
  }

  /// The words of a note, as a process that has just begun reads them, and what is damaged.
  private func words(_ folder: String, _ note: JSON) -> (words: [String], damage: JSON?) {
    let reader = Peer(scratch(folder), seed: 99)
    reader.initialize()
    let text = reader.call("note/get", ["id": note])["text"]?.string ?? ""
    return (text.split(separator: " ").map(String.init), reader.call("notebook/status")["damage"])
  }

  // MARK: - Calls of the system

  @Test func `take one look, one write to the journal and one to the log`() throws {
    let (peer, disk, note, _) = try begin("notes")
    disk.count()
    peer.receive((1...64).flatMap { peer.line("note/change", change($0, "w\($0)")) })
    #expect(disk.calls == [.look, .append, .append])
    #expect(peer.responses.count == 64)
    #expect(peer.responses.allSatisfy { $0["result"] != nil })
    #expect(words("notes", note).words == (1...64).reversed().map { "w\($0)" })
  }

  @Test func `take the same calls where there is only one`() throws {
    let (peer, disk, _, _) = try begin("notes")
    disk.count()
    peer.receive(peer.line("note/change", change(1, "one")))
    #expect(disk.calls == [.look, .append, .append])
  }

  @Test func `of other kinds are written each by itself`() throws {
    let (peer, disk, note, _) = try begin("notes")
    disk.count()
    peer.receive(
      (1...10).flatMap { peer.line("note/create", ["title": .string("n\($0)")]) }
        + peer.line("note/change", change(1, "one")) + peer.line("note/change", change(2, "two"))
        + peer.line("note/append", ["id": note, "text": "end"]))
    // The last one is pushed, and that is noted.
    #expect(disk.calls.count { $0 == .append } == 14)
  }

  @Test func `are written by the end of the read, by another request, and when they are many`()
    throws
  {
    let (peer, disk, note, _) = try begin("notes")
    disk.count()
    var lines = (1...3).flatMap { peer.line("note/change", change($0, "w\($0)")) }
    lines += peer.line("note/get", ["id": note])
    lines += (4...1000).flatMap { peer.line("note/change", change($0, "w\($0)")) }
    peer.receive(lines + peer.line("note/change", change(1001, "cut off")).dropLast(3))
    let text = peer.responses[3]["result"]!["text"]!.string
    #expect(text == "w3 w2 w1 ")
    #expect(peer.responses.count == 1001)
    // 3; 256, 256, 256 and 229.
    #expect(disk.calls.count { $0 == .append } == 10)
  }

  @Test func `with cursors between them are written together`() throws {
    let (peer, disk, note, _) = try begin("notes")
    let other = peer.call("note/open", ["id": note, "mode": "observe"])["attachment"]!
    _ = peer.take("note/presence")
    disk.count()
    var lines: [UInt8] = []
    for version in 1...5 {
      lines += peer.line("note/change", change(version, "w\(version)"))
      let place: JSON = ["line": 0, "character": 2]
      let cursor: JSON = [
        "jsonrpc": "2.0", "method": "note/cursor",
        "params": [
          "attachment": 1, "version": JSON(version), "rev": 0,
          "ranges": [["start": place, "end": place]],
        ],
      ]
      lines += cursor.bytes + [0x0A]
    }
    peer.receive(lines)
    // The changes, and what the observer is told: pushes are noted, too.
    #expect(disk.calls == [.look, .append, .append, .append])
    #expect(peer.take("note/edit").count == 1)
    let presence = peer.take("note/presence").filter { $0["attachment"] == other }
    #expect(presence.count == 1)
    #expect(presence.first?["peers"]?[0]?["ranges"]?[0]?["start"]?["character"] == 2)
  }

  @Test func `are answered in their order, before others are told of them`() throws {
    let (peer, _, note, _) = try begin("notes")
    _ = peer.call("note/open", ["id": note, "mode": "edit", "check": "none"])
    peer.receive(
      peer.line("note/change", change(1, "one")) + peer.line("note/change", change(1, "again"))
        + peer.line("note/change", change(2, "two")) + peer.line("note/change", change(3, "three"))
        + peer.line("note/change", change(1, "theirs", of: 2)))
    let ids = peer.responses.map { $0["id"]!.integer! }
    #expect(ids == ids.sorted() && ids.count == 5)
    #expect(peer.responses.map { $0["error"] == nil } == [true, false, true, true, true])
    #expect(words("notes", note).words.sorted() == ["one", "theirs", "three", "two"])
  }

  // MARK: - Faults

  /// Faults at one call of a group, and from one call on: as many places as there are calls.
  @Test(arguments: FaultyDisk.Fault.allCases, [true, false])
  func `are all made or none, and each is told so, whichever call fails`(
    _ fault: FaultyDisk.Fault, isOnce: Bool
  ) throws {
    for isFirst in [true, false] {
      for place in 0..<200 {
        let folder = "notes-\(fault)-\(isOnce)-\(isFirst)-\(place)"
        let (peer, disk, note, open) = try begin(folder)
        var version = 0
        var expected: [String] = []
        func type(_ count: Int) -> [UInt8] {
          (0..<count).flatMap { _ in
            version += 1
            return peer.line("note/change", change(version, "w\(version)"))
          }
        }
        // The session's folder and file are new with the first, or are there.
        if isFirst {
          peer.endSession()
        } else {
          peer.receive(type(2))
          expected += ["w1", "w2"]
          peer.responses = []
        }
        disk.count()
        disk.fault = { number, _ in
          (isOnce ? number == place : number >= place) ? fault : nil
        }
        let first = version + 1
        peer.receive(type(6))
        let hasFired = disk.hasFired
        disk.fault = { _, _ in nil }
        let label = Comment(rawValue: folder)
        #expect(peer.responses.count == 6, label)
        let refusals = peer.responses.count { $0["error"] != nil }
        #expect(refusals == 0 || hasFired, label)
        var uncertain: Set<String> = []
        for (index, response) in peer.responses.enumerated() {
          let word = "w\(first + index)"
          if response["error"] == nil {
            expected.append(word)
          } else {
            if fault == .answerLost { uncertain.insert(word) }
          }
        }
        peer.responses = []
        // It goes on, together and alone.
        peer.folderChanged()
        peer.receive(type(3))
        peer.receive(type(1))
        #expect(
          peer.responses.count == 4 && peer.responses.allSatisfy { $0["error"] == nil }, label)
        expected += (0..<4).map { "w\(version - 3 + $0)" }
        let shown = peer.call("note/get", ["id": note])["text"]!.string!
        let (words, damage) = words(folder, note)
        #expect(shown == words.map { $0 + " " }.joined(), label)
        let certain = words.filter { !uncertain.contains($0) }
        #expect(certain == expected.reversed(), label)
        #expect(Set(words).count == words.count, label)
        #expect(damage == [], label)
        // The next process knows what the client shows.
        if uncertain.isEmpty {
          let next = Peer(scratch(folder), seed: 5, state: scratch(folder + "-state"))
          next.initialize()
          let text = JSON.string(shown)
          let resumed = next.ask(
            "note/open",
            [
              "id": note, "mode": "edit",
              "resume": [
                "session": open["session"]!, "version": JSON(version), "rev": 0, "text": text,
              ],
            ])
          #expect(["exact", "merged"].contains(resumed["resumed"]?.string), label)
          #expect(next.call("note/get", ["id": note])["text"] == text, label)
        }
        if !hasFired { break }
        #expect(place < 199, "there are more calls")
      }
    }
  }

  /// A disk that takes nothing for a while: the same as for changes that come one at a time.
  @Test func `are refused as they are one at a time while the disk is full`() throws {
    func run(_ folder: String, together: Bool) throws -> (answers: [JSON], text: [String]) {
      let (peer, disk, note, _) = try begin(folder)
      peer.receive(peer.line("note/change", change(1, "before")))
      disk.fault = { _, call in call == .append ? .refused : nil }
      let lines = (2...9).map { peer.line("note/change", change($0, "w\($0)")) }
      if together { peer.receive(Array(lines.joined())) } else { lines.forEach(peer.receive) }
      disk.fault = { _, _ in nil }
      let more = (10...12).map { peer.line("note/change", change($0, "w\($0)")) }
      if together { peer.receive(Array(more.joined())) } else { more.forEach(peer.receive) }
      #expect(peer.take("window/showMessage").count == 1)
      return (peer.responses, words(folder, note).words)
    }
    let (alone, together) = (try run("alone", together: false), try run("both", together: true))
    func bare(_ answers: [JSON]) -> [JSON] {
      answers.map { [$0["id"]!, $0["result"] ?? .null, $0["error"]?["code"] ?? .null] }
    }
    #expect(bare(alone.answers) == bare(together.answers))
    #expect(alone.answers.count { $0["error"] != nil } == 8)
    #expect(alone.text == together.text)
    #expect(alone.text == ["w12", "w11", "w10", "before"])
  }

  @Test func `are kept when the log was moved away before them`() throws {
    let (peer, disk, note, _) = try begin("notes")
    peer.receive(peer.line("note/change", change(1, "before")))
    let folder = scratch("notes/log")
    try FileManager.default.moveItem(atPath: folder, toPath: scratch("away"))
    disk.count()
    peer.receive((2...9).flatMap { peer.line("note/change", change($0, "w\($0)")) })
    #expect(peer.responses.suffix(8).allSatisfy { $0["error"] == nil })
    #expect(words("notes", note).words == (2...9).reversed().map { "w\($0)" } + ["before"])
  }

  /// The way back reads the archive, and where that fails the folder. Without both the changes stay, and are written again from memory.
  @Test func `stay in the notebook where neither archive nor folder can be read for the way back`()
    throws
  {
    let (peer, disk, note, _) = try begin("notes")
    let others = (1...300).map { peer.create(["text": .string("other \($0)")]) }
    #expect(peer.putAway())
    peer.receive(peer.line("note/change", change(1, "before")))
    peer.responses = []
    disk.count()
    disk.fault = { _, call in
      [.append, .read, .openFolder, .openFile, .names].contains(call) ? .refused : nil
    }
    peer.receive((2...7).flatMap { peer.line("note/change", change($0, "w\($0)")) })
    #expect(disk.calls.contains(.read) && disk.calls.contains(.openFolder))
    #expect(peer.responses.count == 6 && peer.responses.allSatisfy { $0["error"] != nil })
    disk.fault = { _, _ in nil }
    peer.responses = []
    peer.folderChanged()
    peer.run(for: .seconds(3))
    // The client begins anew, as it does after such an answer.
    let open = peer.call("note/open", ["id": note, "mode": "edit", "check": "none"])
    let attachment = open["attachment"]!.integer!
    peer.receive(
      peer.line("note/change", change(1, "after", of: attachment))
        + peer.line("note/change", change(2, "last", of: attachment)))
    #expect(peer.take("window/logMessage").isEmpty)
    let shown = peer.call("note/get", ["id": note])["text"]!.string!
    let (words, damage) = words("notes", note)
    #expect(shown == words.map { $0 + " " }.joined())
    #expect(words == ["last", "after"] + (2...7).reversed().map { "w\($0)" } + ["before"])
    #expect(damage == [])
    #expect(peer.call("note/get", ["id": .string(others[7])])["text"] == "other 8")
  }

  /// A batch that can't be taken back is refused, too. Clients get its text as if another process had made it.
  @Test(arguments: [true, false])
  func `stay for clients, too, where a batch has no way back`(isWhole: Bool) throws {
    let (peer, disk, note, _) = try begin("notes")
    for number in 1...300 { peer.create(["text": .string("other \(number)")]) }
    #expect(peer.putAway())
    peer.receive(peer.line("note/change", change(1, "before")))
    #expect(peer.take("note/edit").isEmpty)
    disk.fault = { _, call in
      [.append, .read, .openFolder, .openFile, .names].contains(call) ? .refused : nil
    }
    var requests: [JSON] = ["one ", "two "].map {
      ["method": "note/append", "params": ["id": note, "text": .string($0)]]
    }
    // Without this one the batch is refused when it is written.
    if !isWhole {
      requests.append(["method": "note/append", "params": ["id": "1-0", "text": "none"]])
    }
    #expect(peer.ask("notebook/batch", ["requests": .array(requests)]).error != nil)
    disk.fault = { _, _ in nil }
    peer.folderChanged()
    peer.run(for: .seconds(3))
    let pushes = peer.take("note/edit")
    #expect(pushes.map { $0["lines"] } == [[[0, 1, ["before one two "]]]])
    #expect(peer.call("note/get", ["id": note])["text"] == "before one two ")
    #expect(words("notes", note).words == ["before", "one", "two"])
  }

  // MARK: - Kills

  @Test func `are all there or none, whenever the process is killed`() throws {
    for place in 0..<12 {
      let folder = "notes-\(place)"
      let disk = DiskOfKilled([scratch(folder), scratch(folder + "-state")])
      disk.isWatched = false
      let peer = Peer(scratch(folder), seed: 1, state: scratch(folder + "-state"))
      try peer.initialize(on: disk)
      let note = peer.call("note/create", ["text": ""])["note"]!["id"]!
      let open = peer.call("note/open", ["id": note, "mode": "edit", "check": "none"])
      peer.receive(peer.line("note/change", change(1, "before")))
      disk.isWatched = true
      disk.callsLeft = place
      var isKilled = false
      disk.didKill = { isKilled = true }
      peer.receive((2...9).flatMap { peer.line("note/change", change($0, "w\($0)")) })
      let isOver = !isKilled
      disk.restore()
      let all = (2...9).reversed().map { "w\($0)" } + ["before"]
      let kept = words(folder, note)
      #expect(kept.words == ["before"] || kept.words == all, "\(place)")
      #expect(kept.words == all || !isOver)
      #expect(kept.damage == [])
      // The client goes on with all that it shows, and nothing is doubled.
      let next = Peer(scratch(folder), seed: 2, state: scratch(folder + "-state"))
      next.initialize()
      let shown = JSON.string((all + ["more"]).joined(separator: " "))
      let resumed = next.call(
        "note/open",
        [
          "id": note, "mode": "edit",
          "resume": ["session": open["session"]!, "version": 10, "rev": 0, "text": shown],
        ])
      #expect(resumed["resumed"] == "exact", "\(place)")
      #expect(next.call("note/get", ["id": note])["text"] == shown, "\(place)")
      if isOver { break }
      #expect(place < 11, "there are more calls")
    }
  }

  // MARK: - Chance

  /// The same requests, one with each read, and cut into reads at random.
  @Test(arguments: 1...UInt64(20 * seedFactor))
  func `of any kinds are answered as they are one at a time`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let script = (0..<120).map { _ in (random.below(100), random.next()) }
    func run(
      _ folder: String, cut: (inout [UInt8], Peer) -> Void
    ) throws -> (answers: [JSON], ends: [JSON]) {
      let (peer, _, note, _) = try begin(folder, seed: seed, longJournal: 4 << 10, text: "a\nb\nc")
      let notes = [note, peer.call("note/create", ["text": "x"])["note"]!["id"]!]
      _ = peer.call("note/open", ["id": note, "mode": "edit", "push": "ranges"])
      _ = peer.call("note/open", ["id": notes[1], "mode": "edit", "check": "none"])
      peer.responses = []
      var versions = [0, 0, 0, 0]
      var waiting: [UInt8] = []
      for (index, step) in script.enumerated() {
        var random = SplitMix64(seed: step.1)
        let (attachment, line) = (1 + random.below(4), random.below(3))
        func change() -> JSON {
          // Some are about versions or places that there are not.
          versions[attachment - 1] += random.below(12) == 0 ? 0 : 1
          let end = line + random.below(2)
          return [
            "attachment": JSON(attachment), "version": JSON(versions[attachment - 1]),
            "rev": JSON(random.below(25) == 0 ? 100_000 : 0),
            "lines": [[JSON(line), JSON(end), [.string("s\(index)")]]],
            "sameStep": random.below(3) == 0 ? true : false,
            "requestKey": random.below(15) == 0 ? .string("k\(random.below(3))") : .null,
          ]
        }
        switch step.0 {
        case ..<70: waiting += peer.line("note/change", change())
        case ..<78:
          let place: JSON = ["line": JSON(line), "character": 0]
          let cursor: JSON = [
            "jsonrpc": "2.0", "method": "note/cursor",
            "params": [
              "attachment": JSON(attachment), "version": JSON(versions[attachment - 1]), "rev": 0,
              "ranges": [["start": place, "end": place]],
            ],
          ]
          waiting += cursor.bytes + [0x0A]
        case ..<84: waiting += peer.line("note/undo", ["attachment": JSON(attachment)])
        case ..<87: waiting += peer.line("note/redo", ["attachment": JSON(attachment)])
        case ..<90: waiting += peer.line("note/get", ["id": notes[random.below(2)]])
        case ..<93:
          waiting += peer.line("note/append", ["id": notes[random.below(2)], "text": "\nmore"])
        case ..<96: waiting += peer.line("note/create", ["title": .string("t\(index)")])
        case ..<98: waiting += peer.line("notebook/list")
        default: waiting += [0x7B, 0x0A]
        }
        cut(&waiting, peer)
      }
      peer.receive(waiting)
      let answers = peer.responses.map { response -> JSON in
        [response["id"]!, response["result"] ?? .null, response["error"] ?? .null]
      }
      peer.responses = []
      let reader = Peer(scratch(folder), seed: 99)
      reader.initialize()
      let ends = notes.map { reader.call("note/get", ["id": $0])["text"]! }
      #expect(reader.call("notebook/status")["damage"] == [])
      let shown = notes.map { peer.call("note/get", ["id": $0])["text"]! }
      #expect(shown == ends, "seed \(seed)")
      let steps = (1...3).flatMap {
        [peer.stepCount(.undo, of: $0), peer.stepCount(.redo, of: $0)].map { JSON($0) }
      }
      return (answers, ends + steps)
    }
    let alone = try run("alone") { waiting, peer in
      peer.receive(waiting)
      waiting = []
    }
    var cuts = SplitMix64(seed: seed &+ 1000)
    let together = try run("together") { waiting, peer in
      guard cuts.below(12) == 0 else { return }
      let end = cuts.below(waiting.count + 1)
      peer.receive(Array(waiting[..<end]))
      waiting.removeSubrange(..<end)
    }
    #expect(alone.answers.count == together.answers.count)
    for (one, other) in zip(alone.answers, together.answers) {
      #expect(one == other, "seed \(seed)")
    }
    #expect(alone.ends == together.ends, "seed \(seed)")
  }
}
