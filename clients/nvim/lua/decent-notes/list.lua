-- The list of notes, a note's history, and other buffers that only show something.

local server = require('decent-notes.server')

local M = {}
local api = vim.api
-- The list's buffer, what its lines stand for, and what it shows: the trash or not, and the text that was looked for.
local list = { buffer = nil, items = {}, trashed = false, query = '' }

--- A buffer in the current window that shows lines and is gone when it is left.
local function show(name, lines, filetype)
  vim.cmd('enew')
  local buffer = api.nvim_get_current_buf()
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.buflisted = 'nofile', 'wipe', false, false
  pcall(api.nvim_buf_set_name, buffer, name)
  api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  vim.bo.modifiable, vim.bo.filetype = false, filetype
  return buffer
end

local function fit(text, width)
  text = vim.fn.strcharpart(text, 0, width):gsub('%c', ' ')
  while vim.fn.strdisplaywidth(text) > width do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text .. (' '):rep(width - vim.fn.strdisplaywidth(text))
end

local function item_at_cursor()
  return api.nvim_get_current_buf() == list.buffer and list.items[api.nvim_win_get_cursor(0)[1]] or nil
end

--- The id of the note in the list under the cursor; nil outside the list.
function M.id_at_cursor()
  local item = item_at_cursor()
  return item and item.note.id
end

--- Shows `items`, each a note and perhaps a snippet; the cursors in all windows stay at their notes.
local function show_items(items)
  local lines, row_of = {}, {}
  for index, item in ipairs(items) do
    local note = item.note
    lines[index] = ('%4d  %s  %s  %-6s'):format(index, fit(note.title, 40), fit(table.concat(note.tags, ', '), 20),
      note.priority == 'normal' and '' or note.priority) .. (item.snippet and '  ' .. item.snippet:gsub('%c', ' ') or '')
    lines[index] = lines[index]:gsub('%s+$', '')
    row_of[note.id] = index
  end
  if #items == 0 then
    lines[1] = list.query ~= '' and 'Nothing found.' or list.trashed and 'The trash is empty.' or 'No notes; n makes one.'
  end
  local before = list.items
  list.items = items
  vim.bo[list.buffer].modifiable = true
  local cursors = {}
  for _, window in ipairs(vim.fn.win_findbuf(list.buffer)) do
    cursors[window] = api.nvim_win_get_cursor(window)
  end
  api.nvim_buf_set_lines(list.buffer, 0, -1, true, lines)
  vim.bo[list.buffer].modifiable, vim.bo[list.buffer].modified = false, false
  for window, cursor in pairs(cursors) do
    local item = before[cursor[1]]
    local row = item and row_of[item.note.id] or math.min(cursor[1], #lines)
    api.nvim_win_set_cursor(window, { row, cursor[2] })
  end
end

local function take(items)
  if list.buffer and api.nvim_buf_is_loaded(list.buffer) then
    show_items(items)
  end
end

--- Asks for what the list shows; several calls while an answer is under way ask once more.
function M.refresh()
  if not list.buffer or #vim.fn.win_findbuf(list.buffer) == 0 then
    return -- it is asked for when the buffer comes into a window
  elseif list.asking then
    list.stale = true
    return
  end
  list.asking, list.stale = true, false
  local searching = list.query ~= ''
  local method = searching and 'notebook/search' or 'notebook/list'
  local params = searching and { query = list.query, limit = 1000 } or { trashed = list.trashed }
  server.request(method, params, function(problem, result)
    list.asking = false
    if problem then
      return not problem.gone and server.tell(problem.message, vim.log.levels.WARN)
    end
    take(result.matches or vim.tbl_map(function(note) return { note = note } end, result.notes))
    if list.stale then
      M.refresh()
    end
  end)
end

--- Makes a request about a note and shows the list as it is then.
local function ask(method, params)
  if params and server.call(method, params) then
    M.refresh()
  end
end

--- Before or after which note a note goes when it is moved.
local function move(by)
  local row = api.nvim_win_get_cursor(0)[1]
  local item, other = list.items[row], list.items[row + by]
  if item and other then
    ask('note/move', { id = item.note.id, [by < 0 and 'before' or 'after'] = other.note.id })
  end
end

local function edit_tags(item)
  local notes = require('decent-notes')
  local line = notes.ask('Tags, separated by commas: ', table.concat(item.note.tags, ', '))
  if not line then
    return
  end
  -- Only what is different: others may change tags at the same time.
  local add, remove = {}, {}
  local wanted = vim.tbl_filter(function(tag) return tag ~= '' end, vim.tbl_map(vim.trim, vim.split(line, ',')))
  for _, tag in ipairs(wanted) do
    add[#add + 1] = not vim.tbl_contains(item.note.tags, tag) and tag or nil
  end
  for _, tag in ipairs(item.note.tags) do
    remove[#remove + 1] = not vim.tbl_contains(wanted, tag) and tag or nil
  end
  notes.update(item.note.id, { tags = { add = add, remove = remove } })
end

-- Key, what it does as the help shows it, and how; `item` is what the cursor is at.
local keys = {
  { '<CR>', 'open', function(item) require('decent-notes').open(item.note, item.ranges and (item.ranges[1] or {}).start) end },
  { 'n', 'new note', function() require('decent-notes').create('') end, true },
  { 'd', 'delete: into the trash', function(item) ask('note/delete', { id = item.note.id }) end },
  { 'u', 'restore, in the trash', function(item) ask('note/restore', item.note.trashed and { id = item.note.id }) end },
  { 'T', 'show the trash, or the notes', function()
    list.trashed, list.query = not list.trashed, ''
    M.refresh()
  end, true },
  { 'K', 'move up', function() move(-1) end },
  { 'J', 'move down', function() move(1) end },
  { 't', 'tags', edit_tags },
  { 'p', 'priority: low, normal, high', function(item)
    local next = { low = 'normal', normal = 'high', high = 'low' }
    require('decent-notes').update(item.note.id, { priority = next[item.note.priority] })
  end },
  { 'r', 'rename', function(item)
    local title = require('decent-notes').ask('Title: ', item.note.title)
    return title and require('decent-notes').update(item.note.id, { title = title })
  end },
  { 's', 'search; nothing: all notes', function()
    local query = require('decent-notes').ask('Search: ', list.query)
    if query then
      list.query, list.trashed = query, false
      M.refresh()
    end
  end, true },
  { 'R', 'show anew', function() M.refresh() end, true },
  { 'q', 'close', function()
    pcall(vim.cmd, 'buffer #') -- for the window stays
    vim.cmd('bwipeout ' .. list.buffer)
  end, true },
}

local function help()
  local lines = {}
  for _, key in ipairs(keys) do
    lines[#lines + 1] = ('%-5s %s'):format(key[1], key[2])
  end
  api.nvim_echo({ { table.concat(lines, '\n') } }, false, {})
end

--- :Notes
function M.open()
  if not server.ensure() then
    return
  end
  if list.buffer and api.nvim_buf_is_loaded(list.buffer) then
    return api.nvim_win_set_buf(0, list.buffer)
  end
  list.items, list.trashed, list.query, list.asking = {}, false, '', false
  list.buffer = show('decent-notes://list', {}, 'decentnotes')
  vim.bo.bufhidden = 'hide'
  vim.opt_local.wrap, vim.opt_local.cursorline = false, true
  for _, key in ipairs(keys) do
    vim.keymap.set('n', key[1], function()
      local item = item_at_cursor()
      return (item or key[4]) and key[3](item)
    end, { buffer = list.buffer, nowait = true, desc = key[2] })
  end
  api.nvim_create_autocmd('BufWinEnter', { buffer = list.buffer, callback = M.refresh })
  vim.keymap.set('n', 'g?', help, { buffer = list.buffer, desc = 'help' })
  local result = server.call('notebook/list', { trashed = false })
  take(vim.tbl_map(function(note) return { note = note } end, result and result.notes or {}))
end

--- :NoteHistory
function M.history(id)
  local result = server.call('note/history', { id = id, limit = 1000 })
  if not result then
    return
  end
  local lines = {}
  for index, entry in ipairs(result.entries) do
    lines[index] = ('%s  +%d -%d'):format(entry.time:sub(1, 19):gsub('T', ' '), entry.inserted, entry.deleted)
  end
  local buffer = show('decent-notes://history/' .. id, lines, 'decentnotes')
  vim.keymap.set('n', '<CR>', function()
    local entry = result.entries[api.nvim_win_get_cursor(0)[1]]
    local past = entry and server.call('note/get', { id = id, revision = entry.revision })
    if past then
      local name = ('decent-notes://history/%s/%s'):format(id, entry.time)
      show(name, vim.split(past.text, '\n', { plain = true }), '')
    end
  end, { buffer = buffer, desc = 'the text as it was then' })
end

--- :NotesLog
function M.log()
  show('decent-notes://log', server.log, '')
end

return M
