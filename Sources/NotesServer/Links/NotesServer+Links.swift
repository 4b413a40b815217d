internal import JSONRPC
internal import NoteFiles
internal import Notes
internal import ReplicatingTypes

// Where links lead, and where they come from: `note/links`, `note/backlinks`, `notebook/resolve`.

/// The parameters of `note/backlinks`.
struct BacklinksParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case id, limit }

  let id: String
  let limit: Int

  init(_ params: Parameters) throws(ResponseError) {
    id = try params.requiredString(Name.id)
    limit = try params.limit(Name.limit)
  }
}

/// The parameters of `notebook/resolve`.
struct ResolveParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case text }

  let text: String

  init(_ params: Parameters) throws(ResponseError) { text = try params.requiredString(Name.text) }
}

/// A note that has links, and where these are.
struct LinkingNote {
  let id: NoteID
  let path: String
  let utf8: [UInt8]
  /// Those in its text.
  let links: [NoteLink]
  /// Its header, and the links in that.
  let header: [(key: String, value: String)]
  let fieldLinks: [FieldLink]
}

extension NotesServer {
  mutating func noteLinks(
    _ params: NoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params.id)
    let (path, utf8) = (note.path, note.text.utf8)
    let links = NoteLink.all(in: utf8)
    let fieldLinks = FileHeader.links(in: note.header)
    try finishIndexing(
      .names,
      of: Set((links + fieldLinks.map(\.link)).compactMap { LinkName($0.target, at: path)?.key }))
    let places = NoteMatch.positions(of: links.map(\.range), in: utf8, client.encoding)
    var isMore = false
    result.beginObject()
    result.key("links")
    result.beginArray()
    for (link, place) in zip(links, places) {
      isMore = result.bytes.count >= Requests.largestLookup
      if isMore { break }
      result.beginObject()
      result.key("range")
      result.range(place.start, place.end)
      write(link, at: path, &result)
      result.endObject()
    }
    result.endArray()
    result.key("headerLinks")
    result.beginArray()
    for found in fieldLinks {
      isMore = isMore || result.bytes.count >= Requests.largestLookup
      if isMore { break }
      result.beginObject()
      result.member("field", found.key)
      write(found.link, at: path, &result)
      result.endObject()
    }
    result.endArray()
    result.member("more", isMore)
    result.endObject()
  }

  private func write(_ link: NoteLink, at path: String, _ result: inout JSONWriter) {
    result.member("target", link.text(at: path))
    if let heading = link.heading { result.member("heading", heading) }
    result.note(LinkName(link.target, at: path).map { meaning(of: $0) })
  }

  mutating func backlinks(
    _ params: BacklinksParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let target = try note(params.id).id
    var keys: Set<UInt64> = []
    if let content = try content(of: target, withText: false) {
      keys = Set(NoteNames(content).keys + [LinkName("\(target)").key])
      try finishIndexing(.all, of: keys)
    }
    let sources = try summaries(of: linkIndex.notes(linkingTo: keys))
      .sorted { ($1.modified, $1.id) < ($0.modified, $0.id) }
    var (count, isMore) = (0, false)
    result.beginObject()
    result.key("backlinks")
    result.beginArray()
    for source in sources {
      let found = try links(in: source.id) {
        keys.contains($0.key) && meaning(of: $0) == .note(target)
      }
      guard let found else { continue }
      isMore = count == params.limit || result.bytes.count >= Requests.largestLookup
      if isMore { break }
      count += 1
      result.linkingNote(found, source, client.encoding)
    }
    result.endArray()
    result.member("more", isMore)
    result.endObject()
  }

  /// The most notes that `notebook/resolve` names.
  private static let mostCandidates = 1000

  mutating func resolve(
    _ params: ResolveParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    var names = [LinkName(params.text)]
    // With a heading, or other words behind a bar, as it stands in a link.
    if params.text.utf8.count <= 2 * Note.longestTitle,
      let link = NoteLink.all(in: Array("[[\(params.text)]]".utf8)).first,
      let name = LinkName(link.target, at: "")
    {
      names.append(name)
    }
    try finishIndexing(.names, of: Set(names.map(\.key)))
    let meaning = names.map { self.meaning(of: $0) }.first { $0 != .nothing } ?? .nothing
    result.beginObject()
    result.note(meaning)
    result.key("candidates")
    result.beginArray()
    for note in try summaries(of: Array(meaning.notes.prefix(Self.mostCandidates))) {
      result.summary(note)
    }
    result.endArray()
    result.endObject()
  }

  /// The summaries of notes that are here.
  func summaries(of notes: [NoteID]) throws(ResponseError) -> [NoteSummary] {
    try recall { book throws(ArchiveFailure) in
      var summaries: [NoteSummary] = []
      for note in notes {
        if let summary = try book.summary(of: note) { summaries.append(summary) }
      }
      return summaries
    }
  }

  /// The links of a note that are wanted by what they name; nil if there are none.
  func links(
    in note: NoteID, where isWanted: (LinkName) -> Bool
  ) throws(ResponseError) -> LinkingNote? {
    guard let content = try content(of: note, withText: true) else { return nil }
    func isFound(_ link: NoteLink) -> Bool {
      LinkName(link.target, at: content.path).map(isWanted) ?? false
    }
    let links = NoteLink.all(in: content.utf8).filter(isFound)
    let fieldLinks = FileHeader.links(in: content.header).filter { isFound($0.link) }
    if links.isEmpty, fieldLinks.isEmpty { return nil }
    return LinkingNote(
      id: note, path: content.path, utf8: content.utf8, links: links, header: content.header,
      fieldLinks: fieldLinks)
  }
}

extension NoteLink {
  /// What the link names, as `notebook/resolve` takes it: of a path the one from the folder of all notes, if it leads nowhere else.
  fileprivate func text(at path: String) -> String {
    switch target {
    case .name(let name): name
    case .path(let relative): LinkName.path(relative, from: path) ?? relative
    }
  }
}

extension JSONWriter {
  /// The note that is meant, null if that is not known.
  fileprivate mutating func note(_ meaning: LinkIndex.Meaning?) {
    key("id")
    if case .note(let id) = meaning { string("\(id)") } else { null() }
  }

  /// A note with links: where they are, and the line of the first one, or the field of the header that has it.
  mutating func linkingNote(
    _ note: LinkingNote, _ summary: NoteSummary, _ encoding: PositionEncoding
  ) {
    beginObject()
    key("note")
    self.summary(summary)
    key("ranges")
    beginArray()
    let ranges = note.links.prefix(NoteSearch.mostRanges).map(\.range)
    for place in NoteMatch.positions(of: ranges, in: note.utf8, encoding) {
      range(place.start, place.end)
    }
    endArray()
    if !note.fieldLinks.isEmpty {
      key("fields")
      beginArray()
      var last: String?
      for link in note.fieldLinks where link.key != last {
        string(link.key)
        last = link.key
      }
      endArray()
    }
    key("context")
    if let first = ranges.first {
      string(utf8: NoteMatch.snippet(of: note.utf8, at: first.lowerBound))
    } else {
      let link = note.fieldLinks[0]
      let field = note.header.first { $0.key == link.key }!.value
      string(utf8: NoteMatch.snippet(of: Array(field.utf8), at: link.link.range.lowerBound))
    }
    endObject()
  }
}
