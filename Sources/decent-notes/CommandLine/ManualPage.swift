internal import NotesServer

/// The manual page, in the language of man, from the table of verbs.
func manualPage(of command: Command) -> String {
  var page = Page()
  page.line(#".TH DECENT\-NOTES 1 "" "decent\-notes \#(escaped(NotesServer.programVersion))""#)
  page.section("NAME")
  page.text("decent-notes - \(HelpTopics.summary)")
  page.section("SYNOPSIS")
  for usage in ["decent-notes [OPTION...] VERB [ARGUMENT...]", "decent-notes [OPTION...]"] {
    page.text(usage)
    page.line(".br")
  }
  page.section("DESCRIPTION")
  page.text(
    "decent-notes works in a notebook: a folder in which notes are kept, and in which many programs and many machines write at once. "
      + "Without a verb it serves one client on standard input and output, in JSON-RPC; that is how editors use it."
  )
  for text in [HelpTopics.names, HelpTopics.lists] {
    page.line(".PP")
    page.text(text)
  }
  page.section("OPTIONS")
  page.text(
    "Every verb has these. They may stand before the verb and behind it; behind -- there are none.")
  page.entries(command.common)
  for group in Verb.Group.allCases {
    page.section(group.title.uppercased())
    for verb in command.verbs where verb.group == group {
      page.line(".SS \(escaped(verb.usage))")
      page.text(verb.summary.prefix(1).uppercased() + verb.summary.dropFirst() + ".")
      for paragraph in verb.details.paragraphs {
        page.line(".PP")
        page.text(paragraph)
      }
      page.entries(verb.options)
    }
  }
  page.section("EXIT STATUS")
  page.entries(HelpTopics.statuses)
  page.section("ENVIRONMENT")
  page.entries(HelpTopics.variables)
  page.section("FILES")
  page.entries(HelpTopics.files)
  return page.text
}

/// A text in the language of man.
private struct Page {
  private(set) var text = ""

  mutating func line(_ line: String) { text += line + "\n" }

  mutating func section(_ title: String) { line(".SH \(escaped(title))") }

  mutating func text(_ paragraph: String) {
    // At the beginning of a line these would be orders.
    let isOrder = paragraph.hasPrefix(".") || paragraph.hasPrefix("'")
    line((isOrder ? #"\&"# : "") + escaped(paragraph))
  }

  mutating func entries(_ entries: [(word: String, meaning: String)]) {
    for (word, meaning) in entries {
      line(".TP")
      line(#".B "\#(escaped(word))""#)
      text(meaning)
    }
  }

  mutating func entries(_ options: [Option]) {
    entries(options.filter { !$0.isHidden }.map { ($0.usage, $0.help) })
  }
}

/// Text as the language of man has it: a hyphen stays one that can be copied, and nothing is an order.
private func escaped(_ text: String) -> String {
  text.replacing("\\", with: #"\e"#).replacing("-", with: #"\-"#).replacing("'", with: #"\(aq"#)
    .replacing("~", with: #"\(ti"#).replacing("^", with: #"\(ha"#).replacing("`", with: #"\(ga"#)
    .replacing("\"", with: #"\(dq"#)
}
