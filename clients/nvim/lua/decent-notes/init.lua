-- What users call: commands, what they complete, the word for the status line. note.lua has the live text.

local buffers = require('decent-notes.buffer')
local note = require('decent-notes.note')
local server = require('decent-notes.server')

local M = {}
local api = vim.api

--- Opens a note in the current window; `place`, if given, is where to put the cursor.
function M.open(summary, place)
  vim.cmd('edit ' .. vim.fn.fnameescape(buffers.name_of(summary)))
  if place and note.of() then
    pcall(api.nvim_win_set_cursor, 0, { place.line + 1, place.character })
  end
end

--- :Note
function M.open_titled(name)
  local listed = server.call('notebook/list')
  if not listed then
    return
  end
  local found = vim.tbl_filter(function(it) return it.id == name or it.title == name end, listed.notes)
  if #found == 0 then
    server.tell(('there is no note "%s"; :NoteNew makes one'):format(name), vim.log.levels.WARN)
  elseif #found == 1 then
    M.open(found[1])
  elseif #found > 1 then
    vim.ui.select(found, {
      prompt = ('Which "%s"?'):format(name),
      format_item = function(it) return it.modified:sub(1, 16):gsub('T', ' ') .. '  ' .. table.concat(it.tags, ', ') end,
    }, function(chosen) return chosen and M.open(chosen) end)
  end
end

--- Asks the user for a line; nil if there is none to be given. (vim.ui.input of Neovim 0.7 takes an empty one for none.)
function M.ask(prompt, default, completion)
  local given, line = pcall(vim.fn.input, {
    prompt = prompt, default = default or '', cancelreturn = '\27', completion = completion,
  })
  return given and line ~= '\27' and line or nil
end

--- :NoteNew
function M.create(title)
  title = title ~= '' and title or M.ask('Title: ')
  local result = title and server.call('note/create', { title = title })
  if result then
    server.changed(result.note.id, { 'created' }, result.note)
    M.open(result.note)
  end
end

--- The id of the note that commands are about: that of the buffer, or of the cursor's line in the list.
local function current_id()
  local shown = note.of()
  local id = shown and shown.id or require('decent-notes.list').id_at_cursor()
  if not id then
    server.tell('this is no note', vim.log.levels.WARN)
  end
  return id
end

--- Changes a note's title, tags or priority, and hands the new summary on.
function M.update(id, changes, use)
  local result = server.call('note/update', vim.tbl_extend('error', { id = id }, changes))
  if result then
    server.changed(id, vim.tbl_keys(changes), result.note)
    return use and use(result.note)
  end
end

local function tell_tags(summary)
  server.tell(#summary.tags > 0 and 'tags: ' .. table.concat(summary.tags, ', ') or 'no tags')
end

--- :NoteTag
function M.tag(words)
  local id = current_id()
  local add, remove, whole = {}, {}, {}
  for _, word in ipairs(words) do
    local list = word:sub(1, 1) == '+' and add or word:sub(1, 1) == '-' and remove or whole
    list[#list + 1] = list == whole and word or word:sub(2)
  end
  if not id then
    return
  elseif #words == 0 then
    local result = server.call('note/get', { id = id })
    return result and tell_tags(result.note)
  elseif #whole > 0 and #add + #remove > 0 then
    return server.tell('either +tag and -tag, or the whole list', vim.log.levels.WARN)
  end
  M.update(id, { tags = #whole > 0 and whole or { add = add, remove = remove } }, tell_tags)
end

--- :NotePriority and :NoteTitle
function M.set(field, value)
  local id = current_id()
  if id then
    M.update(id, { [field] = value }, function(summary) server.tell(field .. ': ' .. summary[field]) end)
  end
end

--- :NoteHistory
function M.history()
  local id = current_id()
  if id then
    require('decent-notes.history').open(id)
  end
end

--- :NotesRestart
function M.restart()
  if server.restart() then
    server.tell('decent-notes was started')
  end
end

-- Completion

local function starting_with(start, words)
  start = start:lower()
  return vim.tbl_filter(function(word) return word:lower():sub(1, #start) == start end, words)
end

local function listed()
  local result = server.call('notebook/list')
  return result and result.notes or {}
end

function M.complete_title(start, line, cursor)
  local titles, seen = {}, {}
  for _, it in ipairs(listed()) do
    titles[#titles + 1] = not seen[it.title] and it.title or nil
    seen[it.title] = true
  end
  -- All that was typed counts, though only its last word may be what is completed.
  local typed = line:sub(1, cursor):gsub('^.-Note%s+', '')
  return vim.tbl_map(function(title) return title:sub(#typed - #start + 1) end, starting_with(typed, titles))
end

function M.complete_tag(start)
  local sign = start:match('^[+-]') or ''
  local tags = {}
  for _, list in ipairs(vim.list_extend({ { tags = server.suggested_tags or {} } }, listed())) do
    for _, tag in ipairs(list.tags) do
      tags[tag] = true
    end
  end
  local words = vim.tbl_keys(tags)
  table.sort(words)
  return vim.tbl_map(function(tag) return sign .. tag end, starting_with(start:sub(#sign + 1), words))
end

function M.complete_priority(start)
  return starting_with(start, { 'low', 'normal', 'high' })
end

M.status, M.title = buffers.status, buffers.title

return M
