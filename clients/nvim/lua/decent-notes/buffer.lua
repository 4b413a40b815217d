-- The buffer of a note as a user meets it: its filetype, reading, writing and leaving, and its status line.

local changes = require('decent-notes.changes')
local edit = require('decent-notes.edit')
local names = require('decent-notes.names')
local note = require('decent-notes.note')
local server = require('decent-notes.server')
local typed = require('decent-notes.typed')
local unsent = require('decent-notes.unsent')

local M = {}
local api = vim.api
local warning = vim.log.levels.WARN

--- The name of a note's buffer, or the name that it will get.
function M.name_of(summary)
  local shown = note.find(summary.id)
  return shown and api.nvim_buf_get_name(shown.buffer) or names.of(summary.id, summary.title)
end

--- Gives a buffer the name that fits its title. A session that is being read calls buffers by the names it knows. If Neovim does not
--- allow it now, it is done when the buffer is entered.
local function rename(shown)
  local buffer, name = shown.buffer, names.of(shown.id, shown.title)
  local old = api.nvim_buf_get_name(buffer)
  if name == old or vim.g.SessionLoad then
    return
  end
  pcall(api.nvim_buf_call, buffer, function() vim.cmd('silent keepalt file ' .. vim.fn.fnameescape(name)) end)
  -- Neovim has made a new buffer with the old name.
  local left = vim.fn.bufadd(old)
  if left ~= buffer then
    pcall(api.nvim_buf_delete, left, { force = true })
  end
end

--- The current buffer was entered.
function M.entered()
  local shown, other = note.of(), vim.b.decent_notes_other
  if shown then
    rename(shown)
  elseif other and api.nvim_buf_is_loaded(other) then
    vim.cmd('keepalt buffer ' .. other)
  end
end

--- Renames the buffers of all notes: a session has been read.
function M.rename_all()
  vim.tbl_map(rename, note.all())
end

-- The filetype

--- Returns true if a buffer has a filetype. Neovim takes any text that begins with "#" for "conf", even Markdown.
local function has_filetype(buffer, title)
  local found = vim.bo[buffer].filetype
  return found ~= '' and (found ~= 'conf' or title:find('%.conf$') ~= nil)
end

--- Finds the filetype by the title, as if it were a file name, unless the buffer has a filetype.
local function find_filetype(buffer, title)
  if not has_filetype(buffer, title) then
    api.nvim_buf_call(buffer, function()
      pcall(api.nvim_exec_autocmds, 'BufRead', {
        group = 'filetypedetect', pattern = 'note:///' .. title:gsub('[/%c]', '_'), modeline = false,
      })
    end)
  end
end

--- Sets the user's default if there is no filetype. The result is remembered, to tell it from one that the user sets.
local function settle_filetype(shown)
  local default = vim.g.decent_notes_filetype or ''
  if default ~= '' and not has_filetype(shown.buffer, shown.title) then
    vim.bo[shown.buffer].filetype = default
  end
  shown.filetype = vim.bo[shown.buffer].filetype
end

--- The note has a new title: the filetype follows it, unless the user has set one, and so does the buffer's name.
local function retitle(shown, title)
  local buffer, before = shown.buffer, vim.bo[shown.buffer].filetype
  local function set(filetype)
    api.nvim_buf_call(buffer, function() vim.cmd('noautocmd setlocal filetype=' .. filetype) end)
  end
  shown.title = title
  set('')
  find_filetype(buffer, title)
  if before ~= shown.filetype and not has_filetype(buffer, title) then
    set(before) -- the user has set it
  else
    settle_filetype(shown)
    if shown.filetype == '' and before ~= '' then
      vim.bo[buffer].filetype = '' -- now with the event
    end
  end
  rename(shown)
end

-- The summary

--- Shows the title and the path of a note, and whether it is in the trash. `is_others`: others changed it.
local function take_summary(shown, summary, is_others)
  shown.path = summary.path
  if summary.title ~= shown.title then
    retitle(shown, summary.title)
  end
  local buffer = shown.buffer
  if summary.trashed ~= vim.b[buffer].decent_notes_trashed then
    vim.b[buffer].decent_notes_trashed = summary.trashed
    if is_others then
      server.tell(summary.trashed and ('this note is in the trash; typing takes it out ("%s")'):format(summary.title)
        or ('"%s" was taken out of the trash'):format(summary.title), summary.trashed and warning or nil)
    end
  end
  vim.cmd('redrawstatus!')
end

changes.on(function(id, what, summary, is_others)
  local shown = note.find(id)
  if shown and summary then
    take_summary(shown, summary, is_others)
  elseif shown and (vim.tbl_contains(what, 'title') or vim.tbl_contains(what, 'trashed') or vim.tbl_contains(what, 'path')
    -- A change takes a note out of the trash.
    or vim.b[shown.buffer].decent_notes_trashed) then
    server.request('note/get', { id = id }, function(_, result)
      return result and note.of(shown.buffer) == shown and take_summary(shown, result.note, is_others)
    end)
  end
end)

-- Reading and writing

local function tell_kept()
  vim.defer_fn(function() server.tell('what was typed is kept; u in the note takes it back') end, 10)
end

--- Says that nothing is thrown away by `:quit!`, as it would be of a file: for QuitPre.
function M.quitting()
  if note.of() and vim.fn.histget(':', -1):find('^%s*q[uit]*!') then
    tell_kept()
  end
end

--- Maps u and CTRL-R to undo and redo of the note, and also the user's own keys that are mapped to just these.
local function map_undo(buffer)
  local methods = { u = 'note/undo', ['\18'] = 'note/redo' }
  local function map(lhs, key)
    vim.keymap.set('n', lhs, function()
      local now = note.of(buffer)
      if now and not vim.bo[buffer].modifiable then
        server.tell("'modifiable' is off", warning)
      elseif now then
        note.undo(now, methods[key], vim.v.count1)
      else
        pcall(vim.cmd, 'normal! ' .. vim.v.count1 .. key)
      end
    end, { buffer = buffer, desc = methods[key] .. ': only what was done here' })
  end
  for _, mapping in ipairs(api.nvim_get_keymap('n')) do
    local key = mapping.noremap == 1 and api.nvim_replace_termcodes(mapping.rhs or '', true, true, true)
    if methods[key] then
      map(mapping.lhs, key)
    end
  end
  for key in pairs(methods) do
    map(key, key)
  end
end

--- A note has one buffer, `other`, and this is another one. Shows that at once, where this one was to be shown: what is to be done with the note
--- is done there. Where no window shows it, its lines can be looked at, but not changed. It is deleted when the present command is over, which
--- may go to a line of it.
local function give_up(buffer, lines, other)
  vim.bo[buffer].swapfile, vim.bo[buffer].modifiable = false, true
  edit.fill(buffer, lines)
  vim.bo[buffer].modified, vim.bo[buffer].modifiable, vim.b[buffer].decent_notes_other = false, false, other
  if api.nvim_get_current_buf() == buffer and vim.fn.win_gettype() ~= 'autocmd' then
    vim.cmd('keepalt buffer ' .. other)
  end
  vim.schedule(function()
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      local cursor = api.nvim_win_get_cursor(window)
      api.nvim_win_set_buf(window, other)
      if cursor[1] > 1 or cursor[2] > 0 then
        pcall(api.nvim_win_set_cursor, window, cursor)
      end
    end
    pcall(api.nvim_buf_delete, buffer, { force = true })
  end)
end

local last_buffer = 0 -- the last one that there was when the shada file was read

--- The line and the column of the '" mark of the note with this name, which `buffer` is to get. Neovim gives the marks of its shada file to the
--- buffers that there are when it reads the file, as it does before it opens any; at most once for all notes that a list of places names.
local function last_place(buffer, name)
  local named = vim.fn.bufadd(name)
  if named > last_buffer then
    last_buffer = vim.fn.bufnr('$')
    vim.cmd('silent! rshada')
  end
  local place = api.nvim_buf_get_mark(named, '"')
  if named ~= buffer then
    pcall(api.nvim_buf_delete, named, { force = true })
  end
  return place
end

--- Reads a note into a buffer whose name stands for it.
function M.read(buffer, name)
  local id = names.id_of(name)
  local open = id and note.find(id)
  if open and open.buffer ~= buffer then
    return give_up(buffer, api.nvim_buf_get_lines(open.buffer, 0, -1, true), open.buffer)
  end
  vim.bo[buffer].modifiable = true -- where it is off, the options below cannot be set
  for option, value in pairs({
    -- There is no 'buftype': sessions do not store the cursor and folds of a buffer that has one, and many plugins ignore it. The text is
    -- the buffer's lines joined by line feeds, and nothing else.
    fileformat = 'unix', fixendofline = false, endofline = false, fileencoding = 'utf-8', bomb = false,
    swapfile = false, undofile = false,
  }) do
    vim.bo[buffer][option] = value
  end
  -- An .editorconfig in the current folder is for files.
  vim.b[buffer].editorconfig = false
  vim.bo[buffer].modifiable = false
  local function fill(text)
    -- This cannot be undone.
    local levels = vim.bo[buffer].undolevels
    vim.bo[buffer].modifiable, vim.bo[buffer].undolevels = true, -1
    edit.fill(buffer, vim.split(text, '\n', { plain = true }))
    vim.bo[buffer].undolevels, vim.bo[buffer].modified = levels, false
  end
  local shown = id and note.reopen(buffer, id, fill)
  if not shown then
    local found = id and server.call('note/get', { id = id })
    local due = found and names.of(id, found.note.title)
    if due and due ~= api.nvim_buf_get_name(buffer) and vim.fn.bufexists(due) == 1 and not vim.g.SessionLoad then
      -- That buffer is unloaded. Marks and jumps refer to it.
      return give_up(buffer, vim.split(found.text, '\n', { plain = true }), vim.fn.bufnr(due))
    end
    local place = due and last_place(buffer, due) or { 0, 0 }
    shown = found and note.open(buffer, id, found.note.title, fill)
    if not shown then
      return
    end
    if place[1] > 0 then
      -- The lines that came in have moved the mark.
      pcall(api.nvim_buf_set_mark, buffer, '"', math.min(place[1], api.nvim_buf_line_count(buffer)), place[2], {})
    end
    vim.b[buffer].decent_notes_trashed, vim.b[buffer].decent_notes_purged = found.note.trashed, nil
    shown.path = found.note.path
  end
  if vim.g.decent_notes_undo ~= false and vim.g.decent_notes_undo ~= 0 then
    map_undo(buffer)
  end
  local group = api.nvim_create_augroup('DecentNotesBuffer' .. buffer, {})
  local function on(events, use)
    api.nvim_create_autocmd(events, { group = group, buffer = buffer, callback = function()
      local now = note.of(buffer)
      return now and use(now)
    end })
  end
  on({ 'CursorMoved', 'CursorMovedI' }, note.cursor_moved)
  typed.prepare(buffer, group)
  vim.keymap.set('n', 'ZQ', function()
    tell_kept()
    vim.cmd('quit!')
  end, { buffer = buffer, desc = 'quit; what was typed is kept' })
  -- Also when :e! reads the buffer again.
  on('BufUnload', M.close)
  rename(shown)
  api.nvim_exec_autocmds('BufReadPost', { buffer = buffer, modeline = false })
  find_filetype(buffer, shown.title)
  settle_filetype(shown)
  M.show_status()
end

--- :w — sends all that the server lacks, and waits until everything is on disk. BufWriteCmd has to run the other events of writing.
function M.write(buffer)
  local shown = note.of(buffer)
  if not shown and vim.b[buffer].decent_notes_purged then
    return server.tell('this note was forgotten; :saveas keeps its text', warning)
  elseif not shown then
    return server.tell('this buffer shows no note and is not saved', warning)
  elseif not server.ensure() then
    return
  end
  api.nvim_exec_autocmds('BufWritePre', { buffer = buffer, modeline = false })
  note.convert(shown)
  note.settle(shown, 5000)
  if not note.is_settled(shown) then
    local problem = server.is_silent() and 'no answer; :NotesRestart starts another' or shown.problem or 'decent-notes does not take it'
    return server.tell(('not saved: %s ("%s")'):format(problem, shown.title), warning)
  end
  if server.call('notebook/flush', { attachment = shown.attachment }) then
    note.show_modified(shown)
    api.nvim_exec_autocmds('BufWritePost', { buffer = buffer, modeline = false })
    server.tell(('"%s" written'):format(shown.title))
  end
end

--- Keeps a text that could not be sent in a file. Returns a message for the user.
local function keep_in_file(shown)
  local path, problem = note.keep(shown)
  unsent.release(shown)
  return path and ('"%s" could not be sent; its text is in %s'):format(shown.title, path)
    or ('"%s" could not be sent, nor its text kept: %s'):format(shown.title, problem)
end

--- The buffer is unloaded. A text that the server did not get is written to a file.
function M.close(shown)
  if note.close(shown) then
    return
  end
  local told = keep_in_file(shown)
  if vim.v.exiting == vim.NIL then
    server.tell(told, warning, true)
  elseif #api.nvim_list_uis() > 0 and vim.v.dying == 0 then
    -- Neovim is about to clear the screen. A question makes it wait.
    vim.fn.confirm('Decent Notes: ' .. told)
  else
    io.stderr:write('Decent Notes: ' .. told .. '\n')
  end
end

--- A buffer has a new name. After :saveas it belongs to a file, and after the :file of a session to a note.
function M.renamed(buffer, name)
  local shown = note.of(buffer)
  if shown and names.id_of(name) ~= shown.id then
    M.close(shown)
    vim.b[buffer].editorconfig = nil
    vim.opt_local.statusline = ''
  elseif vim.b[buffer].decent_notes_purged and not names.id_of(name) then
    vim.b[buffer].decent_notes_purged, vim.b[buffer].editorconfig = nil, nil
    vim.bo[buffer].modifiable, vim.opt_local.statusline = true, ''
  elseif not shown and name:find('^note://') and api.nvim_buf_is_loaded(buffer) and not vim.bo[buffer].modified then
    M.read(buffer, name)
  end
end

--- A note was forgotten for good. Its buffer keeps what it shows until the user leaves it, and cannot be changed any more; what was typed
--- and not taken is in a file besides.
function note.on_purged(shown, is_unsent)
  local buffer = shown.buffer
  local told = is_unsent and keep_in_file(shown)
  vim.b[buffer].decent_notes_purged = shown.title
  vim.bo[buffer].modified, vim.bo[buffer].modifiable = false, false
  vim.cmd('redrawstatus!')
  server.tell(('this note was forgotten; :saveas keeps its text ("%s")'):format(shown.title), warning)
  if told then
    server.tell(told, warning, true)
  end
end

--- Neovim ends. Buffers are still loaded if it is being killed.
function M.quit()
  for _, shown in ipairs(note.all()) do
    M.close(shown)
  end
  server.stop(5000)
end

--- `connected`, `offline`, `in the trash`, `forgotten`, or who else is in the note of the current buffer; empty elsewhere.
function M.status()
  local shown = note.of()
  if not shown then
    return vim.b.decent_notes_purged and 'forgotten' or ''
  elseif server.is_silent() then
    return 'no answer: :NotesRestart'
  elseif not shown.attachment then
    return 'offline'
  elseif vim.b.decent_notes_trashed then
    return 'in the trash'
  end
  return shown.participants == '' and 'connected' or shown.participants
end

--- The title of the note in the current buffer.
function M.title()
  local shown = note.of()
  return shown and shown.title or vim.b.decent_notes_purged or ''
end

--- The path of its file, relative to the folder from which it was imported; empty if it has none.
function M.path()
  local shown = note.of()
  return shown and shown.path or ''
end

--- Both, for the status line.
function M.heading()
  return M.title() .. (M.path() ~= '' and ' (' .. M.path() .. ')' or '')
end

--- Gives the current window a status line for its note, unless the user has one for all windows.
function M.show_status()
  if note.of() and vim.go.statusline == '' then
    vim.opt_local.statusline = "%<%{v:lua.require'decent-notes.buffer'.heading()} %m%r"
      .. "%=%{v:lua.require'decent-notes.buffer'.status()}  %-14.(%l,%c%V%) %P"
  end
end

return M
