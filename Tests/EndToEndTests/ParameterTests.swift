import Foundation
import JSONRPC
import TestSupport
import Testing

/// What a parameter may be; everything else has to be refused.
private enum Wanted {
  case string, text, count, boolean, array, strings, object, word, place

  var wrong: [JSON] {
    switch self {
    case .string: [1, true, [], [:]]
    case .text: [1, true, [], [:], "a\u{0}b"]
    case .count: ["1", true, [], [:], -1, .raw("1.5"), .raw("1e30"), .raw("99999999999999999999")]
    case .boolean: [0, "true", [], [:]]
    case .array: [1, "x", true, [:]]
    case .strings: [1, "x", true, [1], ["x", nil], [["x"]]]
    case .object: [1, "x", true, [1]]
    case .word: [1, true, [], [:], "", "Normal", "none of them"]
    case .place: ["1", true, [], [:], -1, 1000, .raw("1.5")]
    }
  }
}

/// A parameter: its name as an error has to give it, and how to put a value in its place.
private struct Parameter {
  var method: String
  var name: String
  var wanted: Wanted
  /// The other parameters, where they are not those of every request of the method.
  var others: JSON?
  var put: (JSON) -> JSON
}

@Suite(.waiting)
struct `Parameters` {
  let folder: TemporaryFolder
  let server: Server
  let id: JSON
  let attachment: JSON

  init() throws {
    folder = TemporaryFolder()
    server = try Server(folder("notes"))
    try server.initialize()
    let note = try server.call("note/create", ["title": "t", "text": "one\ntwo", "tags": ["a"]])
    id = .string(note["note"]!["id"]!.string!)
    let open = try server.call("note/open", ["id": id, "mode": "edit"])
    attachment = .raw(open["attachment"]!.written)
  }

  /// What each method needs to succeed.
  private var methods: [(String, JSON)] {
    let change: JSON = ["attachment": attachment, "version": 1000, "rev": 0]
    return [
      ("note/create", [:]), ("note/get", ["id": id]), ("note/update", ["id": id]),
      ("note/setText", ["id": id, "text": "x"]), ("note/append", ["id": id, "text": "x"]),
      ("note/move", ["id": id]), ("note/delete", ["id": id]), ("note/restore", ["id": id]),
      ("note/open", ["id": id, "mode": "observe"]), ("note/change", change),
      ("note/close", ["attachment": attachment]), ("notebook/list", [:]),
      ("note/rename", ["id": id, "title": "t"]), ("note/merge", ["id": id, "from": id]),
      ("note/links", ["id": id]),
      ("note/backlinks", ["id": id]), ("notebook/resolve", ["text": "t"]),
      ("notebook/complete", ["kind": "link"]),
      ("notebook/find", ["name": "t"]), ("notebook/changes", [:]), ("notebook/merge", [:]),
      ("notebook/batch", ["requests": [["method": "note/create"]]]),
      ("notebook/undo", ["by": "t", "since": "2026-01-01"]),
    ]
  }

  private var parameters: [Parameter] {
    var table: [Parameter] = []
    func add(_ method: String, _ name: String, _ wanted: Wanted, _ others: JSON? = nil) {
      table.append(
        Parameter(method: method, name: name, wanted: wanted, others: others) { value in
          // "a.b" is the member b of the object a.
          name.split(separator: ".").dropFirst().reversed().reduce(value) { [(String($1)): $0] }
        })
    }
    let mutating = [
      "note/create", "note/update", "note/setText", "note/append", "note/move", "note/delete",
      "note/restore", "note/change", "note/rename", "note/merge", "notebook/merge",
      "notebook/batch",
      "notebook/undo",
    ]
    for method in mutating { add(method, "requestKey", .string) }
    for (method, params) in methods where params.text.contains("\"id\"") {
      add(method, "id", .string)
    }
    for method in ["note/create", "note/update"] {
      add(method, "title", .text)
      add(method, "tags", .strings)
      add(method, "priority", .word)
    }
    for method in ["note/create", "note/move"] {
      add(method, "index", .place)
      add(method, "before", .string)
      add(method, "after", .string)
    }
    for name in ["tags.add", "tags.remove"] { add("note/update", name, .strings) }
    for method in ["note/create", "note/setText", "note/append"] { add(method, "text", .text) }
    add("note/setText", "base", .string)
    add("note/get", "revision", .string)
    add("note/open", "mode", .word)
    add("note/open", "push", .word)
    add("note/open", "check", .word)
    add("note/close", "attachment", .count)
    for name in ["attachment", "version", "rev"] { add("note/change", name, .count) }
    add("note/change", "text", .text)
    add("note/change", "lines", .array)
    add("note/change", "ranges", .array)
    for name in ["bytes", "lineCount"] { add("note/change", name, .count, ["text": "x"]) }
    add("note/change", "sha256", .string, ["text": "x"])
    add("notebook/list", "tags", .strings)
    add("notebook/list", "priority", .word)
    add("notebook/list", "trashed", .boolean)
    add("notebook/list", "limit", .count)
    add("notebook/list", "after", .string)
    add("notebook/list", "sort", .word)
    add("note/rename", "title", .text)
    for name in ["updateLinks", "dryRun"] { add("note/rename", name, .boolean) }
    add("note/merge", "from", .string)
    add("note/merge", "dryRun", .boolean)
    add("note/backlinks", "limit", .count)
    add("notebook/resolve", "text", .string)
    add("notebook/complete", "prefix", .string)
    add("notebook/complete", "kind", .word)
    add("notebook/complete", "limit", .count)
    add("notebook/find", "name", .string)
    add("notebook/find", "beginning", .boolean)
    add("notebook/find", "trashed", .boolean)
    add("notebook/find", "tags", .strings)
    add("notebook/find", "limit", .count)
    add("notebook/changes", "since", .string)
    add("notebook/changes", "limit", .count)
    add("notebook/merge", "changes", .text)
    add("notebook/batch", "requests", .array)
    add("notebook/undo", "by", .string)
    add("notebook/undo", "since", .string)
    add("notebook/undo", "dryRun", .boolean)
    return table
  }

  @Test
  func `A value of the wrong kind is refused by the name of its field`() throws {
    let before = try server.call("notebook/status")["revision"]!.written
    let needed = Dictionary(uniqueKeysWithValues: methods)
    for parameter in parameters {
      let top = String(parameter.name.prefix { $0 != "." })
      for wrong in parameter.wanted.wrong {
        var params = needed[parameter.method]!
        if case .object(let others)? = parameter.others {
          for (name, value) in others { params = params.with(name, value) }
        }
        params = params.with(top, parameter.put(wrong))
        let error = try server.error(parameter.method, params)
        #expect(error.code == -32602, "\(parameter.method) \(params.text)")
        let message = error["message"]?.string ?? ""
        #expect(message.hasPrefix(top), "\(parameter.method) \(params.text): \(message)")
      }
    }
    #expect(try server.call("notebook/status")["revision"]!.written == before)
  }

  @Test
  func `A parameter that is missing is named`() throws {
    for (method, params) in methods {
      guard case .object(let members) = params else { continue }
      for (name, _) in members {
        for rest: JSON in [.object(members.filter { $0.0 != name }), params.with(name, nil)] {
          let error = try server.error(method, rest)
          #expect(error.code == -32602, "\(method) without \(name)")
          #expect(error["message"]?.string?.hasPrefix(name) == true, "\(method) without \(name)")
        }
      }
    }
    for (method, name) in [
      ("note/move", "index"), ("note/change", "text"), ("notebook/merge", "changes"),
    ] {
      let error = try server.error(method, methods.first { $0.0 == method }!.1)
      #expect(error.code == -32602)
      #expect(error["message"]?.string?.hasPrefix(name) == true)
    }
  }

  @Test
  func `What is wrong inside lines and ranges is refused by name`() throws {
    let change = methods.first { $0.0 == "note/change" }!.1
    let lines: [JSON] = [
      [1], [[]], [[0]], [[0, 1]], [[0, 1, 2]], [[0, 1, "x"]], [["0", 1, []]], [[0, 1, [2]]],
      [[0, 1, ["a\nb"]]], [[0, 1, ["a\u{0}"]]], [[1, 0, []]], [[-1, 0, []]], [[0, 1, [], 4]],
    ]
    for wrong in lines {
      let error = try server.error("note/change", change.with("lines", wrong))
      #expect(error.code == -32602, "\(wrong.text)")
      #expect(error["message"]?.string?.hasPrefix("lines") == true, "\(wrong.text)")
    }
    let place: JSON = ["line": 0, "character": 0]
    let range: JSON = ["start": place, "end": place]
    let ranges: [JSON] = [
      [1], [[:]], [["newText": "x"]], [["newText": "x", "range": 1]], [["range": range]],
      [["newText": 1, "range": range]], [["newText": "a\u{0}", "range": range]],
      [["newText": "", "range": ["start": place]]], [["newText": "", "range": ["end": place]]],
      [["newText": "", "range": ["start": place, "end": ["line": 0]]]],
      [["newText": "", "range": ["start": place, "end": ["line": "0", "character": 0]]]],
      [["newText": "", "range": ["start": place, "end": ["line": 0, "character": -1]]]],
      [["newText": "", "range": ["start": ["line": 1, "character": 0], "end": place]]],
    ]
    for wrong in ranges {
      let error = try server.error("note/change", change.with("ranges", wrong))
      #expect(error.code == -32602, "\(wrong.text)")
      #expect(error["message"]?.string?.hasPrefix("ranges") == true, "\(wrong.text)")
    }
    for both: (String, JSON) in [("lines", []), ("ranges", [])] {
      let params = change.with("text", "x").with(both.0, both.1)
      #expect(try server.error("note/change", params).code == -32602)
    }
    let kept = try server.call("note/get", ["id": id])["text"]?.string
    #expect(kept == "one\ntwo")
  }

  @Test
  func `Titles and tags are as they have to be`() throws {
    for title in ["a\nb", "a\rb", "\n", "a\u{0}"] {
      for (method, params) in methods where ["note/create", "note/update"].contains(method) {
        let error = try server.error(method, params.with("title", .string(title)))
        #expect(error.code == -32602)
        #expect(error["message"]?.string?.hasPrefix("title") == true)
      }
    }
    let long = String(repeating: "ü", count: 100)
    for tag in ["", "a\nb", "a\r", "\u{0}", long + "x"] {
      for (method, params) in methods where ["note/create", "note/update"].contains(method) {
        let error = try server.error(method, params.with("tags", [.string(tag)]))
        #expect(error.code == -32602)
        #expect(error["message"]?.string?.hasPrefix("tags") == true)
      }
    }
    let odd = "\u{1}\u{7f}\u{85}\u{2028}\u{FEFF}\u{10FFFF}\u{E9}e\u{301}"
    let params: JSON = ["id": id, "title": .string(odd), "tags": [.string(odd), .string(long)]]
    let note = try server.call("note/update", params)["note"]!
    #expect(note["title"]?.utf8 == Array(odd.utf8))
    #expect(note["tags"]?.array?.contains { $0.utf8 == Array(odd.utf8) } == true)
    // The same to the eye, other bytes: the same tag.
    let tags: JSON = ["add": ["\u{E9}", "e\u{301}"]]
    let both = try server.call("note/update", ["id": id, "tags": tags])["note"]!["tags"]!
    #expect(both.array?.count == 3)
  }

  @Test(
    arguments: [
      ("capabilities", #"{"capabilities":1}"#),
      ("capabilities.general", #"{"capabilities":{"general":[]}}"#),
      (
        "capabilities.general.positionEncodings",
        #"{"capabilities":{"general":{"positionEncodings":"utf-8"}}}"#
      ),
      ("initializationOptions", #"{"initializationOptions":"x"}"#),
      ("initializationOptions.notebook", #"{"initializationOptions":{"notebook":7}}"#),
      ("initializationOptions.notebook", #"{"initializationOptions":{"notebook":""}}"#),
      ("initializationOptions.notebook", #"{"initializationOptions":{"notebook":"a\u0000b"}}"#),
      ("trace", #"{"trace":1}"#),
    ])
  func `What initialize is told has to be of the right kind`(_ field: String, _ params: String)
    throws
  {
    let server = try Server(folder("other"))
    let error = try server.error("initialize", .raw(params))
    #expect(error.code == -32602)
    #expect(error["message"]?.string?.hasPrefix(field) == true, "\(error.written)")
    try server.initialize()
  }

  @Test(
    arguments: [
      ("clientInfo", #"{"clientInfo":1}"#), ("clientInfo.name", #"{"clientInfo":{"name":1}}"#),
      ("trace", #"{"trace":"loudly"}"#),
      (
        "capabilities.general.positionEncodings",
        #"{"capabilities":{"general":{"positionEncodings":[1]}}}"#
      ),
    ])
  func `What initialize does not use has to be of the right kind, too`(
    _ field: String, _ params: String
  ) throws {
    let server = try Server(folder("other"))
    let id = try server.post("initialize", .raw(params))
    let response = try server.response(to: id)
    #expect(response["error"]?.code == -32602)
    #expect(response["error"]?["message"]?.string?.hasPrefix(field) == true)
  }

  @Test
  func `What resume is told has to be of the right kind`() throws {
    for wrong: JSON in [
      1, "x", [1], ["session": 1], ["session": "x", "version": "1"], ["session": "x", "rev": -1],
      ["session": "x", "version": 1, "text": 1],
    ] {
      let error = try server.error("note/open", ["id": id, "mode": "edit", "resume": wrong])
      #expect(error.code == -32602)
    }
  }

  @Test(
    arguments: ["utf-8", "utf-16", "utf-32"])
  func `Positions outside the text answer that the text is another`(_ encoding: String) throws {
    let server = try Server(folder("positions-\(encoding)"))
    try server.initialize(encoding: encoding)
    let note = try server.call("note/create", ["text": "aé😀b\n\nlast"])["note"]!["id"]!
    let open = try server.call("note/open", ["id": .raw(note.written), "mode": "edit"])
    let units: [String: (length: Int, bad: [Int])] = [
      "utf-8": (8, [2, 4, 5, 6]), "utf-16": (5, [3]), "utf-32": (4, []),
    ]
    let (length, bad) = units[encoding]!
    var version = 0
    func change(_ params: (String, JSON)) throws -> JSONValue {
      version += 1
      let id = try server.post(
        "note/change",
        [
          "attachment": .raw(open["attachment"]!.written), "version": JSON(version), "rev": 0,
          params.0: params.1,
        ])
      return try server.response(to: id)
    }
    func range(_ line: Int, _ start: Int, _ end: Int, to last: Int? = nil) -> (String, JSON) {
      (
        "ranges",
        [
          [
            "range": [
              "start": ["line": JSON(line), "character": JSON(start)],
              "end": ["line": JSON(last ?? line), "character": JSON(end)],
            ], "newText": "x",
          ]
        ]
      )
    }
    for character in bad + [length + 1, length + 2, 1 << 40, .max] {
      for wrong in [range(0, character, character), range(0, 0, character)] {
        #expect(try change(wrong)["error"]?.code == -32801, "character \(character)")
      }
    }
    for line in [3, 4, 1 << 40, .max] {
      #expect(try change(range(line, 0, 0))["error"]?.code == -32801, "line \(line)")
    }
    #expect(try change(range(1, 0, 1))["error"]?.code == -32801)
    #expect(try change(range(0, 0, 5, to: 2))["error"]?.code == -32801)
    for lines: JSON in [
      [[0, 4, []]], [[4, 4, ["x"]]], [[0, JSON(.max), []]],
      [[0, 2, []], [1, 3, []]],
    ] {
      #expect(try change(("lines", lines))["error"]?.code == -32801, "\(lines.text)")
    }
    let empty = try change(("lines", [[JSON(.max), JSON(.max), []]]))
    #expect(empty["error"]?.code == -32801)

    #expect(try change(range(0, length, length))["result"] != nil)
    let text = try server.call("note/get", ["id": .raw(note.written)])["text"]
    #expect(text?.string == "aé😀bx\n\nlast")
  }
}
