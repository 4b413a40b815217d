// What README.md shows of two editors on two machines is what they show.

import Foundation
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.editor, .tool),
  .enabled(
    if: Vim.isPossible && hasTool("emacs") || isContinuousIntegration,
    "vim, emacs or tmux is missing"))
struct `The screens in the README` {
  private static let (columns, rows) = (34, 6)
  private static let (begin, end) = ("<!-- two editors: begin -->\n", "<!-- two editors: end -->\n")

  @Test func `the README shows what two editors show`() throws {
    let path = projectFolder.appendingPathComponent("README.md").path
    let readme = try String(contentsOfFile: path, encoding: .utf8)
    let begin = try #require(readme.range(of: Self.begin)).upperBound
    let end = try #require(readme.range(of: Self.end)).lowerBound
    let recording = try record()
    if ProcessInfo.processInfo.environment["DECENT_NOTES_RECORD"] == "1" {
      try (readme[..<begin] + recording + readme[end...])
        .write(toFile: path, atomically: true, encoding: .utf8)
    } else {
      #expect(readme[begin..<end] == recording)
    }
  }

  /// The two machines are two folders with a state folder each, and a stand-in for ssh, which reaches the other one as long as the file
  /// `network` is there.
  private func record() throws -> String {
    let folder = TemporaryFolder()
    let (network, bin) = (folder("network"), folder("bin"))
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    try writeProgram(
      """
      #!/bin/sh
      test -e \(network) || { echo 'no route to host' >&2; exit 255; }
      shift
      XDG_STATE_HOME=\(folder("there.state")) DECENT_NOTES=\(folder("there")) exec "$@"

      """, to: bin + "/ssh")
    try Data().write(to: URL(fileURLWithPath: network))

    let vim = try Vim(
      "--cmd \(quoted("let g:decent_notes_name = 'Ana'"))", columns: Self.columns, rows: Self.rows,
      folder: folder, environment: ["PATH": bin + ":" + pathWithProgram])
    let note = try vim.note("Shopping", "milk\neggs")
    try vim.run(#"set laststatus=2 statusline=Vim:\ %{decent_notes#Status()}\ %m"#)
    try vim.run("edit note://\(note)")
    try vim.terminal.type(":NotesSync ssh home decent-notes\r")
    try vim.wait(
      "decent_notes#server#Call('notebook/status', {}).peers->map('get(v:val, \"live\")')->string()",
      "[v:true]")
    let settings = """
      (progn (menu-bar-mode -1)
        (setq decent-notes-name "Ben")
        (setq-default mode-line-format
          '((:eval (format "Emacs: %s %s" (decent-notes-status)
                           (if (buffer-modified-p) "[+]" "")))))
        (decent-notes-open "Shopping")
        (message nil))
      """
    let client = projectFolder.appendingPathComponent("clients/emacs").path
    let emacs = try Terminal(
      "exec emacs -nw -Q -L \(quoted(client)) -l decent-notes --eval \(quoted(settings))",
      columns: Self.columns,
      rows: Self.rows,
      environment: [
        "DECENT_NOTES": folder("there"), "HOME": folder.path,
        "XDG_STATE_HOME": folder("there.state"),
      ])
    var recording = ""

    /// Waits until both show what they should.
    func wait(_ what: String, _ left: [String], _ right: [String]) throws {
      for (terminal, lines) in [(vim.terminal, left), (emacs, right)] {
        try terminal.wait(what) { screen in
          screen.starts(with: lines.dropLast()) && screen[Self.rows - 2] == lines.last
            && !screen[lines.count - 1].contains { $0 != "~" }
        }
      }
    }
    /// Waits until both show what they should, and records what they show.
    func show(_ caption: String, _ left: [String], _ right: [String]) throws {
      try wait(caption, left, right)
      recording += "\n\(caption)\n\n"
      recording += try frame(vim.terminal.screen(), emacs.screen()) + "\n"
    }

    try wait(
      "they are there", ["milk Ben", "eggs", "Vim: Ben"], ["milk Ana", "eggs", "Emacs: Ana"])
    try vim.terminal.type("Obread")
    try emacs.press("M->")
    try emacs.type(", ten")
    try show(
      """
      Ana types in Vim on her machine, Ben in Emacs on his, into one note at once. She has linked the two by
      `:NotesSync ssh home decent-notes`:
      """,
      ["bread", "milk", "eggs, ten Ben", "Vim: Ben"],
      ["bread Ana", "milk", "eggs, ten", "Emacs: Ana"])

    try FileManager.default.removeItem(atPath: network)
    let process = pid_t(try vim.eval("decent_notes#server#Process()"))!
    for child in children(of: process) { kill(child, SIGKILL) }
    try vim.terminal.press("Escape")
    try vim.terminal.type("jA, fresh")
    try emacs.press("M-<", "Down")
    try emacs.type("oat ")
    try show(
      "The connection breaks (`kill -9` of what serves it, and nothing gets through); both type on, in the same line:",
      ["bread", "milk, fresh", "eggs, ten", "Vim: connected"],
      ["bread", "oat milk", "eggs, ten", "Emacs: connected"])

    try Data().write(to: URL(fileURLWithPath: network))
    try show(
      "It comes back by itself, and what was typed is merged:",
      ["bread", "oat milk, fresh Ben", "eggs, ten", "Vim: Ben"],
      ["bread", "oat milk, fresh Ana", "eggs, ten", "Emacs: Ana"])

    kill(process, SIGSTOP)
    try vim.terminal.press("Escape")
    try vim.terminal.type("ggA, rye")
    try emacs.press("M->")
    try emacs.type(" or so")
    try wait(
      "Vim's process hangs",
      ["bread, rye", "oat milk, fresh Ben", "eggs, ten", "Vim: Ben [+]"],
      ["bread", "oat milk, fresh Ana", "eggs, ten or so", "Emacs: Ana"])
    kill(process, SIGKILL)
    try show(
      """
      Vim's process hangs (`kill -STOP`), both type on, and it is killed (`kill -9`). Vim starts another one, which merges what was
      typed, and links again:
      """,
      ["bread, rye", "oat milk, fresh", "eggs, ten or so Ben", "Vim: Ben"],
      ["bread, rye Ana", "oat milk, fresh", "eggs, ten or so", "Emacs: Ana"])
    return recording + "\n"
  }

  /// The processes that a process has started.
  private func children(of process: pid_t) -> [pid_t] {
    let path = "/proc/\(process)/task/\(process)/children"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split { !$0.isNumber }.compactMap { pid_t($0) }
  }

  /// Two screens side by side, without the last row, which has what an editor says for a moment.
  private func frame(_ left: [String], _ right: [String]) -> String {
    func row(_ line: String) -> String {
      "│" + line.padding(toLength: Self.columns, withPad: " ", startingAt: 0) + "│"
    }
    let rule = String(repeating: "─", count: Self.columns)
    let lines = zip(left, right).prefix(Self.rows - 1).map { row($0) + "  " + row($1) }
    let edges = [("┌", "┐"), ("└", "┘")].map { "\($0)\(rule)\($1)  \($0)\(rule)\($1)" }
    return ([edges[0]] + lines + [edges[1]]).map { "    " + $0 }.joined(separator: "\n")
  }
}
