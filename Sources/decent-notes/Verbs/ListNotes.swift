internal import JSONRPC

// `list`, `search` and `history`: what there is, one record each.

/// The sizes of the pages in which a list is asked for: the first lines come at once, and a reader that has gone away after some of them
/// spares the rest.
private let (firstPage, largestPage) = (128, 1 << 14)

func listNotes(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    var records = Records(command, surroundings)
    // For each page of notes with tags those of all notes are looked at.
    let isFiltered = !command.values("--tag").isEmpty
    var (next, page): (String?, Int) = (nil, isFiltered ? largestPage : firstPage)
    repeat {
      let result = try notebook.request("notebook/list") {
        $0.member("limit", page)
        $0.member("trashed", command.has("--trash"))
        $0.member("tags", command.values("--tag"))
        if let priority = command.value("--priority") { $0.member("priority", priority) }
        if let next { $0.member("after", next) }
      }
      for note in result["notes"]?.array.map(Array.init) ?? [] {
        try records.write(
          [
            (note.id, .faint), (note.title, .bold), (note.tags.joined(separator: ","), .plain),
            (note["priority"]?.string ?? "", .plain), (note["modified"]?.string ?? "", .faint),
          ], note)
      }
      try records.flush()
      next = result["next"]?.string
      page = min(2 * page, largestPage)
    } while next != nil && !records.isUnread
    return .done
  }
}

func searchNotes(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    try notebook.request("notebook/search") {
      $0.member("query", command.words("TEXT").joined(separator: " "))
      if let limit = command.value("--limit") { $0.member("limit", Int(limit)!) }
    }
  }
  var records = Records(command, surroundings)
  let matches = result["matches"]?.array.map(Array.init) ?? []
  for match in matches {
    let note = match["note"]
    try records.write(
      [
        (note?.id ?? "", .faint), (note?.title ?? "", .bold),
        (match["snippet"]?.string ?? "", .plain),
      ], match)
  }
  try records.flush()
  if result["more"]?.boolean == true, command.value("--limit") == nil {
    printError("there are more than these \(matches.count) notes")
  }
  return matches.isEmpty ? .nothingFound : .done
}

func showHistory(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/history") {
      $0.member("id", note.id)
      if let limit = command.value("--limit") { $0.member("limit", Int(limit)!) }
    }
  }
  var records = Records(command, surroundings)
  for entry in result["entries"]?.array.map(Array.init) ?? [] {
    let what = entry["what"]?.array?.compactMap(\.string).joined(separator: ",") ?? ""
    try records.write(
      [
        (entry["revision"]?.string ?? "", .faint), (entry["time"]?.string ?? "", .plain),
        (what, .plain), ("+\(entry["inserted"]?.integer ?? 0)", .plain),
        ("-\(entry["deleted"]?.integer ?? 0)", .plain),
        (entry["author"]?["name"]?.string ?? "", .bold),
      ], entry)
  }
  try records.flush()
  return .done
}
