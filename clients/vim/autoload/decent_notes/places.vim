vim9script
# Places in notes, as a search and links give them, for the quickfix list.

import autoload './buffer.vim'
import autoload './live.vim'
import autoload './server.vim'

# The most notes that are listed.
export const MOST = 1000

# Puts places into the quickfix list, and goes to the first one. Each match has a note, ranges in its text, and the line of the first range;
# without a range the title is meant. Throws if there are none.
export def Show(title: string, matches: list<dict<any>>, isMore: bool, nothing: string)
  var items: list<dict<any>> = []
  for match in matches
    var note = match.note
    var buf = live.BufferOf(note.id)
    var place = buf > 0 ? {bufnr: buf} : {filename: buffer.Name(note)}
    var lines = len(match.ranges) > 1 ? server.Call('note/get', {id: note.id}).text->split("\n", true) : []
    for range in match.ranges
      add(items, {lnum: range.start.line + 1, col: range.start.character + 1,
        end_lnum: range.end.line + 1, end_col: range.end.character + 1,
        text: empty(lines) ? match.line : get(lines, range.start.line, '')}->extend(place))
    endfor
    if empty(match.ranges)
      add(items, {lnum: 1, col: 1, text: note.title}->extend(place))
    endif
  endfor
  setqflist([], ' ', {title: title, items: items})
  silent doautocmd <nomodeline> QuickFixCmdPost grep
  if empty(items)
    throw $'Decent Notes: {nothing}'
  endif
  execute 'silent cfirst'
  server.Tell($'{len(items)} places' .. (isMore ? $' in {MOST} notes; :cdo reaches no others' : ''), 'None')
enddef

# See server.vim.
defcompile
