vim9script
# Edits of a buffer that are not the user's. Lines change as little as possible, so that everything stays on its text: cursors, the
# lines at the tops of windows, the ends of a selection, marks. Vim itself moves marks and folds when lines come and go; the rest is
# done here. A place is [line, byte], both from 0, as in the protocol. Knows nothing of notes.

import autoload './rest.vim'

# Characters that the text of a note cannot hold: NUL (which Vim stores as a line feed inside a line), surrogates, and numbers beyond Unicode.
# Vim's old engine for patterns, which it also uses for very long lines, does not support such ranges. The new one goes through all
# characters of a range if case is ignored, which takes minutes.
const IMPOSSIBLE = "\\%#=2\\C[\ud800-\udfff\U00110000-\U7fffffff\n]"

# More edits than these within lines beside each other are made at once.
const MANY = 200

# Puts a text into an empty buffer, as a change that cannot be undone.
export def Fill(buf: number, text: string)
  var levels = getbufvar(buf, '&undolevels')
  setbufvar(buf, '&modifiable', true)
  setbufvar(buf, '&undolevels', -1)
  # No mark, and no place in a quickfix list, is of the empty text.
  lockmarks setbufline(buf, 1, split(text, "\n", true))
  setbufvar(buf, '&undolevels', levels)
  setbufvar(buf, '&modified', false)
enddef

# The edits of a push in the form of ranges, as `Apply` takes them: `start`, `end`, and the lines `new` between which line feeds replace what is there.
export def OfRanges(ranges: list<dict<any>>): list<dict<any>>
  return ranges->mapnew((_, it) => ({start: [it.range.start.line, it.range.start.character],
    end: [it.range.end.line, it.range.end.character], new: split(it.newText, "\n", true)}))
enddef

# The same of a push in the form of lines, each of which becomes one: those from that of `start` on become `new`.
export def OfLines(pieces: list<list<any>>): list<dict<any>>
  return pieces->mapnew((_, piece) => ({start: [piece[0], 0], new: piece[2], isOfLines: true}))
enddef

# How many bytes are equal at the beginnings of two texts, and behind these at their ends: whole characters.
def Common(old: string, new: string): list<number>
  var [low, high] = [0, min([strlen(old), strlen(new)])]
  while low < high
    var middle = (low + high + 1) / 2
    [low, high] = strpart(old, 0, middle) ==# strpart(new, 0, middle) ? [middle, high] : [low, middle - 1]
  endwhile
  # A character is not cut.
  var head = byteidx(old, charidx(old .. ' ', low))
  [low, high] = [0, min([strlen(old), strlen(new)]) - head]
  while low < high
    var middle = (low + high + 1) / 2
    [low, high] = strpart(old, strlen(old) - middle) ==# strpart(new, strlen(new) - middle) ? [middle, high] : [low, middle - 1]
  endwhile
  var end = strlen(old) - low
  var char = charidx(old .. ' ', end)
  return [head, byteidx(old, char) == end ? low : strlen(old) - byteidx(old, char + 1)]
enddef

# The edits by which some lines become what a note can hold.
export def Replacements(buf: number, first: number, last: number): list<dict<any>>
  var lines = getbufline(buf, first, last)
  var edits: list<dict<any>> = []
  for [row, line] in IsImpossible(lines) ? items(lines) : []
    var column = 0
    for char in IsImpossible([line]) ? split(line, '\zs') : []
      var end = column + strlen(char)
      if IsImpossible([char])
        add(edits, {start: [first - 1 + row, column], end: [first - 1 + row, end], new: ["\uFFFD"]})
      endif
      column = end
    endfor
  endfor
  return edits
enddef

# Bytes that are no UTF-8 do not survive a conversion to JSON and back.
def IsImpossible(lines: list<string>): bool
  return match(lines, IMPOSSIBLE) >= 0 || json_decode(json_encode(lines)) != lines
enddef

# Where the last insertion in each buffer began and ended, and whether edits have moved these places: Vim's own memory of them does not move.
var insertions: dict<dict<any>> = {}

# For InsertEnter.
export def BeginInsertion()
  insertions[bufnr()] = {start: Place(getpos('.')), isStartMoved: false, end: [], isEndMoved: false}
enddef

# For InsertLeave.
export def EndInsertion()
  var insertion = get(insertions, bufnr(), {})
  if !empty(insertion)
    insertion.end = Place(getpos("'^"))
    if insertion.isStartMoved
      setpos("'[", [0, insertion.start[0] + 1, insertion.start[1] + 1, 0])
    endif
  endif
enddef

# CTRL-U and CTRL-W in Insert mode: deletes what was typed in the line, or its last word, or before it where nothing was typed. Vim
# itself does it as long as it knows where the insertion began; `isStep`: as an undo step of its own, as by the mapping of defaults.vim.
export def DeleteTyped(key: string, isStep: bool)
  var [row, column] = Place(getpos('.'))
  var insertion = get(insertions, bufnr(), {isStartMoved: false})
  if !insertion.isStartMoved
    feedkeys((isStep ? "\<C-G>u" : '') .. key, 'ni')
  elseif row != insertion.start[0] || column <= insertion.start[1]
    # Vim takes the cursor for the beginning then.
    feedkeys("\<C-G>u" .. key, 'ni')
  else
    var start = insertion.start[1]
    var end = start + (key == "\<C-U>" ? 0 : strlen(WithoutWord(strpart(getline('.'), start, column - start))))
    setline(row + 1, strpart(getline('.'), 0, end) .. strpart(getline('.'), column))
    cursor(row + 1, end + 1)
  endif
enddef

# A text without its last word and the blanks behind it.
def WithoutWord(text: string): string
  var chars = split(text, '\zs')
  while !empty(chars) && charclass(chars[-1]) == 0
    remove(chars, -1)
  endwhile
  var class = empty(chars) ? 0 : charclass(chars[-1])
  while !empty(chars) && charclass(chars[-1]) == class
    remove(chars, -1)
  endwhile
  return join(chars, '')
enddef

# `gi` in Normal mode: goes on where the last insertion ended.
export def ContinueInsertion()
  var insertion = get(insertions, bufnr(), {isEndMoved: false})
  var keys = 'gi'
  if insertion.isEndMoved
    cursor(insertion.end[0] + 1, insertion.end[1] + 1)
    keys = insertion.end[1] < strlen(getline('.')) ? 'i' : 'a'
  endif
  feedkeys(v:count1 .. keys, 'ni')
enddef

# Applies edits that all refer to the text before them and are in ascending order. `isJump`: the cursor goes to the first one.
export def Apply(buf: number, edits: list<dict<any>>, isJump: bool)
  var windows = win_findbuf(buf)->mapnew((_, id) => Window(id))
  var isVisual = buf == bufnr() && mode() =~ "^[vV\<C-V>sS\<C-S>]"
  var anchor = Place(getpos('v'))
  var marks = (getmarklist(buf) + getmarklist()->filter((_, mark) => mark.pos[0] == buf))
    ->filter((_, mark) => mark.mark =~ '[][a-zA-Z<>]')->mapnew((_, mark) => ({name: mark.mark, place: Place(mark.pos)}))
  var target: list<number> = []
  if isJump && !empty(edits)
    var [start, new] = [edits[0].start, edits[0].new]
    target = has_key(edits[0], 'isOfLines') ? [start[0], Common(getbufline(buf, start[0] + 1)[0], new[0])[0]] : start
  endif

  # Text inserted at a place comes before the character there, and moves the place. At the end of a line, where `isAtEnd`, there is no
  # character, and the place stays. Only whole lines inserted above an empty line move it.
  def Follow(edit: dict<any>, isAtEnd: bool)
    var isOfLines = has_key(edit, 'isOfLines')
    var [start, new] = [edit.start, edit.new]
    var isAbove = !isOfLines && start[1] == 0 && len(new) > 1 && new[-1] == '' && !(isAtEnd && new[0] == '')
    var isPushing = isOfLines || isAbove || !isAtEnd
    var Move = (place, isPushed) => isOfLines ? MovedInLine(buf, place, start[0], new, isPushed)
      : Moved(place, start, edit.end, new, isPushed)
    for window in windows
      # Text inserted where the user types comes after the cursor, except for whole lines above.
      var isTyping = mode() =~ '^[iR]' && window.id == win_getid()
      window.cursor = Move(window.cursor, isTyping ? isAbove : isPushing)
      window.top = Move([window.top, 0], isPushing && window.top > 0)[0]
    endfor
    anchor = Move(anchor, isPushing)
    if has_key(insertions, buf)
      var insertion = insertions[buf]
      var place = Move(insertion.start, isAbove)
      insertion.isStartMoved = insertion.isStartMoved || place != insertion.start
      insertion.start = place
      if !empty(insertion.end)
        place = Move(insertion.end, isAbove)
        insertion.isEndMoved = insertion.isEndMoved || place != insertion.end
        insertion.end = place
      endif
    endif
    for mark in marks
      mark.place = Move(mark.place, isPushing)
    endfor
  enddef

  for [first, last] in reverse(Groups(edits))
    var edit = edits[first]
    if has_key(edit, 'isOfLines')
      Follow(edit, false)
      setbufline(buf, edit.start[0] + 1, edit.new)
    elseif first < last
      var rows = windows->mapnew((_, window) => window.cursor[0]) + marks->mapnew((_, mark) => mark.place[0]) + [anchor[0]]
      var isHeld: dict<bool> = {}
      for row in rows
        isHeld[row] = true
      endfor
      for one in reverse(edits[first : last])
        if has_key(isHeld, one.start[0])
          Follow(one, one.start[1] >= strlen(getbufline(buf, one.start[0] + 1)[0]))
        endif
      endfor
      ReplaceInLines(buf, edits[first : last])
    else
      Follow(edit, edit.start[1] >= strlen(getbufline(buf, edit.start[0] + 1)[0]))
      ReplaceText(buf, edit.start, edit.end, edit.new)
    endif
  endfor
  for mark in marks
    setpos(mark.name, [buf, mark.place[0] + 1, mark.place[1] + 1, 0])
  endfor
  if isVisual && Place(getpos('v')) != anchor
    # In Select mode these keys would replace what is selected.
    var toggle = mode() =~ "^[sS\<C-S>]" ? "\<C-G>" : ''
    execute 'normal! ' .. toggle .. 'o'
    cursor(anchor[0] + 1, anchor[1] + 1)
    execute 'normal! o' .. toggle
    rest.Renew()
  endif
  for window in windows
    if !empty(target) && window.id == win_getid()
      window.cursor = target
    endif
    Restore(window)
  endfor
enddef

# The first and the last of the edits that are made at once: each by itself, but more than MANY that are within lines beside each other, which
# would take many times as long.
def Groups(edits: list<dict<any>>): list<list<number>>
  var groups: list<list<number>> = []
  var start = 0
  for index in range(len(edits))
    if index + 1 < len(edits) && IsWithinLine(edits[index]) && IsWithinLine(edits[index + 1])
        && edits[index + 1].start[0] - edits[index].start[0] <= 1
      continue
    endif
    groups += index - start >= MANY ? [[start, index]] : range(start, index)->mapnew((_, it) => [it, it])
    start = index + 1
  endfor
  return groups
enddef

def IsWithinLine(edit: dict<any>): bool
  return !has_key(edit, 'isOfLines') && edit.start[0] == edit.end[0] && len(edit.new) == 1
enddef

# Makes edits that are within lines beside each other.
def ReplaceInLines(buf: number, edits: list<dict<any>>)
  var first = edits[0].start[0]
  var lines = getbufline(buf, first + 1, edits[-1].start[0] + 1)
  var [row, column, pieces] = [first, 0, []]
  for edit in edits
    if edit.start[0] != row
      lines[row - first] = join(pieces, '') .. strpart(lines[row - first], column)
      [row, column, pieces] = [edit.start[0], 0, []]
    endif
    pieces += [strpart(lines[row - first], column, edit.start[1] - column), edit.new[0]]
    column = edit.end[1]
  endfor
  lines[row - first] = join(pieces, '') .. strpart(lines[row - first], column)
  setbufline(buf, first + 1, lines)
enddef

def Place(position: list<number>): list<number>
  return [position[1] - 1, position[2] - 1]
enddef

def Window(id: number): dict<any>
  var at = getcurpos(id)
  return {id: id, cursor: Place(at), beyond: at[3], column: at[4], before: Place(at), top: getwininfo(id)[0].topline - 1}
enddef

def Restore(window: dict<any>)
  var view: dict<any> = {lnum: window.cursor[0] + 1, col: window.cursor[1], topline: window.top + 1}
  # The column that j and k aim at stays, unless the cursor's own column has changed.
  if window.cursor[1] == window.before[1]
    # After `$` it is the end of each line.
    view.curswant = window.column == v:maxcol ? v:maxcol : window.column - 1
    # With 'virtualedit' the cursor may be beyond the end of its line.
    view.coladd = window.beyond
  endif
  if window.id == win_getid()
    winrestview(view)
  else
    win_execute(window.id, $'winrestview({string(view)})')
  endif
enddef

# A place after an edit. `isPushed`: text inserted exactly there moves it.
def Moved(place: list<number>, start: list<number>, end: list<number>, new: list<string>, isPushed: bool): list<number>
  if IsBefore(place, start) || (place == start && !(isPushed && start == end))
    return place
  elseif IsBefore(place, end)
    return start
  endif
  var line = place[0] - end[0] + start[0] + len(new) - 1
  if place[0] > end[0]
    return [line, place[1]]
  endif
  return [line, place[1] - end[1] + strlen(new[-1]) + (len(new) == 1 ? start[1] : 0)]
enddef

# A place of a buffer when each of its lines from `first` on becomes one of `new`.
def MovedInLine(buf: number, place: list<number>, first: number, new: list<string>, isPushed: bool): list<number>
  var index = place[0] - first
  if index < 0 || index >= len(new)
    return place
  endif
  var line = getbufline(buf, place[0] + 1)[0]
  var [head, tail] = Common(line, new[index])
  return Moved(place, [place[0], head], [place[0], strlen(line) - tail],
    [strpart(new[index], head, strlen(new[index]) - head - tail)], isPushed && head < strlen(line))
enddef

def IsBefore(one: list<number>, other: list<number>): bool
  return one[0] < other[0] || (one[0] == other[0] && one[1] < other[1])
enddef

def ReplaceText(buf: number, start: list<number>, end: list<number>, inserted: list<string>)
  var old = getbufline(buf, start[0] + 1, end[0] + 1)
  var new = copy(inserted)
  new[0] = strpart(old[0], 0, start[1]) .. new[0]
  new[-1] ..= strpart(old[-1], end[1])
  # The line that text was inserted before is the last one, even if the first one is equal.
  if start[1] == 0
    TrimEnd(old, new)
  endif
  decent_notes#edit#SetLines(buf, start[0] + 1, old, new)
enddef

# Replaces the lines `old`, which begin at `from`. Equal lines at both ends are not touched.
export def SetLines(buf: number, from: number, old: list<string>, new: list<string>)
  var first = from + decent_notes#edit#Trim(old, new)
  var both = min([len(old), len(new)])
  if both > 0
    setbufline(buf, first, new[: both - 1])
  endif
  if len(new) > both
    appendbufline(buf, first + both - 1, new[both :])
  elseif len(old) > both
    silent deletebufline(buf, first + both, first + len(old) - 1)
  endif
enddef

# Removes from both lists what is equal at their beginnings and at their ends. Returns how many items were equal at the beginnings.
export def Trim(old: list<string>, new: list<string>): number
  var [low, high] = [0, min([len(old), len(new)])]
  # Comparing slices is much faster than a loop.
  while low < high
    var middle = (low + high + 1) / 2
    if old[low : middle - 1] == new[low : middle - 1]
      low = middle
    else
      high = middle - 1
    endif
  endwhile
  if low > 0
    remove(old, 0, low - 1)
    remove(new, 0, low - 1)
  endif
  TrimEnd(old, new)
  return low
enddef

def TrimEnd(old: list<string>, new: list<string>)
  var [low, high] = [0, min([len(old), len(new)])]
  while low < high
    var middle = (low + high + 1) / 2
    if old[-middle : -low - 1] == new[-middle : -low - 1]
      low = middle
    else
      high = middle - 1
    endif
  endwhile
  if low > 0
    remove(old, -low, -1)
    remove(new, -low, -1)
  endif
enddef

# See server.vim.
defcompile
