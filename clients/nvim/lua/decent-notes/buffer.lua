-- What a buffer of a note is for Neovim: how it is read, written and left, and its status line.

local note = require('decent-notes.note')
local server = require('decent-notes.server')

local M = {}
local api = vim.api
local warning = vim.log.levels.WARN

--- Reads a note into a buffer whose name is note://<id> or note://<id>/<title>.
function M.read(buffer, name)
  local id = name:match('^note://([^/]+)')
  local open = note.find(id)
  if open and open.buffer ~= buffer then
    -- One note, one buffer: this one is given up when the command is over.
    return vim.schedule(function()
      for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
        api.nvim_win_set_buf(window, open.buffer)
      end
      pcall(api.nvim_buf_delete, buffer, { force = true })
    end)
  end
  for option, value in pairs({
    -- Of a buffer that has a type, sessions remember neither cursor nor folds, and many plugins take no notice.
    buftype = '',
    -- The text is the buffer's lines joined by line feeds, and nothing else.
    fileformat = 'unix', fixendofline = false, endofline = false, fileencoding = 'utf-8', bomb = false,
    swapfile = false, undofile = false,
  }) do
    vim.bo[buffer][option] = value
  end
  -- An .editorconfig of the current folder is for files.
  vim.b[buffer].editorconfig = false
  vim.bo[buffer].modifiable = false
  local found = id and server.call('note/get', { id = id })
  local shown = found and note.open(buffer, id, found.note.title, function(text)
    -- No undo leads behind the note as it was opened.
    local levels = vim.bo[buffer].undolevels
    vim.bo[buffer].modifiable, vim.bo[buffer].undolevels = true, -1
    api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(text, '\n', { plain = true }))
    vim.bo[buffer].undolevels, vim.bo[buffer].modified = levels, false
  end)
  if not shown then
    return
  end
  if vim.g.decent_notes_undo ~= false and vim.g.decent_notes_undo ~= 0 then
    for key, method in pairs({ u = 'note/undo', ['\18'] = 'note/redo' }) do
      vim.keymap.set('n', key, function()
        local now = note.of(buffer)
        if now then
          note.undo(now, method, vim.v.count1)
        else
          pcall(vim.cmd, 'normal! ' .. vim.v.count1 .. key)
        end
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
  on('BufUnload', M.close)
  api.nvim_exec_autocmds('BufReadPost', { buffer = buffer, modeline = false })
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
    return server.tell(('"%s" is not saved: %s'):format(shown.title, shown.problem or 'decent-notes does not take it'), warning)
  end
  if server.call('notebook/flush') then
    note.settle(shown)
    api.nvim_exec_autocmds('BufWritePost', { buffer = buffer, modeline = false })
    vim.cmd('redraw') -- which would remove the message
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
    server.tell(told, warning)
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
  server.wait(2000, function() return #vim.tbl_filter(note.is_under_way, note.all()) == 0 end)
end

--- Neovim ends. As a rule all buffers have been unloaded before; not so when it is killed.
function M.quit()
  for _, shown in ipairs(note.all()) do
    M.close(shown)
  end
  server.stop(5000)
end

--- A note's title is another one.
function M.update_title(id)
  local shown = note.find(id)
  if shown then
    server.request('note/get', { id = id }, function(_, result)
      shown.title = result and result.note.title or shown.title
      vim.cmd('redrawstatus!')
    end)
  end
end

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

--- Gives the current window a status line for its note, unless the user has one for all windows.
function M.show_status()
  if note.of() and vim.go.statusline == '' then
    vim.opt_local.statusline = "%<%{v:lua.require'decent-notes'.title()} %m%r"
      .. "%=%{v:lua.require'decent-notes'.status()}  %-14.(%l,%c%V%) %P"
  end
end

return M
