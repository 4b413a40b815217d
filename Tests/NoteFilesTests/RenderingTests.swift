import NoteFiles
import TestSupport
import Testing

@Suite(.computing) struct `A rendered note` {
  /// Something that a note can be, with a header that somebody wrote.
  private func change(_ note: inout NoteFile, _ random: inout SplitMix64) {
    if random.chance(60) {
      note.title = random.pick(Hostile.words)
      if random.chance(20) { note.title += random.pick(Hostile.words) }
      if random.chance(2) {
        note.title = String(repeating: random.pick(["aaaa", "\"\\\"\\", "éé", "😀"]), count: 1024)
      }
    }
    if random.chance(60) { note.tags = tags(&random, note.tags) }
    if random.chance(40) { note.priority = random.pick(FilePriority.allCases) }
    if random.chance(20) { note.id = "12-abcdefghijklm" }
    if random.chance(20) {
      note.text = Array((random.pick(Hostile.texts) + random.pick(Hostile.texts)).utf8)
    }
    if random.chance(20) { note.path = random.pick(Hostile.paths) }
  }

  private func tags(_ random: inout SplitMix64, _ before: [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    let kept = before.filter { _ in random.chance(60) }
    return (kept + (0..<random.below(4)).map { _ in random.pick(Hostile.words) })
      .filter { NoteFile.isTag($0) && seen.insert(Array($0.utf8)).inserted }
  }

  private func check(_ note: NoteFile, _ comment: Comment) throws {
    let bytes = try note.rendered()
    let found = try read(bytes: bytes, note.path).file
    let all: Comment = "\(comment): \(note) \(string(note.header.bytes())) as \(string(bytes))"
    let locked = note.header.lockedFacts
    try #require(found.header.lockedFacts == locked, all)
    if !locked.contains(.title) {
      try #require(found.title.utf8.elementsEqual(note.title.utf8), all)
    }
    if !locked.contains(.tags) {
      try #require(Set(utf8(found.tags)) == Set(utf8(note.tags)), all)
    }
    if !locked.contains(.priority) { try #require(found.priority == note.priority, all) }
    try #require(found.text == note.text, all)
    // What was read and not changed is what was there.
    try #require(try found.rendered() == bytes, all)
  }

  @Test func `is read as it was, with each header and text, at each path`() throws {
    for path in ["a.md", "20261123T100000--a-b__x_new.org"] {
      for header in Hostile.headers {
        for text in Hostile.texts {
          var note = NoteFile(
            path: path, header: FileHeader.split(Array(header.utf8)).header, title: "New",
            tags: ["x", "new"], priority: .low, text: Array(text.utf8))
          try check(note, "\(header)")
          note = NoteFile(path: path, header: note.header, title: "", text: note.text)
          try check(note, "\(header)")
        }
      }
    }
  }

  @Test func `is read as it was, with each title and tag, beside each header`() throws {
    for word in Hostile.words + [String(repeating: "é", count: 2048)] {
      for header in Hostile.headers {
        let note = NoteFile(
          path: "a.md", header: FileHeader.split(Array(header.utf8)).header, title: word,
          tags: NoteFile.isTag(word) ? [word] : [], text: [])
        try check(note, "\(header)")
      }
    }
  }

  @Test(arguments: seeds(40)) func `is read as it was, whatever is in it`(seed: UInt64) throws {
    var headers = RandomHeader(random: SplitMix64(seed: seed))
    for step in 0..<100 {
      let bytes = Array(headers.file().utf8)
      let path = headers.random.pick(Hostile.paths)
      var note = try read(bytes: bytes, path).file
      try #require(try note.rendered() == bytes, at(seed, step))
      change(&note, &headers.random)
      try check(note, at(seed, step))
    }
  }

  // MARK: - Only the lines of a field

  private func name(of line: Substring) -> Substring? {
    guard line.first?.isLetter == true else { return nil }
    let words = line.unicodeScalars.split(separator: ":", omittingEmptySubsequences: false)
    guard words.count > 1, case let first = words[1].first ?? " ",
      [" ", "\t", "\r"].contains(first)
    else { return nil }
    return Substring(words[0])
  }

  /// Where the lines of a field stand, by a look at the beginnings of lines: from its key on, up to the next line that begins with a letter or
  /// is a delimiter.
  private func lines(of keys: [String], in lines: [Substring]) -> Range<Int>? {
    for key in keys {
      let isKey = { (line: Substring) in
        name(of: line).map { String($0.reversed().drop { $0 == " " }.reversed()).lowercased() }
          == key
      }
      guard let start = lines.dropFirst().firstIndex(where: isKey) else { continue }
      let end = lines[(start + 1)...].firstIndex {
        $0.hasPrefix("---") || $0.hasPrefix("...") || name(of: $0) != nil
      }!
      return start..<end
    }
    return nil
  }

  private static func split(_ bytes: [UInt8]) -> [Substring] {
    string(bytes).unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map {
      Substring($0)
    }
  }

  @Test(arguments: seeds(40)) func `differs in the lines of a field alone when that has changed`(
    seed: UInt64
  ) throws {
    var headers = RandomHeader(random: SplitMix64(seed: seed))
    for step in 0..<60 {
      let bytes = Array(headers.file().utf8)
      let old = try read(bytes: bytes).file
      let fields = old.header.fields.dropFirst().map { Self.split(Array($0.value.utf8)) }
      guard !old.header.isEmpty, !old.header.fields.contains(where: { $0.key == ":lines" }),
        // Lines that look like keys and stand in brackets.
        !fields.contains(where: { $0.count { name(of: $0) != nil } > 1 })
      else { continue }
      var note = old
      let keys: [String]
      switch headers.random.below(3) {
      case 0:
        note.tags = tags(&headers.random, old.tags)
        keys = ["tags", "keywords"]
      case 1:
        note.title = headers.random.pick(Hostile.words)
        keys = ["title"]
      default:
        note.priority = headers.random.pick(FilePriority.allCases)
        keys = ["priority"]
      }
      let before = Self.split(bytes)
      let after = Self.split(try note.rendered())
      let comment: Comment = "\(at(seed, step)) \(before) \(after)"
      let headerLines = Self.split(old.header.bytes()).count
      if let field = lines(of: keys, in: Array(before.prefix(headerLines))) {
        let behind = before.count - field.upperBound
        try #require(
          after.prefix(field.lowerBound).elementsEqual(before.prefix(field.lowerBound)), comment)
        try #require(after.suffix(behind).elementsEqual(before.suffix(behind)), comment)
        try #require(after.count > field.lowerBound + behind, comment)
      } else if after != before {
        // One line more, in the header.
        try #require(after.count == before.count + 1, comment)
        let place = after.indices.first { $0 == before.count || after[$0] != before[$0] }!
        try #require(place < headerLines, comment)
        try #require(Array(after[..<place] + after[(place + 1)...]) == before, comment)
      }
    }
  }
}
