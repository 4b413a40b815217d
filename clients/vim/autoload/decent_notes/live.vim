vim9script
# Open notes: what the user types goes to the server as note/change, what others do comes back as note/edit. The server merges. The
# client's side is a few fields for each buffer. clients/README.md has the table of them, the states, and the transitions.

import autoload './edit.vim'
import autoload './participants.vim'
import autoload './rest.vim'
import autoload './server.vim'
import autoload './unsent.vim'

# A text of more bytes is sent with its size; its hash follows when the typing pauses for so many milliseconds.
const LARGE = 262'144
const PAUSE = 500
# A push that had to wait is asked for again after so many milliseconds. Vim redraws a command line that is being typed each time.
const WAIT = 100
# More changes than BURST within MOMENT milliseconds in Insert mode are no typing; listening stops then for another moment.
const BURST = 20
const MOMENT = 100
# A text that is not settled is written to a file after one to two times so many milliseconds.
const KEEP = 400
# The cursor's place is sent at most once in so many milliseconds.
const INTERVAL = 100

# The open notes by their buffers' numbers. Fields of all clients (see clients/README.md):
#   buf, id, attachment, isOpening, version, rev, answered, whole, needsWhole, pending, skipped, lineCount, base, problem,
#   resumeToken, hidesReturns, isJumping, participants
# Fields of this client:
#   text           the text that was sent last or is to be sent; of a large text the one that was hashed last
#   readOnly       true if the note cannot be changed here
#   block          Vim's undo sequence number when the last change was sent: equal numbers are one step of undo
#   timer          the timer that will send a change of nothing
#   isClosing      true while the buffer is being unloaded
#   isReversing    true while the user waits for the effect of an undo or a redo
#   kept           the name of the files that have the text while it is not settled; empty without any
#   written        what these files have: the buffer's tick of changes, the version and the rev
#   keeper         the timer that will write them
#   checked        the version when that timer was set; without an answer for so long it is kept
#   listener       Vim's id of the listener
#   since, told    the beginning of the present moment, and how many changes Vim has reported in it
#   isBurst        true if listening is to stop for a moment
#   before         the lines when listening stopped; [] while it goes on
var notes: dict<dict<any>> = {}

# Notes whose buffers were unloaded a moment ago, by buffer number: `:edit!` loads them again in the same command.
var unloaded: dict<dict<any>> = {}

# Called with a note when the server has taken a change of it.
var Taken: func = (_) => 0

# Sets the function that is called with a note when the server has taken a change of it.
export def OnTaken(Handler: func)
  Taken = Handler
enddef

# The note of a buffer, or {}.
export def Of(buf: number): dict<any>
  return get(notes, buf, {})
enddef

# All open notes.
export def All(): list<dict<any>>
  return values(notes)
enddef

# The buffer of a note, or 0.
export def BufferOf(id: string): number
  return get(Find((note) => note.id == id), 'buf', 0)
enddef

def Find(Is: func(dict<any>): bool): dict<any>
  return notes->values()->filter((_, note) => Is(note))->get(0, {})
enddef

# The text of a buffer.
export def Text(buf: number): string
  return getbufline(buf, 1, '$')->join("\n")
enddef

# The bytes of the text of a buffer. Of the current one Vim knows them without reading the text.
def Size(buf: number): number
  # Vim counts the carriage returns of a DOS file.
  return buf == bufnr() && &fileformat == 'unix' ? line2byte(line('$') + 1) - 1 : strlen(decent_notes#live#Text(buf))
enddef

# States {{{1

# True if the server lacks something that was done in the buffer, as far as it has answered.
def HasUnsent(note: dict<any>): bool
  return note.needsWhole || note.answered != note.version || !empty(note.pending) || !empty(note.before)
enddef

# True if the server has everything that was done in the buffer.
export def IsSettled(note: dict<any>): bool
  return note.attachment != 0 && !HasUnsent(note)
enddef

# True if an answer is expected that may settle the note.
export def IsUnderWay(note: dict<any>): bool
  return note.isOpening || note.answered < note.version || (note.attachment == 0 && server.IsStarting())
enddef

# Sets 'modified' to true as long as the note is not settled.
export def ShowModified(note: dict<any>)
  if !bufloaded(note.buf)
    return
  endif
  # Changes that Vim has not reported yet count as pending.
  listener_flush(note.buf)
  if getbufvar(note.buf, '&modified') == decent_notes#live#IsSettled(note)
    setbufvar(note.buf, '&modified', !decent_notes#live#IsSettled(note))
  endif
  if note.kept != '' && decent_notes#live#IsSettled(note)
    unsent.Remove(note.kept)
    note.kept = ''
  endif
enddef

# Opening {{{1

# Opens a note for an empty buffer, and fills the buffer.
export def Open(buf: number, id: string)
  var note: dict<any> = {buf: buf, id: id, attachment: 0, isOpening: false, version: 0, rev: 0, answered: 0, whole: 0,
    needsWhole: false, text: '', problem: '', base: '', lineCount: 1, pending: {}, skipped: -1, block: -1, timer: 0,
    participants: '', isBurst: false, since: reltime(), told: 0, before: [],
    kept: '', written: [-1, -1, -1], keeper: 0, checked: 0, isClosing: false, isReversing: false, isJumping: false,
    hidesReturns: false}
  # The result is taken before any other message is handled: the next message may be a push for this attachment.
  server.Call('note/open', {id: id, mode: 'edit', push: 'rangesOrLines', hidesReturns: true}, (result) => {
    [note.base, note.text] = [result.text, result.text]
    Begin(note)
    Attach(note, result)
  })
enddef

def Begin(note: dict<any>)
  edit.Fill(note.buf, note.base)
  note.lineCount = getbufinfo(note.buf)[0].linecount
  note.listener = listener_add(Listen, note.buf)
  notes[note.buf] = note
enddef

# Goes on with the note `id` if its buffer was unloaded by the same command, and fills the buffer again. The attachment stays, and
# with it the steps of undo. Returns false if there is no such note.
export def Reopen(buf: number, id: string): bool
  var note = get(unloaded, buf, {})
  if get(note, 'id', '') != id
    return false
  endif
  remove(unloaded, buf)
  extend(note, {isClosing: false, block: -1})
  Begin(note)
  Unlock(note)
  ShowFormat(note)
  # Pushes that came meanwhile were not applied. A change of nothing makes the server send them again.
  SendChange(note, {lines: []})
  return true
enddef

# Takes over the answer to note/open.
def Attach(note: dict<any>, result: dict<any>)
  var isNew = get(note, 'readOnly', null) != result.readOnly
  extend(note, {attachment: result.attachment, resumeToken: result.session, rev: result.rev, isOpening: false, needsWhole: false,
    readOnly: result.readOnly, hidesReturns: get(result, 'hidesReturns', false)})
  if isNew
    Unlock(note)
  endif
  ShowFormat(note)
enddef

# Shows the note as a DOS file if its carriage returns are hidden.
def ShowFormat(note: dict<any>)
  var format = note.hidesReturns ? 'dos' : 'unix'
  if getbufvar(note.buf, '&fileformat') != format
    var modifiable = getbufvar(note.buf, '&modifiable')
    setbufvar(note.buf, '&modifiable', true)
    setbufvar(note.buf, '&fileformat', format)
    setbufvar(note.buf, '&modifiable', modifiable)
    # Vim counts that as a change of the file.
    setbufvar(note.buf, '&modified', false)
    decent_notes#live#ShowModified(note)
  endif
enddef

# Lets the buffer be changed if the note may be, and unless Vim was started with -M.
def Unlock(note: dict<any>)
  setbufvar(note.buf, '&modifiable', !note.readOnly && &g:modifiable)
enddef

# Own changes {{{1

# Vim reports changed lines, also in the middle of a command. While it joins two lines, the first has the words of the second, which
# still has them too. Sent at that moment, they would count as typed anew, and stay when their author deletes them. So nothing is
# sent before the command is over.
def Listen(buf: number, _: number, _: number, _: number, changes: list<dict<number>>)
  var note = notes[buf]
  # A paste may come in small pieces, with time between them to report each.
  if reltimefloat(reltime(note.since)) * 1000 > MOMENT
    extend(note, {since: reltime(), told: 0})
  endif
  note.told += len(changes)
  if note.told > BURST && mode() =~ '^[iR]'
    note.isBurst = true
  endif
  RecordChanges(note, changes)
enddef

# Adds changes to `pending`, and sends it when the command is over.
def RecordChanges(note: dict<any>, changes: list<dict<number>>)
  KeepSoon(note)
  if empty(note.pending)
    note.pending = {head: note.lineCount, tail: note.lineCount, count: note.lineCount}
    timer_start(0, (_) => note.isBurst ? Deafen(note) : decent_notes#live#SendPending(note))
  endif
  # Each change refers to the lines after the one before it.
  var pending = note.pending
  for change in changes
    pending.head = min([pending.head, change.lnum - 1])
    pending.tail = min([pending.tail, pending.count - change.end + 1])
    pending.count += change.added
    if pending.count == 0
      # A buffer without lines has one empty line.
      [pending.head, pending.tail, pending.count] = [0, 0, 1]
    endif
  endfor
enddef

# Stops listening for a moment. Vim reports each character of a paste in Insert mode by a dictionary, which takes several times as long
# as the paste itself. A comparison of the lines before and after shows what was pasted.
def Deafen(note: dict<any>)
  note.isBurst = false
  if bufloaded(note.buf) && empty(note.before)
    listener_flush(note.buf)
    listener_remove(note.listener)
    note.before = getbufline(note.buf, 1, '$')
    timer_start(MOMENT, (_) => decent_notes#live#SendPending(note))
  endif
enddef

# Brings `pending` up to date, and listens again.
def Hear(note: dict<any>)
  if empty(note.before)
    listener_flush(note.buf)
    return
  endif
  var [before, after] = [note.before, getbufline(note.buf, 1, '$')]
  note.before = []
  note.listener = listener_add(Listen, note.buf)
  if before != after
    var head = edit.Trim(before, after)
    RecordChanges(note, [{lnum: head + 1, end: head + len(before) + 1, added: len(after) - len(before)}])
  endif
enddef

# Sends what is pending. Must not be called in the middle of a command.
export def SendPending(note: dict<any>)
  if !bufloaded(note.buf)
    return
  endif
  Hear(note)
  if empty(note.pending)
    return
  endif
  var [pending, before] = [note.pending, note.lineCount]
  note.pending = {}
  note.lineCount = getbufinfo(note.buf)[0].linecount
  if note.needsWhole || note.attachment == 0
    SendWhole(note)
  elseif pending.count != note.lineCount
    server.Log($'a change was not reported: sending the whole text of {note.id}')
    SendWhole(note)
  else
    var lines = Lines(note, pending.head + 1, pending.count - pending.tail)
    SendChange(note, {lines: [[pending.head, before - pending.tail, lines]]})
  endif
enddef

# Sends the whole text, or has it sent once the note is attached.
def SendWhole(note: dict<any>)
  if note.attachment == 0
    NeedWhole(note)
    return
  endif
  note.needsWhole = false
  note.whole = note.version + 1
  SendChange(note, {text: Lines(note, 1, note.lineCount)->join("\n")})
enddef

def NeedWhole(note: dict<any>)
  note.needsWhole = true
  # A buffer has no text any more when Vim reports that it is being killed. The text that was sent last is kept then.
  if bufloaded(note.buf)
    note.text = decent_notes#live#Text(note.buf)
  endif
enddef

# Sends a change. A change of nothing always has the hash.
def SendChange(note: dict<any>, change: dict<any>)
  note.version += 1
  extend(change, {attachment: note.attachment, version: note.version, rev: note.rev})
  var isNothing = get(change, 'lines', [0]) == []
  # Changes that Vim's own undo would take back at once are one step for the server.
  var block = note.buf == bufnr() ? changenr() : -1
  if isNothing || (block == note.block && block >= 0 && !has_key(change, 'text'))
    change.sameStep = true
  endif
  note.block = block
  timer_stop(note.timer)
  var text = ''
  var bytes = note.buf == bufnr() ? Size(note.buf) : 0
  if bytes > LARGE && !isNothing
    extend(change, {bytes: bytes, lineCount: note.lineCount})
    ConfirmIn(note, PAUSE)
  else
    text = decent_notes#live#Text(note.buf)
    change.sha256 = sha256(text)
    note.text = text
  endif
  server.Request('note/change', change, (response) => TakeAnswer(note, change, text, response))
enddef

# Sends a change of nothing after so many milliseconds. It carries the hash of a large text, and makes the server send a push again
# that was not applied.
def ConfirmIn(note: dict<any>, milliseconds: number)
  timer_stop(note.timer)
  note.timer = rest.After(milliseconds, () => {
    if decent_notes#live#Of(note.buf) isnot note || note.attachment == 0 || note.needsWhole
      return
    elseif !rest.IsReached()
      rest.RenewIfIdle()
      ConfirmIn(note, WAIT)
    else
      decent_notes#live#SendPending(note)
      SendChange(note, {lines: []})
    endif
  })
enddef

def Reason(response: dict<any>): string
  return response.error->get('data', {})->get('reason', '')
enddef

# The server has answered a change.
def TakeAnswer(note: dict<any>, change: dict<any>, text: string, response: dict<any>)
  if change.attachment != note.attachment
    return
  endif
  note.answered = change.version
  if !has_key(response, 'error')
    if note.problem != ''
      redrawstatus!
    endif
    note.problem = ''
    Taken(note)
    if change.version == note.version && has_key(change, 'sha256')
      note.base = text
    endif
  elseif !bufloaded(note.buf)
    # There is no text to be sent again. An empty one would delete the whole text of the note.
    NeedWhole(note)
  elseif change.version < note.whole
    # The whole text was sent after this change.
    return
  elseif Reason(response) == 'purged'
    Purged(note)
    return
  elseif Reason(response) == 'reopen'
    Resume(note)
  elseif response.error.code == -32801 && change.version > note.whole
    server.Log($'sending the whole text of {note.id}')
    SendWhole(note)
  else
    NeedWhole(note)
    # Told once, until a change is taken.
    if note.problem == ''
      server.Tell(response.error.message)
    endif
    note.problem = response.error.message
    redrawstatus!
  endif
  decent_notes#live#ShowModified(note)
enddef

# Some lines of the text. What no note can hold is replaced in the buffer first.
def Lines(note: dict<any>, first: number, last: number): list<string>
  var replacements = edit.Replacements(note.buf, first, last)
  if !empty(replacements)
    ApplyEdits(note, replacements, false)
    server.Tell('what no Unicode text can hold was replaced by U+FFFD')
  endif
  return getbufline(note.buf, first, last)
enddef

# Pushes {{{1

# Applies a push, or has it come again.
def TakePush(push: dict<any>)
  var note = Find((one) => one.attachment == push.attachment)
  if empty(note) || note.isClosing
    return
  elseif !bufloaded(note.buf)
    # The buffer was unloaded without an event.
    decent_notes#live#Close(note.buf)
    return
  endif
  decent_notes#live#SendPending(note)
  if push.version != note.version || push.version == note.skipped
    # It has crossed a change. The server sends another one.
    return
  elseif !note.isReversing && !rest.IsReached()
    SkipPush(note)
  elseif !Fits(note, push)
    server.Log($'a push does not fit: sending the whole text of {note.id}')
    SendWhole(note)
  else
    try
      ApplyEdits(note, has_key(push, 'lines') ? edit.OfLines(push.lines) : edit.OfRanges(push.ranges), note.isJumping)
    catch /:E565:/
      # Vim allows no change of text now, as while an <expr> mapping asks for a character.
      SkipPush(note)
      return
    endtry
    note.rev = push.rev
    note.base = decent_notes#live#Text(note.buf)
    note.text = note.base
    note.isJumping = false
    decent_notes#live#ShowModified(note)
    decent_notes#live#CursorMoved()
  endif
enddef

# Drops pushes for this version, and has them come again soon.
def SkipPush(note: dict<any>)
  note.skipped = note.version
  ConfirmIn(note, WAIT)
enddef

# Has the server undo or redo the last step made in this buffer, and waits for the effect, so that the keys that follow find it. Returns
# false if there is no such step. `method` is note/undo or note/redo.
export def Reverse(note: dict<any>, method: string): bool
  decent_notes#live#SendPending(note)
  if note.skipped == note.version
    # The effect would be a push after one that was dropped.
    SendChange(note, {lines: []})
  endif
  note.isReversing = true
  try
    var result = server.Call(method, {attachment: note.attachment}, (answer) => extend(note, {isJumping: answer.done && note.isReversing}))
    if result.done
      # The push follows the answer, and precedes that to any other request.
      server.Call('notebook/status')
    endif
    return result.done
  finally
    # Nothing that comes later moves the cursor.
    extend(note, {isReversing: false, isJumping: false})
  endtry
  return false
enddef

# True if a push was made for the text of the buffer.
def Fits(note: dict<any>, push: dict<any>): bool
  return has_key(push, 'sha256') ? sha256(decent_notes#live#Text(note.buf)) == push.sha256
    : Size(note.buf) == push.bytes && note.lineCount == push.lineCount
enddef

# Edits the buffer. This is no change of the user's.
def ApplyEdits(note: dict<any>, edits: list<dict<any>>, isJump: bool)
  var modifiable = getbufvar(note.buf, '&modifiable')
  # Nothing is pending. Vim would report each of many lines.
  listener_remove(note.listener)
  try
    setbufvar(note.buf, '&modifiable', true)
    # The place of the last change, for `. and g;, stays that of the user's.
    keepjumps edit.Apply(note.buf, edits, isJump)
  finally
    note.listener = listener_add(Listen, note.buf)
    setbufvar(note.buf, '&modifiable', modifiable)
    note.lineCount = getbufinfo(note.buf)[0].linecount
  endtry
enddef

# Participants {{{1

var cursorTimer = 0

# The cursor has moved, or the text around it: tells the server soon.
export def CursorMoved()
  if cursorTimer == 0 && !empty(decent_notes#live#Of(bufnr()))
    cursorTimer = timer_start(INTERVAL, (_) => SendCursor())
  endif
enddef

def SendCursor()
  cursorTimer = 0
  var note = decent_notes#live#Of(bufnr())
  if empty(note) || note.attachment == 0
    return
  endif
  decent_notes#live#SendPending(note)
  var at = Position(getpos('.'))
  server.Notify('note/cursor', {attachment: note.attachment, version: note.version, rev: note.rev,
    ranges: [{start: mode() =~ "^[vV\<C-V>]" ? Position(getpos('v')) : at, end: at}]})
enddef

def Position(at: list<number>): dict<number>
  return {line: at[1] - 1, character: min([at[2] - 1, strlen(getline(at[1]))])}
enddef

# Shows the other participants, unless their places are those of another version of the text. Where nobody is left there are none.
export def TakePresence(presence: dict<any>)
  var note = Find((one) => one.attachment == presence.attachment)
  if empty(note) || !bufloaded(note.buf)
    return
  endif
  # Pending changes have moved those places.
  decent_notes#live#SendPending(note)
  if !empty(presence.peers) && (note.version != presence.version || note.rev != presence.rev)
    return
  endif
  participants.Show(note.buf, presence.peers)
  var names = participants.Names(presence.peers)
  if note.participants != names
    note.participants = names
    redrawstatus!
  endif
enddef

# Texts in files {{{1

# Has the text written to a file unless the note is settled by then.
def KeepSoon(note: dict<any>)
  if note.keeper == 0
    note.checked = note.version
    note.keeper = rest.After(KEEP, () => Keep(note))
  endif
enddef

# Writes the text to a file if the server is gone, refuses it, or has not answered for a while, so that nothing is lost when Vim is killed.
def Keep(note: dict<any>)
  note.keeper = 0
  if decent_notes#live#Of(note.buf) isnot note || !HasUnsent(note)
    return
  elseif note.attachment == 0 || note.needsWhole || note.answered < note.checked
    try
      KeepInFile(note)
    catch /^Decent Notes: \|^Vim\%((\a\+)\)\=:E/
      server.Log($'the text of {note.id} is in no file: {v:exception}')
    endtry
  endif
  KeepSoon(note)
enddef

def KeepInFile(note: dict<any>)
  var isLoaded = bufloaded(note.buf)
  var tick = isLoaded ? getbufvar(note.buf, 'changedtick') : -1
  var isOther = note.kept == '' || [note.version, note.rev] != note.written[1 :]
  if !isOther && tick == note.written[0]
    return
  endif
  var info: dict<any> = {}
  if isOther
    info = {id: note.id, title: getbufvar(note.buf, 'note_title', ''), session: note.resumeToken, version: note.version, rev: note.rev,
      baseText: note.base, hidesReturns: note.hidesReturns}
  endif
  note.kept = note.kept ?? unsent.NewName(note.id)
  unsent.Write(note.kept, isLoaded ? getbufline(note.buf, 1, '$') : split(note.text, "\n", true), info)
  note.written = [tick, note.version, note.rev]
enddef

# Writes the text to a file when the buffer goes or cannot be sent any more, and tells which.
def LeaveUnsent(note: dict<any>)
  KeepInFile(note)
  unsent.Leave(note.kept)
  var path = unsent.Path(note.kept)
  if v:exiting == v:null || v:dying > 0
    server.Tell($'what could not be sent is in a file: {fnamemodify(path, ':~')}')
    return
  endif
  # The screen is cleared when Vim ends, so it waits for a key. The path is shown in full, even if it is longer than a line.
  echohl ErrorMsg
  echomsg $'Decent Notes: not everything could be sent; the text is in {path}'
  echohl None
  input('Press ENTER')
enddef

# Without the server, and back {{{1

# The process has ended.
def Lost()
  unloaded = {}
  for note in values(notes)
    Detach(note)
    decent_notes#live#ShowModified(note)
  endfor
enddef

# The note has lost its attachment. Changes without an answer count as not made.
def Detach(note: dict<any>)
  if note.needsWhole || note.answered < note.version
    NeedWhole(note)
  endif
  extend(note, {attachment: 0, isOpening: false, answered: note.version, participants: ''})
  KeepSoon(note)
  participants.Clear(note.buf)
enddef

# Opens a detached note again, with the text of this moment. What is typed before the answer comes is the next change. With `converts` the
# lines of the note get the ends that 'fileformat' says.
def Resume(note: dict<any>, converts = false)
  Detach(note)
  decent_notes#live#SendPending(note)
  note.isOpening = true
  var text = Lines(note, 1, note.lineCount)->join("\n")
  var resume = {session: note.resumeToken, version: note.version, rev: note.rev, text: text, baseText: note.base, hidesReturns: note.hidesReturns}
  var isDOS = converts ? getbufvar(note.buf, '&fileformat') == 'dos' : note.hidesReturns
  if converts
    extend(resume, {text: WithReturns(text, isDOS), baseText: WithReturns(note.base, note.hidesReturns), hidesReturns: false})
  endif
  server.Request('note/open', {id: note.id, mode: 'edit', push: 'rangesOrLines', hidesReturns: isDOS, resume: resume},
    (response) => TakeResumed(note, text, response))
enddef

def WithReturns(text: string, isDOS: bool): string
  return isDOS ? substitute(text, '\n', '\r\n', 'g') : text
enddef

# Gives the lines of the note other ends if the user has set 'fileformat'.
export def Convert(note: dict<any>)
  if note.attachment != 0 && (getbufvar(note.buf, '&fileformat') == 'dos') != note.hidesReturns
    Resume(note, true)
  endif
enddef

# The server has answered `Resume`, which has sent this text.
def TakeResumed(note: dict<any>, text: string, response: dict<any>)
  note.isOpening = false
  decent_notes#live#SendPending(note)
  if has_key(response, 'error') && Reason(response) == 'purged'
    Purged(note)
    return
  elseif has_key(response, 'error')
    server.Tell($'{getbufvar(note.buf, 'note_title')} is offline: {response.error.message}')
    return
  endif
  Attach(note, response.result)
  note.base = text
  if response.result.resumed == 'conflict'
    server.Tell($'your text of {getbufvar(note.buf, 'note_title')} is a note of its own now: note://{response.result.copy}')
  endif
  if decent_notes#live#Text(note.buf) != text
    SendWhole(note)
  endif
  decent_notes#live#ShowModified(note)
  decent_notes#live#CursorMoved()
  redrawstatus!
enddef

# Sends all that the server lacks. Resumes the note if it is detached. Without a process nothing is sent.
def SendUnsent(note: dict<any>)
  if !bufloaded(note.buf)
    return
  endif
  decent_notes#live#SendPending(note)
  if note.attachment == 0
    if !note.isOpening && server.IsReady()
      Resume(note)
    endif
  elseif note.needsWhole
    SendWhole(note)
  endif
enddef

# Sends all that the server lacks, and waits for the answers. Returns false if they do not come within so many milliseconds.
export def Settle(note: dict<any>, milliseconds: number): bool
  SendUnsent(note)
  return server.WaitFor(() => !decent_notes#live#IsUnderWay(note), milliseconds)
enddef

# The same for all notes.
export def SettleAll(milliseconds: number)
  for note in values(notes)
    SendUnsent(note)
  endfor
  server.WaitFor(() => empty(Find(decent_notes#live#IsUnderWay)), milliseconds)
enddef

# The buffer is unloaded. A text that the server does not get is written to a file.
export def Close(buf: number)
  var note = decent_notes#live#Of(buf)
  if empty(note)
    return
  endif
  note.isClosing = true
  # True if `base` is the text that the server takes the buffer to show.
  var isKept = false
  if !decent_notes#live#Settle(note, server.IsSilent() ? 0 : 3000)
    NeedWhole(note)
  endif
  if bufloaded(buf)
    note.base = decent_notes#live#Text(buf)
    isKept = decent_notes#live#IsSettled(note)
  endif
  if note.needsWhole
    LeaveUnsent(note)
  elseif note.kept != ''
    unsent.Remove(note.kept)
    note.kept = ''
  endif
  listener_remove(note.listener)
  timer_stop(note.timer)
  remove(notes, buf)
  if isKept
    unloaded[buf] = note
    timer_start(0, (_) => Forget(note))
  elseif note.attachment != 0
    server.Request('note/close', {attachment: note.attachment}, (_) => 0)
  endif
enddef

# The note was forgotten for good. Its buffer keeps what it shows, until the user leaves it, and cannot be changed any more; what was typed
# and not taken is in a file besides.
def Purged(note: dict<any>)
  var title = strcharpart(getbufvar(note.buf, 'note_title', ''), 0, 20)
  listener_flush(note.buf)
  var isUnsent = HasUnsent(note)
  if isUnsent
    NeedWhole(note)
  endif
  listener_remove(note.listener)
  timer_stop(note.timer)
  participants.Clear(note.buf)
  remove(notes, note.buf)
  # Answers that are still to come are nobody's.
  note.attachment = 0
  setbufvar(note.buf, 'note_purged', true)
  setbufvar(note.buf, '&modified', false)
  setbufvar(note.buf, '&modifiable', false)
  redrawstatus!
  server.Tell($'this note was forgotten; :saveas keeps its text ("{title}")', 'WarningMsg')
  if isUnsent
    LeaveUnsent(note)
  endif
enddef

# An attachment has ended.
def TakeClosed(params: dict<any>)
  var note = Find((one) => one.attachment == params.attachment)
  if !empty(note) && !note.isClosing
    Purged(note)
  endif
enddef

# The command that has unloaded the buffer is over.
def Forget(note: dict<any>)
  if get(unloaded, note.buf, {}) is note
    remove(unloaded, note.buf)
    server.Request('note/close', {attachment: note.attachment}, (_) => 0)
  endif
enddef

server.On('note/edit', TakePush)
server.On('note/closed', TakeClosed)
server.On('note/presence', decent_notes#live#TakePresence)
server.OnReady(() => decent_notes#live#SettleAll(0))
server.OnReady(() => unsent.Offer())
server.OnLost(Lost)
# The disk may take changes again.
server.On('window/showMessage', (message: dict<any>) => {
  if message.type == 3
    decent_notes#live#SettleAll(0)
  endif
})

# It may have been started before this file was needed.
if server.IsReady()
  unsent.Offer()
endif

# See server.vim.
defcompile
