import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting, .tags(.editor), .enabled(if: isNeovimReady, "nvim is missing"))
struct `The client for Neovim: scripts that wait` {
  /// A script that remembers a line, waits, and changes it.
  struct Way: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The keys that begin it, and those that end its waiting; without these `go` does.
    let keys: String
    var end: String? = nil
  }

  static let ways = [
    Way(testDescription: "vim.wait in a mapping", keys: "<F2>"),
    Way(testDescription: ":sleep in a mapping of Lua", keys: "<F3>"),
    Way(testDescription: "getchar() in a mapping of Lua", keys: "<F4>", end: "x"),
    Way(testDescription: "input() in a mapping of Lua", keys: "<F5>", end: "<CR>"),
    Way(testDescription: "vim.wait in a coroutine", keys: "<F6>"),
    Way(testDescription: "vim.wait in a scheduled function", keys: "<F7>"),
    Way(testDescription: "vim.wait before writing", keys: ":write<CR>"),
    Way(testDescription: ":sleep in a function", keys: ":call Edit('sleep')<CR>"),
    Way(testDescription: "wait() in a function", keys: ":call Edit('wait')<CR>"),
    Way(testDescription: "getchar() in a function", keys: ":call Edit('getchar')<CR>", end: "x"),
    Way(testDescription: "input() in a function", keys: ":call Edit('input')<CR>", end: "<CR>"),
    Way(testDescription: ":sleep in a timer", keys: ":call timer_start(0, 'Edit')<CR>"),
    Way(testDescription: ":sleep in an autocommand", keys: ":doautocmd User Edit<CR>"),
    Way(testDescription: ":sleep that was typed", keys: ":exe Slowly() | 2s/.*/X/<CR>"),
    Way(testDescription: ":sleep in a command of the user's", keys: ":Edit<CR>"),
    Way(testDescription: ":sleep in a mapping of commands", keys: "<F8>"),
    Way(testDescription: ":sleep in :global", keys: ":g/two/exe Slowly() | 2s/.*/X/<CR>"),
    Way(testDescription: ":sleep in :normal", keys: ":exe \"normal :call Edit('sleep')\\r\"<CR>"),
    Way(testDescription: ":sleep in a macro", keys: "@a"),
    Way(testDescription: ":sleep in Insert mode", keys: "A<F9><Esc>"),
  ]

  private static let setup = """
    go = false
    function is_going() return go end
    local function map(key, wait)
      vim.keymap.set('n', key, function()
        local line = 2
        has_begun = true
        wait()
        vim.fn.setline(line, 'X')
      end)
    end
    local function wait() vim.wait(60000, is_going, 10) end
    local function sleep() vim.cmd('while !v:lua.is_going() | sleep 10m | endwhile') end
    map('<F2>', wait)
    map('<F3>', sleep)
    map('<F4>', function() vim.fn.getchar() end)
    map('<F5>', function() vim.fn.input('? ') end)
    map('<F6>', function() coroutine.wrap(wait)() end)
    vim.keymap.set('n', '<F7>', function()
      vim.schedule(function()
        has_begun = true
        wait()
        vim.fn.setline(2, 'X')
      end)
    end)
    vim.api.nvim_create_autocmd('BufWritePre', { callback = function()
      has_begun = true
      wait()
      vim.fn.setline(2, 'X')
    end })
    vim.api.nvim_create_autocmd('User', { pattern = 'Edit', command = 'exe Slowly() | 2s/.*/X/' })
    vim.cmd([[
      function Slowly()
        return 'execute "lua has_begun = true" | while !v:lua.is_going() | sleep 10m | endwhile'
      endfunction
      function Edit(how)
        let line = 2
        lua has_begun = true
        if a:how is 'getchar'
          call getchar()
        elseif a:how is 'input'
          call input('? ')
        elseif a:how is 'wait'
          call wait(60000, {-> v:lua.is_going()}, 10)
        else
          execute Slowly()
        endif
        call setline(line, 'X')
        return ''
      endfunction
      command Edit exe Slowly() | 2s/.*/X/
      nnoremap <F8> :exe Slowly() \\| 2s/.*/X/<CR>
      inoremap <F9> <Cmd>call Edit('sleep')<CR>
      let @a = ":call Edit('sleep')\\r"
    ]])

    """

  @Test(arguments: Neovim.programs, ways)
  func `a push waits for a script that waits, and the script changes the line that it remembers`(
    _ program: String, _ way: Way
  ) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree", setup: Self.setup)
    let note = "require('decent-notes.note').of()"
    try scene.editor.type("gg")
    try scene.editor.type(way.keys)
    try scene.editor.wait("the script", "has_begun")
    try scene.set("zero\none\ntwo\nthree")
    try scene.editor.wait("the push waits", "\(note).skipped == \(note).version")
    #expect(try scene.editor.text == "one\ntwo\nthree")
    if let end = way.end {
      try scene.editor.type(end)
    } else {
      try scene.editor.lua("go = true")
    }
    try scene.expect("zero\none\nX\nthree")
  }

  @Test(arguments: Neovim.programs)
  func `a push waits until the keys are typed that a script has put before the user's`(
    _ program: String
  ) throws {
    let scene = try NeovimScene(program, text: "one\ntwo\nthree")
    // A message that has come is handled behind the script, in the same turn.
    try scene.editor.lua(
      """
      local handle = require('decent-notes.server').on['note/edit']
      require('decent-notes.server').on['note/edit'] = function(push)
        if not is_fed then
          is_fed = true
          vim.api.nvim_feedkeys('2GccX\\27', 'n', false)
        end
        handle(push)
      end
      """)
    try scene.set("zero\none\ntwo\nthree")
    try scene.expect("zero\none\nX\nthree")
  }
}
