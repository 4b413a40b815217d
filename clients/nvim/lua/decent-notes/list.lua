-- The list of notes.

local actions = require('decent-notes.actions')
local changes = require('decent-notes.changes')
local edit = require('decent-notes.edit')
local names = require('decent-notes.names')
local purge = require('decent-notes.purge')
local rest = require('decent-notes.rest')
local rows = require('decent-notes.rows')
local scratch = require('decent-notes.scratch')
local server = require('decent-notes.server')
local times = require('decent-notes.time')

local M = {}
local api = vim.api
-- The list's buffer; its lines, and the rows that they show; what it shows: the trash or not, the text that was searched, the tag that
-- notes must have, and the order. `sorted` is the order in which rows are shown now.
local list = { buffer = nil, lines = {}, shown = {}, sorted = 'order', trashed = false, query = '', tag = '', order = 'order' }
local deleted = {} -- ids of notes that were put into the trash here, the latest at the end

--- Cuts or fills a text to a width. For ASCII no function of Vim's is called: such calls would take most of the time.
local function fit(text, width)
  if text:find('[^\32-\126]') then
    text = vim.fn.strcharpart(text, 0, width):gsub('%c', ' ')
    while vim.fn.strdisplaywidth(text) > width do
      text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
    end
    return text .. (' '):rep(width - vim.fn.strdisplaywidth(text))
  end
  return text:sub(1, width) .. (' '):rep(width - #text)
end

--- Makes the line of a row when it comes, which takes longer than everything else.
function rows.prepare(row)
  local note = row.note
  row.title = note.title:lower()
  row.line = table.concat({
    fit(note.title, 34), fit(table.concat(note.tags, ', '), 16), fit(note.priority == 'normal' and '' or note.priority, 6),
    times.to_local(note.modified, '%Y-%m-%d %H:%M'), note.path and note.path:gsub('%c', ' ') or nil,
  }, '  ') .. (row.snippet and '  ' .. row.snippet:gsub('%c', ' ') or '')
end

--- The name of its buffer.
local name = 'decent-notes://list'
local orders = { 'order', 'modified', 'created', 'title' }
local before = {
  modified = function(a, b) return a.note.modified > b.note.modified end,
  created = function(a, b) return a.note.created > b.note.created end,
  title = function(a, b) return a.title < b.title end,
}

--- Sorts rows. `sorted` has most of them in order as a rule; the others are inserted at their places.
local function sort(found, is_before, sorted)
  local left, result, new = {}, {}, {}
  for place = 1, #found do
    left[found[place]] = true
  end
  for place = 1, #sorted do
    local row = sorted[place]
    if left[row] then
      result[#result + 1], left[row] = row, nil
    end
  end
  for place = 1, #found do
    if left[found[place]] then
      new[#new + 1] = found[place]
    end
  end
  if #new > 50 then
    result = vim.list_slice(found, 1)
    table.sort(result, is_before)
    return result
  end
  for _, row in ipairs(new) do
    local first, last = 1, #result + 1
    while first < last do
      local middle = math.floor((first + last) / 2)
      if is_before(row, result[middle]) then
        last = middle
      else
        first = middle + 1
      end
    end
    table.insert(result, first, row)
  end
  return result
end

--- The rows that are to be shown, in their order.
local function selection()
  local found = list.tag == '' and rows.all
    or vim.tbl_filter(function(row) return vim.tbl_contains(row.note.tags, list.tag) end, rows.all)
  local is_before = before[list.order]
  return is_before and sort(found, is_before, list.order == list.sorted and list.shown or {}) or found
end

local function is_loaded()
  return list.buffer ~= nil and api.nvim_buf_is_loaded(list.buffer)
end

function rows.is_shown()
  return is_loaded() and #vim.fn.win_findbuf(list.buffer) > 0
end

--- Replaces the lines that have changed. The cursors of all windows stay on their notes.
local function draw()
  local found = selection()
  local old, new, shown = list.lines, {}, {}
  if #old ~= api.nvim_buf_line_count(list.buffer) then
    old = api.nvim_buf_get_lines(list.buffer, 0, -1, true) -- after :e
  end
  for place = 1, #found do
    shown[place], new[place] = found[place], found[place].line
  end
  if #found == 0 then
    new[1] = not rows.is_complete and '' or list.tag ~= '' and 'No note has this tag.' or list.query ~= '' and 'Nothing found.'
      or list.trashed and 'The trash is empty.' or 'No notes; n makes one.'
  end
  local cursors = {}
  for _, window in ipairs(vim.fn.win_findbuf(list.buffer)) do
    local cursor = api.nvim_win_get_cursor(window)
    local row = list.shown[cursor[1]]
    cursors[window] = { cursor, row and row.note.id }
  end
  local head, tail = 0, 0
  while head < math.min(#old, #new) and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  while tail < math.min(#old, #new) - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  list.lines, list.shown, list.sorted = new, shown, list.order
  if head + tail < math.max(#old, #new) then
    vim.bo[list.buffer].modifiable = true
    api.nvim_buf_set_lines(list.buffer, head, #old - tail, true, vim.list_slice(new, head + 1, #new - tail))
    vim.bo[list.buffer].modifiable, vim.bo[list.buffer].modified = false, false
  end
  for window, it in pairs(cursors) do
    local cursor, id = unpack(it)
    local place = math.min(cursor[1], #new)
    if id and (found[place] or { note = {} }).note.id ~= id then
      for now, row in ipairs(found) do
        place = row.note.id == id and now or place
      end
    end
    api.nvim_win_set_cursor(window, { place, cursor[2] })
  end
end

--- The rows have changed; `is_own`: by what the user did here, which is shown at once. Otherwise lines stay where they are while some of them are
--- selected, and while a command, a question or a script waits.
function rows.on_rows(is_own)
  local is_here = api.nvim_get_current_buf() == list.buffer
  if not is_loaded() or not rows.is_complete and list.order ~= 'order' and #list.shown > 0 then
    return
  elseif is_here and (api.nvim_get_mode().mode:find('^[vV\22]') or not is_own and edit.is_busy()) then
    if not list.is_late then
      list.is_late = true
      rest.after(100, function()
        list.is_late = false
        rows.on_rows()
      end)
    end
  else
    draw()
  end
end

--- The heading of the list, for its status line.
function M.describe()
  local parts = { list.trashed and 'Trash' or 'Notes' }
  parts[#parts + 1] = list.query ~= '' and 'with "' .. list.query .. '"' or nil
  parts[#parts + 1] = list.tag ~= '' and 'tagged ' .. list.tag or nil
  parts[#parts + 1] = list.order ~= 'order' and 'by ' .. list.order or nil
  return table.concat(parts, ' ')
end

--- Shows another part of the notebook, or the same one again.
local function show(trashed, query)
  list.trashed, list.query = trashed, query
  rows.show(trashed, query)
  rows.on_rows(true)
end

--- Shows what is there now.
function M.read_again()
  return is_loaded() and show(list.trashed, list.query)
end

local function item_at_cursor()
  return api.nvim_get_current_buf() == list.buffer and list.shown[api.nvim_win_get_cursor(0)[1]] or nil
end

--- The id of the note in the list under the cursor; nil outside the list.
function M.id_at_cursor()
  local item = item_at_cursor()
  return item and item.note.id
end

--- Makes a request about each of some notes, and removes those for which it succeeded from the list.
local function remove(method, items)
  local left = #items
  for _, item in ipairs(items) do
    local id = item.note.id
    server.request(method, { id = id }, function(problem)
      left = left - 1
      if not problem then
        changes.report(id, { 'trashed' })
        rows.remove(id)
        deleted[#deleted + 1] = method == 'note/delete' and id or nil
      elseif not problem.gone then
        server.tell(problem.message, vim.log.levels.WARN)
      end
    end)
  end
  server.await(function() return left == 0 end)
  rows.on_rows(true)
end

--- Puts the notes of some lines into the trash, unless the list shows the trash.
local function delete(first, last)
  if not list.trashed then
    remove('note/delete', vim.list_slice(list.shown, first, math.min(last, #list.shown)))
  end
end

--- The operator d.
function M.delete_range()
  delete(vim.fn.line("'["), vim.fn.line("']"))
end

local function restore(first, last)
  if list.trashed then
    remove('note/restore', vim.list_slice(list.shown, first, math.min(last, #list.shown)))
  elseif #deleted > 0 then
    local id = table.remove(deleted)
    if server.call('note/restore', { id = id }) then
      changes.report(id, { 'trashed' })
    end
  end
end

--- Has the notes of some lines of the trash forgotten, after a question.
local function forget(first, last)
  if not list.trashed then
    return server.tell('only notes in the trash are forgotten; T shows it', vim.log.levels.WARN)
  end
  local items = vim.list_slice(list.shown, first, math.min(last, #list.shown))
  return #items > 0 and purge.ask(vim.tbl_map(function(item) return item.note end, items), M.read_again)
end

--- Moves a note before or after its neighbour.
local function move(by)
  local place = api.nvim_win_get_cursor(0)[1]
  local item, other = list.shown[place], list.shown[place + by]
  if list.order ~= 'order' then
    return server.tell('the list is by ' .. list.order .. '; o shows the order', vim.log.levels.WARN)
  elseif item and other
    and server.call('note/move', { id = item.note.id, [by < 0 and 'before' or 'after'] = other.note.id }) then
    rows.move(item.note.id, other.note.id, by > 0)
    rows.on_rows(true)
  end
end

local function edit_tags(item)
  local line = actions.ask(('Tags of "%s", separated by commas: '):format(names.titled(item.note)), table.concat(item.note.tags, ', '))
  if not line then
    return
  end
  -- Only the difference is sent: others may change tags at the same time.
  local add, remove = {}, {}
  local wanted = vim.tbl_filter(function(tag) return tag ~= '' end, vim.tbl_map(vim.trim, vim.split(line, ',')))
  for _, tag in ipairs(wanted) do
    add[#add + 1] = not vim.tbl_contains(item.note.tags, tag) and tag or nil
  end
  for _, tag in ipairs(item.note.tags) do
    remove[#remove + 1] = not vim.tbl_contains(wanted, tag) and tag or nil
  end
  actions.update(item.note.id, { tags = { add = add, remove = remove } })
end

-- Each key, its help, its function of the row at the cursor, and true if it needs no row.
local keys = {
  { '<CR>', 'open', function(item) actions.open(item.note, item.ranges and (item.ranges[1] or {}).start) end },
  { 'n', 'new note', function() actions.create('') end, true },
  { 'dd', 'delete: into the trash; also 3dd, dj, and d in Visual mode', function()
    local place = api.nvim_win_get_cursor(0)[1]
    delete(place, place + vim.v.count1 - 1)
  end },
  { 'u', 'restore: in the trash this one, in the list what was deleted last', function()
    local place = api.nvim_win_get_cursor(0)[1]
    restore(place, place)
  end, true },
  { 'T', 'show the trash, or the notes', function() show(not list.trashed, '') end, true },
  { 'D', 'in the trash: forget for good, after a question; also 3D, and D in Visual mode', function()
    local place = api.nvim_win_get_cursor(0)[1]
    forget(place, place + vim.v.count1 - 1)
  end },
  { 'E', 'empty the trash, after a question', function() purge.empty_trash(M.read_again) end, true },
  { 'K', 'move up', function() move(-1) end },
  { 'J', 'move down', function() move(1) end },
  { 't', 'tags', edit_tags },
  { 'p', 'priority: low, normal, high', function(item)
    local next = { low = 'normal', normal = 'high', high = 'low' }
    actions.update(item.note.id, { priority = next[item.note.priority] })
  end },
  { 'r', 'rename, and the links to it as well', function(item)
    local title = actions.ask(('New title of "%s": '):format(names.titled(item.note)), item.note.title)
    return title and actions.rename(item.note.id, title)
  end },
  { 's', 'search; nothing: all notes', function()
    local query = actions.ask('Search: ', list.query)
    if query then
      show(false, query)
    end
  end, true },
  { 'f', 'only those with a tag; nothing: all notes', function()
    local tag = actions.ask('Tag: ', list.tag, "customlist,v:lua.require'decent-notes.complete'.tag")
    if tag then
      list.tag = vim.trim(tag)
      rows.on_rows(true)
    end
  end, true },
  { 'o', 'sort: order, modified, created, title', function()
    for place, order in ipairs(orders) do
      if order == list.order then
        list.order = orders[place % #orders + 1]
        break
      end
    end
    rows.on_rows(true)
  end, true },
  { 'R', 'show anew', function() show(list.trashed, list.query) end, true },
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

--- Maps a key of Visual mode to a function of the first and last selected line.
local function map_selection(key, use, description)
  vim.keymap.set('x', key, function()
    local first, last = vim.fn.line('v'), vim.fn.line('.')
    vim.cmd('normal! \27')
    use(math.min(first, last), math.max(first, last))
  end, { buffer = list.buffer, nowait = true, desc = description })
end

--- :Notes
function M.open()
  if not server.ensure() then
    return
  end
  if is_loaded() then
    return api.nvim_win_set_buf(0, list.buffer)
  end
  list.lines, list.shown, list.tag, list.order = { '' }, {}, '', 'order'
  list.buffer = scratch.show(name, {}, 'decentnotes')
  vim.bo.bufhidden = 'hide'
  vim.opt_local.wrap, vim.opt_local.cursorline = false, true
  if vim.go.statusline == '' then
    vim.opt_local.statusline = "%{v:lua.require'decent-notes.list'.describe()}%=%l of %L "
  end
  for _, key in ipairs(keys) do
    vim.keymap.set('n', key[1], function()
      local item = item_at_cursor()
      return (item or key[4]) and key[3](item)
    end, { buffer = list.buffer, nowait = true, desc = key[2] })
  end
  vim.keymap.set('n', 'd', function()
    vim.o.operatorfunc = "v:lua.require'decent-notes.list'.delete_range"
    return 'g@'
  end, { buffer = list.buffer, expr = true, desc = 'delete' })
  map_selection('d', delete, 'delete')
  map_selection('u', restore, 'restore')
  map_selection('D', forget, 'forget for good')
  api.nvim_create_autocmd('BufWinEnter', { buffer = list.buffer, callback = rows.refresh })
  vim.keymap.set('n', 'g?', help, { buffer = list.buffer, desc = 'help' })
  show(false, '')
end

--- A session that had the list has made an empty buffer of its name. Shows the list in the windows of that.
function M.revive()
  for _, dead in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(dead) == name and dead ~= list.buffer then
      local windows = vim.fn.win_findbuf(dead)
      for _, window in ipairs(windows) do
        api.nvim_win_call(window, function()
          vim.cmd('enew')
          vim.bo.bufhidden = 'wipe'
        end)
      end
      pcall(api.nvim_buf_delete, dead, { force = true })
      for _, window in ipairs(windows) do
        api.nvim_win_call(window, M.open)
      end
    end
  end
end

return M
