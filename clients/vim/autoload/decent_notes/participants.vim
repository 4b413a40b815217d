vim9script
# Shows the other participants in a buffer: their selections, their cursors, and their names beside these. Knows nothing of notes.

# The type of text property of a selection, and what the types of cursors and names begin with; the number of a colour follows.
const SELECTION = 'decent_notes_selection'
const CURSOR = 'decent_notes_cursor'
# More participants are not shown in the text: somebody may tell of thousands.
const MOST = 32
# The columns of a name.
const WIDTH = 20
# The backgrounds of names, for terminals and otherwise: dark enough for white letters, light enough beside black.
const COLORS = [[160, '#d70000'], [26, '#005fd7'], [28, '#008700'], [97, '#875faf'], [130, '#af5f00'], [30, '#007a7a'],
  [162, '#d70087'], [60, '#5f5f87']]
# The rest of a word, or one character of the scripts that are written without blanks: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
const UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U20000-\U3ffff"
const WORD = $'\%#=2\C\%([{UNSPACED}]\|.[^[:space:]{UNSPACED}]\{{,12}}\)'

def Highlight()
  highlight default link DecentNotesCursor IncSearch
  for [index, colors] in items(COLORS)
    var terminal = str2nr(&t_Co) >= 256 ? $'ctermfg=231 ctermbg={colors[0]}' : 'cterm=reverse'
    execute $'highlight default DecentNotesParticipant{index} term=reverse {terminal} guifg=#ffffff guibg={colors[1]}'
  endfor
enddef

Highlight()
augroup decent_notes_participants
  autocmd!
  autocmd ColorScheme * Highlight()
augroup END

# Names {{{1

# Characters that are not seen, or change how others are seen, and what is no character.
const HIDDEN = [[0xad, 0xad], [0x34f, 0x34f], [0x600, 0x605], [0x61c, 0x61c], [0x6dd, 0x6dd], [0x70f, 0x70f], [0x890, 0x891],
  [0x8e2, 0x8e2], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x206f],
  [0x3164, 0x3164], [0xfdd0, 0xfdef], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xffa0, 0xffa0], [0xfff0, 0xfffb], [0xfffe, 0xffff],
  [0x110bd, 0x110bd], [0x110cd, 0x110cd], [0x13430, 0x1343f], [0x1bca0, 0x1bca3], [0x1d173, 0x1d17a], [0xe0000, 0xe0fff]]
# Control characters, blanks and ends of lines.
const BLANK = [[0x00, 0x20], [0x7f, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f],
  [0x205f, 0x205f], [0x2800, 0x2800], [0x3000, 0x3000]]
# Names as they were given, and as they are shown.
var shown: dict<string> = {}

def IsIn(ranges: list<list<number>>, code: number): bool
  for [first, last] in ranges
    if code <= last
      return first <= code
    endif
  endfor
  return false
enddef

# A name as it may be shown anywhere, whatever is in it: one line of a few columns. Empty if nothing of it can be seen.
def Shown(name: string): string
  if has_key(shown, name)
    return shown[name]
  elseif len(shown) > 2000
    shown = {}
  endif
  var [text, width, marks] = ['', 0, 0]
  for code in str2list(name, 1)
    var char = code == char2nr('%') ? '％' : nr2char(code, 1)
    if IsIn(BLANK, code)
      # Blanks in a row are one.
      if text !~ '^$\| $'
        text ..= ' '
        width += 1
      endif
    elseif IsIn(HIDDEN, code)
      continue
    elseif strchars('x' .. char, true) > 1
      text ..= char
      width += strwidth(char)
      marks = 0
    elseif text !~ '^$\| $' && marks < 2
      # An accent, or the like: more of them on one letter would cover other lines.
      text ..= char
      marks += 1
    endif
    if width > WIDTH + 1
      # What follows is left out, were it only a blank.
      break
    endif
  endfor
  text = substitute(text, ' $', '', '')
  if strwidth(text) > WIDTH
    while strwidth(text) >= WIDTH
      text = strcharpart(text, 0, strchars(text, true) - 1, true)
    endwhile
    text ..= '…'
  endif
  shown[name] = text
  return text
enddef

# The names of these participants for a status line: three, and the number of the others. Empty if there are none.
export def Names(participants: list<dict<any>>): string
  var [names, others] = [[], 0]
  # Somebody may have several windows.
  var met: dict<bool> = {}
  for participant in participants
    var name = get(participant, 'name', '')
    if name != '' && has_key(met, name)
      continue
    endif
    # Of very many names most are only counted.
    var text = len(names) == 3 || len(met) >= MOST ? '' : Shown(name)
    if name != ''
      met[name] = true
    endif
    if text == ''
      others += 1
    elseif index(names, text) < 0
      add(names, text)
    endif
  endfor
  if empty(names)
    return others == 0 ? '' : others == 1 ? '1 other' : others .. ' others'
  endif
  return join(names, ', ') .. (others > 0 ? ' +' .. others : '')
enddef

# Cursors {{{1

# The types of text properties that a buffer has now.
var used: dict<dict<bool>> = {}

# Shows these participants, as note/presence names them, and no others.
export def Show(buf: number, participants: list<dict<any>>)
  decent_notes#participants#Clear(buf)
  # The columns that are left behind each line that has a name.
  var room: dict<number> = {}
  var width = Width(buf)
  for participant in participants[: MOST - 1]
    var color = get(participant, 'color', 0) % len(COLORS)
    for [index, range] in items(participant.ranges)
      ShowSelection(buf, range)
      var name = index == 0 ? Shown(get(participant, 'name', '')) : ''
      var line = get(getbufline(buf, range.end.line + 1), 0, '')
      var isAtEnd = range.end.character >= strlen(line)
      var left = get(room, range.end.line, width - strdisplaywidth(line)) - strwidth(name) - 1
      if isAtEnd && left < 0 && has_key(room, range.end.line)
        # The line has names enough.
        name = ''
      elseif isAtEnd || left >= 0
        room[range.end.line] = left
      endif
      ShowCursor(buf, range.end, line, color, name, left >= 0)
    endfor
  endfor
enddef

# The columns that lines of a buffer have in all of its windows.
def Width(buf: number): number
  return min(win_findbuf(buf)->map((_, window) => winwidth(window) - getwininfo(window)[0].textoff)) ?? &columns
enddef

def ShowSelection(buf: number, range: dict<any>)
  var [start, end] = Sorted(range.start, range.end)
  if start != end
    Add(buf, SELECTION, 'DecentNotesCursor', start.line, start.character,
      {end_lnum: end.line + 1, end_col: end.character + 1})
  endif
enddef

def Sorted(one: dict<any>, other: dict<any>): list<dict<any>>
  var isBefore = one.line < other.line || (one.line == other.line && one.character <= other.character)
  return isBefore ? [one, other] : [other, one]
enddef

# Shows a cursor, and a name beside it if that is not empty: behind the line if it has room there, else behind the word.
def ShowCursor(buf: number, at: dict<any>, line: string, color: number, name: string, hasRoom: bool)
  var [type, group] = [CURSOR .. color, 'DecentNotesParticipant' .. color]
  var end = at.character + strlen(matchstr(line, '.', at.character))
  # Where Vim can show no text that is not in the buffer, the status line has the names.
  var isNamed = name != '' && has('patch-9.0.0121')
  if at.character < strlen(line)
    Add(buf, type, group, at.line, at.character, {length: end - at.character})
  elseif !isNamed && line != ''
    # At the end of a line the character before it.
    var length = strlen(matchstr(line, '.$'))
    Add(buf, type, group, at.line, at.character - length, {length: length})
  endif
  if !isNamed
    return
  endif
  # The end of a line that is wider than the window may be far away.
  var column = hasRoom ? strlen(line) : matchend(line, WORD, at.character)
  if column < strlen(line)
    Add(buf, type, group, at.line, column, {text: ' ' .. name})
  elseif at.character < strlen(line)
    Add(buf, type, group, at.line, -1, {text: name, text_align: 'after', text_padding_left: 1})
  else
    # The blank is the cursor.
    Add(buf, type, group, at.line, -1, {text: ' ' .. name, text_align: 'after'})
  endif
enddef

def Add(buf: number, type: string, group: string, line: number, character: number, options: dict<any>)
  if empty(prop_type_get(type))
    # Cursors are seen in selections.
    prop_type_add(type, {highlight: group, priority: type == SELECTION ? 0 : 1})
  endif
  if !has_key(used, buf)
    used[buf] = {}
  endif
  used[buf][type] = true
  prop_add(line + 1, character + 1, options->extend({bufnr: buf, type: type}))
enddef

# Shows none.
export def Clear(buf: number)
  var types = has_key(used, buf) ? keys(remove(used, buf)) : []
  if bufloaded(buf)
    for type in types
      prop_remove({type: type, bufnr: buf, all: true})
    endfor
  endif
enddef

# See server.vim.
defcompile
