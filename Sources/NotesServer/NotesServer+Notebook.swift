internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The notebook as a whole: list, status, exchange of changes.

// MARK: - notebook/list

/// The parameters of `notebook/list`.
struct ListNotesParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case tags, priority, trashed, limit, after }

  let tags: [Tag]
  let priority: Priority?
  let isTrashed: Bool
  let limit: Int
  /// The note after which to begin.
  let after: String?

  init(_ params: Parameters) throws(ResponseError) {
    tags = try params.strings(Name.tags)?.map(Tag.init) ?? []
    priority = try params.priority(Name.priority)
    isTrashed = try params.boolean(Name.trashed) ?? false
    limit = try params.limit(Name.limit)
    after = try params.string(Name.after)
  }
}

extension NotesServer {
  func listNotes(
    _ params: ListNotesParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let last = try params.after.map { id throws(ResponseError) in try note(id, "after").id }
    var listed: [NoteSummary] = []
    var next: NoteID?
    try recall { book throws(ArchiveFailure) in
      (listed, next) = ([], nil)
      try book.forEachSummary(after: last) { note in
        guard note.isTrashed == params.isTrashed,
          params.priority.map({ $0 == note.priority }) ?? true,
          params.tags.allSatisfy({ note.tags.hasEquivalent(of: $0) })
        else { return true }
        if listed.count == params.limit {
          next = listed.last?.id
          return false
        }
        listed.append(note)
        return true
      }
    }
    result.beginObject()
    result.key("notes")
    result.beginArray()
    for note in listed { result.summary(note) }
    result.endArray()
    result.member("revision", revision)
    if let next { result.member("next", "\(next)") }
    result.endObject()
  }
}

// MARK: - notebook/status

extension NotesServer {
  func writeStatus(_ result: inout JSONWriter) {
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
}

// MARK: - notebook/changes, notebook/merge

/// The parameters of `notebook/changes`.
struct ChangesParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case since, limit }

  enum Start {
    case version(Version)
    case revision(Revision)
  }

  /// The most bytes of changes in one answer, whatever the client's limit: a message must hold them in base64.
  private static let largestAnswer = 8 << 20

  let since: Start
  let limit: Int

  init(_ params: Parameters) throws(ResponseError) {
    if let name = try params.string(Name.since) {
      if let version = Version(name) {
        since = .version(version)
      } else if let revision = Revision(name) {
        since = .revision(revision)
      } else {
        throw .invalidParams("since", "must be a revision or a version")
      }
    } else {
      since = .version(Version())
    }
    limit = min(try params.count(Name.limit) ?? .max, Self.largestAnswer)
  }
}

/// The parameters of `notebook/merge`.
struct MergeParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case changes, adopt }

  let changes: [UInt8]
  let isAdopting: Bool

  init(_ params: Parameters) throws(ResponseError) {
    guard let changes = Base64.decode(try params.requiredText(Name.changes)) else {
      throw .invalidParams("changes", "must be base64")
    }
    self.changes = changes
    isAdopting = try params.boolean(Name.adopt) ?? false
  }
}

extension NotesServer {
  func changes(
    _ params: ChangesParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let since =
      switch params.since {
      case .version(let version): version
      case .revision(let revision):
        try recall { book throws(ArchiveFailure) in try book.knownVersion(of: revision) }
      }
    let (changes, version, isMore) = try recall { book throws(ArchiveFailure) in
      try book.changes(since: since, limit: params.limit)
    }
    let reached = try recall { book throws(ArchiveFailure) in try book.revision(of: version) }
    let identity = store?.identity ?? Identifier(high: 0, low: 0)
    result.beginObject()
    result.member("changes", Base64.encode(changes.encoded(of: identity)))
    result.member("revision", "\(reached)")
    result.member("more", isMore)
    result.endObject()
  }

  mutating func merge(
    _ params: MergeParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let effects = try merge(changes: params.changes, adopting: params.isAdopting)
    result.beginObject()
    result.member("revision", revision)
    result.member("changed", effects.facets.keys.sorted().map(\.description))
    result.endObject()
  }
}
