-- Names of notes: in questions, and of buffers, which is `note://`, the beginning of the note's id, and its title. Older and shorter names stand for notes, too:
-- `note://{id}` and `note://{id}/{anything}`.

local server = require('decent-notes.server')

local M = {}
local ids = {} -- whole ids by short ones

--- An id with eight of the digits by which replicas differ. The whole id, if another note's begins with the same.
local function short(id)
  local first, rest = id:match('^(%d+%-%x%x%x%x%x%x%x%x)(%x+)$')
  if not first or #rest ~= 24 or ids[first] and ids[first] ~= id then
    return id
  end
  ids[first] = id
  return first
end

--- The name for the buffer of a note. Of its title it has what is neither special in file names nor in command lines.
function M.of(id, title)
  local safe = vim.fn.strcharpart(title:gsub('[%c !-,/:-@[-^`{-~]+', '-'), 0, 60)
  return 'note://' .. short(id) .. (safe ~= '' and '/' .. safe or '')
end

--- The title of a note as a question names it.
function M.titled(note)
  local title = vim.fn.strcharpart(note.title, 0, 40):gsub('%c', ' ')
  return title ~= '' and title or '(no title)'
end

--- The id of the note that a name stands for; nil if it is no name of a note, or the user was told that it stands for none.
function M.id_of(name)
  local word = name:match('^note://([^/]+)')
  if not word or ids[word] or not word:find('^%d+%-%x%x%x%x%x%x%x%x$') then
    return ids[word] or word
  end
  for _, is_trash in ipairs({ false, true }) do
    local listed = server.call('notebook/list', { trashed = is_trash })
    if not listed then
      return nil
    end
    for _, summary in ipairs(listed.notes) do
      local is_same = summary.id:sub(1, #word) == word
      if is_same and ids[word] and ids[word] ~= summary.id then
        return server.tell(('there are several notes %s…'):format(word), vim.log.levels.WARN)
      end
      short(summary.id)
    end
  end
  return ids[word] or word
end

return M
