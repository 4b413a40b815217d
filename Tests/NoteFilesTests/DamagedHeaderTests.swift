import NoteFiles
import TestSupport
import Testing

/// Headers of which some bytes were replaced, removed or inserted.
@Suite(.computing) struct `Damaged headers` {
  private func damaged(_ random: inout SplitMix64) -> [UInt8] {
    var text: String
    if random.chance(45) {
      var headers = RandomYAML(random: SplitMix64(seed: random.next()))
      text = headers.file()
    } else if random.chance(80) {
      var headers = RandomTOML(random: SplitMix64(seed: random.next()))
      text = headers.file()
    } else {
      text = "{\n  \"title\": \"a\\\"b\", \"tags\": [\"x\", {\"y\": null}]\n}\ntext\n"
    }
    var bytes = Array(text.utf8)
    let signs = Array("\"'[]{}#:,-=.|>&*!?+\\\n\r\t 0a\u{FEFF}é".utf8)
    for _ in 0..<random.below(6) where !bytes.isEmpty {
      let place = random.below(bytes.count)
      switch random.below(3) {
      case 0: bytes[place] = random.pick(signs)
      case 1: bytes.remove(at: place)
      default: bytes.insert(random.pick(signs), at: place)
      }
    }
    return bytes
  }

  /// A file that says nothing else than its note stays as it is. A fact that is set is read again, or is one that is not set there.
  @Test(arguments: seeds(1_000))
  func `are left alone, or have what was set and nothing else`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    guard let content = try? read(bytes: damaged(&random)) else { return }
    var file = content.file
    let before = try file.rendered()
    #expect(try read(bytes: before).file.header == file.header, at(seed))
    let locked = file.header.lockedFacts
    file.tags = random.pick([[], ["new"], file.tags + ["new"], Array(file.tags.dropLast())])
    file.priority = random.pick([.low, .normal, .high])
    file.title = random.pick(["new title", file.title])
    let written = try read(bytes: file.rendered()).file
    #expect(written.text == file.text, at(seed))
    let comment: Comment = "\(at(seed)) \(string(before).debugDescription)"
    if !locked.contains(.tags) { #expect(Set(written.tags) == Set(file.tags), comment) }
    if !locked.contains(.priority) { #expect(written.priority == file.priority, comment) }
    if !locked.contains(.title) { #expect(written.title == file.title, comment) }
    if locked.count == HeaderFact.allCases.count {
      #expect(try file.rendered() == before, comment)
    }
  }
}
