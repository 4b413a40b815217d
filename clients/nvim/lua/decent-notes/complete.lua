-- Completion for the commands' arguments and the list's questions.

local server = require('decent-notes.server')

local M = {}

local function starting_with(start, words)
  start = start:lower()
  return vim.tbl_filter(function(word) return word:lower():sub(1, #start) == start end, words)
end

local function listed()
  local result = server.call('notebook/list')
  return result and result.notes or {}
end

function M.title(start, line, cursor)
  local titles, seen = {}, {}
  for _, it in ipairs(listed()) do
    titles[#titles + 1] = not seen[it.title] and it.title or nil
    seen[it.title] = true
  end
  -- All words typed so far are the beginning of the title, but only the last one is completed.
  local typed = line:sub(1, cursor):gsub('^.-Note%s+', '')
  return vim.tbl_map(function(title) return title:sub(#typed - #start + 1) end, starting_with(typed, titles))
end

function M.tag(start)
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

--- Peers that are known, and folders.
function M.peer(start, line, cursor)
  -- A peer may have blanks. All words typed so far are its beginning, but only the last one is completed.
  local typed = line:sub(1, cursor):gsub('^.-NotesSync!?%s*', '')
  local result = server.call('notebook/status')
  local peers = vim.tbl_map(function(it) return it.peer end, result and result.peers or {})
  local found = starting_with(typed, vim.list_extend(peers, vim.fn.getcompletion(typed, 'dir')))
  return vim.tbl_map(function(it) return it:sub(#typed - #start + 1) end, found)
end

function M.priority(start)
  return starting_with(start, { 'low', 'normal', 'high' })
end

return M
