import JSONRPC
import TestSupport
import Testing

@Suite
struct `JSON strings` {
  @Test func `a string is the same wherever in a word its escape sequences stand`() throws {
    for before in 0..<20 {
      for after in 0..<20 {
        let (head, tail) = (
          String(repeating: "a", count: before), String(repeating: "b", count: after)
        )
        for (written, meant) in [
          ("\\n", "\n"), ("\\u0041", "A"), ("\\ud83d\\ude00", "\u{1F600}"), ("\\\\", "\\"),
          ("\\\"", "\""), ("é", "é"), ("\\u0000", "\0"),
        ] {
          let value = try JSONValue(parsing: Array("\"\(head)\(written)\(tail)\(written)\"".utf8))
          #expect(value.string == head + meant + tail + meant)
        }
        for wrong in ["\n", "\u{1F}", "\\x", "\""] {
          #expect(throws: JSONError.self) {
            try JSONValue(parsing: Array("\"\(head)\(wrong)\(tail)\"".utf8))
          }
        }
      }
    }
  }
}
