internal import JSONRPC
internal import NotesServer

/// What a command could go on with. The scripts of the shells have no list of verbs or options: they ask for this with each key.
enum Completions {
  static let shells = ["bash", "zsh", "fish"]

  /// What can stand at the place of the last word.
  private enum Kind: String {
    /// The words that follow.
    case words
    /// The shell knows them better.
    case files, folders
  }

  private struct Offer {
    var kind = Kind.words
    var words: [(word: String, meaning: String)] = []
  }

  /// So many notes at most.
  private static let mostNotes = 200
  /// Tags are those of so many notes.
  private static let notesForTags = 1000

  /// `complete SHELL -- WORDS...`: prints the kind of what can stand at the place of the last word, and then each word with its meaning
  /// behind a tab. For bash the words are the line up to the cursor, and the part of it that bash replaces.
  static func print(
    _ command: Command, _ surroundings: CommandEnvironment
  ) throws(CommandFailure) -> CommandFailure.Status {
    var words = command.words("WORD")
    var quoting: Quoting?
    if command["SHELL"] == "bash" {
      let line = BashLine(words.first ?? "")
      quoting = Quoting(line, replaced: words.dropFirst().first ?? "")
      words = line.words
    }
    let offer = try offer(for: words, command, surroundings)
    var lines = [offer.kind.rawValue]
    for (word, meaning) in offer.words where word.escapingControlCharacters == word {
      guard let quoting else {
        lines.append("\(word)\t\(meaning)")
        continue
      }
      if let quoted = quoting.quoted(word) { lines.append(quoted) }
    }
    try printRaw(lines)
    return .done
  }

  private static func printRaw(_ lines: [String]) throws(CommandFailure) {
    // The tab stays one; there are no other control characters.
    let parts = lines.map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
        .map { String($0).escapingControlCharacters }.joined(separator: "\t") + "\n"
    }
    try writeOutput(parts.joined().utf8)
  }

  // MARK: - What can stand where

  /// - Parameter words: the words of the line up to the cursor, the program's name first; the last one is to be completed.
  private static func offer(
    for words: [String], _ command: Command, _ surroundings: CommandEnvironment
  ) throws(CommandFailure) -> Offer {
    guard words.count > 1 else { return Offer() }
    var line = PartialCommand(command.verbs, command.common)
    for word in words[1..<words.count - 1] { line.take(word) }
    let current = words[words.count - 1]
    if let option = line.awaited { return try offer(option.kind, current, line, surroundings) }
    if !line.isBehindOptions, current.hasPrefix("--"), let sign = current.firstIndex(of: "=") {
      guard let option = line.options.first(where: { $0.name == current[..<sign] }) else {
        return Offer()
      }
      let value = String(current[current.index(after: sign)...])
      var offer = try offer(option.kind, value, line, surroundings)
      for index in offer.words.indices {
        offer.words[index].word = "\(option.name)=\(offer.words[index].word)"
      }
      return offer
    }
    if !line.isBehindOptions, current.hasPrefix("-") {
      let options = line.options.filter { option in
        !option.isHidden && (option.isRepeatable || !line.given.contains(option.name))
      }
      return Offer(words: options.map { ($0.name, $0.help.firstClause) })
    }
    guard let verb = line.verb else {
      guard line.words.isEmpty else { return Offer() }
      let verbs = command.verbs.filter { $0.group != nil }
      return Offer(words: verbs.map { ($0.name, $0.summary.firstClause) })
    }
    guard let argument = argument(of: verb, at: line.words.count - 1) else { return Offer() }
    return try offer(argument.kind, current, line, surroundings)
  }

  private static func argument(of verb: Verb, at index: Int) -> Argument? {
    if index < verb.arguments.count { return verb.arguments[index] }
    guard let last = verb.arguments.last, last.count == .any || last.count == .some else {
      return nil
    }
    return last
  }

  private static func offer(
    _ kind: ValueKind, _ current: String, _ line: PartialCommand, _ surroundings: CommandEnvironment
  ) throws(CommandFailure) -> Offer {
    switch kind {
    case .any, .filled, .text, .title, .number, .seed, .age, .interval, .moment: return Offer()
    case .file: return Offer(kind: .files)
    case .folder, .peer: return Offer(kind: .folders)
    case .word(let words): return Offer(words: words.map { ($0, "") })
    case .date: return Offer(words: WrittenDate.words.keys.sorted().map { ($0, "") })
    case .method: return Offer(words: NotesServer.methods.sorted().map { ($0, "") })
    case .verb:
      let verbs = line.verbs.filter { $0.group != nil }
      return Offer(words: verbs.map { ($0.name, $0.summary.firstClause) })
    case .note, .trashedNote, .template, .tag, .tagOfNote:
      // Where there is no notebook, or it can't be read, nothing is offered: this is no moment for messages.
      let words = try? LocalNotebook.open(surroundings.inFolder(line.folder)) {
        notebook throws(CommandFailure) in
        switch kind {
        case .note: try notes(notebook, current)
        case .trashedNote: try notes(notebook, current, isTrashed: true)
        case .template: try notes(notebook, current, tags: [templateTag])
        case .tagOfNote: try tags(of: line.words.dropFirst().first, notebook)
        default: try tags(notebook)
        }
      }
      return Offer(words: words ?? [])
    }
  }

  /// Titles that begin so; the ids of notes whose ids begin so, and of those that others have the title of.
  private static func notes(
    _ notebook: LocalNotebook, _ current: String, isTrashed: Bool = false, tags: [String] = []
  ) throws(CommandFailure) -> [(word: String, meaning: String)] {
    var words: [(word: String, meaning: String)] = []
    let found = try notebook.notes(
      named: current, isTrashed: isTrashed, tags: tags, isBeginning: true, atMost: mostNotes)
    var titles: Set<String> = []
    // What begins with a hyphen would be taken for an option.
    for note in found.notes where !note.title.isEmpty && !note.title.hasPrefix("-") {
      if titles.insert(note.title).inserted { words.append((note.title, "")) }
    }
    if !current.isEmpty, words.isEmpty {
      for note in try notebook.notes(
        named: current, isTrashed: isTrashed, tags: tags, atMost: mostNotes
      ).notes where note.id.hasPrefix(current) {
        words.append((note.id, note.title.escapingControlCharacters))
      }
    }
    return words
  }

  private static func tags(
    of name: String?, _ notebook: LocalNotebook
  ) throws(CommandFailure) -> [(word: String, meaning: String)] {
    guard let name else { return [] }
    return try notebook.note(named: name).tags.map { ($0, "") }
  }

  private static func tags(
    _ notebook: LocalNotebook
  ) throws(CommandFailure) -> [(word: String, meaning: String)] {
    let result = try notebook.request("notebook/list") { $0.member("limit", notesForTags) }
    var tags: Set<String> = []
    for note in result["notes"]?.array.map(Array.init) ?? [] { tags.formUnion(note.tags) }
    return tags.sorted().map { ($0, "") }
  }
}

/// A command line that is not complete: what of it is known.
private struct PartialCommand {
  let verbs: [Verb]
  private let common: [Option]
  /// The option whose value comes next.
  private(set) var awaited: Option?
  private(set) var given: Set<String> = []
  /// The notebook's folder, if it is named.
  private(set) var folder: String?
  private(set) var words: [String] = []
  /// True behind `--`.
  private(set) var isBehindOptions = false

  init(_ verbs: [Verb], _ common: [Option]) {
    self.verbs = verbs
    self.common = common
  }

  /// The verb; nil if it is not known yet, or is none.
  var verb: Verb? { words.first.flatMap { name in verbs.first { $0.name == name } } }

  /// The options that can stand here.
  var options: [Option] {
    let name = words.first ?? Command.defaultVerb
    return (verbs.first { $0.name == name }?.options ?? []) + common
  }

  mutating func take(_ word: String) {
    if let option = awaited {
      if option.name == "--notebook" { folder = word }
      awaited = nil
    } else if !isBehindOptions, word == "--" {
      isBehindOptions = true
    } else if !isBehindOptions, word.hasPrefix("-"), word != "-" {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      given.insert(String(parts[0]))
      if parts.count == 2 {
        if parts[0] == "--notebook" { folder = String(parts[1]) }
        return
      }
      let option = (verbs.flatMap(\.options) + common).first { $0.name == word }
      if option?.value != nil { awaited = option }
    } else {
      words.append(word)
    }
  }
}

extension String {
  /// The text up to what explains it.
  fileprivate var firstClause: String {
    var end = startIndex
    while end < endIndex, ![" (", ": ", "; "].contains(where: self[end...].hasPrefix) {
      end = index(after: end)
    }
    return String(self[..<end])
  }
}
