-- Notes of the trash are forgotten for good: never without a question.

local names = require('decent-notes.names')
local server = require('decent-notes.server')
local work = require('decent-notes.work')

local M = {}
local warning = vim.log.levels.WARN

--- The first three of some notes by their titles, for a question.
local function named(notes)
  local titles = vim.tbl_map(function(note) return '"' .. names.titled(note) .. '"' end, vim.list_slice(notes, 1, 3))
  return table.concat(titles, ', ') .. (#notes > 3 and ', …' or '')
end

--- Tells what came of it. `answers` has the errors.
local function tell(ids, answers)
  local count, other = { purged = 0, gone = 0, notTrashed = 0, unanswered = #ids, other = 0 }, ''
  for _, problem in pairs(answers) do
    local reason = problem and (problem.data or {}).reason
    local kind = not problem and 'purged' or (reason == 'purged' or reason == 'noSuchNote') and 'gone'
      or reason == 'notTrashed' and reason or 'other'
    other = kind == 'other' and problem.message or other
    count[kind], count.unanswered = count[kind] + 1, count.unanswered - 1
  end
  local parts = {}
  for _, it in ipairs({
    { count.purged, 'forgotten for good' }, { count.gone, 'forgotten by others' }, { count.notTrashed, 'not in the trash any more' },
    { count.unanswered, 'without an answer' }, { count.other, 'refused: ' .. other },
  }) do
    parts[#parts + 1] = it[1] > 0 and (#ids == 1 and 'the note is ' or it[1] .. ' ') .. it[2] or nil
  end
  server.tell(table.concat(parts, ', '), count.purged + count.gone < #ids and warning or nil)
end

--- Asks, and has these notes forgotten. The list is read again by `read_again` whatever comes of it: notes may have been restored or
--- forgotten by others during the question.
local function ask(question, notes, read_again)
  local is_wanted = vim.fn.confirm(question, '&Forget\n&Cancel', 2) == 1
  local ids = vim.tbl_map(function(note) return note.id end, notes)
  local answers = is_wanted and work.run_each('Forgetting', 'note/purge', ids)
  read_again()
  if is_wanted then
    tell(ids, answers)
  end
end

--- Has these notes forgotten, after a question.
function M.ask(notes, read_again)
  ask(#notes == 1 and ('Forget %s for good, on all machines?'):format(named(notes))
    or ('Forget %d notes for good, on all machines: %s?'):format(#notes, named(notes)), notes, read_again)
end

--- The same for all notes that are in the trash.
function M.empty_trash(read_again)
  local listed = server.call('notebook/list', { trashed = true })
  if not listed then
    return
  elseif #listed.notes == 0 then
    return server.tell('the trash is empty')
  end
  local what = #listed.notes == 1 and ('Its only note, %s, is'):format(named(listed.notes))
    or ('Its %d notes are'):format(#listed.notes)
  ask(('Empty the trash? %s forgotten for good, on all machines.'):format(what), listed.notes, read_again)
end

return M
