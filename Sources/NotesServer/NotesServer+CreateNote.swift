internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `note/create`, and the values that several methods take: titles, tags, priorities, places in the list.

/// A place in the list of notes, as a client gives it.
enum ListPlace {
  case index(Int)
  case before(note: String)
  case after(note: String)

  /// Reads `index`, `before` or `after`; nil if none of them is given.
  init?<Name: ParameterName>(
    _ params: Parameters, index: Name, before: Name, after: Name
  ) throws(ResponseError) {
    let given = [index, before, after].filter { params[$0] != nil }
    guard given.count <= 1 else {
      throw .invalidParams(
        given[1].rawValue, "only one of index, before and after can be given")
    }
    if let index = try params.count(index) {
      self = .index(index)
    } else if let note = try params.string(before) {
      self = .before(note: note)
    } else if let note = try params.string(after) {
      self = .after(note: note)
    } else {
      return nil
    }
  }
}

extension Parameters {
  func title(_ name: some ParameterName) throws(ResponseError) -> String? {
    guard let title = try string(name) else { return nil }
    guard Note.isTitle(title) else {
      throw .invalidParams(name.rawValue, "must not contain line breaks or U+0000")
    }
    guard title.utf8.count <= Note.longestTitle else {
      throw .invalidParams(name.rawValue, "must have at most \(Note.longestTitle) bytes")
    }
    return title
  }

  func priority(_ name: some ParameterName) throws(ResponseError) -> Priority? {
    try word(name, Priority.allCases.map { ($0.name, $0) })
  }

  /// Tags that a note gets, without blanks at their ends; or, as given, those that it loses: what comes from a file may have blanks.
  func tags(
    _ name: some ParameterName, asGiven isAsGiven: Bool = false
  ) throws(ResponseError) -> Set<Tag>? {
    guard let value = self[name] else { return nil }
    let fullName = path + name.rawValue
    guard let array = value.array else {
      throw .invalidParams(fullName, "must be an array of strings")
    }
    var tags: Set<Tag> = []
    for element in array {
      guard let tag = element.string.map({ isAsGiven ? $0 : String($0.trimmingBlanks) }) else {
        throw .invalidParams(fullName, "must be an array of strings")
      }
      guard Note.isTag(tag) else {
        throw .invalidParams(fullName, "a tag has 1 to 200 bytes and no line breaks or U+0000")
      }
      tags.insert(Tag(tag))
    }
    return tags
  }
}

/// The parameters of `note/create`.
struct CreateNoteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable {
    case title, text, tags, priority, index, before, after, titleAsIdentity
  }

  let title: String
  let text: [UInt8]
  let tags: Set<Tag>
  let priority: Priority
  let place: ListPlace?
  let isNamedByTitle: Bool

  init(_ params: Parameters) throws(ResponseError) {
    place = try ListPlace(params, index: Name.index, before: .before, after: .after)
    title = try params.title(Name.title) ?? ""
    priority = try params.priority(Name.priority) ?? .normal
    tags = try params.tags(Name.tags) ?? []
    text = try params.text(Name.text) ?? []
    isNamedByTitle = try params.boolean(Name.titleAsIdentity) ?? false
    if isNamedByTitle, title.isEmpty {
      throw .invalidParams(Name.titleAsIdentity.rawValue, "needs a title")
    }
  }
}

extension NotesServer {
  mutating func createNote(
    _ params: CreateNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    if params.isNamedByTitle, let id = try createNoteNamedByTitle(params) {
      return try writeNoteAndRevision(id, &result)
    }
    let session = try nextSession()
    let id = NoteID(creation: book.next(by: session))
    try commit(try creation(of: id, params), as: session)
    if !params.text.isEmpty { store!.endEntry(of: id) }
    try writeNoteAndRevision(id, &result)
  }

  /// Creates a note that replicas which have not met create alike: its name is made of its title. Nil if the notebook knows a note of this name.
  private mutating func createNoteNamedByTitle(
    _ params: CreateNoteParameters
  ) throws(ResponseError) -> NoteID? {
    let name = CreateNoteParameters.Name.titleAsIdentity.rawValue
    if requests.batch != nil { throw .invalidParams(name, "can't be one of a batch") }
    if requests.mark != nil { throw .invalidParams(name, "can't be given with a requestKey") }
    var created = [
      ContentAddressedChange { creation(of: NoteID(creation: $0), title: params.title) }
    ]
    let id = NoteID(creation: created[0].id)
    // Replicas that begin it with different texts have both texts in one note.
    let contents = contents(
      of: id, title: "", params.priority, tags: params.tags, text: params.text, at: 0)
    if !contents.isEmpty {
      created.append(ContentAddressedChange(following: created[0].id) { _ in contents })
    }
    let isMade = try commit(created) { server throws(ResponseError) in
      [.place(try server.placement(ofNew: id, at: params.place)), .edit(id, .created(server.now))]
    }
    return isMade ? id : nil
  }

  /// The time as a value can be set at: milliseconds since 1970.
  var now: Int64 { min(max(environment.now(), 0), ReplicatingRegister<String>.latestTime) }

  /// The operations that create a note with a title, anywhere in the list, the same ones on every replica.
  private func creation(of id: NoteID, title: String) -> [Change.Operation] {
    [.create, .place(.init(id.creation, after: nil, before: nil))]
      + contents(of: id, title: title, .normal, tags: [], text: [], at: 0)
  }

  private func creation(
    of id: NoteID, _ params: CreateNoteParameters
  ) throws(ResponseError) -> [Change.Operation] {
    [.create, .place(try placement(ofNew: id, at: params.place))]
      + contents(
        of: id, title: params.title, params.priority, tags: params.tags, text: params.text)
  }

  private func placement(
    ofNew id: NoteID, at place: ListPlace?
  ) throws(ResponseError) -> NoteBook.Placement {
    guard let place else { return book.placementInFront(of: id) }
    return try placement(of: id, at: place)
  }

  /// The operations that create a note with this text behind another one, with the tags and the priority of that one. Its title says
  /// that it is a conflict copy, and of what.
  func creation(
    of id: NoteID, with text: [UInt8], likeThatOf note: Note
  ) throws(ResponseError) -> [Change.Operation] {
    let placement = try orderedBook().placement(of: id, beside: note.id, isAfter: true)
    return [.create, .place(placement)]
      + contents(
        of: id, title: titleOfCopy(of: note.title.value), note.priority.value,
        tags: note.tags.values, text: text)
  }

  private func titleOfCopy(of title: String) -> String {
    let mark = "(conflict copy)"
    if title.isEmpty { return mark }
    var beginning = title.utf8.prefix(Note.longestTitle - mark.utf8.count - 1)
    // It may end inside a code point.
    while String(beginning) == nil { beginning.removeLast() }
    return "\(Substring(beginning)) \(mark)"
  }

  /// The operations that fill a new note.
  ///
  /// - Parameter time: when its values are set, in milliseconds since 1970; nil for now.
  func contents(
    of id: NoteID, title: String, _ priority: Priority, tags: Set<Tag>, text: [UInt8],
    at time: Int64? = nil
  ) -> [Change.Operation] {
    let now = time ?? self.now
    var operations: [Change.Operation] = []
    if !title.isEmpty {
      operations.append(.edit(id, .title(.init(value: title, time: now))))
    }
    if priority != .normal {
      operations.append(.edit(id, .priority(.init(value: priority, time: now))))
    }
    operations += tags.distinct.map { .edit(id, .tags(.insert($0))) }
    if !text.isEmpty { operations.append(.edit(id, .text(.insert(text, after: nil, before: nil)))) }
    return operations
  }

  /// The placement of a note at a place that a client has given.
  func placement(
    of id: NoteID, at place: ListPlace
  ) throws(ResponseError) -> NoteBook.Placement {
    let book = try orderedBook()
    let (text, name): (String, String)
    switch place {
    case .index(let index):
      let count = book.counts.live - (book.isLive(id) ? 1 : 0)
      guard index <= count else {
        throw .invalidParams("index", "must be 0 to \(count), the place in the list afterwards")
      }
      return book.placement(of: id, at: index)
    case .before(let note): (text, name) = (note, "before")
    case .after(let note): (text, name) = (note, "after")
    }
    let neighbour = try note(text, name).id
    guard neighbour != id else { throw .invalidParams(name, "names the note itself") }
    return book.placement(of: id, beside: neighbour, isAfter: name == "after")
  }

  /// The result of a method that creates or changes a note.
  func writeNoteAndRevision(
    _ id: NoteID, _ result: inout JSONWriter
  ) throws(ResponseError) {
    result.beginObject()
    result.key("note")
    result.summary(try read(id) { NoteSummary($0) })
    result.member("revision", revision)
    result.endObject()
  }
}
