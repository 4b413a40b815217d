-- Texts that the server does not have: while that is so, each is in two files, from which this or another editor can bring it into the note
-- later. One has the text alone, the other what `note/open` needs to resume, and the title. Knows no buffers.

local M = {}
local uv = vim.loop
local in_use = {} -- true for the files, without the ending, of notes that are open here

local function folder()
  local state = vim.env.XDG_STATE_HOME
  return (state and state ~= '' and state or vim.fn.expand('~/.local/state')) .. '/decent-notes/unsent'
end

--- Writes a file that only the user can read, so that there is never a part of it. Returns false and why if that is not possible.
local function write(path, text)
  pcall(vim.fn.mkdir, folder(), 'p', 448) -- 0700
  local file, problem = uv.fs_open(path .. '.new', 'w', 384) -- 0600
  local written
  if file then
    written, problem = uv.fs_write(file, text, 0)
    uv.fs_close(file)
  end
  if written == #text then
    written, problem = uv.fs_rename(path .. '.new', path)
  end
  return written and true or false, problem
end

local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  return text
end

--- Keeps a text of the note. Returns the path of its file; false and why if that is not possible.
function M.keep(note, text)
  note.kept = note.kept or ('%s/%s-%s-%d'):format(folder(), note.id, os.date('%Y%m%dT%H%M%S'), uv.os_getpid())
  in_use[note.kept] = true
  local done, problem = write(note.kept .. '.txt', text)
  local way = { note.resume_token, note.version, note.rev, note.title }
  if done and not (vim.deep_equal(way, note.kept_way) and note.kept_base == note.base) then
    done, problem = write(note.kept .. '.json', vim.json.encode({
      id = note.id, title = note.title, pid = uv.os_getpid(), session = note.resume_token, version = note.version, rev = note.rev,
      baseText = note.base, hidesReturns = note.hides_returns,
    }))
    note.kept_way, note.kept_base = way, note.base
  end
  return done and note.kept .. '.txt', problem
end

--- The server has the text of the note.
function M.drop(note)
  if note.kept then
    M.remove(note.kept)
    note.kept, note.kept_way, note.kept_base = nil, nil, nil
  end
end

--- The note is closed. What the server does not have of it can be brought into it here, too.
function M.release(note)
  in_use[note.kept or ''] = nil
end

--- Removes the files of a text, also those that a Neovim was killed over. `path` is theirs without the ending.
function M.remove(path)
  in_use[path] = nil
  for _, ending in ipairs({ '.json.new', '.json', '.txt.new', '.txt' }) do
    os.remove(path .. ending)
  end
end

--- Which of these processes are editors that run. One that has ended may still be listed, as long as its parent has not waited for it.
local function running(processes)
  local found = {}
  for _, line in ipairs(#processes > 0 and vim.fn.systemlist({ 'ps', '-o', 'pid=,stat=,comm=', '-p', table.concat(processes, ',') }) or {}) do
    local process, state, name = line:match('^%s*(%d+)%s+(%S+)%s+(.*)$')
    name = name and name:lower() or ''
    found[process or ''] = state ~= nil and state:sub(1, 1) ~= 'Z' and (name:find('vi') ~= nil or name:find('emacs') ~= nil)
  end
  return found
end

--- The texts that are there, the oldest first: each with `path`, `id`, `time`, and `process`, that of its editor, '' if it is not known.
function M.all()
  local found = {}
  for _, file in ipairs(vim.fn.glob(vim.fn.fnameescape(folder()) .. '/*.txt', true, true)) do
    local path = file:sub(1, -5)
    local id, time, process = vim.fn.fnamemodify(path, ':t'):match('^(.+)%-(%d%d%d%d%d%d%d%dT%d%d%d%d%d%d)Z?%-?(%d*)$')
    found[#found + 1] = id and { path = path, id = id, time = time, process = process } or nil
  end
  table.sort(found, function(a, b) return a.time < b.time end)
  return found
end

--- Those of some texts that no editor has any more, with their `text`, and `resume`, what `note/open` takes, where that is known.
function M.left(texts)
  local editors = running(vim.tbl_filter(function(it) return it ~= '' end, vim.tbl_map(function(it) return it.process end, texts)))
  editors[tostring(uv.os_getpid())] = nil
  return vim.tbl_filter(function(it)
    it.text = not (editors[it.process] or in_use[it.path]) and read(it.path .. '.txt')
    local known, way = pcall(vim.json.decode, it.text and read(it.path .. '.json') or '')
    if known and type(way) == 'table' and type(way.session) == 'string' and type(way.version) == 'number' and type(way.rev) == 'number'
      and type(way.baseText) == 'string' then
      it.resume = { session = way.session, version = way.version, rev = way.rev, baseText = way.baseText, text = it.text,
        hidesReturns = way.hidesReturns == true }
    end
    return it.text
  end, texts)
end

return M
