-- Tells the other files that a note was changed: by others, as notebook/didChange says, or here, which the server does not report.

local server = require('decent-notes.server')

local M = {}
local users = {}

--- Registers a function of a note's id, what was changed as in notebook/didChange, the new summary or nil, and whether others did it.
function M.on(use)
  users[#users + 1] = use
end

--- A note was changed here. `summary` may be nil.
function M.report(id, what, summary)
  for _, use in ipairs(users) do
    use(id, what, summary, false)
  end
end

server.on['notebook/didChange'] = function(params)
  for _, changed in ipairs(params.changed) do
    for _, use in ipairs(users) do
      use(changed.id, changed.what, nil, true)
    end
  end
end

return M
