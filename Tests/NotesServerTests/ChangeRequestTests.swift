import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

extension SplitMix64 {
  /// A request for a change, mostly as clients write it.
  fileprivate mutating func changeMessage() -> [UInt8] {
    var params = [
      member("attachment", count()), member("version", count()), member("rev", count()),
      member("content", ""),
    ]
    switch below(3) {
    case 0: params[3] = member("text", text())
    case 1: params[3] = member("lines", list { $0.replacedLines() })
    default: params[3] = member("ranges", list { $0.replacedRange() })
    }
    if chance(40) { params.append(member("sha256", text())) }
    if chance(40) { params.append(member("bytes", count())) }
    if chance(40) { params.append(member("lineCount", count())) }
    if chance(40) { params.append(member("sameStep", pick(["true", "false", "null"]))) }
    if chance(4) {
      params.append(member(pick(["requestKey", "x", "rev", "text", "lines"]), text()))
    }
    params.shuffle(using: &self)
    if chance(4) { params.removeLast() }
    var members = [
      member("jsonrpc", chance(97) ? "\"2.0\"" : pick(["\"2.1\"", "2.0", "\"2\\u002e0\""])),
      member("id", chance(60) ? count() : text()),
      member("method", chance(97) ? "\"note/change\"" : pick(["\"note/open\"", text()])),
      member("params", "{" + params.joined(separator: ",") + "}"),
    ]
    if chance(3) { members.append(member(pick(["id", "result", "x", "params"]), count())) }
    members.shuffle(using: &self)
    return Array("{\(members.joined(separator: space() + ","))\(space())}\(space())".utf8)
  }

  private mutating func member(_ name: String, _ value: String) -> String {
    "\"\(name)\"\(space()):\(space())\(value)"
  }

  private mutating func space() -> String { chance(90) ? "" : pick([" ", "\n", "\t", " \r "]) }

  private mutating func count() -> String {
    chance(95)
      ? "\(below(chance(50) ? 10 : 100_000))"
      : pick(["-1", "1.0", "1.5", "null", "01", "1e3", "999999999999999999", "9999999999999999999"])
  }

  private mutating func text() -> String {
    var text = ""
    for _ in 0..<below(chance(20) ? 60 : 5) {
      text +=
        chance(98)
        ? pick(["a", "é", "日", " ", "\\\"", "\\t", "\\u00e9", "\\ud83d\\ude00"])
        : pick(["\\n", "\\u0000", "\\ud83d"])
    }
    return "\"\(text)\""
  }

  private mutating func list(_ element: (inout SplitMix64) -> String) -> String {
    let elements = (0..<(chance(80) ? 1 : below(4))).map { _ in element(&self) }
    return "[" + elements.joined(separator: "\(space()),\(space())") + "]"
  }

  private mutating func replacedLines() -> String {
    let start = below(20)
    let parts = [
      "\(start)", "\(max(start + below(4) - (chance(5) ? 2 : 0), 0))", list { $0.text() },
    ]
    return "[" + parts.prefix(chance(98) ? 3 : 2).joined(separator: ",") + "]"
  }

  private mutating func replacedRange() -> String {
    var ends = [member("start", place()), member("end", place())]
    ends.shuffle(using: &self)
    var members = [
      member("range", "{" + ends.joined(separator: ",") + "}"), member("newText", text()),
    ]
    // Two halves of a range are none.
    if chance(4) {
      members = [member("range", "{\(ends[0])}"), member("range", "{\(ends[1])}"), members[1]]
    }
    if chance(3) { members.append(member("rangeLength", count())) }
    members.shuffle(using: &self)
    return "{" + members.joined(separator: ",") + "}"
  }

  private mutating func place() -> String {
    "{" + member("line", count()) + "," + member("character", count()) + "}"
  }
}

@Suite struct `A change read from its bytes` {
  /// The request as it is read from the value of the message.
  private static func slow(_ bytes: [UInt8]) -> ChangeRequest? {
    (try? Message(bytes)).flatMap(ChangeRequest.init)
  }

  private static func text(_ request: ChangeRequest?) -> String? { request.map { "\($0)" } }

  @Test(arguments: 0..<UInt64(20 * seedFactor))
  func `is what its message says`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var (all, read) = (0, 0)
    for _ in 0..<500 {
      let bytes = random.changeMessage()
      let slow = Self.slow(bytes)
      if slow != nil { all += 1 }
      guard let fast = ChangeRequest(bytes) else { continue }
      read += 1
      #expect(Self.text(fast) == Self.text(slow), "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(read > 100 && all > read)
  }

  @Test(arguments: 0..<UInt64(20 * seedFactor))
  func `is none where its message is none`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var others: [[UInt8]] = []
    for _ in 0..<8 { others.append(random.changeMessage()) }
    var refused = 0
    for _ in 0..<1_000 {
      var bytes = random.changeMessage()
      random.forge(&bytes, with: others)
      let slow = Self.slow(bytes)
      if slow == nil { refused += 1 }
      guard let fast = ChangeRequest(bytes) else { continue }
      #expect(Self.text(fast) == Self.text(slow), "\(String(decoding: bytes, as: UTF8.self))")
    }
    #expect(refused > 200)
  }

  /// As Vim, Neovim, Emacs and Python write it.
  @Test(
    arguments: [
      #"{"id":5,"jsonrpc":"2.0","method":"note/change","params":{"rev":0,"version":3,"sha256":"ab","bytes":3,"lines":[[0,1,["a"]]],"attachment":1,"lineCount":4}}"#,
      #"{"method":"note/change","params":{"attachment":1,"sameStep":true,"lines":[[2,2,[]],[3,4,["say \"é\"",""]]],"version":3,"rev":10},"jsonrpc":"2.0","id":"a1"}"#,
      #"{"jsonrpc":"2.0","id":5,"method":"note/change","params":{"attachment":1,"version":3,"rev":0,"ranges":[{"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":2}},"newText":"\n"}]}}"#,
      #"{"jsonrpc": "2.0", "id": 5, "method": "note/change", "params": {"attachment": 1, "version": 3, "rev": 0, "text": "a\nb", "sameStep": false}}"#,
      #"{"jsonrpc":"2.0","id":5,"method":"note/change","params":{"attachment":1,"version":3,"rev":0,"lines":[]}}"#,
    ])
  func `is read as clients write it`(message: String) {
    let request = ChangeRequest(Array(message.utf8))
    #expect(request != nil)
    #expect(Self.text(request) == Self.text(Self.slow(Array(message.utf8))))
  }

  @Test(
    arguments: [
      #"{"jsonrpc":"2.0","id":5,"method":"note/change","params":{"attachment":1,"version":3,"rev":0,"lines":[],"requestKey":"k"}}"#,
      #"{"jsonrpc":"2.0","method":"note/change","params":{"attachment":1,"version":3,"rev":0,"lines":[]}}"#,
      #"{"jsonrpc":"2.0","id":5,"method":"note/change","params":{"attachment":1,"version":3,"rev":0,"lines":[],"text":""}}"#,
      #"{"jsonrpc":"2.0","id":5,"method":"note/change","params":{"attachment":1,"version":3,"rev":0,"lines":[]}} x"#,
      #"{"jsonrpc":"2.0","id":5,"method":"note/change","params":{"attachment":1,"version":3,"rev":0,"ranges":[{"range":{"start":{"line":1,"character":2}},"range":{"end":{"line":1,"character":2}},"newText":""}]}}"#,
    ])
  func `is none that a message would not be`(message: String) {
    #expect(ChangeRequest(Array(message.utf8)) == nil)
    #expect(Self.slow(Array(message.utf8)) == nil)
  }
}
