-- :NoteGrep: the places where notes have a text, in the quickfix list.

local places = require('decent-notes.places')
local server = require('decent-notes.server')

local M = {}

function M.grep(text)
  local result = server.call('notebook/search', { query = text, mode = 'text', limit = places.most })
  if result then
    local matches = vim.tbl_map(function(it) return { note = it.note, ranges = it.ranges, text = it.snippet } end, result.matches)
    places.show(':NoteGrep ' .. text, matches, result.more, ('"%s" is in no note'):format(text))
  end
end

return M
