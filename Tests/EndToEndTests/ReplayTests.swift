import Foundation
import JSONRPC
import TestSupport
import Testing

/// An editing session: what was deleted and inserted where, counted in Unicode scalars.
private struct Recording: Decodable {
  struct Patch: Decodable {
    var position: Int
    var deleted: Int
    var inserted: String

    init(position: Int, deleted: Int, inserted: String) {
      (self.position, self.deleted, self.inserted) = (position, deleted, inserted)
    }

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      position = try values.decode(Int.self)
      deleted = try values.decode(Int.self)
      inserted = try values.decode(String.self)
    }
  }

  struct Transaction: Decodable { var patches: [Patch] }

  var startContent: String
  var endContent: String
  var txns: [Transaction]

  var patches: [Patch] { txns.flatMap(\.patches) }
}

@Suite(.waiting)
struct `Replay` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  /// Types like a person: runs of letters, words deleted, leaps.
  private func generated(_ count: Int) -> Recording {
    var random = SplitMix64(seed: 11)
    var text = Array("Begin.\n".unicodeScalars)
    var patches: [Recording.Patch] = []
    var cursor = 0
    let letters = Array("etaoin shrdlu.\nüß漢😀".unicodeScalars)
    for _ in 0..<count {
      if random.below(20) == 0 { cursor = random.below(text.count + 1) }
      let deleted = random.below(8) == 0 ? min(cursor, 1 + random.below(6)) : 0
      cursor -= deleted
      let length = deleted > 0 && random.below(2) == 0 ? 0 : 1 + random.below(2)
      let new = (0..<length).map { _ in letters[random.below(letters.count)] }
      text.replaceSubrange(cursor..<cursor + deleted, with: new)
      let inserted = String(String.UnicodeScalarView(new))
      patches.append(.init(position: cursor, deleted: deleted, inserted: inserted))
      cursor += new.count
    }
    return Recording(
      startContent: "Begin.\n", endContent: String(String.UnicodeScalarView(text)),
      txns: [.init(patches: patches)])
  }

  @Test
  func `A generated session, with a kill half-way, ends in its text`() throws {
    try replay(generated(scaled(3000, 30_000)))
  }

  private static let traces = ProcessInfo.processInfo.environment["DECENT_NOTES_TRACES"]

  @Test(
    .enabled(if: traces != nil, "DECENT_NOTES_TRACES names no folder of recordings"),
    .enabled(if: hasTool("gzip") || isContinuousIntegration, "gzip is missing"))
  func `A recorded session, with a kill half-way, ends in its text`() throws {
    let path = Self.traces! + "/friendsforever_flat.json.gz"
    let output = folder("trace.json")
    let shell = try Server(nil, delimiter: .lines, shell: "exec gzip -dc '\(path)' > '\(output)'")
    #expect(try shell.waitForEnd() == .status(0))
    let data = try Data(contentsOf: URL(fileURLWithPath: output))
    try replay(try JSONDecoder().decode(Recording.self, from: data))
  }

  private func replay(_ recording: Recording) throws {
    let patches = recording.patches
    var server = try Server(folder("notes"))
    try server.initialize(encoding: "utf-32")
    let params: JSON = ["text": .string(recording.startContent)]
    let id = JSON.raw(try server.call("note/create", params)["note"]!["id"]!.written)
    var lines = LineLengths(recording.startContent.unicodeScalars)
    var next = 0
    for part in [patches.count / 2, patches.count] {
      let open = try server.call("note/open", ["id": id, "mode": "edit", "check": "none"])
      let attachment = JSON.raw(open["attachment"]!.written)
      // What is there is what was acknowledged, for every answer was waited for.
      if next > 0 {
        #expect(open["text"]?.utf8 == text(of: recording, after: next))
      }
      while next < part {
        var posted = 0
        for index in next..<min(part, next + 64) {
          let range = lines.apply(patches[index])
          let version = index + 1
          let change: JSON = ["range": range, "newText": .string(patches[index].inserted)]
          posted = try server.post(
            "note/change",
            [
              "attachment": attachment, "version": JSON(version), "rev": 0, "ranges": [change],
            ])
        }
        next = min(part, next + 64)
        _ = try server.result(of: posted)
      }
      if part < patches.count {
        try server.killNow()
        server = try Server(folder("notes"))
        try server.initialize(encoding: "utf-32")
      }
    }
    let end = try server.call("note/get", ["id": id])["text"]!
    #expect(end.utf8 == Array(recording.endContent.utf8))
    try server.leave()
  }

  private func text(of recording: Recording, after count: Int) -> [UInt8] {
    var scalars = Array(recording.startContent.unicodeScalars)
    for patch in recording.patches.prefix(count) {
      let range = patch.position..<patch.position + patch.deleted
      scalars.replaceSubrange(range, with: patch.inserted.unicodeScalars)
    }
    return Array(String(String.UnicodeScalarView(scalars)).utf8)
  }
}

/// Where the lines of a text are, in Unicode scalars.
private struct LineLengths {
  /// Of each line, with its line feed.
  private var lengths: [Int]

  init(_ scalars: String.UnicodeScalarView) { lengths = Self.lengths(of: scalars) }

  private static func lengths(of scalars: String.UnicodeScalarView) -> [Int] {
    scalars.split(separator: "\n", omittingEmptySubsequences: false).map { $0.count + 1 }
  }

  private func place(_ position: Int) -> (line: Int, character: Int) {
    var rest = position
    var line = 0
    while line < lengths.count - 1, rest >= lengths[line] {
      rest -= lengths[line]
      line += 1
    }
    return (line, rest)
  }

  /// Makes a patch, and returns its range in the text before it.
  mutating func apply(_ patch: Recording.Patch) -> JSON {
    let start = place(patch.position)
    let end = place(patch.position + patch.deleted)
    var new = Self.lengths(of: patch.inserted.unicodeScalars)
    new[new.count - 1] += lengths[end.line] - end.character - 1
    new[0] += start.character
    lengths.replaceSubrange(start.line...end.line, with: new)
    func position(_ place: (line: Int, character: Int)) -> JSON {
      ["line": JSON(place.line), "character": JSON(place.character)]
    }
    return ["start": position(start), "end": position(end)]
  }
}
