vim9script
# Who else is in a note: own cursors go to the server, those of others are shown.

import autoload './live.vim'
import autoload './server.vim'

# No more than ten messages a second.
const INTERVAL = 100
const TYPE = 'decent_notes_cursor'

var timer = 0

highlight default link DecentNotesCursor IncSearch

# The cursor has moved, or what is around it.
export def Moved()
  if timer == 0 && !empty(live.Of(bufnr()))
    timer = timer_start(INTERVAL, (_) => Send())
  endif
enddef

def Send()
  timer = 0
  var note = live.Of(bufnr())
  if empty(note) || note.attachment == 0
    return
  endif
  live.Flush(note)
  var at = Position(getpos('.'))
  server.Notify('note/cursor', {attachment: note.attachment, version: note.version, rev: note.rev,
    ranges: [{start: mode() =~ "^[vV\<C-V>]" ? Position(getpos('v')) : at, end: at}]})
enddef

def Position(at: list<number>): dict<number>
  return {line: at[1] - 1, character: min([at[2] - 1, strlen(getline(at[1]))])}
enddef

# Shows where the others are.
export def Show(note: dict<any>, peers: list<dict<any>>)
  var before = note.others
  Clear(note)
  note.others = len(peers)
  if empty(prop_type_get(TYPE))
    prop_type_add(TYPE, {highlight: 'DecentNotesCursor'})
  endif
  for peer in peers
    for range in peer.ranges
      var [start, end] = Sorted(range.start, range.end)
      var line = get(getbufline(note.buf, end.line + 1), 0, '')
      if start == end
        # The character that the cursor is on; after the last one it is on that.
        end = {line: end.line, character: end.character + strlen(matchstr(line, '.', end.character))}
        if start == end
          start = {line: start.line, character: max([0, start.character - strlen(matchstr(line, '.$'))])}
        endif
      endif
      prop_add(start.line + 1, start.character + 1,
        {bufnr: note.buf, type: TYPE, end_lnum: end.line + 1, end_col: end.character + 1})
    endfor
  endfor
  if note.others != before
    redrawstatus!
  endif
enddef

def Sorted(one: dict<any>, other: dict<any>): list<dict<any>>
  var isBefore = one.line < other.line || (one.line == other.line && one.character <= other.character)
  return isBefore ? [one, other] : [other, one]
enddef

export def Clear(note: dict<any>)
  note.others = 0
  if !empty(prop_type_get(TYPE))
    prop_remove({type: TYPE, bufnr: note.buf, all: true})
  endif
enddef

# See server.vim.
defcompile
