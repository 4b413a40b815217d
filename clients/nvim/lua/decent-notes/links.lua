-- Links between notes: following one, listing those that lead to a note, completing names and tags.

local actions = require('decent-notes.actions')
local edit = require('decent-notes.edit')
local note = require('decent-notes.note')
local places = require('decent-notes.places')
local server = require('decent-notes.server')

local M = {}
local api = vim.api
local warning = vim.log.levels.WARN

local function precedes(a, b)
  return a.line < b.line or a.line == b.line and a.character < b.character
end

--- The link under the cursor, if there is one. When the server has answered, it knows the text as it is here, and all that others did before
--- is here.
local function link_here(shown)
  local result = edit.expect(function()
    note.settle(shown, 1000)
    return server.call('note/links', { id = shown.id })
  end)
  local row, column = unpack(api.nvim_win_get_cursor(0))
  local at = { line = row - 1, character = column }
  for _, link in ipairs(result and result.links or {}) do
    if not precedes(at, link.range.start) and precedes(at, link.range['end']) then
      return link
    end
  end
end

--- Opens a note, at the link's heading if there is one of these words. `key` says in which window, and whether CTRL-T leads back.
local function open(summary, link, key)
  vim.cmd("normal! m'") -- for CTRL-O
  local position = vim.fn.getpos('.')
  position[1] = api.nvim_get_current_buf()
  if key:find('^<C%-W>') then
    vim.cmd(key:find('^<C%-W>g') and 'tab split' or 'split')
  end
  actions.open(summary)
  if key == '<C-]>' then
    vim.fn.settagstack(0, { items = { { bufnr = position[1], from = position, tagname = link.target } } }, 't')
  end
  local heading = link.heading
  if heading then
    vim.fn.search('\\c\\m^#\\+\\s\\+\\V' .. vim.fn.escape(heading, '\\') .. '\\m\\s*#*\\s*$', 'cw')
  end
end

--- Opens the note that a link leads to. If several may be meant, the user says which.
local function follow(link, key)
  if link.id then
    local found = server.call('note/get', { id = link.id })
    return found and open(found.note, link, key)
  end
  local found = server.call('notebook/resolve', { text = link.target })
  if found and #found.candidates == 0 then
    server.tell(('no such note; :NoteNew makes one ("%s")'):format(link.target), warning)
  elseif found then
    vim.ui.select(found.candidates, {
      prompt = ('Which "%s"?'):format(link.target),
      format_item = actions.choice,
    }, function(chosen) return chosen and open(chosen, link, key) end)
  end
end

--- Opens the note that the link under the cursor leads to. Where there is none, the key does what it does elsewhere.
local function follow_or(key)
  local shown = note.of()
  local link = shown and link_here(shown)
  if link then
    if api.nvim_get_mode().mode ~= 'n' then
      vim.cmd('normal! \27')
    end
    return follow(link, key)
  end
  local done, problem = pcall(vim.cmd, 'normal! ' .. api.nvim_replace_termcodes(key, true, true, true))
  if not done then
    server.tell((problem:gsub('^.-(E%d+: [^\n]*).*', '%1')), warning)
  end
end

--- Maps the keys of links in a note's buffer, and has names completed there.
function M.prepare(buffer)
  if vim.g.decent_notes_links == false or vim.g.decent_notes_links == 0 or not note.of(buffer) then
    return
  end
  for _, key in ipairs({ 'gf', 'gF', '<C-]>', '<C-W>f', '<C-W><C-F>', '<C-W>F', '<C-W>gf', '<C-W>gF' }) do
    local modes = key:find('^g') and { 'n', 'x' } or 'n'
    vim.keymap.set(modes, key, function() follow_or(key) end, { buffer = buffer, desc = 'open the note that this link leads to' })
  end
  -- The folder of a note's name holds no files: each would be the note once more.
  vim.bo[buffer].path = table.concat(vim.tbl_filter(function(folder) return folder ~= '.' end, vim.split(vim.o.path, ',', { plain = true })), ',')
  if vim.bo[buffer].completefunc == '' then
    vim.bo[buffer].completefunc = "v:lua.require'decent-notes.links'.complete"
  end
end

local beginning_of_text = { line = 0, character = 0 }

--- :NoteBacklinks
function M.backlinks(id)
  local result = server.call('note/backlinks', { id = id, limit = places.most })
  if result then
    local matches = vim.tbl_map(function(it)
      -- Of a link in the header of a file the text has no place.
      local ranges = #it.ranges > 0 and it.ranges or { { start = beginning_of_text, ['end'] = beginning_of_text } }
      return { note = it.note, ranges = ranges, text = it.context }
    end, result.backlinks)
    places.show(':NoteBacklinks', matches, result.more, 'no note links to this one')
  end
end

--- What is completed at the cursor, `link`, `tag` or nil, and where that begins. While Neovim completes, what has been typed is not in the
--- line; then only what stands before it counts.
local function beginning()
  local column = api.nvim_win_get_cursor(0)[2]
  local before = api.nvim_get_current_line():sub(1, column)
  local link = before:match('.*%[%[()[^%]|#%[]*$')
  if link then
    return 'link', link - 1
  end
  local tag = before:match('^#()[^#%s]*$') or before:match('.*%s#()[^#%s]*$')
  return tag and 'tag', tag and tag - 1
end

--- Completes a name behind "[[", and a tag behind "#": for 'completefunc' and 'omnifunc'.
function M.complete(findstart, base)
  local kind, start = beginning()
  if findstart == 1 then
    return kind and start or -3 -- nothing is completed here, and nothing is said
  end
  edit.is_completing = true
  local done, found = pcall(server.call, 'notebook/complete', { prefix = base, kind = kind or 'link', limit = 100 })
  edit.is_completing = false
  local column = api.nvim_win_get_cursor(0)[2]
  local is_closed = api.nvim_get_current_line():sub(column + 1, column + 2) == ']]'
  return vim.tbl_map(function(it)
    if kind == 'tag' then
      return { word = it.label, icase = 1 }
    end
    return { word = it.target .. (is_closed and '' or ']]'), abbr = it.label, menu = it.target ~= it.label and it.id:sub(1, 10) or '', icase = 1, dup = 1 }
  end, done and found and found.results or {})
end

return M
