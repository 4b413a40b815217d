-- Commands and autocommands of Decent Notes. The other files are loaded when they are needed first.

if vim.g.loaded_decent_notes or vim.fn.has('nvim-0.7') == 0 then
  return
end
vim.g.loaded_decent_notes = true

local api = vim.api

local function notes()
  return require('decent-notes')
end

--- `complete` is a function of complete.lua, or Neovim's own `file` or `dir`.
local function command(name, nargs, complete, use, bang)
  api.nvim_create_user_command(name, function(it)
    notes()
    local done, problem = pcall(use, it)
    if not done then
      -- An error of Neovim's own, as E37, without the places in functions.
      require('decent-notes.server').tell(problem:gsub('^.-(E%d+: [^\n]*).*', '%1'), vim.log.levels.WARN)
    end
  end, {
    nargs = nargs,
    bang = bang,
    complete = (complete == 'file' or complete == 'dir') and complete or complete and function(...) return require('decent-notes.complete')[complete](...) end,
  })
end
command('Notes', 0, nil, function() require('decent-notes.list').open() end)
command('Note', 1, 'title', function(it) notes().open_titled(it.args) end)
command('NoteNew', '?', nil, function(it) require('decent-notes.actions').create(it.args) end)
command('NoteTag', '*', 'tag', function(it) notes().tag(it.fargs) end)
command('NotePriority', 1, 'priority', function(it) notes().set_priority(it.args) end)
command('NoteTitle', 1, nil, function(it) notes().rename(it.args) end)
command('NoteHistory', 0, nil, function() notes().history() end)
command('NoteBacklinks', 0, nil, function() notes().backlinks() end)
command('NoteGrep', 1, nil, function(it) require('decent-notes.grep').grep(it.args) end)
command('NoteDelete', 0, nil, function() notes().delete() end)
command('NoteToday', 0, nil, function() notes().today() end)
command('NotePurge', 0, nil, function() notes().purge() end)
command('NotesEmptyTrash', 0, nil, function() notes().empty_trash() end)
command('NotesImport', 1, 'file', function(it) require('decent-notes.files').import(it.args) end)
command('NotesExport', 1, 'dir', function(it) require('decent-notes.files').export(it.args, it.bang) end, true)
command('NotesSync', '?', 'peer', function(it) require('decent-notes.peers').sync(it.args, it.bang) end, true)
command('NotesUnsent', 0, nil, function() notes().unsent() end)
command('NotesRestart', 0, nil, function() notes().restart() end)
command('NotesLog', 0, nil, function() notes().log() end)

local group = api.nvim_create_augroup('DecentNotes', {})
local function on(events, pattern, use)
  api.nvim_create_autocmd(events, { group = group, pattern = pattern, nested = true, callback = use })
end
on('BufReadCmd', 'note://*', function(it)
  notes()
  require('decent-notes.buffer').read(it.buf, it.match)
end)
on('BufReadPost', 'note://*', function(it)
  if package.loaded['decent-notes.note'] then
    require('decent-notes.links').prepare(it.buf)
  end
end)
on('BufWriteCmd', 'note://*', function(it) require('decent-notes.buffer').write(it.buf) end)
on({ 'FileWriteCmd', 'FileAppendCmd' }, 'note://*', function()
  require('decent-notes.server').tell('a note can only be written as a whole', vim.log.levels.WARN)
end)
on('BufFilePost', '*', function(it)
  if package.loaded['decent-notes.note'] or it.match:find('^note://') then
    notes()
    require('decent-notes.buffer').renamed(it.buf, it.match)
  end
end)
on('BufEnter', 'note://*', function()
  if package.loaded['decent-notes.buffer'] then
    require('decent-notes.buffer').entered()
  end
end)
on('SessionLoadPost', '*', vim.schedule_wrap(function()
  if package.loaded['decent-notes.buffer'] then
    require('decent-notes.buffer').rename_all()
  end
  if vim.fn.bufexists('decent-notes://list') == 1 then
    notes()
    require('decent-notes.list').revive()
  end
end))
on('BufWinEnter', 'note://*', function() require('decent-notes.buffer').show_status() end)
-- Text inserted into a block is repeated on the block's other lines when Insert mode ends, by row and column. (There is no InsertLeave
-- when CTRL-C ends it.)
on('ModeChanged', { '\22:i*', '[iR]*:n' }, function()
  local note = package.loaded['decent-notes.note'] and require('decent-notes.note')
  local shown = note and note.of()
  if not shown then
    return
  elseif vim.v.event.new_mode == 'n' then
    note.end_insert(shown)
  else
    require('decent-notes.edit').is_in_block = true
  end
end)
on('QuitPre', '*', function()
  if package.loaded['decent-notes.note'] then
    require('decent-notes.buffer').quitting()
    require('decent-notes.note').settle_all_at_end(2000)
  end
end)
-- Also where only the list was shown: otherwise Neovim waits for the process forever when its terminal is closed.
on('VimLeavePre', '*', function()
  if package.loaded['decent-notes.server'] then
    require('decent-notes.buffer').quit()
  end
end)
