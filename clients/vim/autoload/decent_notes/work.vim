vim9script
# What takes long: the user waits for it, sees how far it has got, and may give it up with CTRL-C.

import autoload './server.vim'

# Requests that are under way at once.
const SOME = 64

# What is shown, and when that was drawn.
var what = ''
var drawn: list<any> = []
var lastToken = 0

# Shows how far it has got, at most ten times a second.
def Show(progress: string)
  if empty(drawn) || reltimefloat(reltime(drawn)) > 0.1
    drawn = reltime()
    Draw($'{what}: {progress} (CTRL-C gives it up)')
  endif
enddef

def Draw(line: string)
  redraw
  echo strcharpart(line, 0, max([20, &columns - 13]))
enddef

def Clear()
  what = ''
  drawn = []
  redraw
enddef

# Waits until the condition holds, which it does at the latest when the process has ended. Returns false if the user has given it up.
def Wait(Condition: func(): bool): bool
  try
    while !server.WaitFor(Condition, 60'000)
    endwhile
    return true
  catch /^Vim:Interrupt$/
  endtry
  return false
enddef

# Makes a request that tells how far it has got, and returns its result. Throws the server's error message, or what `messages` has for the
# error's reason.
export def Do(title: string, method: string, params: dict<any>, messages: dict<string> = {}): dict<any>
  server.Start()
  lastToken += 1
  what = title
  var process = server.Process()
  var response: dict<any> = {}
  var id = server.Request(method, params->copy()->extend({workDoneToken: lastToken}), (answer) => {
    extend(response, answer)
  })
  var IsOver = () => !empty(response) || server.Process() != process
  try
    Show('…')
    if !Wait(IsOver)
      Draw($'{what}: is being given up')
      server.Notify('$/cancelRequest', {id: id})
      server.WaitFor(IsOver, 5000)
    endif
  finally
    Clear()
  endtry
  if empty(response)
    throw $'Decent Notes: no answer to {method}'
  elseif has_key(response, 'error')
    throw 'Decent Notes: ' .. (response.error.code == -32800 ? 'given up; what was done by then stays'
      : get(messages, response.error->get('data', {})->get('reason', ''), response.error.message))
  endif
  return response.result
enddef

# Makes the same request for each of these notes, some at once. Returns the answers by the notes' ids: without those that were not asked
# for any more after the user has given it up, or the process has ended.
export def DoEach(title: string, method: string, ids: list<string>): dict<dict<any>>
  server.Start()
  what = title
  var process = server.Process()
  var answers: dict<dict<any>> = {}
  var sent = 0
  var Proceed = (): bool => {
    while sent < len(ids) && sent - len(answers) < SOME && server.Process() == process
      var id = ids[sent]
      sent += 1
      server.Request(method, {id: id}, (answer) => {
        answers[id] = answer
      })
    endwhile
    Show($'{len(answers)} of {len(ids)}')
    return len(answers) == len(ids) || server.Process() != process
  }
  try
    if !Wait(Proceed)
      server.WaitFor(() => len(answers) == sent || server.Process() != process, 5000)
    endif
  finally
    Clear()
  endtry
  return answers
enddef

server.On('$/progress', (params: dict<any>) => {
  if what != '' && string(params.token) == string(lastToken) && has_key(params.value, 'message')
    Show(params.value.message)
  endif
})

# See server.vim.
defcompile
