import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `Crashes` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  /// What is told about the notes: all of it but the names of revisions.
  private func state(_ server: Server) throws -> [String] {
    var state: [String] = []
    for trashed in [false, true] {
      let list = try server.call("notebook/list", ["trashed": .boolean(trashed)])["notes"]!.array!
      for note in list {
        let text = try server.call("note/get", ["id": .raw(note["id"]!.written)])["text"]!
        state.append(note.written + text.written)
      }
    }
    return state
  }

  @Test
  func `What was answered is there after a kill, twenty times over`() throws {
    var random = SplitMix64(seed: 7)
    var expected: [String] = []
    var revision = "0"
    for round in 0..<scaled(20, 300) {
      let server = try Server(folder("notes"))
      let start = try server.initialize()
      #expect(start["notebook"]?["revision"]?.string == revision, "round \(round)")
      #expect(try state(server) == expected, "round \(round)")
      var ids = try server.call("notebook/list")["notes"]!.array!.map { $0["id"]!.string! }
      var trashed = try server.call("notebook/list", ["trashed": true])["notes"]!.array!
        .map { $0["id"]!.string! }
      for step in 0..<(5 + random.below(10)) {
        let id = JSON.string(ids.randomElement(using: &random) ?? "")
        switch ids.isEmpty ? 0 : random.below(8) {
        case 0:
          let params: JSON = ["title": .string("n\(round).\(step)"), "text": "first\nline"]
          ids.insert(try server.call("note/create", params)["note"]!["id"]!.string!, at: 0)
        case 1:
          let tags: JSON = ["add": [.string("t\(random.below(5))")], "remove": ["t1"]]
          try server.call("note/update", ["id": id, "tags": tags, "priority": "high"])
        case 2: try server.call("note/setText", ["id": id, "text": .string("r\(round)\n\(step)")])
        case 3: try server.call("note/append", ["id": id, "text": "\nmore ü"])
        case 4:
          try server.call("note/move", ["id": id, "index": JSON(random.below(ids.count))])
        case 5:
          try server.call("note/delete", ["id": id])
          ids.removeAll { $0 == id.text.dropFirst().dropLast() }
          trashed.append(String(id.text.dropFirst().dropLast()))
        case 6:
          guard let back = trashed.popLast() else { continue }
          try server.call("note/restore", ["id": .string(back)])
          ids.append(back)
        default:
          let open = try server.call("note/open", ["id": id, "mode": "edit"])
          let attachment = JSON.raw(open["attachment"]!.written)
          for version in 1...3 {
            let lines: JSON = [[0, 0, [.string("typed \(round) \(step) \(version)")]]]
            try server.call(
              "note/change",
              ["attachment": attachment, "version": JSON(version), "rev": 0, "lines": lines])
          }
        }
      }
      expected = try state(server)
      revision = try server.call("notebook/status")["revision"]!.string!
      try server.killNow()
    }
  }

  @Test
  func `A log that is cut anywhere opens with what came before`() throws {
    let server = try Server(folder("notes"))
    try server.initialize()
    var texts = ["", "0"]
    let id = try server.call("note/create", ["text": "0"])["note"]!["id"]!.written
    for number in 1...12 {
      try server.call("note/append", ["id": .raw(id), "text": .string(",\(number)")])
      texts.append(texts.last! + ",\(number)")
    }
    try server.killNow()
    let log = try logs(of: folder("notes"))[0]
    let whole = FileManager.default.contents(atPath: log)!
    var seen: Set<String> = []
    let lengths = stride(
      from: whole.count, through: isLong ? 0 : max(0, whole.count - 300), by: isLong ? -1 : -3)
    for length in lengths {
      try whole.prefix(length).write(to: URL(fileURLWithPath: log))
      // It does not know that the writer was killed, or it would complete the log.
      let reader = try Server(
        folder("notes"), delimiter: .lines, environment: ["XDG_STATE_HOME": folder("other")])
      let start = try reader.initialize()
      #expect(start["notebook"]?["id"]?.string != nil)
      let notes = try reader.call("notebook/list")["notes"]!.array!
      var text = ""
      for note in notes {
        text = try reader.call("note/get", ["id": .raw(note["id"]!.written)])["text"]!.string!
      }
      #expect(texts.contains(text), "cut at \(length): \(text)")
      seen.insert(text)
      let damage = try reader.call("notebook/status")["damage"]!
      #expect(damage.array!.isEmpty, "cut at \(length): \(damage.written)")
      // Writing goes on, beside the log that was cut.
      if length % 50 == 0 {
        try reader.call("note/create", ["title": "after"])
        #expect(FileManager.default.contents(atPath: log)?.count == length)
        try FileManager.default.removeItem(
          atPath: try logs(of: folder("notes")).first { $0 != log }!)
      }
      try reader.killNow()
    }
    #expect(seen.count > 3)
  }

  @Test
  func `Opening and reading write nothing`() throws {
    let writer = try Server(folder("notes"))
    try writer.initialize()
    let id = try writer.call("note/create", ["text": "one"])["note"]!["id"]!.written
    try writer.leave()
    let before = try contents(of: folder("notes"))
    for round in 0..<20 {
      let server = try Server(folder("notes"))
      try server.initialize()
      try server.call("notebook/list")
      try server.call("notebook/status")
      let open = try server.call("note/open", ["id": .raw(id), "mode": "edit"])
      try server.call("note/close", ["attachment": .raw(open["attachment"]!.written)])
      try server.call("note/update", ["id": .raw(id), "title": "", "tags": ["remove": ["x"]]])
      try server.call("note/setText", ["id": .raw(id), "text": "one"])
      if round % 2 == 0 { try server.leave() } else { try server.killNow() }
    }
    #expect(try contents(of: folder("notes")) == before)
  }

  @Test
  func `A folder that is not there stays so until the first write`() throws {
    let path = folder("a/b/notes")
    let server = try Server(path)
    let start = try server.initialize()
    #expect(start["notebook"]?["id"]?.isNull == true)
    try server.call("notebook/list")
    try server.call("notebook/status")
    try server.call("notebook/changes")
    try server.call("notebook/flush")
    #expect(try server.error("note/create", ["index": 5]).code == -32602)
    #expect(access(folder("a"), F_OK) != 0)
    try server.call("note/create", [:])
    #expect(access(path + "/decent.json", F_OK) == 0)
    try server.leave()
  }

  @Test(
    arguments: [0, 1, 2] as [Int32])
  func `Standard streams that are closed at the start do no harm`(_ stream: Int32) throws {
    let server = try Server(folder("notes"), delimiter: .lines, closing: [stream])
    var messages = [JSON.request(1, "initialize", [:])]
    for number in 0..<20 {
      messages.append(.request(2, "note/create", ["title": .string("note \(number)")]))
    }
    try? server.write(messages.flatMap { Delimiter.lines.frame($0.bytes) })
    server.closeInput()
    let ending = try server.waitForEnd(within: 10)
    #expect(ending == .status(1))
    // Nothing that was meant for the client is in the files.
    let reader = try Server(folder("notes"))
    try reader.initialize()
    let damage = try reader.call("notebook/status")["damage"]!
    #expect(damage.array!.isEmpty, "\(damage.written)")
    for log in access(folder("notes"), F_OK) == 0 ? try logs(of: folder("notes")) : [] {
      let bytes = FileManager.default.contents(atPath: log)!
      #expect(bytes.range(of: Data("jsonrpc".utf8)) == nil)
    }
  }
}
