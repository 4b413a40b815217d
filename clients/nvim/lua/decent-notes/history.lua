-- The history of a note, its text at a time of the past, and the way to bring that text back.

local changes = require('decent-notes.changes')
local note = require('decent-notes.note')
local server = require('decent-notes.server')
local show = require('decent-notes.scratch').show
local times = require('decent-notes.time')

local M = {}
local api = vim.api

--- Replaces the text of a buffer as an edit of the user's. Equal lines stay, with their marks and folds.
local function edit(buffer, text)
  local now = table.concat(api.nvim_buf_get_lines(buffer, 0, -1, true), '\n') .. '\n'
  local lines = vim.split(text, '\n', { plain = true })
  local hunks = vim.diff(now, text .. '\n', { result_type = 'indices' })
  for index = #hunks, 1, -1 do
    local from, count, new_from, new_count = unpack(hunks[index])
    -- For a hunk that only inserts or only removes, diff names the line before.
    from, new_from = count == 0 and from or from - 1, new_count == 0 and new_from or new_from - 1
    api.nvim_buf_set_lines(buffer, from, from + count, true, vim.list_slice(lines, new_from + 1, new_from + new_count))
  end
end

--- Brings a text back. If the note is not open, the text is merged with what others have done since the revision `base`.
local function bring_back(id, text, base)
  local shown = note.find(id)
  if shown then
    api.nvim_win_set_buf(0, shown.buffer)
    edit(shown.buffer, shown.hides_returns and text:gsub('\r\n', '\n') or text)
  elseif server.call('note/setText', { id = id, text = text, base = base }) then
    changes.report(id, { 'text' })
    server.tell('the text of then is back')
  end
end

--- The first line.
local keys = '<CR> shows the text of then, r brings it back, q leaves'

--- :NoteHistory. `before` is the buffer to which `q` leads, the present one if it is nil; the cursor goes to the line `row`, if it is given.
function M.open(id, before, row)
  before = before or api.nvim_get_current_buf()
  local history = server.call('note/history', { id = id, limit = 1000 })
  local present = history and server.call('note/get', { id = id })
  if not present then
    return
  end
  local function at_cursor()
    local entry = history.entries[api.nvim_win_get_cursor(0)[1] - 1]
    local past = entry and server.call('note/get', { id = id, revision = entry.revision })
    return past and past.text, entry
  end
  local function map(buffer, key, use, description)
    vim.keymap.set('n', key, use, { buffer = buffer, nowait = true, desc = description })
  end
  local function time(entry)
    return times.to_local(entry.time, '%Y-%m-%d %H:%M:%S')
  end
  local name = 'decent-notes://history/' .. present.note.title
  local lines = vim.tbl_map(function(entry)
    local bytes = ('%s  +%d -%d'):format(time(entry), entry.inserted, entry.deleted)
    local author = entry.author and '  ' .. entry.author.name or ''
    return bytes .. '  ' .. table.concat(entry.what, ', ') .. author
  end, history.entries)
  table.insert(lines, 1, keys)
  local buffer = show(name, lines, 'decentnotes')
  pcall(api.nvim_win_set_cursor, 0, { row or 2, 0 })
  map(buffer, 'q', function()
    if api.nvim_buf_is_valid(before) then
      api.nvim_win_set_buf(0, before)
    else
      vim.cmd('enew')
    end
  end, 'leave')
  map(buffer, 'r', function()
    local text = at_cursor()
    return text and bring_back(id, text, present.revision)
  end, 'bring the text of then back')
  map(buffer, '<CR>', function()
    local text, entry = at_cursor()
    if text then
      local line = api.nvim_win_get_cursor(0)[1]
      local past = show(name .. '/' .. time(entry), vim.split(text, '\r?\n'), '')
      map(past, 'q', function() M.open(id, before, line) end, 'back to the history')
      map(past, 'r', function() bring_back(id, text, present.revision) end, 'bring this text back')
    end
  end, 'the text as it was then')
end

return M
