-- What users call: opening, commands, the word for the status line. lua/decent-notes/note.lua has the live text.

local note = require('decent-notes.note')
local server = require('decent-notes.server')

local M = {}
local api = vim.api
local priorities = { 'low', 'normal', 'high' }

--- A title as part of a buffer's name: without what means something in file names or to Neovim's command line.
local function safe(title)
  return (vim.fn.strcharpart(title, 0, 60):gsub('[%c%s/\\*?%[%]{}$`%%#<>|"\'~]+', '_'))
end

--- Opens a note in the current window; `place`, if given, is where to put the cursor.
function M.open(summary, place)
  local name = 'note://' .. summary.id .. '/' .. safe(summary.title)
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    local shown = note.of(buffer)
    if shown and shown.id == summary.id then
      name = api.nvim_buf_get_name(buffer)
    end
  end
  local done, problem = pcall(vim.cmd, 'edit ' .. vim.fn.fnameescape(name))
  if not done then
    server.tell(problem:gsub('^.-:(E%d+:)', '%1'), vim.log.levels.WARN)
  elseif place and note.of() then
    pcall(api.nvim_win_set_cursor, 0, { place.line + 1, place.character })
  end
end

--- The notes with the id or title; an error is told, and then there are none.
local function find(name)
  local result = server.call('notebook/list')
  return vim.tbl_filter(function(it) return it.id == name or it.title == name end, result and result.notes or {}), result
end

--- :Note
function M.open_titled(name)
  local found, listed = find(name)
  if listed and #found == 0 then
    server.tell(('there is no note "%s"; :NoteNew makes one'):format(name), vim.log.levels.WARN)
  elseif #found == 1 then
    M.open(found[1])
  elseif #found > 1 then
    vim.ui.select(found, {
      prompt = ('Which "%s"?'):format(name),
      format_item = function(it) return it.modified:sub(1, 16):gsub('T', ' ') .. '  ' .. table.concat(it.tags, ', ') end,
    }, function(chosen) return chosen and M.open(chosen) end)
  end
end

--- Asks the user for a line; nil if there is none to be given. (vim.ui.input of Neovim 0.7 takes an empty one for none.)
function M.ask(prompt, default)
  local given, line = pcall(vim.fn.input, { prompt = prompt, default = default or '', cancelreturn = '\27' })
  return given and line ~= '\27' and line or nil
end

--- :NoteNew
function M.create(title)
  title = title ~= '' and title or M.ask('Title: ')
  local result = title and server.call('note/create', { title = title })
  if result then
    M.open(result.note)
  end
end

--- The id of the note that commands are about: that of the buffer, or of the cursor's line in the list.
local function current_id()
  local shown = note.of()
  local id = shown and shown.id or require('decent-notes.list').id_at_cursor()
  if not id then
    server.tell('this is no note', vim.log.levels.WARN)
  end
  return id
end

--- Changes a note's title, tags or priority, and hands the new summary on.
function M.update(id, changes, use)
  changes.id = id
  local result = server.call('note/update', changes)
  if result then
    local shown = note.of()
    if shown and shown.id == id then
      shown.title = result.note.title
    end
    require('decent-notes.list').refresh()
    return use and use(result.note)
  end
end

local function tell_tags(summary)
  server.tell(#summary.tags > 0 and 'tags: ' .. table.concat(summary.tags, ', ') or 'no tags')
end

--- :NoteTag
function M.tag(words)
  local id = current_id()
  local add, remove, whole = {}, {}, {}
  for _, word in ipairs(words) do
    local list = word:sub(1, 1) == '+' and add or word:sub(1, 1) == '-' and remove or whole
    list[#list + 1] = list == whole and word or word:sub(2)
  end
  if not id then
    return
  elseif #words == 0 then
    local result = server.call('note/get', { id = id })
    return result and tell_tags(result.note)
  elseif #whole > 0 and #add + #remove > 0 then
    return server.tell('either +tag and -tag, or the whole list', vim.log.levels.WARN)
  end
  M.update(id, { tags = #whole > 0 and whole or { add = add, remove = remove } }, tell_tags)
end

--- :NotePriority
function M.set_priority(priority)
  local id = current_id()
  if id then
    M.update(id, { priority = priority }, function(summary) server.tell('priority: ' .. summary.priority) end)
  end
end

--- :NoteTitle
function M.set_title(title)
  local id = current_id()
  if id then
    M.update(id, { title = title }, function(summary) server.tell('title: ' .. summary.title) end)
  end
end

--- :NoteHistory
function M.history()
  local id = current_id()
  if id then
    require('decent-notes.list').history(id)
  end
end

--- :NotesRestart
function M.restart()
  if server.restart() then
    server.tell('decent-notes was started')
  end
end

--- Ends what Neovim leaves behind: see note.quit.
function M.quit()
  local told = note.quit()
  if #told == 0 then
    return
  elseif #api.nvim_list_uis() > 0 and vim.v.dying == 0 then
    -- Neovim is about to leave the screen: without a question nobody would read this.
    vim.fn.confirm('Decent Notes: ' .. table.concat(told, '\n'))
  else
    io.stderr:write('Decent Notes: ' .. table.concat(told, '\n') .. '\n')
  end
end

-- Completion

local function starting_with(start, words)
  start = start:lower()
  return vim.tbl_filter(function(word) return word:lower():sub(1, #start) == start end, words)
end

function M.complete_title(start, line, cursor)
  local result = server.call('notebook/list', nil, 2000)
  local titles, seen = {}, {}
  for _, it in ipairs(result and result.notes or {}) do
    titles[#titles + 1] = not seen[it.title] and it.title or nil
    seen[it.title] = true
  end
  -- All that was typed counts, though only its last word may be what is completed.
  local typed = line:sub(1, cursor):gsub('^.-Note%s+', '')
  return vim.tbl_map(function(title) return title:sub(#typed - #start + 1) end, starting_with(typed, titles))
end

function M.complete_tag(start)
  local sign = start:match('^[+-]') or ''
  local result = server.call('notebook/list', nil, 2000)
  local tags = {}
  for _, tag in ipairs(server.suggested_tags or {}) do
    tags[tag] = true
  end
  for _, it in ipairs(result and result.notes or {}) do
    for _, tag in ipairs(it.tags) do
      tags[tag] = true
    end
  end
  local words = vim.tbl_keys(tags)
  table.sort(words)
  return vim.tbl_map(function(tag) return sign .. tag end, starting_with(start:sub(#sign + 1), words))
end

function M.complete_priority(start)
  return starting_with(start, priorities)
end

function M.next_priority(priority)
  return ({ low = 'normal', normal = 'high', high = 'low' })[priority]
end

-- The status line

--- `connected`, `offline`, or how many others are at the note of the current buffer; nothing elsewhere.
function M.status()
  local shown = note.of()
  if not shown then
    return ''
  elseif not shown.attachment then
    return 'offline'
  end
  return shown.peers == 0 and 'connected' or shown.peers == 1 and '1 other' or shown.peers .. ' others'
end

--- The title of the note in the current buffer.
function M.title()
  local shown = note.of()
  return shown and shown.title or ''
end

-- What happens in note buffers

--- Reads a note into a buffer, and makes the buffer one for notes.
function M.read(buffer, name)
  local shown = note.read(buffer, name)
  if not shown then
    return
  end
  if vim.g.decent_notes_undo ~= false and vim.g.decent_notes_undo ~= 0 then
    for key, method in pairs({ u = 'note/undo', ['<C-r>'] = 'note/redo' }) do
      vim.keymap.set('n', key, function()
        local now = note.of(buffer)
        return now and note.undo(now, method, vim.v.count1)
      end, { buffer = buffer, desc = method .. ': only what was done here' })
    end
  end
  local group = api.nvim_create_augroup('DecentNotesBuffer' .. buffer, {})
  local function on(events, use)
    api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = function()
      local now = note.of(buffer)
      return now and use(now)
    end })
  end
  on({ 'CursorMoved', 'CursorMovedI' }, note.cursor_moved)
  -- Also when the buffer is read again, by :e!.
  on('BufUnload', note.detach)
  api.nvim_exec_autocmds('BufReadPost', { buffer = buffer, modeline = false })
  M.show_status()
end

--- Gives the current window a status line for its note, unless the user has one for all windows.
function M.show_status()
  if note.of() and vim.go.statusline == '' then
    vim.opt_local.statusline = "%<%{v:lua.require'decent-notes'.title()} %m%r"
      .. "%=%{v:lua.require'decent-notes'.status()}  %-14.(%l,%c%V%) %P"
  end
end

server.on['notebook/didChange'] = function(params)
  require('decent-notes.list').refresh()
  for _, changed in ipairs(params.changed) do
    if vim.tbl_contains(changed.what, 'title') then
      note.title_changed(changed.id)
    end
  end
end

return M
