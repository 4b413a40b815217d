import TestSupport
import Testing

@testable import ModelContextProtocol

@Suite struct `A piece of a text` {
  private func piece(_ lines: LineRange, _ text: String) throws -> (String, LineRange?) {
    let piece = try TextPiece(lines, of: Array(text.utf8))
    return (String(decoding: piece.bytes, as: UTF8.self), piece.next)
  }

  @Test(
    arguments: [
      (LineRange(), "", nil), (LineRange(first: 2), "two\r\nthree", nil),
      (LineRange(first: 1, last: 1), "one\n", LineRange(first: 2)),
      (LineRange(first: 2, last: 2), "two\r\n", LineRange(first: 3)),
      (LineRange(first: 2, last: 9), "two\r\nthree", nil),
      (LineRange(first: 2, last: 2, offset: 1), "wo\r\n", LineRange(first: 3)),
      (LineRange(first: 3, offset: 5), "", nil),
      (LineRange(first: 1, last: 1, offset: 3), "\n", LineRange(first: 2)),
    ] as [(LineRange, String, LineRange?)])
  func `has the lines that are asked for, and says which is the next`(
    _ lines: LineRange, _ text: String, _ next: LineRange?
  ) throws {
    let whole = lines == LineRange() ? "" : "one\ntwo\r\nthree"
    let (found, rest) = try piece(lines, whole)
    #expect(found == text && rest == next)
  }

  @Test(arguments: [
    (LineRange(first: 4), "from_line: the note has 3 lines"),
    (LineRange(first: 2, last: 1), "to_line"),
    (LineRange(first: 1, offset: 5), "offset"), (LineRange(first: 2, offset: 1), "offset"),
    (LineRange(first: 3, offset: LineRange.greatest), "offset"),
  ])
  func `is refused where there are no such lines`(_ lines: LineRange, _ part: String) {
    do {
      _ = try TextPiece(lines, of: Array("one\nüwo\nthree".utf8))
      Issue.record("\(lines) were found")
    } catch {
      #expect(error.message.hasPrefix(part) && error.message.hasSuffix("."))
    }
  }

  @Test func `ends with the last line that fits`() throws {
    let line = String(repeating: "x", count: 999) + "\n"
    let text = String(repeating: line, count: 100)
    let (found, next) = try piece(LineRange(), text)
    #expect(found.utf8.count == 65_000 && next == LineRange(first: 66))
    let (last, end) = try piece(LineRange(first: 66), text)
    #expect(last.utf8.count == 35_000 && end == nil)
    let (part, rest) = try piece(LineRange(first: 2, last: 90), text)
    #expect(part.utf8.count == 65_000 && rest == LineRange(first: 67, last: 90))
  }

  @Test(arguments: [
    "é", "👩‍👩‍👧", "🇩🇪", "e\u{301}", "\r\n", "a" + String(repeating: "\u{301}", count: 300),
  ])
  func `of a long line ends between characters, and what follows begins there`(
    _ character: String
  ) throws {
    for count in TextPiece.mostBytes - 20...TextPiece.mostBytes + 1 {
      let text = String(repeating: "x", count: count) + character + "yy\nzz"
      var (found, next) = try piece(LineRange(), text)
      #expect(found.utf8.count <= TextPiece.mostBytes && text.hasPrefix(found))
      if character.utf8.count < 100 {
        #expect(found.count <= count || found.utf8.count >= count + character.utf8.count)
      }
      var pieces = found
      while let lines = next {
        (found, next) = try piece(lines, text)
        #expect(!found.isEmpty)
        pieces += found
      }
      #expect(pieces.utf8.elementsEqual(text.utf8))
    }
  }

  @Test func `is the next of the one before until all of any text was given`() throws {
    var random = SplitMix64(seed: 2)
    let parts = ["\n", "é", "x", "\r\n", String(repeating: "long ", count: 8000), "👩‍👩‍👧"]
    for _ in 0..<200 {
      let text = (0..<random.below(60)).map { _ in random.pick(parts) }.joined()
      var (pieces, count, lines) = ("", 0, LineRange?.some(LineRange()))
      while let range = lines {
        let (found, next) = try piece(range, text)
        #expect(found.utf8.count <= TextPiece.mostBytes)
        (pieces, count, lines) = (pieces + found, count + 1, next)
        try #require(count < 1000)
      }
      #expect(pieces.utf8.elementsEqual(text.utf8))
    }
  }

  @Test(arguments: [
    ("note://1-a", LineRange()), ("note://1-a?from_line=2", LineRange(first: 2)),
    ("note://1-a?from_line=2&to_line=3&offset=4", LineRange(first: 2, last: 3, offset: 4)),
  ])
  func `has a name as a resource`(_ text: String, _ lines: LineRange) throws {
    let uri = try #require(PieceURI(text))
    #expect(uri.lines == lines && uri.text == text && uri.note == NoteURI(id: "1-a"))
  }

  @Test(arguments: [
    "note://1-a?", "note://?from_line=1", "note://1-a?from_line", "note://1-a?from_line=0",
    "note://1-a?offset=-1", "note://1-a?to_line=x", "note://1-a?from_line=1&from_line=2",
    "note://1-a?line=1", "note://1-a?from_line=99999999999999999999", "note://1-a?from_line=1&",
    "note://1-a?offset=4294967296", "note://1-a#3", "note://1-a?from_line=1?to_line=2",
  ])
  func `has no other name`(_ text: String) {
    #expect(PieceURI(text) == nil)
  }
}
