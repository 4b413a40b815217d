-- Notes out of files, and files out of notes.

local server = require('decent-notes.server')
local work = require('decent-notes.work')

local M = {}

--- Tells the counts. Files that were left out go into the quickfix list.
local function tell(numbers, title, folder, skipped)
  local parts = {}
  for _, it in ipairs(numbers) do
    parts[#parts + 1] = it[1] > 0 and it[1] .. ' ' .. it[2] or nil
  end
  local counts = #parts > 0 and table.concat(parts, ', ') or 'there was no file'
  if #skipped == 0 then
    return server.tell(counts)
  end
  local items = {}
  for _, file in ipairs(skipped) do
    items[#items + 1] = { filename = folder:gsub('/+$', '') .. '/' .. file.path, text = file.reason }
    server.write_log(('left out: %s: %s'):format(file.path, file.reason))
  end
  vim.fn.setqflist({}, ' ', { title = title .. ' ' .. folder, items = items })
  server.tell(('%s; %d left out, see :copen'):format(counts, #skipped), vim.log.levels.WARN)
end

--- :NotesImport
function M.import(path)
  path = vim.fn.fnamemodify(path, ':p')
  local result = work.run('Importing', 'notebook/import', { path = path })
  if result then
    tell({ { result.created, 'created' }, { result.updated, 'updated' }, { result.unchanged, 'unchanged' } }, ':NotesImport',
      vim.fn.isdirectory(path) == 1 and path or vim.fn.fnamemodify(path, ':h'), result.skipped)
  end
end

--- :NotesExport. `is_into`: also into a folder that has files of somebody else's.
function M.export(path, is_into)
  path = vim.fn.fnamemodify(path, ':p')
  local result = work.run('Exporting', 'notebook/export', { path = path, into = is_into or nil },
    { notEmpty = 'other files are there; :NotesExport! writes beside them' })
  if result then
    tell({ { result.written, 'written' }, { result.removed, 'removed' }, { result.unchanged, 'unchanged' } }, ':NotesExport', path,
      result.skipped)
  end
end

return M
