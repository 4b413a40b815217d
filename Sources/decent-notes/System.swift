#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The umask that the user has. The first use of it, at the start of the program, leaves the process only what that keeps from other users:
/// who else has access is said with each call that creates something.
let userMask: mode_t = {
  let mask = umask(0o077)
  _ = umask(mask & 0o007)
  return mask
}()

/// The umask of programs whose files are nobody else's.
let privateMask: mode_t = 0o077

/// Returns true if there is a process of this number.
func isRunning(_ process: Int) -> Bool { kill(pid_t(process), 0) == 0 || errno != ESRCH }

/// Why a folder is not this user's alone, in words that follow its name; nil if it is, or if there is none.
func defect(ofPrivateFolder path: String) -> String? {
  var status = stat()
  guard lstat(path, &status) == 0 else { return nil }
  switch status.st_mode & S_IFMT {
  case S_IFLNK: return "is a link"
  case S_IFDIR: break
  default: return "is no folder"
  }
  if status.st_uid != geteuid() { return "belongs to another user" }
  return status.st_mode & S_IWOTH == 0 ? nil : "can be written by every user"
}

/// Gives memory that is free back to the system, where the C library can: `malloc_trim` of glibc, which its module does not have.
func returnFreeMemory() { _ = trimMemory?(0) }

private let trimMemory = dlsym(nil, "malloc_trim").map {
  unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
}

/// By how many seconds local time is ahead of UTC, at a local time that is given as the seconds since 1970 that it would be in UTC.
func localZone(_ localSeconds: Int64) -> Int64 {
  var seconds = time_t(localSeconds)
  var parts = tm()
  guard gmtime_r(&seconds, &parts) != nil else { return 0 }
  parts.tm_isdst = -1
  let utc = mktime(&parts)
  return utc == -1 ? 0 : localSeconds - Int64(utc)
}
