import Foundation
import JSONRPC
import Testing

@Suite(
  "A notebook in git", .enabled(if: hasTool("git") || isContinuousIntegration, "git is missing"))
struct GitTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The file of this name in the recipe, between its name and the next line that is not indented.
  private func recipe(_ name: String) throws -> String {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Protocol/sync.md")
    let lines = try String(contentsOf: page, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0 == "`\(name)`:" })
    let text = lines[(start + 2)...].prefix { $0.hasPrefix("    ") }
    return text.map { $0.dropFirst(4) + "\n" }.joined()
  }

  @discardableResult
  private func git(_ notebook: String, _ command: String) throws -> String {
    try shell(
      """
      export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
      export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
      cd "$2" && { \(command)
      } 2>&1 || { git status; exit 1; }
      """, notebook)
  }

  /// What the recipe says to do whenever notes are to be exchanged.
  private func exchange(_ notebook: String) throws {
    try git(
      notebook,
      """
      git add -A . && { git diff --cached --quiet || git commit -qm notes; } &&
      git pull -q --no-rebase --no-edit origin main && git push -q origin HEAD:main
      """)
  }

  @Test("Clones that edit, fold and remove files merge without conflicts")
  func clones() throws {
    let (a, b, hub) = (folder("a"), folder("b"), folder("hub"))
    var ledger = Ledger()
    try begin(a, ["first"], bytes: 1000, &ledger)
    let note = try serve(a)
    let id = try note.create("shared", &ledger).get()
    try note.leave()
    for name in [".gitattributes", ".gitignore"] {
      try recipe(name).write(toFile: a + "/" + name, atomically: true, encoding: .utf8)
    }
    let settings = "git config merge.renames false"
    try git(
      folder.path, "git init -q -b main --bare hub && git init -q -b main a")
    try git(
      a,
      """
      \(settings) && git remote add origin \(hub) && git add -A . && git commit -qm notes &&
      git push -q origin HEAD:main
      """)
    // A clone whose user has another idea of line ends.
    try git(
      folder.path, "git clone -q -b main -c core.autocrlf=true hub b && cd b && \(settings)")
    try audit(b, ledger)

    let later = "export NO_FAKE_STAT=1; exec faketime -f '+2d' \"$@\""
    for round in 0..<4 {
      for (number, notebook) in [a, b].enumerated() {
        // Many short sessions, and one that goes on during the exchange.
        for session in 0..<8 {
          let word = "w\(number)r\(round)s\(session)"
          let server = try serve(notebook)
          _ = try server.append(word, to: id, &ledger).get()
          try server.leave()
        }
      }
      let live = try [a, b].map { try serve($0) }
      for (number, server) in live.enumerated() {
        _ = try server.append("l\(number)r\(round)", to: id, &ledger).get()
      }
      // Both fold, and remove what they have folded; in the last round only one of them.
      if hasTool("faketime"), round > 0 {
        for notebook in round == 3 ? [a] : [a, b] {
          for shell in [nil, later] {
            let outcome = try Outcome(["--notebook", notebook, "compact"], shell: shell)
            #expect(outcome.ending == .status(0), "\(outcome.errors)")
          }
        }
      }
      try exchange(a)
      try exchange(b)
      for server in live {
        _ = try server.append("x\(round)x\(UUID().uuidString)", to: id, &ledger).get()
        try server.leave()
      }
      for notebook in [b, a, b] { try exchange(notebook) }
      for notebook in [a, b] {
        try audit(notebook, ledger, "round \(round)")
        #expect(try git(notebook, "git status --porcelain") == "")
      }
    }
    // What is not in the folder but in git is all there, too: for one who comes later, and for one who goes back.
    try git(folder.path, "git clone -q -b main hub c")
    try audit(folder("c"), ledger)
    #expect(try Outcome(["--notebook", folder("c"), "check"]).ending == .status(0))
    #expect(try git(hub, "git ls-tree -r --name-only main").contains(".open") == false)
  }
}
