internal import JSONRPC
internal import NotesServer

/// `undo`: takes back what one participant did since a time, and lists the notes.
func undoParticipant(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let since = moment(command.value("--since")!, now: surroundings.now())
  let result = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    try notebook.request("notebook/undo") {
      $0.member("by", command.value("--by")!)
      $0.member("since", since)
      $0.member("dryRun", command.has("--dry-run"))
    }
  }
  var records = Records(command, surroundings)
  let notes = result["notes"]?.array.map(Array.init) ?? []
  for entry in notes {
    let what = entry["what"]?.array?.compactMap(\.string).joined(separator: ",") ?? ""
    let note = entry["note"]
    try records.write(
      [(note?.id ?? "", .faint), (note?.title ?? "", .bold), (what, .plain)], entry)
  }
  try records.flush()
  return notes.isEmpty ? .nothingFound : .done
}

/// Refuses a command that does not say whose changes are meant, and since when.
func checkUndo(_ command: Command) throws(CommandFailure) {
  for option in ["--by", "--since"] where !command.has(option) {
    throw command.misuse("undo needs \(option)")
  }
  try Records.check(command)
}

/// A moment as the protocol has it. `text` was checked.
private func moment(_ text: String, now: Int64) -> String {
  if let age = ValueKind.age(text) {
    let time = now - age
    // Thirteen digits are milliseconds since 1970; nobody has written anything before these.
    return time < 1_000_000_000_000 ? "2001-01-01" : "\(time)"
  }
  return WrittenDate(text).map { LocalTime($0, now: now).date } ?? text
}
