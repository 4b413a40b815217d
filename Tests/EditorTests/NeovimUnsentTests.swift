import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: without an answer` {
  /// A note in Neovim whose server can be taken away, and its files of unsent texts.
  private struct Unsent {
    let state = TemporaryFolder()
    let scene: NeovimScene
    let program: String

    init(_ program: String) throws {
      self.program = program
      scene = try NeovimScene(
        program, text: "one\ntwo", setup: "vim.g.decent_notes_command = [[\(state("program"))]]\n",
        environment: ["XDG_STATE_HOME": state("state")], link: state("program"))
    }

    /// The texts, or the other files, by their names. One that is removed meanwhile is none.
    func files(_ ending: String) -> [String: String] {
      let folder = state("state") + "/decent-notes/unsent"
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return Dictionary(
        uniqueKeysWithValues: names.filter { $0.hasSuffix(ending) }.compactMap { name in
          (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)).map { (name, $0) }
        })
    }

    /// Takes the server away, and lets no other one begin.
    func loseServer() throws {
      unlink(state("program"))
      kill(try scene.editor.serverProcess(), SIGKILL)
      try scene.editor.wait("offline", "require('decent-notes').status() == 'offline'")
    }

    /// Waits until this text is kept, and what is needed to send it.
    func waitForText(_ text: String) throws {
      try waitUntil("the text is in a file", every: 0.003) {
        Array(files(".txt").values) == [text] && files(".json").count == 1
      }
    }

    /// Another Neovim, after the first one was killed, whose texts `ended` takes over.
    func next(_ setup: String = "", _ ended: EndedEditor? = nil) throws -> Neovim {
      kill(scene.editor.process, SIGKILL)
      #expect(try scene.editor.waitForEnd() == .signal(SIGKILL))
      try ended?.takeOver(textsIn: state("state/decent-notes/unsent"))
      return try Neovim(
        program, notebook: scene.folder("notes"), in: scene.folder,
        setup: "vim.fn.confirm = function(...) asked = { ... } return answer end\n" + setup,
        environment: ["XDG_STATE_HOME": state("state")])
    }
  }

  @Test(arguments: Neovim.programs)
  func `what is typed without a server is in a file until the server has it`(_ program: String)
    throws
  {
    let unsent = try Unsent(program)
    let scene = unsent.scene
    try unsent.loseServer()
    try scene.editor.type("Ax")
    try unsent.waitForText("onex\ntwo")
    try scene.editor.type("y")
    try unsent.waitForText("onexy\ntwo")
    let other = try #require(unsent.files(".json").values.first)
    let fields = try JSONValue(parsing: Array(other.utf8))
    #expect(
      fields["id"]?.string == scene.id && fields["title"]?.string == "Shopping"
        && fields["baseText"]?.string == "one\ntwo" && fields["session"]?.string?.isEmpty == false
        && fields["pid"]?.written == "\(scene.editor.process)")
    symlink(Server.program, unsent.state("program"))
    try scene.editor.type("<Esc>:NotesRestart<CR>")
    try scene.expect("onexy\ntwo")
    try waitUntil("no files") { unsent.files("").isEmpty }
    // While a server is stopped, too.
    let server = try scene.editor.serverProcess()
    kill(server, SIGSTOP)
    try scene.editor.type("Gox<Esc>")
    try unsent.waitForText("onexy\ntwo\nx")
    kill(server, SIGCONT)
    try waitUntil("no files") { unsent.files("").isEmpty }
  }

  @Test(arguments: Neovim.programs)
  func `a text of a Neovim that was killed is offered, and merged with what others did`(
    _ program: String
  ) throws {
    let unsent = try Unsent(program)
    let (scene, note) = (unsent.scene, unsent.scene.id)
    try unsent.loseServer()
    try scene.editor.type("Ax<Esc>")
    try unsent.waitForText("onex\ntwo")
    let ended = try EndedEditor()
    // As if Neovim had been killed while it wrote.
    for file in unsent.files("").keys {
      try "{".write(
        toFile: unsent.state("state/decent-notes/unsent/\(file).new"), atomically: false,
        encoding: .utf8)
    }
    let editor = try unsent.next("answer = 1\n", ended)
    try scene.set("zero\none\ntwo")
    try editor.command("edit note://\(note)")
    try editor.wait(
      "the offer",
      "told[1] == 'Decent Notes: :NotesUnsent has what was not sent (\"Shopping\")'")
    // Later.
    try editor.command("NotesUnsent")
    #expect(try editor.value("asked[1]").contains("What was typed in \"Shopping\" until "))
    #expect(try editor.text == "zero\none\ntwo" && unsent.files(".json").count == 1)
    // Into the note.
    try editor.lua("answer = 4")
    try editor.command("NotesUnsent")
    try editor.wait("the text", "text() == 'zero\\nonex\\ntwo'")
    #expect(try scene.stored == "zero\nonex\ntwo")
    #expect(unsent.files("").isEmpty)
    try editor.command("NotesUnsent")
    try editor.wait("nothing", "told[#told]:find('there is no text')")
  }

  @Test(arguments: Neovim.programs)
  func `a text whose buffer was closed without a server is offered in the same Neovim`(
    _ program: String
  ) throws {
    let unsent = try Unsent(program)
    let editor = unsent.scene.editor
    try unsent.loseServer()
    try editor.type("Ax<Esc>")
    try unsent.waitForText("onex\ntwo")
    symlink(Server.program, unsent.state("program"))
    try editor.lua("vim.fn.confirm = function() return 4 end")
    // It is no one's to take while the note shows it.
    try editor.command("NotesUnsent")
    try editor.wait("nothing", "told[#told]:find('there is no text')")
    try unsent.scene.expect("onex\ntwo")
    try waitUntil("no files") { unsent.files("").isEmpty }
    try unsent.loseServer()
    try editor.type("Ay<Esc>")
    try unsent.waitForText("onexy\ntwo")
    try editor.command("bwipeout!")
    symlink(Server.program, unsent.state("program"))
    try editor.command("NotesUnsent")
    try unsent.scene.expect("onexy\ntwo")
    #expect(unsent.files("").isEmpty)
  }

  @Test(arguments: Neovim.programs)
  func `a text of an earlier Neovim becomes a note, or is forgotten, as the user says`(
    _ program: String
  ) throws {
    let unsent = try Unsent(program)
    let scene = unsent.scene
    // As earlier versions wrote it, and those of another notebook, whose editors are looked for at once if at all.
    let folder = unsent.state("state") + "/decent-notes/unsent"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let others = (0..<100).map { "1-0123456789abcdef0123456789abcd\($0)-20260102T030405-\($0).txt" }
    for name in ["\(scene.id)-20260102T030405Z.txt"] + others {
      try "old text".write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }
    try unsent.loseServer()
    try scene.editor.type("ggdG")
    try waitUntil("the text is in a file") { unsent.files(".json").count == 1 }
    let editor = try unsent.next(
      """
      local systemlist = vim.fn.systemlist
      looks = 0
      vim.fn.systemlist = function(...)
        looks = looks + 1
        return systemlist(...)
      end

      """)
    try editor.command("Notes")
    try editor.wait("the offer", "told[1] and told[1]:find('not sent of 2 notes')")
    #expect(try editor.value("looks") == "1")
    try editor.lua(
      """
      vim.fn.confirm = function(question, answers)
        local is_old = question:find('2026-01-02 03:04', 1, true)
        has_merge = has_merge or {}
        has_merge[#has_merge + 1] = answers:find('Merge') ~= nil
        return is_old and 3 or 2
      end
      """)
    try editor.command("NotesUnsent")
    try editor.wait("a note", "require('decent-notes').title() == 'Shopping (unsent)'")
    #expect(try editor.text == "old text")
    #expect(try editor.value("vim.inspect(has_merge)") == "{ false, true }")
    #expect(try scene.stored == "one\ntwo")
    #expect(unsent.files("").keys.sorted() == others.sorted())
  }

  @Test(arguments: Neovim.programs)
  func `a server that is stopped is shown within three seconds, and killed when asked for`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "one")
    let server = try scene.editor.serverProcess()
    kill(server, SIGSTOP)
    // Three seconds by the clock of Neovim, in which it may be late like the client.
    try scene.editor.type("Ax<Esc>")
    try scene.editor.lua(
      """
      local function count(tenths)
        if tenths == 30 then
          is_late = #told == 0
        else
          vim.defer_fn(function() count(tenths + 1) end, 100)
        end
      end
      count(0)
      """)
    try scene.editor.wait("the message", "told[1] and told[1]:find(':NotesRestart', 1, true)")
    try scene.editor.wait("three seconds", "is_late ~= nil")
    #expect(try scene.editor.value("is_late") == "false")
    #expect(try scene.editor.value("require('decent-notes').status()").contains(":NotesRestart"))
    try scene.editor.command("NotesRestart")
    #expect(kill(server, 0) == -1)
    try scene.expect("onex")
    #expect(try scene.editor.value("require('decent-notes').status()") == "connected")
    // A server that goes on is no longer shown as one that does not answer.
    let next = try scene.editor.serverProcess()
    kill(next, SIGSTOP)
    try scene.editor.type("Ay<Esc>")
    try scene.editor.wait("silence", "require('decent-notes').status():find('NotesRestart')")
    kill(next, SIGCONT)
    try scene.expect("onexy")
    #expect(try scene.editor.value("require('decent-notes').status()") == "connected")
  }
}
