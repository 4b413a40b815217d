import Foundation
import JSONRPC
import TestSupport
import Testing

/// The recipes of the page for shells, each done as it stands there.
@Suite(.waiting, .tags(.tool))
struct `Recipes for a shell` {
  let run = Commands()
  private let home: String

  init() throws {
    home = run.folder("home")
    let bin = home + "/.local/bin"
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: bin + "/decent-notes", withDestinationPath: Server.program)
  }

  /// What stands indented below the paragraph that begins so.
  private func recipe(_ beginning: String) throws -> String {
    let page = projectFolder.appendingPathComponent("clients/shell/README.md")
    let lines = try contents(of: page).split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix(beginning) })
    let rest = lines[start...].drop { !$0.isEmpty }.dropFirst()
    let text = rest.prefix { $0.hasPrefix("    ") || $0.isEmpty }
    #expect(!text.isEmpty)
    return text.map { $0.dropFirst(4) + "\n" }.joined()
      .trimmingCharacters(in: .newlines) + "\n"
  }

  /// The variables of a user who has the program.
  private var environment: [String: String?] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return [
      "HOME": home, "DECENT_NOTES": run.notebook, "XDG_STATE_HOME": run.folder("state"),
      "TZ": "UTC", "PATH": "\(home)/.local/bin:\(path)",
    ]
  }

  /// Runs a command line of a user who has the program.
  @discardableResult
  private func shell(_ command: String, _ others: [String: String] = [:]) throws -> String {
    let environment = environment.merging(others) { $1 }
    let file = run.folder("script-\(UUID().uuidString)")
    try command.write(toFile: file, atomically: false, encoding: .utf8)
    let outcome = try Outcome([], environment: environment, shell: "exec sh \(quoted(file))")
    guard outcome.ending == .status(0) else {
      throw Failure("\(command): \(outcome.ending) \(outcome.errors)")
    }
    return outcome.output
  }

  /// The commands of a page, behind `$ `, each with the lines that stand below it.
  private func commands(of page: String) throws -> [(command: String, output: [String])] {
    var commands: [(command: String, output: [String])] = []
    for line in try contents(of: projectFolder.appendingPathComponent(page)).split(
      separator: "\n", omittingEmptySubsequences: false)
    {
      if line.hasPrefix("    $ ") {
        commands.append((String(line.dropFirst(6)), []))
      } else if line.hasPrefix("    "), !commands.isEmpty {
        commands[commands.count - 1].output.append(String(line.dropFirst(4)))
      } else if line.isEmpty, commands.last?.output == [] || commands.last == nil {
        continue
      } else {
        // What stands indented further below belongs to no command.
        commands.append(("", []))
      }
    }
    return commands.filter { !$0.command.isEmpty }
  }

  /// True if a line is like one of a page, where ids, revisions, numbers and what `…` stands for are others.
  private func isLike(_ line: String, _ shown: String) throws -> Bool {
    var pattern = NSRegularExpression.escapedPattern(for: shown.replacing("/home/ana", with: home))
    for (sign, wanted) in [
      (#"\d+-5dc8[0-9a-f]*…?"#, "[0-9]+-[0-9a-f]{32}"), (#"5dc8…\\\.\d+"#, "[0-9a-f]{32}[.][0-9]+"),
      ("…", ".*"), (#": \d+ |, \d+ "#, "[:,] [0-9]+ "),
    ] {
      pattern = pattern.replacingOccurrences(of: sign, with: wanted, options: .regularExpression)
    }
    return try line.wholeMatch(of: Regex(pattern)) != nil
  }

  @Test(arguments: ["README.md", "clients/shell/README.md"])
  func `What the pages show comes out`(page: String) throws {
    try shell("mkdir ~/vault && echo '# One' > ~/vault/one.md && printf one > ~/vault/two.txt")
    let notebook = ["DECENT_NOTES": home + "/Notes", "EDITOR": "touch"]
    var count = 0
    for (command, output) in try commands(of: page) {
      // One goes on, one needs other machines; exports are of what an import has brought.
      if command.contains(" mirror ") || command.contains(" sync ") || command.hasPrefix("git ") {
        continue
      }
      // A text may end without a line end.
      let lines = try shell("\(command)\nprintf '\\nend\\n'", notebook)
        .split(separator: "\n").map(String.init).dropLast()
      if !output.isEmpty {
        #expect(lines.count == output.count, "\(command): \(lines)")
        for (line, shown) in zip(lines, output) {
          #expect(try isLike(line, shown), "\(command): \(line), not \(shown)")
        }
      }
      count += 1
    }
    #expect(count >= 5)
  }

  @Test func `What the program prints of itself is installed`() throws {
    try shell(
      "mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions ~/.local/share/man/man1"
    )
    try shell(try recipe("The program prints its own completions"))
    for file in [
      ".local/share/bash-completion/completions/decent-notes",
      ".config/fish/completions/decent-notes.fish", ".local/share/man/man1/decent-notes.1",
    ] {
      #expect(try contents(of: URL(fileURLWithPath: "\(home)/\(file)")).count > 500)
    }
  }

  @Test func `A cron job adds a line to the note of the day`() throws {
    let table = try recipe("A cron job").split(separator: "\n").map(String.init)
    #expect(table.count == 2 && table[0].hasPrefix("PATH="))
    let fields = table[1].split(separator: " ", maxSplits: 5).map(String.init)
    #expect(fields[0...4] == ["0", "7", "*", "*", "*"])
    // As cron does: up to a percent sign that no backslash stands before, and without these backslashes.
    let parts = fields[5].replacing("\\%", with: "\u{0}").split(separator: "%")
    let command = parts[0].replacing("\u{0}", with: "%")
    for _ in 0..<2 {
      try shell(String(command), ["PATH": "\(home)/.local/bin:\(table[0].dropFirst(5))"])
    }
    let day = try run("daily").line
    let lines = try run("show", day).lines
    #expect(lines.count == 2)
    for line in lines {
      #expect(line.wholeMatch(of: /\d\d:\d\d +\d+% of the disk are used/) != nil, "\(line)")
    }
  }

  @Test(
    .enabled(
      if: hasTool("fzf") && hasTool("jq") || isContinuousIntegration, "fzf or jq is missing"))
  func `A pipeline finds a note to edit`() throws {
    try run.make("Other", "a", tags: ["work"])
    try run.make("Plan\twith a tab", "b", tags: ["home", "work"])
    try run.make("Plan at home", "c", tags: ["home"])
    let editor = run.folder("editor")
    try writeProgram("#!/bin/sh\necho edited >> \"$1\"\n", to: editor)
    // Nobody is there to choose: the first one that fits is taken.
    try shell(
      try recipe("Choose one"), ["VISUAL": editor, "FZF_DEFAULT_OPTS": "--filter=Plan"])
    #expect(try run("search", "edited").fields.map { $0[1] } == [#"Plan\x09with a tab"#])
  }

  @Test(.enabled(if: hasTool("git") || isContinuousIntegration, "git is missing"))
  func `A hook of git keeps a diary`() throws {
    let repository = run.folder("my project")
    try shell("git init -q \(quoted(repository))")
    let hook = repository + "/.git/hooks/post-commit"
    try writeProgram(try recipe("A git hook"), to: hook)
    func commit(_ subject: String) throws {
      try shell(
        """
        cd \(quoted(repository)) && git -c user.name=a -c user.email=a commit -q --allow-empty \
          -m \(quoted(subject))
        """, ["GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"])
    }
    for subject in ["First", "Second -- \"quoted\""] { try commit(subject) }
    let lines = try run("show", "my project").lines
    #expect(lines.count == 2)
    #expect(lines[0].wholeMatch(of: /- \d{4}-\d\d-\d\d [0-9a-f]+ First/) != nil, "\(lines)")
    #expect(lines[1].hasSuffix(" Second -- \"quoted\""))
    // Where two notes have the name, there is not one more with each commit.
    try run.make("my project")
    for _ in 0..<2 { try commit("Third") }
    #expect(try run("list").fields.count == 2)
  }

  @Test func `An agent is served as its configuration says`() throws {
    let servers = try JSON(parsing: try recipe("An agent"))["mcpServers"]
    let notes = try #require(servers?["notes"])
    let command = try #require(notes["command"]?.string)
    let arguments = notes["args"]?.array?.compactMap(\.string) ?? []
    try run.make("here")
    let server = try Server(
      nil, delimiter: .lines, environment: environment,
      shell: "exec " + ([command] + arguments).map(quoted).joined(separator: " "))
    try server.call(
      "initialize",
      [
        "protocolVersion": "2025-11-25", "capabilities": [:],
        "clientInfo": ["name": "robot", "version": "1"],
      ])
    let found = try server.call("tools/call", ["name": "list_notes"])["structuredContent"]
    #expect(found?["notes"]?.array?.compactMap { $0["title"]?.string } == ["here"])
  }

  @Test(
    .enabled(
      if: hasTool("systemd-analyze") || isContinuousIntegration, "systemd-analyze is missing"))
  func `A unit of systemd exchanges what is new`() throws {
    let unit = home + "/.config/systemd/user/decent-notes-sync.service"
    try FileManager.default.createDirectory(
      atPath: (unit as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    let text = try recipe("A unit of systemd")
    try text.write(toFile: unit, atomically: false, encoding: .utf8)
    let complaints = try shell(
      "systemd-analyze verify --user \(quoted(unit)) 2>&1", ["XDG_RUNTIME_DIR": run.folder.path])
    #expect(complaints == "")

    // The other machine, for `ssh`.
    let other = run.folder("other")
    try writeProgram(
      "#!/bin/sh\n[ \"$1\" = home ] || exit 1\nshift\nDECENT_NOTES=\(quoted(other)) exec \"$@\"\n",
      to: home + "/.local/bin/ssh")
    try run.make("here")
    let start = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    let command = start.dropFirst("ExecStart=".count).replacing("%h", with: home)
    let service = try Server(nil, environment: environment, shell: "exec \(command)")
    try waitUntil("the other machine's note") {
      try run("--notebook", other, "list").fields.contains { $0[1] == "here" }
    }
    kill(service.process, SIGTERM)
    #expect(try service.waitForEnd() == .signal(SIGTERM))
    #expect(text.contains("\nRestart=on-failure\n") && text.contains("\nWantedBy=default.target\n"))
  }
}
