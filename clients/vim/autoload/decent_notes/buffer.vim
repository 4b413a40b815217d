vim9script
# What a buffer of a note is for Vim: its name, how it is read, written, undone and left.

import autoload './live.vim'
import autoload './server.vim'

# The buffer's name for a note.
export def Name(summary: dict<any>): string
  var title = summary.title->substitute('[\x01-,/:-@[-^`{-\x7f]\+', '-', 'g')->strcharpart(0, 60)
  return 'note://' .. summary.id .. (title == '' ? '' : '/' .. title)
enddef

# Fills the current buffer, whose name says which note it is: for BufReadCmd.
export def Read()
  var buf = bufnr()
  var id = bufname()->matchstr('^note://\zs[^/]\+')
  setlocal buftype=acwrite noendofline nofixendofline fileformat=unix noswapfile noundofile noreadonly nomodifiable bufhidden=hide
  var other = live.BufferOf(id)
  if other > 0 && other != buf
    # A note has one buffer. Vim can't leave for another one before it has read this one.
    timer_start(0, (_) => Replace(buf, other))
    return
  endif
  var summary: dict<any> = server.Call('note/get', {id: id}).note
  live.Open(buf, id)
  b:note_title = summary.title
  if fnamemodify(bufname(), ':t') == id
    execute 'silent keepalt file' fnameescape(Name(summary))
    execute 'silent! bwipeout' bufnr('^note://' .. id .. '$')
  endif
  if get(g:, 'decent_notes_undo', true)
    nnoremap <buffer> u <ScriptCmd>Undo('note/undo')<CR>
    nnoremap <buffer> <C-R> <ScriptCmd>Undo('note/redo')<CR>
  endif
  if &g:statusline == ''
    setlocal statusline=%<%{b:note_title}\ %h%m%r[%{decent_notes#Status()}]%=%-14.(%l,%c%V%)\ %P
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

# After `:saveas` or `:file` the buffer is a file's, and the note has none.
export def Renamed()
  if !empty(live.Of(bufnr())) && bufname() !~ '^note://'
    live.Close(bufnr())
    setlocal buftype= swapfile< undofile< bufhidden< statusline<
    silent! nunmap <buffer> u
    silent! nunmap <buffer> <C-R>
  endif
enddef

# A session has made an empty buffer that is named like the note.
export def Restored()
  if empty(live.Of(bufnr()))
    Read()
  endif
enddef

# Has the server take back what was done here last, or do it again. What that does to the text comes as a push.
def Undo(method: string)
  var note = live.Of(bufnr())
  var times = v:count1
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
    throw 'Decent Notes: the note is not written: ' .. (note.attachment == 0 ? 'it is offline' : 'see :NotesLog')
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
  # All of the path is needed, were it longer than a line.
  echohl ErrorMsg
  echomsg $'Decent Notes: not everything could be sent; the text is in {path}'
  echohl None
  if v:exiting != v:null && v:dying == 0
    # Vim's screen goes with Vim.
    input('Press ENTER')
  endif
enddef

# Vim ends: for VimLeavePre. As a rule all buffers have been unloaded before; not so when Vim is killed.
export def Leave()
  for note in live.All()
    live.Close(note.buf)
  endfor
  server.Leave()
enddef

# A note has got another title, it seems.
export def UpdateTitle(id: string)
  if live.BufferOf(id) > 0
    server.Request('note/get', {id: id}, (response) => {
      if has_key(response, 'result')
        ShowTitle(response.result.note)
      endif
    })
  endif
enddef

export def ShowTitle(summary: dict<any>)
  var buf = live.BufferOf(summary.id)
  if buf > 0 && getbufvar(buf, 'note_title') != summary.title
    setbufvar(buf, 'note_title', summary.title)
    redrawstatus!
  endif
enddef

# For the status line.
export def Status(): string
  var note = live.Of(bufnr())
  return empty(note) ? '' : note.attachment == 0 ? 'offline' : note.others == 0 ? 'connected'
    : note.others == 1 ? '1 other' : note.others .. ' others'
enddef
