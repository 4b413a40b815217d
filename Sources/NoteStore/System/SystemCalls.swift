#if os(Linux)
  import Glibc
#else
  import Darwin
#endif

/// The system calls that not only `SystemFiles` needs, but also a watcher or the sync thread.
enum SystemCalls {
  static func close(_ descriptor: Int32) {
    #if os(Linux)
      _ = Glibc.close(descriptor)
    #else
      _ = Darwin.close(descriptor)
    #endif
  }

  /// Puts what was written to a file onto the disk; see `FileSystem.synchronize(file:)`.
  static func synchronize(file: Int32) throws(SystemError) {
    #if os(Linux)
      _ = try checked(fdatasync(file))
    #else
      // On Darwin fsync alone stops at the drive's cache. If F_FULLFSYNC is not supported for the
      // file, nothing was tried yet, and fsync is the best there is.
      if fcntl(file, F_FULLFSYNC) == 0 { return }
      guard errno == ENOTSUP || errno == EINVAL else { throw SystemError(errno) }
      _ = try checked(fsync(file))
    #endif
  }

  /// Puts the entries of a folder onto the disk; see `FileSystem.synchronize(folder:)`.
  static func synchronize(folder: Int32) throws(SystemError) {
    guard fsync(folder) != 0 else { return }
    switch errno {
    // File systems that cannot do this for a folder say so in several ways; that is no failure.
    case EINVAL, ENOTSUP, EOPNOTSUPP, ENOSYS, EBADF, EACCES, EPERM: return
    default: throw SystemError(errno)
    }
  }

  /// The result of a system call; throws the system's error number if that is negative.
  static func checked(_ result: Int32) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(errno) }
    return result
  }
}
