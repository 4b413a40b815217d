internal import NoteStore

/// Command lines of this program that its user can run as they are printed, in any folder: with the notebook and all options in effect, quoted
/// for a shell.
public struct CommandLines: Sendable {
  /// The options of every verb that were given, with their values, but for the notebook.
  public var options: [String]
  /// The folder in which relative paths begin; nil to leave them as they are.
  public var workingFolder: String?

  /// Command lines with these options.
  public init(options: [String] = [], workingFolder: String? = nil) {
    self.options = options
    self.workingFolder = workingFolder
  }

  /// The command line with these words behind the program's name and the options in effect.
  ///
  /// - Parameter notebook: the folder of the notebook; nil for a verb that needs none.
  public func line(_ words: [String], notebook: String?) -> String {
    let notebook = notebook.map { ["--notebook", absolute($0)] + options } ?? []
    return (["decent-notes"] + notebook + words).map(Self.quoted).joined(separator: " ")
  }

  /// A path that means the same in every folder.
  public func absolute(_ path: String) -> String {
    guard let workingFolder, !path.hasPrefix("/") else { return path }
    return (workingFolder == "/" ? "" : workingFolder) + "/" + path
  }

  /// A word as a shell reads it.
  static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...: true
        default: "-_./:=,+@%".utf8.contains(byte)
        }
      }
    return isPlain
      ? word
      : "'"
        + word.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''") + "'"
  }
}

extension NotesServer {
  /// The command line that does something with this notebook.
  func commandLine(_ words: String...) -> String {
    environment.commandLines.line(words, notebook: store?.path ?? environment.folder)
  }

  /// The command line that does something with the mirror of this process.
  func mirrorLine(_ option: String) -> String {
    let path = environment.commandLines.absolute(expandingHome(environment.mirror ?? ""))
    return commandLine("mirror", option, path)
  }
}
