// The table of tools.

extension Tool {
  /// The tool of this name; nil if there is none, or if it writes and nothing may be written.
  static func named(_ name: String, isReadOnly: Bool) -> Tool? {
    all(isReadOnly: isReadOnly).first { $0.name == name }
  }

  /// All tools that a server has.
  static func all(isReadOnly: Bool) -> [Tool] {
    (reading + (isReadOnly ? [] : writing))
  }

  /// Longer ids, revisions and the like are none.
  private static let short = ToolArgument.Kind.text(atMost: 8192)
  /// A whole text: what a message can have.
  private static let long = ToolArgument.Kind.text(atMost: 1 << 30)
  /// A text that is looked for in another one. A search takes memory in proportion to it.
  private static let piece = ToolArgument.Kind.text(atMost: 1 << 20)
  private static let priorities = ToolArgument.Kind.words(["low", "normal", "high"])

  private static let line = ToolArgument.Kind.integer(1...LineRange.greatest)

  private static let note = ToolArgument("id", short, isRequired: true, "The id of the note.")
  private static let tags = Output("tags", #"{"type":"array","items":{"type":"string"}}"#)

  // MARK: - Reading

  private static var reading: [Tool] {
    [
      Tool(
        name: "search_notes", title: "Search notes",
        help: """
          Finds notes by their words. All words must occur in the title or the text, also as parts of words; neither case nor marks on letters \
          count. "a phrase" is looked for as it stands, -word must not occur, title:word is in the title, tag:name is one of the tags, and \
          is:trashed looks in the trash.
          """,
        effect: .reads,
        arguments: [
          ToolArgument("query", short, isRequired: true, "What to look for."),
          ToolArgument("limit", .integer(1...100), "So many notes at most; 20 if it is left out."),
        ],
        output: [
          .list("notes", [.text("id"), .text("title"), tags, .text("snippet")]), .boolean("more"),
        ],
        perform: { $0.searchNotes($1) }),
      Tool(
        name: "list_notes", title: "List notes",
        help: """
          Lists notes without their texts. If there are more, next is given: hand it back as cursor, with the same other arguments.
          """,
        effect: .reads,
        arguments: [
          ToolArgument("tags", .texts, "Only notes that have all of these tags."),
          ToolArgument("priority", priorities, "Only notes of this priority."),
          ToolArgument("trashed", .boolean, "True for the notes in the trash, and not the others."),
          ToolArgument(
            "sort", .words(["order", "modified", "created", "title"]),
            "In the user's own order (the default), or the last one modified or created first, or by title."
          ),
          ToolArgument("limit", .integer(1...500), "So many notes at most; 50 if it is left out."),
          ToolArgument("cursor", short, "The next of the page before."),
        ],
        output: [
          .list(
            "notes",
            [.text("id"), .text("title"), tags, .text("priority"), .text("modified")]),
          .text("next").optional,
        ],
        perform: { $0.listNotes($1) }),
      Tool(
        name: "read_note", title: "Read a note",
        help: """
          Reads a note, with its text and the revision that edit_note needs as base. With a revision it reads the note as it was then. A text \
          of more than 64 KiB is given in pieces. If next_line is given, the text goes on there: call again with it as from_line, with \
          next_offset as offset if that is given, and with the revision.
          """,
        effect: .reads,
        arguments: [
          note,
          ToolArgument("revision", short, "An earlier revision, as another tool has given it."),
          ToolArgument("from_line", line, "The first line to read; 1 if it is left out."),
          ToolArgument("to_line", line, "The last line to read; the last one if it is left out."),
          ToolArgument(
            "offset", .integer(0...LineRange.greatest),
            "The next_offset of the answer before: bytes of the first line that are passed over."),
        ],
        output: [
          .text("id"), .text("title"), .text("text"), .text("revision"), tags, .text("priority"),
          .boolean("trashed"), .integer("next_line").optional, .integer("next_offset").optional,
        ],
        perform: { $0.readNote($1) }),
      Tool(
        name: "links_of", title: "Links of a note",
        help: """
          Lists the links in a note, each with the id of the note that it leads to if that is certain, and the notes with links that lead to it.
          """,
        effect: .reads, arguments: [note],
        output: [
          .list(
            "links",
            [
              .text("field").optional, .text("target"), .text("heading").optional,
              .text("id").optional,
            ]),
          .list("backlinks", [.text("id"), .text("title"), .text("context")]), .boolean("more"),
        ],
        perform: { $0.linksOf($1) }),
    ]
  }

  // MARK: - Writing

  private static var writing: [Tool] {
    let changed: [Output] = [.text("id"), .text("revision")]
    return [
      Tool(
        name: "create_note", title: "Create a note",
        help: "Makes a note. It comes first in the list.",
        effect: .adds,
        arguments: [
          ToolArgument("title", short, isRequired: true, "Its title, one line."),
          ToolArgument("text", long, "Its text, in Markdown as a rule."),
          ToolArgument("tags", .texts, "Its tags."),
          ToolArgument("priority", priorities, "Its priority; normal if it is left out."),
        ],
        output: changed, perform: { $0.createNote($1) }),
      Tool(
        name: "append_note", title: "Append to a note",
        help: """
          Adds whole lines to the end of a note, also beside what others write there at the same moment. A note whose last line has no line end keeps \
          that form.
          """,
        effect: .adds,
        arguments: [note, ToolArgument("text", long, isRequired: true, "The lines.")],
        output: changed, perform: { $0.appendNote($1) }),
      Tool(
        name: "edit_note", title: "Edit a note",
        help: """
          Replaces a piece of a note's text. People may be typing in the note: only this piece is replaced, in the text as it was at base, and \
          that is merged with what they have changed since. Use it for each change by itself, and keep old as short as is unique. merged says \
          whether others had changed the text since base; then read the note again before the next edit.
          """,
        effect: .changes,
        arguments: [
          note,
          ToolArgument(
            "base", short, isRequired: true,
            "The revision that read_note, or the last change of yours, has given."),
          ToolArgument(
            "old", piece, isRequired: true,
            "What is to be replaced: it must occur exactly once in the text at base."),
          ToolArgument("new", long, isRequired: true, "What replaces it; empty to remove it."),
          ToolArgument(
            "dry_run", .boolean, "True to change nothing, and only see whether it fits."),
        ],
        output: changed + [.boolean("merged"), .text("lines")], perform: { $0.editNote($1) }),
      Tool(
        name: "update_note", title: "Update a note",
        help: """
          Changes the title, the tags or the priority of a note. What is left out stays as it is.
          """,
        effect: .settles,
        arguments: [
          note, ToolArgument("title", short, "Its new title, one line."),
          ToolArgument("add_tags", .texts, "Tags that it gets."),
          ToolArgument("remove_tags", .texts, "Tags that are taken away."),
          ToolArgument("priority", priorities, "Its new priority."),
        ],
        output: [.text("id"), .text("title"), tags, .text("priority"), .text("revision")],
        perform: { $0.updateNote($1) }),
      Tool(
        name: "delete_note", title: "Delete a note",
        help: "Puts a note into the trash, from where restore_note takes it back.",
        effect: .settles,
        arguments: [note], output: changed, perform: { $0.deleteNote($1) }),
      Tool(
        name: "restore_note", title: "Restore a note", help: "Takes a note out of the trash.",
        effect: .settles, arguments: [note], output: changed, perform: { $0.restoreNote($1) }),
    ]
  }
}
