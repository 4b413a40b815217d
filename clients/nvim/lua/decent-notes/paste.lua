-- Knows when a terminal's paste is under way: it comes in pieces, which may end inside a character. Knows nothing of notes.

local M = {
  is_under_way = false,
  on_end = function() end, -- called when the paste is over
}
local quiet, is_watching = 0, false -- tenths of a second since the last piece

local function stop()
  if M.is_under_way then
    M.is_under_way = false
    M.on_end()
  end
end

--- Ends a paste of which no piece has come for 2 s: a lost terminal does not send the end. Only time in which Neovim runs is counted,
--- as it may be stopped between two pieces.
local function watch()
  quiet = quiet + 1
  if quiet > 20 then
    stop()
  end
  is_watching = M.is_under_way
  if is_watching then
    vim.defer_fn(watch, 100)
  end
end

local paste = vim.paste
function vim.paste(lines, phase)
  quiet = 0
  if phase == 1 or phase == 2 then
    M.is_under_way = true
    if not is_watching then
      watch()
    end
  end
  local done, result = pcall(paste, lines, phase)
  -- After an error or false no more pieces come.
  if phase == 3 or not done or result == false then
    stop()
  end
  if not done then
    error(result, 0)
  end
  return result
end

return M
