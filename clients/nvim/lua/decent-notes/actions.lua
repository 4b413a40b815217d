-- Actions of both the commands and the list: open, create and change notes, and ask for a line.

local buffers = require('decent-notes.buffer')
local changes = require('decent-notes.changes')
local note = require('decent-notes.note')
local server = require('decent-notes.server')

local M = {}

--- Opens a note in the current window; `place`, if given, is where the cursor goes.
function M.open(summary, place)
  vim.cmd('edit ' .. vim.fn.fnameescape(buffers.name_of(summary)))
  if place and note.of() then
    pcall(vim.api.nvim_win_set_cursor, 0, { place.line + 1, place.character })
  end
end

--- Asks the user for a line; nil if the user cancels. (vim.ui.input of Neovim 0.7 takes an empty line for that.)
function M.ask(prompt, default, completion)
  local given, line = pcall(vim.fn.input, {
    prompt = prompt, default = default or '', cancelreturn = '\27', completion = completion,
  })
  return given and line ~= '\27' and line or nil
end

--- Makes a note and opens it. Asks for the title if it is empty.
function M.create(title)
  title = title ~= '' and title or M.ask('Title: ')
  local result = title and server.call('note/create', { title = title })
  if result then
    changes.report(result.note.id, { 'created' }, result.note)
    M.open(result.note)
  end
end

--- Changes a note's title, tags or priority, and calls `use`, if given, with the new summary.
function M.update(id, fields, use)
  local result = server.call('note/update', vim.tbl_extend('error', { id = id }, fields))
  if result then
    changes.report(id, vim.tbl_keys(fields), result.note)
    return use and use(result.note)
  end
end

return M
