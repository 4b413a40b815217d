vim9script
# Notes out of files, and files out of notes.

import autoload './server.vim'
import autoload './work.vim'

# Makes notes of the files of a folder, or of one file. `:NotesImport`
export def Import(name: string)
  var path = fnamemodify(name, ':p')
  var result = work.Do('Importing', 'notebook/import', {path: path})
  Tell([[result.created, 'created'], [result.updated, 'updated'], [result.unchanged, 'unchanged']], 'NotesImport',
    isdirectory(path) ? path : fnamemodify(path, ':h'), result.skipped)
enddef

# Writes the notes into a folder: also into one that has files of somebody else's, if `isInto`. `:NotesExport`
export def Export(name: string, isInto: bool)
  var path = fnamemodify(name, ':p')
  var result = work.Do('Exporting', 'notebook/export', isInto ? {path: path, into: true} : {path: path},
    {notEmpty: 'other files are there; :NotesExport! writes beside them'})
  Tell([[result.written, 'written'], [result.removed, 'removed'], [result.unchanged, 'unchanged']], 'NotesExport', path, result.skipped)
enddef

# Tells the counts. Files that were left out go into the quickfix list.
def Tell(numbers: list<list<any>>, command: string, folder: string, skipped: list<dict<any>>)
  var counts = numbers->filter((_, pair) => pair[0] > 0)->mapnew((_, pair) => $'{pair[0]} {pair[1]}')->join(', ') ?? 'there was no file'
  if empty(skipped)
    server.Tell(counts, 'None')
    return
  endif
  setqflist([], ' ', {title: $':{command} {folder}', items: skipped->mapnew((_, file) =>
    ({filename: folder->substitute('/*$', '/', '') .. file.path, text: file.reason}))})
  for file in skipped
    server.Log($'left out: {file.path}: {file.reason}')
  endfor
  server.Tell($'{counts}; {len(skipped)} left out, see :copen', 'WarningMsg')
enddef

# See server.vim.
defcompile
