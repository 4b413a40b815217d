internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `initialize`: opens the notebook, and agrees with the client on the units in which positions count.

/// The parameters of `initialize`.
struct InitializeParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable {
    case processId, clientInfo, participant, capabilities, initializationOptions, trace
  }

  let process: Int?
  /// The name of the client, and that of its user; empty where there is none.
  let program: String
  let participant: String
  /// The first of the client's encodings that is known here; UTF-16 when it names none.
  let encoding: PositionEncoding
  let isTracing: Bool
  let notebook: String?
  /// True if the client wants to know the digest of the notebook's revision.
  let wantsDigest: Bool

  init(_ params: Parameters) throws(ResponseError) {
    process = try params[Name.processId].map { process throws(ResponseError) in
      guard let number = process.integer, number > 0, number <= Int(Int32.max) else {
        throw .invalidParams("processId", "must be the number of a process, or null")
      }
      return number
    }
    let offers = try params.object(Name.capabilities)?.object("general")?
      .strings("positionEncodings")
    wantsDigest =
      try params.object(Name.capabilities)?.object("notebook")?.boolean("digest") ?? false
    encoding = offers?.lazy.compactMap(PositionEncoding.init).first ?? .utf16
    let info = try params.object(Name.clientInfo)
    program = try info?.string("name") ?? ""
    _ = try info?.string("version")
    participant = try params.object(Name.participant)?.string("name") ?? ""
    let traces = [("off", false), ("messages", true), ("verbose", true)]
    isTracing = try params.word(Name.trace, traces) ?? false
    notebook = try params.object(Name.initializationOptions)?.string("notebook")
  }
}

extension NotesServer {
  mutating func initialize(
    _ params: InitializeParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let path = expandingHome(params.notebook ?? environment.folder)
    if environment.isConfined, path != expandingHome(environment.folder) {
      throw .confined(
        "initializationOptions.notebook: another folder than that of the command line")
    }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .invalidParams("initializationOptions.notebook", "must be the path of a folder")
    }
    // A client in a container or behind ssh names a process of another system, and nothing tells here when that is gone.
    client.parentProcess = params.process.flatMap { environment.isRunning($0) ? $0 : nil }
    client.isExchange = params.wantsDigest
    client.participant = author(named: params.participant, with: params.program)
    client.encoding = params.encoding
    client.isTracing = params.isTracing
    do {
      store = try NoteStore(
        path: path, state: environment.stateFolder, memory: environment.memoryFolder,
        isWatching: !environment.isSingleRequest, keys: .links,
        makeIdentifier: environment.makeIdentifier)
    } catch {
      throw ResponseError(opening: error)
    }
    schedule.isOpening = true
    client.phase = .ready
    // Another process may have written between the reading of two files. A process for a single request reads the folder a second time before it
    // reports a missing change.
    if environment.isSingleRequest, store?.waiting != nil { readFolder() }
    reportDamage(afterFullLook: true)
    try writeInitializeResult(&result, withDigest: params.wantsDigest)
    if client.isTracing {
      logMessage(
        .log,
        "opened \(store?.path ?? ""): \(book.counts.live) notes, \(book.version.count) replicas")
    }
  }

  /// The author of the changes of this process. A name that the client has not given, or of which nothing is left, is that of the
  /// environment.
  private func author(named name: String, with program: String) -> Author? {
    let names = [name, environment.participant]
    let programs = [program, environment.program]
    return names.lazy.flatMap { name in
      programs.lazy.compactMap { Author(name: name, program: $0) }
    }.first
  }

  /// A path of the client, in which "~" stands for its user's folder.
  func expandingHome(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = environment.homeFolder else {
      return path
    }
    return home + path.dropFirst()
  }

  private func writeInitializeResult(
    _ result: inout JSONWriter, withDigest: Bool
  ) throws(ResponseError) {
    let digest =
      withDigest
      ? try digest(of: book.version) : nil
    result.beginObject()
    result.member("protocolVersion", "1.0")
    result.key("serverInfo")
    result.beginObject()
    result.member("name", "decent-notes")
    result.member("version", Self.programVersion)
    result.endObject()
    result.key("capabilities")
    result.beginObject()
    result.member("positionEncoding", client.encoding.rawValue)
    result.key("note")
    result.beginObject()
    result.member("change", ["text", "lines", "ranges"])
    result.member("push", ["lines", "ranges", "rangesOrLines", "text"])
    result.member("check", ["sha256", "length", "none"])
    for name in ["resume", "undo", "presence", "history", "restoreVersion"] {
      result.member(name, true)
    }
    result.endObject()
    result.key("notebook")
    result.beginObject()
    result.member("search", true)
    result.member("links", true)
    result.member("log", true)
    result.member("batch", true)
    result.member("undo", true)
    result.member("follow", true)
    result.member("sync", !environment.isConfined)
    result.member("files", !environment.isConfined)
    result.endObject()
    result.endObject()
    result.key("notebook")
    result.beginObject()
    result.key("id")
    if let identity = store?.identity { result.string("\(identity)") } else { result.null() }
    result.member("path", environment.commandLines.absolute(store?.path ?? environment.folder))
    result.member("revision", revision)
    if let digest { result.member("digest", Digest.text(digest)) }
    result.endObject()
    result.member("suggestedTags", ["home", "work", "travel", "leisure"])
    result.endObject()
  }
}
