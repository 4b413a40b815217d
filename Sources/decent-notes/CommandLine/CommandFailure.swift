internal import JSONRPC
internal import NotesServer

/// The reason why a command is not done, and the status with which the program ends.
struct CommandFailure: Error, Equatable {
  /// The meaning of the program's exit statuses. The first is that of success.
  enum Status: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case refused = 2
    case ambiguous = 3
    case nothingFound = 4
    case incomplete = 5
    /// As sysexits.h has it.
    case misuse = 64

    /// The meaning, for help and for the manual page.
    var meaning: String {
      switch self {
      case .done: "it is done"
      case .failed: "it failed"
      case .refused:
        "refused because of what others did, as for a note that was forgotten meanwhile"
      case .ambiguous: "several notes go by this name; they are listed"
      case .nothingFound: "nothing was found"
      case .incomplete: "something of the notebook can't be read, and what is shown lacks it"
      case .misuse: "the command line is wrong"
      }
    }
  }

  let status: Status
  /// Lines for the user.
  let lines: [String]

  init(_ status: Status, _ lines: [String]) {
    self.status = status
    self.lines = lines
  }

  init(_ message: String, _ status: Status = .failed) { self.init(status, [message]) }

  /// A command line that can't be used.
  ///
  /// - Parameter verb: the verb whose help says more; nil for the help of the program.
  static func misuse(_ message: String, _ verb: String? = nil) -> CommandFailure {
    let help = CommandLines().line(verb.map { ["help", $0] } ?? ["--help"], notebook: nil)
    return CommandFailure("\(message) (\(help) says more)", .misuse)
  }

  /// The failure that a server's error is for a verb.
  init(_ error: JSONValue) {
    let reason = error["data"]?["reason"]?.string
    let status: Status =
      switch reason {
      case "purged": .refused
      case "noNotebook", "noSuchNote", "unknownRevision": .nothingFound
      // What the user has given can be no title, no tag and so on.
      case nil where error["code"]?.integer == -32602: .misuse
      default: .failed
      }
    self.init(error["message"]?.string ?? "an error", status)
    self.reason = reason
  }

  /// The reason that the server has given, if it is the server's error.
  private(set) var reason: String?
}
