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
      "+++", "\n+++\n", "a = 1\n", "[a]\n", "=", "\"\"\"", "{\"title\": 1}", "}\n", "\"a\": b\n",
    ].map { Array($0.utf8) }
    for step in 0..<200 {
      var bytes: [UInt8] = Array(
        random.pick([
          "", "---\n", "---\n", "# ---\n", "\u{FEFF}---\n", "+++\n", "# +++\n", "{\"tags\":",
          "# {\"tags\":",
        ]).utf8)
      for _ in 0..<random.below(30) {
        bytes += random.chance(5) ? random.bytes(2) : random.pick(pieces)
      }
      if random.chance(70) { bytes += Array(random.pick(["\n---\nx", "\n+++\nx", "}\nx"]).utf8) }
      try check(bytes, at(seed, step))
    }
  }

  private func header(_ text: String) -> FileHeader { FileHeader.split(Array(text.utf8)).header }

  private func text(_ fields: [(key: String, value: String)]) -> String {
    string(FileHeader(fields: fields).bytes())
  }

  @Test func `is a map of its fields, and has reserved names for all else`() {
    let fields = header(
      "---\n# c\na: b\n  c\n\ntags:\n- x\n# d\n- y\na: d\n{broken\nb: e\n# end\n---\n"
    ).fields
    #expect(
      fields.map(\.key) == [FileHeader.frameKey, "a", "tags", ":2:a", ":lines"])
    #expect(
      fields.map(\.value) == [
        "4 4\n---\n---\na\ntags\n:2:a\n:lines", "# c\na: b\n  c\n", "\ntags:\n- x\n# d\n- y\n",
        "a: d\n",
        "{broken\nb: e\n# end\n",
      ])
    #expect(FileHeader().fields.isEmpty)
    #expect(header("\u{FEFF}x").fields.map(\.value) == ["3 0\n\u{FEFF}"])
    #expect(header("---\na: b\n\n...").fields[0].value == "4 4\n---\n\n...a")
  }

  @Test func `has what two machines added, in one order`() {
    let base = header("---\ntitle: a\n---\n").fields
    let frame = (key: FileHeader.frameKey, value: "4 4\n---\n---\ntitle\nx")
    let (x, y, z) = (("x", "x: 1\n"), ("y", "y: 2\n"), (":lines", "{\n"))
    let merged = text([y, base[1], z, frame, x, ("b", "b: 3\n")])
    #expect(merged == "---\ntitle: a\nx: 1\nb: 3\ny: 2\n{\n---\n")
    // A name without a value, and no frame.
    #expect(text([frame, x]) == "---\nx: 1\n---\n")
    #expect(text([y, x]) == "---\nx: 1\ny: 2\n---\n")
    #expect(text([(FileHeader.frameKey, "3 0\n\u{FEFF}"), x]) == "\u{FEFF}---\nx: 1\n---\n")
  }

  @Test(arguments: [
    ("x", "x: 1"), ("x", "y: 1\n"), ("x", "x: 1\n---\n"), ("x", "x: 1\n...\ntext\n"),
    ("x", "x: 1\ny: 2\n"), ("x", ""),
    ("x", "x: 1\n# end\n"), ("x", "garbage\n"), (":lines", "x: 1\n"), (":lines", "{\n---\n"),
    (":2:x", "y: 1\n"),
    (":1:x", "x: 1\n"), (":02:x", "x: 1\n"), (":other", "x: 1\n"), (":frame", "4 4\n"),
    (":frame", "9999999999999999999 1\n"),
    (":frame", "-1 5\n---\n"), (":frame", "0 4\n---\n"), (":frame", "4 0\nabc\n"), (":frame", "x"),
  ])
  func `leaves out what no machine of ours has written`(key: String, value: String) {
    #expect(text([(key, value), ("title", "title: a\n")]) == "---\ntitle: a\n---\n")
  }

  @Test(arguments: seeds(20)) func `is one header, whatever the registers say`(seed: UInt64) throws
  {
    var random = SplitMix64(seed: seed)
    for step in 0..<100 {
      var fields: [(key: String, value: String)] = []
      for _ in 0..<(1 + random.below(3)) {
        fields += header(random.pick(Hostile.headers)).fields.filter { _ in random.chance(70) }
      }
      for index in fields.indices where random.chance(20) {
        var bytes = Array(fields[index].value.utf8)
        guard !bytes.isEmpty else { continue }
        let part = Array(random.pick(["\n", "---\n", "a: b\n", "#", " ", "[", "\"", "9"]).utf8)
        bytes.replaceSubrange(random.below(bytes.count)..<bytes.count, with: part)
        fields[index].value = string(bytes)
      }
      let made = FileHeader(fields: fields)
      let bytes = made.file(text: Array("text".utf8))
      let (found, start, _) = FileHeader.split(bytes)
      try #require(string(Array(bytes[start...])) == "text", "\(at(seed, step)) \(string(bytes))")
      try #require(FileHeader(fields: found.fields) == found, at(seed, step))
      try #require(found.bytes() + Array("text".utf8) == bytes, at(seed, step))
    }
  }
}
