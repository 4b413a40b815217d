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
    let hasTitles = era.version.hasStructuredResults
    answer(id, .passing) { result in
      result.key("resources")
      result.beginArray()
      for note in page["notes"]?.array.map(Array.init) ?? [] {
        let (noteID, title) = (note["id"]?.string ?? "", note["title"]?.string ?? "")
        result.beginObject()
        result.member("uri", NoteURI(id: noteID).text)
        result.member("name", title.isEmpty ? noteID : title)
        if hasTitles, !title.isEmpty { result.member("title", title) }
        result.member("mimeType", Self.mimeType)
        result.member("size", copying: note["length"])
        if hasTitles {
          result.key("annotations")
          result.beginObject()
          result.member("lastModified", copying: note["modified"])
          result.endObject()
        }
        result.endObject()
      }
      result.endArray()
      result.member("nextCursor", copying: page["next"])
    }
  }

  /// `resources/templates/list`.
  mutating func listTemplates(_ id: RequestID) {
    let hasTitles = era.version.hasStructuredResults
    let templates = [
      (NoteURI.template, "note", "A note", "The text of the note with this id."),
      (
        PieceURI.template, "lines", "Lines of a note",
        "The text of the note with this id, from one line to another; offset leaves out bytes of the first one."
      ),
    ]
    answer(id, .lasting) { result in
      result.key("resourceTemplates")
      result.beginArray()
      for (template, name, title, description) in templates {
        result.beginObject()
        result.member("uriTemplate", template)
        result.member("name", name)
        if hasTitles { result.member("title", title) }
        result.member("description", description)
        result.member("mimeType", Self.mimeType)
        result.endObject()
      }
      result.endArray()
    }
  }

  /// `resources/read`: the text of a note, or a piece of it.
  mutating func readResource(_ id: RequestID, _ params: JSONValue) {
    guard let uri = params["uri"]?.string else {
      return refuse(id, .invalidParams("uri", "must be a string"))
    }
    guard let resource = PieceURI(uri) else { return refuseResource(id, uri) }
    ask("note/get", for: id) {
      $0.member("id", resource.note.id)
    } then: { server, answer in
      switch answer {
      case .success(let found):
        do {
          server.answer(id, resource, try TextPiece(resource.lines, of: found["text"]?.utf8 ?? []))
        } catch {
          server.refuseResource(id, uri)
        }
      case .failure(let failure) where failure.isAboutMissingNote:
        server.refuseResource(id, uri)
      case .failure(let failure): server.refuse(id, because: failure)
      }
    }
  }

  /// Answers `resources/read`. Behind a piece that is not the last stands a second content, which names the resource of the rest.
  private mutating func answer(_ id: RequestID, _ resource: PieceURI, _ piece: TextPiece) {
    answer(id, .passing) { result in
      result.key("contents")
      result.beginArray()
      result.beginObject()
      result.member("uri", resource.text)
      result.member("mimeType", Self.mimeType)
      result.key("text")
      result.string(utf8: piece.bytes)
      result.endObject()
      if let next = piece.next {
        let rest = PieceURI(resource.note, next)
        result.beginObject()
        result.member("uri", rest.text)
        result.member("mimeType", "text/plain")
        result.member("text", "The text goes on at line \(next.first): read \(rest.text).")
        result.endObject()
      }
      result.endArray()
    }
  }
}
