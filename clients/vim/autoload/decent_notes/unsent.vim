vim9script
# Files for texts that the server does not have: NAME.txt is the text alone, NAME.json what is needed to merge it. Each editor offers what another
# one, which is gone, has left. They are of the user alone.

import autoload './server.vim'

# The names of files of notes that are open here.
var inUse: dict<bool> = {}
# True after the user was told what earlier editors have left.
var isOffered = false

def Folder(): string
  return ($XDG_STATE_HOME ?? expand('~/.local/state')) .. '/decent-notes/unsent'
enddef

# A name for files of the note `id` that are not there yet.
export def NewName(id: string): string
  var time = localtime()
  var name = ''
  while name == '' || filereadable(decent_notes#unsent#Path(name))
    name = $'{id}-{strftime('%Y%m%dT%H%M%S', time)}-{getpid()}'
    time += 1
  endwhile
  return name
enddef

export def Path(name: string): string
  return $'{Folder()}/{name}.txt'
enddef

# Writes the text, and `info` unless it is empty: what `note/open` needs in `resume` besides the text, with `id` and `title`. Throws if the disk
# refuses.
export def Write(name: string, lines: list<string>, info: dict<any>)
  mkdir(Folder(), 'p', 0o700)
  inUse[name] = true
  # After a kill between the two, a text that is newer than its version may be merged twice, and is not lost.
  Replace('txt', name, lines)
  if !empty(info)
    Replace('json', name, [json_encode(extend({pid: getpid()}, info))])
  endif
enddef

def Replace(kind: string, name: string, lines: list<string>)
  var path = $'{Folder()}/{name}.{kind}'
  # Vim's rename() removes the old file first: until it is over the new one has the text, see `Newest`.
  writefile(lines, path .. '.new', 'bS')
  setfperm(path .. '.new', 'rw-------')
  if rename(path .. '.new', path) != 0
    throw $'Decent Notes: {path} cannot be written'
  endif
enddef

# Leaves the files to be offered, also here.
export def Leave(name: string)
  inUse->filter((used, _) => used != name)
enddef

export def Remove(name: string)
  decent_notes#unsent#Leave(name)
  for kind in ['json.new', 'json', 'txt.new', 'txt']
    delete($'{Folder()}/{name}.{kind}')
  endfor
enddef

# What editors that are gone have left, and buffers that are gone here, the oldest first: each with `name`, `id`, `title`, `time` and `text`, and what
# `resume` needs as far as it is known.
export def Left(): list<dict<any>>
  var found: list<dict<any>> = []
  for name in isdirectory(Folder()) ? Names() : []
    var info = Info(name)
    if !IsInUse(name, get(info, 'pid', 0))
      add(found, extend({title: '', id: matchstr(name, '^\d\+-\x\+')}, info)->extend({name: name,
        time: getftime(Newest(name, 'txt')), text: readfile(Newest(name, 'txt'), 'b')->join("\n")}))
    endif
  endfor
  return found->sort((one, other) => one.time - other.time)
enddef

# The names of all files.
def Names(): list<string>
  return readdir(Folder(), (file) => file =~ '\.txt\%(\.new\)\=$')->map((_, file) => substitute(file, '\.txt.*', '', ''))->uniq()
enddef

# The path of a file. One that was being replaced when its editor was killed has another name.
def Newest(name: string, kind: string): string
  var path = $'{Folder()}/{name}.{kind}'
  return filereadable(path) ? path : path .. '.new'
enddef

# What stands beside the text, or {}: a file of an earlier version has nothing there.
def Info(name: string): dict<any>
  try
    var info: any = readfile(Newest(name, 'json'))->join("\n")->json_decode()
    if type(info) == v:t_dict && mapnew(['id', 'title', 'session', 'baseText', 'pid', 'version', 'rev'], (_, key) => type(get(info, key)))
        == repeat([v:t_string], 4) + repeat([v:t_number], 3)
      return info
    endif
  catch /^Vim\%((\a\+)\)\=:E/
  endtry
  return {}
enddef

# True if the editor that writes the files still runs. Its number may be another program's by now. One that has ended may still be listed, as long
# as its parent has not waited for it.
def IsInUse(name: string, process: number): bool
  if process == getpid()
    return has_key(inUse, name)
  endif
  return process > 0 && system($'ps -o stat= -o comm= -p {process}') =~ '\c^\s*[^Z[:space:]]\S*\s.*\(vi\|emacs\)'
enddef

# Tells once what earlier editors have left of notes that are in this notebook.
export def Offer()
  var left = isOffered ? [] : decent_notes#unsent#Left()
  isOffered = true
  var titles: list<string> = []
  for it in left
    server.Request('note/get', {id: it.id}, (response) => {
      if has_key(response, 'result')
        add(titles, response.result.note.title)
        if len(titles) == 1
          # The others' answers come at once.
          timer_start(100, (_) => server.Tell(len(titles) > 1 ? $'unsent texts of {len(titles)} notes were kept: :NotesUnsent'
            : $'unsent text of "{strcharpart(titles[0], 0, 30)}" was kept: :NotesUnsent', 'WarningMsg'))
        endif
      endif
    })
  endfor
enddef

# See server.vim.
defcompile
