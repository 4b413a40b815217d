-- Open notes: what the user types goes to the server as note/change, what others do comes back as note/edit. The server merges. The
-- client's side is a few fields for each buffer. clients/README.md has the table of them, the states, and the transitions.
--
-- Fields of all clients (see there):
--   buffer, id, attachment, is_opening, version, rev, answered, whole, needs_whole, pending, skipped, line_count, base, problem,
--   resume_token, hides_returns, is_jumping, participants
-- Fields of this client:
--   is_read_only true if the server takes no changes of the note
--   title        the note's title
--   filetype     the filetype that the title or the option gave, to tell it from the user's choice
--   is_typing    true if the last change and the next one are one step of undo
--   is_applying  true while a push is applied
--   is_closing   true while the buffer is being unloaded
--   following    a new table for each time that the buffer's changes are followed
--   cursor_timer the timer that will send the cursor's place
--   text         the text of a note whose buffer was unloaded
--   kept, kept_way, kept_base
--                where the files of its unsent text are, without the ending, and what the second one has
--   kept_tick, seen_answered
--                the buffer's change that is in them, and `answered` as it was when the clock was looked at last
local changes = require('decent-notes.changes')
local edit = require('decent-notes.edit')
local participants = require('decent-notes.participants')
local paste = require('decent-notes.paste')
local rest = require('decent-notes.rest')
local server = require('decent-notes.server')
local unsent = require('decent-notes.unsent')

local M = {}
local api = vim.api
local notes = {} -- by buffer
local unloaded = {} -- notes whose buffers were unloaded a moment ago, by buffer: :e! loads them again in the same command
local large = 256 * 1024 -- bytes; a longer text is sent with its size, and its hash follows when the typing pauses
local warning = vim.log.levels.WARN

--- Called with a note that was forgotten for good, and true if the server had not taken all of its text.
function M.on_purged() end

--- The note of a buffer, by default the current one; nil if there is none.
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

--- All open notes.
function M.all()
  return vim.tbl_values(notes)
end

local function text_of(note)
  return table.concat(api.nvim_buf_get_lines(note.buffer, 0, -1, true), '\n')
end

--- The text's length in bytes. Does not read the text.
local function size_of(note)
  return api.nvim_buf_get_offset(note.buffer, api.nvim_buf_line_count(note.buffer))
end

-- States

--- Returns true if the server lacks something that was done in the buffer, as far as it has answered.
local function has_unsent(note)
  return note.needs_whole or note.answered ~= note.version or note.pending ~= nil
end

--- Returns true if the server has everything that was done in the buffer.
function M.is_settled(note)
  return note.attachment ~= nil and not has_unsent(note)
end

--- Returns true if an answer is expected, or the end of a paste, that may settle the note.
function M.is_under_way(note)
  return paste.is_under_way or note.is_opening or note.answered < note.version or not note.attachment and server.is_starting()
end

--- Sets 'modified' to true as long as the note is not settled.
function M.show_modified(note)
  M.send_pending(note)
  if notes[note.buffer] == note and vim.bo[note.buffer].modified == M.is_settled(note) then
    vim.bo[note.buffer].modified = not M.is_settled(note)
  end
end

-- Texts that the server does not have

--- Writes the text of a note into a file, with what is needed to send it later. Returns the path; false and why if that is not possible.
function M.keep(note)
  note.kept_tick = api.nvim_buf_get_changedtick(note.buffer)
  return unsent.keep(note, text_of(note))
end

local is_guarding = false

--- Keeps the texts of notes whose changes are not answered, as long as there are any.
local function guard()
  if is_guarding then
    return
  end
  is_guarding = true
  rest.after(400, function()
    is_guarding = false
    for _, note in pairs(notes) do
      if not note.is_closing and api.nvim_buf_is_loaded(note.buffer) then
        M.send_pending(note)
        if M.is_settled(note) then
          unsent.drop(note)
        else
          local is_changed = note.kept_tick ~= api.nvim_buf_get_changedtick(note.buffer) or not note.kept
          if has_unsent(note) and is_changed and note.seen_answered == note.answered then
            M.keep(note)
          end
          guard()
        end
        note.seen_answered = note.answered
      end
    end
  end)
end

-- Opening

--- Sets 'modifiable' as it is for a new buffer, and to false where the server takes no changes.
local function show_modifiable(note)
  vim.bo[note.buffer].modifiable = not note.is_read_only and vim.go.modifiable
end

--- Shows the note as a DOS file if its carriage returns are hidden.
local function show_format(note)
  local format = note.hides_returns and 'dos' or 'unix'
  local options = vim.bo[note.buffer]
  if options.fileformat ~= format then
    local is_modified = options.modified
    options.modifiable = true -- where it is off, the option cannot be set
    options.fileformat = format
    options.modified = is_modified -- Neovim counts that as a change of the file
    show_modifiable(note)
  end
end

--- Takes over the answer to note/open.
local function attach(note, result)
  note.hides_returns = result.hidesReturns or false
  note.attachment, note.resume_token, note.rev = result.attachment, result.session, result.rev
  note.is_opening, note.needs_whole = false, false
  if note.is_read_only ~= result.readOnly then
    note.is_read_only = result.readOnly
    show_modifiable(note)
  end
  show_format(note)
end

local function forget(note)
  if notes[note.buffer] == note then
    notes[note.buffer] = nil
  end
  note.pending = nil
  if note.attachment then
    server.request('note/close', { attachment = note.attachment })
  end
end

--- Begins to follow the changes of the buffer.
local function follow(note)
  local buffer, following = note.buffer, {}
  notes[buffer], note.following, note.is_closing = note, following, false
  api.nvim_buf_attach(buffer, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if notes[buffer] ~= note then
        return true
      elseif not note.is_applying then
        M.record_change(note, first, last, new_last)
      end
    end,
    -- The buffer has lost its text. As a rule the note is closed at BufUnload, which may come after this.
    on_detach = vim.schedule_wrap(function()
      return note.following == following and not note.is_closing and forget(note)
    end),
  })
end

--- Goes on with the note `id` if its buffer was unloaded by the same command; `fill(text)` fills the buffer again. The attachment
--- stays, and with it the steps of undo. Returns nil if there is no such note.
function M.reopen(buffer, id, fill)
  local note = unloaded[buffer]
  if note and note.id == id then
    unloaded[buffer] = nil
    fill(note.text)
    note.text = nil
    show_modifiable(note)
    show_format(note)
    follow(note)
    M.confirm_in(note, 0) -- pushes that came meanwhile were not applied
    return note
  end
end

--- Opens the note `id` for an empty buffer, which `fill(text)` fills. Returns the note; nil if the user was told of an error.
function M.open(buffer, id, title, fill)
  local note = { buffer = buffer, id = id, title = title, version = 0, answered = 0, whole = 0, participants = '' }
  -- The result is taken before any other message is handled: the next message may be a push for this attachment.
  return server.call('note/open', { id = id, mode = 'edit', push = 'rangesOrLines', hidesReturns = true }, function(result)
    fill(result.text)
    note.base, note.line_count = result.text, api.nvim_buf_line_count(buffer)
    attach(note, result)
    follow(note)
  end) and note
end

-- Own changes

--- Adds a change to `pending`: the lines from `first` up to `last` have become those up to `new_last`. It is sent when the editor
--- waits for the next key.
function M.record_change(note, first, last, new_last)
  local pending = note.pending
  if not pending then
    pending = { head = note.line_count, tail = note.line_count, count = note.line_count }
    note.pending = pending
    rest.soon(function() M.send_pending(note) end)
    guard()
  end
  pending.head = math.min(pending.head, first)
  pending.tail = math.min(pending.tail, pending.count - last)
  pending.count = pending.count + new_last - last
  if pending.count == 0 then
    -- A buffer without lines has one empty line.
    pending.head, pending.tail, pending.count = 0, 0, 1
  end
end

--- Sends what is pending, unless a paste is under way: the buffer's text may end inside a character then. Never waits.
function M.send_pending(note)
  local pending, before = note.pending, note.line_count
  if not pending or paste.is_under_way or not api.nvim_buf_is_loaded(note.buffer) then
    return
  end
  note.pending, note.line_count = nil, api.nvim_buf_line_count(note.buffer)
  if note.needs_whole or not note.attachment then
    M.send_whole(note)
  else
    local lines = M.clean(note, pending.head, pending.count - pending.tail)
    M.send_change(note, { lines = { { pending.head, before - pending.tail, lines } } })
  end
end

--- Sends the whole text, or has it sent once the note is attached and no paste is under way.
function M.send_whole(note)
  note.needs_whole = not note.attachment or paste.is_under_way
  if not note.needs_whole and api.nvim_buf_is_loaded(note.buffer) then
    server.write_log('sending the whole text of ' .. note.id)
    note.whole = note.version + 1
    M.send_change(note, { text = table.concat(M.clean(note, 0, -1), '\n') })
  end
end

--- Sends a change. A change of nothing always has the hash.
function M.send_change(note, change)
  note.version = note.version + 1
  change.attachment, change.version, change.rev = note.attachment, note.version, note.rev
  local is_nothing = change.lines and #change.lines == 0
  if is_nothing or note.is_typing and not change.text then
    change.sameStep = true
  end
  -- Text typed until Insert mode ends is one step of undo, as in Neovim itself.
  if not is_nothing and note.buffer == api.nvim_get_current_buf() and api.nvim_get_mode().mode:find('^[iR]') then
    note.is_typing = true
  end
  local text
  if is_nothing or size_of(note) <= large then
    text = text_of(note)
    change.sha256 = vim.fn.sha256(text)
  else
    change.bytes, change.lineCount = size_of(note), note.line_count
    M.confirm_in(note, 1000)
  end
  server.request('note/change', change, function(problem)
    if change.attachment == note.attachment then
      M.take_answer(note, change, text, problem)
    end
  end)
end

--- Sends a change of nothing after so many milliseconds, unless another change was sent before. It carries the hash of a large text,
--- and makes the server send a push again that was not applied.
function M.confirm_in(note, milliseconds)
  local version = note.version
  rest.after(milliseconds, function()
    if note.version ~= version or notes[note.buffer] ~= note or not note.attachment or note.needs_whole then
      return
    elseif edit.is_busy() or paste.is_under_way then
      return M.confirm_in(note, 30)
    end
    M.send_pending(note)
    M.send_change(note, { lines = {} })
  end)
end

--- The note was forgotten for good. Its buffer is no note's any more; `on_purged` has the rest.
local function end_purged(note)
  M.send_pending(note)
  local is_unsent = has_unsent(note)
  -- Answers that are still to come are nobody's.
  notes[note.buffer], note.attachment = nil, nil
  participants.show(note.buffer, {})
  M.on_purged(note, is_unsent)
end

--- The server has answered a change.
function M.take_answer(note, change, text, problem)
  note.answered = change.version
  if not problem then
    note.problem = nil
    if not change.lines or #change.lines > 0 then
      changes.report(note.id, { 'text' })
    end
    if change.version == note.version then
      note.base = text or note.base
    end
  elseif change.version < note.whole then
    return -- the whole text was sent after this change
  elseif (problem.data or {}).reason == 'purged' then
    return end_purged(note)
  elseif (problem.data or {}).reason == 'reopen' then
    M.resume(note)
  elseif problem.code == -32801 and change.version > note.whole then
    M.send_whole(note)
  else
    note.needs_whole = true
    if note.problem ~= problem.message then
      note.problem = problem.message
      server.tell(problem.message, warning)
    end
  end
  M.show_modified(note)
end

--- The lines from `first` up to `last`. What no note can hold, NUL and bytes that are no UTF-8, is replaced in the buffer first.
function M.clean(note, first, last)
  local lines = api.nvim_buf_get_lines(note.buffer, first, last, false)
  local edits = edit.cleaning(first, lines)
  if #edits == 0 then
    return lines
  end
  M.apply_edits(note, edits)
  server.tell('what no Unicode text can hold was replaced by U+FFFD', warning)
  return api.nvim_buf_get_lines(note.buffer, first, last, false)
end

-- Pushes

--- Returns true if a push was made for the text of the buffer.
local function fits(note, push)
  return not (push.sha256 and push.sha256 ~= vim.fn.sha256(text_of(note)) or push.bytes and push.bytes ~= size_of(note)
    or push.lineCount and push.lineCount ~= note.line_count)
end

server.on['note/closed'] = function(params)
  local note = M.find(params.attachment, 'attachment')
  return note and not note.is_closing and end_purged(note)
end

--- Applies a push, or has it come again.
server.on['note/edit'] = function(push)
  local note = M.find(push.attachment, 'attachment')
  if not note or note.is_closing then
    return
  end
  M.send_pending(note)
  if push.version ~= note.version or push.version == note.skipped then
    return -- it has crossed a change; the server sends another one
  elseif edit.is_busy() or paste.is_under_way then
    M.skip_push(note)
  elseif not fits(note, push) then
    M.send_whole(note)
  elseif not M.apply_edits(note, push.ranges or push.lines, note.is_jumping) then
    M.skip_push(note)
  else
    note.rev, note.base, note.is_jumping = push.rev, text_of(note), false
    M.show_modified(note)
    M.cursor_moved(note)
  end
end

--- Drops pushes for this version, and has them come again soon.
function M.skip_push(note)
  note.skipped = note.version
  M.confirm_in(note, 30)
end

--- Edits the buffer. This is no change of the user's. Returns false if it was not possible.
function M.apply_edits(note, edits, is_jump)
  local modifiable = vim.bo[note.buffer].modifiable
  note.is_applying, vim.bo[note.buffer].modifiable = true, true
  local done, problem = xpcall(edit.apply, debug.traceback, note.buffer, edits, is_jump)
  note.is_applying, vim.bo[note.buffer].modifiable = false, modifiable
  note.line_count = api.nvim_buf_line_count(note.buffer)
  if not done then
    server.write_log(problem)
  end
  return done
end

--- Insert mode has ended. The command that ended it may still change lines.
function M.end_insert(note)
  rest.soon(function()
    M.send_pending(note)
    note.is_typing, edit.is_in_block = false, false
  end)
end

-- Participants

--- The cursor has moved, or the text around it: tells the server, at most ten times a second.
function M.cursor_moved(note)
  note.cursor_timer = note.cursor_timer or vim.defer_fn(function()
    note.cursor_timer = nil
    if not note.attachment or M.of() ~= note then
      return
    end
    M.send_pending(note)
    if note.pending then
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

--- Shows the other participants, unless their places are those of another version of the text. Where nobody is left there are none.
server.on['note/presence'] = function(presence)
  local note = M.find(presence.attachment, 'attachment')
  local is_of_text = note and not note.pending and presence.version == note.version and presence.rev == note.rev
  if note and (is_of_text or #presence.peers == 0) then
    participants.show(note.buffer, presence.peers)
    local names = participants.names(presence.peers)
    if note.participants ~= names then
      note.participants = names
      vim.cmd('redrawstatus!')
    end
  end
end

-- Undo

--- Has the server undo or redo the last steps made in this buffer, and waits until the buffer shows it: the keys that follow act on that.
--- `method` is note/undo or note/redo. The effect comes as a push behind the answer.
function M.undo(note, method, count)
  M.send_pending(note)
  if not note.attachment then
    return server.fail('not running: nothing can be taken back now')
  end
  local attachment, left, is_over = note.attachment, count, false
  -- A step that has changed no text here, but perhaps the title, has no push: what is asked behind it is answered before one comes.
  local function look_for_push()
    rest.after(20, function()
      local version = note.version
      if not is_over and note.is_jumping then
        server.request('note/get', { id = '' }, function()
          is_over = version == note.version
          look_for_push()
        end)
      end
    end)
  end
  for _ = 1, count do
    server.request(method, { attachment = attachment }, function(problem, result)
      left = left - 1
      if result and result.done and not is_over then
        note.is_jumping = true
        look_for_push()
      elseif result and not result.done then
        server.tell(method == 'note/undo' and 'nothing of yours to take back' or 'nothing to make again')
      elseif problem and not problem.gone then
        server.tell(problem.message, warning)
      end
    end)
  end
  edit.expect(function()
    server.await(function()
      return is_over or note.attachment ~= attachment or left == 0 and not note.is_jumping
    end)
  end)
  if note.attachment ~= attachment and not is_over then
    server.fail('the process has ended: press the key again')
  end
  -- What comes later does not move a user who has gone on.
  is_over, note.is_jumping = true, false
end

-- Without the server, and back

--- The note has lost its attachment. Changes without an answer count as not made.
local function detach(note)
  note.needs_whole = note.needs_whole or note.answered < note.version
  note.attachment, note.is_opening, note.answered, note.participants = nil, false, note.version, ''
  participants.show(note.buffer, {})
  guard()
end

--- Opens a detached note again, with the text of this moment. What is typed before the answer comes is the next change. With `converts`
--- the lines of the note get the ends that 'fileformat' says.
function M.resume(note, converts)
  detach(note)
  M.send_pending(note)
  if paste.is_under_way then
    return
  end
  note.is_opening = true
  local text = table.concat(M.clean(note, 0, -1), '\n')
  local resume = {
    session = note.resume_token, version = note.version, rev = note.rev, text = text, baseText = note.base, hidesReturns = note.hides_returns,
  }
  local is_dos = note.hides_returns
  if converts then
    is_dos = vim.bo[note.buffer].fileformat == 'dos'
    resume.text = is_dos and text:gsub('\n', '\r\n') or text
    resume.baseText = note.hides_returns and note.base:gsub('\n', '\r\n') or note.base
    resume.hidesReturns = false
  end
  server.request('note/open', {
    id = note.id, mode = 'edit', push = 'rangesOrLines', hidesReturns = is_dos, resume = resume,
  }, function(problem, result)
    M.take_resumed(note, text, problem, result)
  end)
end

--- Gives the lines of the note other ends if the user has set 'fileformat'.
function M.convert(note)
  if note.attachment and (vim.bo[note.buffer].fileformat == 'dos') ~= note.hides_returns then
    M.resume(note, true)
  end
end

--- The server has answered `resume`, which has sent this text.
function M.take_resumed(note, text, problem, result)
  if problem and problem.gone then
    return -- the note is resumed when there is another process
  elseif notes[note.buffer] ~= note then
    -- The buffer was closed meanwhile. Its text must not be taken for the note's.
    return result and server.request('note/close', { attachment = result.attachment })
  end
  note.is_opening = false
  M.send_pending(note)
  if problem and (problem.data or {}).reason == 'purged' then
    return end_purged(note)
  elseif problem then
    return server.tell(('"%s" is offline: %s'):format(note.title, problem.message), warning)
  elseif result.resumed == 'conflict' then
    server.tell(('what you had in "%s" is in a new note now: %s'):format(note.title, result.copy), warning, true)
  end
  attach(note, result)
  note.base = text
  if text_of(note) ~= text then
    M.send_whole(note)
  end
  M.show_modified(note)
  M.cursor_moved(note)
  vim.cmd('redrawstatus!')
end

--- Sends all that the server lacks. Resumes the note if it is detached. Without a process nothing is sent.
function M.send_unsent(note)
  M.send_pending(note)
  if paste.is_under_way then
    return -- it is sent at the end of the paste
  elseif note.attachment and note.needs_whole then
    M.send_whole(note)
  elseif not note.attachment and not note.is_opening and server.is_ready() then
    M.resume(note)
  end
end

local function send_all_unsent()
  for _, note in pairs(notes) do
    M.send_unsent(note)
  end
end

server.on_ready = send_all_unsent

function paste.on_end()
  for _, note in pairs(notes) do
    M.send_unsent(note)
    M.cursor_moved(note)
  end
end

--- Sends all that the server lacks, and waits for the answers, at most so many milliseconds.
function M.settle(note, milliseconds)
  M.send_unsent(note)
  server.await(function() return not M.is_under_way(note) end, milliseconds)
end

--- The same for all notes when the user may be about to leave Neovim.
function M.settle_all_at_end(milliseconds)
  send_all_unsent()
  server.wait_at_end(milliseconds, function() return #vim.tbl_filter(M.is_under_way, M.all()) == 0 end)
end

--- The buffer is unloaded. Returns true if the server has all of its text. The attachment stays until the present command is over, for
--- :e! to go on with it.
function M.close(note)
  local buffer = note.buffer
  note.is_closing = true
  M.send_unsent(note)
  server.wait_at_end(3000, function() return not M.is_under_way(note) end)
  if has_unsent(note) then
    forget(note)
    return false
  end
  unsent.drop(note)
  if not note.attachment then
    forget(note)
    return true
  end
  note.text = text_of(note)
  notes[buffer], unloaded[buffer] = nil, note
  vim.schedule(function()
    if unloaded[buffer] == note then
      unloaded[buffer] = nil
      forget(note)
    end
  end)
  return true
end

function server.on_lost()
  unloaded = {}
  for _, note in pairs(notes) do
    detach(note)
    M.show_modified(note)
  end
end

return M
