vim9script
# Texts that another editor could not send before it ended: the user says what becomes of each.

import autoload './buffer.vim'
import autoload './server.vim'
import autoload './unsent.vim'

export def Ask()
  server.Start()
  var left = unsent.Left()
  if empty(left)
    throw 'Decent Notes: there is no unsent text of another editor'
  endif
  for it in left
    # What is merged has no place where nothing is known of the state that it was typed into.
    var merge = has_key(it, 'session') ? "&Merge it into the note\n" : ''
    var choice = confirm($"Text for \"{it.title ?? it.id}\" of {strftime('%Y-%m-%d %H:%M', it.time)} was not sent.",
      merge .. "&Keep it as a new note\n&Forget it\n&Later", 1)
    choice += merge == '' && choice > 0 ? 1 : 0
    if choice == 1
      Merge(it)
    elseif choice == 2
      Show(server.Call('note/create', {title: (it.title ?? it.id) .. ' (unsent)', text: it.text}).note, it)
    elseif choice == 3
      unsent.Remove(it.name)
    endif
  endfor
enddef

def Merge(it: dict<any>)
  var opened = server.Call('note/open', {id: it.id, mode: 'edit', push: 'lines', resume: {session: it.session, version: it.version, rev: it.rev,
    text: it.text, baseText: it.baseText, hidesReturns: get(it, 'hidesReturns', false)}})
  server.Call('note/close', {attachment: opened.attachment})
  Show(server.Call('note/get', {id: it.id}).note, it)
enddef

# Shows the note that has the text now, whose files are removed when it is on disk.
def Show(summary: dict<any>, it: dict<any>)
  server.Call('notebook/flush')
  unsent.Remove(it.name)
  buffer.Edit(summary)
enddef

# See server.vim.
defcompile
