internal import JSONRPC

// The notes as resources.

extension AgentServer {
  /// So many resources are in one page of the list.
  private static let page = 500
  private static let mimeType = "text/markdown"

  /// `resources/list`: the notes that are not in the trash, in the user's order.
  mutating func listResources(_ id: RequestID, _ params: JSONValue) {
    let cursor = params["cursor"].flatMap { $0.isNull ? nil : $0 }
    guard cursor == nil || cursor?.kind == .string else {
      return refuse(id, .invalidParams("cursor", "must be a string"))
    }
    ask("notebook/list", for: id) {
      $0.member("limit", Self.page)
      if let cursor = cursor?.string { $0.member("after", cursor) }
    } then: { server, answer in
      switch answer {
      case .success(let result): server.answerResources(id, result)
      case .failure(let failure) where cursor != nil && failure.code != -32603:
        server.refuse(
          id, .invalidParams("cursor", "no page goes on there: list from the beginning"))
      case .failure(let failure): server.refuse(id, because: failure)
      }
    }
  }

  private mutating func answerResources(_ id: RequestID, _ page: JSONValue) {
    answer(id, .passing) { result in
      result.key("resources")
      result.beginArray()
      for note in page["notes"]?.array.map(Array.init) ?? [] {
        let (noteID, title) = (note["id"]?.string ?? "", note["title"]?.string ?? "")
        result.beginObject()
        result.member("uri", NoteURI(id: noteID).text)
        result.member("name", title.isEmpty ? noteID : title)
        if !title.isEmpty { result.member("title", title) }
        result.member("mimeType", Self.mimeType)
        result.member("size", copying: note["length"])
        result.key("annotations")
        result.beginObject()
        result.member("lastModified", copying: note["modified"])
        result.endObject()
        result.endObject()
      }
      result.endArray()
      result.member("nextCursor", copying: page["next"])
    }
  }

  /// `resources/templates/list`.
  mutating func listTemplates(_ id: RequestID) {
    answer(id, .lasting) { result in
      result.key("resourceTemplates")
      result.beginArray()
      result.beginObject()
      result.member("uriTemplate", NoteURI.template)
      result.member("name", "note")
      result.member("title", "A note")
      result.member("description", "The text of the note with this id.")
      result.member("mimeType", Self.mimeType)
      result.endObject()
      result.endArray()
    }
  }

  /// `resources/read`: the text of a note.
  mutating func readResource(_ id: RequestID, _ params: JSONValue) {
    guard let uri = params["uri"]?.string else {
      return refuse(id, .invalidParams("uri", "must be a string"))
    }
    guard let note = NoteURI(uri) else { return refuseResource(id, uri) }
    ask("note/get", for: id) {
      $0.member("id", note.id)
    } then: { server, answer in
      switch answer {
      case .success(let found):
        server.answer(id, .passing) { result in
          result.key("contents")
          result.beginArray()
          result.beginObject()
          result.member("uri", note.text)
          result.member("mimeType", Self.mimeType)
          result.member("text", copying: found["text"])
          result.endObject()
          result.endArray()
        }
      case .failure(let failure) where failure.isAboutMissingNote:
        server.refuseResource(id, uri)
      case .failure(let failure): server.refuse(id, because: failure)
      }
    }
  }
}
