-- Texts that this or another editor could not send before it ended: tells of them, and brings them into their notes.

local actions = require('decent-notes.actions')
local changes = require('decent-notes.changes')
local names = require('decent-notes.names')
local server = require('decent-notes.server')
local unsent = require('decent-notes.unsent')

local M = {}
local is_told = false

--- Calls `use` with the texts of notes that are in this notebook, with the titles of these, when they are known.
local function find(use)
  local texts = unsent.all()
  local count = #texts
  for _, text in ipairs(texts) do
    server.request('note/get', { id = text.id }, function(_, result)
      count = count - 1
      text.title = result and result.note.title
      if count == 0 then
        use(unsent.left(vim.tbl_filter(function(it) return it.title end, texts)))
      end
    end)
  end
  if #texts == 0 then
    use({})
  end
end

server.on_start[#server.on_start + 1] = function()
  if is_told then
    return
  end
  is_told = true
  find(function(texts)
    if #texts > 0 then
      server.tell((#texts == 1 and ':NotesUnsent has what was not sent ("%s")'
        or ':NotesUnsent has what was not sent of %d notes'):format(#texts == 1 and texts[1].title or #texts),
        vim.log.levels.WARN)
    end
  end)
end

--- Brings a text into its note, with what others have done there since. Returns the note's summary.
local function merge(text)
  local result = server.call('note/open', { id = text.id, mode = 'edit', push = 'ranges', resume = text.resume })
  if result then
    server.request('note/close', { attachment = result.attachment })
  end
  return result and { id = text.id, title = text.title }
end

--- Makes a note of a text. Returns its summary.
local function make_note(text)
  local result = server.call('note/create', { title = text.title .. ' (unsent)', text = text.text })
  return result and result.note
end

--- Does with a text what the user chooses. Returns false if the user wants to go on later.
local function ask_about(text)
  local answers = { { '&Later' }, { '&Forget it' }, { 'Make a &new note', make_note }, text.resume and { '&Merge into the note', merge } }
  local time = text.time:gsub('^(%d%d%d%d)(%d%d)(%d%d)T(%d%d)(%d%d).*$', '%1-%2-%3 %4:%5')
  local choice = vim.fn.confirm(('What was typed in "%s" until %s could not be sent.'):format(names.titled(text), time),
    table.concat(vim.tbl_map(function(it) return it[1] end, answers), '\n'), 1)
  local use = (answers[choice] or {})[2]
  local summary = use and use(text)
  if choice == 2 or summary and server.call('notebook/flush') then
    unsent.remove(text.path)
  end
  if summary then
    changes.report(summary.id, { use == merge and 'text' or 'created' })
    actions.open(summary)
  end
  return choice > 1
end

--- :NotesUnsent
function M.ask()
  if not server.ensure() then
    return
  end
  local texts
  find(function(found) texts = found end)
  server.await(function() return texts ~= nil end)
  if texts and #texts == 0 then
    return server.tell('there is no text that could not be sent')
  end
  for _, text in ipairs(texts or {}) do
    if not ask_about(text) then
      return
    end
  end
end

return M
