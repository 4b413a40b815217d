import Foundation
import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Dates of imported notes` {
  let scratch = TemporaryFolder()
  let peer: Peer
  /// The beginning of 2030: of all files that a test makes, none is younger.
  private static let clock: Int64 = 1_893_456_000_000

  init() {
    peer = Peer(scratch("notes"), seed: 1, clock: Self.clock, state: scratch("state"))
    peer.initialize()
  }

  private func write(_ text: String, _ path: String, modified: String? = nil) throws {
    let url = URL(fileURLWithPath: scratch("in/\(path)"))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    if let modified { try setModified(modified, path) }
  }

  private func setModified(_ time: String, _ path: String) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: ISO8601DateFormatter().date(from: time)!],
      ofItemAtPath: scratch("in/\(path)"))
  }

  private func bring(_ path: String = "in") -> JSON {
    peer.call("notebook/import", ["path": .string(scratch(path))])
  }

  /// The dates of the notes by title, created and modified.
  private func dates(_ peer: Peer) -> [String: [String]] {
    var dates: [String: [String]] = [:]
    for note in peer.call("notebook/list")["notes"]!.array! {
      dates[note["title"]!.string!] = [note["created"]!.string!, note["modified"]!.string!]
    }
    return dates
  }

  private func told() -> [String] {
    defer { peer.notifications = [] }
    return peer.notifications.compactMap { $0["params"]?["message"]?.string }
  }

  private func fill() throws {
    try write("---\ncreated: 2020-01-01T10:00:00Z\nupdated: 2021-01-01T10:00:00Z\n---\n", "both.md")
    try write(
      "---\ncreationDate: \"2020-01-02 11:00\"\n---\n", "created.md",
      modified: "2022-01-01T10:00:00Z")
    try write("---\nlastmod: 2021-01-03\n---\n", "modified.md", modified: "2022-01-01T10:00:00Z")
    try write("text", "file.md", modified: "2022-01-04T10:00:00Z")
    try write(
      "---\ncreated: 2024-05-05T00:00:00Z\n---\n", "copied.md", modified: "2022-01-01T10:00:00Z")
  }

  private static let expected = [
    "both": ["2020-01-01T10:00:00.000Z", "2021-01-01T10:00:00.000Z"],
    "created": ["2020-01-02T10:00:00.000Z", "2022-01-01T10:00:00.000Z"],
    "modified": ["2021-01-02T23:00:00.000Z", "2021-01-02T23:00:00.000Z"],
    "file": ["2022-01-04T10:00:00.000Z", "2022-01-04T10:00:00.000Z"],
    "copied": ["2024-05-05T00:00:00.000Z", "2024-05-05T00:00:00.000Z"],
  ]

  @Test
  func `both dates of a note come from the header, else from the file, and lists have its order`()
    throws
  {
    try fill()
    _ = bring()
    #expect(dates(peer) == Self.expected)
    #expect(told() == [])
    let list = peer.call("notebook/list", ["sort": "modified"])["notes"]!.array!
    #expect(
      list.map { $0["title"]?.string } == ["copied", "file", "created", "modified", "both"])
  }

  @Test func `a second machine and the archive have the dates of the import`() throws {
    try fill()
    _ = bring()
    let other = Peer(scratch("notes"), seed: 2, clock: Self.clock, state: scratch("other"))
    other.initialize()
    #expect(dates(other) == Self.expected)
    for state in ["state", "other"] {
      let next = Peer(scratch("notes"), seed: 3, clock: Self.clock, state: scratch(state))
      next.initialize()
      #expect(dates(next) == Self.expected)
    }
  }

  @Test func `the same bytes, an export and another time of the file leave the dates`() throws {
    try fill()
    _ = bring()
    try setModified("2025-01-01T10:00:00Z", "file.md")
    try setModified("2025-01-01T10:00:00Z", "both.md")
    #expect(bring()["unchanged"]?.integer == 5)
    peer.call("notebook/export", ["path": .string(scratch("out"))])
    #expect(bring("out")["unchanged"]?.integer == 5)
    #expect(dates(peer) == Self.expected)
  }

  @Test func `an edit after the import is the last change, and a deletion is none`() throws {
    try fill()
    _ = bring()
    let ids = peer.list()
    for id in ids { peer.call("note/update", ["id": .string(id), "priority": "high"]) }
    #expect(dates(peer) == Self.expected)
    for id in ids { peer.call("note/append", ["id": .string(id), "text": "more"]) }
    for dates in dates(peer).values { #expect(dates[1].hasPrefix("2030-01-01")) }
  }

  @Test func `a date that can't be read or lies in the future is told, and the next one counts`()
    throws
  {
    try write(
      "---\ncreated: 2099-01-01\ndate: 2020-01-01T10:00:00Z\nupdated: soon\n---\n", "a.md",
      modified: "2022-01-01T10:00:00Z")
    try write("text", "b.md", modified: "2098-01-01T10:00:00Z")
    _ = bring()
    let said = told().joined()
    for part in [
      "a.md (created lies in the future, updated can't be read)",
      "b.md (the time of the file's last change lies in the future)",
    ] { #expect(said.contains(part), "\(said)") }
    let dates = dates(peer)
    #expect(dates["a"] == ["2020-01-01T10:00:00.000Z", "2022-01-01T10:00:00.000Z"])
    #expect(dates["b"]?[1].hasPrefix("2030-01-01") == true)
    // What was told is not told again.
    _ = bring()
    #expect(told() == [])
  }

  @Test func `a file from the first day of 1970 has no date of its own`() throws {
    try write("text", "a.md", modified: "1970-01-01T00:00:01Z")
    _ = bring()
    #expect(dates(peer)["a"]?[1].hasPrefix("2030-01-01") == true)
    #expect(told() == [])
  }

  @Test func `notes of Simplenote keep both dates, also in the trash`() throws {
    try write(
      #"{"activeNotes": [{"id": "1", "content": "A", "creationDate": "2020-01-01T10:00:00Z", "lastModified": "2021-01-01T10:00:00Z"}], "trashedNotes": [{"id": "2", "content": "B", "creationDate": "2020-01-01T10:00:00Z", "lastModified": "2098-01-01T10:00:00Z"}]}"#,
      "notes.json")
    peer.call("notebook/import", ["path": .string(scratch("in/notes.json"))])
    #expect(dates(peer) == ["A": ["2020-01-01T10:00:00.000Z", "2021-01-01T10:00:00.000Z"]])
    #expect(told().joined().contains("lastModified lies in the future"))
  }
}
