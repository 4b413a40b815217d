-- Texts that the server does not have: while that is so, each is in two files, from which this or another editor can bring it into the note
-- later. One has the text alone, the other what `note/open` needs to resume, and the title. Knows no buffers.

local M = {}
local uv = vim.loop

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
  local done, problem = write(note.kept .. '.txt', text)
  local way = { note.resume_token, note.version, note.rev, note.title }
  if done and not (vim.deep_equal(way, note.kept_way) and note.kept_base == note.base) then
    done, problem = write(note.kept .. '.json', vim.json.encode({
      id = note.id, title = note.title, pid = uv.os_getpid(), session = note.resume_token, version = note.version, rev = note.rev,
      baseText = note.base,
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

--- Removes the files of a text. `path` is theirs without the ending.
function M.remove(path)
  os.remove(path .. '.txt')
  os.remove(path .. '.json')
end

--- Returns true if the editor that keeps a text is still there.
local function is_running(process)
  local name = vim.fn.system({ 'ps', '-o', 'comm=', '-p', tostring(process) }):lower()
  return name:find('vi') ~= nil or name:find('emacs') ~= nil
end

--- The texts that editors have left which are gone, the oldest first: each with `path`, `id`, `title`, `time` and `text`, and `resume`, what
--- `note/open` takes, where that is known.
function M.left()
  local found = {}
  for _, file in ipairs(vim.fn.glob(vim.fn.fnameescape(folder()) .. '/*.txt', true, true)) do
    local path = file:sub(1, -5)
    local id, time, process = vim.fn.fnamemodify(path, ':t'):match('^(.+)%-(%d+T%d+)Z?%-?(%d*)$')
    local known, way = pcall(vim.json.decode, read(path .. '.json') or '')
    way = known and type(way) == 'table' and way or {}
    local text = id and (process == '' or not is_running(process)) and read(file)
    if text then
      local is_whole = type(way.session) == 'string' and type(way.version) == 'number' and type(way.rev) == 'number'
        and type(way.baseText) == 'string'
      found[#found + 1] = {
        path = path, id = id, text = text, title = type(way.title) == 'string' and way.title or id,
        time = time:gsub('^(%d%d%d%d)(%d%d)(%d%d)T(%d%d)(%d%d).*$', '%1-%2-%3 %4:%5'),
        resume = is_whole and { session = way.session, version = way.version, rev = way.rev, baseText = way.baseText, text = text }
          or nil,
      }
    end
  end
  table.sort(found, function(a, b) return a.path:match('%-(%d+T%d+)') < b.path:match('%-(%d+T%d+)') end)
  return found
end

return M
