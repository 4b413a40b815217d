internal import NoteStore

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
