-- Actions of both the commands and the list: open, create and change notes, and ask for a line.

local buffers = require('decent-notes.buffer')
local changes = require('decent-notes.changes')
local note = require('decent-notes.note')
local server = require('decent-notes.server')
local times = require('decent-notes.time')

local M = {}

--- Opens a note in the current window; `place`, if given, is where the cursor goes.
function M.open(summary, place)
  vim.cmd('edit ' .. vim.fn.fnameescape(buffers.name_of(summary)))
  if place and note.of() then
    pcall(vim.api.nvim_win_set_cursor, 0, { place.line + 1, place.character })
  end
end

--- A note among others of its title, told apart by when it was changed, its id and its tags.
function M.choice(summary)
  local words = summary.path or table.concat(summary.tags, ', ')
  return ('%s  %s  %s  %s'):format(vim.fn.strcharpart(summary.title, 0, 30), times.to_local(summary.modified, '%m-%d %H:%M'), summary.id:sub(1, 7), words)
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

--- Gives a note another title, and the links to it as well. Tells how many notes were changed.
function M.rename(id, title)
  vim.tbl_map(note.send_pending, note.all())
  local result = server.call('note/rename', { id = id, title = title })
  if not result then
    return
  end
  changes.report(id, { 'title' }, result.note)
  for _, it in ipairs(result.updated) do
    changes.report(it.note.id, { 'text' })
  end
  local parts = { 'title: ' .. result.note.title }
  local function count(notes, one, several)
    -- A very long answer does not list all.
    local number = result.more and 'at least ' .. #notes or #notes
    parts[#parts + 1] = #notes > 0 and (#notes == 1 and not result.more and one or several:format(number)) or nil
  end
  count(result.updated, 'the links in 1 note follow', 'the links in %s notes follow')
  count(result.ambiguous, 'those in 1 may mean another note, and stay', 'those in %s may mean another note, and stay')
  server.tell(table.concat(parts, '; '))
end

--- Changes a note's tags or priority, and calls `use`, if given, with the new summary.
function M.update(id, fields, use)
  local result = server.call('note/update', vim.tbl_extend('error', { id = id }, fields))
  if result then
    changes.report(id, vim.tbl_keys(fields), result.note)
    return use and use(result.note)
  end
end

return M
