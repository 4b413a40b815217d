-- The process: one for the whole editor. It is spoken to in JSON-RPC with frames. This file knows nothing of notes: others set the
-- functions that handle notifications, a new process, and the end of one.

local rest = require('decent-notes.rest')

local M = {
  on = {}, -- functions of a notification's parameters, by method
  on_lost = function() end, -- called when the process has ended
  on_ready = function() end, -- called when a process was initialized, and when a refused change may be possible again
  on_start = {}, -- functions that are called when a process was initialized, after `on_ready`
  is_waiting = false, -- true while a command or a key waits for the process
  log = {}, -- lines for :NotesLog
}
local uv = vim.loop
-- The process: its channel; callbacks by the ids of unanswered requests, and which of these may take long; how many ticks of the clock
-- have passed without output while others were unanswered; the bytes that are no whole message yet.
local job
local tick = 400 -- milliseconds; only time in which Neovim handles messages is counted
local patience = 5 -- ticks without output after which the process counts as one that does not answer
-- A message of more bytes is none of our program's: the text of the largest note is a good deal shorter. Nor are longer headers.
local most, headers = 256 * 1024 * 1024, 8192
local restarts = {} -- times of automatic restarts, in seconds

function M.write_log(text)
  for line in tostring(text):gmatch('[^\n]+') do
    M.log[#M.log + 1] = os.date('%H:%M:%S ') .. line
  end
  if #M.log > 2000 then
    M.log = vim.list_slice(M.log, #M.log - 1000)
  end
end

--- Cuts a line to the width of the screen: after a longer one Neovim asks for a key.
local function fit(line)
  local width = math.max(20, vim.o.columns - 13)
  if vim.fn.strdisplaywidth(line) > width then
    -- The cause before what it is about, a folder or a command, which may be long; and in narrow lines first what the user can do.
    local found, advice
    if vim.o.columns < 80 then
      found, advice = line:match('^Decent Notes: (.*); (.*)$')
      if not found then
        found, advice = line:match('^Decent Notes: (.*): (:.*)$')
      end
    end
    line = found and ('%s (%s)'):format(advice, found) or line:gsub('^(Decent Notes: )(.*/.-): ([^/]+)$', '%1%3 (%2)')
  end
  line = vim.fn.strcharpart(line, 0, width)
  while vim.fn.strdisplaywidth(line) > width do
    line = vim.fn.strcharpart(line, 0, vim.fn.strchars(line) - 1)
  end
  return line
end

--- Messages that were told and are not shown yet. They are shown in order: only the last one stays.
local untold = {}
local is_show_due = false

local show_untold

local function show_soon()
  if not is_show_due then
    is_show_due = true
    vim.defer_fn(function()
      is_show_due = false
      show_untold()
    end, 100)
  end
end

show_untold = function()
  -- Below a command line that is being typed the message would ask for a key. "-- INSERT --" would be drawn over it.
  if vim.api.nvim_get_mode().mode:find(vim.o.showmode and '^[ciR]' or '^c') then
    return show_soon()
  end
  vim.cmd('redraw') -- Below an earlier message this one would ask for a key.
  local told = table.remove(untold, 1)
  local line = told.line
  if not told.is_long or M.is_waiting or vim.api.nvim_get_mode().mode:find('^[iR]') then
    line = fit(line)
  end
  vim.notify(line, told.level)
  -- A long one is to be read to its end before the next one takes its place.
  if #untold > 0 then show_soon() end
end

--- Shows a message in one line, cut to the width of the screen. The log has all of it. `is_long`: the message has to be read to its
--- end; it is cut only in Insert mode, where Neovim would take a typed character as the key that it asks for. Problems are shown as
--- warnings: to an error Neovim would add two lines that name the autocommand.
function M.tell(text, level, is_long)
  M.write_log(text)
  local line = 'Decent Notes: ' .. text:gsub('%s+', ' ')
  table.insert(untold, { line = line, level = level or vim.log.levels.INFO, is_long = is_long })
  -- Without a line for messages one that is shown before a command is over asks for a key.
  if #untold == 1 and vim.o.cmdheight > 0 then show_untold() else show_soon() end
end

--- Shows an error, as a command of Neovim's own does that fails: the rest of a mapping or a macro is not carried out.
function M.fail(text)
  M.write_log(text)
  vim.api.nvim_err_writeln(fit('Decent Notes: ' .. text))
end

--- Puts the cause before a path, which may be long, so that it is not cut off: `write /a/path: No space left`.
local function cause_first(message)
  return (message:gsub('^(%l+) (/.*): ([^:]+)$', '%3 (%1 %2)'))
end

local function send(message)
  message.jsonrpc = '2.0'
  local body = vim.json.encode(message)
  pcall(vim.fn.chansend, job.channel, 'Content-Length: ' .. #body .. '\r\n\r\n' .. body)
end

local function take(message)
  local method, id = message.method, message.id
  if method then
    local handler = M.on[method]
    return handler and handler(message.params or {})
  end
  if id == nil then
    return M.write_log((message.error or {}).message or 'a response without id')
  end
  local callback = job.waiting[id]
  job.waiting[id], job.long[id] = nil, nil
  if message.error then
    message.error.message = cause_first(message.error.message)
  end
  if callback then
    callback(message.error, message.result)
  end
end

local ended

--- The process is none of ours, or broken. What comes from it now could mean anything.
local function refuse(self, problem)
  problem = 'the program does not speak the protocol: ' .. problem
  self.leaving, self.pieces = true, {}
  pcall(vim.fn.jobstop, self.channel)
  ended(self, 'refused', problem)
  M.tell(problem, vim.log.levels.WARN)
end

--- What is wrong with the beginning of a message; nil if nothing is. `length` is nil while its headers are not there.
local function problem_of(bytes, length)
  if length and length > most then
    return ('a message of %d bytes'):format(length)
  elseif not length and #bytes > headers then
    return 'headers that do not end'
  end
  local line = bytes:match('^[^\n]*\n') or ''
  return line ~= '' and not line:find('^[%w-]+:') and line:sub(1, 60):gsub('%s+$', '') or nil
end

--- Takes whole messages out of the output. Pieces are joined only when a message is complete: to join each piece to those before it
--- would take time that grows with the square of the message's length.
local function receive(self, piece)
  if self ~= job then
    return
  end
  if self.quiet >= patience then
    M.write_log('the process answers again')
    vim.schedule(function() vim.cmd('redrawstatus!') end)
  end
  self.quiet = 0
  self.pieces[#self.pieces + 1] = piece
  self.size = self.size + #piece
  while self.size >= self.needed do
    local bytes = table.concat(self.pieces)
    local _, head = bytes:find('\r\n\r\n', 1, true)
    local length = head and (tonumber(bytes:sub(1, head):lower():match('content%-length: *(%d+)')) or 0)
    local problem = problem_of(bytes, length)
    if problem then
      return refuse(self, problem)
    end
    local last = head and head + length or #bytes + 1
    if #bytes < last then
      self.pieces, self.needed = { bytes }, last
    else
      -- The state is changed before the message is handled: a handler may wait, and thereby receive more.
      local rest = bytes:sub(last + 1)
      self.pieces, self.size, self.needed = { rest }, #rest, 1
      local done, problem = xpcall(function()
        local nulls = { luanil = { object = true, array = true } }
        local message = vim.json.decode(bytes:sub(head + 1, last), nulls)
        return self == job and take(message)
      end, debug.traceback)
      if not done then
        M.write_log(problem)
      end
    end
  end
end

--- The process has ended, or counts as that. `problem` is what the callers of requests without an answer are told.
function ended(self, status, problem)
  if self ~= job then
    return
  end
  job = nil
  M.write_log('the process ended with status ' .. status)
  M.on_lost()
  for _, callback in pairs(self.waiting) do
    callback({ message = problem or 'decent-notes has ended', gone = true })
  end
  -- A process that never was ready, as of a wrong program, is not started again, unless it took the place of another one.
  if self.leaving or not (self.ready or self.is_again) then
    return
  end
  local now = uv.now() / 1000
  restarts = vim.tbl_filter(function(time) return now - time < 180 end, restarts)
  if #restarts >= 5 then
    return M.tell('the program ended too often; :NotesRestart starts it', vim.log.levels.WARN)
  end
  restarts[#restarts + 1] = now
  M.start(true)
end

--- Returns true if there is a process that has been initialized.
function M.is_ready()
  return job ~= nil and job.ready
end

--- Returns true if there is a process that has not been initialized yet.
function M.is_starting()
  return job ~= nil and not job.ready
end

--- Returns true if the process does not answer: it has sent nothing for 2 s while a request was unanswered that does not take long.
function M.is_silent()
  return job ~= nil and job.quiet >= patience
end

--- Returns true if a request is unanswered that does not take long.
local function is_awaited(self)
  for id in pairs(self.waiting) do
    if not self.long[id] then
      return true
    end
  end
  return false
end

--- Counts time in which the process is silent, as long as a request is unanswered, and tells the user of it once.
local function watch(self)
  if self.is_watched then
    return
  end
  self.is_watched = true
  rest.after(tick, function()
    self.is_watched = false
    if self ~= job or not is_awaited(self) then
      self.quiet = 0
      return
    end
    self.quiet = self.quiet + 1
    if self.quiet == patience then
      vim.cmd('redrawstatus!')
      M.tell(M.is_waiting and 'no answer (CTRL-C stops waiting); :NotesRestart helps'
        or 'no answer; :NotesRestart starts another process', vim.log.levels.WARN)
    end
    watch(self)
  end)
end

--- Sends a request, and returns its id. `callback(error, result)` is called with the answer; with `error.gone` if the process ends before.
--- `is_long`: the answer may take long.
function M.request(method, params, callback, is_long)
  if not job then
    return callback and callback({ message = 'decent-notes is not running', gone = true })
  end
  job.last_id = job.last_id + 1
  local id = job.last_id
  job.waiting[id], job.long[id] = callback or function() end, is_long
  send({ id = id, method = method, params = params or vim.empty_dict() })
  watch(job)
  return id
end

function M.notify(method, params)
  if job then
    send({ method = method, params = params or vim.empty_dict() })
  end
end

--- The words by which the program is started.
local function words()
  local command = vim.g.decent_notes_command or 'decent-notes'
  command = vim.deepcopy(type(command) == 'table' and command or { command })
  command[1] = vim.fn.expand(command[1])
  return command
end

--- The notebook that the user has chosen, if it is not the program's own choice.
local function notebook()
  return vim.g.decent_notes_notebook and vim.fn.fnamemodify(vim.fn.expand(vim.g.decent_notes_notebook), ':p')
end

--- Runs a verb of the program, as on a command line, and returns the last line of its output; nil if it fails, which the user was told.
function M.say(verb)
  local command = words()
  vim.list_extend(command, notebook() and { '--notebook', notebook(), verb } or { verb })
  local started, said = pcall(vim.fn.system, command)
  if not started or vim.v.shell_error ~= 0 then
    return M.tell(vim.trim(said), vim.log.levels.WARN)
  end
  return vim.trim(said):match('[^\n]*$')
end

--- Starts a process unless there is one. `is_again`: it takes the place of one that died. Returns false if it cannot be started, which
--- the user was told.
function M.start(is_again)
  if job then
    return true
  end
  local command = words()
  local self = { waiting = {}, long = {}, last_id = 0, quiet = 0, pieces = {}, size = 0, needed = 1, ready = false, is_again = is_again }
  -- Neovim gives out output as lines in which a line feed stands for NUL.
  local function output(use)
    return rest.entry(function(_, data) use(table.concat(data, '\n')) end)
  end
  local started, channel = pcall(vim.fn.jobstart, command, {
    on_stdout = output(function(piece) receive(self, piece) end),
    on_stderr = output(M.write_log),
    on_exit = function(_, status) ended(self, status) end,
  })
  if not started or channel <= 0 then
    M.tell(command[1] .. ' cannot be started; :help decent-notes-install', vim.log.levels.WARN)
    return false
  end
  self.channel, job = channel, self
  local options = vim.empty_dict()
  options.notebook = notebook()
  local name = tostring(vim.g.decent_notes_name or '')
  M.request('initialize', {
    processId = uv.os_getpid(),
    clientInfo = { name = 'Neovim', version = tostring(vim.version().major .. '.' .. vim.version().minor) },
    -- Bytes are what Neovim's columns count.
    capabilities = { general = { positionEncodings = { 'utf-8' } } },
    initializationOptions = options,
    participant = name ~= '' and { name = name } or nil,
  }, function(problem, result)
    if problem then
      if not (problem.gone and is_again) then
        M.tell(problem.message, vim.log.levels.WARN)
      end
      return self == job and M.stop()
    end
    self.ready = true
    M.suggested_tags = result.suggestedTags or {}
    M.notify('initialized')
    M.on_ready()
    for _, use in ipairs(M.on_start) do
      use()
    end
  end)
  return true
end

local function waiting(wait)
  local was_waiting = M.is_waiting
  M.is_waiting = true
  local done, result = pcall(wait)
  M.is_waiting = was_waiting
  if not done then
    error(result, 0)
  end
  return result
end

--- Waits until the condition holds. Returns false if it does not within so many milliseconds.
function M.wait(milliseconds, condition)
  return condition() or waiting(function() return (vim.wait(milliseconds, condition, 10)) end) or condition() or false
end

--- The same when the user leaves a buffer or Neovim, but shorter if the process is known not to answer.
function M.wait_at_end(milliseconds, condition)
  return M.wait(M.is_silent() and 200 or milliseconds, condition)
end

--- Waits until the condition holds, as long as the user likes, or at most so many milliseconds. Returns false if the user presses CTRL-C,
--- or, where there is no user, if the process sends nothing for 10 s. (vim.wait of Neovim 0.7 waits for another key after CTRL-C.)
function M.await(condition, milliseconds)
  local begun, is_alone = uv.now(), #vim.api.nvim_list_uis() == 0
  return M.wait(50, condition) or waiting(function()
    while not condition() do
      local done, problem = pcall(vim.cmd, 'sleep 5m')
      if not done then
        M.write_log(problem)
        return false
      elseif milliseconds and uv.now() - begun > milliseconds or is_alone and job and job.quiet >= 5 * patience then
        return condition()
      end
    end
    return true
  end)
end

--- Starts the process if need be and waits until it is initialized.
function M.ensure()
  if not M.start() then
    return false
  elseif not M.await(function() return M.is_ready() or not job end) then
    M.tell('the program does not answer', vim.log.levels.WARN)
  end
  return M.is_ready()
end

--- Makes a request and returns its result. `take`, if given, gets the result before any other message is handled. After an error the
--- user is told, and the result is nil.
function M.call(method, params, take)
  if not M.ensure() then
    return nil
  end
  local done, problem, result
  M.request(method, params, function(e, r)
    done, problem, result = true, e, r
    return take and r and take(r)
  end)
  M.await(function() return done end)
  if not done then
    problem = { message = method .. ' was not answered; :NotesRestart starts another process' }
  end
  if problem then
    M.tell(problem.message, vim.log.levels.WARN)
    return nil
  end
  return result or true
end

--- Ends the process in order. It gets so many milliseconds to write to the disk; none if there is no number, or if it does not answer.
function M.stop(milliseconds)
  local self = job
  if not self then
    return
  end
  self.leaving = true
  if self.ready and milliseconds then
    local done = false
    M.request('shutdown', nil, function() done = true end)
    M.wait_at_end(milliseconds, function() return done end)
  end
  M.notify('exit')
  local left = vim.fn.jobwait({ self.channel }, milliseconds and not M.is_silent() and 1000 or 200)[1]
  if left == -1 then
    -- A process that hangs must not change anything after another one has taken its place. One that is stopped takes no other signal.
    pcall(uv.kill, vim.fn.jobpid(self.channel), 'sigkill')
    vim.fn.jobwait({ self.channel }, 3000)
  end
  ended(self, left)
end

--- Starts the process anew, however often it was started before.
function M.restart()
  restarts = {}
  M.stop(2000)
  return M.ensure()
end

M.on['window/showMessage'] = function(params)
  local levels = vim.log.levels
  M.tell(cause_first(params.message), params.type <= 2 and levels.WARN or levels.INFO)
  if params.type == 3 then
    M.on_ready()
  end
end
M.on['window/logMessage'] = function(params)
  M.write_log(params.message)
end

return M
