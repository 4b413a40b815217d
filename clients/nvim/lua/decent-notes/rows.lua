-- The rows of the list. They follow the notebook: all notes are asked for in pages, and changed notes one by one, so that many
-- thousands of notes do not hold the user up. Knows no buffers.

local changes = require('decent-notes.changes')
local rest = require('decent-notes.rest')
local server = require('decent-notes.server')

local M = {
  all = {}, -- in the notebook's order; each has a note's summary as `note`; the rows of a search also `ranges` and `snippet`
  is_complete = false,
  on_rows = function() end, -- called when the rows have changed, with true if the user has done it here
  prepare = function() end, -- called with each new row
  is_shown = function() return false end, -- returns true if a window shows the rows
}
local uv = vim.loop
local page = 200 -- notes in one answer, which takes Neovim a few milliseconds
local view = { trashed = false, query = '' } -- the part of the notebook that is shown
local asking -- the view of the request that is not answered yet
local is_stale = true -- all notes have to be asked for
local changed, count = {}, 0 -- ids of notes that have changed since they were asked for, and how many
local begun, pause = 0, 0 -- when all notes were asked for last, and how long to wait before the next time; in milliseconds
local is_due = false

--- A new row. A row never changes; it is replaced.
local function make(note)
  local row = { note = note }
  M.prepare(row)
  return row
end

local function place_of(id)
  for place, row in ipairs(M.all) do
    if row.note.id == id then
      return place
    end
  end
end

local function refresh_in(milliseconds)
  if not is_due then
    is_due = true
    rest.after(milliseconds, function()
      is_due = false
      return M.is_shown() and M.refresh()
    end)
  end
end

--- Sends a request, and calls `use` with the result if the view is still the same.
local function ask(method, params, use)
  local asked = view
  asking = asked
  server.request(method, params, function(problem, result)
    if view ~= asked then
      return
    end
    asking = nil
    if problem then
      is_stale = true
      -- A query that is refused is refused again.
      if problem.code == -32602 then
        M.is_complete = true
        M.on_rows()
      else
        refresh_in(2000)
      end
      return not problem.gone and server.tell(problem.message, vim.log.levels.WARN)
    end
    use(result)
    return M.is_shown() and M.refresh()
  end)
end

local function finish(rows)
  M.all, M.is_complete = rows, true
  pause = 5 * (uv.now() - begun)
  M.on_rows()
end

--- Asks for the notes after the one with this id, or from the first; where there are none yet, they are shown as they come.
local function ask_all(rows, after, shown)
  ask('notebook/list', { trashed = view.trashed, limit = page, after = after }, function(result)
    for _, note in ipairs(result.notes) do
      rows[#rows + 1] = make(note)
    end
    if not result.next then
      return finish(rows)
    elseif #M.all == 0 or M.all == rows then
      M.all = rows
      -- Not after each page: to draw all rows each time would take time that grows with the square of their number.
      if #rows >= 2 * shown then
        shown = #rows
        M.on_rows()
      end
    end
    ask_all(rows, result.next, shown)
  end)
end

--- Asks for the note at the place of a changed one. It is the same note, or the next one if that note has gone. If it is neither,
--- all notes are asked for.
local function ask_one(id, place)
  local before, next = M.all[place - 1], M.all[place + 1]
  ask('notebook/list', { trashed = view.trashed, limit = 1, after = before and before.note.id }, function(result)
    local found = result.notes[1] and result.notes[1].id
    if place_of(id) ~= place or M.all[place - 1] ~= before then
      return place_of(id) and M.mark(id) -- the rows were changed here meanwhile
    elseif found == id then
      M.all[place] = make(result.notes[1])
    elseif found == (next and next.note.id) then
      table.remove(M.all, place)
    else
      is_stale = true
    end
    M.on_rows()
  end)
end

--- Asks for new notes before the first one: as a rule those that were made last. If the note `id` is none of them, all notes are asked
--- for.
local function ask_first(id)
  ask('notebook/list', { trashed = view.trashed, limit = page }, function(result)
    local first, new = M.all[1] and M.all[1].note.id, {}
    for _, note in ipairs(result.notes) do
      if note.id == first then
        first = nil
        break
      end
      new[#new + 1] = make(note)
      count, changed[note.id] = count - (changed[note.id] and 1 or 0), nil
    end
    for place = #new, 1, -1 do
      is_stale = is_stale or place_of(new[place].note.id) ~= nil
      table.insert(M.all, 1, new[place])
    end
    is_stale = is_stale or first ~= nil or not place_of(id)
    if is_stale then
      M.all = vim.list_slice(M.all, #new + 1)
    end
    M.on_rows()
  end)
end

--- Asks for what has changed, one request at a time, so that the server can answer others in between.
function M.refresh()
  if asking then
    return
  elseif is_stale then
    local wait = begun + pause - uv.now()
    if wait > 0 then
      return refresh_in(wait)
    end
    is_stale, changed, count, begun = false, {}, 0, uv.now()
    if view.query == '' then
      return ask_all({}, nil, 0)
    end
    return ask('notebook/search', { query = view.query, limit = 1000 }, function(result)
      vim.tbl_map(M.prepare, result.matches)
      finish(result.matches)
    end)
  end
  local id = next(changed)
  if id then
    changed[id], count = nil, count - 1
    local place = place_of(id)
    if place then
      ask_one(id, place)
    else
      ask_first(id)
    end
  end
end

--- Shows another view, or the same one again. Waits a moment for the first rows.
function M.show(trashed, query)
  view = { trashed = trashed, query = query }
  asking, is_stale, pause = nil, true, 0
  M.all, M.is_complete = {}, false
  M.refresh()
  server.wait(1000, function() return M.is_complete or #M.all > 0 end)
end

--- Marks a note as changed, so that it is asked for.
function M.mark(id)
  if not changed[id] then
    changed[id], count = true, count + 1
    is_stale = is_stale or count > 50
  end
end

changes.on(function(id, what, summary)
  local place = place_of(id)
  local function is(word)
    return vim.tbl_contains(what, word)
  end
  if view.query ~= '' or is('position') and not is('created') then
    is_stale = true
  elseif summary and M.is_complete and summary.trashed == view.trashed and (place or is('created')) then
    table.insert(M.all, place or 1, make(summary))
    if place then
      table.remove(M.all, place + 1)
    end
    return M.on_rows(true)
  elseif place or is('created') or is('trashed') or not M.is_complete then
    M.mark(id)
  end
  refresh_in(200)
end)

--- Removes a row. Changes made in the list are shown at once: the next key may be for the row that comes to the cursor.
function M.remove(id)
  local place = place_of(id)
  if place then
    table.remove(M.all, place)
  end
  count, changed[id] = count - (changed[id] and 1 or 0), nil
end

--- Puts a note before or after another one.
function M.move(id, other, is_after)
  if place_of(id) and place_of(other) then
    local row = table.remove(M.all, place_of(id))
    table.insert(M.all, place_of(other) + (is_after and 1 or 0), row)
  end
end

return M
