vim9script
# The list of notes. A notebook may have tens of thousands of notes: they come from the server in pages, between which Vim handles
# keys. After a change by others, only the note that was changed is asked for, where that is enough.

import autoload './buffer.vim'
import autoload './edit.vim'
import autoload './live.vim'
import autoload './purge.vim'
import autoload './rest.vim'
import autoload './server.vim'
import autoload './time.vim'
import autoload './unsent.vim'

const NAME = 'notes://list'
# Notes in one page; matches that are shown at most.
const PAGE = 250
const FOUND = 500
# Milliseconds for which changes are gathered before notes are asked for; notes that are asked for one by one at most.
const PAUSE = 100
const FEW = 20
const ORDERS = ['order', 'modified', 'created', 'title']

# The part of the notebook that is shown, and its order.
var isTrash = false
var query = ''
var tagged = ''
var order = 'order'
# The summaries of the notes in the server's order, each with its `line`. Those that a search has found also have `ranges` and
# `snippet`.
var entries: list<dict<any>> = []
var isMore = false
# For each line of the buffer one of these summaries, or {} for a line without a note.
var rows: list<dict<any>> = [{}]
# The width of the column of titles.
var width = 0
# The number of the present walk through the pages. Answers to an earlier walk are dropped.
var walk = 0
var isWalking = false
# The ids of notes that were changed since; `all`: all notes have to be asked for; and the timer that will ask.
var changed: dict<bool> = {}
var all = false
var refresh = 0
# The milliseconds that it took to get all notes. The longer it took, the later they are asked for again.
var cost = 0
# The ids of notes that were put into the trash here, one list for each time.
var deleted: list<list<string>> = []
# The buffer that was shown before the list.
var previous = 0
var isOpening = false
# True while the user waits for the list.
var isAsked = false

def Buffer(): number
  return bufexists(NAME) ? bufnr('^' .. NAME .. '$') : 0
enddef

export def Open()
  server.Start()
  var buf = bufadd(NAME)
  previous = buf == bufnr() ? previous : bufnr()
  isOpening = true
  try
    execute 'silent buffer' buf
  finally
    isOpening = false
  endtry
  Prepare()
  decent_notes#list#Refresh()
  if line('.') == 1
    cursor(2, 1)
  endif
  unsent.Offer()
enddef

# The list was put into a window by a command of Vim's or a session.
export def Shown()
  if !isOpening
    Prepare()
    server.Try(decent_notes#list#Refresh)
  endif
enddef

# The list was entered. The server does not report what was done in open notes here.
export def Entered()
  if !isOpening
    NotebookChanged(live.All()->mapnew((_, note) => ({id: note.id, what: []})))
  endif
enddef

# Makes the current buffer the list.
def Prepare()
  setlocal buftype=nofile bufhidden=hide noswapfile nobuflisted nowrap cursorline nomodifiable undolevels=-1
  if &filetype != 'decent-notes'
    setlocal filetype=decent-notes
    syntax match DecentNotesDate /^\d[-0-9: ]\{10}/
    syntax match DecentNotesHigh / \zshigh\ze\%( \|$\)/
    syntax match DecentNotesTags /\[[^]]*\]\ze\%($\|  \S\)/
    syntax match DecentNotesHeading /\%1l.*/
    syntax match DecentNotesSnippet /^ \{6}.*/
    highlight default link DecentNotesDate LineNr
    highlight default link DecentNotesHigh Todo
    highlight default link DecentNotesTags Identifier
    highlight default link DecentNotesHeading Title
    highlight default link DecentNotesSnippet Comment
  endif
  var options = &cpoptions
  set cpoptions&vim
  for [index, key] in items(KEYS)
    execute $'nnoremap <buffer> <nowait> {key[0]} <Cmd>call decent_notes#list#Press({index})<CR>'
  endfor
  nnoremap <buffer> g? <Cmd>call decent_notes#list#Help()<CR>
  xnoremap <buffer> <nowait> d <Cmd>call decent_notes#list#DeleteSelected()<CR>
  xnoremap <buffer> <nowait> D <Cmd>call decent_notes#list#PurgeSelected()<CR>
  &cpoptions = options
enddef

export def Press(index: number)
  server.Try(KEYS[index][2])
enddef

export def Help()
  echo KEYS->mapnew((_, key) => printf('%-5s %s', key[0], key[1]))->join("\n")
enddef

# The note on the cursor's line if the current buffer is the list, else {}.
export def Here(): dict<any>
  return bufnr() == Buffer() ? get(rows, line('.') - 1, {}) : {}
enddef

def Selected(): dict<any>
  var note = decent_notes#list#Here()
  if empty(note)
    throw 'Decent Notes: there is no note on this line'
  endif
  return note
enddef

# Getting notes {{{1

# Notes were changed.
def NotebookChanged(changes: list<dict<any>>)
  for change in changes
    var what = change.what
    all = all || query != '' || index(what, 'created') >= 0 || index(what, 'position') >= 0 || index(what, 'trashed') >= 0 || index(what, 'purged') >= 0
      || (tagged != '' && index(what, 'tags') >= 0)
    changed[change.id] = true
  endfor
  if len(changed) > FEW
    all = true
  endif
  RefreshSoon()
enddef

# The process has ended. Answers will not come.
def Lost()
  walk += 1
  isWalking = false
  all = true
enddef

# Asks soon for what was changed.
def RefreshSoon()
  # A list that is not shown asks for nothing.
  if empty(win_findbuf(Buffer()))
    all = all || !empty(changed)
    changed = {}
  elseif refresh == 0 && !isWalking && (all || !empty(changed))
    refresh = rest.After(max([PAUSE, all ? 3 * cost : 0]), () => {
      refresh = 0
      RefreshNow()
    })
  endif
enddef

def RefreshNow()
  if !server.IsReady() || empty(win_findbuf(Buffer()))
    return
  elseif all
    Walk((method, params, Take) => server.Request(method, params, Take))
    return
  endif
  var before = ''
  for note in entries
    if has_key(changed, note.id)
      AskFor(note.id, before)
    endif
    before = note.id
  endfor
  changed = {}
enddef

# Asks for the note behind another one. It is the one that was changed, unless the order was changed, too.
def AskFor(id: string, before: string)
  var page = Filter()->extend({limit: 1})->extend(before == '' ? {} : {after: before})
  server.Request('notebook/list', page, (response) => {
    var note = response->get('result', {})->get('notes', [])->get(0, {})
    if get(note, 'id', '') == id
      AtRest(() => decent_notes#list#Update(note))
    else
      all = true
      RefreshSoon()
    endif
  })
enddef

# Gets all notes again, and waits for the first page.
export def Refresh()
  if Buffer() == 0
    return
  endif
  isAsked = true
  try
    Walk((method, params, Take) => {
      if has_key(params, 'after')
        server.Request(method, params, Take)
      else
        Take({result: server.Call(method, params)})
      endif
    })
  finally
    isAsked = false
  endtry
enddef

# Changes what the list shows as soon as no key or command can mean what it shows now: at rest, and while no lines of it are selected.
def AtRest(Change: func)
  var isSelecting = bufnr() == Buffer() && mode() =~ "^[vV\<C-V>sS\<C-S>]"
  if isAsked || (rest.IsReached() && !isSelecting)
    Change()
  else
    rest.RenewIfIdle()
    rest.After(50, () => AtRest(Change))
  endif
enddef

def Filter(): dict<any>
  return {trashed: isTrash}->extend(tagged == '' ? {} : {tags: [tagged]})
enddef

# Gets all pages. `Fetch` is called with a method, its parameters and a function of the response.
def Walk(Fetch: func)
  walk += 1
  isWalking = true
  changed = {}
  all = false
  var number = walk
  var start = reltime()
  var isFirst: bool = empty(entries)
  var found: list<dict<any>> = []
  var isSearch: bool = query != ''
  var params = isSearch ? {query: query, limit: FOUND} : Filter()->extend({limit: PAGE})
  var Take: func
  Take = (response: dict<any>) => {
    if number != walk || Buffer() == 0
      return
    endif
    var result = get(response, 'result', {})
    var page: list<dict<any>> = isSearch
      ? get(result, 'matches', [])->mapnew((_, match) => match.note->extend({ranges: match.ranges, snippet: match.snippet}))
      : get(result, 'notes', [])
    Render(page, empty(found))
    extend(found, page)
    if has_key(result, 'next')
      if isFirst
        ShowLater(copy(found), number, false)
        isFirst = false
      endif
      Fetch('notebook/list', params->copy()->extend({after: result.next}), Take)
      return
    endif
    cost = float2nr(1000 * reltimefloat(reltime(start)))
    isMore = get(result, 'more', false)
    if has_key(response, 'error')
      isWalking = false
      # The last note of the page before is gone. What was looked for is refused again and again.
      all = !isSearch
      RefreshSoon()
    else
      ShowLater(found, number, true)
    endif
  }
  try
    Fetch(isSearch ? 'notebook/search' : 'notebook/list', params, Take)
  catch /^Decent Notes: /
    isWalking = false
    throw v:exception
  endtry
enddef

# Shows what a walk has found, unless another one has begun by then. `isAll`: the walk is over.
def ShowLater(found: list<dict<any>>, number: number, isAll: bool)
  AtRest(() => {
    if number == walk && Buffer() > 0
      isWalking = !isAll
      Show(found)
      if isAll
        RefreshSoon()
      endif
    endif
  })
enddef

# What a walk has found is older than what was done here: another one begins.
def Outdate()
  if isWalking
    walk += 1
    isWalking = false
    all = true
    RefreshSoon()
  endif
enddef

# Showing them {{{1

# Makes the lines of a page of notes. The first page settles the width of titles.
def Render(page: list<dict<any>>, isFirst: bool)
  if isFirst
    width = min([50, page->mapnew((_, note) => strdisplaywidth(note.title))->max()])
  endif
  for note in page
    note.line = Line(note)
  endfor
enddef

def Line(note: dict<any>): string
  var at = note[order == 'created' ? 'created' : 'modified']
  var title = note.title ?? '(no title)'
  return printf('%s  %s%s  %-6s  %s%s', time.Local(at, at[0 : 3] == strftime('%Y') ? '%m-%d %H:%M' : '%Y-%m-%d '),
    title, repeat(' ', width - strdisplaywidth(title)), note.priority == 'normal' ? '' : note.priority,
    empty(note.tags) ? '' : '[' .. join(note.tags, ', ') .. ']  ', get(note, 'path', ''))->substitute('\s\+$', '', '')
enddef

# Shows these notes. The cursors of all windows stay on their notes.
def Show(found: list<dict<any>>)
  var buf = Buffer()
  entries = found
  var before = rows
  var lines = [Heading() .. '    (g?: help)']
  if query == ''
    rows = [{}] + Sorted()
    lines += rows[1 :]->mapnew((_, note) => note.line)
  else
    rows = [{}]
    for note in entries
      extend(rows, [note, note])
      extend(lines, [note.line, '      ' .. note.snippet->trim()->substitute('\s\+', ' ', 'g')])
    endfor
  endif
  var cursors = win_findbuf(buf)->mapnew((_, id) => [id, get(before, getcurpos(id)[1] - 1, {}), getcurpos(id)])
  setbufvar(buf, '&modifiable', true)
  edit.SetLines(buf, 1, getbufline(buf, 1, '$'), lines)
  setbufvar(buf, '&modifiable', false)
  for [window, note, at] in cursors
    if !empty(note) && get(get(rows, at[1] - 1, {}), 'id', '') != note.id
      var row = Index(rows, note.id)
      win_execute(window, $'call cursor({row < 0 ? at[1] : row + 1}, {at[2]})')
    endif
  endfor
enddef

def Heading(): string
  var isEmpty = empty(entries) && !isWalking
  if query != ''
    return $'Notes with "{query}"' .. (isMore ? ': the first ones' : isEmpty ? ': nothing found' : '')
  endif
  return (isTrash ? 'Trash' : 'Notes') .. (tagged == '' ? '' : $' tagged {tagged}')
    .. get({modified: ', changed last first', created: ', newest first', title: ', by title'}, order, '')
    .. (isEmpty ? tagged != '' ? ': none' : isTrash ? ': empty' : ': none; n makes one' : '')
enddef

# The notes in the order in which they are shown.
def Sorted(): list<dict<any>>
  if order == 'order'
    return entries
  endif
  # Sorting strings is faster than calling a function for each pair.
  var ordered: dict<dict<any>> = {}
  var place = 0
  for note in entries
    place += 1
    ordered[order == 'title' ? printf("%s\x01%06d", tolower(note.title), place) : printf('%s%06d', note[order], 999999 - place)] = note
  endfor
  var names = ordered->keys()->sort()
  return (order == 'title' ? names : reverse(names))->mapnew((_, name) => ordered[name])
enddef

def Index(notes: list<dict<any>>, id: string): number
  var place = 0
  for note in notes
    if get(note, 'id', '') == id
      return place
    endif
    place += 1
  endfor
  return -1
enddef

# Shows a note that was changed.
export def Update(summary: dict<any>)
  Outdate()
  var place = Index(entries, summary.id)
  if place >= 0 && Buffer() > 0
    extend(entries[place], {path: ''}->extend(summary))
    entries[place].line = Line(entries[place])
    if order == 'order'
      setbufvar(Buffer(), '&modifiable', true)
      setbufline(Buffer(), Index(rows, summary.id) + 1, entries[place].line)
      setbufvar(Buffer(), '&modifiable', false)
    else
      Show(entries)
    endif
  elseif place < 0
    # It may have come out of the trash.
    all = true
    RefreshSoon()
  endif
enddef

# Keys {{{1

def Delete(notes: list<dict<any>>)
  if isTrash
    throw 'Decent Notes: these notes are in the trash already'
  endif
  var ids = notes->mapnew((_, note) => note.id)->uniq()
  if empty(ids)
    throw 'Decent Notes: there is no note on this line'
  endif
  for id in ids
    server.Call('note/delete', {id: id})
    buffer.Update(id)
  endfor
  add(deleted, ids)
  Remove(ids)
  server.Tell((len(ids) == 1 ? 'in the trash' : $'{len(ids)} notes are in the trash') .. '; u takes that back', 'None')
enddef

def Remove(ids: list<string>)
  Outdate()
  Show(entries->filter((_, note) => index(ids, note.id) < 0))
enddef

# As many notes as are counted, from that on the cursor's line on.
def Counted(): list<dict<any>>
  var first = line('.') - 1
  var notes = rows[first : first + 2 * v:count1]->filter((_, note) => !empty(note))
  # A note that a search has found has two lines.
  return [Selected()] + notes->uniq()[1 : v:count1 - 1]
enddef

# The notes on the lines that are selected. Nothing is selected after that.
def TakeSelection(): list<dict<any>>
  var [first, last] = sort([line('v'), line('.')], 'n')
  execute "normal! \<Esc>"
  return rows[first - 1 : last - 1]->filter((_, note) => !empty(note))
enddef

export def DeleteSelected()
  var notes = TakeSelection()
  server.Try(() => Delete(notes))
enddef

# Has these notes of the trash forgotten, after a question.
def Purge(notes: list<dict<any>>)
  if !isTrash
    throw 'Decent Notes: only notes in the trash are forgotten; T shows it'
  elseif empty(notes)
    throw 'Decent Notes: there is no note on this line'
  endif
  purge.Ask(notes, decent_notes#list#Refresh)
enddef

export def PurgeSelected()
  var notes = TakeSelection()
  server.Try(() => Purge(notes))
enddef

export def EmptyTrash()
  purge.EmptyTrash(decent_notes#list#Refresh)
enddef

def Restore(ids: list<string>)
  for id in ids
    server.Call('note/restore', {id: id})
    buffer.Update(id)
  endfor
enddef

# Takes a note out of the trash; outside the trash the notes that were put there last.
def TakeBack()
  if isTrash
    var id = Selected().id
    Restore([id])
    Remove([id])
  elseif empty(deleted)
    throw 'Decent Notes: nothing was deleted here; T shows the trash'
  else
    var ids = remove(deleted, -1)
    Restore(ids)
    decent_notes#list#Refresh()
    cursor(Index(rows, ids[0]) + 1, 1)
  endif
enddef

# Shows other notes.
def Select(Do: func)
  Do()
  entries = []
  decent_notes#list#Refresh()
enddef

def ToggleTrash()
  isTrash = !isTrash
  [query, tagged] = ['', '']
enddef

def Search(words: string)
  [query, tagged, isTrash] = [words, '', false]
enddef

def Tagged(name: string)
  [query, tagged] = ['', name]
enddef

def Sort()
  order = ORDERS[(index(ORDERS, order) + 1) % len(ORDERS)]
  query = ''
enddef

def Move(by: number)
  if isTrash || query != '' || order != 'order'
    throw 'Decent Notes: notes are moved in your own order only; o shows it'
  endif
  var note = Selected()
  var other = line('.') - 1 + by
  if other < 1 || other >= len(rows)
    return
  endif
  server.Call('note/move', {id: note.id}->extend(by < 0 ? {before: rows[other].id} : {after: rows[other].id}))
  Outdate()
  var place = Index(entries, note.id)
  insert(entries, remove(entries, place), place + by)
  Show(entries)
enddef

# Asks for a line. Nothing is done if the user cancels.
def Ask(prompt: string, text: string, Do: func)
  var answer = inputdialog(prompt, text, "\n")
  if answer != "\n"
    Do(answer)
  endif
enddef

def EditTags()
  var note = Selected()
  var before = note.tags
  Ask($'Tags of "{purge.Named(note)}", with commas between them: ', join(before, ', '), (answer) => {
    var tags = split(answer, ',')->map((_, tag) => trim(tag))->filter((_, tag) => tag != '')
    # Only the difference is sent: others may change tags at the same time.
    decent_notes#list#Update(server.Call('note/update', {id: note.id, tags: {add: tags->copy()->filter((_, tag) => index(before, tag) < 0),
      remove: before->copy()->filter((_, tag) => index(tags, tag) < 0)}}).note)
  })
enddef

def Rename()
  var note = Selected()
  Ask($'Title of "{purge.Named(note)}": ', note.title, (title) => decent_notes#list#Retitle(note.id, title))
enddef

# Gives a note another title, and the links that lead to it as well.
export def Retitle(id: string, title: string)
  var result = server.Call('note/rename', {id: id, title: title})
  for note in [result.note] + result.updated->mapnew((_, it) => it.note)
    buffer.Show(note)
    decent_notes#list#Update(note)
  endfor
  var left = len(result.ambiguous)
  server.Tell($'renamed, links changed in {result.more ? "at least " : ""}{len(result.updated)} ' .. (len(result.updated) == 1 ? 'note' : 'notes')
    .. (left == 0 ? '' : $', ambiguous in {left}'), left == 0 ? 'None' : 'WarningMsg')
enddef

def CyclePriority()
  var note = Selected()
  decent_notes#list#Update(server.Call('note/update', {id: note.id, priority: {low: 'normal', normal: 'high', high: 'low'}->get(note.priority, 'normal')}).note)
enddef

def Enter()
  var note = Selected()
  buffer.Edit(note)
  if !empty(get(note, 'ranges', []))
    var start = note.ranges[0].start
    normal! m'
    cursor(start.line + 1, start.character + 1)
    normal! zv
  endif
enddef

def Quit()
  if bufloaded(previous)
    execute 'silent buffer' previous
  else
    enew
  endif
enddef

# Keys, what the help says of them, and their functions. This stands behind the functions that it names.
const KEYS: list<list<any>> = [
  ['<CR>', 'open', () => Enter()],
  ['n', 'new', () => Ask('Title: ', '', buffer.New)],
  ['dd', 'delete: into the trash; also of some lines selected', () => Delete(Counted())],
  ['u', 'take back what dd did; in the trash: restore', () => TakeBack()],
  ['T', 'show the trash or leave it', () => Select(ToggleTrash)],
  ['D', 'in the trash: forget for good, after a question; also some lines selected', () => Purge(Counted())],
  ['E', 'empty the trash, after a question', () => decent_notes#list#EmptyTrash()],
  ['K', 'move up', () => Move(-1)],
  ['J', 'move down', () => Move(1)],
  ['t', 'tags', () => EditTags()],
  ['p', 'priority: low, normal, high', () => CyclePriority()],
  ['r', 'rename; links to it follow', () => Rename()],
  ['s', 'search; nothing: all notes', () => Ask('Search: ', query, (words) => Select(() => Search(words)))],
  ['f', 'only notes with a tag; nothing: all notes',
    () => Ask('Tag: ', tagged ?? get(get(decent_notes#list#Here(), 'tags', []), 0, ''), (name) => Select(() => Tagged(name)))],
  ['o', 'order: yours, by change, by creation, by title', () => Select(Sort)],
  ['R', 'refresh', () => decent_notes#list#Refresh()],
  ['q', 'close', () => Quit()],
]

server.On('notebook/didChange', (params: dict<any>) => NotebookChanged(params.changed))
server.OnReady(RefreshSoon)
server.OnLost(Lost)

# See server.vim.
defcompile
