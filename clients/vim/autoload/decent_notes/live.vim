vim9script
# Notes in buffers: what is typed goes to the server as note/change, what others do comes as note/edit. The server merges, and a
# buffer's side of it is two numbers: `version` counts its own changes, `rev` is the last push it applied.

import autoload './buffer.vim'
import autoload './cursors.vim'
import autoload './edit.vim'
import autoload './server.vim'

# Above so many bytes a text's size is sent with each change, and its hash only when the typing pauses.
const LARGE = 262'144
const PAUSE = 500
# How often to look whether edits of others may come again; each time Vim draws a command anew that is being written.
const WAIT = 100
# More changes than these in a moment, while somebody inserts, are no typing; listening stops then for another moment.
const BURST = 20
const MOMENT = 100

# The notes in buffers, by the buffer's number:
#   attachment      its name for the server; 0 while there is no process that knows the buffer
#   isOpening       whether it has been asked for
#   version, rev    the numbers of the protocol
#   answered        the last version that was answered
#   whole           the version of the last change that was the whole text
#   isUnsent        whether the next change has to be the whole text
#   text            the text that was sent last, or is to be sent; of a large one the last that was looked at as a whole
#   cause           the error by which a change was refused last
#   base            the last text that the server is known to have had, for coming back
#   lineCount       how many lines the text has that was sent last
#   changed         what is not sent yet: how many lines at both ends are as they were, and how many there are; or {}
#   skipped         the version for which pushes are not applied
#   block           the number of the last change in Vim's own list of what can be undone
#   isBurst         whether so much is being inserted that listening is to stop for a moment
#   since, told     when the present moment began, and how many changes Vim has told of in it
#   before          while it has stopped: the lines that there were; else []
var notes: dict<dict<any>> = {}

# Notes whose buffers have just lost their text, until Vim has done what it does: `:edit!` fills them again at once.
var unloaded: dict<dict<any>> = {}

export def Of(buf: number): dict<any>
  return get(notes, buf, {})
enddef

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

def Text(buf: number): string
  return getbufline(buf, 1, '$')->join("\n")
enddef

# Whether the server has all that is in the buffer.
export def IsSettled(note: dict<any>): bool
  return note.attachment != 0 && !note.isUnsent && note.answered == note.version && empty(note.changed) && empty(note.before)
enddef

# Whether an answer is to come that may settle it.
export def IsUnderWay(note: dict<any>): bool
  return note.isOpening || note.answered < note.version || (note.attachment == 0 && server.IsStarting())
enddef

# Opening {{{1

# Opens a note for an empty buffer, and fills it.
export def Open(buf: number, id: string)
  var note: dict<any> = {buf: buf, id: id, attachment: 0, isOpening: false, version: 0, rev: 0, answered: 0, whole: 0,
    isUnsent: false, text: '', cause: '', base: '', lineCount: 1, changed: {}, skipped: -1, block: -1, timer: 0, others: 0,
    isBurst: false, since: reltime(), told: 0, before: [],
    isApplying: false, isClosing: false, isJumping: false, hasTold: false}
  # Not after the answer, but as it is taken in: a push may stand right behind it.
  server.Call('note/open', {id: id, mode: 'edit', push: 'ranges'}, (result) => {
    [note.base, note.text] = [result.text, result.text]
    Begin(note)
    Attach(note, result)
  })
enddef

def Begin(note: dict<any>)
  buffer.Fill(note.buf, note.base)
  note.lineCount = getbufinfo(note.buf)[0].linecount
  note.listener = listener_add(Listen, note.buf)
  notes[note.buf] = note
enddef

# Goes on with a note whose buffer has just been unloaded, and fills the buffer again: undo goes on, too. Returns whether there is
# one.
export def Reopen(buf: number, id: string): bool
  var note = get(unloaded, buf, {})
  if get(note, 'id', '') != id
    return false
  endif
  remove(unloaded, buf)
  extend(note, {isClosing: false, block: -1})
  Begin(note)
  setbufvar(buf, '&modifiable', !note.readOnly)
  # Pushes that came meanwhile were not applied, and come again.
  Send(note, {lines: []})
  return true
enddef

def Attach(note: dict<any>, result: dict<any>)
  extend(note, {attachment: result.attachment, session: result.session, rev: result.rev, isOpening: false, isUnsent: false,
    readOnly: result.readOnly})
  setbufvar(note.buf, '&modifiable', !result.readOnly)
enddef

# Own changes {{{1

# Vim tells that lines were changed, also in the middle of a command: of a line with the words of the next one, which still has
# them too, when it joins the two. Sent as it is then, that would be words typed anew, and stay when their author deletes
# them. So nothing is sent before the command is over, and Vim waits.
def Listen(buf: number, _: number, _: number, _: number, changes: list<dict<number>>)
  var note = notes[buf]
  if note.isApplying
    return
  endif
  # A paste may come in small pieces, with time between them to tell of each.
  if reltimefloat(reltime(note.since)) * 1000 > MOMENT
    extend(note, {since: reltime(), told: 0})
  endif
  note.told += len(changes)
  if note.told > BURST && mode() =~ '^[iR]'
    note.isBurst = true
  endif
  Merge(note, changes)
enddef

def Merge(note: dict<any>, changes: list<dict<number>>)
  if empty(note.changed)
    note.changed = {head: note.lineCount, tail: note.lineCount, count: note.lineCount}
    timer_start(0, (_) => note.isBurst ? Deafen(note) : Flush(note))
  endif
  # They are told one after another, as they were made.
  var changed = note.changed
  for change in changes
    changed.head = min([changed.head, change.lnum - 1])
    changed.tail = min([changed.tail, changed.count - change.end + 1])
    changed.count += change.added
    if changed.count == 0
      # A buffer without lines has an empty one.
      [changed.head, changed.tail, changed.count] = [0, 0, 1]
    endif
  endfor
enddef

# Vim tells of each character of a paste into insertion mode by a dictionary, which takes several times as long as the paste itself. So
# for a moment nobody listens, and the lines before and after it tell what was done.
def Deafen(note: dict<any>)
  note.isBurst = false
  if bufloaded(note.buf) && empty(note.before)
    listener_flush(note.buf)
    listener_remove(note.listener)
    note.before = getbufline(note.buf, 1, '$')
    timer_start(MOMENT, (_) => Flush(note))
  endif
enddef

# Hears of all that the user did until now.
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
    Merge(note, [{lnum: head + 1, end: head + len(before) + 1, added: len(after) - len(before)}])
  endif
enddef

# Sends what the user did and was not sent yet. Not to be called in the middle of a command.
export def Flush(note: dict<any>)
  if !bufloaded(note.buf)
    return
  endif
  Hear(note)
  if empty(note.changed)
    return
  endif
  var [changed, before] = [note.changed, note.lineCount]
  note.changed = {}
  note.lineCount = getbufinfo(note.buf)[0].linecount
  if note.isUnsent || note.attachment == 0
    SendWhole(note)
  elseif changed.count != note.lineCount
    server.Log($'a change was not told: sending the whole text of {note.id}')
    SendWhole(note)
  else
    var lines = Lines(note, changed.head + 1, changed.count - changed.tail)
    Send(note, {lines: [[changed.head, before - changed.tail, lines]]})
  endif
enddef

def SendWhole(note: dict<any>)
  if note.attachment == 0
    MarkUnsent(note)
    return
  endif
  note.isUnsent = false
  note.whole = note.version + 1
  Send(note, {text: Lines(note, 1, note.lineCount)->join("\n")})
enddef

def MarkUnsent(note: dict<any>)
  note.isUnsent = true
  # Buffers have no text any more when Vim says that it is being killed: it is what was sent last then.
  if bufloaded(note.buf)
    note.text = Text(note.buf)
  endif
enddef

# Sends a change; one of nothing always has the hash.
def Send(note: dict<any>, change: dict<any>)
  note.version += 1
  extend(change, {attachment: note.attachment, version: note.version, rev: note.rev})
  var isNothing = get(change, 'lines', [0]) == []
  # What Vim's own undo would take back at once is one step for the server.
  var block = note.buf == bufnr() ? changenr() : -1
  if isNothing || (block == note.block && block >= 0 && !has_key(change, 'text'))
    change.sameStep = true
  endif
  note.block = block
  timer_stop(note.timer)
  var text = ''
  # Vim knows the size of a text that it shows without looking at all of it.
  var bytes = note.buf == bufnr() ? line2byte(line('$') + 1) - 1 : 0
  if bytes > LARGE && !isNothing
    extend(change, {bytes: bytes, lineCount: note.lineCount})
    ConfirmIn(note, PAUSE)
  else
    text = Text(note.buf)
    change.sha256 = sha256(text)
    note.text = text
  endif
  server.Request('note/change', change, (response) => Answered(note, change, text, response))
enddef

# Soon sends a change of nothing: it has the hash of a long text, and brings again a push that was not applied.
def ConfirmIn(note: dict<any>, milliseconds: number)
  timer_stop(note.timer)
  note.timer = timer_start(milliseconds, (_) => {
    if Of(note.buf) isnot note || note.attachment == 0 || note.isUnsent
      return
    elseif edit.IsBusy(note.buf)
      ConfirmIn(note, WAIT)
    else
      Flush(note)
      Send(note, {lines: []})
    endif
  })
enddef

def Answered(note: dict<any>, change: dict<any>, text: string, response: dict<any>)
  if change.attachment != note.attachment
    return
  endif
  note.answered = change.version
  if !has_key(response, 'error')
    if note.hasTold
      redrawstatus!
    endif
    note.hasTold = false
    buffer.Changed(note)
    if change.version == note.version && has_key(change, 'sha256')
      note.base = text
    endif
  elseif !bufloaded(note.buf)
    # There is no text to be sent again; an empty one would take away all of the note.
    MarkUnsent(note)
  elseif change.version < note.whole
    # The whole text is on its way already.
    return
  elseif response.error->get('data', {})->get('reason', '') == 'reopen'
    Resume(note)
  elseif response.error.code == -32801 && change.version > note.whole
    server.Log($'sending the whole text of {note.id}')
    SendWhole(note)
  else
    MarkUnsent(note)
    note.cause = response.error.message
    redrawstatus!
    if !note.hasTold
      note.hasTold = true
      server.Tell(response.error.message)
    endif
  endif
  Settle(note)
enddef

# Shows whether the server has all there is.
export def Settle(note: dict<any>)
  if !bufloaded(note.buf)
    return
  endif
  # A change that is not sent yet will be.
  listener_flush(note.buf)
  if getbufvar(note.buf, '&modified') == IsSettled(note)
    setbufvar(note.buf, '&modified', !IsSettled(note))
  endif
enddef

# Some lines of the text, after replacing in the buffer what can't be in a note.
def Lines(note: dict<any>, first: number, last: number): list<string>
  var replacements = edit.Replacements(note.buf, first, last)
  if !empty(replacements)
    Edit(note, replacements, false)
    server.Tell('what no Unicode text can hold was replaced by U+FFFD')
  endif
  return getbufline(note.buf, first, last)
enddef

# Pushes {{{1

export def TakePush(push: dict<any>)
  var note = Find((one) => one.attachment == push.attachment)
  if empty(note) || note.isClosing
    return
  elseif !bufloaded(note.buf)
    # It went without an event. What is left is not the note's text.
    Close(note.buf)
    return
  endif
  Flush(note)
  if push.version != note.version || push.version == note.skipped
    # It has crossed a change, and another one is coming.
    return
  elseif edit.IsBusy(note.buf)
    PutOff(note)
  elseif !Fits(note, push)
    server.Log($'a push does not fit: sending the whole text of {note.id}')
    SendWhole(note)
  else
    try
      Edit(note, push.ranges, note.isJumping)
    catch /:E565:/
      # Vim lets no text be changed, as while an <expr> mapping asks for a character.
      PutOff(note)
      return
    endtry
    note.rev = push.rev
    note.base = Text(note.buf)
    note.text = note.base
    note.isJumping = false
    Settle(note)
    cursors.Moved()
  endif
enddef

# Leaves out what has come for this version, until a change of nothing brings it again.
def PutOff(note: dict<any>)
  note.skipped = note.version
  ConfirmIn(note, WAIT)
enddef

def Fits(note: dict<any>, push: dict<any>): bool
  var text = Text(note.buf)
  return has_key(push, 'sha256') ? sha256(text) == push.sha256
    : strlen(text) == push.bytes && note.lineCount == push.lineCount
enddef

# Edits the buffer, not as its user does.
def Edit(note: dict<any>, ranges: list<dict<any>>, isJump: bool)
  var modifiable = getbufvar(note.buf, '&modifiable')
  note.isApplying = true
  try
    setbufvar(note.buf, '&modifiable', true)
    # What was changed last, for `. and g;, is what the user changed.
    keepjumps edit.Apply(note.buf, ranges, isJump)
    listener_flush(note.buf)
  finally
    note.isApplying = false
    setbufvar(note.buf, '&modifiable', modifiable)
    note.lineCount = getbufinfo(note.buf)[0].linecount
  endtry
enddef

export def TakePeers(presence: dict<any>)
  var note = Find((one) => one.attachment == presence.attachment)
  if empty(note) || !bufloaded(note.buf)
    return
  endif
  # What was typed and not sent yet has moved the places that it tells of.
  Flush(note)
  if note.version == presence.version && note.rev == presence.rev
    cursors.Show(note, presence.peers)
  endif
enddef

# Without the server, and back {{{1

export def GoOffline()
  unloaded = {}
  for note in values(notes)
    Detach(note)
    cursors.Clear(note)
    Settle(note)
  endfor
enddef

def Detach(note: dict<any>)
  if note.isUnsent || note.answered < note.version
    MarkUnsent(note)
  endif
  extend(note, {attachment: 0, isOpening: false, answered: note.version})
enddef

# Opens a note again. What is typed before the answer is there is simply the next change.
def Resume(note: dict<any>)
  Detach(note)
  Flush(note)
  note.isOpening = true
  var text = Lines(note, 1, note.lineCount)->join("\n")
  server.Request('note/open', {id: note.id, mode: 'edit', push: 'ranges', resume: {session: note.session,
    version: note.version, rev: note.rev, text: text, baseText: note.base}}, (response) => Resumed(note, text, response))
enddef

def Resumed(note: dict<any>, text: string, response: dict<any>)
  note.isOpening = false
  Flush(note)
  if has_key(response, 'error')
    server.Tell($'{getbufvar(note.buf, 'note_title')} is offline: {response.error.message}')
    return
  endif
  Attach(note, response.result)
  note.base = text
  if response.result.resumed == 'conflict'
    server.Tell($'your text of {getbufvar(note.buf, 'note_title')} is a note of its own now: note://{response.result.copy}')
  endif
  if Text(note.buf) != text
    SendWhole(note)
  endif
  Settle(note)
  cursors.Moved()
  redrawstatus!
enddef

# Sends all that the server does not have, if there is one.
export def SendUnsent(note: dict<any>)
  if !bufloaded(note.buf)
    return
  endif
  Flush(note)
  if note.attachment == 0
    if !note.isOpening && server.IsReady()
      Resume(note)
    endif
  elseif note.isUnsent
    SendWhole(note)
  endif
enddef

# The same for all notes, and waits for the answers if `milliseconds` says so.
export def SendAllUnsent(milliseconds = 0)
  for note in values(notes)
    SendUnsent(note)
  endfor
  server.WaitFor(() => empty(Find(IsUnderWay)), milliseconds)
enddef

# The buffer's text goes: for BufUnload.
export def Close(buf: number)
  var note = Of(buf)
  if empty(note)
    return
  endif
  note.isClosing = true
  # True if `base` is the text that the server takes the buffer to show.
  var isKept = false
  SendUnsent(note)
  if !server.WaitFor(() => !IsUnderWay(note), 3000)
    MarkUnsent(note)
  endif
  if bufloaded(buf)
    note.base = Text(buf)
    isKept = note.attachment != 0 && IsSettled(note)
  endif
  if note.isUnsent
    buffer.Keep(note.id, note.text)
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

def Forget(note: dict<any>)
  if get(unloaded, note.buf, {}) is note
    remove(unloaded, note.buf)
    server.Request('note/close', {attachment: note.attachment}, (_) => 0)
  endif
enddef

# See server.vim.
defcompile
