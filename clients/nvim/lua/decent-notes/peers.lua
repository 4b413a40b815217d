-- Links with peers: other notebooks with which changes are exchanged all the time, and who has which note open there.

local server = require('decent-notes.server')
local times = require('decent-notes.time')
local work = require('decent-notes.work')

local M = {}
local links = {} -- the addresses of the peers to which a link was begun here; another process begins them again
local warning = vim.log.levels.WARN

--- The address of a peer as it is sent. A folder is named from the root: the process may have been started in another one than that
--- which is current now.
local function address_of(peer)
  if peer:find('^%.?%.?/') or vim.fn.isdirectory(peer) == 1 then
    return (vim.fn.fnamemodify(peer, ':p'):gsub('(.)/$', '%1'))
  end
  return peer
end

local function begin(peer)
  local result = work.run('Exchanging changes', 'notebook/sync', { peer = peer, stay = true })
  if result then
    links[peer] = true
    server.tell(('linked to %s: sent %d bytes, received %d'):format(peer, result.sent, result.received))
  end
end

--- Ends a link. Nothing is exchanged any more after a last exchange, which tells when that is so.
local function finish(peer)
  links[peer] = nil
  server.request('notebook/sync', { peer = peer, stay = false }, function(problem)
    if problem and (problem.data or {}).reason ~= 'peerUnreachable' then
      server.tell(problem.message, warning)
    else
      server.tell(('no link to %s any more%s'):format(peer, problem and '; it was out of reach' or ''),
        problem and warning or nil)
    end
  end, true)
end

--- Shows how the peers are, a line for each.
local function show_peers()
  local status = server.call('notebook/status')
  if status and #status.peers == 0 then
    return server.tell('there are no peers; :NotesSync {peer} links one')
  end
  local lines = {}
  for _, it in ipairs(status and status.peers or {}) do
    local state = it.live and 'linked' or it.failure or it.reached and 'reached ' .. times.to_local(it.reached, '%Y-%m-%d %H:%M')
      or 'not reached'
    lines[#lines + 1] = { ((it.peer .. '  ' .. state):gsub('%c+', ' ')) .. '\n' }
  end
  vim.api.nvim_echo(lines, false, {})
end

--- :NotesSync. Begins a link to a peer, or ends it; without a peer it ends all that were begun here, or shows how the peers are.
function M.sync(peer, is_ending)
  if peer == '' and not is_ending then
    show_peers()
  elseif not is_ending then
    begin(address_of(peer))
  elseif server.ensure() then
    vim.tbl_map(finish, peer == '' and vim.tbl_keys(links) or { address_of(peer) })
  end
end

server.on_start[#server.on_start + 1] = function()
  for _, peer in ipairs(vim.tbl_keys(links)) do
    server.request('notebook/sync', { peer = peer, stay = true }, function(problem)
      if problem and not problem.gone and links[peer] then
        links[peer] = nil
        server.tell(('no link to %s any more: %s'):format(peer, problem.message), warning)
      end
    end, true)
  end
end

return M
