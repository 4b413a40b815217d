-- Edits of a buffer that are not the user's. Knows nothing of notes.

local rest = require('decent-notes.rest')

local M = {}
local api = vim.api
local few = 200 -- edits; more of them that are in lines beside each other are made at once

M.is_in_block = false -- true while text is inserted into a block
M.is_completing = false -- true while a function finds what may be completed: Neovim remembers where
M.is_expected = false -- true while a key waits for the text to change

--- Returns true while Neovim or a script remembers places, so that the text must not change: a script waits, an operator waits for its
--- motion, a command asks a question, text is selected in Select mode, a word is completed, or text inserted into a block waits for the
--- block's other lines. While a command or a pattern is typed Neovim remembers the cursor, and may undo a preview.
function M.is_busy()
  local mode = api.nvim_get_mode().mode
  return M.is_completing or M.is_in_block and mode:find('^i') or mode:find('^no') or mode:find('^[crsS\19]') or mode:find('^[iR]v?[cx]')
    or not M.is_expected and not rest.is_at_rest()
end

--- Calls `use`, which waits for the text to change as the user's key says. Returns what it returns.
function M.expect(use)
  M.is_expected = true
  local done, result = pcall(use)
  M.is_expected = false
  if not done then
    error(result, 0)
  end
  return result
end

local function is_tail(byte)
  return byte and byte >= 128 and byte < 192
end

--- The number of bytes of the UTF-8 character that begins with these bytes; nil or false for NUL and bytes that are no UTF-8. (A pattern
--- would take a tenth of a second for a line of 300 kB, at each key.)
local function length_of(a, b, c, d)
  if a < 128 then
    return a > 0 and 1
  elseif a < 194 or a > 244 or not is_tail(b) then
    return nil
  elseif a < 224 then
    return 2
  elseif a < 240 then
    return is_tail(c) and (a ~= 224 or b >= 160) and (a ~= 237 or b < 160) and 3
  end
  return is_tail(c) and is_tail(d) and (a ~= 240 or b >= 144) and (a ~= 244 or b < 144) and 4
end

--- The edits by which lines, the first of which is at `row`, become what a note can hold: NUL and bytes that are no UTF-8 become
--- U+FFFD.
function M.cleaning(row, lines)
  local edits = {}
  for index, line in ipairs(lines) do
    local at = 1
    while at <= #line do
      local length = length_of(line:byte(at, at + 3))
      if not length then
        local start = { line = row + index - 1, character = at - 1 }
        local range = { start = start, ['end'] = { line = start.line, character = at } }
        edits[#edits + 1] = { range = range, newText = '\239\191\189' }
      end
      at = at + (length or 1)
    end
  end
  return edits
end

--- Returns true if a line is in a fold made by hand, in any window.
local function is_folded(buffer, row)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    if vim.wo[window].foldmethod == 'manual'
      and api.nvim_win_call(window, function() return vim.fn.foldlevel(row + 1) end) > 0 then
      return true
    end
  end
  return false
end

--- Replaces whole lines. `folded`: the first is in a fold made by hand. Vim's functions keep the lengths of such folds; the API keeps
--- extmarks in lines that are replaced. Neither keeps both.
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

--- Moves a place behind text that was replaced.
local function follow_text(place, row, column, old_row, old_column, new_row, new_column)
  if place.row < row or place.row == row and place.column < column
    or place.typing and place.row == row and place.column == column then
    return -- it is before the edit; text inserted exactly where the user types comes after the cursor
  elseif place.row < old_row or place.row == old_row and place.column < old_column then
    place.row, place.column = row, column
  else
    place.column = place.row == old_row and place.column - old_column + new_column or place.column
    place.row = place.row - old_row + new_row
  end
end

--- Replaces the text from a row and column to a row and column. Whole lines are inserted and removed as such, so that Neovim moves
--- what belongs to the lines below. Returns a function that moves a place, { row, column }, along with its text.
local function replace(buffer, row, column, old_row, old_column, text)
  local folded = is_folded(buffer, row)
  local new = vim.split(text, '\n', { plain = true })
  local line = api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
  local rest = old_row == row and line or api.nvim_buf_get_lines(buffer, old_row, old_row + 1, true)[1]
  local new_row, new_column = row + #new - 1, #new[#new] + (#new == 1 and column or 0)

  local is_change_of_lines = (#new == 1) ~= (old_row == row) -- only inserted, or only removed
  -- Text inserted into an empty line could be either. It comes below, so that a user who types in that line stays there.
  local from_end = column == #line and old_column == #rest and new[1] == ''
  local from_start = column == 0 and old_column == 0 and new[#new] == '' and not (from_end and old_row == row)
  if is_change_of_lines and (from_start or from_end) then
    table.remove(new, from_start and #new or 1)
    local first = from_start and row or row + 1
    local last = first + old_row - row
    replace_lines(buffer, first, last, new, folded)
    return function(place)
      if place.row >= last and not (place.is_top and place.row == 0) then
        place.row = place.row + #new - (last - first)
      elseif place.row >= first then
        place.row, place.column = not place.mark and first or nil, 0
      end
    end
  elseif folded then
    new[1] = line:sub(1, column) .. new[1]
    new[#new] = new[#new] .. rest:sub(old_column + 1)
    replace_lines(buffer, row, old_row + 1, new, folded)
  else
    api.nvim_buf_set_text(buffer, row, column, old_row, old_column, new)
  end
  return function(place)
    follow_text(place, row, column, old_row, old_column, new_row, new_column)
  end
end

--- Returns true if an edit leaves the lines as they are but for the text of one.
local function is_within_line(edit)
  return edit.range.start.line == edit.range['end'].line and not edit.newText:find('\n', 1, true)
end

--- Makes those edits from the first up to the last that are behind each other in lines of which each is the same as, or next to, the line of the
--- edit before. All are within lines. Of very many edits each alone would take many times as long.
local function replace_in_lines(buffer, edits, first, last)
  local top, bottom = edits[first].range.start.line, edits[last].range.start.line
  local lines, pieces, row, column = api.nvim_buf_get_lines(buffer, top, bottom + 1, true), nil, nil, nil
  local function finish()
    if row then
      pieces[#pieces + 1] = lines[row - top + 1]:sub(column + 1)
      lines[row - top + 1] = table.concat(pieces)
    end
  end
  for index = first, last do
    local edit = edits[index]
    if edit.range.start.line ~= row then
      finish()
      pieces, row, column = {}, edit.range.start.line, 0
    end
    pieces[#pieces + 1] = lines[row - top + 1]:sub(column + 1, edit.range.start.character)
    pieces[#pieces + 1], column = edit.newText, edit.range['end'].character
  end
  finish()
  vim.fn.setbufline(buffer, top + 1, lines)
end

--- The first of the edits up to `last` that can be made with it by `replace_in_lines`.
local function first_in_lines(edits, last)
  local first = last
  while first > 1 and is_within_line(edits[first]) and is_within_line(edits[first - 1])
    and edits[first].range.start.line - edits[first - 1].range.start.line <= 1 do
    first = first - 1
  end
  return first
end

--- The numbers of bytes that are equal at the beginnings of two lines, and behind these at their ends: whole characters.
local function common(old, new)
  local least, head, tail = math.min(#old, #new), 0, 0
  while head < least and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while is_tail(old:byte(head + 1)) or is_tail(new:byte(head + 1)) do
    head = head - 1
  end
  while tail < least - head and old:byte(-1 - tail) == new:byte(-1 - tail) do
    tail = tail + 1
  end
  while tail > 0 and is_tail(old:byte(-tail)) do
    tail = tail - 1
  end
  return head, tail
end

--- Replaces lines from a row on, each by one, and moves places along: what is equal at both ends of a line stays.
local function replace_each(buffer, row, lines, places)
  local olds = api.nvim_buf_get_lines(buffer, row, row + #lines, true)
  for _, place in ipairs(places) do
    local index = place.row and place.row - row + 1
    if index and olds[index] then
      local head, tail = common(olds[index], lines[index])
      follow_text(place, place.row, head, place.row, #olds[index] - tail, place.row, #lines[index] - tail)
    end
  end
  if #lines >= few then
    return vim.fn.setbufline(buffer, row + 1, lines)
  end
  for index, old in ipairs(olds) do
    local head, tail = common(old, lines[index])
    replace(buffer, row + index - 1, head, row + index - 1, #old - tail, lines[index]:sub(head + 1, #lines[index] - tail))
  end
end

--- Calls `change` under command modifiers, which Neovim's functions obey too.
local function modified(modifiers, change)
  M.step = change
  vim.cmd(modifiers .. " lua require('decent-notes.edit').step()")
end

--- Puts lines into a buffer that was just made or unloaded. Places that Neovim remembers, as those of the quickfix list, of marks and
--- of jumps, refer to these lines already and must not move.
function M.fill(buffer, lines)
  modified('lockmarks', function() api.nvim_buf_set_lines(buffer, 0, -1, true, lines) end)
end

--- Applies edits that all refer to the text before them and are in ascending order: ranges, or lines of which each becomes one. Every
--- window's cursor and view, the selection and the marks stay on their text. Neovim itself moves them for lines above, and within a line
--- only extmarks. `is_jump`: the cursor goes to the first edit.
function M.apply(buffer, edits, is_jump)
  local current = api.nvim_get_current_win()
  local mode = api.nvim_get_mode().mode
  local is_current = api.nvim_get_current_buf() == buffer
  local places = {} -- each with the row and column of its text; row is nil when the text is gone
  local function place(row, column, more)
    places[#places + 1] = vim.tbl_extend('error', { row = row, column = column }, more)
    return places[#places]
  end
  local views = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local view = window == current and vim.fn.winsaveview() or api.nvim_win_call(window, vim.fn.winsaveview)
    views[window] = {
      saved = view,
      cursor = place(view.lnum - 1, view.col, { typing = window == current and mode:find('^[iR]') ~= nil }),
      top = place(view.topline - 1, 0, { is_top = true }),
    }
  end
  local selection
  if is_current and mode:find('^[vV\22]') then
    local start = vim.fn.getpos('v')
    selection = place(start[2] - 1, start[3] - 1, {})
  end
  for _, mark in ipairs(vim.list_extend(vim.fn.getmarklist(buffer), vim.fn.getmarklist())) do
    if mark.mark:find('^\'[][a-zA-Z<>]$') and (mark.pos[1] == buffer or mark.mark:find('[][a-z<>]')) then
      place(mark.pos[2] - 1, mark.pos[3] - 1, { mark = mark.mark:sub(2) })
    end
  end

  local function move(follow, ...)
    for place = 1, #places do
      if places[place].row then
        follow(places[place], ...)
      end
    end
  end

  local target = edits[1] and edits[1].range and edits[1].range.start
  if edits[1] and not target then
    local row, _, lines = unpack(edits[1])
    local old = api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
    target = { line = row, character = (common(old, lines[1])) }
    for _, piece in ipairs(edits) do
      modified('lockmarks keepjumps', function() replace_each(buffer, piece[1], piece[3], places) end)
    end
    edits = {}
  end

  -- From the last to the first, as all refer to the text before.
  local index, together = #edits, #edits + 1 -- the first of the edits that might be made with this one
  while index > 0 do
    local from, to, text = edits[index].range.start, edits[index].range['end'], edits[index].newText
    -- The change list is for the user's changes. Within a line Neovim would remove marks that cannot be set again, as '^.
    local modifiers = is_within_line(edits[index]) and 'lockmarks keepjumps' or 'keepjumps'
    together = index < together and first_in_lines(edits, index) or together
    local first = index - together >= few and together or index
    if first < index then
      modified(modifiers, function() replace_in_lines(buffer, edits, first, index) end)
      for it = index, first, -1 do
        local start, stop = edits[it].range.start, edits[it].range['end']
        move(follow_text, start.line, start.character, start.line, stop.character, start.line, start.character + #edits[it].newText)
      end
    else
      local follow
      modified(modifiers, function()
        follow = replace(buffer, from.line, from.character, to.line, to.character, text)
      end)
      move(follow)
    end
    index = first - 1
  end

  if is_jump and views[current] and target then
    local is_line_below = edits[1] and edits[1].newText:find('^\n')
    views[current].cursor = is_line_below and { row = target.line + 1, column = 0 }
      or { row = target.line, column = target.character }
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
