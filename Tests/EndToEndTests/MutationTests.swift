import Foundation
import JSONRPC
import TestSupport
import Testing

/// Seeded damage to what is right: of sessions, of encoded changes, of positions.
@Suite(.waiting)
struct `Mutated input` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  private func session(_ delimiter: Delimiter) -> [UInt8] {
    let place: JSON = ["line": 0, "character": 1]
    let messages: [JSON] = [
      .request(1, "initialize", ["processId": nil, "capabilities": [:]]),
      .notification("initialized", [:]),
      .request(2, "note/create", ["title": "one", "text": "a\nü\n", "tags": ["x"], "index": 0]),
      .request("three", "notebook/list", ["tags": ["x"], "limit": 5]),
      .request(4, "note/open", ["id": "0.1", "mode": "edit", "push": "ranges"]),
      .request(
        5, "note/change",
        [
          "attachment": 1, "version": 1, "rev": 0,
          "ranges": [["range": ["start": place, "end": place], "newText": "x"]],
        ]),
      .request(6, "notebook/changes", ["since": "0", "limit": 100]),
      .request(7, "notebook/merge", ["changes": "ikROYg0KAQE="]), .request(8, "shutdown"),
      .notification("exit"),
    ]
    return messages.flatMap { delimiter.frame($0.bytes) }
  }

  private func feed(_ bytes: [UInt8], _ what: String) throws {
    let server = try Server(folder("notes"))
    // It may leave before it has read everything.
    try? server.write(bytes)
    server.closeInput()
    let ending: Ending
    do { ending = try server.waitForEnd() } catch let error as Failure {
      // Whatever the answers are, they need not be framed in headers.
      guard error.description.hasPrefix("no frame") else { throw error }
      server.closeOutput()
      ending = try server.waitForEnd(reading: false)
    }
    #expect(ending == .status(0) || ending == .status(1), "\(what)")
  }

  @Test(arguments: Delimiter.allCases)
  func `A session with a few bytes changed ends in order`(_ delimiter: Delimiter) throws {
    let original = session(delimiter)
    for seed in 0..<UInt64(scaled(60, 5000)) {
      var random = SplitMix64(seed: seed)
      var bytes = original
      for _ in 0...random.below(4) {
        let at = random.below(bytes.count)
        switch random.below(6) {
        case 0: bytes[at] = UInt8(random.below(256))
        case 1: bytes[at] ^= 1 << UInt8(random.below(8))
        case 2: bytes.insert(UInt8(random.below(256)), at: at)
        case 3: bytes.removeSubrange(at..<min(bytes.count, at + 1 + random.below(20)))
        case 4: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 200)], at: at)
        default: bytes.removeLast(random.below(bytes.count / 2))
        }
      }
      try feed(bytes, "seed \(seed)")
    }
  }

  @Test
  func `SplitMix64 bytes end in order`() throws {
    for seed in 0..<UInt64(scaled(30, 2000)) {
      var random = SplitMix64(seed: seed)
      let starts = ["", "{", "Content-Length: 5\r\n\r\n", "\n", "["]
      let start = Array(starts[random.below(starts.count)].utf8)
      let bytes = (0..<random.below(3000)).map { _ in UInt8(random.below(256)) }
      try feed(start + bytes, "seed \(seed)")
    }
  }

  @Test
  func `Changes with a right checksum and wrong contents are refused or harmless`() throws {
    let author = try Server(folder("author"))
    try author.initialize()
    let params: JSON = ["text": "one two", "title": "t", "tags": ["a", "b"]]
    let note = try author.call("note/create", params)
    let id = JSON.raw(note["note"]!["id"]!.written)
    try author.call("note/create", ["title": "second", "priority": "high"])
    try author.call("note/setText", ["id": id, "text": "one 2 three"])
    try author.call("note/update", ["id": id, "tags": ["b"], "title": "u", "priority": "low"])
    try author.call("note/move", ["id": id, "index": 0])
    try author.call("note/delete", ["id": id])
    try author.call("note/restore", ["id": id])
    let encoded = try author.call("notebook/changes")["changes"]!.string!
    let original = [UInt8](Data(base64Encoded: encoded)!)
    try author.leave()

    var target = try Server(folder("target"))
    try target.initialize()
    for seed in 0..<UInt64(scaled(1500, 100_000)) {
      var random = SplitMix64(seed: seed)
      var content = Array(original.dropFirst(containerHeader(1).count + blockPrefix))
      random.forge(&content, with: [content])
      let bytes = containerHeader(1) + containerBlock(content)
      let text = Data(bytes).base64EncodedString()
      let request = try target.post("notebook/merge", ["changes": .string(text)])
      do {
        let error = try target.response(to: request)["error"]
        #expect(error == nil || error?.code == -32803 || error?.code == -32602, "seed \(seed)")
      } catch {
        let ending = try target.waitForEnd()
        Issue.record("seed \(seed): the process ended with \(ending) after merging \(text)")
        target = try Server(folder("target-\(seed)"))
        try target.initialize()
        continue
      }
      if seed % 100 == 99 {
        // What was accepted can be listed, read, and read again from the disk; each target takes the identity anew.
        let notes = try target.call("notebook/list")["notes"]!.array!
        for note in notes { try target.call("note/get", ["id": .raw(note["id"]!.written)]) }
        try target.killNow()
        target = try Server(folder("target"))
        try target.initialize()
        let status = try target.call("notebook/status")
        #expect(status["damage"]?.array?.isEmpty == true, "by seed \(seed): \(status.written)")
        try target.killNow()
        target = try Server(folder("target-\(seed)"))
        try target.initialize()
      }
    }
  }

  @Test(
    arguments: [
      ("", "[[0,1,[\"x\"]]]", "x"), ("a", "[[0,1,[]]]", ""), ("a", "[[1,1,[\"x\"]]]", "a\nx"),
      ("a\n", "[[1,2,[\"x\"]]]", "a\nx"), ("a\nb", "[[0,2,[]]]", ""),
    ])
  func `A change of the last line by lines is taken`(
    _ before: String, _ lines: String, _ after: String
  ) throws {
    let server = try Server(folder("notes"), environment: ["SWIFT_BACKTRACE": "enable=no"])
    try server.initialize()
    let note = try server.call("note/create", ["text": .string(before)])["note"]!["id"]!.written
    let open = try server.call("note/open", ["id": .raw(note), "mode": "edit"])
    let params: JSON = [
      "attachment": .raw(open["attachment"]!.written), "version": 1, "rev": 0, "lines": .raw(lines),
    ]
    try server.call("note/change", params)
    #expect(try server.call("note/get", ["id": .raw(note)])["text"]?.string == after)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `Changes by lines do what a list of lines does`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let server = try Server(folder("notes"), environment: ["SWIFT_BACKTRACE": "enable=no"])
    try server.initialize()
    let note = try server.call("note/create", ["text": ""])["note"]!["id"]!.written
    let open = try server.call("note/open", ["id": .raw(note), "mode": "edit"])
    var lines = [""]
    for version in 1...scaled(150, 3000) {
      var edits: [JSON] = []
      var after = lines
      // From the bottom up, so that the places hold; sent in any order.
      var end = lines.count
      while end >= 0, edits.count < 4 {
        let last = random.below(end + 1)
        let first = last - random.below(min(3, last + 1))
        let new = (0..<random.below(4)).map { _ in
          String("abcü😀".randomElement(using: &random)!)
            + (random.below(3) == 0 ? "" : "\(random.below(9))")
        }.map { random.below(4) == 0 ? "" : $0 }
        after.replaceSubrange(first..<last, with: new)
        edits.append([JSON(first), JSON(last), .array(new.map { .string($0) })])
        end = first - 1
      }
      edits.shuffle(using: &random)
      let text = after.joined(separator: "\n")
      let params: JSON = [
        "attachment": .raw(open["attachment"]!.written), "version": JSON(version), "rev": 0,
        "lines": .array(edits), "sha256": .string(sha256(Array(text.utf8))),
      ]
      let response = try server.response(to: try server.post("note/change", params))
      guard response["result"] != nil else {
        Issue.record("\(lines) by \(params.text): \(response.written)")
        return
      }
      // A text of no lines is one empty line.
      lines = text.components(separatedBy: "\n")
      if version % 10 == 0 {
        let kept = try server.call("note/get", ["id": .raw(note)])["text"]?.string
        #expect(kept?.utf8.elementsEqual(text.utf8) == true, "\(params.text)")
      }
    }
    try server.leave()
  }
}
