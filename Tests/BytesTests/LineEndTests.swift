import Bytes
import Testing

@Suite struct `The line end of a text` {
  @Test(
    arguments: [
      ("", nil), ("one", nil), ("one\r", nil), ("a\nb", .lineFeed),
      ("a\r\nb", .carriageReturnLineFeed),
      ("a\r\nb\nc\r\n", .carriageReturnLineFeed), ("a\r\nb\n", .lineFeed),
      ("\r\r\n", .carriageReturnLineFeed),
    ] as [(String, LineEnd?)])
  func `is that of most of its lines`(_ text: String, _ end: LineEnd?) {
    #expect(LineEnd(of: text.utf8) == end)
  }

  @Test func `takes the place of every other line end`() {
    let text = "a\nb\r\nc\r\rd\r\n"
    let long = LineEnd.carriageReturnLineFeed.ending(linesOf: text.utf8)
    #expect(String(decoding: long, as: UTF8.self) == "a\r\nb\r\nc\r\rd\r\n")
    let short = LineEnd.lineFeed.ending(linesOf: text.utf8)
    #expect(String(decoding: short, as: UTF8.self) == "a\nb\nc\r\rd\n")
  }

  @Test(arguments: [
    ("", "x", "x"), ("a", "x\n", "x"), ("a\n", "x\r\ny", "x\ny"),
    ("a\r\n", "x", "x"), ("a\r\nb", "x\ny\n", "x\r\ny"),
    ("", "x\r\ny", "x\r\ny"), ("a", "x\r\ny\r\n", "x\r\ny"), ("a\r\n", "x\n\n", "x\r\n"),
    ("a", "\n", ""),
  ])
  func `is that of the lines that are appended`(_ note: String, _ text: String, _ lines: String) {
    let appended = LineEnd.lines(of: Array(text.utf8), appendedTo: Array(note.utf8))
    #expect(String(decoding: appended.lines, as: UTF8.self) == lines)
    #expect(appended.end == LineEnd(of: note.utf8) ?? LineEnd(of: text.utf8) ?? .lineFeed)
  }
}
