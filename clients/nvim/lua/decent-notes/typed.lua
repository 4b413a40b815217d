-- The places where insertions began and ended. Neovim remembers them, too, for CTRL-U, CTRL-W, gi and the mark '[, but not that edits of
-- others have moved them. Extmarks move with the text.

local M = {}
local api = vim.api
local marks = api.nvim_create_namespace('decent-notes-typed')

--- By buffer: `start` and `stop` of the last insertion, each with the row and column of then, from 0, and the extmark there.
local insertions = {}

local function remember(buffer, row, column)
  local count = #api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
  local id = api.nvim_buf_set_extmark(buffer, marks, row, math.min(column, count), { right_gravity = false })
  return { row = row, column = column, id = id }
end

--- Returns the row and column to which edits have moved a place, or nil where Neovim's own memory is right.
local function moved(buffer, place)
  local now = place and api.nvim_buf_get_extmark_by_id(buffer, marks, place.id, {}) or {}
  if now[1] and (now[1] ~= place.row or now[2] ~= place.column) then
    return now[1], now[2]
  end
end

local function begin(buffer)
  api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local row, column = unpack(api.nvim_win_get_cursor(0))
  insertions[buffer] = { start = remember(buffer, row - 1, column) }
end

local function finish(buffer)
  local insertion = insertions[buffer]
  local stop = api.nvim_buf_get_mark(buffer, '^')
  if insertion and stop[1] > 0 then
    insertion.stop = remember(buffer, stop[1] - 1, stop[2])
    local row, column = moved(buffer, insertion.start)
    if row then
      api.nvim_buf_set_mark(buffer, '[', row + 1, column, {})
    end
  end
end

-- Neovim 0.7 lacks it; 0 is a blank, 1 punctuation, 2 a letter.
local charclass = vim.fn.exists('*charclass') == 1 and vim.fn.charclass or function(char)
  return char:find('%s') and 0 or vim.fn.match(char, '\\k') == 0 and 2 or 1
end

--- Returns a text without its last word and the blanks behind it.
local function without_word(text)
  local chars = vim.fn.split(text, '\\zs')
  local function drop(class)
    while chars[1] and charclass(chars[#chars]) == class do
      table.remove(chars)
    end
  end
  drop(0)
  drop(chars[1] and charclass(chars[#chars]))
  return table.concat(chars)
end

local function feed(keys)
  api.nvim_feedkeys(api.nvim_replace_termcodes(keys, true, true, true), 'ni', false)
end

--- Deletes what was typed in the line, or its last word, or before it where nothing was typed. `keys` do that as long as Neovim knows
--- where the insertion began.
local function delete_typed(buffer, key, keys)
  local start_row, start = moved(buffer, (insertions[buffer] or {}).start)
  local row, column = unpack(api.nvim_win_get_cursor(0))
  if not start_row then
    feed(keys)
  elseif start_row ~= row - 1 or column <= start then
    -- Neovim takes the cursor for the beginning then.
    feed('<C-G>u' .. key)
  else
    local typed = api.nvim_get_current_line():sub(start + 1, column)
    local stop = start + (key == '<C-U>' and 0 or #without_word(typed))
    api.nvim_buf_set_text(buffer, row - 1, stop, row - 1, column, { '' })
    -- Neovim 0.7 leaves the cursor at its column.
    api.nvim_win_set_cursor(0, { row, stop })
  end
end

--- Goes on where the last insertion ended.
local function continue(buffer)
  local row, column = moved(buffer, (insertions[buffer] or {}).stop)
  local keys = 'gi'
  if row then
    api.nvim_win_set_cursor(0, { row + 1, column })
    keys = column < #api.nvim_get_current_line() and 'i' or 'a'
  end
  feed(vim.v.count1 .. keys)
end

--- Remembers where insertions in the buffer of a note begin and end, and maps CTRL-U, CTRL-W and gi to go by that, unless the user has other
--- mappings than Neovim's own.
function M.prepare(buffer, group)
  local function on(event, callback)
    api.nvim_create_autocmd(event, { group = group, buffer = buffer, callback = function() callback(buffer) end })
  end
  on('InsertEnter', begin)
  on('InsertLeave', finish)
  on('BufWipeout', function() insertions[buffer] = nil end)
  for key, desc in pairs({ ['<C-U>'] = 'delete what was typed in the line', ['<C-W>'] = 'delete the last word' }) do
    local mapped = vim.fn.maparg(key, 'i')
    if mapped == '' or mapped:upper() == '<C-G>U' .. key then
      local keys = mapped == '' and key or '<C-G>u' .. key
      vim.keymap.set('i', key, function() delete_typed(buffer, key, keys) end, { buffer = buffer, desc = desc })
    end
  end
  if vim.fn.maparg('gi', 'n') == '' then
    vim.keymap.set('n', 'gi', function() continue(buffer) end, { buffer = buffer, desc = 'go on where the last insertion ended' })
  end
end

return M
