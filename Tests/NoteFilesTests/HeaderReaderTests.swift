import NoteFiles
import TestSupport
import Testing

/// Facts that are set in random headers, and what readers of other programs find.
@Suite(.computing, .tags(.tool)) struct `A header in which facts are set` {
  private static func note(_ reader: HeaderReader) -> Comment { "\(reader.rawValue) is missing" }

  @Test(
    .enabled(if: HeaderReader.pyYAML.isHere || isContinuousIntegration, note(.pyYAML)),
    arguments: seeds(4))
  func `PyYAML reads as before, but for what was set`(seed: UInt64) throws {
    try checkYAML(.pyYAML, seed)
  }

  @Test(
    .enabled(if: HeaderReader.ruamel.isHere || isContinuousIntegration, note(.ruamel)),
    arguments: seeds(2))
  func `ruamel.yaml reads as before, but for what was set`(seed: UInt64) throws {
    try checkYAML(.ruamel, seed)
  }

  @Test(
    .enabled(if: HeaderReader.go.isHere || isContinuousIntegration, note(.go)),
    arguments: seeds(4))
  func `Go's yaml.v3 reads as before, but for what was set`(seed: UInt64) throws {
    try checkYAML(.go, seed)
  }

  @Test(
    .enabled(if: HeaderReader.tomllib.isHere || isContinuousIntegration, note(.tomllib)),
    arguments: seeds(4))
  func `tomllib reads as before, but for what was set`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    try check(.tomllib) {
      var headers = RandomTOML(random: SplitMix64(seed: random.next()))
      let before = headers.file()
      let facts = [headers.title, headers.tags, headers.priority]
      return try change(
        before, random: &random, locked: facts.map { $0?.isLocked ?? false },
        keys: zip(facts, ["title", "tags", "priority"]).map { $0?.path ?? $1 })
    }
  }

  private func checkYAML(_ reader: HeaderReader, _ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    try check(reader) {
      var headers = RandomYAML(random: SplitMix64(seed: random.next()))
      let before = headers.file()
      let facts = [headers.title, headers.tags, headers.priority]
      return try change(
        before, random: &random, locked: facts.map { $0?.isLocked ?? headers.isClosed },
        keys: zip(facts, ["title", "tags", "priority"]).map { $0?.key ?? $1 })
    }
  }

  private func check(_ reader: HeaderReader, _ next: () throws -> ReaderCase) throws {
    let count = 300
    let cases = try (0..<count).map { _ in try next() }
    let (faults, read) = try reader.check(cases)
    #expect(faults.isEmpty, "\(faults.count) faults: \(faults.prefix(3).joined(separator: "\n"))")
    // The others are no YAML to this reader.
    #expect(read >= count * 8 / 10, "\(read)")
  }

  /// Sets title, tags and priority in a file, each or not.
  ///
  /// - Parameters:
  ///   - locked: of title, tags and priority, whether they can't be set.
  ///   - keys: the keys of the three.
  private func change(
    _ before: String, random: inout SplitMix64, locked: [Bool], keys: [String]
  ) throws -> ReaderCase {
    let old = try read(before)
    var note = old.file
    let expected = zip(HeaderFact.allCases, locked).filter(\.1).map(\.0)
    try #require(note.header.lockedFacts == Set(expected), "\(before)")
    try #require(expected.isEmpty || !note.header.issues.isEmpty, "\(before)")
    if random.chance(60) { note.title = random.pick(Hostile.words) }
    if random.chance(70) { note.tags = tags(&random, note.tags) }
    if random.chance(60) { note.priority = random.pick(FilePriority.allCases) }
    let after = string(try note.rendered())
    let found = try read(after).file
    try #require(found.text == old.file.text, "\(before)\(after)")
    var result = ReaderCase(before: before, after: after)
    if !locked[0], !(note.title.utf8.elementsEqual(old.file.title.utf8)) {
      result.title = [keys[0], note.title]
    }
    if !locked[1], Set(utf8(note.tags)) != Set(utf8(old.file.tags)) {
      result.tags = keys[1]
      result.wanted = note.tags
    }
    if !locked[2], note.priority != old.file.priority {
      result.priority = [keys[2], note.priority.rawValue]
    }
    if result.title == nil, result.tags == nil, result.priority == nil {
      try #require(after == before)
    }
    // Comments stay, but for those on the lines of items that go.
    for line in before.split(whereSeparator: \.isNewline) {
      guard let range = line.firstRange(of: "# note "),
        !line.drop(while: { $0 == " " }).hasPrefix("-")
      else { continue }
      let note = line[range.lowerBound...].prefix { $0 != ":" && $0 != "=" && $0 != "," }
      try #require(after.contains(note), "\(note) of \(before) is gone: \(after)")
    }
    return result
  }

  private func tags(_ random: inout SplitMix64, _ before: [String]) -> [String] {
    var seen: Set<[UInt8]> = []
    let kept = before.filter { _ in random.chance(70) }
    return (kept + (0..<random.below(3)).map { _ in random.pick(Hostile.words) })
      .filter { NoteFile.isTag($0) && seen.insert(Array($0.utf8)).inserted }
  }

  @Test(
    .enabled(if: HeaderReader.pyYAML.isHere || isContinuousIntegration, note(.pyYAML)),
    arguments: [
      ("tags: [a]\nb: 1\n", "tags: [a, new]\n"), ("tags: [a]\nb: 1\n", "tags: [a, new]\nb: '1'\n"),
      ("tags: [a]\n", "tags: [new]\n"), ("tags: [1]\n", "tags: ['1', new]\n"),
      ("tags: [a]\n", "tags: [a, new]\nb: 1\n"), ("tags: [a]\n", "tags: [a, new\n"),
      ("tags: [a]\nb: 1\nc: 2\n", "tags: [a, new]\nc: 2\nb: 1\n"),
    ])
  func `a reader notices a header in which more has changed`(before: String, after: String) throws {
    var fault = ReaderCase(before: "---\n\(before)---\n", after: "---\n\(after)---\n")
    fault.tags = "tags"
    fault.wanted = before.contains("1]") ? ["1", "new"] : ["a", "new"]
    #expect(try HeaderReader.pyYAML.check([fault]).faults.count == 1)
  }
}
