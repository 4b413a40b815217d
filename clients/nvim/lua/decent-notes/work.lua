-- What takes long: the user waits for it, sees how far it has got, and may give it up with CTRL-C.

local server = require('decent-notes.server')

local M = {}
local uv = vim.loop
local some = 64 -- requests that are under way at once
local shown = { token = 0 } -- what is shown, its token, and when it was drawn

local function draw(line)
  vim.cmd('redraw')
  vim.api.nvim_echo({ { vim.fn.strcharpart(shown.what .. ': ' .. line, 0, math.max(20, vim.o.columns - 13)) } }, false, {})
end

--- Shows how far it has got, at most ten times a second.
local function show(progress)
  if shown.what and uv.now() - shown.drawn > 100 then
    shown.drawn = uv.now()
    draw(progress .. ' (CTRL-C gives it up)')
  end
end

local function begin(what)
  shown = { what = what, token = shown.token + 1, drawn = -math.huge }
  show('…')
end

local function finish()
  shown.what = nil
  vim.cmd('redraw')
end

--- Waits until the condition holds. Returns false if the user has given it up.
local function wait(condition)
  if server.await(condition) then
    return true
  end
  draw('is being given up')
  return false
end

--- Makes a request that tells how far it has got, and returns its result. After an error the user is told, by what `messages` has for its
--- reason, or by its own, and the result is nil.
function M.run(what, method, params, messages)
  if not server.ensure() then
    return nil
  end
  begin(what)
  local done, problem, result
  local id = server.request(method, vim.tbl_extend('error', params, { workDoneToken = shown.token }), function(e, r)
    done, problem, result = true, e, r
  end, true)
  local function is_done() return done end
  if not wait(is_done) then
    server.notify('$/cancelRequest', { id = id })
    server.wait(5000, is_done)
  end
  finish()
  problem = problem or not done and { message = method .. ' was not answered' }
  if problem then
    server.tell(problem.code == -32800 and 'given up; what was done by then stays'
      or (messages or {})[(problem.data or {}).reason] or problem.message, vim.log.levels.WARN)
    return nil
  end
  return result
end

--- Makes the same request for each of these notes, some at once. Returns the errors by the notes' ids, false where there was none: without
--- those that were not asked for any more after the user has given it up, or the process has ended.
function M.run_each(what, method, ids)
  local answers, count, sent, is_gone = {}, 0, 0, not server.ensure()
  begin(what)
  local function proceed()
    while not is_gone and sent < #ids and sent - count < some do
      sent = sent + 1
      local id = ids[sent]
      server.request(method, { id = id }, function(problem)
        count = count + 1
        if problem and problem.gone then
          is_gone = true
        else
          answers[id] = problem or false
        end
      end, true)
    end
    show(('%d of %d'):format(count, #ids))
    return is_gone or count == #ids
  end
  if not wait(proceed) then
    server.wait(5000, function() return is_gone or count == sent end)
  end
  finish()
  return answers
end

server.on['$/progress'] = function(params)
  if params.token == shown.token and params.value.message then
    show(params.value.message)
  end
end

return M
