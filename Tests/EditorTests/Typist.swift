// Somebody who types into a real editor: by keys a user would press, looking at what the editor shows before anything is taken away.

import Foundation
import JSONRPC
import TestSupport

/// An editor with a client of this project, and the keys by which a typist uses it.
enum Editor: String, CaseIterable, Sendable {
  case vim = "Vim"
  case neovim = "Neovim"
  case emacs = "Emacs"

  static let arePossible =
    Terminal.isPossible && hasTool("vim") && hasTool("nvim") && hasTool("emacs")

  /// What the words of its typist begin with.
  var letter: String { ["v", "n", "e"][Editor.allCases.firstIndex(of: self)!] }

  private var isEmacs: Bool { self == .emacs }

  // Keys, as bytes that a terminal sends.

  /// Moves to a word to type before it.
  func find(_ word: String) -> String {
    isEmacs ? "\u{1b}>\u{12}\(word)\r" : "/\(word)\r"
  }
  /// Moves to a word to delete it. Emacs's point is between letters: whatever others insert where it is comes after it, so it
  /// has to be behind the word.
  func findToDelete(_ word: String) -> String {
    isEmacs ? "\u{1b}<\u{13}\(word)\r" : find(word)
  }
  /// Types before the word.
  func insert(_ text: String) -> String { isEmacs ? text : "i" + text + "\u{1b}" }
  /// Deletes the word, of six letters.
  var delete: String { isEmacs ? "\u{15}6\u{7f}" : "d6l" }
  var undo: String { isEmacs ? "\u{1f}" : "u" }
  /// Inserts before the word what was deleted last.
  var paste: String { isEmacs ? "\u{19}" : "P" }
  /// Cuts the line out if it has none but the typist's words: a command of the user's own, bound to F7. (Between looking at a line and
  /// `dd` somebody may have typed into it.)
  var cutLine: String { "\u{1b}[18~" }
  /// Inserts above the line what was cut last.
  var pasteLine: String { isEmacs ? "\u{01}\u{19}" : "P" }
  var join: String { isEmacs ? "\u{1b}^" : "J" }
  var reformat: String { isEmacs ? "\u{1b}q" : "gqip" }

  /// Whether `offset` is where one goes to type before a word, or to delete it.
  func isAt(_ word: String, toDelete: Bool, _ offset: Int, in text: [UInt8]) -> Bool {
    let word = Array(word.utf8)
    let start = isEmacs && toDelete ? offset - word.count : offset
    return start >= 0 && start + word.count <= text.count
      && text[start..<start + word.count].elementsEqual(word)
  }

  // MARK: - Starting it

  /// The command line that shows a note.
  ///
  /// - Parameters:
  ///   - folder: where the editor's settings may be written.
  ///   - client: the folder of the client, instead of the one of this project.
  ///   - name: what others call the typist, if the user's settings say it.
  func command(
    showing note: String, folder: TemporaryFolder, client: String? = nil, name: String? = nil
  ) throws -> String {
    let settings = folder("settings.\(["vim", "lua", "el"][index])")
    let client = client ?? clients + "/\(["vim", "nvim", "emacs"][index])"
    try (self.settings(client) + (name.map(naming) ?? ""))
      .write(toFile: settings, atomically: true, encoding: .utf8)
    switch self {
    case .vim:
      // The client belongs to the driver, whose folder is the client's.
      let driver = quoted(client + "/test/driver.vim")
      return "exec vim -N -n -i NONE -u \(driver) -S \(settings) -c 'edit note://\(note)'"
    case .neovim:
      return "exec nvim -n -i NONE -u \(settings) -c 'edit note://\(note)'"
    case .emacs:
      let open = "(decent-notes-open \"\(note)\")"
      return "exec emacs -nw -Q -l \(settings) --eval \(quoted(open))"
    }
  }

  private var index: Int { Editor.allCases.firstIndex(of: self)! }

  private var clients: String { projectFolder.path + "/clients" }

  /// The setting that says what others call the user.
  private func naming(_ name: String) -> String {
    switch self {
    case .vim: "\nlet g:decent_notes_name = '\(name)'\n"
    case .neovim: "\nvim.g.decent_notes_name = '\(name)'\n"
    case .emacs: "\n(setq decent-notes-name \"\(name)\")\n"
    }
  }

  /// The user's settings, and what answers the request in the file `in` by the state in the file `out`; Vim's own driver has that.
  private func settings(_ client: String) -> String {
    switch self {
    case .vim:
      #"""
      set textwidth=40 nojoinspaces laststatus=2 statusline=%{decent_notes#Status()} maxcombine=6
      let g:cuts = 0
      function! CutLine()
        let @" = ''
        if getline('.') =~# '^\(v\d\{4},\s*\)\+$'
          silent delete
        endif
        let g:cuts += 1
      endfunction
      nnoremap <F7> <Cmd>call CutLine()<CR>
      """#
    case .neovim:
      #"""
      vim.opt.runtimepath:prepend([[\#(client)]])
      vim.opt.textwidth = 40
      vim.opt.joinspaces = false
      vim.opt.statusline = "%{v:lua.require'decent-notes'.status()}"
      local cuts = 0
      vim.keymap.set('n', '<F7>', function()
        vim.fn.setreg('"', '')
        if vim.fn.match(vim.fn.getline('.'), [[\C^\(n\d\{4},\s*\)\+$]]) == 0 then
          vim.cmd('silent delete')
        end
        cuts = cuts + 1
      end)
      local folder, last = vim.env.DN_TEST, 0
      vim.loop.new_timer():start(0, 10, vim.schedule_wrap(function()
        local file = io.open(folder .. '/in')
        local number = file and tonumber(file:read('l')) or 0
        if file then file:close() end
        if number <= last then return end
        last = number
        local process = 0
        for _, channel in ipairs(vim.api.nvim_list_chans()) do
          if channel.stream == 'job' then
            local is_alive, id = pcall(vim.fn.jobpid, channel.id)
            process = is_alive and id or process
          end
        end
        local out = io.open(folder .. '/out.new', 'w')
        out:write(vim.json.encode({ number, {
          table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n'),
          vim.api.nvim_buf_get_offset(0, vim.fn.line('.') - 1) + vim.fn.col('.') - 1,
          vim.api.nvim_get_mode().mode, vim.bo.modified and 1 or 0, require('decent-notes').status(),
          vim.fn.getreg('"'), cuts, process,
        } }))
        out:close()
        os.rename(folder .. '/out.new', folder .. '/out')
      end))
      """#
    case .emacs:
      #"""
      (add-to-list 'load-path "\#(client)")
      (require 'decent-notes)
      ;; Emacs 28 suggests a shorter name of a command in a timer, which loses keys that are typed meanwhile.
      (setq suggest-key-bindings nil)
      (menu-bar-mode -1)
      (setq-default fill-column 40)
      (defvar test-cuts 0)
      (defvar test-cut "")
      (defvar test-last 0)
      (global-set-key (kbd "<f7>")
        (lambda () (interactive)
          (forward-line 0)
          (setq test-cut "")
          (let (case-fold-search)
            (when (looking-at "\\(?:e[0-9]\\{4\\},[ \t]*\\)+$")
              (kill-whole-line)
              (setq test-cut (current-kill 0))))
          (setq test-cuts (1+ test-cuts))))
      (defun test-file (name) (expand-file-name name (getenv "DN_TEST")))
      (run-with-timer 0 0.01
        (lambda ()
          (let ((number (with-temp-buffer
                          (insert-file-contents (test-file "in"))
                          (string-to-number (buffer-string)))))
            (when (> number test-last)
              (setq test-last number)
              (with-current-buffer (window-buffer (selected-window))
                (let ((state (json-serialize
                              (vector number
                                (vector (buffer-substring-no-properties (point-min) (point-max))
                                  (1- (point))
                                  (if (or isearch-mode (active-minibuffer-window)) "search" "n")
                                  (if (buffer-modified-p) 1 0)
                                  (if decent-notes--here (decent-notes-status) "")
                                  test-cut test-cuts
                                  (if (and decent-notes--connection
                                           (jsonrpc--process decent-notes--connection))
                                      (or (process-id (jsonrpc--process decent-notes--connection)) 0)
                                    0))))))
                  (write-region state nil (test-file "out.new") nil 'quiet)
                  (rename-file (test-file "out.new") (test-file "out") t)))))))
      """#
    }
  }
}

/// What an editor has.
struct EditorState {
  var text: [UInt8]
  /// Where the cursor is, in bytes.
  var offset: Int
  /// Vim's mode; of Emacs "n" unless it reads something else than text.
  var mode: String
  /// Whether something was not acknowledged yet.
  var isModified: Bool
  /// The word for the status line.
  var status: String
  /// What was cut last.
  var cut: String
  var cuts: Int
  /// The client's process.
  var process: pid_t
}

/// An editor in a terminal, and who types there.
final class Typist: @unchecked Sendable {
  let editor: Editor
  let terminal: Terminal
  /// How long anything may take, in seconds.
  var patience = TestSupport.patience
  private let control: String
  private var lastRequest = 0

  private var random: SplitMix64
  /// Of the words that belong to nobody, those before which only this one types.
  private let places: Set<String>
  private var number = 0
  /// The words that have to be there.
  private(set) var alive: [String] = []
  /// The words that were deleted.
  private(set) var deleted: [String] = []
  /// What was done, with the time.
  private(set) var log: [String] = []
  private(set) var actions: [String: Int] = [:]

  init(
    _ editor: Editor, note: String, places: Set<String>, notebook: String,
    folder: TemporaryFolder, seed: UInt64, client: String? = nil, name: String? = nil,
    environment: [String: String] = [:]
  ) throws {
    self.editor = editor
    self.places = places
    random = SplitMix64(seed: seed &* 3 &+ UInt64(editor.letter.utf8.first!))
    control = folder("control-\(editor.rawValue)")
    try FileManager.default.createDirectory(atPath: control, withIntermediateDirectories: true)
    try "0\n".write(toFile: control + "/in", atomically: false, encoding: .utf8)
    terminal = try Terminal(
      try editor.command(showing: note, folder: folder, client: client, name: name),
      environment: [
        "DECENT_NOTES": notebook, "DN_TEST": control, "HOME": folder.path,
        "XDG_STATE_HOME": folder("state"),
      ].merging(environment) { $1 })
    // The others may be seen already.
    try wait("the note is open") { !["", "offline"].contains($0.status) }
  }

  // MARK: - Looking

  /// What the editor has, asked for now.
  func look() throws -> EditorState {
    lastRequest += 1
    let expression = """
      [getline(1, '$')->join("\\n"), line2byte(line('.')) + col('.') - 2, mode(), &modified, \
      decent_notes#Status(), getreg('"'), g:cuts, decent_notes#server#Process()]
      """
    try "\(lastRequest)\n\(expression)\n"
      .write(toFile: control + "/in", atomically: true, encoding: .utf8)
    return try waitFor(
      "\(editor.rawValue) does not answer:\n\(try screen)", within: patience, every: 0.003
    ) {
      if let data = FileManager.default.contents(atPath: control + "/out"),
        let answer = try? JSONValue(parsing: Array(data)).array.map(Array.init),
        answer[0].integer == lastRequest
      {
        guard let it = answer[1].array.map(Array.init), it.count == 8 else {
          throw Failure("\(editor.rawValue): \(answer[1].written)")
        }
        return EditorState(
          text: it[0].utf8!, offset: it[1].integer!, mode: it[2].string!,
          isModified: it[3].integer != 0, status: it[4].string!, cut: it[5].string!,
          cuts: it[6].integer!, process: pid_t(it[7].integer!))
      }
      return nil as EditorState?
    }
  }

  private var screen: String {
    get throws { try terminal.screen().joined(separator: "\n") }
  }

  /// What is to be seen, and what the editor has said before: for failures only, since it presses keys.
  private func screenAndMessages() throws -> String {
    let before = try screen
    if editor == .emacs { return before }
    try terminal.press("Enter")
    try terminal.type(":messages\r")
    pause(0.5)
    return before + "\n— :messages —\n" + (try screen)
  }

  /// Looks until what is to be is there.
  @discardableResult
  func wait(_ what: String, until isMet: (EditorState) -> Bool) throws -> EditorState {
    var last: EditorState?
    return try waitFor(
      "\(editor.rawValue): \(what):\n\(try screen)\nat \(last?.offset ?? -1), mode "
        + "\(last?.mode ?? ""), \(last?.status ?? "")",
      within: patience
    ) {
      let state = try look()
      last = state
      return isMet(state) ? state : nil
    }
  }

  // MARK: - Typing

  private func note(_ line: String) { log.append("\(editor.rawValue) \(now()) \(line)") }

  private func newWord() -> String {
    number += 1
    return "\(editor.letter)\(String(format: "%04d", number))"
  }

  private func make(_ count: Int) -> [String] {
    let words = (0..<count).map { _ in newWord() }
    alive += words
    return words.map { $0 + "," }
  }

  private func forget(_ word: String) {
    alive.removeAll { $0 == word }
    deleted.append(word)
  }

  private func type(_ keys: String) throws { try terminal.type(keys) }

  /// Waits until keys were taken that end in a mode for commands.
  private func rest() throws { try wait("the keys are taken") { $0.mode == "n" } }

  /// Moves to a word. Returns whether the cursor is there; it isn't if the word is gone.
  private func go(to word: String, toDelete: Bool = false) throws -> Bool {
    let deadline = Deadline()
    while true {
      let keys = toDelete ? editor.findToDelete(word + ",") : editor.find(word + ",")
      try type(keys)
      let again = Deadline(in: 3)
      while !again.isOver {
        let state = try look()
        if state.mode == "n",
          editor.isAt(word + ",", toDelete: toDelete, state.offset, in: state.text)
        {
          return true
        }
        if !String(decoding: state.text, as: UTF8.self).contains(word + ",") {
          note("\(word) is gone")
          try rest()
          return false
        }
        pause(0.005)
      }
      note("looks for \(word) again")
      guard !deadline.isOver else {
        throw Failure("\(editor.rawValue) does not find \(word):\n\(try screenAndMessages())")
      }
    }
  }

  /// Moves to any word, and returns it; to one that is nobody else's place for typing, if `toType`.
  ///
  /// Who types between the letters of a word that somebody else is just typing tears it, and rightly so.
  private func goAnywhere(toType: Bool = false) throws -> String {
    while true {
      // Nobody deletes the first words.
      let words = wholeWords(in: try look().text).filter {
        !toType || $0.hasPrefix(editor.letter) || places.contains($0)
      }
      let word = words[random.below(words.count)]
      if try go(to: word) { return word }
    }
  }

  /// Moves to a word of one's own, if there is one that stands there whole.
  private func goToOwn() throws -> String? {
    guard !alive.isEmpty else { return nil }
    let word = alive[random.below(alive.count)]
    let isWhole = String(decoding: try look().text, as: UTF8.self).contains(word + ",")
    return try isWhole && go(to: word, toDelete: true) ? word : nil
  }

  /// Waits until nothing is under way. What is done while there is no process becomes one change when there is one again, and is
  /// undone at once.
  private func settle() throws {
    try wait("nothing is under way") {
      $0.mode == "n" && !$0.isModified && $0.status != "offline"
    }
  }

  /// Undoes what was done last, until it is undone.
  private func undo(_ what: String, until isUndone: @escaping (String) -> Bool) throws {
    for _ in 0..<3 {
      try settle()
      if isUndone(String(decoding: try look().text, as: UTF8.self)) { return }
      try type(editor.undo)
      let again = Deadline(in: patience / 6)
      while !again.isOver {
        if isUndone(String(decoding: try look().text, as: UTF8.self)) { return }
        pause(0.005)
      }
      note("undoes again: \(what)")
    }
    throw Failure("\(editor.rawValue): undo does not undo \(what):\n\(try screen)")
  }

  /// Does one thing.
  func act() throws {
    let kinds =
      alive.count < 40
      ? ["insert", "insert", "insert"] : ["delete", "delete"]
    let others = [
      "insert", "delete", "delete and undo", "insert and undo", "move", "move",
      "move line", "move line", "join", "reformat", "reformat",
    ]
    let kind = (kinds + others)[random.below(kinds.count + others.count)]
    actions[kind, default: 0] += 1
    switch kind {
    case "insert": try insert()
    case "delete":
      guard let word = try goToOwn() else { break }
      note("deletes \(word)")
      forget(word)
      try type(editor.delete)
    case "delete and undo":
      try settle()
      guard let word = try goToOwn() else { break }
      note("deletes \(word)")
      try type(editor.delete)
      try wait("\(word) is gone") { !String(decoding: $0.text, as: UTF8.self).contains(word) }
      note("undoes that")
      try undo("the deletion of \(word)") { $0.contains(word) }
    case "insert and undo":
      try settle()
      let anchor = try goAnywhere(toType: true)
      let word = make(1)[0]
      note("types \(word) at \(anchor)")
      forget(String(word.dropLast()))
      try type(editor.insert(word + " "))
      try wait("\(word) is typed") {
        $0.mode == "n" && String(decoding: $0.text, as: UTF8.self).contains(word)
      }
      note("undoes that")
      try undo("the typing of \(word)") { !$0.contains(word.dropLast()) }
    case "move":
      guard let word = try goToOwn() else { break }
      note("cuts \(word)")
      try type(editor.delete)
      try wait("\(word) is cut") { !String(decoding: $0.text, as: UTF8.self).contains(word) }
      note("pastes \(word) at \(try goAnywhere(toType: true))")
      try type(editor.paste)
    case "move line":
      guard let word = try goToOwn() else { break }
      let cuts = try look().cuts
      try type(editor.cutLine)
      let state = try wait("the line is cut, or not") { $0.cuts > cuts }
      guard !state.cut.isEmpty else {
        note("does not cut the line of \(word)")
        break
      }
      note("cuts the line \(state.cut.debugDescription)")
      note("pastes it above \(try goAnywhere())")
      try type(editor.pasteLine)
    case "join":
      note("joins the line of \(try goAnywhere())")
      try type(editor.join)
    default:
      note("reformats the paragraph of \(try goAnywhere())")
      try type(editor.reformat)
    }
    try rest()
  }

  /// Types words; in the middle of them something may happen.
  func insert(_ happening: (() throws -> Void)? = nil) throws {
    let anchor = try goAnywhere(toType: true)
    // Lines that are empty make two paragraphs of one.
    let text = make(1 + random.below(4)).map { $0 + [" ", " ", "\r", "\r\r"][random.below(4)] }
      .joined()
    note("types \(text.debugDescription) at \(anchor)")
    let keys = Array(editor.insert(text))
    let cut = happening == nil ? keys.count : 1 + random.below(keys.count - 2)
    try type(String(keys[..<cut]))
    try happening?()
    try type(String(keys[cut...]))
  }

  /// Kills the client's process while typing.
  func insertAndKill() throws {
    try insert {
      let process = try self.look().process
      self.note("its process \(process) is killed")
      guard process > 0, kill(process, SIGKILL) == 0 else {
        throw Failure("\(self.editor.rawValue): no process to kill")
      }
    }
    try rest()
  }
}

/// The words in a text, each a letter and four digits, and what is left when all of them are taken out.
func words(in text: [UInt8]) -> (words: [String], rest: [UInt8]) {
  var (words, rest): ([String], [UInt8]) = ([], [])
  var place = 0
  while place < text.count {
    if "xvnea".utf8.contains(text[place]), place + 5 <= text.count,
      text[place + 1..<place + 5].allSatisfy({ (0x30...0x39).contains($0) })
    {
      words.append(String(decoding: text[place..<place + 5], as: UTF8.self))
      place += 5
    } else {
      rest.append(text[place])
      place += 1
    }
  }
  return (words, rest)
}

/// Those that have their comma.
private func wholeWords(in text: [UInt8]) -> [String] {
  String(decoding: text, as: UTF8.self).split(whereSeparator: { " \n".contains($0) })
    .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).dropLast() }
    .map(String.init).filter { words(in: Array($0.utf8)).words == [$0] }
}

/// The time of day, for logs.
private func now() -> String {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return String(format: "%02d.%03d", time.tv_sec % 60, time.tv_nsec / 1_000_000)
}
