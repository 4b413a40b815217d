-- Shows the cursors and selections of other participants in a buffer. Knows nothing of notes.

local M = {}
local api = vim.api
local marks = api.nvim_create_namespace('decent-notes')

--- Shows these participants, as note/presence names them, and no others. Places outside the text are passed over.
function M.show(buffer, participants)
  api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local function mark(place, options)
    pcall(api.nvim_buf_set_extmark, buffer, marks, place.line, place.character, options)
  end
  for _, participant in ipairs(participants) do
    for _, range in ipairs(participant.ranges) do
      local from, to = range.start, range['end']
      if from.line > to.line or from.line == to.line and from.character > to.character then
        from, to = to, from
      end
      mark(from, { end_row = to.line, end_col = to.character, hl_group = 'DecentNotesSelection' })
      local cursor = range['end']
      local line = api.nvim_buf_get_lines(buffer, cursor.line, cursor.line + 1, false)[1] or ''
      mark(cursor, cursor.character < #line
        and { end_col = cursor.character + 1, hl_group = 'DecentNotesCursor' }
        or { virt_text = { { ' ', 'DecentNotesCursor' } }, virt_text_pos = 'overlay' })
    end
  end
end

return M
