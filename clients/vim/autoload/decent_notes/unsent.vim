vim9script
# Texts that could not be sent when their buffers went: each is written to a file, and the user is told which.

import autoload './server.vim'

# Writes the text of the note `id` to a file that only the user can read.
export def KeepInFile(id: string, text: string)
  var state = $XDG_STATE_HOME ?? expand('~/.local/state')
  var folder = state .. '/decent-notes/unsent'
  mkdir(folder, 'p', 0o700)
  var path = $'{folder}/{id}-{strftime('%Y%m%dT%H%M%S')}.txt'
  writefile(split(text, "\n", true), path, 'b')
  setfperm(path, 'rw-------')
  if v:exiting == v:null || v:dying > 0
    server.Tell($'what could not be sent is in a file: {fnamemodify(path, ':~')}')
    return
  endif
  # The screen is cleared when Vim ends, so it waits for a key. The path is shown in full, even if it is longer than a line.
  echohl ErrorMsg
  echomsg $'Decent Notes: not everything could be sent; the text is in {path}'
  echohl None
  input('Press ENTER')
enddef

# See server.vim.
defcompile
