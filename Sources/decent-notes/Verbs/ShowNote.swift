internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `show`: the text of a note, byte for byte.
///
/// A terminal gets it with control characters escaped, and with a line end at the end, so that no text commands it and the shell's prompt
/// begins a line.
func showNote(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/get") {
      $0.member("id", note.id)
      if let revision = command.value("--revision") { $0.member("revision", revision) }
    }
  }
  if command.has("--json") {
    try writeOutput(result.printable + [0x0A])
    return .done
  }
  let header = command.has("--header") ? result["header"]?.string ?? "" : ""
  let text = header + (result["text"]?.string ?? "")
  try writeOutput(isatty(STDOUT_FILENO) == 1 ? Array(text.printableLines.utf8) : Array(text.utf8))
  return .done
}

extension String {
  /// The text with control characters escaped, but for line ends and tabs; with a line end at the end, unless it is empty.
  fileprivate var printableLines: String {
    if isEmpty { return "" }
    var lines = unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      // A text whose lines end as those of Windows looks like others.
      let visible = line.last == "\r" ? line.dropLast() : line
      let parts = visible.split(separator: "\t", omittingEmptySubsequences: false)
      return parts.map { String($0).escapingControlCharacters }.joined(separator: "\t") + "\n"
    }.joined()
  }
}
