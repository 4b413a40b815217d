vim9script
# Shows the cursors and selections of other participants in a buffer. Knows nothing of notes.

const TYPE = 'decent_notes_cursor'

highlight default link DecentNotesCursor IncSearch

# Shows these participants, as note/presence names them, and no others.
export def Show(buf: number, participants: list<dict<any>>)
  decent_notes#cursors#Clear(buf)
  if empty(prop_type_get(TYPE))
    prop_type_add(TYPE, {highlight: 'DecentNotesCursor'})
  endif
  for participant in participants
    for range in participant.ranges
      var [start, end] = Sorted(range.start, range.end)
      var line = get(getbufline(buf, end.line + 1), 0, '')
      if start == end
        # The character that the cursor is on; at the end of a line the one before it.
        end = {line: end.line, character: end.character + strlen(matchstr(line, '.', end.character))}
        if start == end
          start = {line: start.line, character: max([0, start.character - strlen(matchstr(line, '.$'))])}
        endif
      endif
      prop_add(start.line + 1, start.character + 1,
        {bufnr: buf, type: TYPE, end_lnum: end.line + 1, end_col: end.character + 1})
    endfor
  endfor
enddef

def Sorted(one: dict<any>, other: dict<any>): list<dict<any>>
  var isBefore = one.line < other.line || (one.line == other.line && one.character <= other.character)
  return isBefore ? [one, other] : [other, one]
enddef

# Shows none.
export def Clear(buf: number)
  if !empty(prop_type_get(TYPE))
    prop_remove({type: TYPE, bufnr: buf, all: true})
  endif
enddef

# See server.vim.
defcompile
