vim9script
# The tests load this into Vim: every request in the file $DN_TEST/in is evaluated, in any mode of Vim, and answered in
# $DN_TEST/out. A request is a number and an expression, or `:` and a command.

set encoding=utf-8 nomore hidden backspace=indent,eol,start directory=. shortmess+=I ttimeout ttimeoutlen=5
filetype plugin on
execute 'set runtimepath^=' .. expand('<sfile>:p:h:h')

var last = 0
def g:Poll(_: number)
  var lines = readfile($DN_TEST .. '/in')
  var number = str2nr(get(lines, 0, '0'))
  if number <= last
    return
  endif
  last = number
  var value: any
  var code = join(lines[1 :], "\n")
  try
    value = g:Evaluated(code)
  catch
    value = 'error: ' .. v:exception .. ' ' .. v:throwpoint
  endtry
  writefile([json_encode([number, value])], $DN_TEST .. '/out.new')
  rename($DN_TEST .. '/out.new', $DN_TEST .. '/out')
enddef
timer_start(5, g:Poll, {repeat: -1})

# Not in Vim9 script: as a user writes it.
function g:Evaluated(code)
  return a:code[0] ==# ':' ? execute(a:code[1:], '') : eval(a:code)
endfunction

def g:Text(): string
  return getline(1, '$')->join("\n")
enddef
