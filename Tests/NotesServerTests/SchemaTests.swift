import Foundation
import TestSupport
import Testing

@testable import NotesServer

@Suite(.serialized)
struct `The schema of all messages` {
  private static let isRecording =
    ProcessInfo.processInfo.environment["DECENT_NOTES_RECORD"] == "1"
  let model: JSON
  let writer: SchemaWriter
  let schema: JSONSchema

  init() throws {
    let file = protocolFolder.appendingPathComponent("metaModel.json")
    model = try JSON(parsing: try contents(of: file))
    writer = SchemaWriter(model)
    schema = JSONSchema(writer.schema)
  }

  // MARK: - Files

  private func check(_ text: String, in file: URL) throws {
    if Self.isRecording { try Data(text.utf8).write(to: file) }
    #expect(try contents(of: file) == text, "\(file.lastPathComponent) is not up to date")
  }

  @Test func `is what the metaModel says`() throws {
    try check(
      writer.schema.laidOut() + "\n", in: protocolFolder.appendingPathComponent("schema.json"))
  }

  @Test func `is in the declarations for TypeScript, too`() throws {
    let text = DeclarationWriter(model).declarations
    try check(text, in: protocolFolder.appendingPathComponent("decent-notes.d.ts"))
    // Of what says so exactly one member is given.
    for name in ["NoteChangeParams", "NoteEditParams", "NoteMoveParams"] {
      #expect(text.contains("export type \(name) = {"), "\(name)")
    }
    #expect(text.matches(of: /& OneOf</).count == 3)
    // Every type that is named is there.
    let known = Set(text.matches(of: /export (?:type|interface) (\w+)/).map { String($0.1) })
    let bare = text.replacing(/\/\*\*.*?\*\//.dotMatchesNewlines(), with: "")
      .replacing(/(?m)^\/\/.*$/, with: "")
      .replacing(/'[^']*'|"[^"]*"/, with: "")
    for name in bare.matches(of: /\b[A-Z]\w+\b/).map({ String($0.output) }) {
      #expect(known.union(["Exclude", "Record", "OneOf"]).contains(name), "\(name)")
    }
    #expect(bare.count { $0 == "{" } == bare.count { $0 == "}" })
  }

  // MARK: - Messages

  /// The name of the definition that a message should fit.
  private func definition(of message: JSON, answering method: String?) -> String {
    if let own = message["method"]?.string {
      return SchemaWriter.name(of: own) + (message["id"] == nil ? "Notification" : "Request")
    }
    return message["error"] == nil
      ? SchemaWriter.name(of: method ?? "") + "Response" : "ErrorResponse"
  }

  /// The messages of a transcript that are JSON, with the names of their definitions; and those that the server refuses.
  private func messages(
    of name: String
  ) throws -> [(message: JSON, definition: String, isRefused: Bool, line: Int)] {
    var methods: [String: String] = [:]
    var messages: [(message: JSON, definition: String, isRefused: Bool, line: Int)] = []
    for (index, line) in try Transcript(name).lines.enumerated() {
      switch line {
      case .start: methods = [:]
      case .client(let text):
        let filled = text.replacing(/"\{\{(\w+)\}\}/, with: { "\"\($0.1)" })
          .replacing(/\{\{\w+\}\}/, with: "1")
        guard let message = try? JSON(parsing: filled) else { continue }
        if let id = message["id"], let method = message["method"]?.string {
          methods[id.text] = method
        }
        messages.append((message, definition(of: message, answering: nil), false, index + 1))
      case .server(let text):
        let message = try JSON(parsing: text)
        let method = message["id"].flatMap { methods[$0.text] }
        let code = message["error"]?["code"]?.integer
        if [-32700, -32600, -32601, -32602].contains(code),
          let asked = messages.lastIndex(where: {
            // A message without a usable id is answered with a null id.
            $0.message["method"] != nil
              && ($0.message["id"] == message["id"] || message["id"]!.isNull)
          })
        {
          messages[asked].isRefused = true
        }
        messages.append((message, definition(of: message, answering: method), false, index + 1))
      default: break
      }
    }
    return messages
  }

  @Test(arguments: Transcript.names)
  func `is that of every message of the transcripts`(name: String) throws {
    let known = Set(writer.schema["$defs"]!.members!.keys)
    for (message, definition, isRefused, line) in try messages(of: name) where !isRefused {
      // Notifications that nobody knows are dropped.
      if definition.hasSuffix("Notification"), !known.contains(definition) { continue }
      // A message that is no request is answered with an error without an id.
      if message["method"] == nil, message["result"] == nil, message["error"] == nil { continue }
      #expect(schema.problems(of: message, as: definition) == [], "\(name).txt, line \(line)")
      #expect(schema.problems(of: message) == [], "\(name).txt, line \(line)")
    }
  }

  private static let hasChecker = (try? shell("python3 -c 'import jsonschema' 2> /dev/null")) != nil

  @Test(.enabled(if: hasChecker, "Python has no jsonschema"))
  func `is one by the words of another program, too`() throws {
    let scratch = TemporaryFolder()
    var lines: [String] = []
    for name in Transcript.names {
      for (message, definition, isRefused, _) in try messages(of: name)
      where !isRefused && !definition.hasSuffix("Notification") && message["jsonrpc"] != nil {
        lines.append(JSON.array([.string(definition), message]).text)
      }
    }
    #expect(lines.count > 300)
    try lines.joined(separator: "\n").write(
      toFile: scratch("messages"), atomically: false, encoding: .utf8)
    let script = """
      import json, sys
      from jsonschema import Draft202012Validator
      schema = json.load(open(sys.argv[1]))
      Draft202012Validator.check_schema(schema)
      for line in open(sys.argv[2], encoding="utf-8"):
          name, message = json.loads(line)
          if "method" not in message and "result" not in message and "error" not in message:
              continue
          one = {"$ref": "#/$defs/" + name, "$defs": schema["$defs"]}
          for error in Draft202012Validator(one).iter_errors(message):
              print(name, error.message)
      """
    let file = protocolFolder.appendingPathComponent("schema.json").path
    try script.write(toFile: scratch("check.py"), atomically: false, encoding: .utf8)
    let output = try shell(
      #"python3 "$2" "$3" "$4""#, scratch("check.py"), file, scratch("messages"))
    #expect(output == "")
  }

  // MARK: - The check itself

  @Test(arguments: [
    ("NoteOpenResponse", #"{"jsonrpc":"2.0","id":1,"result":{"attachment":1}}"#),
    ("NoteOpenResponse", #"{"jsonrpc":"2.0","id":1,"result":null}"#),
    ("ShutdownResponse", #"{"jsonrpc":"2.0","id":1,"result":7}"#),
    ("ShutdownResponse", #"{"jsonrpc":"2.0","id":1.5,"result":null}"#),
    ("ShutdownResponse", #"{"jsonrpc":"2.0","id":1}"#),
    ("ShutdownResponse", #"{"id":1,"result":null}"#),
    ("ShutdownRequest", #"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":[1]}"#),
    ("NoteGetRequest", #"{"jsonrpc":"2.0","id":1,"method":"note/get"}"#),
    ("NoteGetRequest", #"{"jsonrpc":"2.0","id":1,"method":"note/get","params":null}"#),
    ("NoteGetRequest", #"{"jsonrpc":"2.0","id":1,"method":"note/get","params":{"id":1}}"#),
    ("NoteGetRequest", #"{"jsonrpc":"2.0","id":1,"method":"note/set","params":{"id":"1"}}"#),
    (
      "NoteMoveRequest",
      #"{"jsonrpc":"2.0","id":1,"method":"note/move","params":{"id":"1","index":-1}}"#
    ),
    (
      "NoteCreateRequest",
      #"{"jsonrpc":"2.0","id":1,"method":"note/create","params":{"priority":"x"}}"#
    ),
    (
      "NoteCreateRequest", #"{"jsonrpc":"2.0","id":1,"method":"note/create","params":{"tags":[1]}}"#
    ),
    ("ErrorResponse", #"{"jsonrpc":"2.0","id":1,"error":{"code":-32600}}"#),
    (
      "NoteEditNotification",
      #"{"jsonrpc":"2.0","method":"note/edit","params":{"attachment":1,"version":0,"rev":1,"lines":[[0,1]]}}"#
    ),
    ("NothingRequest", "{}"),
  ])
  func `refuses what is not as it should be`(definition: String, message: String) throws {
    #expect(schema.problems(of: try JSON(parsing: message), as: definition) != [])
  }

  @Test(arguments: [
    ("NoteCreateRequest", #"{"jsonrpc":"2.0","id":"a","method":"note/create"}"#),
    ("NoteCreateRequest", #"{"jsonrpc":"2.0","id":1,"method":"note/create","params":[]}"#),
    (
      "NoteCreateRequest",
      #"{"jsonrpc":"2.0","id":1,"method":"note/create","params":{"title":null,"new":1}}"#
    ),
    ("ShutdownRequest", #"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":null}"#),
  ])
  func `takes what the server takes`(definition: String, message: String) throws {
    #expect(schema.problems(of: try JSON(parsing: message), as: definition) == [])
  }

  @Test func `is refused by the check where it says what that does not know`() {
    let odd = JSONSchema(["$defs": ["A": ["type": "string", "pattern": "a"]]])
    #expect(odd.problems(of: "a", as: "A") != [])
  }
}
