import Foundation
import JSONRPC
import TestSupport
import Testing

/// The rules of merging in the processes of a notebook: each command is one.
@Suite(.waiting)
struct `Rules of merging in a notebook` {
  let commands = Commands()

  private func setText(
    _ note: String, _ text: String, base: String, environment: [String: String?] = [:]
  ) throws -> Ran {
    let parameters: JSON = ["id": .string(note), "base": .string(base), "text": .string(text)]
    return try commands.run(
      ["call", "note/setText", "-"], input: parameters.bytes,
      environment: environment)
  }

  private func revision(_ note: String) throws -> String {
    try commands("call", "note/get", #"{"id":"\#(note)"}"#).values()[0]["revision"]!.string!
  }

  @Test(arguments: [2048, 4096, 4097, 100_000])
  func `two replacements by the same long text leave a notebook that opens`(_ count: Int) throws {
    let note = try commands.make("numbers", "milk\neggs\n")
    let other = try commands.make("other", "bread\n")
    let base = try revision(note)
    let text = String((1...50_000).map { "\($0)\n" }.joined().prefix(count))
    for _ in 0..<2 {
      let ran = try setText(note, text, base: base)
      #expect(ran.status == 0, "\(ran.errors)")
    }
    for _ in 0..<2 {
      #expect(try commands.text(note) == text)
      #expect(try commands.text(other) == "bread\n")
      #expect(try commands("check").status == 0)
      // Without an archive, and from one.
      #expect(try commands("compact").status == 0)
    }
  }

  #if DEBUG
    @Test func `A rule that ends a process leaves all notes readable, and is told`() throws {
      let note = try commands.make("shared", "milk\neggs\n")
      let other = try commands.make("other", "bread\n")
      let base = try revision(note)
      #expect(try setText(note, "milk\neggs\nApril\n", base: base).status == 0)
      let failing = ["DECENT_NOTES_FAILING_RULE": note]
      // By a signal, as the shell tells it.
      #expect(
        try setText(note, "March\nmilk\neggs\n", base: base, environment: failing).status > 128)
      // The change is in the log. Each later process would end by it.
      commands.environment.merge(failing.mapValues { $0 }) { $1 }
      for _ in 0..<2 {
        let shown = try commands("show", note)
        // 5: what is shown may lack something.
        #expect(shown.status == 5 && shown.output == "March\nmilk\neggs\nApril\n")
        #expect(shown.errors.contains("note \(note) is shown without the rules of merging"))
        #expect(try commands("show", other).output == "bread\n")
        #expect(try commands("list").lines.count == 2)
        let check = try commands("check")
        #expect(check.status == 1 && check.output.contains("without the rules of merging"))
      }
      #expect(try commands("append", note, "May").status == 0)
      #expect(try commands("show", note).output.hasSuffix("April\nMay\n"))
      // Tried again, they fail again.
      #expect(try commands("check", "--repair").status > 128)
      #expect(try commands("show", other).output == "bread\n")
      // A program without the mistake tries them when it is told to.
      commands.environment["DECENT_NOTES_FAILING_RULE"] = nil
      #expect(try commands("check").status == 1)
      #expect(try commands("check", "--repair").status == 0)
      let shown = try commands("show", note)
      #expect(shown.errors.isEmpty && shown.output == "March\nmilk\neggs\nApril\nMay\n")
    }
  #endif
}
