-- Buffers that only show lines.

local M = {}
local api = vim.api

--- Shows lines in a new buffer in the current window. The buffer is deleted when it is left.
function M.show(name, lines, filetype)
  vim.cmd('enew')
  local buffer = api.nvim_get_current_buf()
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.buflisted = 'nofile', 'wipe', false, false
  pcall(api.nvim_buf_set_name, buffer, name)
  api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  vim.bo.modifiable, vim.bo.filetype = false, filetype
  return buffer
end

return M
