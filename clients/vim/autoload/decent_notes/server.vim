vim9script
# The process: one for the whole editor. It is spoken to in JSON-RPC, one message a line. This file knows nothing of notes: others
# register what is to be done about a notification, about a new process, and about the end of one.
#
# Vim's own channel mode "lsp" throws away a message whose parts arrive with a pause of 100 ms between them. Long messages do so on
# a busy machine. In mode "nl" there is no telling how long a line is that does not end. So it is mode "raw", and lines.vim finds the lines.

import autoload './lines.vim'

# The program is silent when it has sent nothing for so many ticks of so many milliseconds, though an answer is due: for up to 3 s. Counted are ticks,
# since Vim may have been stopped itself.
const TICKS = 5
const TICK = 500
# The process is started again automatically at most RESTARTS times in PERIOD seconds.
const RESTARTS = 5
const PERIOD = 180

var job: job = null_job
# Why `initialize` failed; empty if it has not.
var refusal = ''
var isReady = false
# How many callers wait for an answer; what is wrong with the process is then thrown instead of shown.
var awaited = 0
var isLeaving = false
# The times of automatic restarts, in seconds.
var restarts: list<number> = []
# When something was received last, or a caller began to wait.
var heard = reltime()
# The timer that counts while answers are due, the ticks since something was received, and how many callers wait.
var watch = 0
var ticks = 0
var waits = 0
# True if the program is silent and the user was told.
var isSilent = false
export var log: list<string> = []
var lastId = 0
# Functions of a response, by the request's id.
var callbacks: dict<func> = {}
# Functions of a notification's parameters, by method.
var handlers: dict<list<func>> = {}
# Functions that are called after `initialize` was answered, and after the process has ended.
var readyHandlers: list<func> = []
var lostHandlers: list<func> = []
export var suggestedTags: list<string> = []

# Registers a function of the parameters of each notification of this method.
export def On(method: string, Handler: func)
  handlers[method] = get(handlers, method, []) + [Handler]
enddef

# Registers a function that is called whenever a process has been initialized.
export def OnReady(Handler: func)
  add(readyHandlers, Handler)
enddef

# Registers a function that is called whenever the process has ended.
export def OnLost(Handler: func)
  add(lostHandlers, Handler)
enddef

# Runs a command of the user's. An error is shown in one line.
export def Try(Command: func)
  try
    Command()
  catch /^Vim:Interrupt$/
    decent_notes#server#Tell('given up waiting', 'WarningMsg')
  catch /^Decent Notes: \|:E37:/
    # E37: the buffer shown has changes and 'hidden' is not set.
    decent_notes#server#Tell(v:exception->substitute('\C^Decent Notes: \|^Vim.\{-}:\zeE37:', '', ''))
  endtry
enddef

# Messages that were told and are not shown yet, each with its highlight. They are shown in order: only the last one stays.
var untold: list<list<string>> = []
var showing = 0

export def Tell(message: string, highlight = 'ErrorMsg')
  decent_notes#server#Log(message)
  add(untold, [message, highlight])
  Show()
enddef

def Show()
  # Below a command line that is being typed, or a question, the message would ask for a key.
  if mode() =~ '^[cr]'
    timer_stop(showing)
    showing = timer_start(100, (_) => Show())
    return
  endif
  while !empty(untold)
    var [message, highlight] = remove(untold, 0)
    # The message must replace the command line or an earlier message. Below it, it would ask for a key.
    redraw
    execute 'echohl' highlight
    echomsg Fitted('Decent Notes: ' .. substitute(message, '[\x00-\x1f]\+', ' ', 'g'))
    echohl None
  endwhile
enddef

# A message that fits into the screen's width: a longer one would ask for a key, perhaps while the user types. The log has all of it.
# What is not to be cut off is put first: a cause that stands behind a path, and in narrow lines what the user can do.
def Fitted(line: string): string
  # Vim shows pending keys and the ruler on the same line.
  var room = &columns - 13 - (&ruler && &laststatus == 0 ? 18 : 0)
  if strdisplaywidth(line) <= room
    return line
  endif
  var parts = matchlist(line, '\C^\(Decent Notes: \)\(.*/.\{-}\): \([^/]\+\)$')
  var text = empty(parts) ? line : $'{parts[1]}{parts[3]} ({parts[2]})'
  var advice = &columns >= 80 ? [] : matchlist(line, '^Decent Notes: \(.*\)\%(; \|: \ze:\)\(.*\)$')
  if !empty(advice)
    text = $'{advice[2]} ({advice[1]})'
  endif
  var count = strchars(text)
  while count > 0 && strdisplaywidth(strcharpart(text, 0, count)) >= room
    count -= 1
  endwhile
  return strcharpart(text, 0, count) .. '…'
enddef

export def Log(line: string)
  add(log, strftime('%H:%M:%S ') .. line)
  if len(log) > 1000
    remove(log, 0, 99)
  endif
enddef

def IsRunning(): bool
  return job != null_job && job_status(job) == 'run'
enddef

export def IsStarting(): bool
  return IsRunning() && !isReady && refusal == ''
enddef

# True if there is a process that has been initialized.
export def IsReady(): bool
  return isReady
enddef

# True if answers are due and the program has sent nothing for some seconds.
export def IsSilent(): bool
  return isSilent
enddef

# The id of the process; 0 if there is none.
export def Process(): number
  return IsRunning() ? job_info(job).process : 0
enddef

# Starts the process unless it runs, and waits until it is initialized. Throws if that fails.
export def Start()
  if !IsRunning() && !isLeaving
    Launch()
  endif
  Await(() => !decent_notes#server#IsStarting(), 10'000)
  if !isReady
    throw 'Decent Notes: ' .. (refusal ?? 'the program does not answer: ' .. get(log, -1, ''))
  endif
enddef

# Waits as `WaitFor` does, for a caller who throws what is wrong with the process.
def Await(Condition: func(): bool, milliseconds: number)
  awaited += 1
  try
    decent_notes#server#WaitFor(Condition, milliseconds)
  finally
    awaited -= 1
  endtry
enddef

# The words by which the program is started.
def Words(): list<string>
  var setting: any = get(g:, 'decent_notes_command', 'decent-notes')
  var words: list<string> = type(setting) == v:t_list ? setting->copy() : split(setting)
  if empty(words) || !executable(words[0])
    throw $'Decent Notes: no program "{get(words, 0, '')}", see :help decent-notes'
  endif
  return words
enddef

# The notebook that the user has chosen, or nothing.
def Notebook(): string
  var notebook = get(g:, 'decent_notes_notebook', '')
  return notebook == '' ? '' : expand(notebook)->fnamemodify(':p')
enddef

# Runs a verb of the program, as on a command line, and returns the last line of its output. An error is thrown.
export def Say(verb: string): string
  var words = Words() + (Notebook() == '' ? [] : ['--notebook', Notebook()]) + [verb]
  var said = words->mapnew((_, word) => shellescape(word))->join()->system()->trim()
  if v:shell_error != 0
    throw $'Decent Notes: {said}'
  endif
  return said->split("\n")->get(-1, '')
enddef

# Starts the process, without waiting for its answer.
def Launch()
  if &encoding != 'utf-8'
    throw "Decent Notes: 'encoding' has to be utf-8"
  endif
  var words = Words()
  isReady = false
  refusal = ''
  lines.Begin()
  # Without `stoponexit` Vim would kill the process while it writes to the disk. Without `noblock` Vim would hang while the process
  # does not read.
  job = job_start(words, {mode: 'raw', stoponexit: '', noblock: 1, out_cb: Received, err_mode: 'nl',
    err_cb: (_, line) => decent_notes#server#Log(line), close_cb: Gone})
  var params: dict<any> = {processId: getpid(), clientInfo: {name: 'Vim'},
    capabilities: {general: {positionEncodings: ['utf-8']}}}
  if Notebook() != ''
    params.initializationOptions = {notebook: Notebook()}
  endif
  if get(g:, 'decent_notes_name', '') != ''
    params.participant = {name: g:decent_notes_name}
  endif
  decent_notes#server#Request('initialize', params, Initialized)
enddef

def Initialized(response: dict<any>)
  if has_key(response, 'error')
    refusal = response.error.message
    TellRefusal()
    decent_notes#server#Notify('exit')
    return
  endif
  suggestedTags = get(response.result, 'suggestedTags', [])
  isReady = true
  for Handler in readyHandlers
    Handler()
  endfor
enddef

def TellRefusal()
  if awaited == 0
    decent_notes#server#Tell(refusal)
  endif
enddef

# Waits until the condition holds, and handles messages meanwhile. Returns false after so many milliseconds.
export def WaitFor(Condition: func(): bool, milliseconds: number): bool
  var start = reltime()
  waits += 1
  try
    while !Condition()
      # A handler that waits may have messages behind it that have come already.
      Handle()
      if Condition()
        return true
      elseif reltimefloat(reltime(start)) * 1000 > milliseconds
        return false
      endif
      sleep 2m
    endwhile
  finally
    waits -= 1
  endtry
  return true
enddef

# Counts the time without a word of the program.
def Watch(timer: number)
  ticks += 1
  if empty(callbacks) || !IsRunning()
    timer_stop(timer)
    watch = 0
    SetSilent(false)
  elseif ticks == 2 && isReady
    # What takes long may be silent: an exchange with a peer that is far away. The program itself answers.
    decent_notes#server#Request('notebook/status', {}, (_) => 0)
  elseif ticks == TICKS
    SetSilent(true)
    decent_notes#server#Tell(waits > 0 ? 'no answer (CTRL-C stops waiting); :NotesRestart helps'
      : 'no answer from the program; :NotesRestart helps', 'WarningMsg')
  endif
enddef

def SetSilent(value: bool)
  ticks = value ? ticks : 0
  if isSilent != value
    isSilent = value
    redrawstatus!
  endif
enddef

# Sends a request, and returns its id. `Done` gets the response, which has `result` or `error`. It is never called if the process ends
# before.
export def Request(method: string, params: dict<any>, Done: func): number
  lastId += 1
  var id = lastId
  callbacks[id] = Done
  if watch == 0
    ticks = 0
    watch = timer_start(TICK, Watch, {repeat: -1})
  endif
  Send({jsonrpc: '2.0', id: id, method: method, params: params})
  return id
enddef

export def Notify(method: string, params: dict<any> = {})
  Send({jsonrpc: '2.0', method: method, params: params})
enddef

def Send(message: dict<any>)
  try
    ch_sendraw(job, json_encode(message) .. "\n")
  catch /^Vim\%((\a\+)\)\=:E\%(906\|630\|631\)/
    # The process has ended. `Gone` will be called.
  endtry
enddef

# Makes a request and returns the result. Starts the process if there is none. `Take` gets the result before any other message is
# handled. Throws the server's error message.
export def Call(method: string, params: dict<any> = {}, Take: func = null_function): dict<any>
  decent_notes#server#Start()
  var response: dict<any> = {}
  decent_notes#server#Request(method, params, (answer) => {
    if Take != null_function && has_key(answer, 'result')
      Take(answer.result ?? {})
    endif
    extend(response, answer)
  })
  var process = job
  # A long answer takes its time, but comes all the while.
  heard = reltime()
  while empty(response) && job == process && reltimefloat(reltime(heard)) < 30
    Await(() => !empty(response) || job != process, 1000)
  endwhile
  if empty(response)
    throw 'Decent Notes: ' .. (refusal ?? $'no answer to {method}')
  elseif has_key(response, 'error')
    throw 'Decent Notes: ' .. response.error.message
  endif
  return response.result ?? {}
enddef

# Output of the process has come.
def Received(channel: channel, piece: string)
  if job == null_job || string(job_getchannel(job)) != string(channel)
    return
  endif
  heard = reltime()
  SetSilent(false)
  if !lines.Add(piece)
    Refuse($'a line has more than {lines.MOST / 1'048'576} MiB')
  endif
  Handle()
enddef

# The process is none of ours, or broken. What comes from it now could mean anything.
def Refuse(problem: string)
  refusal = $'the program does not speak the protocol: {problem}'
  isReady = false
  lines.Begin()
  job_stop(job, 'kill')
  TellRefusal()
enddef

# Handles the messages that have come, in their order.
def Handle()
  var isDone = false
  try
    while lines.HasLine()
      HandleMessage(lines.Next())
    endwhile
    isDone = true
  finally
    if !isDone
      # An error in a handler does not keep the messages behind its one from being handled.
      timer_start(0, (_) => Handle())
    endif
  endtry
enddef

def HandleMessage(line: string)
  var message: any
  try
    message = json_decode(line)
  catch /^Vim\%((\a\+)\)\=:E\%(474\|491\|938\)/
  endtry
  if type(message) != v:t_dict
    Refuse(strcharpart(line, 0, 60))
    return
  endif
  var id: any = get(message, 'id', v:null)
  if id != v:null && has_key(callbacks, id)
    remove(callbacks, id)(message)
    return
  endif
  if !has_key(message, 'method')
    decent_notes#server#Log(line)
    return
  endif
  for Handler in get(handlers, message.method, [])
    Handler(get(message, 'params', {}))
  endfor
enddef

# The process has ended, or closed its output.
def Gone(channel: channel)
  if job == null_job || string(job_getchannel(job)) != string(channel)
    return
  endif
  job_stop(job)
  job = null_job
  isReady = false
  callbacks = {}
  decent_notes#server#Log('the program has ended')
  for Handler in lostHandlers
    Handler()
  endfor
  if isLeaving || refusal != ''
    return
  endif
  filter(restarts, (_, time) => time > localtime() - PERIOD)
  if len(restarts) >= RESTARTS
    decent_notes#server#Tell('the program ended too often; :NotesRestart starts it')
    return
  endif
  add(restarts, localtime())
  decent_notes#server#Try(Launch)
enddef

# Starts the process anew, however often it was started before.
export def Restart()
  restarts = []
  if IsRunning()
    # After its end `Gone` starts another one. One that is silent would not end in order.
    var old = job
    ch_close_in(old)
    if isSilent || !decent_notes#server#WaitFor(() => job != old, 3000)
      job_stop(old, 'kill')
      decent_notes#server#WaitFor(() => job != old, 3000)
    endif
  endif
  decent_notes#server#Start()
enddef

# Ends the process in order.
export def Leave()
  isLeaving = true
  if isReady && !isSilent
    var isDone = false
    decent_notes#server#Request('shutdown', {}, (_) => {
      isDone = true
    })
    decent_notes#server#WaitFor(() => isDone || !isReady, 3000)
    decent_notes#server#Notify('exit')
  endif
enddef

decent_notes#server#On('window/showMessage', (params: dict<any>) => {
  decent_notes#server#Tell(params.message, params.type == 1 ? 'ErrorMsg' : params.type == 2 ? 'WarningMsg' : 'None')
})
decent_notes#server#On('window/logMessage', (params: dict<any>) => decent_notes#server#Log(params.message))

# All functions are compiled now. Vim would compile a function at its first call; if that is caused by a message of the server, later
# messages scroll the screen, and a search asks for a key.
#
# A file calls its own exported functions by their full names: where the user has a global function of that name, Vim 9.0 does not
# find the file's.
defcompile
