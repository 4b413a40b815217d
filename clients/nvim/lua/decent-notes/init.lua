-- The commands, and functions for users' own scripts.

local actions = require('decent-notes.actions')
local buffers = require('decent-notes.buffer')
local changes = require('decent-notes.changes')
local note = require('decent-notes.note')
local offer = require('decent-notes.offer')
local server = require('decent-notes.server')

local M = {}

--- :Note
function M.open_titled(name)
  local listed = server.call('notebook/list')
  if not listed then
    return
  end
  local found = vim.tbl_filter(function(it) return it.id == name or it.title == name end, listed.notes)
  if #found == 0 then
    server.tell(('no such note; :NoteNew makes one ("%s")'):format(name), vim.log.levels.WARN)
  elseif #found == 1 then
    actions.open(found[1])
  elseif #found > 1 then
    vim.ui.select(found, {
      prompt = ('Which "%s"?'):format(name),
      format_item = actions.choice,
    }, function(chosen) return chosen and actions.open(chosen) end)
  end
end

--- The id of the note in the current buffer, or on the cursor's line of the list.
local function current_id()
  local shown = note.of()
  local id = shown and shown.id or require('decent-notes.list').id_at_cursor()
  if not id then
    server.tell('this is no note', vim.log.levels.WARN)
  end
  return id
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
  actions.update(id, { tags = #whole > 0 and whole or { add = add, remove = remove } }, tell_tags)
end

--- :NotePriority
function M.set_priority(value)
  local id = current_id()
  if id then
    actions.update(id, { priority = value }, function(summary) server.tell('priority: ' .. summary.priority) end)
  end
end

--- :NoteTitle
function M.rename(title)
  local id = current_id()
  if id then
    actions.rename(id, title)
  end
end

--- :NoteHistory
function M.history()
  local id = current_id()
  if id then
    require('decent-notes.history').open(id)
  end
end

--- :NoteBacklinks
function M.backlinks()
  local id = current_id()
  if id then
    require('decent-notes.links').backlinks(id)
  end
end

--- :NoteDelete
function M.delete()
  local id = current_id()
  if id and server.call('note/delete', { id = id }) then
    changes.report(id, { 'trashed' })
    server.tell('in the trash (u in the list); typing takes it out')
  end
end

--- :NoteToday opens the note of this day, which the program makes if there is none.
function M.today()
  local id = server.ensure() and server.say('daily')
  if not id then
    return
  end
  -- Another process has made it: it is here in a moment.
  for _ = 1, 100 do
    local found = server.call('notebook/find', { name = id, limit = 1 })
    if not found or found.notes[1] then
      return found and actions.open(found.notes[1])
    end
    vim.wait(20)
  end
  server.tell(('the note of this day, %s, is not here yet'):format(id), vim.log.levels.WARN)
end

--- :NotePurge
function M.purge()
  local id = current_id()
  local found = id and server.call('note/get', { id = id })
  if found and not found.note.trashed then
    server.tell('only notes in the trash; :NoteDelete puts it there', vim.log.levels.WARN)
  elseif found then
    require('decent-notes.purge').ask({ found.note }, require('decent-notes.list').read_again)
  end
end

--- :NotesEmptyTrash
function M.empty_trash()
  require('decent-notes.purge').empty_trash(require('decent-notes.list').read_again)
end

--- :NotesUnsent
M.unsent = offer.ask

--- :NotesRestart
function M.restart()
  if server.restart() then
    server.tell('decent-notes was started')
  end
end

--- :NotesLog
function M.log()
  require('decent-notes.scratch').show('decent-notes://log', server.log, '')
end

-- For 'statusline'.
M.status, M.title, M.path = buffers.status, buffers.title, buffers.path

return M
