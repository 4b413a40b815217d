-- Notes in buffers: what is typed goes to the server as note/change, what others do comes as note/edit. The server merges, and a
-- buffer's side of it is two numbers: `version` counts its own changes, `rev` is the last push it applied.
--
-- A `note` here is what is known of one buffer that shows one:
--   attachment     its name for the server; nil while there is no process that knows the buffer
--   opening        whether it has been asked for
--   version, rev   the numbers of the protocol
--   answered       the last version that was answered
--   whole          the version of the last change that was the whole text
--   unsent         whether the next change has to be the whole text
--   base           the last text that the server is known to have had, for coming back
--   lines          how many lines the text has that was sent last
--   changed        what is not sent yet: how many lines at both ends are as they were, and how many there are; or nil
--   skipped        the version for which pushes are not applied
--   typing         whether the last change is one step with the next one
--   attached       stands for the time since the buffer's text was read
--   text           of a note whose buffer was unloaded: what it had
local edit = require('decent-notes.edit')
local paste = require('decent-notes.paste')
local peers = require('decent-notes.peers')
local server = require('decent-notes.server')

local M = {}
local api = vim.api
local notes = {} -- by buffer
local left = {} -- by buffer: notes whose text went a moment ago, which :e! brings back
local hash_limit = 256 * 1024 -- bytes; a longer text is hashed when the typing pauses
local warning = vim.log.levels.WARN

--- The note that a buffer shows, by default the current one; nil if it shows none.
function M.of(buffer)
  return notes[buffer or api.nvim_get_current_buf()]
end

--- The note with an id, or with another field of that value.
function M.find(value, field)
  for _, note in pairs(notes) do
    if note[field or 'id'] == value then
      return note
    end
  end
end

function M.all()
  return vim.tbl_values(notes)
end

local function text_of(note)
  return table.concat(api.nvim_buf_get_lines(note.buffer, 0, -1, true), '\n')
end

--- Its length in bytes, without reading it.
local function size_of(note)
  return api.nvim_buf_get_offset(note.buffer, api.nvim_buf_line_count(note.buffer))
end

--- Whether the server has all that is in the buffer.
function M.is_settled(note)
  return note.attachment ~= nil and not note.unsent and note.answered == note.version and not note.changed
end

--- Whether something is to come that may settle it.
function M.is_under_way(note)
  return paste.is_under_way or note.opening or note.answered < note.version or not note.attachment and server.is_starting()
end

--- Shows whether the server has all there is.
function M.settle(note)
  M.flush(note)
  if notes[note.buffer] == note and vim.bo[note.buffer].modified == M.is_settled(note) then
    vim.bo[note.buffer].modified = not M.is_settled(note)
  end
end

-- Opening

local function attach(note, result)
  note.attachment, note.session, note.rev = result.attachment, result.session, result.rev
  note.opening, note.unsent = false, false
  vim.bo[note.buffer].modifiable = not result.readOnly
end

local function forget(note)
  if notes[note.buffer] == note then
    notes[note.buffer] = nil
  end
  note.changed = nil
  if note.attachment then
    server.request('note/close', { attachment = note.attachment })
  end
end

--- Begins to hear what becomes of a buffer.
local function follow(note)
  local buffer, attached = note.buffer, {}
  notes[buffer], note.attached, note.closing = note, attached, false
  api.nvim_buf_attach(buffer, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if notes[buffer] ~= note then
        return true
      elseif not note.applying then
        M.changed(note, first, last, new_last)
      end
    end,
    -- There is no text any more. As a rule the note is closed at BufUnload, which may come after this.
    on_detach = vim.schedule_wrap(function()
      return note.attached == attached and not note.closing and forget(note)
    end),
  })
end

--- Goes on with the note that this command has unloaded from the buffer, if it is the one with this id.
function M.come_back(buffer, id, fill)
  local note = left[buffer]
  if note and note.id == id then
    left[buffer] = nil
    fill(note.text)
    note.text = nil
    follow(note)
    M.confirm_in(note, 0) -- what has come meanwhile was not applied
    return note
  end
end

--- Opens the note `id` for an empty buffer, which `fill(text)` fills. Returns it; nil if the user was told of an error.
function M.open(buffer, id, title, fill)
  local note = { buffer = buffer, id = id, title = title, version = 0, answered = 0, whole = 0, peers = 0 }
  -- Not after the answer, but as it is taken in: a push may stand right behind it.
  return server.call('note/open', { id = id, mode = 'edit', push = 'ranges' }, function(result)
    fill(result.text)
    note.base, note.lines = result.text, api.nvim_buf_line_count(buffer)
    attach(note, result)
    follow(note)
  end) and note
end

-- Own changes

--- Notes that the lines from `first` up to `last` have become those up to `new_last`. They are sent when the editor waits for
--- the next key.
function M.changed(note, first, last, new_last)
  local changed = note.changed
  if not changed then
    changed = { head = note.lines, tail = note.lines, count = note.lines }
    note.changed = changed
    vim.schedule(function() M.flush(note) end)
  end
  changed.head = math.min(changed.head, first)
  changed.tail = math.min(changed.tail, changed.count - last)
  changed.count = changed.count + new_last - last
  if changed.count == 0 then
    -- A buffer without lines has an empty one.
    changed.head, changed.tail, changed.count = 0, 0, 1
  end
end

--- Sends what the user did and was not sent yet, unless a paste is under way: what it has put into the buffer may end inside a
--- character. Never waits.
function M.flush(note)
  local changed, before = note.changed, note.lines
  if not changed or paste.is_under_way or not api.nvim_buf_is_loaded(note.buffer) then
    return
  end
  note.changed, note.lines = nil, api.nvim_buf_line_count(note.buffer)
  if note.unsent or not note.attachment then
    M.send_whole(note)
  else
    local lines = M.clean(note, changed.head, changed.count - changed.tail)
    M.send(note, { lines = { { changed.head, before - changed.tail, lines } } })
  end
end

function M.send_whole(note)
  note.unsent = not note.attachment or paste.is_under_way
  if not note.unsent and api.nvim_buf_is_loaded(note.buffer) then
    server.write_log('sending the whole text of ' .. note.id)
    note.whole = note.version + 1
    M.send(note, { text = table.concat(M.clean(note, 0, -1), '\n') })
  end
end

--- Sends a change; one of nothing always has the hash.
function M.send(note, change)
  note.version = note.version + 1
  change.attachment, change.version, change.rev = note.attachment, note.version, note.rev
  local is_nothing = change.lines and #change.lines == 0
  if is_nothing or note.typing and not change.text then
    change.sameStep = true
  end
  -- What is typed until insert mode is left is one step of undo, as in Neovim itself.
  if not is_nothing and note.buffer == api.nvim_get_current_buf() and api.nvim_get_mode().mode:find('^[iR]') then
    note.typing = true
  end
  local text
  if is_nothing or size_of(note) <= hash_limit then
    text = text_of(note)
    change.sha256 = vim.fn.sha256(text)
  else
    change.bytes, change.lineCount = size_of(note), note.lines
    M.confirm_in(note, 1000)
  end
  server.request('note/change', change, function(problem)
    if change.attachment == note.attachment then
      M.answered(note, change, text, problem)
    end
  end)
end

--- Soon sends a change of nothing: it has the hash of a long text, and brings again a push that was not applied.
function M.confirm_in(note, milliseconds)
  local version = note.version
  vim.defer_fn(function()
    if note.version ~= version or notes[note.buffer] ~= note or not note.attachment or note.unsent then
      return
    elseif edit.is_busy() or paste.is_under_way then
      return M.confirm_in(note, 30)
    end
    M.flush(note)
    M.send(note, { lines = {} })
  end, milliseconds)
end

function M.answered(note, change, text, problem)
  note.answered = change.version
  if not problem then
    note.problem = nil
    if not change.lines or #change.lines > 0 then
      server.changed(note.id, { 'text' })
    end
    if change.version == note.version then
      note.base = text or note.base
    end
  elseif change.version < note.whole then
    return -- the whole text is on its way already
  elseif (problem.data or {}).reason == 'reopen' then
    M.resume(note)
  elseif problem.code == -32801 and change.version > note.whole then
    M.send_whole(note)
  else
    note.unsent = true
    if note.problem ~= problem.message then
      note.problem = problem.message
      server.tell(problem.message, warning)
    end
  end
  M.settle(note)
end

--- The lines from `first` up to `last`, after replacing in the buffer what no note can have: NUL and bytes that are no UTF-8.
function M.clean(note, first, last)
  local lines = api.nvim_buf_get_lines(note.buffer, first, last, false)
  local edits = edit.cleaning(first, lines)
  if #edits == 0 then
    return lines
  end
  M.edit(note, edits)
  server.tell('what no Unicode text can hold was replaced by U+FFFD', warning)
  return api.nvim_buf_get_lines(note.buffer, first, last, false)
end

-- Pushes

server.on['note/edit'] = function(push)
  local note = M.find(push.attachment, 'attachment')
  if not note or note.closing then
    return
  end
  M.flush(note)
  if push.version ~= note.version or push.version == note.skipped then
    return -- it has crossed a change, and another one is coming
  elseif edit.is_busy() or paste.is_under_way then
    M.skip(note)
  elseif push.sha256 and push.sha256 ~= vim.fn.sha256(text_of(note)) or push.bytes and push.bytes ~= size_of(note)
    or push.lineCount and push.lineCount ~= note.lines then
    M.send_whole(note)
  elseif not M.edit(note, push.ranges, note.jumping) then
    M.skip(note)
  else
    note.rev, note.base, note.jumping = push.rev, text_of(note), false
    M.settle(note)
    M.cursor_moved(note)
  end
end

--- Lets pushes for this version go by; they come again for the next one.
function M.skip(note)
  note.skipped = note.version
  M.confirm_in(note, 30)
end

--- Edits the buffer, not as its user does. Returns whether it could be.
function M.edit(note, edits, is_jump)
  local modifiable = vim.bo[note.buffer].modifiable
  note.applying, vim.bo[note.buffer].modifiable = true, true
  local done, problem = xpcall(edit.apply, debug.traceback, note.buffer, edits, is_jump)
  note.applying, vim.bo[note.buffer].modifiable = false, modifiable
  note.lines = api.nvim_buf_line_count(note.buffer)
  if not done then
    server.write_log(problem)
  end
  return done
end

--- Insert mode was left; the command that did it may still change lines.
function M.end_insert(note)
  vim.schedule(function()
    M.flush(note)
    note.typing, edit.is_in_block = false, false
  end)
end

-- Others' cursors

--- Sends where the cursor is, at most ten times a second.
function M.cursor_moved(note)
  note.telling = note.telling or vim.defer_fn(function()
    note.telling = nil
    if not note.attachment or M.of() ~= note then
      return
    end
    M.flush(note)
    if note.changed then
      return
    end
    local function place(name)
      return { line = vim.fn.line(name) - 1, character = vim.fn.col(name) - 1 }
    end
    server.notify('note/cursor', {
      attachment = note.attachment, version = note.version, rev = note.rev,
      ranges = { { start = place('v'), ['end'] = place('.') } },
    })
  end, 100)
end

server.on['note/presence'] = function(params)
  local note = M.find(params.attachment, 'attachment')
  if note and params.version == note.version and params.rev == note.rev then
    note.peers = #params.peers
    peers.show(note.buffer, params.peers)
    vim.cmd('redrawstatus!')
  end
end

-- Undo

--- Has the server take back what was done here last, or do it again; `method` is note/undo or note/redo. What that does to the
--- text comes as a push.
function M.undo(note, method, count)
  M.flush(note)
  if not note.attachment then
    return server.tell('decent-notes is not running: nothing can be taken back now', warning)
  end
  for _ = 1, count do
    server.request(method, { attachment = note.attachment }, function(problem, result)
      if result and result.done then
        note.jumping = true
      elseif result then
        server.tell(method == 'note/undo' and 'nothing of yours to take back' or 'nothing to make again')
      elseif not problem.gone then
        server.tell(problem.message, warning)
      end
    end)
  end
end

-- Without the server, and back

local function detach(note)
  note.unsent = note.unsent or note.answered < note.version
  note.attachment, note.opening, note.answered = nil, false, note.version
end

--- Opens a note again. What is typed before the answer is there is simply the next change.
function M.resume(note)
  detach(note)
  M.flush(note)
  if paste.is_under_way then
    return
  end
  note.opening = true
  local text = table.concat(M.clean(note, 0, -1), '\n')
  server.request('note/open', {
    id = note.id, mode = 'edit', push = 'ranges',
    resume = { session = note.session, version = note.version, rev = note.rev, text = text, baseText = note.base },
  }, function(problem, result)
    if problem and problem.gone then
      return -- it is asked for again when there is a process
    elseif notes[note.buffer] ~= note then
      -- The buffer was closed meanwhile. What it has now must not be taken for the note's text.
      return result and server.request('note/close', { attachment = result.attachment })
    end
    note.opening = false
    M.flush(note)
    if problem then
      return server.tell(('"%s" is offline: %s'):format(note.title, problem.message), warning)
    elseif result.resumed == 'conflict' then
      server.tell(('what you had in "%s" is in a new note now: %s'):format(note.title, result.copy), warning, true)
    end
    attach(note, result)
    note.base = text
    if text_of(note) ~= text then
      M.send_whole(note)
    end
    M.settle(note)
    M.cursor_moved(note)
    vim.cmd('redrawstatus!')
  end)
end

--- Sends all that the server does not have, if there is one.
function M.send_unsent(note)
  M.flush(note)
  if paste.is_under_way then
    return -- the end of which does this again
  elseif note.attachment and note.unsent then
    M.send_whole(note)
  elseif not note.attachment and not note.opening and server.is_ready() then
    M.resume(note)
  end
end

--- The same for all notes: there is a process again, or the disk takes changes again.
function server.on_ready()
  for _, note in pairs(notes) do
    M.send_unsent(note)
  end
end

function paste.on_end()
  for _, note in pairs(notes) do
    M.send_unsent(note)
    M.cursor_moved(note)
  end
end

--- The buffer's text goes. Returns whether the server has all of it. If so, and if the same command reads it again, as :e! does,
--- the attachment stays, with what can be undone.
function M.close(note)
  local buffer = note.buffer
  note.closing = true
  M.send_unsent(note)
  server.wait_at_end(3000, function() return not M.is_under_way(note) end)
  if not M.is_settled(note) then
    local is_kept = not note.unsent and note.answered == note.version and not note.changed
    forget(note)
    return is_kept
  end
  note.text = text_of(note)
  notes[buffer], left[buffer] = nil, note
  vim.schedule(function()
    if left[buffer] == note then
      left[buffer] = nil
      forget(note)
    end
  end)
  return true
end

function server.on_lost()
  left = {}
  for _, note in pairs(notes) do
    detach(note)
    note.peers = 0
    peers.show(note.buffer, {})
    M.settle(note)
  end
end

return M
