import Foundation
import NoteFiles
import TestSupport
import Testing

@Suite(.computing) struct `Reading a file` {
  private func refusal(_ bytes: [UInt8], _ path: String = "a.md", limit: Int = 100) -> FileRefusal?
  {
    do throws(FileRefusal) {
      _ = try FileContent(reading: bytes, path: path, limit: limit) { _ in 0 }
      return nil
    } catch {
      return error
    }
  }

  @Test func `refuses what is no note, and says why`() {
    #expect(refusal([0x61, 0, 0xFF]) == .zero(offset: 1))
    #expect(refusal(Array("---\ntitle: a\n---\né".utf8) + [0xC3]) == .notUTF8(offset: 19))
    #expect(refusal([0xED, 0xA0, 0x80]) == .notUTF8(offset: 0))
    #expect(refusal(Array(repeating: 0x61, count: 101)) == .tooLarge(limit: 100))
    #expect(refusal(Array(repeating: 0x61, count: 100)) == nil)
    for path in ["a", "a.pdf", "md", ".md", "a.md/b", "a.mdx", ""] {
      #expect(refusal([], path) == .type, "\(path)")
    }
    for path in ["a.md", "A.MarkDown", "x/y.TXT", "é.org", "a.b.md"] {
      #expect(refusal([], path) == nil, "\(path)")
    }
    for path in [
      "../a.md", "/a.md", "a//b.md", ".git/a.md", "x/.a.md", "./a.md", "a\n.md", "a.swp/b.md",
    ] {
      #expect(refusal([], path) == .path, "\(path)")
    }
  }

  @Test func `takes a header that is too large for text, and says so`() throws {
    let lines = "a: " + String(repeating: "x", count: FileHeader.longest) + "\n"
    for inner in [lines, (0...FileHeader.mostFields).map { "k\($0): v\n" }.joined()] {
      let file = "---\n\(inner)---\ntext"
      let content = try read(file)
      #expect(content.file.text == Array(file.utf8))
      #expect(content.issues == [.headerTooLarge])
      #expect(try content.file.rendered() == Array(file.utf8))
    }
    let fitting = "---\n" + (0..<FileHeader.mostFields).map { "k\($0): v\n" }.joined() + "---\n"
    var file = try read(fitting).file
    #expect(file.text == [])
    file.title = "New"
    #expect(throws: RenderFailure.headerTooLarge) { try file.rendered() }
    file = try read("").file
    file.tags = (0..<2000).map { "\($0)" + String(repeating: "x", count: 190) }
    #expect(throws: RenderFailure.headerTooLarge) { try file.rendered() }
    file.path = "../a.md"
    #expect(throws: RenderFailure.path) { try file.rendered() }
  }

  private func created(_ value: String) throws -> Int64? {
    try read("---\ndate: \(value)\n---\n").created
  }

  @Test(arguments: seeds(5)) func `knows every time as Foundation does`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let formatter = DateFormatter()
    formatter.calendar = Calendar(identifier: .gregorian)
    formatter.locale = Locale(identifier: "en_US_POSIX")
    let local = TimeZone(secondsFromGMT: 3600)!
    for _ in 0..<200 {
      // From 1600 on, in the calendar that both count with.
      let seconds = Int64(random.below(20_000_000_000)) - 11_000_000_000
      let date = Date(timeIntervalSince1970: Double(seconds))
      for (format, zone, unit) in [
        ("yyyy-MM-dd", local, 86400), ("yyyy/MM/dd HH:mm", local, 60),
        ("yyyy-MM-dd'T'HH:mm:ss", local, 1), ("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", .gmt, 1),
        ("yyyy-MM-dd HH:mm:ss Z", TimeZone(secondsFromGMT: -34200)!, 1),
        ("yyyy-MM-dd'T'HH:mm:ssxxx", TimeZone(secondsFromGMT: 20700)!, 1),
        ("yyyyMMdd'T'HHmmss", local, 1), ("yyyyMMddHHmmss", local, 1), ("yyyyMMddHHmm", local, 60),
        ("yyyyMMdd", local, 86400), ("'<'yyyy-MM-dd EEE HH:mm'>'", local, 60),
        ("'['yyyy-MM-dd EEE']'", local, 86400), ("'\"'yyyy-MM-dd HH:mm:ss'Z\"'", .gmt, 1),
      ] {
        formatter.dateFormat = format
        formatter.timeZone = zone
        let offset = Int64(zone.secondsFromGMT())
        let floor =
          (seconds + offset) - (((seconds + offset) % Int64(unit)) + Int64(unit)) % Int64(unit)
          - offset
        #expect(
          try created(formatter.string(from: date)) == floor * 1000,
          "\(formatter.string(from: date))")
      }
    }
  }

  @Test func `knows the leap days of eight centuries as Foundation does`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 3600)!
    for year in 1600...2400 {
      let march = calendar.date(from: DateComponents(year: year, month: 3, day: 1))!
      let before = calendar.date(byAdding: .day, value: -1, to: march)!
      let isLeap = calendar.component(.day, from: before) == 29
      let expected = isLeap ? Int64(before.timeIntervalSince1970) * 1000 : nil
      #expect(try created("\(year)-02-29") == expected, "\(year)")
    }
  }

  @Test(arguments: [
    ("# a\n\n````\n```\n# b\n````\n", "a"), ("# a\n```\n# b\n````\n", "a"),
    ("# a\n```\n~~~\n# b\n```\n", "a"), ("# a\n```\n``` x\n# b\n```\n", "a"),
    ("# a\n```\n```\n# b\n", "name"), ("# a\n``` `\n# b\n```\n", "name"),
    ("# a\n``\n# b\n``\n", "name"),
  ])
  func `knows which signs of a heading are in fenced code`(text: String, title: String) throws {
    #expect(try read(text, "name.md").file.title == title)
  }

  @Test(arguments: [
    "", "x", "2026", "2026-13-01", "2026-02-29", "2026-00-10", "2026-11-23x", "2026-11-23T25:00",
    "2026-11-23T10:60", "2026-11-23T10:00:61", "2026-11-23T10:00+99:00", "20261323",
    "2026-11-23 10",
    "2026-11-23T10:00:00+", "99999999999999999999", "0000-01-01", "2026-11-2", "-2026-11-23",
  ])
  func `knows what is no time`(text: String) throws {
    #expect(try created("\"\(text)\"") == nil)
  }

  @Test func `knows times as numbers, and to the millisecond`() throws {
    #expect(try created("1795428000") == 1_795_428_000_000)
    #expect(try created("1795428000123") == 1_795_428_000_123)
    #expect(try created("2026-11-23T10:00:00.5Z") == 1_795_428_000_500)
    #expect(try created("2026-11-23T10:00:00.123456Z") == 1_795_428_000_123)
    #expect(try created("2026-11-23T10:00Z") == 1_795_428_000_000)
  }

  @Test func `takes time that is linear in the file`() throws {
    let pieces = [
      "- ", "#+title: a\n", "#+filetags: :a:\n", "# a\n", "[", "\"", "a: b\n", "  \n", "#", ":",
      "\\\n", "```\n",
      "tags: [a,\n", "a, ", "'", ">\n", "\n# c", "- a\n",
      "a: [\n", "a: \"b\n", "a = 1\n", "[a]\n", "[a]\ntags.b = [\n]\n", "\"\"\"", "{", "}", "'\n",
    ]
    for piece in pieces {
      for (before, path) in [
        ("---\n", "a.md"), ("---\ntags:", "a.md"), ("---\ntags: [", "a.md"),
        ("---\ntitle: \"", "a.md"), ("---\ntitle: >\n", "a.md"), ("", "a.md"), ("", "a.org"),
        ("+++\n", "a.md"), ("+++\na = 1\n[b]\n", "a.md"), ("+++\ntags = [", "a.md"),
        ("+++\na = \"\"\"", "a.md"), ("{\"title\": \"", "a.md"), ("{\"tags\": [", "a.md"),
      ] {
        let body = String(repeating: piece, count: 100_000 / piece.utf8.count)
        let end = before.hasPrefix("+") ? "+++" : before.hasPrefix("{") ? "\"]}" : "---"
        let bytes = Array("\(before)\(body)\n\(end)\nx".utf8)
        let time = try processorTime { _ = try read(bytes: bytes, path) }
        #expect(time < .seconds(2), "\(before)\(piece) \(time)")
      }
    }
  }

  @Test(arguments: seeds(10)) func `and writing it again gives its bytes, whatever they are`(
    seed: UInt64
  ) throws {
    var headers = RandomHeader(random: SplitMix64(seed: seed))
    var count = 0
    for step in 0..<200 {
      var bytes = Array(headers.file().utf8)
      for _ in 0..<headers.random.below(4) {
        let place = headers.random.below(bytes.count)
        let byte = headers.random.pick(Array("\n\r:-#[]\"' \t,|>ab.\\{".utf8))
        if headers.random.chance(50) { bytes[place] = byte } else { bytes.insert(byte, at: place) }
      }
      let path = headers.random.pick(Hostile.paths)
      guard let content = try? read(bytes: bytes, path) else { continue }
      count += 1
      try #require(try content.file.rendered() == bytes, "\(at(seed, step)) \(string(bytes))")
      try #require(
        NoteFile.isTitle(content.file.title) && content.file.tags.allSatisfy(NoteFile.isTag))
    }
    #expect(count > 100)
  }
}
