vim9script
# Links with peers: other notebooks with which changes are exchanged all the time, and who has which note open there.

import autoload './server.vim'
import autoload './time.vim'
import autoload './work.vim'

# The addresses of the peers to which a link was begun here. Another process begins them again.
var links: dict<bool> = {}

# A folder is named from the root: the process may have been started in another one than that which is current now.
def Address(peer: string): string
  return peer =~ '^\.\=\.\=/' || isdirectory(peer) ? fnamemodify(peer, ':p')->substitute('.\zs/$', '', '') : peer
enddef

# Begins a link to a peer, or ends it; without a peer it ends all that were begun here, or shows how the peers are.
export def Sync(peer: string, isEnding: bool)
  if isEnding
    for address in peer == '' ? keys(links) : [Address(peer)]
      End(address)
    endfor
  elseif peer == ''
    ShowPeers()
  else
    Begin(Address(peer))
  endif
enddef

def Begin(peer: string)
  var result = work.Do('Exchanging changes', 'notebook/sync', {peer: peer, stay: true})
  links[peer] = true
  server.Tell($'linked to {peer}: sent {result.sent} bytes, received {result.received}', 'None')
enddef

# Nothing is exchanged any more after this. A last exchange tells when that is so.
def End(peer: string)
  server.Start()
  if has_key(links, peer)
    remove(links, peer)
  endif
  server.Request('notebook/sync', {peer: peer, stay: false}, (response) => {
    var problem = get(response, 'error', {})
    if get(problem, 'data', {})->get('reason', '') == 'peerUnreachable'
      server.Tell($'no link to {peer} any more; it was out of reach', 'WarningMsg')
    elseif empty(problem)
      server.Tell($'no link to {peer} any more', 'None')
    else
      server.Tell(problem.message)
    endif
  })
enddef

# The state of the peers, a line for each.
def ShowPeers()
  var peers: list<dict<any>> = server.Call('notebook/status').peers
  if empty(peers)
    server.Tell('there are no peers; :NotesSync {peer} links one', 'None')
    return
  endif
  for peer in peers
    var state = get(peer, 'live', false) ? 'linked'
      : get(peer, 'failure', '') ?? (has_key(peer, 'reached') ? 'reached ' .. time.Local(peer.reached, '%Y-%m-%d %H:%M') : 'not reached')
    echo substitute($'{peer.peer}  {state}', '[\x00-\x1f]\+', ' ', 'g')
  endfor
enddef

# Peers and folders to complete; none after an error, which the command itself will report.
export def Complete(lead: string, line: string, position: number): list<string>
  # A peer may have blanks. All words typed so far are its beginning, but Vim replaces only the last one.
  var start = strpart(line, 0, position)->substitute('\C^.\{-}NotesSync!\=\s*', '', '')
  var before = strlen(start) - strlen(lead)
  var found: list<string> = []
  try
    found = server.Call('notebook/status').peers->mapnew((_, peer) => peer.peer)->filter((_, peer) => stridx(peer, start) == 0)
  catch /^Decent Notes: /
  endtry
  return extend(found, getcompletion(start, 'dir'))->sort()->uniq()->map((_, word) => strpart(word, before))
enddef

# Another process has taken the place of one that has died.
server.OnReady(() => {
  for peer in keys(links)
    server.Request('notebook/sync', {peer: peer, stay: true}, (response) => {
      if has_key(response, 'error') && has_key(links, peer)
        remove(links, peer)
        server.Tell($'no link to {peer} any more: {response.error.message}')
      endif
    })
  endfor
})

# See server.vim.
defcompile
