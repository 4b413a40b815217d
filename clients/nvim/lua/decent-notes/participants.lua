-- Shows the other participants in a buffer: their selections, their cursors, and their names beside these. Knows nothing of notes.

local M = {}
local api = vim.api
local marks = api.nvim_create_namespace('decent-notes')
local most = 32 -- more participants are not shown in the text: somebody may tell of thousands
local width = 20 -- columns of a name
-- The backgrounds of names, for terminals and otherwise: dark enough for white letters, light enough beside black.
local colors = {
  { 160, '#d70000' }, { 26, '#005fd7' }, { 28, '#008700' }, { 97, '#875faf' }, { 130, '#af5f00' }, { 30, '#007a7a' },
  { 162, '#d70087' }, { 60, '#5f5f87' },
}
-- The rest of a word, or one character of the scripts that are written without blanks: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
local unspaced = [[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U20000-\U3ffff]]
local word_pattern = ([[\%#=2\C\%([UNSPACED]\|.[^[:space:]UNSPACED]\{,12}\)]]):gsub('UNSPACED', unspaced)

local function set_highlights()
  api.nvim_set_hl(0, 'DecentNotesSelection', { link = 'Visual', default = true })
  for place, color in ipairs(colors) do
    api.nvim_set_hl(0, 'DecentNotesParticipant' .. place - 1, {
      fg = '#ffffff', bg = color[2], ctermfg = 231, ctermbg = color[1], default = true,
    })
  end
end

set_highlights()
api.nvim_create_autocmd('ColorScheme', {
  group = api.nvim_create_augroup('DecentNotesParticipants', {}), callback = set_highlights,
})

-- Names

-- Characters that are not seen, or change how others are seen, and what is no character.
local hidden = {
  { 0xad, 0xad }, { 0x34f, 0x34f }, { 0x600, 0x605 }, { 0x61c, 0x61c }, { 0x6dd, 0x6dd }, { 0x70f, 0x70f }, { 0x890, 0x891 },
  { 0x8e2, 0x8e2 }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f }, { 0x202a, 0x202e },
  { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfdd0, 0xfdef }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },
  { 0xfff0, 0xfffb }, { 0xfffe, 0xffff }, { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd }, { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 },
  { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
}
-- Control characters, blanks and ends of lines.
local blank = {
  { 0x00, 0x20 }, { 0x7f, 0xa0 }, { 0x1680, 0x1680 }, { 0x2000, 0x200a }, { 0x2028, 0x2029 }, { 0x202f, 0x202f }, { 0x205f, 0x205f },
  { 0x2800, 0x2800 }, { 0x3000, 0x3000 },
}
local shown, count = {}, 0 -- names as they are shown, by those that were given

local function is_in(ranges, code)
  for _, range in ipairs(ranges) do
    if code <= range[2] then
      return range[1] <= code
    end
  end
  return false
end

--- Makes a name one that may be shown anywhere, whatever is in it: one line of a few columns. Empty if nothing of it can be seen.
local function clean(name)
  local text, columns, accents = '', 0, 0
  for _, code in ipairs(vim.fn.str2list((name:gsub('%z', ' ')))) do
    -- A status line takes "%" for the beginning of an item.
    local char = code == 0x25 and '％' or vim.fn.nr2char(code)
    local is_beginning = text == '' or text:sub(-1) == ' '
    if is_in(blank, code) then
      text, columns = is_beginning and text or text .. ' ', columns + (is_beginning and 0 or 1)
    elseif not is_in(hidden, code) then
      -- An accent, or the like, stands on the letter before it. More of them on one letter would cover other lines.
      accents = vim.fn.strchars('x' .. char, true) == 1 and accents + 1 or 0
      if accents == 0 or accents <= 2 and not is_beginning then
        text, columns = text .. char, columns + (accents == 0 and api.nvim_strwidth(char) or 0)
      end
    end
    if columns > width + 1 then
      break -- what follows is left out, were it only a blank
    end
  end
  text = text:gsub(' $', '')
  if api.nvim_strwidth(text) > width then
    repeat
      text = vim.fn.substitute(text, '.$', '', '')
    until api.nvim_strwidth(text) < width
    text = text .. '…'
  end
  return text
end

local function name_of(participant)
  local name = participant.name or ''
  if not shown[name] then
    if count > 2000 then
      shown, count = {}, 0
    end
    shown[name], count = clean(name), count + 1
  end
  return shown[name]
end

--- Says who these participants are, for a status line: three names, and how many there are besides. Empty if there are none.
function M.names(participants)
  local names, others = {}, 0
  local met, distinct = {}, 0 -- somebody may have several windows
  for _, participant in ipairs(participants) do
    local name = participant.name or ''
    if not met[name] then
      -- Of very many names most are only counted.
      local text = (#names == 3 or distinct >= most) and '' or name_of(participant)
      if name ~= '' then
        met[name], distinct = true, distinct + 1
      end
      if text == '' then
        others = others + 1
      elseif not vim.tbl_contains(names, text) then
        names[#names + 1] = text
      end
    end
  end
  if #names == 0 then
    return others == 0 and '' or others == 1 and '1 other' or others .. ' others'
  end
  return table.concat(names, ', ') .. (others > 0 and ' +' .. others or '')
end

-- Cursors

--- The columns that lines of a buffer have in all of its windows.
local function columns_of(buffer)
  local columns = vim.o.columns
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    columns = math.min(columns, api.nvim_win_get_width(window) - vim.fn.getwininfo(window)[1].textoff)
  end
  return columns
end

--- Shows a text at a place, or highlights the text there: `options` says which. Places outside the text are passed over.
local function mark(buffer, line, character, options)
  pcall(api.nvim_buf_set_extmark, buffer, marks, line, character, options)
end

local function show_selection(buffer, from, to)
  if from.line > to.line or from.line == to.line and from.character > to.character then
    from, to = to, from
  end
  mark(buffer, from.line, from.character, { end_row = to.line, end_col = to.character, hl_group = 'DecentNotesSelection' })
end

--- Shows a cursor, which is at the end of its line or before a character.
local function show_cursor(buffer, cursor, line, group)
  if cursor.character >= #line then
    mark(buffer, cursor.line, cursor.character, { virt_text = { { ' ', group } }, virt_text_pos = 'overlay' })
  else
    -- Above the selection.
    local last = cursor.character + #vim.fn.matchstr(line, '.', cursor.character)
    mark(buffer, cursor.line, cursor.character, { end_col = last, hl_group = group, priority = 5000 })
  end
end

--- Shows these participants, as note/presence names them, and no others.
function M.show(buffer, participants)
  api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
  local columns = columns_of(buffer)
  local behind = {} -- what is shown behind lines, and the columns that are left there
  for place = 1, math.min(#participants, most) do
    local participant = participants[place]
    local group, name = 'DecentNotesParticipant' .. (participant.color or 0) % #colors, name_of(participant)
    for _, range in ipairs(participant.ranges) do
      local cursor = range['end']
      local line = api.nvim_buf_get_lines(buffer, cursor.line, cursor.line + 1, false)[1] or ''
      show_selection(buffer, range.start, cursor)
      show_cursor(buffer, cursor, line, group)
      local here = behind[cursor.line] or { texts = {}, left = columns - api.nvim_strwidth(line) }
      local left = here.left - api.nvim_strwidth(name) - 1
      -- A name is behind the line. In one that is wider than the window it is behind the word, because the end of the line may be far
      -- away; earlier versions cannot show it there.
      local is_far = left < 0 and cursor.character < #line and vim.fn.has('nvim-0.10') == 1
      local word = is_far and vim.fn.matchend(line, word_pattern, cursor.character)
      if name == '' then
        -- It is beside the first cursor.
      elseif word and word < #line then
        mark(buffer, cursor.line, word, { virt_text = { { ' ' .. name, group } }, virt_text_pos = 'inline' })
      elseif left >= 0 or #here.texts == 0 then
        -- Others' names there are long enough otherwise.
        vim.list_extend(here.texts, { { #here.texts > 0 and ' ' or '' }, { name, group } })
        here.left, behind[cursor.line] = left, here
      end
      name = ''
    end
  end
  for line, here in pairs(behind) do
    mark(buffer, line, 0, { virt_text = here.texts, virt_text_pos = 'eol' })
  end
end

return M
