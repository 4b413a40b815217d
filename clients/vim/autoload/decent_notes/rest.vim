vim9script
# When others' edits may come into a buffer: while Vim waits for its user, and for nothing else. In the middle of a command Vim remembers
# places, and so does a script, which may wait in many ways: getchar(), input(), :sleep and others handle messages meanwhile. Knows nothing
# of notes.

# The functions at the bottom of the call stack while no script waits: that of the channel, and that of timers.
const ENTRY = '^function <SNR>\d\+_\%(Received\|Tick\)\['

# True while text is inserted into a block. It is repeated on the other lines of the block when Insert mode ends.
var isBlockInsert = false

# True if a callback has waited since Vim was at rest: Vim may say "S" until the next key, though nothing is half done.
var isStale = false

# For ModeChanged. When Insert mode ends, the block's other lines get their text before any message is handled.
export def NoteMode()
  isBlockInsert = v:event.new_mode != 'n' && (isBlockInsert || v:event.old_mode[0] == "\<C-V>")
enddef

# True if no command is half done and no script waits. To be asked while a message of the channel or a timer of `After` is handled.
export def IsReached(): bool
  # An operator that waits for its motion, a completion, a mapping that is half typed, an autocommand, another callback: all but "c", which is
  # the caller's own. In a terminal window "S" stays set after the first key.
  var flags = state('moaxwSc')
  if flags =~ 'cc' && !isStale
    isStale = true
    autocmd decent_notes_rest SafeState * Freshen()
  endif
  # A command line, a pattern, a question. Functions of 'statusline' and the like are in the call stack only.
  return (flags == 'c' || flags == 'Sc' && (isStale || mode() == 't')) && mode() !~ '^[cr]' && !isBlockInsert && expand('<stack>') =~ ENTRY
enddef

# For SafeState, which also comes while a callback asks for a line.
def Freshen()
  if state('c') == ''
    isStale = false
    autocmd! decent_notes_rest
  endif
enddef

# Has Vim notice that it is at rest after a `:normal`, which was called there. Without that it would say "S" until the next key.
export def Renew()
  feedkeys("\<Ignore>", 'n')
enddef

# The same where another script has called `:normal`, or something was in the way when Vim looked: nothing is half done, and it says "S". Behind a
# count that is being typed the key does nothing.
export def RenewIfIdle()
  if state('moaxwSc') == 'Sc' && mode() == 'n'
    decent_notes#rest#Renew()
  endif
enddef

# Calls `Action` after so many milliseconds, and returns the timer.
export def After(milliseconds: number, Action: func): number
  return timer_start(milliseconds, function(Tick, [Action]))
enddef

def Tick(Action: func, _: number)
  Action()
enddef

# Calls `Action` from a timer as soon as Vim is at rest.
export def Do(Action: func, milliseconds = 0)
  decent_notes#rest#RenewIfIdle()
  # Vim redraws a command line that is being typed after each timer.
  decent_notes#rest#After(milliseconds, () => decent_notes#rest#IsReached() ? Action() : decent_notes#rest#Do(Action, 100))
enddef

augroup decent_notes_rest
augroup END

# See server.vim.
defcompile
