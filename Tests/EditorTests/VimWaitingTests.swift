// Vim: what others write while a script or a command is under way, and keys that come behind an undo.

import Foundation
import JSONRPC
import TestSupport
import Testing

/// A way in which a script of Vim waits, and the keys that end the wait.
struct ScriptWait: CustomTestStringConvertible {
  let statement: String
  var keys = ""

  var testDescription: String { statement }

  /// How long a wait takes that no key ends. Others write within it.
  private static let long = "while !get(g:, 'go') | sleep 5m | endwhile"

  static let all: [ScriptWait] = [
    ScriptWait(statement: "call getchar()", keys: "z"),
    ScriptWait(statement: "call getcharstr()", keys: "z"),
    ScriptWait(statement: "call input('>')", keys: "z\r"),
    ScriptWait(statement: "call inputlist(['a', 'b'])", keys: "1\r"),
    ScriptWait(statement: "call confirm('?', '&Yes')", keys: "y"),
    ScriptWait(statement: "%s/one/one/c", keys: "y"),
    ScriptWait(statement: long),
    ScriptWait(statement: "while !get(g:, 'go') | call getchar(0) | sleep 5m | endwhile"),
    ScriptWait(
      statement: "let b = term_start(['cat'], #{hidden: 1})"
        + " | while !get(g:, 'go') | call term_wait(b, 20) | sleep 1m | endwhile | execute 'bwipeout!' b"
    ),
    ScriptWait(
      statement: "let j = job_start(['cat'], #{mode: 'json'})"
        + " | while !get(g:, 'go') | call ch_evalexpr(j, 1, #{timeout: 20}) | sleep 1m | endwhile"
        + " | call job_stop(j)"),
    ScriptWait(
      statement: "let j = job_start(['cat'])"
        + " | while !get(g:, 'go') | call ch_read(j, #{timeout: 20}) | sleep 1m | endwhile"
        + " | call job_stop(j)"),
  ]

  /// What begins a script: commands of Vim, and keys. `Work` is its function.
  static let beginnings: [(commands: [String], keys: String)] = [
    ([], ":call Work()\r"),
    (["nnoremap X <Cmd>call Work()<CR>"], "X"),
    (["let @q = ':call Work()' .. nr2char(13)"], "@q"),
    (["call timer_start(0, 'Work')"], ""),
    (["let g:job = job_start('true', #{exit_cb: 'Work'})"], ""),
    (["let g:job = job_start(['echo', 'x'], #{out_cb: 'Work'})"], ""),
    (["autocmd BufWritePre * call Work()"], ":w\r"),
    (["set updatetime=50", "autocmd CursorHold * ++once call Work()"], "j"),
    (["autocmd SafeState * ++once ++nested call Work()"], "j"),
    (["call popup_create('x', #{time: 20, callback: 'g:Work'})"], ""),
    (["inoremap <F2> <Cmd>call Work()<CR>"], "i\u{1b}OQ\u{1b}"),
    (["set operatorfunc=Work"], "g@l"),
    // A line of commands, without a function.
    (
      [
        "nnoremap X <Cmd>let row = index(getbufline(g:buf, 1, '$'), 'two') + 1<Bar>let g:waits = 1<Bar>"
          + long.replacingOccurrences(of: "|", with: "<Bar>")
          + "<Bar>call setbufline(g:buf, row, 'TWO')<CR>"
      ], "X"
    ),
    // The script works on the note from another window.
    (["new", "call timer_start(0, 'Work')"], ""),
    (["new"], ":call Work()\r"),
  ]
}

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: what others do while Vim is at something else` {
  /// Shows a note whose second line a script looks for, and changes after it has waited.
  private func showing(_ wait: ScriptWait) throws -> (Vim, String) {
    let (vim, id) = try Vim.showing("one\ntwo\nthree")
    try vim.run(
      """
      let g:buf = bufnr()
      function Work(...) abort
        let row = index(getbufline(g:buf, 1, '$'), 'two') + 1
        let g:waits = 1
        \(wait.statement)
        call setbufline(g:buf, row, 'TWO')
      endfunction
      """)
    return (vim, id)
  }

  /// Has another process write a line above while the script waits, and then lets the script go on.
  private func writeAbove(_ vim: Vim, _ id: String, _ wait: ScriptWait) throws {
    try vim.wait("get(g:, 'waits')", "1")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.wait("decent_notes#live#Of(g:buf).skipped == decent_notes#live#Of(g:buf).version", "1")
    #expect(try vim.eval("getbufline(g:buf, 1)[0]") == "one")
    try vim.run("let g:go = 1")
    if !wait.keys.isEmpty { try vim.terminal.type(wait.keys) }
    try waitUntil("\(wait.testDescription): the note is \(try vim.text(id))") {
      try vim.text(id) == "zero\none\nTWO\nthree"
    }
    try vim.wait("getbufline(g:buf, 1, '$')->join()", "zero one TWO three")
  }

  @Test(arguments: ScriptWait.all)
  func `a script that waits changes the line that it meant, whichever way it waits`(
    _ wait: ScriptWait
  ) throws {
    for beginning in ["call timer_start(0, 'Work')", "call feedkeys(\":call Work()\\r\", 't')"] {
      let (vim, id) = try showing(wait)
      try vim.run(beginning)
      try writeAbove(vim, id, wait)
    }
  }

  @Test(arguments: ScriptWait.beginnings.indices)
  func `a script that waits changes the line that it meant, however it was begun`(_ index: Int)
    throws
  {
    let wait = ScriptWait.all[6]
    let (vim, id) = try showing(wait)
    let beginning = ScriptWait.beginnings[index]
    for command in beginning.commands { try vim.run(command) }
    if !beginning.keys.isEmpty { try vim.terminal.type(beginning.keys) }
    try writeAbove(vim, id, wait)
  }

  @Test func `a terminal in which somebody types keeps no note from what others write`() throws {
    let (vim, id) = try Vim.showing("one")
    try vim.run("let g:buf = bufnr() | terminal cat")
    try vim.wait("mode()", "t")
    try vim.terminal.type("typed")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.wait("getbufline(g:buf, 1, '$')->join()", "zero one")
    #expect(try vim.eval("mode()") == "t")
  }

  @Test(arguments: [("v", "s", "a Xwo 2\n"), ("V", "S", "X")])
  func `what is selected in Select mode stays selected when lines come above`(
    _ key: String, _ mode: String, _ replaced: String
  ) throws {
    let (vim, id) = try Vim.showing("one\ntwo 1\ntwo 2\nthree")
    try vim.terminal.type("2G0\(key)j")
    try vim.terminal.press("C-g")
    try vim.wait("mode()", mode)
    try vim.change(id) { $0 = "null\nzero\n" + $0 }
    try vim.agree(id, on: "null\nzero\none\ntwo 1\ntwo 2\nthree")
    #expect(try vim.eval("[mode(), line('v'), line('.')]->string()") == "['\(mode)', 4, 5]")
    // And when something comes into its first line.
    try vim.change(id) { $0 = $0.replacingOccurrences(of: "two 1", with: "a two 1") }
    try vim.agree(id)
    try vim.terminal.type("X")
    try vim.agree(id, on: "null\nzero\none\n\(replaced)three")
  }

  @Test func `a block in Select mode is replaced before lines come above`() throws {
    let (vim, id) = try Vim.showing("one\ntwo\ntwo\nend")
    try vim.terminal.type("2G0")
    try vim.terminal.press("C-v")
    try vim.terminal.type("j")
    try vim.terminal.press("C-g")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.waitUntilSkipped()
    try vim.terminal.type("X\u{1b}")
    try vim.agree(id, on: "zero\none\nXwo\nXwo\nend")
  }

  // MARK: - Undo

  @Test func `keys behind an undo find its effect, in a mapping, a macro and Insert mode`() throws {
    let (vim, id) = try Vim.showing("one\ntwo\nthree\nfour")
    try vim.run("nmap Z ddujox<Esc>")
    try vim.terminal.type("2GZ")
    try vim.agree(id, on: "one\ntwo\nthree\nx\nfour")
    #expect(try vim.eval("line('.')") == "4")
    try vim.terminal.type("u")
    try vim.agree(id, on: "one\ntwo\nthree\nfour")
    try vim.terminal.type("gg:let @q = 'ddujoy' .. nr2char(27)\r@q")
    try vim.agree(id, on: "one\ntwo\ny\nthree\nfour")
    try vim.terminal.type("u\u{12}uoz\u{1b}")
    try vim.agree(id, on: "one\ntwo\nthree\nz\nfour")
    // In Insert mode the next letter stands where the one before was taken back.
    try vim.terminal.type("GA1")
    try vim.agree(id, on: "one\ntwo\nthree\nz\nfour1")
    try vim.terminal.press("C-o")
    try vim.terminal.type("u2")
    try vim.agree(id, on: "one\ntwo\nthree\nz\nfour2")
    try vim.terminal.press("Escape")
    // In a script, too.
    try vim.run("let g:lines = [] | normal ggdd")
    try vim.run("normal u")
    try vim.run("call add(g:lines, getline(1))")
    #expect(try vim.eval("g:lines[0]") == "one")
  }

  @Test func `keys behind an undo wait for a server that is stopped`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    try vim.terminal.type("A!\u{1b}G")
    try vim.agree(id, on: "one!\ntwo")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    try vim.terminal.type("uix")
    try vim.wait("decent_notes#live#Of(bufnr()).isReversing", "true")
    try vim.change(id) { $0 = "zero\n" + $0 }
    kill(server, SIGCONT)
    try vim.agree(id, on: "zero\nonxe\ntwo")
    try vim.wait("[mode(), line('.')]->string()", "['i', 2]")
  }

  @Test func `an undo that was given up moves no cursor later, and ends its mapping`() throws {
    let (vim, id) = try Vim.showing("one\ntwo\nthree")
    try vim.terminal.type("A!\u{1b}")
    try vim.agree(id, on: "one!\ntwo\nthree")
    try vim.run("nmap Z udd")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    try vim.terminal.type("Z")
    try vim.wait("decent_notes#live#Of(bufnr()).isReversing", "true")
    try vim.terminal.press("C-c")
    try vim.terminal.wait("the word about it") { $0.last?.contains("given up waiting") == true }
    try vim.terminal.type("G")
    try vim.wait("line('.')", "3")
    kill(server, SIGCONT)
    try vim.agree(id, on: "one\ntwo\nthree")
    #expect(try vim.eval("line('.')") == "3")
  }

  @Test func `what others write while an undo waits moves no cursor there`() throws {
    let (vim, id) = try Vim.showing("one\ntwo\nthree")
    try vim.terminal.type("GA!\u{1b}")
    try vim.agree(id, on: "one\ntwo\nthree!")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    try vim.terminal.type("gguix")
    try vim.wait("decent_notes#live#Of(bufnr()).isReversing", "true")
    kill(server, SIGCONT)
    try vim.agree(id, on: "one\ntwo\nthrexe")
  }

  @Test func `the undo of a change in each of 35,000 lines takes little more than Vim's own`()
    throws
  {
    let lines = (0..<35_000).map { "line \($0) " + String(repeating: "x", count: 50) }
    let vim = try Vim()
    let id = try vim.note("Long", lines.joined(separator: "\n"))
    try vim.run("edit note://\(id)")
    let process = pid_t(try vim.eval("getpid()"))!
    func undo(_ isUndone: String) throws -> TimeInterval {
      let before = try processorSeconds(of: process)
      try vim.terminal.type("u")
      try waitUntil("undone") { try vim.eval(isUndone) == "1" }
      return try processorSeconds(of: process) - before
    }
    let isUndone = "getline('$')[-1 :] ==# 'x' && getline(1)[-1 :] ==# 'x'"
    try vim.terminal.type("ggVG:s/$/y/\r20000G5l")
    try vim.wait("line('.') .. getline('$')[-1 :]", "20000y")
    try vim.wait("&modified", "0")
    let own = try undo(isUndone)
    // The cursor goes to the first change.
    try vim.wait("[line('.'), col('.')]->string()", "[1, 57]")
    #expect(try vim.agree(id) == lines.joined(separator: "\n"))
    try vim.run(
      "let g:lines = getline(1, '$') | enew | set undolevels=-1 | call setline(1, g:lines)"
        + " | set undolevels=1000")
    try vim.terminal.type("ggVG:s/$/y/\rG")
    try vim.wait("getline('$')[-1 :]", "y")
    let vims = try undo(isUndone)
    #expect(own < vims + 0.5, "\(own) s of the processor, \(vims) s of Vim's own undo")
  }
}

/// The seconds of the processor that a process has used.
private func processorSeconds(of process: pid_t) throws -> TimeInterval {
  let fields = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    .split(separator: ")").last!.split(separator: " ")
  return Double(Int(fields[11])! + Int(fields[12])!) / Double(sysconf(Int32(_SC_CLK_TCK)))
}
