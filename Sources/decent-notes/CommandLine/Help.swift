// What help says, from the table of verbs.

extension Verb {
  /// As a usage line has it: `new [OPTION...] TITLE`.
  var usage: String {
    ([name] + (options.isEmpty ? [] : ["[OPTION...]"]) + arguments.map(\.usage))
      .joined(separator: " ")
  }
}

extension Verb.Group {
  var title: String {
    switch self {
    case .notes: "notes"
    case .notebook: "the notebook, files and machines"
    case .programs: "for programs, and about this one"
    }
  }
}

/// What holds for all verbs, for help and for the manual page: a heading, and what stands below it.
enum HelpTopics {
  static let summary = "notes you edit from any editor, on any machine, offline, that always merge"

  static let names = """
    A NOTE is named by its id, by its title, or by the beginning of its id, with the hyphen and at least four digits behind it (1-5dc8), in \
    this order. A title of several words needs quotes. Titles and beginnings are looked for outside the trash.
    """

  static let lists = """
    A list has one record a line, with tabs between its fields; control characters in a field are escaped, as \\x09. With -0 each record ends \
    with NUL and nothing is escaped, and with --json each is a JSON object.
    """

  static let statuses = CommandFailure.Status.allCases.map { ("\($0.rawValue)", $0.meaning) }

  static let variables = [
    ("DECENT_NOTES", "the folder of the notebook, if --notebook does not name one"),
    ("VISUAL, EDITOR", "the editor that edit runs; else vi"),
    ("NO_COLOR", "if it is not empty, lists on a terminal have no colours"),
    ("TZ", "the time zone of daily and of templates"),
    ("TMPDIR", "the folder for the file that edit gives to the editor; else /tmp"),
    (
      "XDG_DATA_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR",
      "as the XDG base directory specification has them"
    ),
  ]

  static let files = [
    ("~/.local/share/decent-notes", "the notebook, if nothing names another one"),
    (
      "~/.local/state/decent-notes",
      "what makes a notebook quick to open, and in unsent texts that could not be saved"
    ),
  ]
}

/// What `decent-notes --help` prints.
func help(for command: Command) -> String {
  var text = """
    usage: decent-notes [OPTION...] VERB [ARGUMENT...]
           decent-notes [OPTION...]


    """
  let summary = HelpTopics.summary.prefix(1).uppercased() + HelpTopics.summary.dropFirst()
  text += wrapped(
    "\(summary). Without a verb it serves one client on standard input and output, in JSON-RPC.")
  text += "\n"
  for group in Verb.Group.allCases {
    text += "\n\(group.title):\n"
    for verb in command.verbs where verb.group == group {
      let words = ([verb.name] + verb.arguments.map(\.usage)).joined(separator: " ")
      text += entry(words, verb.summary, indent: 24)
    }
  }
  text += "\noptions:\n" + list(command.common)
  text += "\n" + wrapped(HelpTopics.names) + "\n\n" + wrapped(HelpTopics.lists)
  text += "\n\nexit status:\n"
  for (status, meaning) in HelpTopics.statuses { text += entry(status, meaning, indent: 6) }
  return text + "\ndecent-notes help VERB says more about a verb.\n"
}

/// What `decent-notes help VERB` prints.
func help(for verb: Verb, _ command: Command) -> String {
  let summary = verb.summary.prefix(1).uppercased() + verb.summary.dropFirst()
  var text = "usage: decent-notes \(verb.usage)\n\n" + wrapped(summary + ".") + "\n"
  for paragraph in verb.details.paragraphs { text += "\n" + wrapped(paragraph) + "\n" }
  if verb.arguments.contains(where: { $0.kind == .note || $0.kind == .trashedNote }) {
    text += "\n" + wrapped(HelpTopics.names) + "\n"
  }
  if !verb.options.isEmpty { text += "\noptions:\n" + list(verb.options) }
  return text + "\ndecent-notes --help has the options of all verbs.\n"
}

private func list(_ options: [Option]) -> String {
  options.filter { !$0.isHidden }.map { entry($0.usage, $0.help, indent: 24) }.joined()
}

/// A word, and behind it what it means, in a column of its own.
private func entry(_ word: String, _ meaning: String, indent: Int) -> String {
  let start = "  " + word
  let space = String(repeating: " ", count: indent)
  let lines = lines(of: meaning, width: 79 - indent)
  if start.count + 2 > indent {
    return start + "\n" + lines.map { space + $0 + "\n" }.joined()
  }
  let padding = String(repeating: " ", count: indent - start.count)
  return start + padding + lines.joined(separator: "\n" + space) + "\n"
}

private func wrapped(_ text: some StringProtocol) -> String {
  lines(of: text, width: 79).joined(separator: "\n")
}

/// A paragraph in lines of so many characters at most.
private func lines(of text: some StringProtocol, width: Int) -> [String] {
  var lines: [String] = []
  for word in text.split(separator: " ") {
    if let last = lines.last, last.count + 1 + word.count <= width {
      lines[lines.count - 1] = last + " " + word
    } else {
      lines.append(String(word))
    }
  }
  return lines
}

extension String {
  /// The parts between empty lines.
  var paragraphs: [String] {
    var paragraphs: [String] = []
    for line in split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty || paragraphs.isEmpty { paragraphs.append("") }
      if !line.isEmpty {
        paragraphs[paragraphs.count - 1] += (paragraphs.last!.isEmpty ? "" : " ") + line
      }
    }
    return paragraphs.filter { !$0.isEmpty }
  }
}
