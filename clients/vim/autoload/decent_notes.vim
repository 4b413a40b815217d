vim9script
# What is for users' own scripts.

import autoload './decent_notes/live.vim'

# For 'statusline': `connected`, `offline`, how many others are here, or nothing where the buffer is no note.
export def Status(): string
  return live.Status(bufnr())
enddef
