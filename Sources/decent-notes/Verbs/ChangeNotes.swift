internal import JSONRPC
internal import NotesServer

// Changes of notes that print nothing.

/// `append`: adds lines to the end of a note.
///
/// They stay whole lines beside what others write at the end at the same moment, and get the line ends of the note.
func appendText(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  var text = command["TEXT"]
  if text == "-" { text = try readText() }
  try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    try notebook.request("note/append") {
      $0.member("id", note.id)
      $0.member("text", text)
      $0.member("lines", true)
    }
  }
  return .done
}

/// `tag`: gives a note tags.
func addTags(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  try changeTags("add", command, surroundings)
}

/// `untag`: takes tags away from a note.
func removeTags(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  try changeTags("remove", command, surroundings)
}

private func changeTags(
  _ change: String, _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    try notebook.request("note/update") {
      $0.member("id", note.id)
      $0.key("tags")
      $0.beginObject()
      $0.member(change, command.words("TAG"))
      $0.endObject()
    }
  }
  return .done
}

/// `rename`: gives a note another title, and the links to it the same one.
func renameNote(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/rename") {
      $0.member("id", note.id)
      $0.member("title", command["TITLE"])
      $0.member("updateLinks", !command.has("--keep-links"))
    }
  }
  tellAmbiguous(result)
  return .done
}

/// `merge`: joins two notes.
func mergeNotes(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    let other = try notebook.note(named: command["OTHER"])
    return try notebook.request("note/merge") {
      $0.member("id", note.id)
      $0.member("from", other.id)
    }
  }
  tellAmbiguous(result)
  return .done
}

/// Tells the user of links that stay, since they may mean another note.
private func tellAmbiguous(_ result: JSONValue) {
  for linking in result["ambiguous"]?.array.map(Array.init) ?? [] {
    let note = linking["note"]
    printError(
      "\(note?.id ?? ""): a link in \(note?.title.escapingControlCharacters ?? "") may mean another note, and stays"
    )
  }
}

/// `trash`: puts notes into the trash.
func trashNotes(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  try forEachNote("note/delete", isTrashed: false, command, surroundings)
}

/// `restore`: takes notes out of the trash.
func restoreNotes(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  guard let revision = command.value("--revision") else {
    return try forEachNote("note/restore", isTrashed: true, command, surroundings)
  }
  return try forEachNote("note/restoreVersion", isTrashed: false, command, surroundings) {
    $0.member("revision", revision)
  }
}

/// Makes a request for each of some notes; for none of them if one is not there.
private func forEachNote(
  _ method: String, isTrashed: Bool, _ command: Command, _ surroundings: CommandEnvironment,
  _ members: (inout JSONWriter) -> Void = { _ in }
) throws(CommandFailure) -> CommandFailure.Status {
  try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    var ids: [String] = []
    for name in command.words("NOTE") {
      ids.append(try notebook.note(named: name, isTrashed: isTrashed).id)
    }
    for id in ids {
      try notebook.request(method) {
        $0.member("id", id)
        members(&$0)
      }
    }
  }
  return .done
}

/// `new`: makes a note, and prints its id.
func makeNote(
  _ command: Command, _ surroundings: CommandEnvironment
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
