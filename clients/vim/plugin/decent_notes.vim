vim9script noclear
# Decent Notes: notes that are merged, edited in Vim. See :help decent-notes.
# Sourced again, as by a `:runtime` in the settings, it keeps what it has imported.

if exists('g:loaded_decent_notes') || v:version < 900 || !has('channel')
  finish
endif
g:loaded_decent_notes = 1

import autoload 'decent_notes/buffer.vim'
import autoload 'decent_notes/commands.vim'
import autoload 'decent_notes/edit.vim'
import autoload 'decent_notes/files.vim'
import autoload 'decent_notes/links.vim'
import autoload 'decent_notes/list.vim'
import autoload 'decent_notes/live.vim'
import autoload 'decent_notes/offer.vim'
import autoload 'decent_notes/peers.vim'
import autoload 'decent_notes/rest.vim'
import autoload 'decent_notes/server.vim'

command -bar Notes server.Try(() => list.Open())
command -nargs=1 -complete=customlist,commands.Titles Note server.Try(() => commands.Open(<q-args>))
command -nargs=? NoteNew server.Try(() => buffer.New(<q-args>))
command -nargs=* -complete=customlist,commands.Tags NoteTag server.Try(() => commands.Tag([<f-args>]))
command -nargs=1 -complete=customlist,commands.Priorities NotePriority server.Try(() => commands.Update({priority: <q-args>}))
command -nargs=1 -complete=customlist,commands.Title NoteTitle server.Try(() => commands.Retitle(<q-args>))
command -nargs=1 NoteGrep server.Try(() => commands.Grep(<q-args>))
command -bar NoteBacklinks server.Try(() => commands.Backlinks())
command -bar NoteHistory server.Try(() => commands.History())
command -bar NoteDelete server.Try(() => commands.Delete())
command -bar NoteToday server.Try(() => commands.Today())
command -bar NotePurge server.Try(() => commands.Purge())
command -bar NotesEmptyTrash server.Try(() => list.EmptyTrash())
command -nargs=1 -complete=file NotesImport server.Try(() => files.Import(<q-args>))
command -nargs=1 -bang -complete=dir NotesExport server.Try(() => files.Export(<q-args>, <bang>false))
command -nargs=? -bang -complete=customlist,peers.Complete NotesSync server.Try(() => peers.Sync(<q-args>, <bang>false))
command -bar NotesUnsent server.Try(() => offer.Ask())
command -bar NotesRestart server.Try(() => commands.Restart())
command -bar NotesLog commands.ShowLog()

nnoremap <Plug>(decent-notes-undo) <Cmd>execute decent_notes#buffer#Undo('note/undo')<CR>
nnoremap <Plug>(decent-notes-redo) <Cmd>execute decent_notes#buffer#Undo('note/redo')<CR>

augroup decent_notes
  autocmd!
  autocmd BufReadCmd note://* ++nested server.Try(() => buffer.Read())
  autocmd BufReadPost note://* links.Prepare()
  autocmd BufWriteCmd note://* server.Try(() => buffer.Write())
  autocmd BufFilePost * buffer.Renamed()
  autocmd BufEnter note://* buffer.Entered()
  autocmd BufWinEnter,SessionLoadPost notes://list list.Shown()
  autocmd BufEnter notes://list list.Entered()
  autocmd InsertEnter note://* edit.BeginInsertion()
  autocmd InsertLeave note://* edit.EndInsertion()
  autocmd BufUnload note://* live.Close(str2nr(expand('<abuf>')))
  autocmd ModeChanged *:* rest.NoteMode()
  autocmd CursorMoved,CursorMovedI,BufEnter note://* live.CursorMoved()
  autocmd QuitPre note://* buffer.Quitting()
  autocmd QuitPre * live.SettleAll(2000)
  autocmd VimLeavePre * buffer.Leave()
augroup END
