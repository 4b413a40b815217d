internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The notebook as a whole: list, status, exchange of changes.

// MARK: - notebook/list

/// The parameters of `notebook/list`.
struct ListNotesParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable {
    case tags, priority, trashed, sort, limit, after
  }

  let tags: [Tag]
  let priority: Priority?
  let isTrashed: Bool
  let order: NoteOrder
  let limit: Int
  /// Where to begin: the place that an answer has named, or behind a note.
  let after: Start?

  enum Start {
    case place(ListingPlace)
    case note(String)
  }

  init(_ params: Parameters) throws(ResponseError) {
    tags = try params.strings(Name.tags)?.map(Tag.init) ?? []
    priority = try params.priority(Name.priority)
    isTrashed = try params.boolean(Name.trashed) ?? false
    let sort = try params.word(Name.sort, NoteOrder.allCases.map { ($0.rawValue, $0) })
    limit = try params.limit(Name.limit)
    let text = try params.string(Name.after)
    let place = text.flatMap { ListingPlace($0) }
    after = place.map { .place($0) } ?? text.map { .note($0) }
    order = sort ?? place?.order ?? .order
    if let place, place.order != order {
      throw .invalidParams("after", "is of a list sorted by \(place.order.rawValue)")
    }
  }

  func isWanted(_ note: NoteSummary) -> Bool {
    note.isTrashed == isTrashed && priority.map { $0 == note.priority } ?? true
      && tags.allSatisfy { note.tags.hasTag(of: $0) }
  }
}

extension NotesServer {
  func listNotes(
    _ params: ListNotesParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let place = try place(params)
    if place != nil { _ = try orderedBook() }
    let page = try recallReadable { book throws(ArchiveFailure) in
      try book.listing(
        in: params.order, from: place, atMost: params.limit, tagged: params.tags,
        where: params.isWanted)
    }
    guard let page else {
      throw .requestFailed("unknownRevision", "after: no state of this notebook has this name")
    }
    result.beginObject()
    result.key("notes")
    result.beginArray()
    for note in page.notes { result.summary(note) }
    result.endArray()
    result.member("revision", revision)
    if let next = page.next { result.member("next", "\(next)") }
    result.endObject()
  }

  private func place(_ params: ListNotesParameters) throws(ResponseError) -> ListingPlace? {
    switch params.after {
    case nil: return nil
    case .place(let place)?: return place
    case .note(let text)?:
      let id = try noteForReading(text, "after").note.id
      return try recallReadable { book throws(ArchiveFailure) in
        try book.listingPlace(behind: id, in: params.order)
      }
    }
  }
}

// MARK: - notebook/status

extension NotesServer {
  func writeStatus(_ result: inout JSONWriter) {
    let book = book
    let counts = store?.readableNotebook.counts ?? book.counts
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
      result.member("cause", damage.cause.rawValue)
      result.endObject()
    }
    result.endArray()
    result.member("complete", store?.gaps.isEmpty ?? true)
    if let refusal = store?.writeRefusal { result.member("unwritable", "\(refusal)") }
    result.member("branches", book.version.branches.map(\.description))
    peers.states.write(&result, knowing: book.version)
    result.endObject()
  }
}

// MARK: - notebook/changes, notebook/merge

/// The parameters of `notebook/changes`.
struct ChangesParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case since, limit, offset, digest, without }

  enum Start {
    case version(Version)
    case revision(Revision)

    init(_ name: String, _ parameter: some ParameterName) throws(ResponseError) {
      if let version = Version(name) {
        self = .version(version)
      } else if let revision = Revision(name) {
        self = .revision(revision)
      } else {
        throw .invalidParams(parameter.rawValue, "must be a revision or a version")
      }
    }
  }

  /// The most bytes of changes in one answer, whatever the client's limit: a message must hold them in base64.
  private static let largestAnswer = 8 << 20

  let since: Start
  let limit: Int
  /// The byte of the set from which on a part of it is asked for; nil for all of it in one answer, however long that is.
  let offset: Int?
  /// The digest of what is both in `since`, a version, and known here; nil where that isn't compared.
  let digest: UInt64?
  /// Forks by which changes are contested, from this side.
  let forks: [Fork]

  init(_ params: Parameters) throws(ResponseError) {
    since =
      try params.string(Name.since).map { name throws(ResponseError) in
        try Start(name, Name.since)
      } ?? .version(Version())
    limit = min(try params.count(Name.limit) ?? .max, Self.largestAnswer)
    offset = try params.count(Name.offset)
    digest = try params.digest(Name.digest)
    forks = try params.forks(Name.without)
  }
}

/// The parameters of `notebook/digests`.
struct DigestsParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case versions }

  let versions: [Version]

  init(_ params: Parameters) throws(ResponseError) {
    versions = try (params.strings(Name.versions) ?? []).map { name throws(ResponseError) in
      guard let version = Version(name) else {
        throw .invalidParams("versions", "must be an array of versions")
      }
      return version
    }
  }
}

extension NotesServer {
  func changes(
    _ params: ChangesParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let since = try version(of: params.since)
    if let digest = params.digest {
      let here = try self.digest(of: since.intersection(book.version))
      guard here == digest else {
        throw .requestFailed(
          "divergedSession", "digest: other changes are known here under the same names")
      }
    }
    let (changes, version, isMore) = try recall { book throws(ArchiveFailure) in
      params.forks.isEmpty
        ? try book.changes(since: since, limit: params.limit)
        : try SharedPart(of: book, params.forks)
          .changes(of: book, since: since, limit: params.limit)
    }
    let reached = try recall { book throws(ArchiveFailure) in try book.revision(of: version) }
    let identity = store?.identity ?? Identifier(high: 0, low: 0)
    var bytes = changes.encoded(of: identity)
    let size = bytes.count
    if let offset = params.offset {
      guard offset < size else { throw .invalidParams("offset", "is not less than \(size)") }
      bytes = Array(bytes[offset..<min(size, offset + IncomingChanges.partSize)])
    }
    result.beginObject()
    result.member("changes", Base64.encode(bytes))
    if bytes.count < size { result.member("size", size) }
    result.member("revision", "\(reached)")
    result.member("more", isMore)
    result.endObject()
  }

  /// The version that a client names. Of a revision it has only the changes that are known here.
  func version(of start: ChangesParameters.Start) throws(ResponseError) -> Version {
    switch start {
    case .version(let version): version
    case .revision(let revision):
      try recall { book throws(ArchiveFailure) in try book.knownVersion(of: revision) }
    }
  }

  func digests(
    _ params: DigestsParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    guard params.versions.allSatisfy(book.version.isSuperset) else {
      throw .invalidParams("versions", "has changes that are not known here")
    }
    let digests = try digests(of: params.versions)
    result.beginObject()
    result.member("digests", digests.map(Digest.text))
    result.endObject()
  }

  mutating func merge(
    _ params: MergeParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    var effects = Effects()
    if let changes = try incomingChanges.append(params.changes, params.part) {
      let merged = try merge(changes: changes, adopting: params.isAdopting)
      client.follower?.listener.learn(merged.version)
      effects = merged.effects
    }
    result.beginObject()
    result.member("revision", revision)
    result.member("changed", effects.facets.keys.sorted().map(\.description))
    result.endObject()
  }
}
