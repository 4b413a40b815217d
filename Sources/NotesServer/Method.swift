internal import JSONRPC

/// The requests there are.
enum Method: String {
  case initialize, shutdown
  case noteCreate = "note/create"
  case noteGet = "note/get"
  case noteHistory = "note/history"
  case noteUpdate = "note/update"
  case noteSetText = "note/setText"
  case noteAppend = "note/append"
  case noteMove = "note/move"
  case noteDelete = "note/delete"
  case noteRestore = "note/restore"
  case noteOpen = "note/open"
  case noteChange = "note/change"
  case noteClose = "note/close"
  case noteUndo = "note/undo"
  case noteRedo = "note/redo"
  case notebookList = "notebook/list"
  case notebookSearch = "notebook/search"
  case notebookStatus = "notebook/status"
  case notebookChanges = "notebook/changes"
  case notebookMerge = "notebook/merge"
  case notebookFlush = "notebook/flush"
  case notebookSync = "notebook/sync"

  /// Whether a request key makes it happen once.
  var isMutating: Bool {
    switch self {
    case .noteCreate, .noteUpdate, .noteSetText, .noteAppend, .noteMove, .noteDelete, .noteRestore,
      .noteChange, .noteUndo, .noteRedo, .notebookMerge:
      true
    default: false
    }
  }

  var waitsForDisk: Bool { self == .shutdown || self == .notebookFlush }

  /// Whether it may begin a notebook where there is none.
  var mayBeginNotebook: Bool { [.noteCreate, .notebookMerge, .notebookSync].contains(self) }

  /// The parameters that it has; `tags.add` is the member `add` of `tags`.
  var parameters: [String] {
    switch self {
    case .initialize:
      ["processId", "clientInfo", "capabilities", "initializationOptions", "trace"]
    case .shutdown, .notebookStatus: []
    case .noteCreate:
      ["title", "text", "tags", "priority", "index", "before", "after", "requestKey"]
    case .noteGet: ["id", "revision"]
    case .noteHistory: ["id", "limit"]
    case .noteUpdate:
      ["id", "title", "priority", "tags", "tags.add", "tags.remove", "requestKey"]
    case .noteSetText: ["id", "text", "base", "requestKey"]
    case .noteAppend: ["id", "text", "requestKey"]
    case .noteMove: ["id", "index", "before", "after", "requestKey"]
    case .noteDelete, .noteRestore: ["id", "requestKey"]
    case .noteOpen: ["id", "mode", "push", "check", "resume"]
    case .noteChange:
      [
        "attachment", "version", "rev", "text", "lines", "ranges", "sha256", "bytes", "lineCount",
        "sameStep", "requestKey",
      ]
    case .noteClose: ["attachment"]
    case .noteUndo, .noteRedo: ["attachment", "requestKey"]
    case .notebookList: ["tags", "priority", "trashed", "limit", "after"]
    case .notebookSearch: ["query", "limit"]
    case .notebookChanges: ["since", "limit"]
    case .notebookMerge: ["changes", "adopt", "requestKey"]
    case .notebookFlush: ["workDoneToken"]
    case .notebookSync: ["peer", "adopt", "workDoneToken"]
    }
  }

  /// Refuses parameters that the method does not have. What a program of a later version sends is passed over; what a person has
  /// mistyped would be lost without a word.
  func refuseUnknown(_ params: JSONValue) throws(ResponseError) {
    let known = parameters
    for (name, value) in params.members {
      guard known.contains(name), !name.contains(".") else { throw unknown(name) }
      guard known.contains(where: { $0.hasPrefix("\(name).") }) else { continue }
      for (member, _) in value.members where !known.contains("\(name).\(member)") {
        throw unknown("\(name).\(member)")
      }
    }
  }

  private func unknown(_ name: String) -> ResponseError {
    let names = parameters.filter { !$0.contains(".") }
    let all = names.isEmpty ? "none" : names.joined(separator: ", ")
    return .invalidParams(name, "\(rawValue) has no such parameter; it has \(all)")
  }
}
