internal import JSONRPC

/// `new`: makes a note, and prints its id.
func makeNote(
  _ command: Command, _ surroundings: Surroundings
) throws(CommandFailure) -> CommandFailure.Status {
  let text = try command.value("--text").map { text throws(CommandFailure) in
    text == "-" ? try readText() : text
  }
  let title = command["TITLE"]
  let note = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    var content = NoteContent(text: text ?? "")
    if let name = command.value("--template") {
      content = try notebook.content(
        ofTemplate: try notebook.template(named: name), title: title,
        at: LocalTime(surroundings.now()))
    }
    content.tags = content.tags + command.values("--tag")
    content.priority = command.value("--priority") ?? content.priority
    return try notebook.make(title, content)
  }
  try printNote(note, command)
  return .done
}

/// Prints the id of a note, or all of its summary as JSON.
func printNote(_ note: JSONValue, _ command: Command) throws(CommandFailure) {
  if command.has("--json") {
    try writeOutput(note.printable + [0x0A])
  } else {
    try printLines([note.id])
  }
}
