-- What a buffer of a note is for Neovim: how it is read, written and left, and its status line.

local edit = require('decent-notes.edit')
local note = require('decent-notes.note')
local server = require('decent-notes.server')

local M = {}
local api = vim.api
local warning = vim.log.levels.WARN

--- The name of a note's buffer. It has the title, without what means something in file names or to Neovim's command line.
function M.name_of(summary)
  local shown = note.find(summary.id)
  if shown then
    return api.nvim_buf_get_name(shown.buffer)
  end
  local title = vim.fn.strcharpart(summary.title, 0, 60):gsub('[%c%s/\\*?%[%]{}$`%%#<>|"\'~]+', '_')
  return ('note://%s/%s'):format(summary.id, title)
end

-- The filetype

--- Whether a buffer has one. Neovim calls any text "conf" that begins with "#", as Markdown does.
local function has_filetype(buffer, title)
  local found = vim.bo[buffer].filetype
  return found ~= '' and (found ~= 'conf' or title:find('%.conf$') ~= nil)
end

--- Finds it by the title, as if that were the name of a file, unless the buffer has one.
local function find_filetype(buffer, title)
  if not has_filetype(buffer, title) then
    api.nvim_buf_call(buffer, function()
      pcall(api.nvim_exec_autocmds, 'BufRead', {
        group = 'filetypedetect', pattern = 'note:///' .. title:gsub('[/%c]', '_'), modeline = false,
      })
    end)
  end
end

--- Takes the user's, if there is none. Notes it, to tell it from one that the user sets.
local function settle_filetype(shown)
  local default = vim.g.decent_notes_filetype or ''
  if default ~= '' and not has_filetype(shown.buffer, shown.title) then
    vim.bo[shown.buffer].filetype = default
  end
  shown.filetype = vim.bo[shown.buffer].filetype
end

local function retitle(shown, title)
  local buffer, before = shown.buffer, vim.bo[shown.buffer].filetype
  local function set(filetype)
    api.nvim_buf_call(buffer, function() vim.cmd('noautocmd setlocal filetype=' .. filetype) end)
  end
  shown.title = title
  set('')
  find_filetype(buffer, title)
  if before ~= shown.filetype and not has_filetype(buffer, title) then
    set(before) -- the user's stays
  else
    settle_filetype(shown)
    if shown.filetype == '' and before ~= '' then
      vim.bo[buffer].filetype = '' -- with its event
    end
  end
end

-- The summary

local function take_summary(shown, summary, is_others)
  if summary.title ~= shown.title then
    retitle(shown, summary.title)
  end
  local buffer = shown.buffer
  if summary.trashed ~= vim.b[buffer].decent_notes_trashed then
    vim.b[buffer].decent_notes_trashed = summary.trashed
    if is_others then
      server.tell(summary.trashed and ('this note was put into the trash; typing takes it out ("%s")'):format(summary.title)
        or ('"%s" was taken out of the trash'):format(summary.title), summary.trashed and warning or nil)
    end
  end
  vim.cmd('redrawstatus!')
end

server.on_changed[#server.on_changed + 1] = function(id, what, summary, is_others)
  local shown = note.find(id)
  if shown and summary then
    take_summary(shown, summary, is_others)
  elseif shown and (vim.tbl_contains(what, 'title') or vim.tbl_contains(what, 'trashed')
    -- A change takes a note out of the trash.
    or vim.b[shown.buffer].decent_notes_trashed) then
    server.request('note/get', { id = id }, function(_, result)
      return result and note.of(shown.buffer) == shown and take_summary(shown, result.note, is_others)
    end)
  end
end

-- Reading and writing

--- Maps u and CTRL-R, and the user's own keys that mean the same and would pass these mappings by.
local function map_undo(buffer)
  local methods = { u = 'note/undo', ['\18'] = 'note/redo' }
  local function map(lhs, key)
    vim.keymap.set('n', lhs, function()
      local now = note.of(buffer)
      if now then
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

--- Reads a note into a buffer whose name is note://<id> or note://<id>/<title>.
function M.read(buffer, name)
  local id = name:match('^note://([^/]+)')
  local open = note.find(id)
  if open and open.buffer ~= buffer then
    -- One note, one buffer: this one is given up when the command is over, which may go to a line of it.
    vim.bo[buffer].swapfile = false
    edit.fill(buffer, api.nvim_buf_get_lines(open.buffer, 0, -1, true))
    vim.bo[buffer].modified = false
    return vim.schedule(function()
      for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
        local cursor = api.nvim_win_get_cursor(window)
        api.nvim_win_set_buf(window, open.buffer)
        if cursor[1] > 1 or cursor[2] > 0 then
          pcall(api.nvim_win_set_cursor, window, cursor)
        end
      end
      pcall(api.nvim_buf_delete, buffer, { force = true })
    end)
  end
  for option, value in pairs({
    -- There is no 'buftype': of a buffer that has one sessions remember neither cursor nor folds, and many plugins take no notice. The
    -- text is the buffer's lines joined by line feeds, and nothing else.
    fileformat = 'unix', fixendofline = false, endofline = false, fileencoding = 'utf-8', bomb = false,
    swapfile = false, undofile = false,
  }) do
    vim.bo[buffer][option] = value
  end
  -- An .editorconfig of the current folder is for files.
  vim.b[buffer].editorconfig = false
  vim.bo[buffer].modifiable = false
  local function fill(text)
    -- No undo leads behind the note as it was opened.
    local levels = vim.bo[buffer].undolevels
    vim.bo[buffer].modifiable, vim.bo[buffer].undolevels = true, -1
    edit.fill(buffer, vim.split(text, '\n', { plain = true }))
    vim.bo[buffer].undolevels, vim.bo[buffer].modified = levels, false
  end
  local shown = note.come_back(buffer, id, fill)
  if not shown then
    local found = id and server.call('note/get', { id = id })
    shown = found and note.open(buffer, id, found.note.title, fill)
    if not shown then
      return
    end
    vim.b[buffer].decent_notes_trashed = found.note.trashed
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
  -- Also when the buffer is read again, by :e!.
  on('BufUnload', M.close)
  api.nvim_exec_autocmds('BufReadPost', { buffer = buffer, modeline = false })
  find_filetype(buffer, shown.title)
  settle_filetype(shown)
  M.show_status()
end

--- :w — sends what is unsent and waits until all is on disk. The other events of writing are left to us by Neovim.
function M.write(buffer)
  local shown = note.of(buffer)
  if not shown then
    return server.tell('this buffer shows no note and is not saved', warning)
  elseif not server.ensure() then
    return
  end
  api.nvim_exec_autocmds('BufWritePre', { buffer = buffer, modeline = false })
  note.send_unsent(shown)
  server.wait(5000, function() return not note.is_under_way(shown) end)
  if not note.is_settled(shown) then
    local problem = server.is_silent() and 'no answer; :NotesRestart starts another' or shown.problem or 'decent-notes does not take it'
    return server.tell(('not saved: %s ("%s")'):format(problem, shown.title), warning)
  end
  if server.call('notebook/flush') then
    note.settle(shown)
    api.nvim_exec_autocmds('BufWritePost', { buffer = buffer, modeline = false })
    server.tell(('"%s" written'):format(shown.title))
  end
end

--- Writes a text that could not be sent into a file. Returns what to tell the user.
local function keep(shown)
  local state = vim.env.XDG_STATE_HOME
  local folder = (state and state ~= '' and state or vim.fn.expand('~/.local/state')) .. '/decent-notes/unsent'
  pcall(vim.fn.mkdir, folder, 'p', 448) -- 0700
  local path = ('%s/%s-%s.txt'):format(folder, shown.id, os.date('!%Y%m%dT%H%M%SZ'))
  local file, problem = vim.loop.fs_open(path, 'wx', 384) -- 0600
  local written
  if file then
    local lines = api.nvim_buf_get_lines(shown.buffer, 0, -1, true)
    written, problem = vim.loop.fs_write(file, table.concat(lines, '\n'), 0)
    vim.loop.fs_close(file)
  end
  return written and ('"%s" could not be sent; its text is in %s'):format(shown.title, path)
    or ('"%s" could not be sent, nor its text kept: %s'):format(shown.title, problem)
end

--- The buffer is unloaded: what the server did not get is kept in a file.
function M.close(shown)
  if note.close(shown) then
    return
  end
  local told = keep(shown)
  if vim.v.exiting == vim.NIL then
    server.tell(told, warning, true)
  elseif #api.nvim_list_uis() > 0 and vim.v.dying == 0 then
    -- Neovim is about to leave the screen: without a question nobody would read this.
    vim.fn.confirm('Decent Notes: ' .. told)
  else
    io.stderr:write('Decent Notes: ' .. told .. '\n')
  end
end

--- A buffer has another name: by :saveas it has become one of a file, and by the :file of a session one of a note.
function M.renamed(buffer, name)
  local shown = note.of(buffer)
  if shown and name:match('^note://([^/]+)') ~= shown.id then
    M.close(shown)
    vim.b[buffer].editorconfig = nil
    vim.opt_local.statusline = ''
  elseif not shown and name:find('^note://') and api.nvim_buf_is_loaded(buffer) and not vim.bo[buffer].modified then
    M.read(buffer, name)
  end
end

--- Before Neovim looks whether buffers are modified: what was typed a moment ago is acknowledged by then.
function M.settle()
  server.on_ready()
  server.wait_at_end(2000, function() return #vim.tbl_filter(note.is_under_way, note.all()) == 0 end)
end

--- Neovim ends. As a rule all buffers have been unloaded before; not so when it is killed.
function M.quit()
  for _, shown in ipairs(note.all()) do
    M.close(shown)
  end
  server.stop(5000)
end

--- `connected`, `offline`, `in the trash`, or how many others are at the note of the current buffer; nothing elsewhere.
function M.status()
  local shown = note.of()
  if not shown then
    return ''
  elseif not shown.attachment then
    return 'offline'
  elseif vim.b.decent_notes_trashed then
    return 'in the trash'
  end
  return shown.peers == 0 and 'connected' or shown.peers == 1 and '1 other' or shown.peers .. ' others'
end

--- The title of the note in the current buffer.
function M.title()
  local shown = note.of()
  return shown and shown.title or ''
end

--- Gives the current window a status line for its note, unless the user has one for all windows.
function M.show_status()
  if note.of() and vim.go.statusline == '' then
    vim.opt_local.statusline = "%<%{v:lua.require'decent-notes'.title()} %m%r"
      .. "%=%{v:lua.require'decent-notes'.status()}  %-14.(%l,%c%V%) %P"
  end
end

return M
