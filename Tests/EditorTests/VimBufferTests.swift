// Notes in buffers of Vim: with any options, others' line breaks, sessions, stops, long pastes.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: a note as a buffer like others` {
  @Test func `a plugin that is sourced again, as by the user's settings, goes on`() throws {
    let vim = try Vim()
    try vim.run("runtime plugin/decent_notes.vim")
    let note = try vim.other.call("note/create", ["title": "Note", "text": "begin"])["note"]!["id"]!
    try vim.run("edit note://\(note.string!)")
    try vim.wait("g:Text()", "begin")
  }

  @Test func `any options for patterns will do`() throws {
    let (vim, id) = try Vim.showing("start")
    var text = "start"
    let vi = "aAbBcCdDeEfFgHiIjJkKlLmMnoOpPqrRsStuvwWxXyZ$!%*-+<>;"
    for number in 0..<144 {
      var rest = number
      func pick(_ choices: String...) -> String {
        defer { rest /= choices.count }
        return choices[rest % choices.count]
      }
      // The first one sets others.
      try vim.run(
        "set "
          + [
            pick("nocompatible cpoptions&vim", "nocompatible cpoptions=\(vi)", "compatible"),
            pick("regexpengine=0", "regexpengine=1", "regexpengine=2"),
            pick("ignorecase", "noignorecase"), pick("smartcase", "nosmartcase"),
            pick("magic", "nomagic"), pick("gdefault", "nogdefault"),
          ].joined(separator: " "))
      try vim.terminal.type("Go\(number) Éé😀 x\u{1b}")
      text += "\n\(number) Éé😀 x"
      try vim.agree(id, on: text)
      try vim.change(id) { $0 += "!" }
      text += "!"
      try vim.agree(id, on: text)
      // Each of the first three meets each of the second in nine.
      guard number % 16 == number / 16 else { continue }
      try vim.terminal.type(":call append('$', \"a\\ud800b\")\rG")
      try vim.wait("getline('$')", "a\u{FFFD}b")
      try vim.agree(id, on: text + "\na\u{FFFD}b")
      try vim.terminal.type("u")
      try vim.agree(id, on: text)
      try vim.terminal.type("\u{12}")
      try vim.agree(id, on: text + "\na\u{FFFD}b")
      try vim.terminal.type("u")
      try vim.agree(id, on: text)
      try vim.run("call setreg('p', ['pasted', '日本'], 'l')")
      try vim.terminal.type("G\"pp")
      text += "\npasted\n日本"
      try vim.agree(id, on: text)
      try vim.run("NoteTitle Title \(number)")
      try vim.wait("bufname()->matchstr('[^/]*$')", "Title-\(number)")
      try vim.terminal.type(":Notes\rs\u{15}ÉÉ😀\r")
      try vim.wait("getline(1)[:4] .. line('$')", "Notes3")
      try vim.terminal.type("3G\r")
      try vim.wait("g:Text()", text)
      #expect(try vim.eval("col('.')") == "3")
    }
    #expect(try vim.healed() == 0)
  }

  @Test func `who types stays on the line that others break`() throws {
    let (vim, id) = try Vim.showing("alpha")
    try vim.terminal.type("A typing")
    try vim.agree(id, on: "alpha typing")
    try vim.change(id) { $0 += "\nfrom cron\n" }
    try vim.agree(id, on: "alpha typing\nfrom cron\n")
    try vim.terminal.type(" more")
    try vim.agree(id, on: "alpha typing more\nfrom cron\n")
    // Another one presses Return at the same place.
    try vim.change(id) { $0 = $0.replacingOccurrences(of: "more", with: "more\n") }
    try vim.agree(id, on: "alpha typing more\n\nfrom cron\n")
    try vim.terminal.type("!")
    try vim.agree(id, on: "alpha typing more!\n\nfrom cron\n")
    // The same on an empty line; but what comes above pushes it.
    try vim.terminal.type("\u{1b}Go")
    try vim.agree(id, on: "alpha typing more!\n\nfrom cron\n\n")
    try vim.change(id) { $0 += "\nend" }
    try vim.agree(id, on: "alpha typing more!\n\nfrom cron\n\n\nend")
    try vim.terminal.type("here")
    try vim.agree(id, on: "alpha typing more!\n\nfrom cron\n\nhere\nend")
    try vim.terminal.type("\u{1b}GO")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id, on: "zero\nalpha typing more!\n\nfrom cron\n\nhere\n\nend")
    try vim.terminal.type("there")
    try vim.agree(id, on: "zero\nalpha typing more!\n\nfrom cron\n\nhere\nthere\nend")
  }

  @Test func `other places at the ends of lines stay on lines that others break`() throws {
    let (vim, id) = try Vim.showing("alpha\n\nomega")
    // A mark on an empty line, another window at the end of a line, beyond it, and this one on the empty line.
    try vim.run("set virtualedit=onemore")
    try vim.terminal.type("2Gma")
    try vim.terminal.type(":split\r\u{17}jgg$l\u{17}k")
    try vim.wait(
      "[line('.'), line(\"'a\"), getcurpos(win_getid(2))[1:2]]->string()", "[2, 2, [1, 6]]")
    try vim.change(id) { $0 = "alpha\nfirst\n\nomega" }
    try vim.agree(id, on: "alpha\nfirst\n\nomega")
    #expect(
      try vim.eval("[line('.'), line(\"'a\"), getcurpos(win_getid(2))[1:2]]->string()")
        == "[3, 3, [1, 6]]")
    // On a character one stays, and is pushed with it.
    try vim.terminal.type("gg$lmb")
    try vim.wait("getpos(\"'b\")[1:2]->string()", "[1, 6]")
    try vim.terminal.type("h")
    try vim.wait("getcurpos()[1:2]->string()", "[1, 5]")
    try vim.change(id) { $0 = $0.replacingOccurrences(of: "alpha", with: "alph\na") }
    try vim.agree(id)
    #expect(try vim.eval("[line('.'), getpos(\"'b\")[1:2]]->string()") == "[2, [2, 2]]")
  }

  @Test func `beyond the ends of lines the cursor stays as well`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    try vim.run("set virtualedit=all")
    try vim.terminal.type("j7l")
    try vim.wait("getcurpos()[1:3]->string()", "[2, 4, 4]")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id)
    #expect(try vim.eval("getcurpos()[1:3]->string()") == "[3, 4, 4]")
  }

  @Test func `a session brings back notes, windows, cursors and folds`() throws {
    let vim = try Vim()
    let first = try vim.note("First note", (1...100).map { "line \($0)" }.joined(separator: "\n"))
    let second = try vim.note("Second", "one\ntwo")
    try vim.run("edit note://\(first)")
    try vim.run("setlocal foldmethod=manual | 20,22fold | 20foldclose | 50 | split | normal! 70G3l")
    try vim.run("vsplit note://\(second)")
    try vim.run("normal! G")
    try vim.run("mksession \(vim.folder("session"))")
    try vim.terminal.type(":qa\r")
    try vim.terminal.waitForEnd()

    let again = try Vim("-S \(vim.folder("session"))", folder: vim.folder)
    try again.wait("win_findbuf(bufnr('First-note'))->len()", "2")
    let windows =
      "getwininfo()->map('[bufname(v:val.bufnr)->matchstr(\"[^/]*$\"), getcurpos(v:val.winid)[1:2]]')->string()"
    #expect(
      try again.eval(windows)
        == "[['Second', [2, 1]], ['First-note', [70, 4]], ['First-note', [50, 1]]]")
    #expect(try again.eval("execute('messages')->matchstr('E\\d\\+')") == "")
    try again.terminal.type("A!\u{1b}")
    try again.agree(second, on: "one\ntwo!")
    try again.terminal.type("u")
    try again.agree(second, on: "one\ntwo")
    try again.terminal.press("C-w", "b")
    try again.wait("foldclosed(21)", "20")
    #expect(try again.eval("decent_notes#Status()") == "connected")
  }

  @Test func `undo goes on after the note was read anew`() throws {
    let (vim, id) = try Vim.showing("one")
    try vim.terminal.type("A two\u{1b}")
    try vim.agree(id, on: "one two")
    try vim.terminal.type("A three\u{1b}")
    try vim.agree(id, on: "one two three")
    for bang in ["!", ""] {
      try vim.terminal.type(":e\(bang)\r")
      try vim.change(id) { $0 = "zero\n" + $0 }
      try vim.agree(id)
    }
    try vim.terminal.type("u")
    try vim.agree(id, on: "zero\nzero\none two")
    try vim.terminal.type("u")
    try vim.agree(id, on: "zero\nzero\none")
    try vim.terminal.press("C-r")
    try vim.agree(id, on: "zero\nzero\none two")
    // A buffer that was closed begins anew.
    try vim.run("bdelete")
    try vim.run("edit note://\(id)")
    try vim.terminal.type("u")
    try vim.terminal.wait("the message") { $0.last?.contains("nothing of yours") == true }
    try vim.agree(id, on: "zero\nzero\none two")
  }

  @Test func `the user's own keys for redo and undo are those of notes`() throws {
    let vim = try Vim()
    let id = try vim.note("Note", "one")
    try vim.run("nnoremap U <C-r>")
    try vim.run("nnoremap <F2> u")
    try vim.run("nmap gr <Plug>(decent-notes-redo)")
    try vim.run("edit note://\(id)")
    try vim.terminal.type("A two\u{1b}")
    try vim.agree(id, on: "one two")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id)
    for (undo, redo) in [("u", "U"), ("u", "gr"), ("\u{1b}OQ", "\u{12}")] {
      try vim.terminal.type(undo)
      try vim.agree(id, on: "zero\none")
      try vim.terminal.type(redo)
      try vim.agree(id, on: "zero\none two")
    }
    // In other buffers they are Vim's.
    try vim.terminal.type(":enew\riplain\u{1b}uU")
    try vim.wait("getline(1)", "plain")
  }

  @Test func `a note in the trash is marked until it is out again`() throws {
    let (vim, id) = try Vim.showing("one")
    let shown = "&statusline =~# 'Status()' && decent_notes#Status() ==# 'in the trash'"
    try vim.run("set laststatus=2")
    try vim.other.call("note/delete", ["id": .string(id)])
    try vim.wait(shown, "1")
    try vim.terminal.wait("the message") {
      $0.last?.hasPrefix("Decent Notes: this note is in the trash; typing takes it out") == true
    }
    #expect(try vim.terminal.screen().contains { $0.contains("[in the trash]") })
    try vim.other.call("note/restore", ["id": .string(id)])
    try vim.wait("decent_notes#Status()", "connected")
    // Typing takes it out, too.
    try vim.other.call("note/delete", ["id": .string(id)])
    try vim.wait(shown, "1")
    try vim.terminal.type("A!\u{1b}")
    try vim.wait("decent_notes#Status()", "connected")
    try vim.agree(id, on: "one!")
    #expect(try vim.other.call("notebook/list")["notes"]!.array!.count == 1)
  }

  @Test func `another title means another name and another filetype`() throws {
    let (vim, id) = try Vim.showing("one")
    let short = String(id.prefix { $0 != "-" }) + "-" + id.drop { $0 != "-" }.dropFirst().prefix(8)
    #expect(try vim.eval("bufname()") == "note://\(short)/Note")
    try vim.terminal.type(":NoteTitle x.py\r")
    try vim.wait("[bufname(), &filetype]->string()", "['note://\(short)/x.py', 'python']")
    // Others', while another buffer is shown.
    try vim.run("enew")
    try vim.other.call("note/update", ["id": .string(id), "title": "y z.md"])
    try vim.wait("getbufvar('x.py', 'note_title')", "y z.md")
    try vim.run("buffer x.py")
    try vim.wait("[bufname(), &filetype]->string()", "['note://\(short)/y-z.md', 'markdown']")
    #expect(try vim.eval("getbufinfo()->filter('v:val.name =~ \"note:\"')->len()") == "1")
    try vim.terminal.type("A!\u{1b}:w\r")
    try vim.agree(id, on: "one!")
    // Names are kept in sessions: another Vim finds the note by the beginning of its id.
    let again = try Vim(folder: vim.folder)
    try again.run("edit note://\(short)/an-old-title")
    try again.agree(id, on: "one!")
    try again.wait("bufname()", "note://\(short)/y-z.md")
  }

  @Test func `a note that could not be opened is opened by the next attempt`() throws {
    let vim = try Vim()
    let id = try vim.note("Note", "one")
    for again in ["e", "e!", "edit note://\(id)"] {
      try vim.run("let g:decent_notes_command = 'no-such-program'")
      try vim.terminal.type(":edit note://\(id)\r")
      try vim.terminal.wait("the error") {
        $0.last?.hasPrefix("Decent Notes: no program \"no-such-program\"") == true
      }
      try vim.run("let g:decent_notes_command = 'decent-notes'")
      try vim.terminal.type(":\(again)\r")
      try vim.wait("[g:Text(), &modifiable]->string()", "['one', 1]")
      try vim.run("bwipeout!")
      // The next attempt fails again.
      try vim.run("let g:decent_notes_command = 'no-such-program'")
      kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
      try vim.wait("decent_notes#server#Process()", "0")
    }
    #expect(!(try vim.eval("execute('messages')")).contains("Error detected"))
  }

  @Test func `in a Vim that must change nothing notes are shown, and follow others`() throws {
    let vim = try Vim("-M")
    let id = try vim.note("Note", "one")
    try vim.terminal.type(":edit note://\(id)\r")
    try vim.wait("[g:Text(), &modifiable]->string()", "['one', 0]")
    try vim.change(id) { $0 = "zero\n" + $0 }
    try vim.agree(id, on: "zero\none")
    // Until the user says so.
    try vim.terminal.type(":set modifiable\rGA!\u{1b}")
    try vim.agree(id, on: "zero\none!")
    #expect(try vim.eval("execute('messages')->matchstr('E\\d\\+')") == "")
  }

  @Test func `others' edits come where Vim does not notice by itself that it is at rest`() throws {
    let (vim, id) = try Vim.showing("one")
    for number in 1...5 {
      // A script that types leaves Vim saying that it is not at rest until the next key.
      try vim.run("normal! 0")
      try vim.change(id) { $0 = "\(number)\n" + $0 }
      _ = try vim.agree(id)
    }
    #expect(try vim.text(id) == "5\n4\n3\n2\n1\none")
  }

  @Test func `commands on a second name of an open note act on the note`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    let other = try vim.note("Other", "one")
    let name = try vim.eval("bufname()")
    try vim.terminal.type(":edit note://\(id) | s/one/ONE/\r")
    try vim.agree(id, on: "ONE\ntwo")
    try vim.terminal.type(":args note://\(id) note://\(other) | argdo %s/o/0/ge\r")
    try vim.wait("bufname() =~ 'Other'", "1")
    try vim.agree(other, on: "0ne")
    try waitUntil("the note is changed") { try vim.text(id) == "ONE\ntw0" }
    try vim.terminal.type(":split note://\(id) | call append(0, 'top')\r")
    try vim.agree(id, on: "top\nONE\ntw0")
    #expect(try vim.eval("winnr('$')") == "2")
    try vim.wait("getbufinfo()->map('v:val.name')->filter('v:val =~ \"/Note$\"')->len()", "1")
    try vim.wait("getbufinfo()->len()", "2")
    #expect(try vim.eval("bufname()") == name)
    // A search in files leads to the note, too.
    try vim.terminal.type(":vimgrep /tw0/ note://\(other) note://\(id)\r:s/$/!/\r")
    try vim.agree(id, on: "top\nONE\ntw0!")
    #expect(try vim.eval("bufname()") == name)
  }

  @Test func `a long message fits, with the cause first`() throws {
    let folder = TemporaryFolder()
    let path = folder("a folder with a name that is long".replacingOccurrences(of: " ", with: "-"))
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try writeProgram(
      "#!/bin/sh\nulimit -f 8\nexec decent-notes --notebook \(path)/notes \"$@\"\n",
      to: folder("small"))
    let vim = try Vim(columns: 90, folder: folder, command: folder("small"))
    try vim.run("let $DECENT_NOTES = '\(path)/notes'")
    try vim.terminal.type(":NoteNew Full\r")
    try vim.wait("get(b:, 'note_title', '')", "Full")
    try vim.run("call setline(1, range(4000)->map('rand()')->join())")
    try vim.terminal.wait("the message") {
      $0.contains { $0.hasPrefix("Decent Notes: File too large") }
    }
    #expect(try vim.eval("[mode(), &modified]->string()") == "['n', 1]")
    #expect(!(try vim.terminal.screen().joined().contains("Press ENTER")))
    #expect(try vim.eval("decent_notes#Status()") == "not kept")
    try vim.terminal.type(":w\r")
    try vim.terminal.wait("the cause") {
      $0.last?.hasPrefix("Decent Notes: File too large (the note is not written") == true
    }
    // A note that could not be made takes none out of its window.
    try vim.terminal.type(":execute 'NoteNew' repeat('x', 4000)\r")
    try vim.terminal.wait("the refusal") {
      $0.last?.hasPrefix("Decent Notes: File too large (write") == true
    }
    #expect(try vim.eval("get(b:, 'note_title', '')") == "Full")
  }

  @Test func `a paste is sent in pieces, not line by line`() throws {
    let (vim, id) = try Vim.showing("start\n")
    let lines = (0..<3000).map { "\($0) lorem ipsum é 日本 dolor sit amet" }
    try vim.terminal.type("Gi")
    try vim.wait("mode()", "i")
    try vim.terminal.type("\u{1b}[200~" + lines.joined(separator: "\r") + "\u{1b}[201~")
    try vim.wait("line('$')", "3001")
    try vim.terminal.type("!")
    try vim.agree(id, on: "start\n" + lines.joined(separator: "\n") + "!")
    #expect(Int(try vim.eval("decent_notes#live#Of(bufnr()).version"))! < 1000)
    #expect(try vim.healed() == 0)
    try vim.terminal.type("\u{1b}u")
    try vim.agree(id, on: "start\n")
  }

  @Test func `others may edit in the middle of a paste`() throws {
    let (vim, id) = try Vim.showing("start\n")
    try vim.terminal.type("Gi")
    try vim.wait("mode()", "i")
    var words: [String] = []
    for part in 0..<20 {
      let piece = (0..<20).map { "w\(part).\($0)" }
      words += piece
      try vim.terminal.type("\u{1b}[200~" + piece.joined(separator: "\r") + "\r\u{1b}[201~")
      try vim.change(id) { $0 = "other\n" + $0 }
    }
    try vim.agree(
      id,
      on: String(repeating: "other\n", count: 20) + "start\n" + words.joined(separator: "\n") + "\n"
    )
  }

  @Test func `while the server is stopped Vim works, and all arrives afterwards`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    var typed = ""
    for number in 0..<40 {
      try vim.terminal.type("ggA \(number)\u{1b}")
      typed += " \(number)"
      if number % 8 == 0 { try vim.wait("getline(1) .. mode()", "one\(typed)n") }
    }
    try vim.change(id) { $0 += "\nother" }
    // Nothing is told to be on disk.
    try vim.terminal.type(":w\r")
    try vim.terminal.wait("why not") { $0.last?.contains("not written") == true }
    #expect(try vim.eval("&modified") == "1")
    try vim.terminal.type("Ax\u{1b}")
    try vim.wait("getline(1)", "one\(typed)x")
    kill(server, SIGCONT)
    try vim.agree(id, on: "one\(typed)x\ntwo\nother")
    try vim.terminal.type(":w\r")
    try vim.terminal.wait("the message") { $0.last?.contains("\"Note\" written") == true }
    #expect(try vim.healed() == 0)
  }

  /// Nothing is typed afterwards: the next change would have sent it.
  @Test func `what is typed while a note is resumed is sent by the answer`() throws {
    let folder = TemporaryFolder()
    let server = try HeldServer(in: folder)
    let vim = try Vim(folder: folder, command: server.path)
    let id = try vim.note("Note", "start")
    try vim.run("edit note://\(id)")
    try vim.terminal.type("A one")
    try vim.agree(id, on: "start one")
    try server.hold()
    kill(pid_t(try vim.eval("decent_notes#server#Process()"))!, SIGKILL)
    try vim.wait(
      "[decent_notes#live#Of(bufnr()).attachment > 0, decent_notes#live#Of(bufnr()).isOpening]->string()",
      "[0, v:true]")
    try vim.terminal.type(" two")
    try vim.wait("getline(1) .. &modified", "start one two1")
    #expect(try vim.eval("decent_notes#live#Of(bufnr()).isOpening") == "true")
    #expect(try vim.text(id) == "start one")
    try server.release()
    try vim.agree(id, on: "start one two")
  }

  @Test(arguments: [SIGHUP, SIGTERM])
  func `a text that a stopped server has not taken is in a file when Vim is killed`(
    _ signal: Int32
  ) throws {
    let (vim, id) = try Vim.showing("start")
    try vim.terminal.type("A one")
    try vim.agree(id, on: "start one")
    let server = pid_t(try vim.eval("decent_notes#server#Process()"))!
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    var text = "start one"
    for number in 0..<20 {
      try vim.terminal.type(" w\(number)")
      text += " w\(number)"
    }
    try vim.wait("getline(1)", text)
    kill(pid_t(try vim.eval("getpid()"))!, signal)
    try vim.terminal.waitForEnd()
    #expect(Array(vim.unsentTexts().values) == [text])
  }

  @Test func `a user's functions of the same names are not in the way`() throws {
    let folder = TemporaryFolder()
    let files = Vim.plugin + "/autoload/decent_notes"
    let driver = try String(contentsOfFile: Vim.plugin + "/test/driver.vim", encoding: .utf8)
    var functions = ""
    for file in try FileManager.default.contentsOfDirectory(atPath: files) {
      let script = try String(contentsOfFile: "\(files)/\(file)", encoding: .utf8)
      for line in script.split(separator: "\n") {
        guard let match = line.wholeMatch(of: /(?:export )?def (\w+)\(.*/),
          !driver.contains(" g:\(match.1)(")
        else { continue }
        functions += "function! \(match.1)(...)\n  throw 'of the user'\nendfunction\n"
      }
    }
    try functions.write(toFile: folder("functions.vim"), atomically: false, encoding: .utf8)
    let vim = try Vim("--cmd \(quoted("source \(folder("functions.vim"))"))", folder: folder)
    let id = try vim.note("Note", "one")
    try vim.run("edit note://\(id)")
    try vim.terminal.type("A two\u{1b}")
    try vim.agree(id, on: "one two")
    try vim.terminal.type("u")
    try vim.agree(id, on: "one")
    try vim.run("Notes")
    try vim.wait("getline(2)[13 :]", "Note")
    #expect(try vim.eval("exists('*Start') && exists('*Refresh')") == "1")
  }

  @Test func `a Vim that was stopped shows what others did meanwhile`() throws {
    let (vim, id) = try Vim.showing("one\ntwo")
    let process = pid_t(try vim.eval("getpid()"))!
    try vim.terminal.type("ggA typing")
    try vim.agree(id, on: "one typing\ntwo")
    for round in 0..<3 {
      kill(process, SIGSTOP)
      // More than a pipe takes.
      for number in 0..<20 {
        try vim.change(id) {
          $0 = "\(round).\(number) \(String(repeating: "x", count: 5000))\n" + $0
        }
      }
      try vim.terminal.type(" w\(round)")
      kill(process, SIGCONT)
      try vim.wait("getline('.')->matchstr('one.*')->strlen()", "\(13 + 3 * round)")
      try vim.agree(id)
    }
    #expect(try vim.text(id).hasSuffix("\none typing w0 w1 w2\ntwo"))
    #expect(try vim.eval("[mode(), decent_notes#Status()]->string()") == "['i', 'connected']")
  }

  @Test func `who leaves by force is told that nothing is thrown away`() throws {
    let vim = try Vim()
    let note = try vim.note("N", "text")
    for keys in [":q!\r", ":quit!\r", "ZQ"] {
      try vim.run("split")
      try vim.run("edit note://\(note)")
      let text = try vim.text(note)
      try vim.terminal.type("Ax\u{1b}")
      try vim.agree(note, on: text + "x")
      try vim.terminal.type(keys)
      try vim.terminal.wait("the word") { $0.last?.contains("what was typed is kept") == true }
      try vim.wait("winnr('$')", "1")
    }
  }

  @Test func `CTRL-U deletes what was typed, whatever others write meanwhile`() throws {
    let vim = try Vim()
    let note = try vim.note("N", "first\nsecond line\nthird")
    try vim.run("edit note://\(note)")
    // Above, below, in the line before what was typed and behind it.
    for (old, new) in [
      ("first", "zero\nfirst"), ("third", "third!"), ("second", "the second"), ("line", "lines"),
    ] {
      let before = try vim.text(note)
      try vim.terminal.type("gg/li\rityped")
      try vim.agree(note, on: before.replacing("li", with: "typedli"))
      try vim.change(note) { $0 = $0.replacing(old, with: new) }
      let after = before.replacing(old, with: new)
      try vim.agree(note, on: after.replacing("li", with: "typedli"))
      try vim.terminal.press("C-u")
      try vim.agree(note, on: after)
      try vim.terminal.type("X")
      try vim.agree(note, on: after.replacing("li", with: "Xli"))
      try vim.terminal.press("C-u", "Escape")
      try vim.agree(note, on: after)
    }
    // Where nothing was typed it deletes what Vim does then.
    try vim.terminal.type("gg/li\ri")
    try vim.terminal.press("C-u", "Escape")
    try vim.agree(note, on: "zero\nfirst\nlines\nthird!")
  }
}
