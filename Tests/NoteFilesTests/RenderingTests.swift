import NoteFiles
import TestSupport
import Testing

/// A note with a header that somebody wrote, and whatever in it.
private func randomNote(_ random: inout SplitMix64) throws -> NoteFile {
  let path = random.pick(Hostile.paths)
  let form = FileType(path: path)!.headerForm
  let header = FileHeader.split(Array(random.pick(Hostile.headers).utf8)).header
  _ = form
  var title = random.pick(Hostile.words)
  if random.chance(20) { title += random.pick(Hostile.words) }
  if random.chance(3) {
    title = String(repeating: random.pick(["a", "\"", "é", "😀"]), count: 1024)
  }
  let tags = (0..<random.below(5)).map { _ in random.pick(Hostile.words) }
  var seen: Set<[UInt8]> = []
  var text = random.pick(Hostile.texts)
  if random.chance(30) { text += random.pick(Hostile.texts) }
  return NoteFile(
    path: path, header: header, title: title,
    tags: tags.filter { NoteFile.isTag($0) && seen.insert(Array($0.utf8)).inserted },
    priority: random.pick(FilePriority.allCases), id: random.chance(20) ? "12-abcdefghijklm" : nil,
    text: Array(text.utf8))
}

@Suite struct `A rendered note` {
  @Test(arguments: seeds(40)) func `is read as it was, whatever is in it`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for step in 0..<100 {
      let note = try randomNote(&random)
      let bytes = try note.rendered()
      let found = try read(bytes: bytes, note.path).file
      try #require(
        found.title.utf8.elementsEqual(note.title.utf8),
        "\(at(seed, step)) \(note) \(string(bytes))")
      try #require(
        Set(utf8(found.tags)) == Set(utf8(note.tags)), "\(at(seed, step)) \(note) \(string(bytes))")
      try #require(found.priority == note.priority, at(seed, step))
      try #require(found.text == note.text, "\(at(seed, step)) \(note) \(string(bytes))")
      // What was read and not changed is what was there.
      try #require(try found.rendered() == bytes, "\(at(seed, step)) \(note) \(string(bytes))")
    }
  }
}
