// What README.md shows of two editors is what they show.

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

  private func record() throws -> String {
    let vim = try Vim(columns: Self.columns, rows: Self.rows)
    let note = try vim.note("Shopping", "milk\neggs")
    try vim.run(#"set laststatus=2 statusline=Vim:\ %{decent_notes#Status()}\ %m"#)
    try vim.run("edit note://\(note)")
    let settings = """
      (progn (menu-bar-mode -1)
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
      environment: ["DECENT_NOTES": vim.folder("notes"), "HOME": vim.folder.path])
    var recording = ""

    /// Waits until both show what they should, and records what they show.
    func show(_ caption: String, _ left: [String], _ right: [String]) throws {
      for (terminal, lines, name) in [(vim.terminal, left, "Vim"), (emacs, right, "Emacs")] {
        // Of what is typed only a process that hangs does not acknowledge everything.
        let isModified = left != right && name == "Vim"
        let status = "\(name): connected" + (isModified ? " [+]" : "")
        try terminal.wait(caption) { screen in
          screen.starts(with: lines) && screen[Self.rows - 2] == status
            && !screen[lines.count].contains { $0 != "~" }
        }
      }
      recording += "\n\(caption)\n\n"
      recording += try frame(vim.terminal.screen(), emacs.screen()) + "\n"
    }

    var text = ["milk", "eggs"]
    try show("they are there", text, text)
    recording = ""
    try vim.terminal.type("Obread")
    try emacs.press("M->")
    try emacs.type(", ten")
    text = ["bread", "milk", "eggs, ten"]
    try show(
      "Vim and Emacs, each with a process of its own, type into one note at once:", text, text)
    let process = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(process, SIGSTOP)
    try vim.terminal.press("Escape")
    try vim.terminal.type("jA, fresh")
    try emacs.press("M-<", "Down")
    try emacs.type("oat ")
    try show(
      "Vim's process hangs (`kill -STOP`); both type on, in the same line:",
      ["bread", "milk, fresh", "eggs, ten"], ["bread", "oat milk", "eggs, ten"])
    kill(process, SIGKILL)
    text = ["bread", "oat milk, fresh", "eggs, ten"]
    try show(
      "It is killed (`kill -9`), and Vim starts another one, which merges what was typed:", text,
      text)
    return recording + "\n"
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
