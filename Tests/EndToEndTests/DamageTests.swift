import Foundation
import JSONRPC
import TestSupport
import Testing

/// Every cut and every flipped bit of a small log is tried where logs are read; here the program opens some of them.
@Suite(.waiting)
struct `Damaged files` {
  @Test(
    arguments: 1...UInt64(2 * seedFactor))
  func `Damage is reported, and takes no more with it than it has to`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let temporary = TemporaryFolder()
    let folder = temporary("notes")
    var ledger = Ledger()
    var sessions: [String] = []
    for session in 0..<3 {
      let server = try Server(folder)
      try server.initialize()
      let note = try server.create("s\(session)", &ledger).get()
      for number in 0..<3 {
        _ = try server.append("s\(session)n\(number)", to: note, &ledger).get()
      }
      sessions.append(String(note.text.split(separator: "-").last!.dropLast()))
      try server.leave()
    }
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
      .map { folder + "/" + $0 }.filter { FileManager.default.contents(atPath: $0) != nil }
    for _ in 0..<scaled(20, 400) {
      let file = files[random.below(files.count)]
      let whole = FileManager.default.contents(atPath: file)!
      var bytes = whole
      let isCut = random.below(4) == 0
      let at = random.below(bytes.count)
      if isCut { bytes = bytes.prefix(at) } else { bytes[at] ^= 1 << UInt8(random.below(8)) }
      try bytes.write(to: URL(fileURLWithPath: file))
      let what = Comment("seed \(seed): \(file), byte \(at), \(isCut ? "cut" : "flipped")")
      defer { try? whole.write(to: URL(fileURLWithPath: file)) }

      // What one of them has known is gone for the next.
      let server = try Server(
        folder, environment: ["XDG_STATE_HOME": temporary("state-\(UUID().uuidString)")])
      let start = try server.response(to: try server.post("initialize"))
      if let error = start["error"] {
        #expect(file.hasSuffix("decent.json"), what)
        #expect(error.code == -32803, what)
        #expect(["damaged", "newerFormat"].contains(error.reason), what)
        #expect(error["message"]?.string?.contains(file) == true, what)
        continue
      }
      let words = try server.words()
      let damage = try server.damage
      for (word, count) in words {
        #expect(ledger.kept.contains(word), what)
        #expect(count == 1, what)
      }
      let lost = ledger.kept.subtracting(words.keys)
      let isNoticed = isCut || damage.contains { $0.contains(file) }
      #expect(isNoticed || file.hasSuffix("decent.json"), what)
      // Sessions before it are whole; those after it had seen it, and wait for what is missing.
      if let victim = sessions.firstIndex(where: file.contains) {
        for session in 0..<victim {
          for number in 0..<3 { #expect(words["s\(session)n\(number)"] == 1, what) }
        }
        if victim < 2, !lost.isEmpty { #expect(!damage.isEmpty, what) }
      } else {
        #expect(lost.isEmpty, what)
      }
      let made = try server.call("note/create", ["title": "after"])["note"]!["id"]!.written
      try server.leave()
      #expect(FileManager.default.contents(atPath: file) == bytes, what)
      // Out of the way, so that the next has the notebook as it was.
      let session = made.split(separator: "-").last!.dropLast()
      try FileManager.default.removeItem(atPath: "\(folder)/log/\(session)")
    }
    try audit(folder, ledger, "seed \(seed)")
  }

  @Test(
    arguments: [8, 20, 40, 66, 74, 75])
  func `A flipped bit of a header or of a length takes nothing`(byte: Int) throws {
    let temporary = TemporaryFolder()
    let folder = temporary("notes")
    var ledger = Ledger()
    let server = try Server(folder)
    try server.initialize()
    let note = try server.create("made", &ledger).get()
    for number in 0..<3 { _ = try server.append("more\(number)", to: note, &ledger).get() }
    try server.leave()
    let log = try #require(
      try FileManager.default.subpathsOfDirectory(atPath: folder).first { $0.hasSuffix(".seg") })
    let path = URL(fileURLWithPath: "\(folder)/\(log)")
    var bytes = try Data(contentsOf: path)
    bytes[byte] ^= 2
    try bytes.write(to: path)
    let reader = try Server(folder)
    try reader.initialize()
    #expect(ledger.objections(to: try reader.words()) == [])
    #expect(try reader.damage.count == 1)
    _ = try reader.create("after", &ledger).get()
    try reader.leave()
    let check = try Outcome(["--notebook", folder, "check"])
    #expect(check.ending == .status(1))
    #expect(check.output.contains("damage: \(path.path), byte \(byte < 72 ? 0 : 72): "))
    #expect(check.output.contains("kept; nothing is lost by it\n"), "\(check.output)")
    #expect(try Data(contentsOf: path) == bytes)
  }
}
