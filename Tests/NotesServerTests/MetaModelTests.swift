import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

@Suite(.serialized)
struct `The metaModel` {
  let model: MetaModel

  init() throws { model = try MetaModel() }

  // MARK: - Transcripts

  /// The messages of a transcript with who sends them; a response with the method that it answers. What is no JSON, and
  /// names that stand for something, are told apart by `nil`.
  private func messages(
    of name: String
  ) throws -> [(sender: MetaModel.Sender, message: JSON?, method: String?, line: Int)] {
    var methods: [String: String] = [:]
    var messages: [(MetaModel.Sender, JSON?, String?, Int)] = []
    for (index, line) in try Transcript(name).lines.enumerated() {
      switch line {
      case .start: methods = [:]
      case .client(let text):
        // A name stands for a string where it has quotes around it, else for a number.
        let filled = text.replacing(/"\{\{(\w+)\}\}/, with: { "\"\($0.1)" })
          .replacing(/\{\{\w+\}\}/, with: "1")
        let message = try? JSON(parsing: filled)
        if let id = message?["id"], let method = message?["method"]?.string {
          methods[id.text] = method
        }
        messages.append((.client, message, nil, index + 1))
      case .server(let text):
        let message = try JSON(parsing: text)
        let method = message["method"] == nil ? message["id"].flatMap { methods[$0.text] } : nil
        messages.append((.server, message, method, index + 1))
      default: break
      }
    }
    return messages
  }

  @Test(arguments: Transcript.names)
  func `describes all that the server says`(name: String) throws {
    for (sender, message, method, line) in try messages(of: name) where sender == .server {
      let problems = model.problems(of: try #require(message), from: .server, answering: method)
      #expect(problems == [], "\(name).txt, line \(line)")
    }
  }

  @Test(arguments: Transcript.names)
  func `describes what clients may say, and the server refuses the rest`(name: String) throws {
    let messages = try messages(of: name)
    for (index, entry) in messages.enumerated() where entry.sender == .client {
      // A message that is no JSON may be answered with the id of the request that it was to be.
      let answer = messages[(index + 1)...].prefix { $0.sender == .server }.first {
        entry.message == nil || $0.message?["id"] == entry.message?["id"] ?? .null
      }
      let isRefused = [-32700, -32600, -32601, -32602].contains(
        answer?.message?["error"]?["code"]?.integer)
      let problems =
        entry.message.map { model.problems(of: $0, from: .client, answering: nil) } ?? ["no JSON"]
      if entry.message?["id"] == nil, let method = entry.message?["method"]?.string,
        model.notifications[method] == nil
      {
        continue  // An unknown notification is dropped.
      }
      if !isRefused { #expect(problems == [], "\(name).txt, line \(entry.line)") }
    }
  }

  @Test func `has nothing that no transcript shows`() throws {
    var methods: Set<String> = []
    var codes: Set<Int> = []
    var reasons: Set<String> = []
    for name in Transcript.names {
      for (_, message, _, _) in try messages(of: name) {
        if let method = message?["method"]?.string { methods.insert(method) }
        if let code = message?["error"]?["code"]?.integer { codes.insert(code) }
        if let reason = message?["error"]?["data"]?["reason"]?.string { reasons.insert(reason) }
      }
    }
    let known = Set(model.requests.keys).union(model.notifications.keys)
    // A transcript can't damage a file; the tests of methods see the message about it.
    let elsewhere: Set<String> = ["window/showMessage"]
    #expect(known.subtracting(methods).subtracting(elsewhere).sorted() == [])

    #expect(codes.isSuperset(of: [-32700, -32600, -32601, -32602, -32002, -32801, -32803]))
    #expect(
      reasons.isSuperset(of: [
        "noSuchNote", "readOnly", "unknownBase", "unknownRevision",
        "foreignNotebook", "missingChanges", "damagedChanges", "reopen",
      ]))
  }

  // MARK: - The check itself

  private static let open =
    #"{"attachment":1,"session":"s","version":0,"rev":0,"text":"","readOnly":false}"#

  @Test(arguments: [
    open.replacing("\"version\":0", with: "\"version\":\"0\""),
    open.replacing("\"version\":0", with: "\"version\":-1"),
    open.replacing("\"version\":0", with: "\"version\":0.5"),
    open.replacing("\"version\":0", with: "\"version\":null"),
    open.replacing("\"session\":\"s\",", with: ""),
    open.replacing("\"session\":\"s\",", with: "\"session\":\"s\",\"more\":1,"),
    open.replacing("false", with: "0"), "null", "[]", "[\(open)]",
  ])
  func `refuses a result that is not as it should be`(result: String) throws {
    func problems(_ result: String) throws -> [String] {
      let response = try JSON(parsing: #"{"jsonrpc":"2.0","id":1,"result":\#(result)}"#)
      return model.problems(of: response, from: .server, answering: "note/open")
    }
    #expect(try problems(Self.open) == [])
    #expect(try problems(result) != [])
  }

  @Test(arguments: [
    #"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32600,"message":""}}"#,
    #"{"jsonrpc":"2.0","id":1}"#,
    #"{"id":1,"result":null}"#,
    #"{"jsonrpc":"2.0","id":1,"result":7}"#,
    #"{"jsonrpc":"2.0","id":1.5,"result":null}"#,
    #"{"jsonrpc":"2.0","id":1,"result":null,"more":1}"#,
    #"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}"#,
    #"{"jsonrpc":"2.0","id":1,"error":{"code":-32600}}"#,
    #"{"jsonrpc":"2.0","id":1,"error":{"code":-32803,"message":""}}"#,
    #"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"","data":{"reason":"readOnly"}}}"#,
    #"{"jsonrpc":"2.0","id":1,"method":"note/edit","params":{}}"#,
    #"{"jsonrpc":"2.0","method":"note/edit","params":{"attachment":1,"version":0}}"#,
    #"{"jsonrpc":"2.0","method":"exit"}"#,
    #"{"jsonrpc":"2.0","method":"note/dance"}"#,
    #"{"jsonrpc":"2.0","method":"notebook/didChange","params":{"revision":"0","changed":[1]}}"#,
    #"""
    {"jsonrpc":"2.0","method":"notebook/didChange",
     "params":{"revision":"0","changed":[{"id":"1","what":["colour"]}]}}
    """#,
    #"""
    {"jsonrpc":"2.0","method":"note/edit",
     "params":{"attachment":1,"version":0,"rev":1,"lines":[[0,1,["a"],"b"]]}}
    """#,
  ])
  func `refuses a message that is not as it should be`(message: String) throws {
    let message = try JSON(parsing: message)
    #expect(model.problems(of: message, from: .server, answering: "shutdown") != [])
  }

  // MARK: - The program

  @Test func `gives each method the parameters that the command line allows`() {
    for (name, request) in model.requests {
      let properties = request["params"].map { model.structures[$0["name"]!.string!]! } ?? []
      let allowed = Method.named(name)!.parameters.map(\.name)
      #expect(Set(allowed) == Set(properties.map { $0["name"]!.string! }), "\(name)")
    }
  }

  @Test func `knows the methods that the server knows`() throws {
    let scratch = TemporaryFolder()
    let peer = Peer(scratch("notes"))
    peer.initialize()
    for method in model.requests.keys.sorted() where method != "shutdown" {
      #expect(peer.ask(method).error?.code != -32601, "\(method)")
    }
    #expect(peer.ask("shutdown").error == nil)
    let sources = protocolFolder.deletingLastPathComponent().appendingPathComponent(
      "Sources/NotesServer")
    var named: Set<String> = []
    for file in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
    where file.hasSuffix(".swift") {
      let source = try contents(of: sources.appendingPathComponent(file))
      for match in source.matches(of: /"((?:note|notebook|window|\$)\/[A-Za-z]+)"/) {
        named.insert(String(match.1))
      }
    }
    #expect(named.contains("note/create"))
    let known = Set(model.requests.keys).union(model.notifications.keys)
    #expect(named.subtracting(known).isEmpty)
  }

  @Test(arguments: [
    "note/cursor", "note/presence", "note/closed", "rpc.discover",
    "note/", "note", "", "Note/get", "note/get ", "$/note", "initialized", "exit",
  ])
  func `lacks what the server lacks`(method: String) {
    let scratch = TemporaryFolder()
    let peer = Peer(scratch("notes"))
    peer.initialize()
    #expect(peer.ask(method).error?.code == -32601)
    #expect(model.requests[method] == nil)
  }

  // MARK: - The documentation

  /// The messages in the examples of `Protocol/README.md`: `→` or `←` and JSON, which goes on as far as lines are indented
  /// further.
  private func examples() throws -> [(sender: MetaModel.Sender, text: String)] {
    let file = protocolFolder.appendingPathComponent("README.md")
    var examples: [(MetaModel.Sender, String)] = []
    var isOpen = false
    for line in try contents(of: file).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("    → {") || line.hasPrefix("    ← {") {
        let sender: MetaModel.Sender = line.hasPrefix("    → ") ? .client : .server
        examples.append((sender, String(line.dropFirst(6))))
        isOpen = true
      } else if line.hasPrefix("      '{") {
        examples.append((.client, String(line.split(separator: "'")[1])))
      } else if isOpen, line.hasPrefix("        ") {
        examples[examples.count - 1].1 += line
      } else {
        isOpen = false
      }
    }
    return examples
  }

  @Test func `describes the examples in the documentation`() throws {
    var methods: [String: String] = [:]
    var seen = 0
    for (sender, text) in try examples() {
      guard var members = try JSON(parsing: text).members else {
        Issue.record("no object: \(text)")
        continue
      }
      if text.contains("\"jsonrpc\"") == false { members["jsonrpc"] = "2.0" }
      let message = JSON(members)
      if let id = message["id"], let method = message["method"]?.string {
        methods[id.text] = method
      }
      let method = message["id"].flatMap { methods[$0.text] }
      #expect(model.problems(of: message, from: sender, answering: method) == [], "\(text)")
      seen += 1
    }
    #expect(seen > 40)
  }
}
