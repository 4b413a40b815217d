-- :NoteGrep: the matches of a search in the quickfix list.

local buffers = require('decent-notes.buffer')
local server = require('decent-notes.server')

local M = {}

--- The lines with a match, each with its first one.
local function places(match)
  local found = {}
  for _, range in ipairs(match.ranges) do
    if not found[#found] or found[#found].line < range.start.line then
      found[#found + 1] = range.start
    end
  end
  return found
end

function M.grep(query)
  local result = server.call('notebook/search', { query = query, limit = 1000 })
  if not result then
    return
  end
  -- The answer has the line of the first match only. Texts are asked for all at once.
  local texts, left = {}, 0
  for _, match in ipairs(result.matches) do
    if #places(match) > 1 then
      left = left + 1
      server.request('note/get', { id = match.note.id }, function(_, note)
        left = left - 1
        texts[match.note.id] = note and vim.split(note.text, '\n', { plain = true })
      end)
    end
  end
  server.wait(10000, function() return left == 0 end)
  local items = {}
  for _, match in ipairs(result.matches) do
    local name, lines = buffers.name_of(match.note), texts[match.note.id] or {}
    local found = places(match)
    for _, place in ipairs(#found > 0 and found or { { line = 0, character = 0 } }) do
      items[#items + 1] = {
        -- The list shows the module, if there is one, instead of the name.
        filename = name, module = match.note.title, lnum = place.line + 1, col = place.character + 1, text = lines[place.line + 1] or match.snippet,
      }
    end
  end
  vim.fn.setqflist({}, ' ', { title = ':NoteGrep ' .. query, items = items })
  if #items == 0 then
    server.tell(('"%s" is in no note'):format(query), vim.log.levels.WARN)
  else
    vim.cmd('botright copen')
  end
end

return M
