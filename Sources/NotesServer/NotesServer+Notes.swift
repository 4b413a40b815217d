internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// One note at a time: create, read, change, move, delete, restore.

extension NotesServer {
  // MARK: - What the methods share

  /// The note that a parameter names.
  func note(_ params: Parameters, _ name: String = "id") throws(ResponseError) -> Note {
    let text = try params.requiredString(name)
    let note: Note?
    do { note = try NoteID(text).flatMap { id throws(StoreError) in try store?.note(id) } } catch {
      throw ResponseError(error)
    }
    guard let note else {
      throw .requestFailed(
        "noSuchNote", "\(params.path)\(name): there is no note \(text.prefix(80))")
    }
    return note
  }

  /// A copy of the notebook, to be read and let go of. Whoever holds one while a change is made pays for copying what the
  /// change touches: so operations are planned in functions of their own, which have returned by then.
  var book: NoteBook { store?.notebook ?? NoteBook() }

  /// Looks at a note that is here.
  func read<Result>(
    _ id: NoteID, _ body: (borrowing Note) -> Result
  ) throws(ResponseError) -> Result {
    do { return try store!.read(id, body) } catch { throw ResponseError(error) }
  }

  /// The notebook, with the notes' order at hand.
  func orderedBook() throws(ResponseError) -> NoteBook {
    do { try store?.openOrder() } catch { throw ResponseError(error) }
    return book
  }

  /// Looks something up in the notebook's past.
  func recall<Result>(
    _ body: (borrowing NoteBook) throws(ArchiveFailure) -> Result
  ) throws(ResponseError) -> Result {
    do { return try body(book) } catch { throw ResponseError(error) }
  }

  /// Makes one change of these operations; none, if there are none. What it did is told to whoever looks at the notes.
  @discardableResult
  mutating func commit(
    _ operations: [Change.Operation], as session: ReplicaID? = nil,
    from source: Int? = nil,
    announce: (ChangeID) throws(StoreError) -> Void = { _ in }
  ) throws(ResponseError) -> Effects {
    guard !operations.isEmpty else { return Effects() }
    do {
      let effects = try store!.commit(
        operations, as: session, at: environment.now(), announce: announce)
      live.record(effects, from: source)
      return effects
    } catch {
      throw ResponseError(error)
    }
  }

  func writeNoteAndRevision(
    _ id: NoteID, _ result: inout JSONWriter
  ) throws(ResponseError) {
    result.beginObject()
    result.key("note")
    result.summary(try read(id) { NoteSummary($0) })
    result.member("revision", revision)
    result.endObject()
  }

  private func writeRevision(_ result: inout JSONWriter) {
    result.beginObject()
    result.member("revision", revision)
    result.endObject()
  }

  private func title(_ params: Parameters) throws(ResponseError) -> String? {
    guard let title = try params.string("title") else { return nil }
    guard Note.isTitle(title) else {
      throw .invalidParams("title", "must not contain line breaks or U+0000")
    }
    return title
  }

  private func priority(_ params: Parameters) throws(ResponseError) -> Priority? {
    try params.word("priority", Priority.allCases.map { ($0.name, $0) })
  }

  private func tags(_ value: JSONValue, _ name: String) throws(ResponseError) -> Set<Tag> {
    guard let array = value.array else { throw .invalidParams(name, "must be an array of strings") }
    var tags: Set<Tag> = []
    for element in array {
      guard let tag = element.string else {
        throw .invalidParams(name, "must be an array of strings")
      }
      guard Note.isTag(tag) else {
        throw .invalidParams(name, "a tag has 1 to 200 bytes and no line breaks or U+0000")
      }
      tags.insert(Tag(tag))
    }
    return tags
  }

  /// Where `index`, `before` or `after` say that a note shall be; `nil` if none of them is given.
  private func placement(
    of id: NoteID, _ params: Parameters
  ) throws(ResponseError) -> NoteBook.Placement? {
    let given = ["index", "before", "after"].filter { params[$0] != nil }
    guard given.count <= 1 else {
      throw .invalidParams(given[1], "only one of index, before and after can be given")
    }
    let book = try orderedBook()
    if let index = try params.count("index") {
      let live = book.counts.live - (book.isLive(id) ? 1 : 0)
      guard index <= live else {
        throw .invalidParams("index", "must be 0 to \(live), the place in the list afterwards")
      }
      return book.placement(of: id, at: index)
    }
    guard let name = given.first else { return nil }
    let neighbour = try note(params, name).id
    guard neighbour != id else { throw .invalidParams(name, "names the note itself") }
    return book.placement(of: id, beside: neighbour, isAfter: name == "after")
  }

  // MARK: - note/create, note/get, note/history, note/update

  mutating func createNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let session: ReplicaID
    do { session = try store!.nextSession() } catch { throw ResponseError(error) }
    let id = NoteID(creation: book.next(by: session))
    try commit(try creation(of: id, params), as: session)
    try writeNoteAndRevision(id, &result)
  }

  private func creation(
    of id: NoteID, _ params: Parameters
  ) throws(ResponseError) -> [Change.Operation] {
    let now = clamped(environment.now())
    var placement = try placement(of: id, params)
    if placement == nil { placement = try orderedBook().placement(of: id, at: 0) }
    var operations: [Change.Operation] = [.create, .place(placement!)]
    if let title = try title(params), !title.isEmpty {
      operations.append(.edit(id, .title(.init(value: title, time: now))))
    }
    if let priority = try priority(params), priority != .normal {
      operations.append(.edit(id, .priority(.init(value: priority, time: now))))
    }
    if let wanted = params["tags"] {
      for tag in try tags(wanted, "tags").sorted() {
        operations.append(.edit(id, .tags(.insert(tag))))
      }
    }
    if let text = try params.text("text"), !text.isEmpty {
      operations.append(.edit(id, .text(.insert(text, after: nil, before: nil))))
    }
    return operations
  }

  /// A note with this text, that follows another one and has its title, tags and priority.
  func creation(
    of id: NoteID, with text: [UInt8], likeThatOf note: Note
  ) throws(ResponseError) -> [Change.Operation] {
    let now = clamped(environment.now())
    let placement = try orderedBook().placement(of: id, beside: note.id, isAfter: true)
    var operations: [Change.Operation] = [
      .create, .place(placement),
      .edit(id, .title(.init(value: note.title.value, time: now))),
    ]
    if note.priority.value != .normal {
      operations.append(.edit(id, .priority(.init(value: note.priority.value, time: now))))
    }
    operations += note.tags.elements.sorted().map { .edit(id, .tags(.insert($0))) }
    if !text.isEmpty { operations.append(.edit(id, .text(.insert(text, after: nil, before: nil)))) }
    return operations
  }

  private func clamped(_ now: Int64) -> Int64 {
    min(max(now, 0), ReplicatingRegister<String>.latestTime)
  }

  func getNote(_ params: Parameters, _ result: inout JSONWriter) throws(ResponseError) {
    let present = try note(params)
    var state = (note: present, utf8: [UInt8]())
    var name = revision
    if let wanted = try params.string("revision"), wanted != name {
      guard
        let version = try recall({ book throws(ArchiveFailure) in
          try book.version(ofRevision: wanted)
        })
      else {
        throw .requestFailed("unknownRevision", "revision: no state of this notebook has this name")
      }
      guard
        let past = try recall({ book throws(ArchiveFailure) in
          try book.note(present.id, at: version)
        })
      else {
        throw .requestFailed("noSuchNote", "id: the note did not exist at that revision")
      }
      state = past
      name = wanted
    } else {
      state.utf8 = present.text.utf8
    }
    result.beginObject()
    result.key("note")
    result.summary(NoteSummary(state.note, length: state.utf8.count))
    result.member("text", utf8: state.utf8)
    result.member("revision", name)
    result.endObject()
  }

  func noteHistory(_ params: Parameters, _ result: inout JSONWriter) throws(ResponseError) {
    let id = try note(params).id
    let limit = try limit(params)
    let entries = try recall { book throws(ArchiveFailure) in
      try book.history(of: id, limit: limit)
    }
    result.beginObject()
    result.key("entries")
    result.beginArray()
    for entry in entries {
      result.beginObject()
      result.member("revision", "\(entry.revision)")
      result.member("time", iso8601(entry.time))
      result.member("replica", "\(entry.replica)")
      result.member("inserted", entry.inserted)
      result.member("deleted", entry.deleted)
      result.endObject()
    }
    result.endArray()
    result.endObject()
  }

  /// How many of something are wanted at most.
  func limit(_ params: Parameters) throws(ResponseError) -> Int {
    let limit = try params.count("limit") ?? .max
    guard limit > 0 else { throw .invalidParams("limit", "must be at least 1") }
    return limit
  }

  mutating func updateNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params)
    let now = environment.now()
    var edits: [Note.Operation] = []
    if let title = try title(params), !title.utf8.elementsEqual(note.title.value.utf8) {
      edits.append(.title(note.title.assignment(of: title, at: now)))
    }
    if let priority = try priority(params), priority != note.priority.value {
      edits.append(.priority(note.priority.assignment(of: priority, at: now)))
    }
    if let wanted = params["tags"] {
      if wanted.kind == .object {
        let change = try params.object("tags")!
        let added = try change["add"].map { value throws(ResponseError) in
          try tags(value, "tags.add")
        }
        let removed = try change["remove"].map { value throws(ResponseError) in
          try tags(value, "tags.remove")
        }
        let kept = note.tags.elements.subtracting(removed ?? []).union(added ?? [])
        edits += note.operations(settingTags: kept)
      } else {
        edits += note.operations(settingTags: try tags(wanted, "tags"))
      }
    }
    try commit(edits.map { .edit(note.id, $0) })
    try writeNoteAndRevision(note.id, &result)
  }

  // MARK: - note/setText, note/append

  mutating func setText(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let id = try note(params).id
    try commit(try settingText(params).map { .edit(id, .text($0)) })
    result.beginObject()
    result.member("text", utf8: try read(id) { $0.text.utf8 })
    result.member("revision", revision)
    result.endObject()
  }

  /// What leads from the text that the client had, at `base`, to the one it sends.
  private func settingText(
    _ params: Parameters
  ) throws(ResponseError) -> [ReplicatingText.Operation] {
    let note = try note(params)
    let new = try params.requiredText("text")
    var view: SequenceView?
    if let base = try params.string("base"), base != revision {
      let version = try recall { book throws(ArchiveFailure) in
        try book.version(ofRevision: base)
      }
      guard let version, version.contains(note.id.creation) else {
        throw .requestFailed("unknownBase", "base: no state of this note has this name")
      }
      view = note.text.view(at: version)
    }
    let old = view.map { note.text.utf8(in: $0) } ?? note.text.utf8
    return note.text.operations(for: textDifference(from: old, to: new), in: view)
  }

  mutating func appendText(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let id = try note(params).id
    try commit(try appending(params).map { .edit(id, .text($0)) })
    writeRevision(&result)
  }

  private func appending(_ params: Parameters) throws(ResponseError) -> [ReplicatingText.Operation]
  {
    let text = try note(params).text
    let new = try params.requiredText("text")
    if new.isEmpty { return [] }
    return text.operations(for: [Edit(range: text.count..<text.count, replacement: new)])
  }

  // MARK: - note/move, note/delete, note/restore

  mutating func moveNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params)
    guard let placement = try placement(of: note.id, params) else {
      throw .invalidParams("index", "one of index, before and after must be given")
    }
    if !book.isPlaced(placement) { try commit([.place(placement)]) }
    writeRevision(&result)
  }

  mutating func deleteNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params)
    if !note.isTrashed { try commit([.edit(note.id, note.deletion)]) }
    writeRevision(&result)
  }

  mutating func restoreNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let note = try note(params)
    if note.isTrashed { try commit([.edit(note.id, .restore)]) }
    writeRevision(&result)
  }
}
