-- Times of the protocol in the time zone of this machine.

local M = {}

--- A time of the protocol, which is in UTC, as local time in a format of os.date.
function M.to_local(time, format)
  local year, month, day, hour, minute, second = time:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)')
  -- Years begin with March here, so that a leap day is the last day of its year.
  year, month = month < '03' and year - 1 or year + 0, (month + 9) % 12
  local days = 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
    + math.floor((153 * month + 2) / 5) + day - 719469
  return os.date(format, ((days * 24 + hour) * 60 + minute) * 60 + second)
end

return M
