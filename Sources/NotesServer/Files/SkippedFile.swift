internal import JSONRPC
internal import NoteFiles

/// A file or folder that an import, an export or a mirror leaves out.
public struct SkippedFile: Equatable, Error {
  /// Why something is left out, for clients that count.
  public enum Cause: String, CaseIterable, Sendable {
    case link, linkedFolder, name, path, utf16, encoding, zero, tooLarge, unreadable
    case conflictCopy, entries, changed, notebook, unwritable

    /// The cause in words, in front of a number.
    public var words: String {
      switch self {
      case .link: "links to files"
      case .linkedFolder: "links to folders"
      case .name: "names not UTF-8"
      case .path: "paths that no note can have"
      case .utf16: "UTF-16"
      case .encoding: "not UTF-8"
      case .zero: "U+0000"
      case .tooLarge: "too large"
      case .unreadable: "not readable"
      case .conflictCopy: "conflict copies"
      case .entries: "entries that can't be notes"
      case .changed: "changed by others"
      case .notebook: "notes not readable at present"
      case .unwritable: "not writable"
      }
    }
  }

  /// The path in the folder.
  let path: String
  let cause: Cause
  /// The reason in words, and what the user can do.
  let reason: String

  init(_ path: String, _ cause: Cause, _ reason: String) {
    self.path = path
    self.cause = cause
    self.reason = reason
  }

  /// - Parameter refusal: the reason why no note can be read from it.
  init(_ path: String, refusal: FileRefusal) {
    self.init(path, refusal.cause, refusal.reason)
  }

  /// Where it is one of Syncthing.
  static let copyReason = "a program that keeps folders equal has made it"

  /// A file of which the cause says enough.
  init(_ path: String, _ cause: Cause) {
    let ignoring = "or name it in .decentignore"
    let reason =
      switch cause {
      case .link: "it is a link: take in the file that it leads to by itself, \(ignoring)"
      case .linkedFolder:
        "it is a link: take in the folder that it leads to by itself, \(ignoring)"
      case .conflictCopy: Self.copyReason
      case .changed: "it was changed by somebody else"
      case .notebook: "it was written from what the notebook lacks now"
      default: cause.rawValue
      }
    self.init(path, cause, reason)
  }
}

extension FileRefusal {
  /// Why something is left out.
  var cause: SkippedFile.Cause {
    switch self {
    case .type, .path: .path
    case .tooLarge: .tooLarge
    case .zero: .zero
    case .utf16: .utf16
    case .notUTF8: .encoding
    }
  }

  /// The reason in words for a user, and what the user can do.
  var reason: String {
    switch self {
    case .type: "it is of no type that is read"
    case .path: "no note can have this path: give it another name"
    case .tooLarge(let limit): "it has more than \(limit) bytes: divide it"
    case .zero(let offset): "there is U+0000 at byte \(offset), as in no text: take it out"
    case .utf16: "it is UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"
    case .notUTF8(let offset):
      "it is not UTF-8 from byte \(offset) on: if it is Latin-1, save it as UTF-8 (iconv -f CP1252 -t UTF-8)"
    }
  }
}

extension JSONWriter {
  mutating func skipped(_ skipped: [SkippedFile]) {
    key("skipped")
    beginArray()
    for one in skipped {
      beginObject()
      member("path", one.path)
      member("cause", one.cause.rawValue)
      member("reason", one.reason)
      endObject()
    }
    endArray()
  }
}
