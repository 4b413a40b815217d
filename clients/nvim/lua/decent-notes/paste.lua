-- Knows when a terminal's paste is under way: it comes in pieces, which may end inside a character. Pieces that come while a command waits for
-- the process are pasted after it, where the keys go that were typed meanwhile. Knows nothing of notes.

local rest = require('decent-notes.rest')
local server = require('decent-notes.server')

local M = {
  is_under_way = false,
  on_end = function() end, -- called when the paste is over
}
local quiet, is_watching = 0, false -- tenths of a second since the last piece
local late = {} -- pieces that came while a command waited: lines and phase
local key = '<C-S-F37>' -- stands among the keys where such a piece came; no keyboard has it

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
    rest.after(100, watch)
  end
end

local paste = vim.paste

--- Pastes a piece.
local function take(lines, phase)
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

function vim.paste(lines, phase)
  if #late > 0 and not server.is_waiting and vim.fn.getchar(1) == 0 then
    late = {} -- CTRL-C has thrown away the keys that were typed, and with them those of these pieces
  end
  if not server.is_waiting and #late == 0 then
    return take(lines, phase)
  end
  late[#late + 1] = { lines, phase }
  vim.api.nvim_input(key)
  return true
end

vim.keymap.set({ 'n', 'x', 's', 'o', 'i', 'c', 't' }, key, function()
  local piece = table.remove(late, 1)
  if piece then
    take(unpack(piece))
  end
end, { desc = 'paste what came while a command waited' })

return M
