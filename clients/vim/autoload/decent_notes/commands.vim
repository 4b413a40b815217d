vim9script
# The commands, and what they complete.

import autoload './buffer.vim'
import autoload './list.vim'
import autoload './live.vim'
import autoload './server.vim'

def All(): list<dict<any>>
  return server.Call('notebook/list').notes
enddef

# The id of the note of the current buffer, or on the current line of the list.
def Id(): string
  var id = get(list.Here(), 'id', get(live.Of(bufnr()), 'id', ''))
  if id == ''
    throw 'Decent Notes: there is no note here'
  endif
  return id
enddef

export def Edit(summary: dict<any>)
  var buf = live.BufferOf(summary.id)
  execute 'edit' fnameescape(buf > 0 ? bufname(buf) : buffer.Name(summary))
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
    var lines = found->mapnew((index, note) => $'{index + 1}. {note.title}  {join(note.tags, ", ")}  of {note.created[: 9]}')
    choice = inputlist(['Which one?'] + lines)
    redraw
  endif
  if choice >= 1 && choice <= len(found)
    Edit(found[choice - 1])
  endif
enddef

export def New(title: string)
  # Fails if this window can't show another buffer, before there is a note that nobody sees.
  enew
  Edit(server.Call('note/create', {title: title}).note)
enddef

export def Update(fields: dict<any>)
  buffer.Show(server.Call('note/update', {id: Id()}->extend(fields)).note)
  list.Refresh()
enddef

# `+a -b` adds and removes tags, `a b` are all tags, nothing shows them.
export def Tag(words: list<string>)
  if !empty(words)
    var [add, remove] = ['+', '-']->mapnew((_, sign) =>
      words->copy()->filter((_, word) => word[0] == sign)->map((_, word) => word[1 :]))
    if empty(add) && empty(remove)
      Update({tags: words})
    elseif len(add) + len(remove) == len(words)
      Update({tags: {add: add, remove: remove}})
    else
      throw 'Decent Notes: either all tags have a sign, or none has'
    endif
  endif
  var tags: list<string> = server.Call('note/get', {id: Id()}).note.tags
  echo empty(tags) ? 'no tags' : join(tags, ', ')
enddef

export def ShowLog()
  Scratch(server.log, 'log')
  normal! G
enddef

# History {{{1

export def History()
  var id = Id()
  var entries = server.Call('note/history', {id: id, limit: 1000}).entries
  var lines = entries->mapnew((_, entry) =>
    $'{entry.time->substitute('T', ' ', '')->substitute('\..*\|Z$', '', '')}  +{entry.inserted} -{entry.deleted}')
  Scratch(lines, 'history')
  b:note_id = id
  b:note_entries = entries
  nnoremap <buffer> <nowait> <CR> <ScriptCmd>server.Try(() => ShowPast())<CR>
  nnoremap <buffer> <nowait> q <C-W>c
  echo '<CR> shows the text of then, q closes'
enddef

def ShowPast()
  var entry = b:note_entries[line('.') - 1]
  var past = server.Call('note/get', {id: b:note_id, revision: entry.revision})
  Scratch(split(past.text, "\n", true), past.note.title .. ' of ' .. entry.time)
  nnoremap <buffer> <nowait> q <C-W>c
enddef

def Scratch(lines: list<string>, name: string)
  new
  setlocal buftype=nofile bufhidden=wipe noswapfile
  setline(1, lines)
  setlocal nomodifiable readonly
  b:note_title = name
  &l:statusline = '%<%{b:note_title} %r%=%-14.(%l,%c%V%) %P'
enddef

# Completion {{{1

def Complete(words: list<string>, lead: string): list<string>
  return words->filter((_, word) => stridx(tolower(word), tolower(lead)) == 0)
enddef

# What goes wrong while completing is no answer, and told by the command itself.
def Offered(Words: func(): list<string>): list<string>
  try
    return Words()
  catch /^Decent Notes: /
  endtry
  return []
enddef

export def Titles(_: string, line: string, position: number): list<string>
  # A title may have blanks: all that is there is the beginning of one, and Vim replaces the last word.
  var start = strpart(line, 0, position)->substitute('^.\{-}Note\s\+', '', '')
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
