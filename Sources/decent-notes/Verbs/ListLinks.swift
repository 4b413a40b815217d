internal import JSONRPC

// `links` and `backlinks`: where the links of a note lead, and where links to it stand, one record each.

func listLinks(
  _ command: Command, _ surroundings: Surroundings
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/links") { $0.member("id", note.id) }
  }
  var records = Records(command, surroundings)
  for link in result["links"]?.array.map(Array.init) ?? [] {
    let line = link["range"]?["start"]?["line"]?.integer ?? 0
    try records.write(
      [(link.id, .faint), (link["target"]?.string ?? "", .bold), ("\(line + 1)", .plain)], link)
  }
  try records.flush()
  if result["more"]?.boolean == true { printError("there are more links than these") }
  return .done
}

func listBacklinks(
  _ command: Command, _ surroundings: Surroundings
) throws(CommandFailure) -> CommandFailure.Status {
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/backlinks") {
      $0.member("id", note.id)
      if let limit = command.value("--limit") { $0.member("limit", Int(limit)!) }
    }
  }
  var records = Records(command, surroundings)
  for linking in result["backlinks"]?.array.map(Array.init) ?? [] {
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
  return .done
}
