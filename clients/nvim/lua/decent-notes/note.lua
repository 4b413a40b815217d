-- Notes in buffers: the client's side of live text, as Protocol/README.md has it under "All that a client does".
--
-- A `note` here is what is known of one buffer that shows one:
--   version, rev     the two numbers of the protocol
--   attachment       its name; nil while the process is gone or has not answered note/open yet: then nothing is sent
--   pending          lines changed since the last change was sent: { first, old end, new end }, from 0, ends exclusive
--   in_flight        changes sent and not answered
--   unsent           whether the text has to be sent whole, because a change was refused or the process went away
--   base             the last text that the server acknowledged and that was shown then, for `resume`
local edit = require('decent-notes.edit')
local server = require('decent-notes.server')

local M = {}
local api = vim.api
local by_buffer, by_attachment = {}, {}
local closing = {} -- notes whose buffers are gone while changes are not answered yet; `final` is their text
local marks = api.nvim_create_namespace('decent-notes')
local hash_limit = 256 * 1024 -- bytes; a longer text is hashed when the typing pauses
local log_levels = vim.log.levels

--- The note that a buffer shows; nil if it shows none.
function M.of(buffer)
  return by_buffer[buffer == nil and api.nvim_get_current_buf() or buffer]
end

--- The text of a note's buffer and its hash. O(text), once for each state of the buffer.
local function text_of(note)
  local tick = api.nvim_buf_get_changedtick(note.buffer)
  if note.text_tick ~= tick then
    note.text_tick, note.hash = tick, nil
    note.text = table.concat(api.nvim_buf_get_lines(note.buffer, 0, -1, true), '\n')
  end
  return note.text
end

local function hash_of(note)
  local text = text_of(note)
  note.hash = note.hash or vim.fn.sha256(text)
  return note.hash
end

--- Its length in bytes, without reading it.
local function size_of(note)
  return api.nvim_buf_get_offset(note.buffer, api.nvim_buf_line_count(note.buffer))
end

local function is_behind(note)
  return note.pending ~= nil or note.in_flight > 0 or note.unsent or note.opening
end

local function show_state(note)
  if by_buffer[note.buffer] == note then
    local modified = is_behind(note) or not note.attachment or false
    if vim.bo[note.buffer].modified ~= modified then
      vim.bo[note.buffer].modified = modified
    end
  end
end

-- What the user did

local function send(note, change, size)
  note.version = note.version + 1
  change.attachment, change.version, change.rev = note.attachment, note.version, note.rev
  if change.text or size <= hash_limit or change.lines[1] == nil then
    change.sha256 = hash_of(note)
    note.sent = note.text
  else
    change.bytes, change.lineCount = size, api.nvim_buf_line_count(note.buffer)
    note.sent = nil
    M.hash_soon(note)
  end
  local block = note.block
  if change.text or change.lines[1] then
    note.undone = {}
    if not block then
      block = { steps = 0 }
      note.done[#note.done + 1] = block
      -- What is typed until insert mode is left is undone at once, as the editor itself does it.
      note.block = api.nvim_get_mode().mode:find('^[iR]') and block or nil
    end
    block.steps = block.steps + 1
  end
  note.in_flight = note.in_flight + 1
  local attachment, version = note.attachment, note.version
  server.request('note/change', change, function(problem)
    -- Of an attachment that is no more nothing is counted.
    note.in_flight = attachment == note.attachment and note.in_flight - 1 or note.in_flight
    if problem then
      if block then
        block.steps = block.steps - 1
      end
      M.refused(note, problem, attachment, version)
    elseif note.in_flight == 0 and note.sent then
      note.base, note.problem = note.sent, nil
    end
    show_state(note)
  end)
end

local function send_whole(note)
  note.pending, note.unsent = nil, false
  send(note, { text = M.clean(note, 0, -1) and text_of(note) }, 0)
  note.whole = note.version
end

--- What is to be done when a change was not taken.
function M.refused(note, problem, attachment, version)
  if problem.gone or closing[note] or attachment ~= note.attachment then
    note.unsent = true
  elseif problem.code == -32801 then
    -- Of many that were under way the first has the text sent whole, which mends the others.
    return version >= (note.whole or 0) and send_whole(note)
  elseif (problem.data or {}).reason == 'reopen' then
    note.unsent = true
    M.resume(note)
  else
    note.unsent = true
    if note.problem ~= problem.message then
      note.problem = problem.message
      server.tell(problem.message, log_levels.WARN)
    end
  end
end

--- Text that can be a note's: NUL and bytes that are no UTF-8 become U+FFFD.
local function cleaned(line)
  if not line:find('[%z\128-\255]') then
    return line
  end
  local result = line:gsub('%z', '\239\191\189'):gsub('[\194-\244]?[\128-\255]+', function(run)
    local at, parts = 1, {}
    while at <= #run do
      local a, b, c, d = run:byte(at, at + 3)
      local function follows(x, low, high) return x and x >= (low or 128) and x <= (high or 191) end
      local length = a >= 194 and a <= 223 and follows(b) and 2
        or a >= 224 and a <= 239 and follows(b, a == 224 and 160, a == 237 and 159) and follows(c) and 3
        or a >= 240 and a <= 244 and follows(b, a == 240 and 144, a == 244 and 143) and follows(c) and follows(d) and 4
      parts[#parts + 1] = length and run:sub(at, at + length - 1) or '\239\191\189'
      at = at + (length or 1)
    end
    return table.concat(parts)
  end)
  return result
end

--- The lines from `first` up to `last`, after replacing in the buffer what no note can have.
function M.clean(note, first, last)
  local lines = api.nvim_buf_get_lines(note.buffer, first, last, true)
  for index, line in ipairs(lines) do
    local clean = cleaned(line)
    if clean ~= line then
      lines[index] = clean
      note.applying = true
      api.nvim_buf_set_lines(note.buffer, first + index - 1, first + index, true, { clean })
      note.applying = false
      server.tell('replaced what no note can have by U+FFFD', log_levels.WARN)
    end
  end
  return lines
end

--- Sends what the user did and was not sent yet. Never waits.
function M.flush(note)
  if not note.attachment or not (note.pending or note.wanting) then
    return
  end
  note.wanting = false
  if note.unsent then
    return send_whole(note)
  end
  local first, old_last, new_last = unpack(note.pending or { 0, 0, 0 })
  local edits = note.pending and { { first, old_last, M.clean(note, first, new_last) } } or {}
  note.pending = nil
  send(note, { lines = edits }, size_of(note))
end

--- Notes that lines `first` up to `last` have become those up to `new_last`. Runs at every change of the buffer: it only
--- widens the lines that are to be sent, which happens when the editor waits for the next key.
local function changed(note, first, last, new_last)
  local pending = note.pending
  if not pending then
    note.pending = { first, last, new_last }
    if note.attachment then
      vim.schedule(function() M.flush(note) end)
    end
    return
  end
  local widened = math.max(pending[3], last)
  pending[2] = pending[2] + widened - pending[3]
  pending[3] = widened + new_last - last
  pending[1] = math.min(pending[1], first)
end

--- Sends the hash of a long text once the typing has paused.
function M.hash_soon(note)
  note.timer = note.timer or vim.loop.new_timer()
  note.timer:start(1000, 0, vim.schedule_wrap(function()
    if by_buffer[note.buffer] == note and note.attachment and not note.unsent then
      note.wanting = true
      M.flush(note)
    end
  end))
end

-- What others did

--- Whether text must not change under the editor now: while an operator waits for its motion, a question is asked in the middle of a
--- command, lines are selected in select mode, a popup menu completes, or a block's insertion is to be repeated on its lines.
local function is_delicate(note)
  local mode = api.nvim_get_mode().mode
  return note.in_block and mode:find('^i') or mode:find('^no') or mode:find('^[rsS\19]') or vim.fn.pumvisible() == 1
end

--- A push that was not applied is asked for again by a change of nothing, which says that it was not.
local function ask_again(note)
  note.asking = note.asking or vim.defer_fn(function()
    note.asking = nil
    if by_buffer[note.buffer] ~= note or not note.attachment then
      return
    elseif is_delicate(note) then
      return ask_again(note)
    end
    note.wanting = true
    M.flush(note)
  end, 30)
end

--- note/edit: what leads from the text that this client shows at `version` to what the note is.
local function take_push(params)
  local note = by_attachment[params.attachment]
  if not note then
    return
  end
  M.flush(note)
  if params.version ~= note.version or note.asking then
    return
  elseif is_delicate(note) then
    return ask_again(note)
  elseif params.sha256 and params.sha256 ~= hash_of(note) or params.bytes and params.bytes ~= size_of(note)
    or params.lineCount and params.lineCount ~= api.nvim_buf_line_count(note.buffer) then
    return send_whole(note)
  end
  local modifiable = vim.bo[note.buffer].modifiable
  note.applying, vim.bo[note.buffer].modifiable = true, true
  local done, problem = xpcall(edit.apply, debug.traceback, note.buffer, params.ranges)
  note.applying, vim.bo[note.buffer].modifiable = false, modifiable
  if not done then
    server.write_log(problem)
    return ask_again(note)
  end
  note.rev = params.rev
  if note.in_flight == 0 then
    note.base = text_of(note)
  end
  show_state(note)
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
    local cursor = api.nvim_win_get_cursor(0)
    local at = { line = cursor[1] - 1, character = cursor[2] }
    local start = at
    if api.nvim_get_mode().mode:find('^[vV\22]') then
      local other = vim.fn.getpos('v')
      local length = #(api.nvim_buf_get_lines(0, other[2] - 1, other[2], false)[1] or '')
      start = { line = other[2] - 1, character = math.min(other[3] - 1, length) }
    end
    server.notify('note/cursor', {
      attachment = note.attachment, version = note.version, rev = note.rev, ranges = { { start = start, ['end'] = at } },
    })
  end, 100)
end

local function take_presence(params)
  local note = by_attachment[params.attachment]
  if not note or params.version ~= note.version or params.rev ~= note.rev then
    return
  end
  note.peers = #params.peers
  api.nvim_buf_clear_namespace(note.buffer, marks, 0, -1)
  for _, peer in ipairs(params.peers) do
    for _, range in ipairs(peer.ranges) do
      local from, to = range.start, range['end']
      if from.line > to.line or from.line == to.line and from.character > to.character then
        from, to = to, from
      end
      pcall(api.nvim_buf_set_extmark, note.buffer, marks, from.line, from.character,
        { end_row = to.line, end_col = to.character, hl_group = 'DecentNotesSelection' })
      local cursor = range['end']
      local line = api.nvim_buf_get_lines(note.buffer, cursor.line, cursor.line + 1, false)[1] or ''
      local under = line:sub(cursor.character + 1):match('^[^\128-\191][\128-\191]*')
      pcall(api.nvim_buf_set_extmark, note.buffer, marks, cursor.line, cursor.character, under
        and { end_col = cursor.character + #under, hl_group = 'DecentNotesCursor' }
        or { virt_text = { { ' ', 'DecentNotesCursor' } }, virt_text_pos = 'overlay' })
    end
  end
  vim.cmd('redrawstatus!')
end

-- Undo

--- Takes back what was done last, as far as it was done here, or does it again; `method` is note/undo or note/redo. What one
--- command or one stay in insert mode did is many changes for the server and one for the user.
function M.undo(note, method, count)
  if not note.attachment then
    return server.tell('decent-notes is not running: nothing can be taken back now', log_levels.WARN)
  end
  M.flush(note)
  note.block = nil
  local from, to = note.done, note.undone
  if method == 'note/redo' then
    from, to = to, from
  end
  for _ = 1, count do
    local block = table.remove(from)
    while block and block.steps <= 0 do
      block = table.remove(from)
    end
    to[#to + 1] = block
    for step = 1, block and block.steps or 1 do
      server.request(method, { attachment = note.attachment }, function(problem, result)
        if problem and not problem.gone then
          server.tell(problem.message, log_levels.WARN)
        elseif result and not result.done and step == 1 then
          server.tell(method == 'note/undo' and 'nothing of yours to take back' or 'nothing to make again')
        end
      end)
    end
  end
end

--- Ends what one undo takes back; after the command that is being carried out, which may still change lines.
function M.end_block(note)
  vim.schedule(function()
    if by_buffer[note.buffer] == note then
      M.flush(note)
      note.block, note.in_block = nil, nil
    end
  end)
end

--- A note's title is another one.
function M.title_changed(id)
  for _, note in pairs(by_buffer) do
    if note.id == id then
      server.request('note/get', { id = id }, function(_, result)
        note.title = result and result.note.title or note.title
        vim.cmd('redrawstatus!')
      end)
    end
  end
end

-- Opening and closing

local function attach(note, result)
  note.attachment, note.session, note.rev = result.attachment, result.session, result.rev
  note.unsent, note.in_flight, note.problem, note.failure = false, 0, nil, nil
  by_attachment[note.attachment] = note
  vim.bo[note.buffer].modifiable = not result.readOnly
end

--- Opens a note again after the process was gone, or has forgotten it.
function M.resume(note)
  if note.opening or not server.is_ready() then
    return
  end
  if note.attachment then
    by_attachment[note.attachment] = nil -- the server has forgotten it
  end
  note.opening, note.attachment, note.peers = true, nil, 0
  if not note.final then
    M.clean(note, 0, -1)
  end
  local text = note.final or text_of(note)
  note.pending = nil
  server.request('note/open', {
    id = note.id, mode = 'edit', push = 'ranges',
    resume = { session = note.session, version = note.version, rev = note.rev, text = text, baseText = note.base },
  }, function(problem, result)
    note.opening = false
    if problem then
      note.unsent = true
      if note.final and not problem.gone then
        return server.tell(M.keep(note), log_levels.WARN)
      elseif not problem.gone and note.failure ~= problem.message then
        note.failure = problem.message
        server.tell(('"%s" is offline: %s'):format(note.title, problem.message), log_levels.WARN)
      end
      return show_state(note)
    end
    if result.resumed == 'conflict' then
      server.tell(('what you had in "%s" is in a new note now: %s'):format(note.title, result.copy), log_levels.WARN)
    end
    if by_buffer[note.buffer] ~= note then
      closing[note], note.unsent = nil, false
      if note.final ~= text then -- typed while this answer was under way, before the buffer was closed
        server.request('note/change', {
          attachment = result.attachment, version = note.version + 1, rev = result.rev, text = note.final,
          sha256 = vim.fn.sha256(note.final),
        })
      end
      return server.request('note/close', { attachment = result.attachment })
    end
    attach(note, result)
    note.base = text
    M.flush(note)
    M.cursor_moved(note)
    show_state(note)
  end)
end

--- The text is about to leave its buffer: closes the attachment, after what is not sent yet.
function M.detach(note)
  if by_buffer[note.buffer] ~= note then
    return
  end
  M.flush(note)
  if is_behind(note) then
    closing[note], note.final = true, text_of(note)
  end
  by_buffer[note.buffer] = nil
  if note.timer then
    note.timer:close()
  end
  if note.attachment then
    by_attachment[note.attachment] = nil
    server.request('note/close', { attachment = note.attachment }, function(problem)
      if not note.unsent then
        closing[note] = nil
      elseif not (problem and problem.gone) then
        server.tell(M.keep(note), log_levels.WARN)
      end
    end)
  end
end

--- Fills a buffer whose name is note://<id> or note://<id>/<title>.
function M.read(buffer, name)
  local id = name:match('^note://([^/]+)')
  for other, note in pairs(by_buffer) do
    if note.id == id and other ~= buffer then
      -- One note, one buffer: this one is given up when the command is over.
      return vim.schedule(function()
        for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
          api.nvim_win_set_buf(window, other)
        end
        pcall(api.nvim_buf_delete, buffer, { force = true })
      end)
    end
  end
  for option, value in pairs({
    -- The text is the buffer's lines joined by line feeds, and nothing else.
    buftype = 'acwrite', fileformat = 'unix', fixendofline = false, endofline = false, fileencoding = 'utf-8', bomb = false,
    swapfile = false, undofile = false,
  }) do
    vim.bo[buffer][option] = value
  end
  local found = id and server.call('note/get', { id = id })
  local result = found and server.call('note/open', { id = id, mode = 'edit', push = 'ranges' })
  if not result then
    vim.bo[buffer].modifiable = false
    return
  end
  local note = {
    buffer = buffer, id = id, title = found.note.title, version = 0, in_flight = 0, base = result.text, peers = 0,
    done = {}, undone = {},
  }
  vim.bo[buffer].modifiable = true
  -- No undo leads behind the note as it was opened.
  local levels = vim.bo[buffer].undolevels
  vim.bo[buffer].undolevels = -1
  api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split(result.text, '\n', { plain = true }))
  vim.bo[buffer].undolevels = levels
  by_buffer[buffer] = note
  attach(note, result)
  api.nvim_buf_attach(buffer, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if by_buffer[buffer] ~= note then
        return true
      elseif not note.applying then
        changed(note, first, last, new_last)
      end
    end,
    -- There is no text any more to be sent; as a rule M.detach has sent it, at BufUnload.
    on_detach = function()
      vim.schedule(function()
        if by_buffer[buffer] == note then
          note.pending = nil
          M.detach(note)
        end
      end)
    end,
  })
  vim.bo[buffer].modified = false
  return note
end

--- The notes in buffers, and those whose last changes are still under way.
local function all()
  return vim.list_extend(vim.tbl_values(by_buffer), vim.tbl_keys(closing))
end

--- Waits until all that was done is acknowledged, of one note or of all; returns whether it is.
function M.settle(milliseconds, only)
  local notes = only and { only } or all()
  local function is_settled()
    for _, note in ipairs(notes) do
      if is_behind(note) then
        return false
      end
    end
    return true
  end
  for _, note in ipairs(notes) do
    M.flush(note)
  end
  return is_settled() or server.ensure() and server.wait(milliseconds, is_settled)
end

--- :w — sends what is unsent and waits until all is on disk.
function M.write(note)
  if server.ensure() and not note.attachment then
    M.resume(note)
    server.wait(5000, function() return not note.opening end)
  end
  if note.unsent and note.attachment then
    send_whole(note)
  end
  if not note.attachment or not M.settle(5000, note) then
    return server.tell(('"%s" is not saved: %s'):format(note.title, note.problem or 'decent-notes does not take it'),
      log_levels.WARN)
  end
  if server.call('notebook/flush') then
    show_state(note)
    vim.cmd('redraw') -- which would remove the message
    server.tell(('"%s" written'):format(note.title))
  end
end

--- Writes a text that could not be sent into a file. Returns what to tell the user.
function M.keep(note)
  closing[note] = nil
  local state = vim.env.XDG_STATE_HOME
  local folder = (state and state ~= '' and state or vim.fn.expand('~/.local/state')) .. '/decent-notes/unsent'
  pcall(vim.fn.mkdir, folder, 'p', 448) -- 0700
  local path = ('%s/%s-%s.txt'):format(folder, note.id, os.date('!%Y%m%dT%H%M%SZ'))
  local file, problem = vim.loop.fs_open(path, 'wx', 384) -- 0600
  local written
  if file then
    written, problem = vim.loop.fs_write(file, note.final or text_of(note), 0)
    vim.loop.fs_close(file)
  end
  return written and ('"%s" could not be sent; its text is in %s'):format(note.title, path)
    or ('"%s" could not be sent, nor its text kept: %s'):format(note.title, problem)
end

--- Sends what is unsent, ends the process, and keeps in files what could not be sent. Returns what to tell the user.
function M.quit()
  local told = {}
  if not M.settle(4000) then
    for _, note in ipairs(all()) do
      if is_behind(note) then
        told[#told + 1] = M.keep(note)
      end
    end
  end
  server.stop(5000)
  return told
end

function server.on_lost()
  by_attachment = {}
  for _, note in ipairs(all()) do
    note.attachment, note.opening, note.peers = nil, false, 0
    if not note.final then
      api.nvim_buf_clear_namespace(note.buffer, marks, 0, -1)
      show_state(note)
    end
  end
end

--- There is a process again, or the disk takes changes again.
function server.on_ready()
  for _, note in ipairs(all()) do
    if not note.attachment then
      M.resume(note)
    elseif note.unsent then
      send_whole(note)
    end
  end
end

server.on['note/edit'] = take_push
server.on['note/presence'] = take_presence

return M
