internal import JSONRPC

/// The reason why the notebook's server has not done something.
struct NotebookFailure: Error {
  let code: Int
  let reason: String?
  let message: String

  /// The error of an answer.
  init(_ error: JSONValue) {
    code = error["code"]?.integer ?? 0
    reason = error["data"]?["reason"]?.string
    message = error["message"]?.string ?? "an error"
  }

  /// There was no answer.
  static let gone = NotebookFailure(message: "The notebook has been left.")

  private init(message: String) {
    (code, reason, self.message) = (0, nil, message)
  }

  /// True if the note that was asked for is not there.
  var isAboutMissingNote: Bool { reason == "noSuchNote" || reason == "purged" }

  /// Parameters of the notebook's server, and the arguments of tools that they come from.
  private static let arguments = [
    ("after", "cursor"), ("revision", "base"), ("tags.add", "add_tags"),
    ("tags.remove", "remove_tags"),
  ]

  /// A sentence that says what is wrong and what to do, for an agent.
  ///
  /// - Parameter given: the arguments of the tool's call; nil if it is none.
  func advice(_ given: ToolArguments? = nil) -> String {
    var text = message.hasSuffix(".") ? message : message + "."
    for (name, argument) in Self.arguments
    where text.hasPrefix("\(name):") && given?[argument] != nil {
      text = argument + text.dropFirst(name.utf8.count)
    }
    let next: String? =
      switch reason {
      case _ where text.hasPrefix("cursor:"): "List again from the beginning, without cursor."
      case "noSuchNote":
        "Find the note with search_notes or list_notes, and use its id."
      case "purged": "It can't be brought back: use another note, or create one."
      case "unknownBase", "unknownRevision":
        "Read the note again with read_note, and use the revision that it gives."
      case "readOnly", "diskFull", "writeFailed":
        "Nothing was changed. Tell the user, and try again later."
      case "notDurable": "The change was made: do not repeat it, and tell the user."
      case "tooLarge": "Nothing was changed. Make several smaller changes."
      case "unusableFolder", "newerFormat", "otherFormat", "damaged":
        "The notebook can't be opened. Tell the user."
      default: code == -32602 ? "Correct this argument, and call the tool again." : nil
      }
    return next.map { "\(text) \($0)" } ?? text
  }
}
