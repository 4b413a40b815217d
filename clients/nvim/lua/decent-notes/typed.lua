-- CTRL-U in Insert mode. Neovim remembers where an insertion began, but not that edits of others have moved the place: CTRL-U would then
-- delete all of the line before the cursor. An extmark moves with the text.

local M = {}
local api = vim.api
local marks = api.nvim_create_namespace('decent-notes-typed')

--- The row and column, from 0, where the insertion in a buffer began, and the extmark there.
local began = {}

local function begin(buffer)
  local row, column = unpack(api.nvim_win_get_cursor(0))
  local place = { row - 1, column }
  api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local id = api.nvim_buf_set_extmark(buffer, marks, place[1], place[2], { right_gravity = false })
  began[buffer] = { id = id, place = place }
end

--- Deletes what was typed in the line, or all before the cursor where nothing was.
local function delete_typed(buffer)
  local insertion = began[buffer]
  local place = insertion and api.nvim_buf_get_extmark_by_id(buffer, marks, insertion.id, {}) or {}
  local row, column = unpack(api.nvim_win_get_cursor(0))
  local is_moved = place[1] and (place[1] ~= insertion.place[1] or place[2] ~= insertion.place[2])
  if is_moved and row - 1 == place[1] and column > place[2] then
    api.nvim_buf_set_text(buffer, place[1], place[2], place[1], column, { '' })
    -- Neovim 0.7 leaves the cursor at its column.
    api.nvim_win_set_cursor(0, { row, place[2] })
  else
    api.nvim_feedkeys(api.nvim_replace_termcodes('<C-G>u<C-U>', true, true, true), 'ni', false)
  end
end

--- Remembers where insertions in the buffer of a note begin, and maps CTRL-U to go by that, unless the user has another mapping than Neovim's own.
function M.prepare(buffer, group)
  api.nvim_create_autocmd('InsertEnter', { group = group, buffer = buffer, callback = function() begin(buffer) end })
  api.nvim_create_autocmd('BufWipeout', { group = group, buffer = buffer, callback = function() began[buffer] = nil end })
  local mapped = vim.fn.maparg('<C-U>', 'i')
  if mapped == '' or mapped:upper() == '<C-G>U<C-U>' then
    vim.keymap.set('i', '<C-U>', function() delete_typed(buffer) end, { buffer = buffer, desc = 'delete what was typed in the line' })
  end
end

return M
