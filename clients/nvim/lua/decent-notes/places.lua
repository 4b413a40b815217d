-- Places in notes, as a search and links give them, in the quickfix list.

local buffers = require('decent-notes.buffer')
local server = require('decent-notes.server')

-- `most`: the most notes that are listed.
local M = { most = 1000 }

--- The lines with a range, each with its first one.
local function lines_of(ranges)
  local found = {}
  for _, range in ipairs(ranges) do
    if not found[#found] or found[#found].line < range.start.line then
      found[#found + 1] = range.start
    end
  end
  return found
end

--- Shows places in the quickfix list. Each match has a note, ranges in its text, and the line of the first range as `text`; without a
--- range the note itself is meant. `is_more`: there are matches that these are not.
function M.show(title, matches, is_more, nothing)
  -- Texts are asked for all at once.
  local texts, left = {}, 0
  for _, match in ipairs(matches) do
    if #lines_of(match.ranges) > 1 then
      left = left + 1
      server.request('note/get', { id = match.note.id }, function(_, note)
        left = left - 1
        texts[match.note.id] = note and vim.split(note.text, '\n', { plain = true })
      end)
    end
  end
  server.await(function() return left == 0 end)
  local items = {}
  for _, match in ipairs(matches) do
    local name, lines = buffers.name_of(match.note), texts[match.note.id] or {}
    local found = lines_of(match.ranges)
    for _, place in ipairs(#found > 0 and found or { { line = 0, character = 0 } }) do
      items[#items + 1] = {
        -- The list shows the module, if there is one, instead of the name.
        filename = name, module = match.note.title, lnum = place.line + 1, col = place.character + 1, text = lines[place.line + 1] or match.text,
      }
    end
  end
  vim.fn.setqflist({}, ' ', { title = title, items = items })
  if #items == 0 then
    server.tell(nothing, vim.log.levels.WARN)
  else
    vim.cmd('botright copen')
    if is_more then
      server.tell(('the first %d notes; :cdo reaches no others'):format(M.most), vim.log.levels.WARN)
    end
  end
end

return M
