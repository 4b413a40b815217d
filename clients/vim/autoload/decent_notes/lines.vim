vim9script
# The lines out of the pieces in which the output of the process comes. Pieces are joined when a line is complete: to join each piece to those
# before it would take time that grows with the square of the line's length.

# A line of more bytes is none of our program's. The text of the largest note is a good deal shorter.
export const MOST = 268'435'456

# Whole lines that are not taken yet; the pieces of the line that is not whole, and their bytes.
var whole: list<string> = []
var pieces: list<string> = []
var size = 0

# Another process begins.
export def Begin()
  whole = []
  pieces = []
  size = 0
enddef

# Takes a piece. Returns false if there is a line that is too long.
export def Add(piece: string): bool
  var parts = split(piece, "\n", true)
  if len(parts) > 1
    add(whole, join(pieces, '') .. parts[0])
    extend(whole, parts[1 : -2])
    pieces = []
    size = 0
  endif
  add(pieces, parts[-1])
  size += strlen(parts[-1])
  return size <= MOST
enddef

export def HasLine(): bool
  return !empty(whole)
enddef

# The next line, which is not given again.
export def Next(): string
  return remove(whole, 0)
enddef

# See server.vim.
defcompile
