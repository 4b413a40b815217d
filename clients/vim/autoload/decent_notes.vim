vim9script
# What is for users' own scripts.

import autoload './decent_notes/buffer.vim'

# For 'statusline': `connected`, `offline`, how many others are here, or nothing where the buffer is no note.
export def Status(): string
  return buffer.Status()
enddef
