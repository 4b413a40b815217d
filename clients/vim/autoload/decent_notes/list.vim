vim9script
# The list of notes, in the user's order.

import autoload './commands.vim'
import autoload './server.vim'

const NAME = 'notes://list'
var isTrash = false
var query = ''
# For each line of the buffer the summary of its note, or {} for a line that stands for none.
var rows: list<dict<any>> = []
var refresh = 0
# The buffer that was shown before the list.
var previous = 0

export def Open()
  server.Start()
  var buf = bufadd(NAME)
  previous = buf == bufnr() ? previous : bufnr()
  execute 'silent buffer' buf
  setlocal buftype=nofile bufhidden=hide noswapfile nobuflisted nowrap cursorline nomodifiable undolevels=-1
  if &filetype != 'decent-notes'
    setlocal filetype=decent-notes
    syntax match DecentNotesNumber /^\s*\d\+/
    syntax match DecentNotesHigh / \zshigh\ze /
    syntax match DecentNotesTags /\[[^]]*\]$/
    syntax match DecentNotesHeading /\%1l.*/
    syntax match DecentNotesSnippet /^ \{6}.*/
    highlight default link DecentNotesNumber LineNr
    highlight default link DecentNotesHigh Todo
    highlight default link DecentNotesTags Identifier
    highlight default link DecentNotesHeading Title
    highlight default link DecentNotesSnippet Comment
    for [index, key] in items(KEYS)
      execute $'nnoremap <buffer> <nowait> {key[0]} <ScriptCmd>Press({index})<CR>'
    endfor
    nnoremap <buffer> g? <ScriptCmd>Help()<CR>
  endif
  Refresh()
  if line('.') == 1
    normal! 2G
  endif
enddef

def Press(index: number)
  server.Try(KEYS[index][2])
enddef

def Help()
  echo KEYS->mapnew((_, key) => printf('%-5s %s', key[0], key[1]))->join("\n")
enddef

# The note on the cursor's line, where the current buffer is the list.
export def Here(): dict<any>
  return bufname() == NAME ? get(rows, line('.') - 1, {}) : {}
enddef

def Selected(): dict<any>
  var note = Here()
  if empty(note)
    throw 'Decent Notes: there is no note on this line'
  endif
  return note
enddef

# Others have changed something.
export def NotebookChanged(changed: list<dict<any>>)
  if refresh == 0 && bufwinnr(NAME) > 0
    refresh = timer_start(100, RefreshLater)
  endif
enddef

def RefreshLater(_: number)
  refresh = 0
  var [method, params] = Query()
  server.Request(method, params, (response) => has_key(response, 'result') ? Take(method, response.result) : 0)
enddef

export def Refresh()
  if bufloaded(NAME)
    var [method, params] = Query()
    Take(method, server.Call(method, params))
  endif
enddef

# What to ask for.
def Query(): list<any>
  return query != '' && !isTrash ? ['notebook/search', {query: query, limit: 500}] : ['notebook/list', {trashed: isTrash}]
enddef

# Shows what came; cursors stay on their notes.
def Take(method: string, result: dict<any>): number
  if !bufloaded(NAME) || method != Query()[0]
    return 0
  endif
  var buf = bufnr(NAME)
  var cursors = win_findbuf(buf)->mapnew((_, id) => [id, get(rows, getcurpos(id)[1] - 1, {}), getcurpos(id)])
  var heading = isTrash ? 'Trash' : 'Notes'
  var lines: list<string>
  rows = [{}]
  if method == 'notebook/search'
    heading = $'Notes with "{query}"' .. (result.more ? ': the first ones' : '')
    for match in result.matches
      add(rows, match.note)->add(match.note)
      add(lines, Line(match.note, 0, 40))->add('      ' .. match.snippet->trim()->substitute('\s\+', ' ', 'g'))
    endfor
  else
    var width = result.notes->mapnew((_, note) => strdisplaywidth(note.title))->max()
    for note in result.notes
      add(rows, note)
      add(lines, Line(note, len(lines) + 1, min([width, 50])))
    endfor
  endif
  insert(lines, heading .. '    (g?: help)')
  setbufvar(buf, '&modifiable', true)
  setbufline(buf, 1, lines)
  silent deletebufline(buf, len(lines) + 1, '$')
  setbufvar(buf, '&modifiable', false)
  var ids = rows->mapnew((_, note) => get(note, 'id', ''))
  for [window, note, at] in cursors
    var row = empty(note) ? -1 : index(ids, note.id)
    win_execute(window, $'call cursor({row < 0 ? at[1] : row + 1}, {at[2]})')
  endfor
  return 0
enddef

def Line(note: dict<any>, number: number, width: number): string
  var title = note.title ?? '(no title)'
  var tags = empty(note.tags) ? '' : '[' .. join(note.tags, ', ') .. ']'
  var place = number > 0 ? printf('%4d', number) : '    '
  return printf('%s  %s%s  %-6s  %s', place, title, repeat(' ', width - strdisplaywidth(title)),
    note.priority == 'normal' ? '' : note.priority, tags)->substitute('\s\+$', '', '')
enddef

def Change(method: string, params: dict<any> = {})
  server.Call(method, {id: Selected().id}->extend(params))
  Refresh()
enddef

def Restore()
  if !isTrash
    throw 'Decent Notes: this note is not in the trash; T shows the trash'
  endif
  Change('note/restore')
enddef

def ToggleTrash()
  isTrash = !isTrash
  query = ''
  Refresh()
enddef

def Move(by: number)
  if isTrash || query != ''
    throw 'Decent Notes: notes are moved in the list of all notes'
  endif
  var note = Selected()
  var other = line('.') - 1 + by
  if other < 1 || other >= len(rows)
    return
  endif
  Change('note/move', by < 0 ? {before: rows[other].id} : {after: rows[other].id})
enddef

# Asks for a line; nothing is done if the user gives up.
def Ask(prompt: string, text: string, Do: func)
  var answer = inputdialog(prompt, text, "\n")
  if answer != "\n"
    Do(answer)
  endif
enddef

def EditTags()
  var before = Selected().tags
  Ask('Tags, with commas between them: ', join(before, ', '), (answer) => {
    var tags = split(answer, ',')->map((_, tag) => trim(tag))->filter((_, tag) => tag != '')
    # Only what was altered here: somebody else may be at these tags, too.
    Change('note/update', {tags: {add: tags->copy()->filter((_, tag) => index(before, tag) < 0),
      remove: before->copy()->filter((_, tag) => index(tags, tag) < 0)}})
  })
enddef

def CyclePriority()
  Change('note/update', {priority: {low: 'normal', normal: 'high', high: 'low'}->get(Selected().priority, 'normal')})
enddef

def Search(words: string)
  query = words
  isTrash = false
  Refresh()
enddef

def Quit()
  if bufloaded(previous)
    execute 'silent buffer' previous
  else
    enew
  endif
enddef

# What the keys do, as the help says it. At the end, as only now all functions are known.
const KEYS: list<list<any>> = [
  ['<CR>', 'open', () => commands.Edit(Selected())],
  ['n', 'new', () => Ask('Title: ', '', commands.New)],
  ['d', 'delete: into the trash', () => Change('note/delete')],
  ['u', 'restore, in the trash', () => Restore()],
  ['T', 'show the trash or leave it', () => ToggleTrash()],
  ['K', 'move up', () => Move(-1)],
  ['J', 'move down', () => Move(1)],
  ['t', 'tags', () => EditTags()],
  ['p', 'priority: low, normal, high', () => CyclePriority()],
  ['r', 'rename', () => Ask('Title: ', Selected().title, (title) => commands.Update({title: title}))],
  ['s', 'search; nothing: all notes', () => Ask('Search: ', query, Search)],
  ['R', 'refresh', () => Refresh()],
  ['q', 'close', () => Quit()],
]
