internal import JSONRPC

// The tools that read.

extension AgentServer {
  mutating func searchNotes(_ call: Tool.Call) {
    ask("notebook/search", for: call) {
      $0.member("query", copying: call.arguments["query"])
      $0.member("limit", call.arguments["limit"]?.integer ?? 20)
    } then: { server, found in
      server.succeed(call) { result in
        result.key("notes")
        result.beginArray()
        for match in found["matches"]?.array.map(Array.init) ?? [] {
          result.beginObject()
          for name in ["id", "title", "tags"] {
            result.member(name, copying: match["note"]?[name])
          }
          result.member("snippet", copying: match["snippet"])
          result.endObject()
        }
        result.endArray()
        result.member("more", found["more"]?.boolean == true)
      }
    }
  }

  mutating func listNotes(_ call: Tool.Call) {
    ask("notebook/list", for: call) {
      for name in ["tags", "priority", "trashed", "sort"] {
        $0.member(name, copying: call.arguments[name])
      }
      $0.member("after", copying: call.arguments["cursor"])
      $0.member("limit", call.arguments["limit"]?.integer ?? 50)
    } then: { server, list in
      server.succeed(call) { result in
        result.key("notes")
        result.beginArray()
        for note in list["notes"]?.array.map(Array.init) ?? [] {
          result.beginObject()
          for name in ["id", "title", "tags", "priority", "modified"] {
            result.member(name, copying: note[name])
          }
          result.endObject()
        }
        result.endArray()
        result.member("next", copying: list["next"])
      }
    }
  }

  mutating func readNote(_ call: Tool.Call) {
    ask("note/get", for: call) {
      $0.member("id", call.note)
      $0.member("revision", copying: call.arguments["revision"])
    } then: { server, found in
      let piece: TextPiece
      do throws(TextPiece.Mistake) {
        piece = try TextPiece(call.arguments.lines, of: found["text"]?.utf8 ?? [])
      } catch {
        return server.fail(call.id, error.message)
      }
      server.succeed(call) { result in
        result.member("id", copying: found["note"]?["id"])
        result.member("title", copying: found["note"]?["title"])
        result.key("text")
        result.string(utf8: piece.bytes)
        result.member("revision", copying: found["revision"])
        for name in ["tags", "priority", "trashed"] {
          result.member(name, copying: found["note"]?[name])
        }
        if let next = piece.next {
          result.member("next_line", next.first)
          if next.offset > 0 { result.member("next_offset", next.offset) }
        }
      }
    }
  }

  mutating func linksOf(_ call: Tool.Call) {
    ask("note/links", for: call) {
      $0.member("id", call.note)
    } then: { server, links in
      server.ask("note/backlinks", for: call) {
        $0.member("id", call.note)
        $0.member("limit", 500)
      } then: { server, backlinks in
        server.succeed(call) { Self.write(links, backlinks, &$0) }
      }
    }
  }

  private static func write(
    _ links: JSONValue, _ backlinks: JSONValue, _ result: inout JSONWriter
  ) {
    result.key("links")
    result.beginArray()
    for link in ["links", "headerLinks"].flatMap({ links[$0]?.array.map(Array.init) ?? [] }) {
      result.beginObject()
      result.member("field", copying: link["field"])
      result.member("target", copying: link["target"])
      result.member("heading", copying: link["heading"])
      if let id = link["id"], !id.isNull { result.member("id", copying: id) }
      result.endObject()
    }
    result.endArray()
    result.key("backlinks")
    result.beginArray()
    for backlink in backlinks["backlinks"]?.array.map(Array.init) ?? [] {
      result.beginObject()
      for name in ["id", "title"] { result.member(name, copying: backlink["note"]?[name]) }
      result.member("context", copying: backlink["context"])
      result.endObject()
    }
    result.endArray()
    result.member(
      "more", links["more"]?.boolean == true || backlinks["more"]?.boolean == true)
  }
}
