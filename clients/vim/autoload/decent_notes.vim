vim9script
# Functions for users' own scripts.

import autoload './decent_notes/buffer.vim'

# For 'statusline': `connected`, `offline`, who else is in the note, or nothing if the buffer shows no note.
export def Status(): string
  return buffer.Status()
enddef

# For 'statusline': the path of the note's file, or nothing if it has none.
export def Path(): string
  return buffer.Path()
enddef
