vim9script
# What a buffer of a note is for Vim: its name, how it is read, written, undone and left.

import autoload './live.vim'
import autoload './server.vim'

# The ids of notes by the short ones in names of buffers.
var ids: dict<string> = {}

# The buffer's name for a note: a beginning of its id that is enough, and its title.
export def Name(summary: dict<any>): string
  var title = summary.title->substitute('[\x01-,/:-@[-^`{-\x7f]\+', '-', 'g')->strcharpart(0, 60)
  return 'note://' .. Short(summary.id) .. (title == '' ? '' : '/' .. title)
enddef

# Eight of the digits by which replicas differ, unless there is another note of which they are a beginning.
def Short(id: string): string
  var short = id->matchstr('^\d\+-\x\{8}\ze\x\{24}$')
  if short == '' || get(ids, short, id) != id
    return id
  endif
  ids[short] = id
  return short
enddef

# The id of the note of which the current buffer is by its name. Names are kept in sessions.
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

# Fills the current buffer, whose name says which note it is: for BufReadCmd.
export def Read()
  var buf = bufnr()
  setlocal buftype= noendofline nofixendofline fileformat=unix noswapfile noundofile noreadonly nomodifiable bufhidden=hide
  var id = Id()
  if !live.Reopen(buf, id)
    var other = live.BufferOf(id)
    if other > 0 && other != buf
      # A note has one buffer. Vim can't leave for another one before it has read this one.
      timer_start(0, (_) => Replace(buf, other))
      return
    endif
    var summary: dict<any> = server.Call('note/get', {id: id}).note
    live.Open(buf, id)
    b:note_title = summary.title
    Show(summary)
    Rename()
    if get(g:, 'decent_notes_undo', true)
      MapUndo()
    endif
  endif
  if &g:statusline == ''
    setlocal statusline=%<%{get(b:,'note_title','')}\ %h%m%r[%{decent_notes#Status()}]%=%-14.(%l,%c%V%)\ %P
  endif
  silent doautocmd <nomodeline> BufReadPost
  if &filetype == ''
    &filetype = get(g:, 'decent_notes_filetype', '')
  endif
enddef

def Replace(buf: number, other: number)
  for window in win_findbuf(buf)
    win_execute(window, 'buffer ' .. other)
  endfor
  execute 'bwipeout!' buf
enddef

# Gives the current buffer the name that is due to its title. A session that is being read calls buffers by the names it knows.
def Rename(): bool
  var old = bufname()
  var name = Name({id: live.Of(bufnr()).id, title: b:note_title})
  if name == old || exists('g:SessionLoad')
    return false
  endif
  execute 'silent keepalt file' fnameescape(name)
  # Vim keeps the old name for a buffer of its own.
  execute 'silent! bwipeout' bufnr($'^{old}$')
  return true
enddef

# The current buffer has been entered, or its note has another title: its name follows, and its filetype.
export def Entered()
  if !empty(live.Of(bufnr())) && Rename()
    silent! doautocmd <nomodeline> filetypedetect BufRead
  endif
enddef

# After `:saveas` or `:file` the buffer is a file's, and the note has none.
export def Renamed()
  if !empty(live.Of(bufnr())) && bufname() !~ '^note://'
    live.Close(bufnr())
    setlocal swapfile< undofile< bufhidden< statusline<
    for key in get(b:, 'note_keys', [])
      execute 'silent! nunmap <buffer>' key
    endfor
  endif
enddef

# Undo {{{1

# Keys of the user's own which mean Vim's undo mean that of notes here.
const KEYS = {u: 'undo', ':u<cr>': 'undo', ':undo<cr>': 'undo', '<cmd>undo<cr>': 'undo',
  '<c-r>': 'redo', ':red<cr>': 'redo', ':redo<cr>': 'redo', '<cmd>redo<cr>': 'redo'}

def MapUndo()
  var options = &cpoptions
  set cpoptions&vim
  nnoremap <buffer> u <Cmd>call decent_notes#buffer#Undo('note/undo')<CR>
  nnoremap <buffer> <C-R> <Cmd>call decent_notes#buffer#Undo('note/redo')<CR>
  b:note_keys = ['u', '<C-R>']
  for mapping in maplist()
    var method = get(KEYS, tolower(mapping.rhs), '')
    if method != '' && mapping.mode =~ '[n ]' && !mapping.buffer && !mapping.abbr
      var rhs = $"<Cmd>call decent_notes#buffer#Undo('note/{method}')<CR>"
      mapset('n', false, extend(mapping, {rhs: rhs, buffer: 1, noremap: 1, expr: 0, mode: 'n'}))
      add(b:note_keys, mapping.lhs)
    endif
  endfor
  &cpoptions = options
enddef

# Has the server take back what was done here last, or do it again. What that does to the text comes as a push.
export def Undo(method: string)
  var note = live.Of(bufnr())
  var times = v:count1
  if empty(note)
    return
  endif
  live.Flush(note)
  if note.attachment == 0
    # Vim's own undo would take back what others did before.
    server.Tell('the program is gone, nothing can be taken back now', 'WarningMsg')
    return
  endif
  for _ in range(times)
    server.Request(method, {attachment: note.attachment}, (response) => {
      if has_key(response, 'error')
        server.Tell(response.error.message)
      elseif response.result.done
        note.isJumping = true
        Changed(note)
      else
        server.Tell(method == 'note/undo' ? 'nothing of yours to take back' : 'nothing to make again', 'None')
      endif
    })
  endfor
enddef

# Puts a text into an empty buffer, as what cannot be undone.
export def Fill(buf: number, text: string)
  var levels = getbufvar(buf, '&undolevels')
  setbufvar(buf, '&modifiable', true)
  setbufvar(buf, '&undolevels', -1)
  setbufline(buf, 1, split(text, "\n", true))
  setbufvar(buf, '&undolevels', levels)
  setbufvar(buf, '&modified', false)
enddef

# Sends everything and waits until it is on disk: for BufWriteCmd.
export def Write()
  var note = live.Of(bufnr())
  if empty(note)
    throw 'Decent Notes: this note is not open; :edit! opens it'
  elseif expand('<afile>') != bufname()
    throw 'Decent Notes: a note is written from its own buffer only'
  endif
  server.Start()
  silent doautocmd <nomodeline> BufWritePre
  live.SendUnsent(note)
  server.WaitFor(() => !live.IsUnderWay(note), 5000)
  if !live.IsSettled(note)
    throw 'Decent Notes: the note is not written: ' .. (note.attachment == 0 ? 'it is offline' : note.cause ?? 'see :NotesLog')
  endif
  server.Call('notebook/flush')
  live.Settle(note)
  silent doautocmd <nomodeline> BufWritePost
  server.Tell($'"{strcharpart(b:note_title, 0, 40)}" written', 'None')
enddef

# Writes a text that the server does not have to a file.
export def Keep(id: string, text: string)
  var state = $XDG_STATE_HOME ?? expand('~/.local/state')
  var folder = state .. '/decent-notes/unsent'
  mkdir(folder, 'p', 0o700)
  var path = $'{folder}/{id}-{strftime('%Y%m%dT%H%M%S')}.txt'
  writefile(split(text, "\n", true), path, 'b')
  setfperm(path, 'rw-------')
  if v:exiting == v:null || v:dying > 0
    server.Tell($'what could not be sent is in a file: {fnamemodify(path, ':~')}')
    return
  endif
  # All of the path is needed, were it longer than a line, and Vim's screen goes with Vim.
  echohl ErrorMsg
  echomsg $'Decent Notes: not everything could be sent; the text is in {path}'
  echohl None
  input('Press ENTER')
enddef

# Vim ends: for VimLeavePre. As a rule all buffers have been unloaded before; not so when Vim is killed.
export def Leave()
  for note in live.All()
    live.Close(note.buf)
  endfor
  server.Leave()
enddef

# A note has got another title, or was put into the trash or taken out, it seems.
export def Update(id: string)
  if live.BufferOf(id) > 0
    server.Request('note/get', {id: id}, (response) => {
      if has_key(response, 'result')
        Show(response.result.note)
      endif
    })
  endif
enddef

# Something was changed here, which takes a note out of the trash.
export def Changed(note: dict<any>)
  if getbufvar(note.buf, 'note_trashed', false)
    Update(note.id)
  endif
enddef

# Shows what a note is, where it is shown.
export def Show(summary: dict<any>)
  var buf = live.BufferOf(summary.id)
  if buf == 0
    return
  endif
  if getbufvar(buf, 'note_trashed', false) != summary.trashed
    setbufvar(buf, 'note_trashed', summary.trashed)
    if summary.trashed
      server.Tell($'"{strcharpart(summary.title, 0, 30)}" is in the trash now; typing takes it out', 'WarningMsg')
    endif
    redrawstatus!
  endif
  if getbufvar(buf, 'note_title') != summary.title
    setbufvar(buf, 'note_title', summary.title)
    # A buffer gets its name where it is shown, now or later.
    win_execute(get(win_findbuf(buf), 0), 'call decent_notes#buffer#Entered()')
    redrawstatus!
  endif
enddef

# For the status line.
export def Status(): string
  var note = live.Of(bufnr())
  return empty(note) ? '' : note.attachment == 0 ? 'offline' : note.isUnsent ? 'not kept' : get(b:, 'note_trashed', false) ? 'in the trash'
    : note.others == 0 ? 'connected' : note.others == 1 ? '1 other' : note.others .. ' others'
enddef

# See server.vim.
defcompile
