vim9script
# The buffer of a note as a user meets it: its name, reading, writing, undo and redo, and leaving.

import autoload './edit.vim'
import autoload './live.vim'
import autoload './rest.vim'
import autoload './server.vim'
import autoload './time.vim'

# Ids of notes by the short ids in buffer names.
var ids: dict<string> = {}

# The buffer name of a note: the beginning of its id, and its title.
export def Name(summary: dict<any>): string
  var title = summary.title->substitute('[\x01-,/:-@[-^`{-\x7f]\+', '-', 'g')->strcharpart(0, 60)
  return 'note://' .. Short(summary.id) .. (title == '' ? '' : '/' .. title)
enddef

# An id with eight of the digits by which replicas differ. The whole id, if another note's begins with the same.
def Short(id: string): string
  var short = id->matchstr('^\d\+-\x\{8}\ze\x\{24}$')
  if short == '' || get(ids, short, id) != id
    return id
  endif
  ids[short] = id
  return short
enddef

# The id of the note that the current buffer's name stands for. A session may have an old name.
def Id(): string
  var word = bufname()->matchstr('^note://\zs[^/]\+')
  for isTrash in word =~ '^\d\+-\x\{8}$' ? [false, true] : []
    if !has_key(ids, word)
      var found = server.Call('notebook/list', {trashed: isTrash}).notes->mapnew((_, note) => note.id)
      if found->copy()->filter((_, id) => stridx(id, word) == 0)->len() > 1
        throw $'Decent Notes: there are several notes {word}…'
      endif
      for id in found
        Short(id)
      endfor
    endif
  endfor
  return get(ids, word, word)
enddef

# Reads the note that the current buffer's name stands for: for BufReadCmd.
export def Read()
  var buf = bufnr()
  Prepare()
  var id = Id()
  if !live.Reopen(buf, id)
    var other = live.BufferOf(id)
    if other > 0 && other != buf
      # It is there until the command is over, and may be entered again before that.
      b:note_copied = id
      if win_gettype() == 'autocmd'
        # A search as by :vimgrep reads the text without a window, and wipes out the buffer that is current then.
        edit.Fill(buf, live.Text(other))
        setlocal nomodifiable
      else
        GoTo(other)
      endif
      return
    endif
    var found = server.Call('note/get', {id: id})
    var summary: dict<any> = found.note
    var place = LastPlace(decent_notes#buffer#Name(summary))
    live.Open(buf, id)
    setpos("'\"", place)
    b:note_title = summary.title
    b:note_purged = false
    unlet! b:note_copied
    decent_notes#buffer#Show(summary)
    Rename()
    if get(g:, 'decent_notes_undo', true)
      MapUndo()
    endif
    nnoremap <buffer> ZQ <Cmd>call decent_notes#buffer#QuitKept()<CR>
    b:note_keys = get(b:, 'note_keys', []) + ['ZQ']
    # Unless the user has another mapping than that of defaults.vim.
    for key in ['<C-U>', '<C-W>']
      var mapped = maparg(key, 'i')
      if ['', '<C-G>u' .. key]->index(mapped) >= 0
        execute $'inoremap <buffer> {key} <Cmd>call decent_notes#edit#DeleteTyped("\<lt>{key[1 :]}", {empty(mapped) ? 0 : 1})<CR>'
      endif
    endfor
    if maparg('gi', 'n') == ''
      nnoremap <buffer> gi <Cmd>call decent_notes#edit#ContinueInsertion()<CR>
    endif
  endif
  if &g:statusline == ''
    setlocal statusline=%<%{decent_notes#buffer#Heading()}\ %h%m%r%{'['..decent_notes#buffer#Status()..']'}%=%-14.(%l,%c%V%)\ %P
  endif
  silent doautocmd <nomodeline> BufReadPost
  if &filetype == ''
    &filetype = get(g:, 'decent_notes_filetype', '')
  endif
enddef

# The place of the '" mark of a note of this name. Vim reads the marks that viminfo has of the current buffer, and will write them, when it looks for
# the buffer's file.
def LastPlace(name: string): list<number>
  if !exists('b:note_title') && win_gettype() == ''
    var old = bufname()
    if old != name && !exists('g:SessionLoad')
      execute 'silent noautocmd keepalt file' fnameescape(name)
      # Vim has made a new buffer with the old name.
      if bufnr($'^{old}$') > 0
        execute 'silent noautocmd bwipeout' bufnr($'^{old}$')
      endif
    endif
    silent noautocmd keepjumps keepalt edit!
    Prepare()
  endif
  return getpos("'\"")
enddef

# Sets the options that a note needs.
def Prepare()
  # 'fileformat' cannot be set in a buffer that cannot be changed, as after an attempt that failed.
  setlocal modifiable
  setlocal buftype= noendofline nofixendofline fileformat=unix noswapfile noundofile noreadonly nomodifiable bufhidden=hide
enddef

# Lines for inputlist(): notes of one title, told apart by when they were changed, their ids and their tags.
export def Choices(notes: list<dict<any>>): list<string>
  return ['Which one?'] + notes->mapnew((index, note) =>
    $'{index + 1}. {strcharpart(note.title, 0, 30)}  {time.Local(note.modified, '%m-%d %H:%M')}  {note.id[: 6]}  {get(note, "path", join(note.tags, ", "))}')
enddef

# Shows a note in the current window.
export def Edit(summary: dict<any>)
  var buf = live.BufferOf(summary.id)
  execute 'edit' fnameescape(buf > 0 ? bufname(buf) : decent_notes#buffer#Name(summary))
enddef

# Makes a note, and shows it in the current window.
export def New(title: string)
  var before = bufnr()
  # This fails if the window cannot show another buffer; there is no new note then.
  enew
  var summary: dict<any>
  try
    summary = server.Call('note/create', {title: title}).note
  catch /^Decent Notes: /
    # Text typed next must not go into an empty buffer.
    execute 'buffer' before
    throw v:exception
  endtry
  decent_notes#buffer#Edit(summary)
enddef

# Shows the buffer of a note instead of this one, which has a second name of the note: the rest of the user's command acts on the note. Vim needs this
# one until the command is over.
def GoTo(other: number)
  var buf = bufnr()
  execute 'keepalt buffer' other
  timer_start(0, (_) => Replace(buf, other))
enddef

def Replace(buf: number, other: number)
  for window in win_findbuf(buf)
    win_execute(window, 'buffer ' .. other)
  endfor
  execute 'silent! bwipeout!' buf
enddef

# Gives the current buffer the name that fits its title. Returns false if it has that name, or while a session is read, which calls
# buffers by the names it knows.
def Rename(): bool
  var old = bufname()
  var name = decent_notes#buffer#Name({id: live.Of(bufnr()).id, title: b:note_title})
  if name == old || exists('g:SessionLoad')
    return false
  endif
  execute 'silent keepalt file' fnameescape(name)
  # Vim has made a new buffer with the old name.
  execute 'silent! bwipeout' bufnr($'^{old}$')
  return true
enddef

# The current buffer was entered, or its note has a new title. Its name and filetype follow the title.
export def Entered()
  if !empty(live.Of(bufnr())) && Rename()
    silent! doautocmd <nomodeline> filetypedetect BufRead
  elseif live.BufferOf(get(b:, 'note_copied', '')) > 0
    GoTo(live.BufferOf(b:note_copied))
  endif
enddef

# The current buffer has a new name. After `:saveas` or `:file` it belongs to a file, and the note is closed.
export def Renamed()
  if (!empty(live.Of(bufnr())) || get(b:, 'note_purged', false)) && bufname() !~ '^note://'
    live.Close(bufnr())
    b:note_purged = false
    setlocal modifiable swapfile< undofile< bufhidden< statusline< completefunc< path<
    silent! iunmap <buffer> <C-U>
    for key in get(b:, 'note_keys', [])
      execute 'silent! nunmap <buffer>' key
      execute 'silent! xunmap <buffer>' key
    endfor
  endif
enddef

# Says that nothing is thrown away by `:quit!`, as it would be of a file: for QuitPre.
export def Quitting()
  if !empty(live.Of(bufnr())) && histget(':', -1) =~ '^\s*q\%[uit]!'
    TellKept()
  endif
enddef

# ZQ.
export def QuitKept()
  TellKept()
  quit!
enddef

def TellKept()
  timer_start(10, (_) => server.Tell('what was typed is kept; u in the note takes it back', 'None'))
enddef

# Undo {{{1

# The user's own keys that stand for Vim's undo or redo stand for those of the note here.
const KEYS = {u: 'undo', ':u<cr>': 'undo', ':undo<cr>': 'undo', '<cmd>undo<cr>': 'undo',
  '<c-r>': 'redo', ':red<cr>': 'redo', ':redo<cr>': 'redo', '<cmd>redo<cr>': 'redo'}

def MapUndo()
  var options = &cpoptions
  set cpoptions&vim
  nnoremap <buffer> u <Cmd>execute decent_notes#buffer#Undo('note/undo')<CR>
  nnoremap <buffer> <C-R> <Cmd>execute decent_notes#buffer#Undo('note/redo')<CR>
  b:note_keys = ['u', '<C-R>']
  for mapping in maplist()
    var method = get(KEYS, tolower(mapping.rhs), '')
    if method != '' && mapping.mode =~ '[n ]' && !mapping.buffer && !mapping.abbr
      var rhs = $"<Cmd>execute decent_notes#buffer#Undo('note/{method}')<CR>"
      mapset('n', false, extend(mapping, {rhs: rhs, buffer: 1, noremap: 1, expr: 0, mode: 'n'}))
      add(b:note_keys, mapping.lhs)
    endif
  endfor
  &cpoptions = options
enddef

# Undoes or redoes the last steps made in this buffer: `method` is note/undo or note/redo. Returns a command for :execute, empty unless the
# effect could not be waited for. An error ends a mapping or a macro, whose other keys count on the effect; it must not come from a
# function, which Vim would name in two more lines.
export def Undo(method: string): string
  var note = live.Of(bufnr())
  if empty(note)
    return ''
  endif
  try
    for _ in range(v:count1)
      if note.attachment == 0
        # Vim's own undo may take back what others did.
        throw 'Decent Notes: the program is gone, nothing can be taken back now'
      elseif !live.Reverse(note, method)
        server.Tell(method == 'note/undo' ? 'nothing of yours to take back' : 'nothing to make again', 'None')
        break
      endif
      TakenOutOfTrash(note)
    endfor
  catch /^Vim:Interrupt$/
    return 'redraw | echoerr "Decent Notes: given up waiting"'
  catch /^Decent Notes: /
    server.Log(v:exception)
    return 'redraw | echoerr ' .. string(v:exception)
  endtry
  return ''
enddef

# Sends everything and waits until it is on disk: for BufWriteCmd.
export def Write()
  var note = live.Of(bufnr())
  if empty(note) && get(b:, 'note_purged', false)
    throw 'Decent Notes: this note was forgotten; :saveas keeps its text'
  elseif empty(note)
    throw 'Decent Notes: this note is not open; :edit! opens it'
  elseif expand('<afile>') != bufname()
    throw 'Decent Notes: a note is written from its own buffer only'
  endif
  server.Start()
  silent doautocmd <nomodeline> BufWritePre
  live.Convert(note)
  live.Settle(note, 5000)
  if !live.IsSettled(note)
    throw 'Decent Notes: ' .. (server.IsSilent() ? 'not written: no answer; :NotesRestart helps'
      : 'the note is not written: ' .. (note.attachment == 0 ? 'it is offline' : note.problem ?? 'see :NotesLog'))
  endif
  server.Call('notebook/flush', {attachment: note.attachment})
  live.ShowModified(note)
  silent doautocmd <nomodeline> BufWritePost
  server.Tell($'"{strcharpart(b:note_title, 0, 40)}" written', 'None')
enddef

# Vim ends: for VimLeavePre. Buffers are still loaded if Vim is being killed.
export def Leave()
  for note in live.All()
    live.Close(note.buf)
  endfor
  server.Leave()
enddef

# Asks for the title and the path of a note, and whether it is in the trash, if it has a buffer.
export def Update(id: string)
  if live.BufferOf(id) > 0
    server.Request('note/get', {id: id}, (response) => {
      if has_key(response, 'result')
        # The buffer may get another name by it.
        rest.Do(() => decent_notes#buffer#Show(response.result.note))
      endif
    })
  endif
enddef

# The note was changed here, which takes it out of the trash.
def TakenOutOfTrash(note: dict<any>)
  if getbufvar(note.buf, 'note_trashed', false)
    decent_notes#buffer#Update(note.id)
  endif
enddef

# Shows the title and the path of a note, and whether it is in the trash, in its buffer.
export def Show(summary: dict<any>)
  var buf = live.BufferOf(summary.id)
  if buf == 0
    return
  endif
  if getbufvar(buf, 'note_trashed', false) != summary.trashed
    setbufvar(buf, 'note_trashed', summary.trashed)
    if summary.trashed
      server.Tell($'this note is in the trash; typing takes it out ("{summary.title}")', 'WarningMsg')
    endif
    redrawstatus!
  endif
  if getbufvar(buf, 'note_path', '') != get(summary, 'path', '')
    setbufvar(buf, 'note_path', get(summary, 'path', ''))
    redrawstatus!
  endif
  if getbufvar(buf, 'note_title') != summary.title
    setbufvar(buf, 'note_title', summary.title)
    # A buffer is renamed in its window. Without one, it is renamed when it is entered.
    win_execute(get(win_findbuf(buf), 0), 'call decent_notes#buffer#Entered()')
    redrawstatus!
  endif
enddef

# Some words for 'statusline': `connected`, `offline`, who else is in the note, and so on. Empty where there is no note.
export def Status(): string
  var note = live.Of(bufnr())
  return empty(note) ? (get(b:, 'note_purged', false) ? 'forgotten' : '') : note.attachment == 0 ? 'offline' : server.IsSilent() ? 'no answer' : note.needsWhole ? 'not kept' : get(b:, 'note_trashed', false) ? 'in the trash'
    : note.participants ?? 'connected'
enddef

# The path of the file of the current buffer's note, relative to the folder from which it was imported; empty if it has none.
export def Path(): string
  return empty(live.Of(bufnr())) ? '' : get(b:, 'note_path', '')
enddef

# The title of the current buffer's note, with its path, for the status line.
export def Heading(): string
  var path = decent_notes#buffer#Path()
  return get(b:, 'note_title', '') .. (path == '' ? '' : $' ({path})')
enddef

live.OnTaken(TakenOutOfTrash)
server.On('notebook/didChange', (params: dict<any>) => {
  for change in params.changed
    if !empty(filter(['title', 'trashed', 'path'], (_, word) => index(change.what, word) >= 0))
      decent_notes#buffer#Update(change.id)
    endif
  endfor
})

# See server.vim.
defcompile
