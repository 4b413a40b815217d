vim9script
# Times of the protocol in the time zone of this machine.

# A time of the protocol, which is in UTC, as local time in a format of strftime().
export def Local(time: string, format: string): string
  var [year, month, day, hour, minute, second] =
    [time[0 : 3], time[5 : 6], time[8 : 9], time[11 : 12], time[14 : 15], time[17 : 18]]->mapnew((_, digits) => str2nr(digits))
  # Years begin with March here, so that a leap day is the last day of its year.
  var years = month > 2 ? year : year - 1
  var days = 365 * years + years / 4 - years / 100 + years / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day - 719469
  return strftime(format, ((days * 24 + hour) * 60 + minute) * 60 + second)
enddef

# See server.vim.
defcompile
