import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waitingLong, .tags(.tool, .slow),
  .enabled(
    if: hasTool("git") && hasTool("faketime") || isContinuousIntegration,
    "git or faketime is missing"))
struct `A notebook in git` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  /// What stands indented below this line of the recipe.
  private func recipe(_ line: String) throws -> String {
    let page = projectFolder.appendingPathComponent("Protocol/sync.md")
    let lines = try String(contentsOf: page, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0 == line })
    let text = lines[(start + 2)...].prefix { $0.hasPrefix("    ") }
    return text.map { $0.dropFirst(4) + "\n" }.joined()
  }

  @discardableResult
  private func git(_ notebook: String, _ command: String) throws -> String {
    try shell(
      """
      export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
      export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
      set -e; cd "$2"; trap 'test $? = 0 || git status >&2' EXIT
      \(command)
      """, notebook)
  }

  private func exchange(_ notebook: String) throws {
    try git(notebook, try recipe("Whenever notes are to be exchanged:"))
  }

  private static let conflict =
    "If there was a conflict all the same, because removals were committed, the files of both sides together are right:"

  @Test
  func `Clones that edit, fold and remove files merge without conflicts`() throws {
    let (a, b, hub) = (folder("a"), folder("b"), folder("hub"))
    var ledger = Ledger()
    try begin(a, ["first"], bytes: 1000, &ledger)
    let note = try serve(a)
    let id = try note.create("shared", &ledger).get()
    try note.leave()
    for name in [".gitattributes", ".gitignore"] {
      try recipe("`\(name)`:").write(toFile: a + "/" + name, atomically: true, encoding: .utf8)
    }
    try git(folder.path, "git init -q -b main --bare hub; git init -q -b main a")
    try git(
      a,
      """
      git remote add origin \(hub); git add .; git commit -qm notes; git push -q -u origin main
      """)
    // A clone whose user has another idea of line ends.
    try git(folder.path, "git clone -q -b main -c core.autocrlf=true hub b")
    try audit(b, ledger)

    /// Folds what is complete, and removes what was folded.
    func fold(_ notebook: String) throws {
      for shell in [nil, "export NO_FAKE_STAT=1; exec faketime -f '+2d' \"$@\""] {
        let outcome = try Outcome(["--notebook", notebook, "compact"], shell: shell)
        #expect(outcome.ending == .status(0), "\(outcome.errors)")
      }
    }
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
      if round > 0 {
        for notebook in round == 3 ? [a] : [a, b] {
          try fold(notebook)
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
        // Nothing but files that were folded.
        let changes = try git(notebook, "git status --porcelain").split(separator: "\n")
        #expect(changes.allSatisfy { $0.hasPrefix(" D ") }, "\(changes)")
      }
    }
    // A text moves from a log into a snapshot, which git takes for a log that was renamed, with its folder; and the session
    // goes on, in that folder.
    let writer = try serve(a)
    // It does so where a snapshot has the text as it is: what can be compressed looks like nothing else.
    var random = SplitMix64(seed: 1)
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    func paste(lines: Int = 1500) throws {
      let words = (0..<lines).map { _ in String((0..<80).map { _ in random.pick(letters) }) }
      let text = JSON.string(words.map { "\n" + $0 }.joined())
      try writer.call("note/append", ["id": id, "text": text])
      for word in words { ledger.keep(word) }
      try writer.wait(for: "a complete log") {
        try logs(of: a).contains { $0.hasSuffix(".seg") && size($0) > 60_000 && !old.contains($0) }
      }
    }
    var old = Set(try logs(of: a))
    try paste()
    try exchange(a)
    try exchange(b)
    try fold(b)
    old = Set(try logs(of: a))
    try paste(lines: 6000)
    for notebook in [b, a, b] { try exchange(notebook) }
    for notebook in [a, b] { try audit(notebook, ledger) }
    // The same with removals that were committed, and what is to be done then.
    try fold(b)
    try git(b, "git add -A; git commit -qm removals; git push -q")
    old = Set(try logs(of: a))
    try paste()
    try git(a, "git add .; git commit -qm notes")
    #expect(throws: Failure.self) { try git(a, "git pull -q --no-rebase --no-edit") }
    try git(a, try recipe(Self.conflict))
    for notebook in [a, b] { try exchange(notebook) }
    try writer.leave()
    for notebook in [a, b, a] { try exchange(notebook) }
    for notebook in [a, b] { try audit(notebook, ledger) }

    // What is not in the folder but in git is all there, too: for one who comes later, and for one who goes back.
    try git(folder.path, "git clone -q -b main hub c")
    try audit(folder("c"), ledger)
    #expect(try Outcome(["--notebook", folder("c"), "check"]).ending == .status(0))
    #expect(try git(hub, "git ls-tree -r --name-only main").contains(".open") == false)
  }
}
