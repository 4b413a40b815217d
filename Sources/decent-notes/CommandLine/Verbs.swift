internal import NotesServer

// The table of verbs.

extension Option {
  /// Options of every verb.
  static let common = [
    Option(
      "--notebook", "DIR", .folder,
      "the folder of the notebook (else $DECENT_NOTES, else $XDG_DATA_HOME/decent-notes, else ~/.local/share/decent-notes)"
    ),
    Option(
      "--name", "NAME", .filled,
      "who makes the changes, for history and for others who have the same note open (default: user@host)"
    ),
    Option(
      "--durability", "WHEN", .word(["background", "reply"]),
      "when a change is answered: background, as soon as it is in the file and on its way to the disk, or reply, when it is on disk for good (default: background)"
    ),
    Option(
      "--seed", "NUMBER", .seed, isHidden: true,
      "makes every identifier and every reading of the clock the same in each run, for recorded sessions"
    ),
    Option("--help", "what the program can do; behind a verb, more about that"),
    Option("--version", "the program's version"),
  ]

  fileprivate static let tag = Option(
    "--tag", "TAG", .tag, isRepeatable: true, "only notes with this tag; may be repeated")
  fileprivate static let limit = Option(
    "--limit", "NUMBER", .number(1...1_000_000_000), "so many at most")
  fileprivate static let template = Option(
    "--template", "NAME", .template, "make the note of this template, a note with the tag template")
  fileprivate static let priority = ValueKind.word(["low", "normal", "high"])
  fileprivate static let longestMessage = Option(
    "--max-message", "BYTES", .number(1024...1 << 30),
    "the longest message taken (default: 33554432)")
  fileprivate static func json(_ help: String) -> Option { Option("--json", help) }
  fileprivate static func every(_ help: String) -> Option {
    Option("--every", "TIME", .interval, help)
  }
}

extension Verb {
  /// The table. Another verb is a row here and a function that does it.
  static var all: [Verb] { notes + notebook + programs }

  private static let noteArgument = Argument("NOTE", .note)

  // MARK: - Notes

  private static var notes: [Verb] {
    [
      Verb(
        "new", .notes, [Argument("TITLE", .title)],
        options: [
          Option("--text", "TEXT", .text, "its text; - for standard input"),
          Option("--tag", "TAG", .tag, isRepeatable: true, "a tag that it gets; may be repeated"),
          Option(
            "--priority", "PRIORITY", Option.priority, "low, normal or high (default: normal)"),
          .template, .json("print the note as JSON, and not its id alone"),
        ],
        "make a note, and print its id",
        details: """
          In a template {{title}} stands for the title of the new note, {{date}} for the present day, {{time}} for the time of day, and \
          {{cursor}} for nothing. The note gets the other tags of the template, and its priority.
          """,
        check: { command throws(CommandFailure) in
          if command.has("--text"), command.has("--template") {
            throw command.misuse("--text and --template are two ways")
          }
        }, perform: makeNote),
      Verb(
        "list", .notes, [],
        options: [
          .tag, Option("--priority", "PRIORITY", Option.priority, "only notes of this priority"),
          Option("--trash", "the notes in the trash, and not the others"),
        ] + Records.options,
        "list the notes: id, title, tags, priority, time of the last change",
        details: """
          The notes come in the order that the user has given them, one a line, with tabs between the fields and commas between tags.
          """, check: Records.check, perform: listNotes),
      Verb(
        "show", .notes, [noteArgument],
        options: [
          Option("--revision", "REVISION", .any, "as it was at this revision, which history tells"),
          Option("--header", "the header of the note's file before the text"),
          .json("the note, its text and the revision as JSON"),
        ],
        "print the text of a note",
        details: """
          It is printed byte for byte. Only on a terminal control characters are escaped, and the last line is ended.
          """, perform: showNote),
      Verb(
        "edit", .notes, [noteArgument],
        options: [
          Option(
            "--resume", "take up what was saved in the window of an editor that returned at once")
        ],
        "edit a note in $VISUAL or $EDITOR",
        details: """
          The editor gets the text in a file. When it has ended, what it has changed is merged with what others have changed meanwhile. If \
          the text can't be saved, it stays in a file that is named then. The file of an editor that returns within two seconds and has changed \
          nothing stays for a day, since it may have opened a window: --resume takes up what is saved there.
          """, perform: editNote),
      Verb(
        "append", .notes, [noteArgument, Argument("TEXT", .text)],
        "add lines to the end of a note; - for standard input",
        details: """
          They stay whole lines beside what others write at the end at the same moment. Line ends are those of the note, LF or CRLF; a note without \
          one at its end keeps that form. (The request note/append of call adds just the text, unless lines is true.)
          """, perform: appendText),
      Verb(
        "search", .notes, [Argument("TEXT", .any, .some)],
        options: [Option.limit] + Records.options,
        "list the notes that have all words: id, title, line",
        details: """
          Words are also found inside of others, in titles and texts; neither case nor the marks on letters count. "oat milk" in quotation \
          marks (which the shell must not take) is one phrase, title:milk a word of the title, tag:home a tag, is:trashed looks in the trash, and - before \
          any of these leaves out the notes that have it. Put -- before a query that begins with -.
          """,
        check: Records.check, perform: searchNotes),
      Verb(
        "tag", .notes, [noteArgument, Argument("TAG", .tag, .some)],
        "give a note tags", perform: addTags),
      Verb(
        "untag", .notes, [noteArgument, Argument("TAG", .tagOfNote, .some)],
        "take tags away from a note", perform: removeTags),
      Verb(
        "trash", .notes, [Argument("NOTE", .note, .some)],
        "put notes into the trash", perform: trashNotes),
      Verb(
        "restore", .notes, [Argument("NOTE", .trashedNote, .some)],
        options: [
          Option(
            "--revision", "REVISION", .any,
            "make them what they were at this revision, which history tells")
        ],
        "take notes out of the trash, or make them what they were",
        details: """
          A title, or the beginning of an id, is looked for in the trash; with --revision outside of it. Text, title, tags and priority become \
          what they were. What they are now stays in the history.
          """,
        perform: restoreNotes),
      Verb(
        "rename", .notes, [noteArgument, Argument("TITLE", .title)],
        options: [Option("--keep-links", "links in other notes stay as they are")],
        "give a note another title, also in the links to it",
        details: """
          Links by the old title that may mean another note stay as they are; the notes that have them are named.
          """, perform: renameNote),
      Verb(
        "merge", .notes, [noteArgument, Argument("OTHER", .note)],
        "join two notes: the other one's text goes behind the first one's",
        details: """
          NOTE gets the lines and the tags of OTHER, links to OTHER lead to NOTE, and OTHER goes to the trash, where its text and history stay. Links by a \
          name that a third note has, too, stay as they are; the notes that have them are named.
          """, perform: mergeNotes),
      Verb(
        "links", .notes, [noteArgument], options: Records.options,
        "list the links in a note: id, name, line",
        details: """
          The id is that of the note which the link leads to; it is empty if there is none, or several have this name.
          """, check: Records.check, perform: listLinks),
      Verb(
        "backlinks", .notes, [noteArgument], options: [Option.limit] + Records.options,
        "list the notes that link to a note: id, title, line", check: Records.check,
        perform: listBacklinks),
      Verb(
        "history", .notes, [noteArgument], options: [Option.limit] + Records.options,
        "list what happened to a note: revision, time, what, bytes, who",
        details: """
          The newest comes first. An entry is what one author did until a save, a pause of a minute, the end of the program, or a large \
          removal. show --revision prints the text as it was after it, restore --revision brings that back.
          """, check: Records.check, perform: showHistory),
      Verb(
        "daily", .notes, [Argument("DATE", .date, .optional)],
        options: [.template, .json("print the note as JSON, and not its id alone")],
        "print the id of the note of a day, which is made if there is none",
        details: """
          DATE is today, yesterday, tomorrow, or a day as 2026-11-24; today if it is left out. The day is the title of the note. If there is \
          none, it is made: of the template that is named, else of the template daily, if there is one; else it is empty.

          If several notes have this title, because machines made one each before they met, the oldest is used everywhere, and the others \
          are named.
          """, perform: openDaily),
    ]
  }

  // MARK: - The notebook

  private static var notebook: [Verb] {
    [
      Verb(
        "undo", .notebook, [],
        options: [
          Option("--by", "NAME", .filled, "who did it, as history names them"),
          Option(
            "--since", "TIME", .moment,
            "when they began: how long ago (30m, 2h, 1d), a day (today, 2026-11-24), or a time (2026-11-24T09:30)"
          ),
          Option("--dry-run", "only say what would be done"),
        ] + Records.options,
        "take back what one participant did since a time: id, title, what",
        details: """
          What they typed is gone, and what they deleted is back; what others wrote in between stays. Titles, tags, priorities, places in the list and \
          what they trashed or restored become what they were, where nobody else has changed them since. A note that they made goes to the trash, \
          as it is, unless others have written in it. This is one change of yours, which undo --by takes back, too.
          """, check: checkUndo, perform: undoParticipant),
      Verb(
        "import", .notebook, [Argument("PATH", .file, .some)],
        options: [
          Option("--dry-run", "only say what would be done"),
          Option("--verbose", "list all that is left out, and why"),
          .json("the result as JSON, each in a line"),
        ],
        "make notes of files",
        details: """
          A PATH is a file (.md, .markdown, .txt, .org, Simplenote's notes.json), or a folder with such files; each becomes a note. Again, \
          what has changed in the files since is taken over.
          """, perform: importFiles),
      Verb(
        "export", .notebook, [Argument("DIR", .folder)],
        options: [
          Option("--into", "DIR may have some files before the first export"),
          Option("--ids", "the header of each file has the note's id"),
          Option("--verbose", "list all that is left as it is, and why"),
          .json("the result as JSON"),
        ],
        "write the notes as files",
        details: """
          The notes that are not in the trash are written into DIR. Again, what has changed is written, and files of notes that are gone are \
          removed. Files that others have written or changed stay as they are.
          """, perform: exportFiles),
      Verb(
        "mirror", .notebook, [Argument("DIR", .folder)],
        options: [
          Option("--once", "until they are equal, and not until it is ended"),
          Option("--confirm", "it is meant so that many files or notes are gone or have changed"),
          Option(
            "--restore",
            "it is not meant so: write the files again, or make the notes again what the files have"
          ),
          Option("--adopt", "take over DIR from another notebook or another machine"),
        ],
        "keep files and the notes equal",
        details: """
          The files in DIR and the notes are kept equal, in both directions, until it is ended. Where many files or notes are gone or have \
          changed at once, nothing is done until it is told with --confirm that this is meant so, or with --restore that it is not. With \
          --confirm, --restore and --adopt it ends when they are equal.

          As long as the notebook can't be read completely, or lacks changes from which the files were written (it was restored from a \
          backup), no file is removed or set back: what the files have is taken in, and the status says so.
          """, check: checkMirror, perform: mirrorFiles),
      Verb(
        "sync", .notebook, [Argument("PEER", .peer, .some)],
        options: [
          .every("go on, and exchange changes so often (30s, 5m, 1h)"),
          Option("--adopt", "make notebooks one that were begun independently"),
        ],
        "exchange changes with other machines",
        details: """
          What the notebook and the peer's lack of each other is exchanged with each PEER: a folder, a command that speaks the protocol \
          ('ssh host decent-notes'), or rclone:REMOTE:PATH.
          """, check: checkSync, perform: syncNotebook),
      Verb(
        "purge", .notebook, [Argument("ID", .trashedNote, .any)],
        options: [
          Option("--trash", "all notes in the trash"),
          Option(
            "--older", "AGE", .age, "those that have been there for so long (30d, 12h)"),
        ],
        "forget notes of the trash for good, on all machines",
        details: """
          Their words leave the notebook's files within some days, and at once with compact --purged. Nothing brings them back.
          """, check: checkPurge, perform: purgeNotes),
      Verb(
        "check", .notebook, [],
        options: [
          Option(
            "--repair",
            "first copy what is damaged into the user's state folder, and write again what is known of the notebook there and not in its folder any more"
          )
        ],
        "read everything in the folder, and say what is damaged", isNamed: false,
        perform: checkNotebook),
      Verb(
        "compact", .notebook, [],
        options: [
          Option(
            "--due", "only if there is enough to fold, as any process that writes does by itself"),
          Option(
            "--purged",
            "remove at once what has words of notes that were purged, and say what is left"),
        ],
        "fold the complete log files into one snapshot",
        details: "Log files are removed when a snapshot has stood for them for a day.",
        isNamed: false, check: checkCompact, perform: compactNotebook),
    ]
  }

  // MARK: - Programs

  private static var programs: [Verb] {
    [
      Verb(
        "serve", .programs, [],
        options: [
          Option(
            "--framing", "FRAMING", .word(["auto", "content-length", "lines"]),
            "auto, content-length or lines (default: auto, by the first byte)"),
          .longestMessage,
          Option(
            "--sync", "PEER", .peer, isRepeatable: true,
            "exchange changes with this peer, too; may be repeated"),
          .every("how often (default: 30s)"),
          Option("--mirror", "DIR", .folder, "do what mirror does, too"),
          Option(
            "--confined",
            "for a client that is not trusted: it can read and write the notes of --notebook, and reach no other folder and no peer"
          ),
          Option("--stdio", "accepted and not needed"),
        ],
        "serve one client on standard input and output, in JSON-RPC",
        details: "This is what is done without a verb, too.", isNamed: false, check: checkServe,
        perform: serveClient),
      Verb(
        "mcp", .programs, [],
        options: [
          Option("--read-only", "the agent can change nothing"), .longestMessage,
        ],
        "serve one agent on standard input and output, by the Model Context Protocol",
        details: """
          The agent finds, reads and edits notes while people type in them; what they type stays. It can't purge notes, exchange changes with other \
          machines, or reach another folder. Its changes carry the name that it gives, else that of --name, else agent.
          """, perform: serveAgent),
      Verb(
        "call", .programs, [Argument("METHOD", .method), Argument("PARAMS", .any, .optional)],
        options: [.longestMessage],
        "do one request of the protocol, and print its result",
        details: "PARAMS is JSON, or - for standard input.", perform: makeCall),
      Verb(
        "completions", .programs, [Argument("SHELL", .word(Completions.shells))],
        "print a script that completes commands in bash, zsh or fish",
        details: """
          Load it where the shell starts: in ~/.bashrc and ~/.zshrc with source <(decent-notes completions bash), or zsh (behind compinit); in \
          ~/.config/fish/config.fish with decent-notes completions fish | source. Titles of notes are completed, too.
          """, isNamed: false, perform: Completions.printScript),
      Verb(
        "help", .programs, [Argument("VERB", .verb, .optional)],
        options: [Option("--man", "the manual page, in the language of man")],
        "say more about a verb", isNamed: false, perform: showHelp),
      Verb(
        "demo", .programs, [Argument("FILE", .file)],
        "show two editors writing into a copy of a text file at the same moment", isNamed: false,
        perform: showDemo),
      Verb(
        "complete", nil,
        [Argument("SHELL", .word(Completions.shells)), Argument("WORD", .any, .any)],
        "print what a command could go on with, for the scripts of completions", isNamed: false,
        perform: Completions.print),
    ]
  }
}

/// `help`, and the option `--help`.
func showHelp(
  _ command: Command, _ surroundings: CommandEnvironment
) throws(CommandFailure) -> CommandFailure.Status {
  if command.verb.name == "help", command.has("--man") {
    try writeOutput(manualPage(of: command).utf8)
    return .done
  }
  // Behind another verb it is the option.
  let topic = command.verb.name == "help" ? command.words("VERB").first : command.verb.name
  guard let topic, command.isVerbNamed else {
    try writeOutput(help(for: command).utf8)
    return .done
  }
  guard let verb = command.verbs.first(where: { $0.name == topic }) else {
    throw .misuse("there is no verb \(topic)")
  }
  try writeOutput(help(for: verb, command).utf8)
  return .done
}
