/// Text as an author might write it: words, some of them not ASCII, with spaces and line feeds.
struct Prose {
  private static let words = [
    "the", "of", "and", "a", "note", "text", "that", "merges", "always", "in", "every", "replica",
    "window", "keyboard", "without", "conflict", "tomorrow", "milk", "eggs", "über", "café",
    "naïve", "Straße", "Привет", "日本語", "λόγος", "🙂", "👩‍👩‍👧", "e\u{301}tude",
  ].map { Array($0.utf8) }

  private var column = 0

  /// The next word, with the space or line feed after it.
  mutating func word(_ random: inout SeededRandom) -> [UInt8] {
    // Eight of nine words are plain ones.
    let word = Self.words[random.oneIn(9) ? random.below(Self.words.count) : random.below(19)]
    column += word.count + 1
    if column < 80 { return word + [0x20] }
    column = 0
    return word + [0x0A]
  }

  /// The next words, of so many bytes or a few more.
  mutating func text(atLeast count: Int, _ random: inout SeededRandom) -> [UInt8] {
    var text: [UInt8] = []
    while text.count < count { text += word(&random) }
    return text
  }

  /// The scalars of a text, each as its bytes.
  static func scalars(_ text: [UInt8]) -> [[UInt8]] {
    String(decoding: text, as: UTF8.self).unicodeScalars.map { Array(String($0).utf8) }
  }
}

/// A text typed by one author: most keystrokes continue the one before, some delete backwards, sometimes the author goes
/// elsewhere, deletes a range, or pastes. In its proportions it is made after a paper that was written with an editor
/// that recorded every keystroke.
func generatedTrace(edits count: Int, seed: UInt64) -> Trace {
  var trace = Trace(name: "generated")
  var random = SeededRandom(seed: seed)
  var prose = Prose()
  var buffer = GapBuffer(capacity: count * 8)
  var cursor = 0

  func boundary(_ offset: Int) -> Int {
    var offset = min(max(offset, 0), buffer.count)
    while offset < buffer.count, buffer[offset] & 0xC0 == 0x80 { offset -= 1 }
    return offset
  }
  func edit(_ removed: Int, _ new: [UInt8]) {
    trace.append(at: cursor, removing: removed, inserting: new)
    buffer.replace(at: cursor, removing: removed, with: new.span)
    cursor += new.count
  }

  while trace.edits.count < count {
    switch random.below(100) {
    case 0..<4:
      cursor =
        random.oneIn(3)
        ? boundary(random.below(buffer.count + 1)) : boundary(cursor + random.below(400) - 200)
    case 4:
      edit(boundary(cursor + random.below(60)) - cursor, [])
    case 5 where random.oneIn(4):
      edit(0, prose.text(atLeast: random.below(300), &random))
    case 6..<80:
      for scalar in Prose.scalars(prose.word(&random)) { edit(0, scalar) }
    default:
      // Backspaces: about one in four keystrokes.
      for _ in 0..<random.below(17) where cursor > 0 {
        let start = boundary(cursor - 1)
        let removed = cursor - start
        cursor = start
        edit(removed, [])
      }
    }
  }
  trace.end = buffer.text
  return trace
}
