#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Returns true if there is a process of this number.
func isRunning(_ process: Int) -> Bool { kill(pid_t(process), 0) == 0 || errno != ESRCH }

/// Gives memory that is free back to the system, where the C library can: `malloc_trim` of glibc, which its module does not have.
func returnFreeMemory() { _ = trimMemory?(0) }

private let trimMemory = dlsym(nil, "malloc_trim").map {
  unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
}
