internal import JSONRPC

/// A request that clients can make: one row of the table of methods.
///
/// A class: each request looks its row up, and takes no copy of it.
final class Method: Sendable {
  /// The time at which a request is answered.
  enum Kind: Sendable {
    /// At once, with the result that the action writes.
    case immediate(Action<Parameters>)
    /// When everything that was committed before the request is on disk for good. If it is the last one, only `exit` is accepted
    /// after it.
    case onDisk(
      isLast: Bool, @Sendable (inout NotesServer, Parameters) throws(ResponseError) -> Void)
    /// When the work is done that the closure begins.
    case longRunning(Beginning)
  }

  typealias Action<Values> =
    @Sendable (inout NotesServer, Values, inout JSONWriter) throws(ResponseError) -> Void
  typealias Beginning =
    @Sendable (inout NotesServer, RequestID, Parameters) throws(ResponseError) -> Void

  /// A parameter, with the names of its members if they are checked, too.
  struct Parameter: Sendable {
    let name: String
    let members: [String]

    init(_ name: some ParameterName) { (self.name, members) = (name.rawValue, name.members) }
  }

  let name: String
  let kind: Kind
  let parameters: [Parameter]
  /// True if it changes the notebook. Then a client may send a `requestKey`: a second request with the same key changes nothing.
  let changesNotebook: Bool
  /// True if it may begin a notebook where there is none.
  let mayBeginNotebook: Bool
  /// True if its answer says something of the notebook, or what it does depends on more than the text that the client shows. Then
  /// everything that other processes had answered before the request came is merged first, however long that takes. The others are carried
  /// out between two slices of merging: a client that only types never waits for a merge. Requests are carried out in their order all the
  /// same.
  let needsAll: Bool
  /// True if a parameter that it does not have is an error. Where a filter was mistyped, the answer would have all.
  let refusesUnknown: Bool

  private init(
    name: String, kind: Kind, parameters: [Parameter], changesNotebook: Bool,
    mayBeginNotebook: Bool, needsAll: Bool, refusesUnknown: Bool = false
  ) {
    (self.name, self.kind, self.parameters) = (name, kind, parameters)
    (self.changesNotebook, self.mayBeginNotebook) = (changesNotebook, mayBeginNotebook)
    (self.needsAll, self.refusesUnknown) = (needsAll, refusesUnknown)
  }

  /// The method of this name.
  static func named(_ name: String) -> Method? { byName[name] }

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// The methods that reach other folders, run commands, or remove notes for good. A confined client has none of them.
  static let reachingOutside: Set<String> = [
    "note/purge", "notebook/sync", "notebook/import", "notebook/export", "notebook/mirror",
  ]

  // MARK: - The table

  /// All methods.
  static let all: [Method] = [
    reading("initialize", InitializeParameters.self) {
      server, params, result throws(ResponseError) in try server.initialize(params, &result)
    },
    onDisk("shutdown", isLast: true),

    changing("note/create", CreateNoteParameters.self, mayBeginNotebook: true) {
      server, params, result throws(ResponseError) in try server.createNote(params, &result)
    },
    reading("note/get", GetNoteParameters.self) { server, params, result throws(ResponseError) in
      try server.getNote(params, &result)
    },
    reading("note/history", NoteHistoryParameters.self) {
      server, params, result throws(ResponseError) in try server.noteHistory(params, &result)
    },
    changing("note/update", UpdateNoteParameters.self) {
      server, params, result throws(ResponseError) in try server.updateNote(params, &result)
    },
    changing("note/setText", SetTextParameters.self) {
      server, params, result throws(ResponseError) in try server.setText(params, &result)
    },
    changing("note/append", AppendTextParameters.self) {
      server, params, result throws(ResponseError) in try server.appendText(params, &result)
    },
    changing("note/move", MoveNoteParameters.self) {
      server, params, result throws(ResponseError) in try server.moveNote(params, &result)
    },
    changing("note/delete", NoteParameters.self) {
      server, params, result throws(ResponseError) in try server.deleteNote(params, &result)
    },
    changing("note/restore", NoteParameters.self) {
      server, params, result throws(ResponseError) in try server.restoreNote(params, &result)
    },
    changing("note/restoreVersion", RestoreVersionParameters.self) {
      server, params, result throws(ResponseError) in try server.restoreVersion(params, &result)
    },
    changing("note/purge", NoteParameters.self) {
      server, params, result throws(ResponseError) in try server.purgeNote(params, &result)
    },
    changing("note/rename", RenameNoteParameters.self) {
      server, params, result throws(ResponseError) in try server.renameNote(params, &result)
    },
    changing("note/merge", MergeNoteParameters.self) {
      server, params, result throws(ResponseError) in try server.mergeNote(params, &result)
    },
    reading("note/links", NoteParameters.self) { server, params, result throws(ResponseError) in
      try server.noteLinks(params, &result)
    },
    reading("note/backlinks", BacklinksParameters.self) {
      server, params, result throws(ResponseError) in try server.backlinks(params, &result)
    },

    reading("note/open", OpenNoteParameters.self) { server, params, result throws(ResponseError) in
      try server.openNote(params, &result)
    },
    changing("note/change", ChangeNoteParameters.self, needsAll: false) {
      server, params, result throws(ResponseError) in try server.changeNote(params, &result)
    },
    reading("note/close", AttachmentParameters.self, needsAll: false) {
      server, params, result throws(ResponseError) in try server.closeNote(params, &result)
    },
    changing("note/undo", AttachmentParameters.self) {
      server, params, result throws(ResponseError) in
      try server.reverse(.undo, of: params.attachment, &result)
    },
    changing("note/redo", AttachmentParameters.self) {
      server, params, result throws(ResponseError) in
      try server.reverse(.redo, of: params.attachment, &result)
    },

    reading("notebook/list", ListNotesParameters.self, refusesUnknown: true) {
      server, params, result throws(ResponseError) in try server.listNotes(params, &result)
    },
    reading("notebook/find", FindNotesParameters.self) {
      server, params, result throws(ResponseError) in try server.findNotes(params, &result)
    },
    longRunning("notebook/search", SearchParameters.Name.self, refusesUnknown: true) {
      server, id, params throws(ResponseError) in server.search(id, try SearchParameters(params))
    },
    reading("notebook/resolve", ResolveParameters.self) {
      server, params, result throws(ResponseError) in try server.resolve(params, &result)
    },
    reading("notebook/complete", CompleteParameters.self) {
      server, params, result throws(ResponseError) in try server.complete(params, &result)
    },
    reading("notebook/tags", NoParameters.self) { server, _, result throws(ResponseError) in
      try server.tags(&result)
    },
    longRunning("notebook/log", LogParameters.Name.self) {
      server, id, params throws(ResponseError) in try server.log(id, LogParameters(params))
    },
    reading("notebook/status", NoParameters.self) { server, _, result throws(ResponseError) in
      server.writeStatus(&result)
    },
    reading("notebook/digests", DigestsParameters.self) {
      server, params, result throws(ResponseError) in try server.digests(params, &result)
    },
    reading("notebook/changes", ChangesParameters.self) {
      server, params, result throws(ResponseError) in try server.changes(params, &result)
    },
    reading("notebook/follow", FollowParameters.self, needsAll: false) {
      server, params, result throws(ResponseError) in try server.follow(params, &result)
    },
    changing("notebook/merge", MergeParameters.self, mayBeginNotebook: true) {
      server, params, result throws(ResponseError) in try server.merge(params, &result)
    },
    longRunning("notebook/import", ImportParameters.Name.self, mayBeginNotebook: true) {
      server, id, params throws(ResponseError) in
      try server.importFiles(id, ImportParameters(params))
    },
    longRunning("notebook/export", ExportParameters.Name.self) {
      server, id, params throws(ResponseError) in
      try server.exportFiles(id, ExportParameters(params))
    },
    longRunning("notebook/mirror", NoParameters.Name.self) {
      server, id, _ throws(ResponseError) in try server.waitForMirror(id)
    },
    changing("notebook/batch", BatchParameters.self, mayBeginNotebook: true) {
      server, params, result throws(ResponseError) in try server.batch(params, &result)
    },
    changing("notebook/undo", UndoParticipantParameters.self) {
      server, params, result throws(ResponseError) in try server.undo(params, &result)
    },
    onDisk("notebook/flush", FlushParameters.Name.allCases.map { Parameter($0) }) {
      server, params throws(ResponseError) in try server.endEntry(FlushParameters(params))
    },
    longRunning("notebook/sync", SyncParameters.Name.self, mayBeginNotebook: true) {
      server, id, params throws(ResponseError) in try server.sync(id, SyncParameters(params))
    },
  ]

  private static func reading<Values: MethodParameters>(
    _ name: String, _ parameters: Values.Type, needsAll: Bool = true, refusesUnknown: Bool = false,
    _ perform: @escaping Action<Values>
  ) -> Method {
    Method(
      name: name, kind: immediate(perform), parameters: Values.Name.allCases.map { Parameter($0) },
      changesNotebook: false, mayBeginNotebook: false, needsAll: needsAll,
      refusesUnknown: refusesUnknown)
  }

  private static func changing<Values: MethodParameters>(
    _ name: String, _ parameters: Values.Type, mayBeginNotebook: Bool = false,
    needsAll: Bool = true, _ perform: @escaping Action<Values>
  ) -> Method {
    Method(
      name: name, kind: immediate(perform),
      parameters: Values.Name.allCases.map { Parameter($0) } + [Parameter("requestKey")],
      changesNotebook: true, mayBeginNotebook: mayBeginNotebook, needsAll: needsAll)
  }

  private static func immediate<Values: MethodParameters>(
    _ perform: @escaping Action<Values>
  ) -> Kind {
    .immediate { server, params, result throws(ResponseError) in
      try perform(&server, try Values(params), &result)
    }
  }

  private static func onDisk(
    _ name: String, _ parameters: [Parameter] = [], isLast: Bool = false,
    _ begin: @escaping @Sendable (inout NotesServer, Parameters) throws(ResponseError) -> Void =
      { _, _ in }
  ) -> Method {
    Method(
      name: name, kind: .onDisk(isLast: isLast, begin), parameters: parameters,
      changesNotebook: false, mayBeginNotebook: false, needsAll: false)
  }

  private static func longRunning<Name: ParameterName & CaseIterable>(
    _ name: String, _ parameters: Name.Type, mayBeginNotebook: Bool = false,
    refusesUnknown: Bool = false, _ begin: @escaping Beginning
  ) -> Method {
    Method(
      name: name, kind: .longRunning(begin), parameters: Name.allCases.map { Parameter($0) },
      changesNotebook: false, mayBeginNotebook: mayBeginNotebook, needsAll: true,
      refusesUnknown: refusesUnknown)
  }

  // MARK: - Mistyped parameters

  /// Refuses parameters that the method does not have.
  ///
  /// For a command line: a parameter that a person has mistyped would otherwise be ignored without a message. A program may send parameters that
  /// only a later version understands, but for methods that say otherwise.
  func refuseUnknown(_ params: JSONValue) throws(ResponseError) {
    for (name, value) in params.members {
      guard let parameter = parameters.first(where: { $0.name == name }) else {
        throw unknown(name)
      }
      if parameter.members.isEmpty { continue }
      for (member, _) in value.members where !parameter.members.contains(member) {
        throw unknown("\(name).\(member)")
      }
    }
  }

  private func unknown(_ fullName: String) -> ResponseError {
    let names = parameters.isEmpty ? "none" : parameters.map(\.name).joined(separator: ", ")
    return .invalidParams(fullName, "\(name) has no such parameter; it has \(names)")
  }
}

extension NotesServer {
  /// The names of all methods.
  public static var methods: [String] { Method.all.map(\.name) }
}
