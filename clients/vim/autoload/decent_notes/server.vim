vim9script
# The process: one for the whole editor, spoken to in JSON-RPC, a message a line. Vim's own mode "lsp" throws a message away
# whose parts come with a pause of 100 ms between them, which happens to long ones while the machine has much to do.

import autoload './buffer.vim'
import autoload './list.vim'
import autoload './live.vim'

# The process is started again by itself at most so often within so many seconds.
const RESTARTS = 5
const PERIOD = 180

var job: job = null_job
# Why `initialize` failed; empty if it has not.
var refusal = ''
var isReady = false
# Whether someone waits for the answer to `initialize`, to whom its error goes.
var isAwaited = false
var isLeaving = false
# When the process was started again by itself.
var restarts: list<number> = []
export var log: list<string> = []
var lastId = 0
# What is to be done with responses, by the request's id.
var callbacks: dict<func> = {}
export var suggestedTags: list<string> = []

# Runs a command of the user's. What goes wrong is told in one line.
export def Try(Command: func)
  try
    Command()
  catch /^Vim:Interrupt$/
    Tell('given up waiting', 'WarningMsg')
  catch /^Decent Notes: \|:E37:/
    # E37: the buffer shown has changes and 'hidden' is not set.
    Tell(v:exception->substitute('\C^Decent Notes: \|^Vim.\{-}:\zeE37:', '', ''))
  endtry
enddef

export def Tell(message: string, highlight = 'ErrorMsg')
  Log(message)
  Show(message, highlight)
enddef

def Show(message: string, highlight: string)
  # Below a command that is being written, or a question, it would make the user press a key.
  if mode() =~ '^[cr]'
    timer_start(100, (_) => Show(message, highlight))
    return
  endif
  # So that it takes the place of the command line, or of another message, instead of coming below.
  redraw
  execute 'echohl' highlight
  echomsg Fitted('Decent Notes: ' .. substitute(message, '[\x00-\x1f]\+', ' ', 'g'))
  echohl None
enddef

# A longer line than there is room for would make the user press a key, in the middle of typing maybe. The log has all of it. The
# cause is behind the path of the file that it is about, as a rule, and comes first when not all fits.
def Fitted(line: string): string
  # Beside it Vim shows keys that are being written, and the ruler.
  var room = &columns - 13 - (&ruler && &laststatus == 0 ? 18 : 0)
  if strdisplaywidth(line) <= room
    return line
  endif
  var parts = matchlist(line, '\C^\(Decent Notes: \)\(.*/.\{-}\): \([^/]\+\)$')
  var text = empty(parts) ? line : $'{parts[1]}{parts[3]} ({parts[2]})'
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

# Whether there is a process that has been initialized.
export def IsReady(): bool
  return isReady
enddef

# The process's id, for whoever looks after it.
export def Process(): number
  return IsRunning() ? job_info(job).process : 0
enddef

# Starts the process unless it runs, and waits until it is initialized. Throws if that fails.
export def Start()
  if !IsRunning() && !isLeaving
    Launch()
  endif
  isAwaited = true
  WaitFor(() => !IsStarting(), 10'000)
  isAwaited = false
  if !isReady
    throw 'Decent Notes: ' .. (refusal ?? 'the program does not answer: ' .. get(log, -1, ''))
  endif
enddef

# Starts the process, without waiting for its answer.
def Launch()
  if &encoding != 'utf-8'
    throw "Decent Notes: 'encoding' has to be utf-8"
  endif
  var setting: any = get(g:, 'decent_notes_command', 'decent-notes')
  var words: list<string> = type(setting) == v:t_list ? setting : split(setting)
  if empty(words) || !executable(words[0])
    throw $'Decent Notes: no program "{get(words, 0, '')}", see :help decent-notes'
  endif
  isReady = false
  refusal = ''
  # Without `stoponexit` Vim would kill the process while it writes to the disk. Without `noblock` Vim would stand still while the
  # process does not read.
  job = job_start(words, {mode: 'nl', stoponexit: '', noblock: 1, out_cb: (_, line) => Receive(line),
    err_cb: (_, line) => Log(line), close_cb: Gone})
  var params: dict<any> = {processId: getpid(), clientInfo: {name: 'decent-notes.vim'},
    capabilities: {general: {positionEncodings: ['utf-8']}}}
  if get(g:, 'decent_notes_notebook', '') != ''
    params.initializationOptions = {notebook: expand(g:decent_notes_notebook)->fnamemodify(':p')}
  endif
  Request('initialize', params, Initialized)
enddef

def Initialized(response: dict<any>)
  if has_key(response, 'error')
    refusal = response.error.message
    if !isAwaited
      Tell(refusal)
    endif
    Notify('exit')
    return
  endif
  suggestedTags = get(response.result, 'suggestedTags', [])
  isReady = true
  live.SendAllUnsent()
  list.RefreshSoon()
enddef

# Waits, while messages are taken in, and returns whether the condition came to hold.
export def WaitFor(Condition: func(): bool, milliseconds: number): bool
  var start = reltime()
  while !Condition()
    if reltimefloat(reltime(start)) * 1000 > milliseconds
      return false
    endif
    sleep 2m
  endwhile
  return true
enddef

# Sends a request. `Done` gets the response, which has `result` or `error`, unless the process ends before.
export def Request(method: string, params: dict<any>, Done: func)
  lastId += 1
  callbacks[lastId] = Done
  Send({jsonrpc: '2.0', id: lastId, method: method, params: params})
enddef

export def Notify(method: string, params: dict<any> = {})
  Send({jsonrpc: '2.0', method: method, params: params})
enddef

def Send(message: dict<any>)
  try
    ch_sendraw(job, json_encode(message) .. "\n")
  catch /^Vim\%((\a\+)\)\=:E\%(906\|630\|631\)/
    # It is gone, which `Gone` will be told.
  endtry
enddef

# Makes a request, starting the process if need be, and returns the result; `Take` gets it before any other message is read.
# Throws the server's message.
export def Call(method: string, params: dict<any> = {}, Take: func = null_function): dict<any>
  Start()
  var response: dict<any> = {}
  Request(method, params, (answer) => {
    if Take != null_function && has_key(answer, 'result')
      Take(answer.result ?? {})
    endif
    extend(response, answer)
  })
  var process = job
  WaitFor(() => !empty(response) || job != process, 10'000)
  if empty(response)
    throw $'Decent Notes: no answer to {method}'
  elseif has_key(response, 'error')
    throw 'Decent Notes: ' .. response.error.message
  endif
  return response.result ?? {}
enddef

def Receive(line: string)
  var message: dict<any> = json_decode(line)
  var id: any = get(message, 'id', v:null)
  if id != v:null && has_key(callbacks, id)
    remove(callbacks, id)(message)
    return
  endif
  var method = get(message, 'method', '')
  var params = get(message, 'params', {})
  if method == 'note/edit'
    live.TakePush(params)
  elseif method == 'note/presence'
    live.TakePeers(params)
  elseif method == 'notebook/didChange'
    for change in params.changed
      if index(change.what, 'title') >= 0 || index(change.what, 'trashed') >= 0
        buffer.Update(change.id)
      endif
    endfor
    list.NotebookChanged(params.changed)
  elseif method == 'window/showMessage'
    Tell(params.message, params.type == 1 ? 'ErrorMsg' : params.type == 2 ? 'WarningMsg' : 'None')
    if params.type == 3
      live.SendAllUnsent()
    endif
  elseif method == 'window/logMessage'
    Log(params.message)
  else
    Log(line)
  endif
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
  Log('the program has ended')
  live.GoOffline()
  list.GoOffline()
  if isLeaving || refusal != ''
    return
  endif
  filter(restarts, (_, time) => time > localtime() - PERIOD)
  if len(restarts) >= RESTARTS
    Tell($'the program has ended {RESTARTS + 1} times in {PERIOD / 60} minutes; :NotesRestart starts it again')
    return
  endif
  add(restarts, localtime())
  Try(Launch)
enddef

# Starts the process anew at the user's wish.
export def Restart()
  restarts = []
  if IsRunning()
    live.SendAllUnsent(1000)
    # Of its end `Gone` is told, which starts another one.
    var old = job
    ch_close_in(old)
    if !WaitFor(() => job != old, 3000)
      job_stop(old, 'kill')
      WaitFor(() => job != old, 3000)
    endif
  endif
  Start()
enddef

# Ends the process in order.
export def Leave()
  isLeaving = true
  if isReady
    var isDone = false
    Request('shutdown', {}, (_) => {
      isDone = true
    })
    WaitFor(() => isDone || !isReady, 3000)
    Notify('exit')
  endif
enddef

# All functions are compiled now: when Vim compiles one at its first call, and a message of the server is what calls it, the messages
# after that scroll the screen, and a search demands a key.
defcompile
