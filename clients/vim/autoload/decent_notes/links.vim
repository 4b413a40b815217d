vim9script
# Links between notes: following one, listing those that lead to a note, completing names and tags.

import autoload './buffer.vim'
import autoload './live.vim'
import autoload './places.vim'
import autoload './server.vim'

# So many names are offered at once.
const MOST = 100
# The keys that follow links, and files elsewhere.
const KEYS = ['gf', 'gF', '<C-]>', '<C-W>f', '<C-W><C-F>', '<C-W>F', '<C-W>gf', '<C-W>gF']
const BEGINNING = {start: {line: 0, character: 0}, end: {line: 0, character: 0}}

# Maps the keys of links in a note's buffer, and has names completed there: for BufReadPost.
export def Prepare()
  var note = live.Of(bufnr())
  if empty(note) || !get(g:, 'decent_notes_links', true)
    return
  endif
  var options = &cpoptions
  set cpoptions&vim
  for key in KEYS
    execute $"nnoremap <buffer> {key} <Cmd>call decent_notes#links#Follow('{key->substitute('<', '<lt>', 'g')}')<CR>"
  endfor
  for key in ['gf', 'gF']
    execute $"xnoremap <buffer> {key} <Cmd>call decent_notes#links#Follow('{key}')<CR>"
  endfor
  &cpoptions = options
  b:note_keys = get(b:, 'note_keys', []) + KEYS
  # The folder of a note's name holds no files: each would be the note once more.
  &l:path = split(&path, '\\\@<!,', true)->filter((_, folder) => folder != '.')->join(',')
  if &l:completefunc == ''
    &l:completefunc = 'decent_notes#links#Complete'
  endif
enddef

# Opens the note that the link under the cursor leads to, in another window or tab page where the key does that. Where there is no link, the key does
# what it does elsewhere.
export def Follow(key: string)
  var link: dict<any> = {}
  server.Try(() => {
    link = Here()
    if !empty(link)
      if mode() != 'n'
        execute "normal! \<Esc>"
      endif
      Open(link, key =~ '^<C-W>g' ? 'tab split' : key =~ '^<C-W>' ? 'split' : '', key == '<C-]>')
    endif
  })
  if empty(link)
    try
      # By its name a key that is special to mappings would be inserted as it stands.
      execute 'normal!' key->substitute('<C-\(.\)>', (it) => nr2char(char2nr(it[1]) % 32), 'g')
    catch /^Vim/
      server.Tell(v:exception->substitute('\C^Vim.\{-}:\zeE', '', ''))
    endtry
  endif
enddef

# The link under the cursor, or {}. The server knows the text as it is here when it has answered.
def Here(): dict<any>
  var note = live.Of(bufnr())
  if empty(note)
    return {}
  endif
  live.Settle(note, 1000)
  var at = {line: line('.') - 1, character: col('.') - 1}
  for link in server.Call('note/links', {id: note.id}).links
    if !Precedes(at, link.range.start) && Precedes(at, link.range.end)
      return link
    endif
  endfor
  return {}
enddef

def Precedes(a: dict<any>, b: dict<any>): bool
  return a.line < b.line || a.line == b.line && a.character < b.character
enddef

# `window` is a command that makes another window; where it fails nothing was done. `isTag`: CTRL-T leads back.
def Open(link: dict<any>, window: string, isTag: bool)
  var note = link.id == v:null ? Chosen(link.target) : server.Call('note/get', {id: link.id}).note
  if empty(note)
    return
  endif
  # For CTRL-O.
  normal! m'
  var item = {bufnr: bufnr(), from: [bufnr()] + getpos('.')[1 :], tagname: link.target}
  execute window
  buffer.Edit(note)
  if isTag
    settagstack(win_getid(), {items: [item]}, 't')
  endif
  if has_key(link, 'heading')
    search('\c\m^#\+\s\+\V' .. escape(link.heading, '\') .. '\m\s*#*\s*$', 'cw')
  endif
enddef

# The note that the user means by a name that several have, or {}.
def Chosen(name: string): dict<any>
  var found: list<dict<any>> = server.Call('notebook/resolve', {text: name}).candidates
  if empty(found)
    throw $'Decent Notes: no such note; :NoteNew makes one ("{name}")'
  endif
  var choice = inputlist(buffer.Choices(found))
  redraw
  return choice >= 1 && choice <= len(found) ? found[choice - 1] : {}
enddef

# Puts the links that lead to a note into the quickfix list.
export def Backlinks(id: string)
  var result = server.Call('note/backlinks', {id: id, limit: places.MOST})
  # Of a link in the header of a file the text has no place.
  var matches: list<dict<any>> = result.backlinks->mapnew((_, it) => (
    {note: it.note, ranges: empty(it.ranges) ? [BEGINNING] : it.ranges, line: it.context}))
  places.Show(':NoteBacklinks', matches, result.more, 'no note links to this one')
enddef

# Completes a name behind "[[", and a tag behind "#": for 'completefunc' and 'omnifunc'.
export def Complete(findstart: number, base: string): any
  var [kind, start] = Beginning()
  if findstart == 1
    # -3: nothing is completed here, and nothing is said.
    return kind == '' ? -3 : start
  endif
  var found: list<dict<any>> = []
  # An error in here would be shown by Vim with the places in functions.
  server.Try(() => {
    found = server.Call('notebook/complete', {prefix: base, kind: kind, limit: MOST}).results
  })
  if kind == 'tag'
    return found->mapnew((_, it) => it.label)
  endif
  var end = getline('.')[col('.') - 1 :] =~ '^]]' ? '' : ']]'
  return found->mapnew((_, it) => ({word: it.target .. end, abbr: it.label, menu: it.target == it.label ? '' : it.id[: 9],
    icase: 1, dup: 1}))
enddef

# What is completed at the cursor, `link`, `tag` or nothing, and where that begins. While Vim completes, what has been typed is not in
# the line; then only what stands before it counts.
def Beginning(): list<any>
  var before = strpart(getline('.'), 0, col('.') - 1)
  var link = before->matchstrpos('\[\[\zs[^][|#]*$')
  if link[1] >= 0
    return ['link', link[1]]
  endif
  var tag = before->matchstrpos('\%(^\|\s\)#\zs[^#[:space:]]*$')
  return tag[1] >= 0 ? ['tag', tag[1]] : ['', -3]
enddef

# See server.vim.
defcompile
