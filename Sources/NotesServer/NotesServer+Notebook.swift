internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The notebook as a whole: list, status, exchange of changes.

extension NotesServer {
  func listNotes(_ params: Parameters, _ result: inout JSONWriter) throws(ResponseError) {
    var tags: [Tag] = []
    if params["tags"] != nil {
      for element in try params.requiredArray("tags") {
        guard let tag = element.string else {
          throw .invalidParams("tags", "must be an array of strings")
        }
        tags.append(Tag(tag))
      }
    }
    let priority = try params.word("priority", Priority.allCases.map { ($0.name, $0) })
    let trashed = try params.boolean("trashed") ?? false
    let limit = try limit(params)
    let last = params["after"] == nil ? nil : try note(params, "after").id
    var listed: [NoteSummary] = []
    var next: NoteID?
    do {
      try book.forEachSummary(after: last) { note in
        guard note.isTrashed == trashed, priority.map({ $0 == note.priority }) ?? true,
          tags.allSatisfy({ note.tags.contains($0) })
        else { return true }
        if listed.count == limit {
          next = listed.last?.id
          return false
        }
        listed.append(note)
        return true
      }
    } catch { throw ResponseError(error) }
    result.beginObject()
    result.key("notes")
    result.beginArray()
    for note in listed { result.summary(note) }
    result.endArray()
    result.member("revision", revision)
    if let next { result.member("next", "\(next)") }
    result.endObject()
  }

  func status(_ result: inout JSONWriter) throws(ResponseError) {
    let book = book
    let counts = book.counts
    result.beginObject()
    result.member("revision", revision)
    result.member("version", book.version.description)
    result.member("durable", store?.isDurable ?? true)
    result.member("durability", environment.durability.rawValue)
    result.member("replicas", book.version.count)
    result.member("notes", counts.live)
    result.member("trashed", counts.trashed)
    result.key("damage")
    result.beginArray()
    for damage in store?.damage ?? [] {
      result.beginObject()
      result.member("path", damage.path)
      result.member("offset", Int(clamping: damage.offset))
      result.member("description", damage.description)
      result.endObject()
    }
    result.endArray()
    writePeers(&result)
    result.endObject()
  }

  /// The most bytes of changes in one answer, whatever the client's limit: four thirds of it must fit a message.
  private static let largestAnswer = 8 << 20

  func changes(_ params: Parameters, _ result: inout JSONWriter) throws(ResponseError) {
    var since = Version()
    if let name = try params.string("since") {
      if let version = Version(name) {
        since = version
      } else if let revision = Revision(name) {
        since = try recall { book throws(ArchiveFailure) in try book.knownVersion(of: revision) }
      } else {
        throw .invalidParams("since", "must be a revision or a version")
      }
    }
    let limit = min(try params.count("limit") ?? .max, Self.largestAnswer)
    let (changes, version, isMore) = try recall { book throws(ArchiveFailure) in
      try book.changes(since: since, limit: limit)
    }
    let reached = try recall { book throws(ArchiveFailure) in try book.revision(of: version) }
    let identity = store?.identity ?? Identifier(high: 0, low: 0)
    result.beginObject()
    result.member("changes", Base64.encode(changes.encoded(of: identity)))
    result.member("revision", "\(reached)")
    result.member("more", isMore)
    result.endObject()
  }

  mutating func merge(_ params: Parameters, _ result: inout JSONWriter) throws(ResponseError) {
    let text = try params.requiredText("changes")
    guard let bytes = Base64.decode(text) else {
      throw .invalidParams("changes", "must be base64")
    }
    let effects = try merge(
      changes: bytes, adopting: try params.boolean("adopt") ?? false)
    result.beginObject()
    result.member("revision", revision)
    result.member("changed", effects.facets.keys.sorted().map(\.description))
    result.endObject()
  }

  /// Merges an encoded `ChangeSet`, and tells the client.
  ///
  /// - Parameter isAdopting: whether changes of another notebook make that one and this one the same.
  @discardableResult
  mutating func merge(
    changes: [UInt8], adopting isAdopting: Bool = false
  ) throws(ResponseError) -> Effects {
    let effects: Effects
    do { effects = try store?.merge(changes, adopting: isAdopting) ?? Effects() } catch {
      switch error {
      case .undecodable(let failure):
        throw .requestFailed(
          "damagedChanges", "changes: \(failure.reason), at byte \(failure.offset)")
      case .foreign(let notebook):
        throw .requestFailed(
          "foreignNotebook", "changes: they belong to another notebook, \(notebook)")
      case .refused(.missing(let missing)):
        throw .requestFailed(
          "missingChanges",
          "changes: they follow changes that are not here, \(missing.needed.description)")
      case .refused(.invalid(let change, let reason)):
        throw .requestFailed(
          "invalidChanges", "changes: number \(change.number) of \(change.replica) is \(reason)")
      case .refused(.unreadable(let failure)): throw ResponseError(failure)
      case .notKept(let error): throw ResponseError(error)
      }
    }
    live.record(effects, from: nil)
    tell(effects)
    return effects
  }

  /// Tells the client of changes that it did not make.
  mutating func tell(_ effects: Effects) {
    guard !effects.isEmpty else { return }
    let revision = revision
    outboxAfterReply.append { outbox in
      outbox.notify("notebook/didChange") {
        $0.beginObject()
        $0.member("revision", revision)
        $0.key("changed")
        $0.beginArray()
        for (id, facets) in effects.facets.sorted(by: { $0.key < $1.key }) {
          $0.beginObject()
          $0.member("id", "\(id)")
          $0.member("what", facets.names)
          $0.endObject()
        }
        $0.endArray()
        $0.endObject()
      }
    }
  }
}

extension Effects.Facets {
  /// Their names on the wire.
  var names: [String] {
    let all: [(Effects.Facets, String)] = [
      (.created, "created"), (.title, "title"), (.text, "text"), (.tags, "tags"),
      (.priority, "priority"), (.position, "position"), (.trashed, "trashed"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}
