-- Edits of a buffer that nobody makes at its keyboard. Knows nothing of notes.

local M = {}
local api = vim.api

--- Whether a line is in a fold made by hand, in any window.
local function is_folded(buffer, row)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if vim.wo[window].foldmethod == 'manual'
      and api.nvim_win_call(window, function() return vim.fn.foldlevel(row + 1) end) > 0 then
      return true
    end
  end
  return false
end

--- Replaces whole lines; `folded` if the first is in a fold made by hand. Of Neovim's two ways only the one of Vim's functions
--- keeps such folds as long as they are, and only the other one keeps extmarks in lines that are replaced.
local function replace_lines(buffer, first, last, new, folded)
  if not folded then
    return api.nvim_buf_set_lines(buffer, first, last, true, new)
  end
  local both = math.min(last - first, #new)
  if last - first > both then
    vim.fn.deletebufline(buffer, first + both + 1, last)
  else
    vim.fn.appendbufline(buffer, first + both, vim.list_slice(new, both + 1))
  end
  vim.fn.setbufline(buffer, first + 1, vim.list_slice(new, 1, both))
end

--- Replaces the text from row and column to row and column, inserting and removing whole lines as such: Neovim then moves what
--- belongs to the lines below. Returns whether it did so, and where the end is now.
local function replace(buffer, row, column, old_row, old_column, text)
  local folded = is_folded(buffer, row)
  local new = vim.split(text, '\n', { plain = true })
  local line = api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
  local rest = old_row == row and line or api.nvim_buf_get_lines(buffer, old_row, old_row + 1, true)[1]
  local new_row = row + #new - 1
  local new_column = #new[#new] + (#new == 1 and column or 0)
  local is_change_of_lines = (#new == 1) ~= (old_row == row) -- only inserted, or only removed
  if is_change_of_lines and column == 0 and old_column == 0 and new[#new] == '' then
    new[#new] = nil
    replace_lines(buffer, row, old_row, new, folded)
    return true, new_row, new_column
  elseif is_change_of_lines and column == #line and old_column == #rest and new[1] == '' then
    table.remove(new, 1)
    replace_lines(buffer, row + 1, old_row + 1, new, folded)
    return true, new_row, new_column
  elseif folded then
    new[1] = line:sub(1, column) .. new[1]
    new[#new] = new[#new] .. rest:sub(old_column + 1)
    replace_lines(buffer, row, old_row + 1, new, folded)
  else
    api.nvim_buf_set_text(buffer, row, column, old_row, old_column, new)
  end
  return false, new_row, new_column
end

--- Carries out edits so that every window's cursor and view, the selection and the marks stay on their text. Neovim
--- does this itself for lines above, and within a line for extmarks only.
function M.apply(buffer, edits)
  local current = api.nvim_get_current_win()
  local mode = api.nvim_get_mode().mode
  local is_current = api.nvim_get_current_buf() == buffer
  local places = {} -- each with row and column, which follow the text; nil when it is gone
  local function place(row, column, more)
    places[#places + 1] = vim.tbl_extend('error', { row = row, column = column }, more)
    return places[#places]
  end
  local views = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local view = window == current and vim.fn.winsaveview() or api.nvim_win_call(window, vim.fn.winsaveview)
    views[window] = {
      saved = view,
      cursor = place(view.lnum - 1, view.col, { stays = window == current and mode:find('^[iR]') ~= nil }),
      top = place(view.topline - 1, 0, { stays = true }),
    }
  end
  local selection
  if is_current and mode:find('^[vV\22]') then
    local start = vim.fn.getpos('v')
    selection = place(start[2] - 1, start[3] - 1, {})
  end
  for _, mark in ipairs(vim.list_extend(vim.fn.getmarklist(buffer), vim.fn.getmarklist())) do
    if mark.mark:find('^\'[a-zA-Z<>]$') and (mark.pos[1] == buffer or mark.mark:find('[a-z<>]')) then
      place(mark.pos[2] - 1, mark.pos[3] - 1, { mark = mark.mark:sub(2) })
    end
  end

  -- All refer to the text before: from the last to the first.
  for index = #edits, 1, -1 do
    local from, to = edits[index].range.start, edits[index].range['end']
    local row, column, old_row, old_column = from.line, from.character, to.line, to.character
    local whole, new_row, new_column = replace(buffer, row, column, old_row, old_column, edits[index].newText)
    for _, it in ipairs(places) do
      if not it.row or it.row < row or it.row == row and it.column < column then
        it.row = it.row -- before it
      elseif it.stays and it.row == row and it.column == column then
        it.row = row -- what is inserted where the user types comes after it
      elseif it.row > old_row or it.row == old_row and it.column >= old_column then
        it.column = it.row == old_row and it.column - old_column + new_column or it.column
        it.row = it.row - old_row + new_row
      elseif whole and it.mark then
        it.row = nil
      else
        it.row, it.column = row, column
      end
    end
  end

  local count = api.nvim_buf_line_count(buffer)
  for _, it in ipairs(places) do
    if it.mark and it.row and it.row < count then
      local now = api.nvim_buf_get_mark(buffer, it.mark)
      if now[1] ~= it.row + 1 or now[2] ~= it.column then
        pcall(api.nvim_buf_set_mark, buffer, it.mark, it.row + 1, it.column, {})
      end
    end
  end
  for window, view in pairs(views) do
    local function restore()
      local saved, now = view.saved, vim.fn.winsaveview()
      local wanted = vim.tbl_extend('force', saved, {
        lnum = math.min(view.cursor.row + 1, count), col = view.cursor.column,
        topline = math.min(view.top.row + 1, count),
      })
      if wanted.col ~= saved.col and saved.curswant < 2147483647 then
        wanted.curswant = wanted.col
      end
      if wanted.lnum ~= now.lnum or wanted.col ~= now.col or wanted.topline ~= now.topline then
        vim.fn.winrestview(wanted)
      end
    end
    if window == current then restore() else api.nvim_win_call(window, restore) end
  end
  if selection then
    local start = vim.fn.getpos('v')
    if start[2] ~= selection.row + 1 or start[3] ~= selection.column + 1 then
      -- The other end of a selection can only be moved by making it the cursor.
      local view = vim.fn.winsaveview()
      vim.cmd('normal! o')
      api.nvim_win_set_cursor(0, { math.min(selection.row + 1, count), selection.column })
      vim.cmd('normal! o')
      vim.fn.winrestview(view)
    end
  end
end

return M
