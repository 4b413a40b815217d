-- A terminal's paste comes in pieces, which may end inside a character. Tells when one is under way. Knows nothing of notes.

local M = {
  is_under_way = false,
  on_end = function() end,
}
local quiet, is_watching = 0, false -- for how many tenths of a second nothing has come

local function stop()
  if M.is_under_way then
    M.is_under_way = false
    M.on_end()
  end
end

--- A terminal that is lost does not send the end. Time is counted only while Neovim runs: it may be stopped between two pieces.
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
  -- After an error, and after false, no more pieces come.
  if phase == 3 or not done or result == false then
    stop()
  end
  if not done then
    error(result, 0)
  end
  return result
end

return M
