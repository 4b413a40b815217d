vim9script
# Notes in buffers: what is typed goes to the server as note/change, what others do comes as note/edit. The server merges, and a
# buffer's side of it is two numbers: `version` counts its own changes, `rev` is the last push it applied.

import autoload './cursors.vim'
import autoload './edit.vim'
import autoload './server.vim'

# Above so many bytes a text's size is sent with each change, and its hash only when the typing pauses.
const LARGE = 262'144
const PAUSE = 500
# What a text of a note can't hold: NUL (which Vim has as a line feed inside a line), surrogates, what is beyond Unicode.
const IMPOSSIBLE = "[\ud800-\udfff\U00110000-\U7fffffff]\\|\n"

# The notes in buffers, by the buffer's number. `attachment` is 0 while the server does not know the buffer, `epoch` how often it
# was attached, `inFlight` how many changes are not answered, `isUnsent` whether the buffer has something that the next change
# must send as the whole text.
var notes: dict<dict<any>> = {}
# Notes that were closed with changes in flight.
var closing: list<dict<any>> = []
# Pushes for an attachment whose number came just before them: its buffer is still being filled.
var early: list<dict<any>> = []

export def Of(buf: number): dict<any>
  return get(notes, buf, {})
enddef

# The buffer of a note, or 0.
export def BufferOf(id: string): number
  for note in values(notes)
    if note.id == id
      return note.buf
    endif
  endfor
  return 0
enddef

# A note has got another title, it seems.
export def UpdateTitle(id: string)
  if BufferOf(id) > 0
    server.Request('note/get', {id: id}, (response) => {
      if has_key(response, 'result')
        ShowTitle(response.result.note)
      endif
    })
  endif
enddef

export def ShowTitle(summary: dict<any>)
  var buf = BufferOf(summary.id)
  if buf > 0 && getbufvar(buf, 'note_title') != summary.title
    setbufvar(buf, 'note_title', summary.title)
    redrawstatus!
  endif
enddef

def Text(buf: number): string
  return getbufline(buf, 1, '$')->join("\n")
enddef

def LineCount(buf: number): number
  return buf == bufnr() ? line('$') : getbufinfo(buf)[0].linecount
enddef

# The buffer's name for a note.
export def Name(summary: dict<any>): string
  var title = summary.title->substitute('[\x01-,/:-@[-^`{-\x7f]\+', '-', 'g')->strcharpart(0, 60)
  return 'note://' .. summary.id .. (title == '' ? '' : '/' .. title)
enddef

# Opening {{{1

# Fills the current buffer, whose name says which note it is: for BufReadCmd.
export def Read()
  var buf = bufnr()
  var id = bufname()->matchstr('^note://\zs[^/]\+')
  setlocal buftype=acwrite noendofline nofixendofline fileformat=unix noswapfile noundofile noreadonly nomodifiable bufhidden=hide
  for other in values(notes)
    if other.id == id && other.buf != buf
      # A note has one buffer. Vim can't leave for another one before it has read this one.
      timer_start(0, (_) => Replace(buf, other.buf))
      return
    endif
  endfor
  var summary: dict<any> = server.Call('note/get', {id: id}).note
  early = []
  var opened = server.Call('note/open', {id: id, mode: 'edit', push: 'ranges'})
  setlocal modifiable
  var levels = &l:undolevels
  &l:undolevels = -1
  setline(1, split(opened.text, "\n", true))
  &l:undolevels = levels
  &l:modified = false
  &l:modifiable = !opened.readOnly
  b:note_title = summary.title
  if fnamemodify(bufname(), ':t') == id
    execute 'silent keepalt file' fnameescape(Name(summary))
    execute 'silent! bwipeout' bufnr('^note://' .. id .. '$')
  endif
  listener_flush(buf)
  notes[buf] = {buf: buf, id: id, attachment: opened.attachment, session: opened.session, version: 0, rev: opened.rev,
    readOnly: opened.readOnly, inFlight: 0, isUnsent: false, wholeVersion: 0, isApplying: false, isClosed: false,
    lineCount: line('$'), text: opened.text, base: opened.text, pause: 0, retry: 0, waiting: [], changes: [], steps: [],
    undone: [], block: -1, isJumping: false, hasTold: false, others: 0, epoch: 0, listener: listener_add(Listen, buf)}
  var pushes = early
  early = []
  for push in pushes
    if push.attachment == opened.attachment
      TakePush(push)
    endif
  endfor
  if get(g:, 'decent_notes_undo', true)
    nnoremap <buffer> u <ScriptCmd>Undo('note/undo')<CR>
    nnoremap <buffer> <C-R> <ScriptCmd>Undo('note/redo')<CR>
  endif
  if &g:statusline == ''
    setlocal statusline=%<%{b:note_title}\ %h%m%r[%{decent_notes#Status()}]%=%-14.(%l,%c%V%)\ %P
  endif
  doautocmd <nomodeline> BufReadPost
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

# Own changes {{{1

# Vim tells that lines were changed, also in the middle of a command: of a line with the words of the next one, which still has
# them too, when it joins the two. Sent as it is then, that would be words typed anew, and stay when their author deletes
# them. So nothing is sent before the command is over, and Vim waits.
def Listen(buf: number, _: number, _: number, _: number, changes: list<dict<number>>)
  var note = notes[buf]
  if note.isApplying
    return
  elseif empty(note.changes)
    timer_start(0, (_) => Flush(note))
  endif
  extend(note.changes, changes)
enddef

# Sends what the user did and was not sent yet. Not to be called in the middle of a command.
export def Flush(note: dict<any>)
  if note.isClosed || !bufloaded(note.buf)
    return
  endif
  listener_flush(note.buf)
  if empty(note.changes)
    return
  endif
  # One after another, as they were made, they have replaced what now are the lines from `start` up to but not including `end`.
  var start = note.changes[0].lnum
  var end = start
  var count = note.lineCount
  for change in note.changes
    start = min([start, change.lnum])
    end = max([end, change.end]) + change.added
    count += change.added
    if count == 0
      # A buffer without lines has an empty one.
      [start, end, count] = [1, 2, 1]
    endif
  endfor
  note.changes = []
  if count != LineCount(note.buf)
    # Vim has not told of all. The whole text will do.
    note.lineCount = LineCount(note.buf)
    server.Log($'a change was not told: sending the whole text of {note.id}')
    SendWhole(note)
    return
  endif
  var oldEnd = note.lineCount - (count - end)
  var lines = getbufline(note.buf, start, end - 1)
  note.lineCount = count
  if IsImpossible(lines)
    note.isUnsent = true
    timer_start(0, (_) => Clean(note))
  elseif note.isUnsent || note.attachment == 0
    SendWhole(note)
  else
    Send(note, {lines: [[start - 1, oldEnd - 1, lines]]})
  endif
enddef

# Sends a change, which the server will undo as one step.
def Send(note: dict<any>, change: dict<any>)
  Post(note, extend(change, Check(note)))
  var block = note.buf == bufnr() ? changenr() : note.block
  if block == note.block && !empty(note.steps)
    note.steps[-1] += 1
  else
    add(note.steps, 1)
    note.block = block
  endif
  note.undone = []
enddef

def Post(note: dict<any>, change: dict<any>)
  note.version += 1
  note.inFlight += 1
  var [version, epoch] = [note.version, note.epoch]
  server.Request('note/change', extend(change, {attachment: note.attachment, version: version, rev: note.rev}),
    (response) => Answered(note, version, epoch, response))
enddef

def SendWhole(note: dict<any>)
  note.isUnsent = true
  if note.attachment == 0
    return
  endif
  if IsImpossible(getbufline(note.buf, 1, '$'))
    timer_start(0, (_) => Clean(note))
    return
  endif
  note.isUnsent = false
  note.wholeVersion = note.version + 1
  Send(note, {text: Text(note.buf)})
enddef

# What tells the server whether it got the text right.
def Check(note: dict<any>): dict<any>
  var bytes = note.buf == bufnr() ? line2byte(line('$') + 1) - 1 : 0
  if bytes <= LARGE
    note.text = Text(note.buf)
    bytes = strlen(note.text)
  endif
  if bytes <= LARGE
    return {sha256: sha256(note.text)}
  endif
  note.text = ''
  timer_stop(note.pause)
  note.pause = timer_start(PAUSE, (_) => CheckLarge(note))
  return {bytes: bytes, lineCount: LineCount(note.buf)}
enddef

# The typing has paused: a change of nothing, with the hash.
def CheckLarge(note: dict<any>)
  if note.isClosed || note.attachment == 0
    return
  endif
  Flush(note)
  note.text = Text(note.buf)
  Post(note, {lines: [], sha256: sha256(note.text)})
enddef

def Answered(note: dict<any>, version: number, epoch: number, response: dict<any>)
  if epoch != note.epoch
    return
  endif
  note.inFlight -= 1
  if !has_key(response, 'error')
    note.hasTold = false
    Settle(note)
    return
  endif
  var error = response.error
  if note.isClosed
    Keep(note, error.message)
  elseif version < note.wholeVersion
    # The whole text is on its way already.
    return
  elseif error->get('data', {})->get('reason', '') == 'reopen'
    Resume(note)
  elseif error.code == -32801 && version > note.wholeVersion
    server.Log($'sending the whole text of {note.id}')
    SendWhole(note)
  else
    note.isUnsent = true
    if !note.hasTold
      note.hasTold = true
      server.Tell(error.message)
    endif
  endif
enddef

# Looks whether the server has all there is.
def Settle(note: dict<any>)
  if note.isClosed
    return
  endif
  Flush(note)
  var isSettled = note.inFlight == 0 && !note.isUnsent && note.attachment != 0
  if isSettled && note.text != ''
    note.base = note.text
  endif
  if getbufvar(note.buf, '&modified') == isSettled
    setbufvar(note.buf, '&modified', !isSettled)
  endif
enddef

# What can't be in a note {{{1

# JSON tells what is no UTF-8: it does not come back as it was.
def IsImpossible(lines: list<string>): bool
  return match(lines, IMPOSSIBLE) >= 0 || json_decode(json_encode(lines)) != lines
enddef

# Replaces what can't be in a note.
def Clean(note: dict<any>)
  if note.isClosed
    return
  endif
  for [index, line] in getbufline(note.buf, 1, '$')->items()
    if IsImpossible([line])
      var chars = line->split('\zs')->map((_, char) => IsImpossible([char]) ? "\uFFFD" : char)
      setbufline(note.buf, index + 1, join(chars, ''))
    endif
  endfor
  server.Tell('what no Unicode text can hold was replaced by U+FFFD')
  Flush(note)
enddef

# Pushes {{{1

export def TakePush(push: dict<any>)
  for note in values(notes)
    if note.attachment == push.attachment
      if !bufloaded(note.buf)
        # It went without an event. What is left is not the note's text.
        Close(note.buf)
        return
      endif
      Flush(note)
      add(note.waiting, push)
      TakeWaiting(note)
      return
    endif
  endfor
  add(early, push)
enddef

def TakeWaiting(note: dict<any>)
  if note.isClosed
    return
  elseif IsBusy(note.buf)
    timer_stop(note.retry)
    note.retry = timer_start(30, (_) => TakeWaiting(note))
    return
  endif
  Flush(note)
  while !empty(note.waiting)
    var push = remove(note.waiting, 0)
    if push.version == note.version
      if Fits(note, push)
        Apply(note, push)
      else
        server.Log($'a push does not fit: sending the whole text of {note.id}')
        SendWhole(note)
      endif
    endif
  endwhile
enddef

def Fits(note: dict<any>, push: dict<any>): bool
  var text = Text(note.buf)
  return has_key(push, 'sha256') ? sha256(text) == push.sha256
    : strlen(text) == push.bytes && LineCount(note.buf) == push.lineCount
enddef

def Apply(note: dict<any>, push: dict<any>)
  var modifiable = getbufvar(note.buf, '&modifiable')
  note.isApplying = true
  try
    setbufvar(note.buf, '&modifiable', true)
    edit.Apply(note.buf, push.ranges, note.isJumping)
    listener_flush(note.buf)
    note.rev = push.rev
  finally
    note.isApplying = false
    setbufvar(note.buf, '&modifiable', modifiable)
    note.lineCount = LineCount(note.buf)
  endtry
  note.isJumping = false
  note.text = ''
  Settle(note)
  cursors.Moved()
enddef

export def TakePeers(presence: dict<any>)
  for note in values(notes)
    if note.attachment == presence.attachment && note.version == presence.version && note.rev == presence.rev
      cursors.Show(note, presence.peers)
    endif
  endfor
enddef

# While Vim remembers line numbers for what comes next, lines must not move: an operator waits for its motion, a completion
# for a choice, :s for a confirmation, what is typed into a block for the other lines of the block.
var isBlockInsert = false

export def NoteMode()
  if v:event.old_mode[0] == "\<C-V>" && v:event.new_mode =~ '^[iR]'
    isBlockInsert = true
  elseif isBlockInsert && v:event.new_mode == 'n'
    # The other lines get their text before Vim waits for a key again.
    timer_start(0, (_) => {
      isBlockInsert = false
    })
  endif
enddef

def IsBusy(buf: number): bool
  return buf == bufnr() && (isBlockInsert || mode(true) =~ '^\%(no\|r?\)' || state('a') != '')
enddef

# Undo {{{1

# Each change message is a step for the server. What Vim's own undo would take back at once is a block of steps here.

def Undo(method: string)
  var note = notes[bufnr()]
  var times = v:count1
  Flush(note)
  if note.attachment == 0
    # Vim's own undo would take back what others did before.
    server.Tell('the program is gone, nothing can be taken back now', 'WarningMsg')
    return
  endif
  var [from, to] = method == 'note/undo' ? [note.steps, note.undone] : [note.undone, note.steps]
  for _ in range(times)
    var steps = empty(from) ? 1 : remove(from, -1)
    add(to, steps)
    for step in range(steps)
      server.Request(method, {attachment: note.attachment}, (response) => Undone(note, method, step == 0, response))
    endfor
  endfor
  note.block = -1
enddef

def Undone(note: dict<any>, method: string, isFirst: bool, response: dict<any>)
  if has_key(response, 'error')
    server.Tell(response.error.message)
  elseif response.result.done
    # Several steps are undone from the last to the first, and redone from the first to the last.
    note.isJumping = method == 'note/undo' || isFirst
  elseif isFirst
    if method == 'note/undo'
      note.undone = []
      echo 'Already at oldest change'
    else
      remove(note.steps, -1)
      echo 'Already at newest change'
    endif
  endif
enddef

# Without the server {{{1

export def GoOffline()
  for note in values(notes)
    if !getbufvar(note.buf, '&modified')
      note.base = Text(note.buf)
    endif
    note.attachment = 0
    note.epoch += 1
    note.isUnsent = note.isUnsent || note.inFlight > 0
    note.inFlight = 0
    note.waiting = []
    cursors.Clear(note)
    Settle(note)
  endfor
  for note in closing
    Keep(note, 'the program has ended')
  endfor
  closing = []
enddef

export def ResumeAll()
  for note in values(notes)
    Resume(note)
  endfor
enddef

# Opens a note again. What is typed before the answer is there is simply the next change.
def Resume(note: dict<any>)
  Flush(note)
  note.attachment = 0
  note.epoch += 1
  if IsImpossible(getbufline(note.buf, 1, '$'))
    Clean(note)
  endif
  note.isUnsent = false
  note.inFlight = 0
  server.Request('note/open', {id: note.id, mode: 'edit', push: 'ranges', resume: {session: note.session,
    version: note.version, rev: note.rev, text: Text(note.buf), baseText: note.base}}, (response) => Resumed(note, response))
enddef

def Resumed(note: dict<any>, response: dict<any>)
  if note.isClosed
    return
  elseif has_key(response, 'error')
    note.isUnsent = true
    Settle(note)
    if response.error.code == -32002
      # The process was not initialized, which is told already.
      return
    endif
    server.Tell($'{getbufvar(note.buf, 'note_title', note.id)} is offline: {response.error.message}')
    return
  endif
  extend(note, {attachment: response.result.attachment, session: response.result.session, rev: response.result.rev})
  setbufvar(note.buf, '&modifiable', !response.result.readOnly)
  if response.result->get('resumed', '') == 'conflict'
    server.Tell($'your text of {getbufvar(note.buf, 'note_title', '')} is a note of its own now: note://{response.result.copy}')
  endif
  Flush(note)
  if note.isUnsent
    SendWhole(note)
  endif
  Settle(note)
  cursors.Moved()
  redrawstatus!
enddef

# The server can save changes again.
export def SendUnsent()
  for note in values(notes)
    if note.isUnsent
      SendWhole(note)
    endif
  endfor
enddef

# Saving and leaving {{{1

def IsSettled(note: dict<any>): bool
  return note.inFlight == 0 && !note.isUnsent
enddef

# Sends everything and waits until it is on disk: for BufWriteCmd.
export def Write()
  var note = notes->get(bufnr(), {})
  if empty(note) || expand('<afile>') != bufname()
    throw 'Decent Notes: a note is written from its own buffer only'
  endif
  Flush(note)
  if note.attachment == 0
    server.Start()
    server.WaitFor(() => note.attachment != 0, 5000)
  endif
  if note.isUnsent
    SendWhole(note)
  endif
  if !server.WaitFor(() => IsSettled(note), 5000)
    throw 'Decent Notes: the note is not written: ' .. (note.attachment == 0 ? 'it is offline' : 'see :NotesLog')
  endif
  server.Call('notebook/flush', {})
  Settle(note)
  echo $'"{b:note_title}" written'
enddef

# Waits until everything in all buffers was answered, but not for what can't be sent now.
export def SettleAll(milliseconds: number)
  for note in values(notes)
    Flush(note)
    if note.isUnsent && note.attachment != 0
      SendWhole(note)
    endif
  endfor
  server.WaitFor(() => notes->values()->filter((_, note) => note.inFlight > 0)->empty(), milliseconds)
enddef

# The buffer's text goes: for BufUnload.
export def Close(buf: number)
  var note = Of(buf)
  if empty(note)
    return
  endif
  if bufloaded(buf)
    Flush(note)
    if note.isUnsent && note.attachment != 0
      SendWhole(note)
    endif
    note.text = Text(buf)
  endif
  listener_remove(note.listener)
  timer_stop(note.pause)
  timer_stop(note.retry)
  note.isClosed = true
  remove(notes, buf)
  if note.attachment != 0
    filter(closing, (_, other) => !IsSettled(other))
    add(closing, note)
    server.Request('note/close', {attachment: note.attachment}, (_) => 0)
  elseif note.isUnsent
    Keep(note, 'the server is gone')
  endif
enddef

# Writes a text that the server does not have to a file.
def Keep(note: dict<any>, reason: string)
  if IsSettled(note) && note.attachment != 0
    return
  endif
  note.inFlight = 0
  note.isUnsent = false
  var state = $XDG_STATE_HOME ?? expand('~/.local/state')
  var folder = state .. '/decent-notes/unsent'
  mkdir(folder, 'p', 0o700)
  var path = $'{folder}/{note.id}-{strftime('%Y%m%dT%H%M%S')}.txt'
  writefile(split(note.text, "\n", true), path, 'b')
  setfperm(path, 'rw-------')
  # All of the path is needed, were it longer than a line.
  echohl ErrorMsg
  echomsg $'Decent Notes: {reason}; the text is in {path}'
  echohl None
enddef

# Vim ends: for VimLeavePre.
export def Leave()
  SettleAll(3000)
  var unsent = notes->values()->filter((_, note) => !IsSettled(note))
  for note in unsent
    note.text = Text(note.buf)
    Keep(note, 'not everything was sent')
  endfor
  if !empty(unsent) && v:dying == 0
    # Vim's screen goes with Vim.
    input('Press ENTER')
  endif
  server.Leave()
enddef

export def Status(buf: number): string
  var note = Of(buf)
  return empty(note) ? '' : note.attachment == 0 ? 'offline' : note.others == 0 ? 'connected'
    : note.others == 1 ? '1 other' : note.others .. ' others'
enddef
