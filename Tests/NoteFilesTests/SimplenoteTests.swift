import NoteFiles
import TestSupport
import Testing

@Suite struct `Simplenote's notes` {
  private let json = #"""
    {"activeNotes": [
      {"id": "a1", "content": "Shopping\r\n\r\nMilk\nBread", "creationDate": "2026-11-23T10:00:00.000Z",
       "lastModified": "2026-11-23T11:00:00.123Z", "tags": ["home", "", "home"], "markdown": true},
      {"id": "a2", "content": "# Plan\nStep", "tags": null},
      {"id": "a3", "content": "\n  \nOnly"},
      {"id": "a4", "content": ""},
      {"id": "a5", "content": "Title\nno blank"},
      {"id": "a6"}, {"id": "a7", "content": "a\u0000"}, 5
    ], "trashedNotes": [{"content": "old 😀"}]}
    """#

  @Test func `have their first lines as titles`() throws {
    let read = try Simplenote(parsing: Array(json.utf8))
    #expect(read.notes.map(\.title) == ["Shopping", "Plan", "Only", "", "Title", "old 😀"])
    #expect(
      read.notes.map { string($0.text) } == ["Milk\nBread", "# Plan\nStep", "", "", "no blank", ""])
    #expect(read.notes.map(\.isTrashed) == [false, false, false, false, false, true])
    #expect(read.notes[0].tags == ["home"])
    #expect(read.notes[0].dates.created.map(\.time) == [1_795_428_000_000])
    #expect(read.notes[0].dates.modified.map(\.time) == [1_795_431_600_123])
    #expect(read.notes[1].dates.created.isEmpty)
    #expect(read.skipped == 3)
  }

  @Test func `have titles that fit`() throws {
    let line = String(repeating: "é", count: 3000)
    let read = try Simplenote(
      parsing: Array("{\"activeNotes\": [{\"content\": \"\(line)\\nx\"}]}".utf8))
    #expect(read.notes[0].title == String(repeating: "é", count: 100))
    #expect(string(read.notes[0].text) == "\(line)\nx")
  }

  @Test func `are told from what is none`() {
    #expect(throws: Simplenote.Failure.notJSON(offset: 1)) {
      try Simplenote(parsing: Array("{".utf8))
    }
    #expect(throws: Simplenote.Failure.notSimplenote) { try Simplenote(parsing: Array("[]".utf8)) }
    #expect(throws: Simplenote.Failure.notSimplenote) {
      try Simplenote(parsing: Array("{\"a\": 1}".utf8))
    }
  }

  @Test(arguments: seeds(5)) func `are read or refused, whatever is in the file`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      var bytes = Array(json.utf8)
      for _ in 0..<(1 + random.below(4)) {
        bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      guard let read = try? Simplenote(parsing: bytes) else { continue }
      for note in read.notes {
        #expect(NoteFile.isTitle(note.title) && note.tags.allSatisfy(NoteFile.isTag))
        #expect(!note.text.contains(0))
      }
    }
  }
}
