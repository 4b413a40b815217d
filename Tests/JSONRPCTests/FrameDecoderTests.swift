import JSONRPC
import TestSupport
import Testing

/// All events of a decoder that gets `text` in pieces of `size` bytes, what is left by `finish` included.
private func events(
  _ text: String, framing: Framing = .automatic, maximumMessage: Int = 64, maximumHeader: Int = 128,
  piece size: Int = .max
) -> [FrameDecoder.Event] {
  var decoder = FrameDecoder(
    framing: framing, maximumMessage: maximumMessage, maximumHeader: maximumHeader)
  var events: [FrameDecoder.Event] = []
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    decoder.append(rest.prefix(size))
    rest = rest.dropFirst(size)
    while let event = decoder.next() { events.append(event) }
  }
  if let event = decoder.finish() { events.append(event) }
  return events
}

private func message(_ text: String) -> FrameDecoder.Event { .message(Array(text.utf8)) }

extension FrameDecoder.Event {
  fileprivate var broken: ResponseError? {
    if case .broken(let error) = self { error } else { nil }
  }
  fileprivate var refused: ResponseError? {
    if case .refused(let error) = self { error } else { nil }
  }
}

@Suite
struct `A frame decoder` {
  private static let headers =
    "Content-Length: 2\r\n\r\n{}content-LENGTH:3\r\n\r\n[1]X: y\r\nContent-Length: \t 1 \r\nA:\r\n\r\n1"
    + "Content-Type: x; charset=utf-8\nContent-Length: 00004\n\nnull"
  private static let oversized =
    "Content-Length: 70\r\n\r\n\(String(repeating: "x", count: 70))Content-Length: 0\r\n\r\n"
    + "Content-Length: 2\r\n\r\n{}"
  private static let lines =
    "\r\n \n{\"a\":1}\n\n[]\r\n \t\n  2  \n\(String(repeating: "y", count: 90))\n"
    + "\(String(repeating: "z", count: 64))\r\n\(String(repeating: "z", count: 65))\r\nlast"
  private static let broken =
    "Content-Length: 2\r\n\r\n{}Content-Length: 2\r\nnonsense\r\n\r\n{}Content-Length: 2\r\n\r\n{}"

  @Test func `reads headers in any case, any order, with others among them`() {
    #expect(
      events(Self.headers) == [message("{}"), message("[1]"), message("1"), message("null")])
  }

  @Test func `skips what is too large or empty and goes on`() {
    let found = events(Self.oversized)
    #expect(found.count == 3)
    #expect(found[0].refused?.code == -32600)
    #expect(found[0].refused?.message.contains("70") == true)
    #expect(found[1].refused?.code == -32700)
    #expect(found[2] == message("{}"))
  }

  @Test func `reads lines`() {
    let found = events(Self.lines)
    #expect(found.count == 7)
    #expect(found[..<3] == [message("{\"a\":1}"), message("[]"), message("  2  ")])
    #expect(found[3].refused?.code == -32600)
    #expect(found[4] == message(String(repeating: "z", count: 64)))
    #expect(found[5].refused?.code == -32600)
    #expect(found[6] == message("last"))
  }

  @Test func `ends with a broken stream`() {
    let found = events(Self.broken)
    #expect(found.count == 2)
    #expect(found[0] == message("{}"))
    #expect(found[1].broken?.code == -32700)
  }

  @Test(arguments: [headers, oversized, lines, broken])
  func `finds the same however the stream is cut`(stream: String) {
    func kinds(_ events: [FrameDecoder.Event]) -> [String] {
      events.map { event in
        switch event {
        case .message(let bytes): "message \(String(decoding: bytes, as: UTF8.self))"
        // A line is refused before its end, and so its length, may be known.
        case .refused(let error): "refused \(error.code)"
        case .broken(let error): "broken \(error)"
        }
      }
    }
    let expected = kinds(events(stream))
    for size in 1..<stream.utf8.count {
      #expect(kinds(events(stream, piece: size)) == expected, "pieces of \(size)")
    }
    let bytes = Array(stream.utf8)
    for cut in 0...bytes.count {
      var decoder = FrameDecoder(maximumMessage: 64, maximumHeader: 128)
      var found: [FrameDecoder.Event] = []
      for piece in [bytes[..<cut], bytes[cut...]] {
        decoder.append(piece)
        while let event = decoder.next() { found.append(event) }
      }
      if let event = decoder.finish() { found.append(event) }
      #expect(kinds(found) == expected, "cut at \(cut)")
    }
  }

  @Test(arguments: [
    ("Content-Length: -1\r\n\r\n", "Content-Length"),
    ("Content-Length: \r\n\r\n", "Content-Length"),
    ("Content-Length:\r\n\r\n", "Content-Length"), ("Content-Length: +5\r\n\r\n", "Content-Length"),
    ("Content-Length: 0x10\r\n\r\n", "Content-Length"),
    ("Content-Length: 5 5\r\n\r\n", "Content-Length"),
    ("Content-Length: 5,5\r\n\r\n", "Content-Length"),
    ("Content-Length: 1.0\r\n\r\n", "Content-Length"),
    ("Content-Length: five\r\n\r\n", "Content-Length"),
    ("Content-Length: ٥\r\n\r\n", "Content-Length"),
    ("Content-Length: 9223372036854775808\r\n\r\n", "Content-Length"),
    ("Content-Length: 99999999999999999999999999\r\n\r\n", "Content-Length"),
    ("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "Content-Length"),
    ("Content-Length: 2\r\ncontent-length: 3\r\n\r\n{}", "Content-Length"),
    ("Content-Type: x\r\n\r\n{}", "Content-Length"),
    ("Content-Length : 2\r\n\r\n{}", "Content-Length"),
    ("Content_Length: 2\r\n\r\n{}", "Content-Length"),
    ("Content-Length 2\r\n\r\n{}", "header line"),
    ("Content-Length: 2\r\n more\r\n\r\n{}", "header line"), (": 2\r\n\r\n{}", "header line"),
    ("GET / HTTP/1.1\r\n", "header line"), ("\u{FEFF}\u{FEFF}\r\n", "header line"),
    ("\u{0}\r\n", "header line"),
    ("X: \(String(repeating: "x", count: 126))", "limit"),
    ("\(String(repeating: "x", count: 128))", "limit"),
    ("\(String(repeating: "X: y\r\n", count: 30))Content-Length: 2\r\n\r\n{}", "limit"),
  ])
  func `does not trust the stream after a hostile header`(stream: String, named: String) {
    for size in [Int.max, 1] {
      let found = events(stream + "Content-Length: 2\r\n\r\n{}", piece: size)
      #expect(found.count == 1)
      #expect(found.first?.broken?.code == -32700)
      #expect(found.first?.broken?.message.contains(named) == true, "\(found)")
    }
  }

  @Test func `takes a header as long as the limit and none longer`() {
    let end = "Content-Length: 2\r\n\r\n"
    for (length, isAccepted) in [(128, true), (129, false)] {
      let filler = String(repeating: "x", count: length - end.utf8.count - 4)
      for size in [Int.max, 1] {
        let found = events("X:\(filler)\r\n\(end){}", piece: size)
        #expect((found == [message("{}")]) == isAccepted)
      }
    }
  }

  @Test func `takes a message as long as the limit and none longer`() {
    let text = String(repeating: "x", count: 64)
    #expect(events("Content-Length: 64\r\n\r\n\(text)") == [message(text)])
    #expect(events("Content-Length: 65\r\n\r\n\(text)x").first?.refused != nil)
    #expect(events("{\(text)").first?.refused != nil)
  }

  @Test func `skips without end what promises never to end`() {
    var decoder = FrameDecoder()
    decoder.append(Array("Content-Length: \(Int.max)\r\n\r\n".utf8))
    #expect(decoder.next()?.refused?.code == -32600)
    let piece = [UInt8](repeating: 0x7B, count: 1 << 16)
    for _ in 0..<1000 {
      decoder.append(piece)
      #expect(decoder.next() == nil)
    }
    #expect(!decoder.isAtBoundary)
  }

  @Test func `keeps to the framing it was told`() {
    #expect(events("{}\n", framing: .contentLength).first?.broken != nil)
    let header = "Content-Length: 2"
    #expect(events("\(header)\n", framing: .lines) == [message(header)])
  }

  @Test(arguments: [Int.max, 1, 2])
  func `passes over a byte order mark before the first message, and no other`(size: Int) {
    let header = "Content-Length: 2\r\n\r\n{}"
    #expect(events("\u{FEFF}" + header, piece: size) == [message("{}")])
    #expect(
      events("\u{FEFF}" + header, framing: .contentLength, piece: size) == [message("{}")])
    for framing in [Framing.automatic, .lines] {
      #expect(
        events("\u{FEFF}{}\n\u{FEFF}[]\n", framing: framing, piece: size)
          == [message("{}"), message("\u{FEFF}[]")])
      #expect(events("\u{FEFF}\r\n{}", framing: framing, piece: size) == [message("{}")])
      #expect(events("\u{FEFF}", framing: framing, piece: size) == [])
    }
    // A part of one is none.
    #expect(events("\u{FEFE}{}\n", framing: .lines, piece: size) == [message("\u{FEFE}{}")])
  }

  @Test func `says which framing it has found`() {
    for (text, framing) in [
      ("", Framing.automatic), (" \r\n", .automatic), ("\n{", .lines), ("[", .lines),
      ("C", .contentLength),
    ] {
      var decoder = FrameDecoder()
      decoder.append(Array(text.utf8))
      #expect(decoder.next() == nil)
      #expect(decoder.framing == framing, "\(text)")
    }
  }

  @Test func `knows whether the stream ended inside a message`() {
    for (text, isAtBoundary) in [
      ("", true), ("\r\n", true), ("Content-Length: 2\r\n\r\n{}", true), ("C", false),
      ("Content-Length: 2\r\n", false), ("Content-Length: 2\r\n\r\n", false),
      ("Content-Length: 2\r\n\r\n{", false), ("Content-Length: 2\r\n\r\n{}C", false),
      ("{}\n", true),
      ("{", false), ("{}\n{", false), ("nonsense\n", false),
      ("Content-Length: 33554433\r\n\r\nx", false),
    ] {
      var decoder = FrameDecoder()
      decoder.append(Array(text.utf8))
      while decoder.next() != nil {}
      #expect(decoder.isAtBoundary == isAtBoundary, "\(text)")
    }
    var decoder = FrameDecoder()
    decoder.append(Array("{}".utf8))
    #expect(decoder.next() == nil)
    #expect(decoder.finish() == message("{}"))
    #expect(decoder.isAtBoundary)
    #expect(decoder.finish() == nil)
  }

  @Test(arguments: [Int.max, 1 << 16, 1 << 12])
  func `takes large messages and many small ones`(size: Int) {
    let large = String(repeating: "x", count: 1 << 20)
    let small = (0..<3000).map { "Content-Length: 4\r\n\r\n\(1000 + $0)" }.joined()
    let stream = small + "Content-Length: \(1 << 20)\r\n\r\n\(large)" + small
    let found = events(stream, maximumMessage: 1 << 20, piece: size)
    #expect(found.count == 6001)
    #expect(found.first == message("1000"))
    #expect(found[3000] == message(large))
    #expect(found.last == message("3999"))
  }

  @Test func `takes any bytes without a trap`() {
    for seed in UInt64(1)...3 {
      var generator = SplitMix64(seed: seed)
      let pieces = [
        "Content-Length", ":", " ", "\r\n", "\n", "\r", "2", "70", "-", "{}", "{", "[", "\u{0}",
        "é", "X",
      ]
      for _ in 0..<2000 {
        let text = (0..<Int.random(in: 0..<25, using: &generator)).map { _ in
          generator.pick(pieces)
        }.joined()
        #expect(
          events(text) == events(text, piece: 1) || text.utf8.count > 60, "seed \(seed): \(text)")
      }
    }
  }
}
