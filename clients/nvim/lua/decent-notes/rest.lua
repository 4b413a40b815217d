-- Knows if Neovim is at rest. Neovim also handles messages while a script, a mapping or a command waits (vim.wait, :sleep, getchar(), input(),
-- a request of a language server before a file is written), which may remember places in a text. Knows nothing of notes.

local M = {}
local entries = setmetatable({}, { __mode = 'k' }) -- the functions that `entry` made

-- How many commands Neovim is carrying out, each within another: a variable of the program. `state()` of later versions does not count
-- commands that a callback carries out, and Neovim 0.7 has no such function. Without LuaJIT's `ffi` functions of Vim script are noticed,
-- and commands that wait outside of a function are not.
local has_ffi, ffi = pcall(require, 'ffi')
if has_ffi then
  pcall(ffi.cdef, 'int ex_nesting_level;')
  has_ffi = pcall(function() return ffi.C.ex_nesting_level end)
end

local function is_in_command()
  if has_ffi then
    return ffi.C.ex_nesting_level > 0
  end
  return vim.fn.expand('<sfile>') ~= ''
end

--- Makes of `use` a function for Neovim to call when something has come or happened.
function M.entry(use)
  local function entry(...)
    use(...)
  end
  entries[entry] = true
  return entry
end

--- Calls `use` soon.
function M.soon(use)
  vim.schedule(M.entry(use))
end

--- Calls `use` after a time in milliseconds. (vim.schedule may be a function of another plugin's, which would be under way then.)
function M.after(milliseconds, use)
  vim.fn.timer_start(milliseconds, M.entry(use))
end

--- Returns true if Neovim, waiting for a key, has called the function of `entry` from which this is called: no other function of Lua and
--- no command is under way, and no keys are left that a mapping, a macro or a script has put before the user's.
function M.is_at_rest()
  local level, count, outermost = 1, 0, nil
  while true do
    local frame = debug.getinfo(level, 'f')
    if not frame then
      break
    end
    outermost = frame.func
    count = count + (entries[outermost] and 1 or 0)
    level = level + 1
  end
  return count == 1 and entries[outermost] == true and not is_in_command() and vim.fn.getchar(1) == 0
end

return M
