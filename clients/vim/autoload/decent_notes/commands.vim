vim9script
# The commands, and their completion.

import autoload './buffer.vim'
import autoload './edit.vim'
import autoload './links.vim'
import autoload './list.vim'
import autoload './live.vim'
import autoload './places.vim'
import autoload './purge.vim'
import autoload './server.vim'
import autoload './time.vim'

def All(): list<dict<any>>
  return server.Call('notebook/list').notes
enddef

# The id of the note in the current buffer, or on the cursor's line of the list.
def Id(): string
  var id = get(list.Here(), 'id', get(live.Of(bufnr()), 'id', ''))
  if id == ''
    throw 'Decent Notes: there is no note here'
  endif
  return id
enddef

# Opens a note by its title or its id.
export def Open(name: string)
  var all = All()
  var found = all->copy()->filter((_, note) => note.title == name || note.id == name)
  if empty(found)
    found = filter(all, (_, note) => note.title ==? name)
  endif
  if empty(found)
    throw $'Decent Notes: there is no note "{name}"'
  endif
  var choice = 1
  if len(found) > 1
    choice = inputlist(buffer.Choices(found))
    redraw
  endif
  if choice >= 1 && choice <= len(found)
    buffer.Edit(found[choice - 1])
  endif
enddef

# Gives the note here another title.
export def Retitle(title: string)
  list.Retitle(Id(), title)
enddef

# Changes the tags or the priority of the note here.
export def Update(fields: dict<any>)
  var summary = server.Call('note/update', {id: Id()}->extend(fields)).note
  buffer.Show(summary)
  list.Update(summary)
enddef

# `+a -b` adds and removes tags, `a b` sets them; no words show them.
export def Tag(words: list<string>)
  if !empty(words)
    var [add, remove] = ['+', '-']->mapnew((_, sign) =>
      words->copy()->filter((_, word) => word[0] == sign)->map((_, word) => word[1 :]))
    if empty(add) && empty(remove)
      decent_notes#commands#Update({tags: words})
    elseif len(add) + len(remove) == len(words)
      decent_notes#commands#Update({tags: {add: add, remove: remove}})
    else
      throw 'Decent Notes: either all tags have a sign, or none has'
    endif
  endif
  var tags: list<string> = server.Call('note/get', {id: Id()}).note.tags
  echo empty(tags) ? 'no tags' : join(tags, ', ')
enddef

# Puts the note here into the trash.
export def Delete()
  var id = Id()
  server.Call('note/delete', {id: id})
  buffer.Update(id)
  server.Tell('in the trash (u in the list); typing takes it out', 'None')
enddef

# Opens the note of this day, which the program makes if there is none.
export def Today()
  server.Start()
  var id = server.Say('daily')
  # Another process has made it: it is here in a moment.
  for _ in range(100)
    var found: list<dict<any>> = server.Call('notebook/find', {name: id, limit: 1}).notes
    if !empty(found)
      buffer.Edit(found[0])
      return
    endif
    sleep 20m
  endfor
  throw $'Decent Notes: the note of this day, {id}, is not here yet'
enddef

# Has the note here forgotten, after a question, if it is in the trash.
export def Purge()
  var note: dict<any> = server.Call('note/get', {id: Id()}).note
  if !note.trashed
    throw 'Decent Notes: only notes in the trash; :NoteDelete puts it there'
  endif
  purge.Ask([note], list.Refresh)
enddef

# Restarts the program. It gets what it lacks first.
export def Restart()
  if !server.IsSilent()
    live.SettleAll(1000)
  endif
  server.Restart()
  server.Tell('the program was started again', 'None')
enddef

export def ShowLog()
  Scratch(server.log, 'log')
  normal! G
enddef

# Looks for a text in all notes, and puts the places into the quickfix list.
export def Grep(text: string)
  var result = server.Call('notebook/search', {query: text, mode: 'text', limit: places.MOST})
  var matches: list<dict<any>> = result.matches->mapnew((_, it) => ({note: it.note, ranges: it.ranges, line: it.snippet}))
  places.Show(':NoteGrep ' .. text, matches, result.more, $'nothing has "{text}"')
enddef

# Puts the links that lead to the note here into the quickfix list.
export def Backlinks()
  links.Backlinks(Id())
enddef

# History {{{1

# The first line of a history.
const PAST_KEYS = '<CR> shows the text of then, r brings it back, q leaves'

export def History()
  var id = Id()
  var present = server.Call('note/get', {id: id})
  var entries = server.Call('note/history', {id: id, limit: 1000}).entries
  Scratch([PAST_KEYS] + entries->mapnew((_, entry) => Line(entry)), 'history')
  cursor(2, 1)
  extend(b:, {note_id: id, note_base: present.revision, note_entries: entries})
  Map('<CR>', 'server.Try(() => ShowPast())')
  Map('r', 'server.Try(() => BringBack(EntryHere().revision))')
enddef

# The entry of the history on the cursor's line.
def EntryHere(): dict<any>
  if line('.') == 1 || empty(b:note_entries)
    throw 'Decent Notes: there is nothing on this line'
  endif
  return b:note_entries[line('.') - 2]
enddef

def Line(entry: dict<any>): string
  var author = entry->get('author', {})->get('name', '')
  return $'{Local(entry.time)}  +{entry.inserted} -{entry.deleted}  {entry.what->join(", ")}  {author}'->trim(' ', 2)
enddef

def Local(at: string): string
  return time.Local(at, '%Y-%m-%d %H:%M:%S')
enddef

def ShowPast()
  var [id, base, entry] = [b:note_id, b:note_base, EntryHere()]
  var past = server.Call('note/get', {id: id, revision: entry.revision})
  Scratch(split(past.text, "\r\\?\n", true), past.note.title .. ' of ' .. Local(entry.time) .. ' (r brings it back, q leaves)')
  extend(b:, {note_id: id, note_base: base, note_revision: entry.revision})
  Map('r', 'server.Try(() => BringBack(b:note_revision))')
enddef

# Makes a text of the past the text of the note. If the note has a buffer, this is an edit of the buffer, which can be undone. Otherwise
# it is an edit of the text at the time when the history was shown, so that later changes by others stay.
def BringBack(revision: string)
  var [id, base] = [b:note_id, b:note_base]
  var text = server.Call('note/get', {id: id, revision: revision}).text
  var buf = live.BufferOf(id)
  if buf == 0
    server.Call('note/setText', {id: id, text: text, base: base})
    server.Tell('the text of then is back', 'None')
  elseif !getbufvar(buf, '&modifiable')
    throw 'Decent Notes: this note cannot be changed'
  else
    edit.SetLines(buf, 1, getbufline(buf, 1, '$'), split(text, live.Of(buf).hidesReturns ? "\r\\?\n" : "\n", true))
    server.Tell('the text of then is back; u in the note undoes that', 'None')
  endif
enddef

def Scratch(lines: list<string>, name: string)
  new
  setlocal buftype=nofile bufhidden=wipe noswapfile
  setline(1, lines)
  setlocal nomodifiable readonly
  b:note_title = name
  &l:statusline = "%<%{get(b:, 'note_title', '')} %r%=%-14.(%l,%c%V%) %P"
  Map('q', 'close')
enddef

def Map(key: string, command: string)
  var options = &cpoptions
  set cpoptions&vim
  execute $'nnoremap <buffer> <nowait> {key} <ScriptCmd>{command}<CR>'
  &cpoptions = options
enddef

# Completion {{{1

def Complete(words: list<string>, lead: string): list<string>
  return words->filter((_, word) => stridx(tolower(word), tolower(lead)) == 0)
enddef

# Words to complete; none after an error, which the command itself will report.
def Offered(Words: func(): list<string>): list<string>
  try
    return Words()
  catch /^Decent Notes: /
  endtry
  return []
enddef

export def Titles(_: string, line: string, position: number): list<string>
  # A title may have blanks. All words typed so far are its beginning, but Vim replaces only the last one.
  var start = strpart(line, 0, position)->substitute('\C^.\{-}Note\s\+', '', '')
  var before = strlen(start) - strlen(start->matchstr('\S*$'))
  return Offered(() => All()->mapnew((_, note) => note.title)->Complete(start)->uniq()
    ->map((_, title) => strpart(title, before)))
enddef

export def Title(lead: string, _: string, _: number): list<string>
  return [get(b:, 'note_title', '')]->Complete(lead)
enddef

def AllTags(): list<string>
  var tags = copy(server.suggestedTags)
  for note in All()
    extend(tags, note.tags)
  endfor
  return tags->sort()->uniq()
enddef

export def Tags(lead: string, _: string, _: number): list<string>
  var sign = lead =~ '^[+-]' ? lead[0] : ''
  return Offered(AllTags)->map((_, tag) => sign .. escape(tag, ' \'))->Complete(lead)
enddef

export def Priorities(lead: string, _: string, _: number): list<string>
  return ['low', 'normal', 'high']->Complete(lead)
enddef

# See server.vim.
defcompile
