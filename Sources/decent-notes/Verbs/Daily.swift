internal import JSONRPC

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `daily`: the note of a day, which has the day for its title. It is made if there is none.
///
/// Commands of one machine that ask at the same moment get one note: each waits for the one before (`DailyLock`), and sees what that has
/// made. Machines that have not met make one note, too: its id is made of the day. Of several that go by the day the oldest is used, which
/// a user at a terminal is told.
func openDaily(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let now = surroundings.now()
  let day = LocalTime(WrittenDate(command.words("DATE").first ?? "today")!, now: now)
  let lock = DailyLock(stateFolder: surroundings.stateFolder(), notebook: try surroundings.folder())
  defer { lock.release() }
  let note = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    if let note = try notebook.oldest(titled: day.date) { return note }
    return try notebook.make(
      day.date, try notebook.contentOfDaily(day, command), namedByTitle: true)
  }
  try printNote(note, command)
  return .done
}

extension LocalNotebook {
  /// The oldest note that goes by a name; nil if there is none. The user is told of the others.
  fileprivate func oldest(
    titled name: String, tags: [String] = []
  ) throws(CommandFailure) -> JSONValue? {
    let found: (notes: [JSONValue], isMore: Bool)
    do { found = try notes(named: name, tags: tags, atMost: 10) } catch {
      // There will be one with the first note.
      if error.reason == "noNotebook" { return nil }
      throw error
    }
    if found.notes.count > 1, isatty(STDERR_FILENO) == 1 {
      let others = found.notes.dropFirst().map(\.id).joined(separator: ", ")
      printError("several notes go by the name \(name); the oldest is used, and not \(others)")
    }
    return found.notes.first
  }

  /// What the note of a day begins with: a template that the user names, or the one that is called `daily`, or nothing.
  fileprivate func contentOfDaily(
    _ day: LocalTime, _ command: Command
  ) throws(CommandFailure) -> NoteContent {
    let template =
      if let name = command.value("--template") {
        try template(named: name)
      } else {
        try oldest(titled: "daily", tags: [templateTag])
      }
    guard let template else { return NoteContent() }
    return try content(ofTemplate: template, title: day.date, at: day)
  }
}
