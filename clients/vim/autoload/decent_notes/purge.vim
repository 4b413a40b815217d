vim9script
# Notes of the trash are forgotten for good: never without a question.

import autoload './server.vim'
import autoload './work.vim'

# Asks whether these notes are to be forgotten, and has it done. `ReadAgain` reads the list again, which is done whatever comes of it: notes may
# have been restored or forgotten by others during the question.
export def Ask(notes: list<dict<any>>, ReadAgain: func)
  var question = len(notes) == 1
    ? $'Forget "{decent_notes#purge#Named(notes[0])}" for good, on all machines?'
    : $"Forget {len(notes)} notes for good, on all machines?\n{Names(notes)}"
  AskThis(question, notes, ReadAgain)
enddef

# The same for all notes that are in the trash.
export def EmptyTrash(ReadAgain: func)
  var notes: list<dict<any>> = server.Call('notebook/list', {trashed: true}).notes
  if empty(notes)
    throw 'Decent Notes: the trash is empty'
  endif
  AskThis(len(notes) == 1 ? $'Empty the trash? Its only note, "{decent_notes#purge#Named(notes[0])}", is forgotten for good, on all machines.'
    : $'Empty the trash? Its {len(notes)} notes are forgotten for good, on all machines.', notes, ReadAgain)
enddef

# The title of a note, as far as there is room in a question.
export def Named(note: dict<any>): string
  return strcharpart(note.title ?? '(no title)', 0, 40)->substitute('[\x00-\x1f]\+', ' ', 'g')
enddef

# The titles of the first of these notes, and how many others there are.
def Names(notes: list<dict<any>>): string
  return notes[: 4]->mapnew((_, note) => $'"{decent_notes#purge#Named(note)}"')->join(', ') .. (len(notes) > 5 ? $' and {len(notes) - 5} more' : '')
enddef

def AskThis(question: string, notes: list<dict<any>>, ReadAgain: func)
  var isWanted = confirm(question, "&Forget\n&Cancel", 2) == 1
  var ids = notes->mapnew((_, note) => note.id)
  var answers: dict<dict<any>> = {}
  try
    if isWanted
      answers = work.DoEach('Forgetting', 'note/purge', ids)
    endif
  finally
    ReadAgain()
  endtry
  if isWanted
    # At the end: what is drawn after a message may hide it.
    Tell(ids, answers)
  endif
enddef

# Tells what came of it.
def Tell(ids: list<string>, answers: dict<dict<any>>)
  var count = {purged: 0, gone: 0, notTrashed: 0, other: 0}
  var problem = ''
  for answer in values(answers)
    var reason = get(answer, 'error', {})->get('data', {})->get('reason', '')
    if has_key(answer, 'result')
      count.purged += 1
    elseif reason == 'purged' || reason == 'noSuchNote'
      count.gone += 1
    elseif reason == 'notTrashed'
      count.notTrashed += 1
    else
      count.other += 1
      problem = answer.error.message
    endif
  endfor
  var parts: list<string> = []
  for [number, words] in [[count.purged, 'forgotten for good'], [count.gone, 'forgotten by others'],
      [count.notTrashed, 'not in the trash any more'], [len(ids) - len(answers), 'without an answer'],
      [count.other, 'refused: ' .. problem]]
    if number > 0
      add(parts, (len(ids) == 1 ? 'the note is ' : number .. ' ') .. words)
    endif
  endfor
  server.Tell(join(parts, ', '), count.purged + count.gone == len(ids) ? 'None' : 'WarningMsg')
enddef

# See server.vim.
defcompile
