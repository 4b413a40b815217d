import NoteFiles
import TestSupport
import Testing

@Suite struct `The header of a file` {
  private func check(_ bytes: [UInt8], _ comment: Comment) throws {
    for form in [FileHeader.Form.plain, .comment] {
      let (header, start, _) = FileHeader.split(bytes, form: form)
      try #require(header.bytes(form: form) == Array(bytes[..<start]), comment)
      let fields = header.fields
      try #require(Set(fields.map(\.key)).count == fields.count, comment)
      let again = FileHeader(fields: fields)
      try #require(again == header, comment)
      // In any order.
      try #require(FileHeader(fields: fields.reversed()) == header, comment)
    }
  }

  @Test func `loses no byte of any header`() throws {
    for header in Hostile.headers {
      for text in Hostile.texts { try check(Array((header + text).utf8), "\(header)\(text)") }
    }
  }

  @Test(arguments: seeds(20)) func `loses no byte of anything`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let pieces = [
      "---", "...", "\n", "\r\n", "\r", "a: b", "a", ":", " ", "- ", "# ", "#", "[", "]", "\"", "'",
      "\u{FEFF}", "tags:", "\t", "|", "é", "{", "}", "---\n", "\n---\n", ":2:a: b",
    ].map { Array($0.utf8) }
    for step in 0..<200 {
      var bytes: [UInt8] = Array(
        random.pick(["", "---\n", "---\n", "# ---\n", "\u{FEFF}---\n"]).utf8)
      for _ in 0..<random.below(30) {
        bytes += random.chance(5) ? random.bytes(2) : random.pick(pieces)
      }
      if random.chance(70) { bytes += Array("\n---\nx".utf8) }
      try check(bytes, at(seed, step))
    }
  }
}
