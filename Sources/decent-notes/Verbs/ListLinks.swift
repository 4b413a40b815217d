internal import JSONRPC

// `links` and `backlinks`: where the links of a note lead, and where links to it stand, one record each.

func listLinks(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/links") { $0.member("id", note.id) }
  }
  var records = Records(command, surroundings)
  let links = ["links", "headerLinks"].flatMap { result[$0]?.array.map(Array.init) ?? [] }
  for link in links {
    let line = link["range"]?["start"]?["line"]?.integer ?? 0
    let place = link["field"]?.string ?? "\(line + 1)"
    try records.write(
      [(link.id, .faint), (link["target"]?.string ?? "", .bold), (place, .plain)], link)
  }
  try records.flush()
  if result["more"]?.boolean == true { printError("there are more links than these") }
  return links.isEmpty ? .nothingFound : .done
}

func listBacklinks(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/backlinks") {
      $0.member("id", note.id)
      if let limit = command.value("--limit") { $0.member("limit", Int(limit)!) }
    }
  }
  var records = Records(command, surroundings)
  let backlinks = result["backlinks"]?.array.map(Array.init) ?? []
  for linking in backlinks {
    let note = linking["note"]
    try records.write(
      [
        (note?.id ?? "", .faint), (note?.title ?? "", .bold),
        (linking["context"]?.string ?? "", .plain),
      ], linking)
  }
  try records.flush()
  if result["more"]?.boolean == true, command.value("--limit") == nil {
    printError("there are more notes that link to this one")
  }
  return backlinks.isEmpty ? .nothingFound : .done
}
