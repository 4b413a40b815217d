import Foundation
import TestSupport
import Testing

/// A shell that completes commands.
enum Shell: String, CaseIterable, Sendable {
  case bash, zsh, fish

  static let isPossible =
    Terminal.isPossible && allCases.allSatisfy { hasTool($0.rawValue) } || isContinuousIntegration

  /// Starts it without anybody's settings.
  var command: String {
    switch self {
    case .bash: "bash --norc --noprofile -i"
    case .zsh: "zsh -f -i"
    case .fish: "fish --no-config -i"
    }
  }

  /// What a user has in the shell's settings, and a prompt that is told from everything else.
  var settings: String {
    switch self {
    case .bash: "PS1='> '; source <(decent-notes completions bash)"
    case .zsh:
      "PROMPT='> '; autoload -U compinit; compinit -D; source <(decent-notes completions zsh)"
    case .fish: "function fish_prompt; echo '> '; end; decent-notes completions fish | source"
    }
  }
}

@Suite(
  .waitingLong, .tags(.tool, .slow),
  .enabled(if: Shell.isPossible, "tmux, bash, zsh or fish is missing"))
struct `Completions in shells` {
  let run = Commands()

  /// Everything that means something to a shell.
  private static let hostile =
    "it's \"q\" $HOME `x` a!b c:d=e (\u{E4}) [f] ~ # \\ | & ; < > * ? {g,h}"

  init() throws {
    try run.make("Other list", "text of other")
    try run.make(Self.hostile, "text of hostile")
    try run.make("Shopping", "text of shopping", tags: ["home", "two words"])
    try run.make("colon: a:bc", "text of colon")
    try run.make("Thrown", "text of thrown")
    try run.make("-draft", "text of draft")
    try run.make("sketch", "x", tags: ["template"])
    #expect(try run("trash", "Thrown").status == 0)
    try FileManager.default.createDirectory(
      atPath: run.folder("files/folder one"), withIntermediateDirectories: true)
    try "x".write(toFile: run.folder("files/file one.txt"), atomically: false, encoding: .utf8)
  }

  /// A shell in the folder with the files.
  private func start(_ shell: Shell) throws -> Terminal {
    let home = run.folder("home")
    try? FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    let terminal = try Terminal(
      "cd \(quoted(run.folder("files"))) && exec \(shell.command)", columns: 160, rows: 50,
      environment: [
        "HOME": home, "XDG_STATE_HOME": run.folder("state"), "DECENT_NOTES": run.notebook,
        "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "NO_COLOR": "1",
      ])
    // The shell may not read yet: what is typed then waits, and stands there twice.
    try terminal.wait("a prompt") { $0.contains { !$0.isEmpty } }
    try terminal.type(shell.settings)
    try terminal.press("Enter")
    try terminal.wait("its own prompt") { $0.contains(">") }
    return terminal
  }

  /// Clears the screen and the line.
  private func clear(_ terminal: Terminal) throws {
    // Not CTRL-C: with it the terminal throws away what was typed behind it.
    try terminal.press("C-u")
    try terminal.press("C-l")
    try terminal.wait("an empty line") { screen in
      screen.filter { !$0.isEmpty } == [">"]
    }
  }

  @Test(arguments: Shell.allCases)
  func `go on with verbs, options, values, files, and titles of notes`(_ shell: Shell) throws {
    let terminal = try start(shell)
    let dash = shell == .fish ? "-" : "--"
    for (typed, completed) in [
      ("hist", "history"), ("list \(dash)\(dash == "-" ? "-" : "")pri", "list --priority"),
      ("list --priority hi", "list --priority high"), ("list --priority=lo", "list --priority=low"),
      ("show Ot", #"show Other\ list"#), (#"show Other\ l"#, #"show Other\ list"#),
      ("show \"Ot", "show \"Other list\""), ("show 'Other l", "show 'Other list'"),
      ("help da", "help daily"), ("call notebook/lis", "call notebook/list"),
      ("completions ba", "completions bash"), ("daily yes", "daily yesterday"),
      ("restore T", "restore Thrown"), ("untag Shopping h", "untag Shopping home"),
      ("untag Shopping tw", #"untag Shopping two\ words"#),
      ("list --tag tem", "list --tag template"),
      ("new x --template sk", "new x --template sketch"), ("import fi", #"import file\ one.txt"#),
      ("mirror fo", #"mirror folder\ one/"#), ("--notebook fo", #"--notebook folder\ one/"#),
      ("--name x sho", "--name x show"), ("trash Shopping Ot", #"trash Shopping Other\ list"#),
      ("show -- Ot", #"show -- Other\ list"#),
    ] {
      try clear(terminal)
      try terminal.type("decent-notes \(typed)")
      try terminal.press("Tab")
      try terminal.wait("\(shell): \(completed)") { $0.contains("> decent-notes \(completed)") }
    }
    // What there is not is not made up, and nothing is said.
    for typed in [
      "show Thro", "show no such", "new Ot", "append Shopping Ot", "lst x",
      "--notebook /none show O",
    ] {
      try clear(terminal)
      try terminal.type("decent-notes \(typed)")
      try terminal.press("Tab")
      try terminal.type("#")
      try terminal.wait("\(shell): \(typed)") {
        $0.filter { !$0.isEmpty } == ["> decent-notes \(typed)#"]
      }
    }
    // All there is.
    try clear(terminal)
    try terminal.type("decent-notes ")
    try terminal.press("Tab", "Tab")
    try terminal.wait("all verbs") { screen in
      let text = screen.joined(separator: " ")
      return ["append", "completions", "untag", "daily", "mirror"].allSatisfy(text.contains)
    }
  }

  @Test(arguments: Shell.allCases)
  func `write titles so that the shell hands them on as they are`(_ shell: Shell) throws {
    let terminal = try start(shell)
    for (typed, text) in [
      ("show it", "hostile"), ("show \"it", "hostile"), ("show 'it", "hostile"),
      ("show co", "colon"),
      ("show colon:", "colon"), ("show \"colon: a:", "colon"), (#"show colon:\ a:b"#, "colon"),
      ("show Sh", "shopping"), ("show \"Oth", "other"),
    ] {
      // In single quotes an apostrophe has ended before.
      if shell != .bash, typed == "show 'it" { continue }
      try clear(terminal)
      try terminal.type("decent-notes \(typed)")
      try terminal.press("Tab")
      // The completion is there when a character comes behind it.
      try terminal.press("Enter")
      try terminal.wait("\(shell): \(typed)") { $0.contains("text of \(text)") }
    }
    // Of another notebook, and from elsewhere in a line.
    #expect(
      try run("--notebook", run.folder("other"), "new", "Elsewhere", "--text", "there").status == 0)
    try clear(terminal)
    try terminal.type("true; decent-notes --notebook \(run.folder("other")) show El")
    try terminal.press("Tab", "Enter")
    try terminal.wait("the other notebook") { $0.contains("there") }
  }
}

@Suite(.waiting)
struct `What completions offer` {
  let run = Commands()

  private func offers(_ words: String..., shell: String = "fish") throws -> [String] {
    let offered = try run.run(
      ["complete", shell, "--", "decent-notes", "--notebook", run.notebook] + words)
    #expect(offered.status == 0 && offered.errors == "", "\(offered.errors)")
    return offered.lines
  }

  @Test func `All verbs and options of help are offered, and hidden ones are not`() throws {
    let help = try run("--help").lines
    let verbs = try offers("").dropFirst().map { String($0.prefix { $0 != "\t" }) }
    #expect(verbs.count > 20 && !verbs.contains("complete"))
    for verb in verbs {
      #expect(help.contains { $0.hasPrefix("  \(verb) ") }, "\(verb)")
      let help = try run("help", verb).output + help.joined(separator: "\n")
      let options = try offers(verb, "-").dropFirst().map { String($0.prefix { $0 != "\t" }) }
      #expect(options.contains("--help") && options.contains("--name"))
      #expect(!options.contains("--notebook") && !options.contains("--seed"))
      for option in options { #expect(help.contains("\n  \(option)"), "\(verb) \(option)") }
    }
    // The scripts have no list of their own.
    for shell in Shell.allCases {
      let script = try run("completions", shell.rawValue).output
      for verb in verbs where !["complete", "completions"].contains(verb) {
        let lines = script.split(separator: "\n").filter { !$0.contains("#") }
        #expect(!lines.contains { $0.contains(" \(verb) ") }, "\(shell) \(verb)")
      }
      #expect(!script.contains("--tag"))
    }
  }

  @Test func `An option has a value in all verbs that have it, or in none`() throws {
    var values: [String: Set<Bool>] = [:]
    for verb in try offers("").dropFirst().map({ String($0.prefix { $0 != "\t" }) }) {
      for line in try run("help", verb).lines where line.hasPrefix("  -") {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).dropFirst(2)
        let hasValue = words.count > 1 && words[words.startIndex + 1].contains { $0.isUppercase }
        values[String(words.first!), default: []].insert(hasValue)
      }
    }
    #expect(values.count > 25)
    for (name, kinds) in values { #expect(kinds.count == 1, "\(name)") }
  }

  @Test func `An option that was given is offered again only if it counts again`() throws {
    let options = try offers("list", "--trash", "--tag", "a", "--").map { $0.prefix { $0 != "\t" } }
    #expect(options.contains("--tag") && !options.contains("--trash"))
    #expect(try offers("list", "--tag=a", "--trash", "x") == ["words"])
    #expect(try offers("--notebook", "") == ["folders"])
    #expect(try offers("import", "") == ["files"])
    #expect(try offers("list", "--", "--") == ["words"])
  }

  @Test func `Titles that can't be typed are left out, and one that several have is offered once`()
    throws
  {
    for title in ["a\tb", "a\u{1B}c", "aa", "aa", "", "-a", "ab"] { try run.make(title) }
    #expect(Set(try offers("show", "a")) == ["words", "aa\t", "ab\t"])
    let id = try run("list").fields[0][0]
    #expect(try offers("show", String(id.prefix(8))) == ["words", "\(id)\tab"])
    #expect(try offers("show", String(id.prefix(5))) == ["words"])
  }

  @Test func `Where there is no notebook, or nothing to go on with, nothing is said`() throws {
    for words in [
      ["show", ""], ["untag", "x", ""], ["list", "--tag", ""], ["nonsense", ""], ["new", ""],
    ] {
      let offered = try run.run(["complete", "zsh", "--", "decent-notes"] + words)
      #expect(offered.status == 0 && offered.errors == "" && offered.lines == ["words"], "\(words)")
    }
    for line in [
      "", "decent-notes", "decent-notes show \"", "decent-notes show '", "decent-notes show \\",
      "'", "a=b decent-notes sh", "decent-notes \"sh\\", "\u{1F469}\u{200D}\u{1F467} 'x",
    ] {
      for replaced in ["", "sh", "\"", "zzz"] {
        let offered = try run("complete", "bash", "--", line, replaced)
        #expect(offered.status == 0 && offered.errors == "", "\(line) \(offered.errors)")
      }
    }
    #expect(try run("complete", "bash").status == 0)
    #expect(access(run.notebook, F_OK) != 0)
  }

  @Test func `Variables before the program's name are passed over`() throws {
    #expect(
      try run("complete", "bash", "--", "A=1 B='2 3' decent-notes sho", "sho").lines.contains(
        "show"))
  }

  @Test(.tags(.slow)) func `Of very many notes some are offered`() throws {
    try run.makeMany(20_000)
    #expect(try offers("show", "").count == 201)
    #expect(try offers("show", "Note 1999").count == 12)
  }
}
