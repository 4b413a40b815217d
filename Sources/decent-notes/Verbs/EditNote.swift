internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `edit`: the text of a note in the user's editor.
///
/// The text is written to a file, and the editor is run. What it has changed is merged with what others have changed meanwhile, by the
/// revision of the text that it was given. Whatever goes wrong then, an edited text stays in a file.
func editNote(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  KeptEdit.removeOld(surroundings)
  let fetched = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
    let note = try notebook.note(named: command["NOTE"])
    return try notebook.request("note/get") { $0.member("id", note.id) }
  }
  if command.has("--resume") { return try resume(fetched["note"]?.id ?? "", surroundings) }
  let before = fetched["text"]?.utf8 ?? []
  let id = fetched["note"]?.id ?? ""
  let file = try EditedFile(
    before, in: surroundings.variable("TMPDIR") ?? "/tmp", named: fileName(fetched["note"]))
  var after: [UInt8]?
  do throws(CommandFailure) {
    let start = surroundings.now()
    try runEditor(surroundings, file.path)
    let isAtOnce = surroundings.now() - start < quickReturn
    let bytes = try file.read()
    after = bytes
    guard let text = text(of: withoutLastLineEnd(bytes, before)) else {
      throw CommandFailure("it is no text in UTF-8, or has U+0000")
    }
    if !text.utf8.elementsEqual(before) {
      _ = try save(text, id, fetched["revision"]?.string ?? "", surroundings)
    } else if isAtOnce, keep(file, fetched, surroundings) {
      return .done
    }
  } catch {
    after = after ?? (try? file.read())
    guard let after, after != before else {
      file.remove()
      throw error
    }
    let kept = file.keep(after, for: id, in: surroundings.stateFolder())
    throw CommandFailure(error.status, error.lines + ["the text is kept in \(kept)"])
  }
  file.remove()
  return .done
}

/// An editor that ends sooner, in milliseconds, and has changed nothing may have opened a window, and go on there.
private let quickReturn: Int64 = 2000

/// Keeps the file of an editor that has returned at once, and tells the user how to take up what is saved there; returns whether it is kept. Where
/// there is no terminal there is no window: the user is told, and nothing is kept.
private func keep(
  _ file: EditedFile, _ fetched: JSONValue, _ surroundings: CommandEnvironment
) -> Bool {
  let id = fetched["note"]?.id ?? ""
  guard isatty(STDIN_FILENO) == 1,
    KeptEdit.keep(file, of: id, at: fetched["revision"]?.string ?? "", surroundings)
  else {
    printError(
      "the editor ended at once and changed nothing; one with a window has to be told to wait, as code --wait"
    )
    return false
  }
  printError(
    "the editor ended at once; if it has a window open, save there, and then run: decent-notes edit --resume \(id)"
  )
  return true
}

/// `edit --resume`: takes up what was saved in the files of a note that are kept. They stay, with the text that the note has then.
private func resume(
  _ id: String, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  let kept = KeptEdit.all(of: id, surroundings)
  if kept.isEmpty {
    throw CommandFailure(.nothingFound, ["there is no file of \(id) whose editor returned at once"])
  }
  for var edit in kept {
    let bytes = try edit.read(surroundings)
    let base = try LocalNotebook.open(surroundings) { notebook throws(CommandFailure) in
      try notebook.request("note/get") {
        $0.member("id", id)
        $0.member("revision", edit.revision)
      }
    }
    let before = base["text"]?.utf8 ?? []
    guard let text = text(of: withoutLastLineEnd(bytes, before)) else {
      throw CommandFailure("\(edit.path): it is no text in UTF-8, or has U+0000")
    }
    if text.utf8.elementsEqual(before) {
      printError("\(edit.path): nothing was saved there yet")
      continue
    }
    let saved = try save(text, id, edit.revision, surroundings)
    // The file gets what others have changed. A line end that the editor has added stays.
    let merged = saved.text.elementsEqual(text.utf8) ? bytes : saved.text
    if !(try edit.update(from: bytes, to: merged, at: saved.revision, surroundings)) {
      printError("\(edit.path): it was saved once more meanwhile; run the command again")
    }
  }
  return .done
}

/// Merges a text with what the note is now, and tells the user what else has come of it.
///
/// - Parameter revision: the text that it was made of.
/// - Returns: the text of the note then, and its revision.
private func save(
  _ text: String, _ id: String, _ revision: String, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> (text: [UInt8], revision: String) {
  let (result, wasTrashed) = try LocalNotebook.open(surroundings) {
    notebook throws(CommandFailure) in
    let present = try notebook.notes(named: id, atMost: 1).notes.first
    let result = try notebook.request("note/setText") {
      $0.member("id", id)
      $0.member("text", text)
      $0.member("base", revision)
    }
    return (result, present?["trashed"]?.boolean == true)
  }
  if result["text"]?.utf8?.elementsEqual(text.utf8) == false {
    printError("saved, and merged with what others have changed")
  }
  if wasTrashed { printError("the note was in the trash, and is not any more") }
  return (result["text"]?.utf8 ?? Array(text.utf8), result["revision"]?.string ?? revision)
}

/// Runs the user's editor on a file, and waits until it has ended.
private func runEditor(_ surroundings: CommandEnvironment, _ path: String) throws(CommandFailure) {
  let editor = surroundings.variable("VISUAL") ?? surroundings.variable("EDITOR") ?? "vi"
  let status = try runInTerminal(editor, path)
  if status != 0 { throw CommandFailure("\(editor) ended with status \(status)") }
}

/// The text without its last line end, which editors add, unless the text had one before.
private func withoutLastLineEnd(_ text: [UInt8], _ before: [UInt8]) -> [UInt8] {
  guard before.last != 0x0A, text.last == 0x0A else { return text }
  // A carriage return that the text ended with is no part of the line end that was added.
  let isLong = text.dropLast().last == 0x0D && before.last != 0x0D
  return Array(text.dropLast(isLong ? 2 : 1))
}

/// The name of the file for a note: that of its own file, or its title, with an ending by which editors know what it is.
func fileName(_ note: JSONValue?) -> String {
  if let name = note?["path"]?.string?.split(separator: "/").last {
    return String(name).escapingControlCharacters
  }
  let title = (note?.title ?? "").split { $0.isWhitespace || $0 == "/" }.joined(separator: " ")
  var name = title.escapingControlCharacters.utf8.prefix(100)
  // It may end inside a code point.
  while String(name) == nil { name.removeLast() }
  let stem = Substring(name).drop { $0 == "." || $0 == "-" }
  return (stem.isEmpty ? "note" : String(stem)) + ".md"
}
