// This file and the others in this folder are the only ones that differ between systems. The branches for other systems than
// Linux have not been run.

#if os(Linux)
  import Glibc
#else
  import Darwin
#endif

/// The system's files. An interrupted call is made again; every other failure is passed on.
final class SystemFiles: FileSystem {
  /// The only instance.
  static let shared = SystemFiles()

  private init() {}

  func openFolder(
    _ name: String, in folder: Int32?, followingLinks: Bool
  ) throws(SystemError) -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK
    return try SystemCalls.checked(
      openat(folder ?? AT_FDCWD, name, followingLinks ? flags : flags | O_NOFOLLOW))
  }

  func openFile(_ name: String, in folder: Int32) throws(SystemError) -> Int32 {
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY
    return try SystemCalls.checked(openat(folder, name, flags))
  }

  func createFile(
    _ name: String, in folder: Int32, for users: Users
  ) throws(SystemError) -> Int32 {
    let mode = mode_t(try modes(in: folder, for: users).file)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW
    return try SystemCalls.checked(openat(folder, name, flags, mode))
  }

  func createFolder(
    _ name: String, in folder: Int32?, for users: Users
  ) throws(SystemError) {
    let mode = mode_t(try modes(in: folder ?? AT_FDCWD, for: users).folder)
    _ = try SystemCalls.checked(mkdirat(folder ?? AT_FDCWD, name, mode))
  }

  private func modes(in folder: Int32, for users: Users) throws(SystemError) -> FileModes {
    if users == .owner { return .ofOwner }
    var status = stat()
    _ = try SystemCalls.checked(fstat(folder, &status))
    return FileModes(in: UInt32(status.st_mode))
  }

  var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  func close(_ descriptor: Int32) { SystemCalls.close(descriptor) }

  func status(_ descriptor: Int32) throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try SystemCalls.checked(fstat(descriptor, &status))
    return FileStatus(status)
  }

  func checkWritable(_ folder: Int32) throws(SystemError) {
    _ = try SystemCalls.checked(faccessat(folder, ".", W_OK | X_OK, AT_EACCESS))
  }

  func status(of name: String, in folder: Int32?) throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try SystemCalls.checked(fstatat(folder ?? AT_FDCWD, name, &status, AT_SYMLINK_NOFOLLOW))
    return FileStatus(status)
  }

  func names(in folder: Int32) throws(SystemError) -> [String] {
    // A fresh descriptor: a folder's read position is shared between duplicates.
    let copy = try SystemCalls.checked(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    guard let stream = fdopendir(copy) else {
      let failure = SystemError(errno)
      close(copy)
      throw failure
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name, name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw SystemError(errno) }
    return names
  }

  func read(_ count: Int, at offset: UInt64, of file: Int32) throws(SystemError) -> [UInt8] {
    guard let offset = off_t(exactly: offset) else { return [] }
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let rest = UnsafeMutableRawPointer(buffer.baseAddress! + filled)
        let got = pread(file, rest, count - filled, offset + off_t(filled))
        if got > 0 {
          filled += got
        } else if got == 0 {
          break
        } else if errno != EINTR {
          failure = SystemError(errno)
          break
        }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  func append(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
    while true {
      let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if count >= 0 { return count }
      guard errno == EINTR else { throw SystemError(errno) }
    }
  }

  func empty(_ file: Int32) throws(SystemError) {
    _ = try SystemCalls.checked(ftruncate(file, 0))
  }

  func synchronize(file: Int32) throws(SystemError) { try SystemCalls.synchronize(file: file) }

  func synchronize(folder: Int32) throws(SystemError) {
    try SystemCalls.synchronize(folder: folder)
  }

  func lock(_ file: Int32, exclusively: Bool) throws(SystemError) -> Bool {
    while flock(file, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return false
      default: throw SystemError(errno)
      }
    }
    return true
  }

  func rename(_ name: String, to new: String, in folder: Int32) throws(SystemError) {
    _ = try SystemCalls.checked(renameat(folder, name, folder, new))
  }

  func link(_ name: String, as new: String, in folder: Int32) throws(SystemError) {
    _ = try SystemCalls.checked(linkat(folder, name, folder, new, 0))
  }

  func remove(_ name: String, in folder: Int32) throws(SystemError) {
    _ = try SystemCalls.checked(unlinkat(folder, name, 0))
  }

  func removeFolder(_ name: String, in folder: Int32) throws(SystemError) {
    _ = try SystemCalls.checked(unlinkat(folder, name, AT_REMOVEDIR))
  }

  let boot: String = {
    // Where the system has no such word, each process takes a word of its own.
    let unknown = "unknown-\(getpid())-\(time(nil))"
    var bytes = [UInt8](repeating: 0, count: 64)
    #if os(Linux)
      let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return unknown }
      defer { _ = Glibc.close(file) }
      guard Glibc.read(file, &bytes, bytes.count) > 0 else { return unknown }
    #else
      var count = bytes.count
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else {
        return unknown
      }
    #endif
    return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
  }()

  func makeSyncQueue(path: String) throws(StoreError) -> any SyncQueue {
    try SyncThread(path: path)
  }

  func makeWatcher() -> (any Watcher)? {
    #if os(Linux)
      return InotifyWatcher()
    #else
      return nil
    #endif
  }

  func isSilent(_ folder: Int32) -> Bool {
    mounts?.isShared(device: device(of: folder)) ?? false
  }

  func isInMemory(_ folder: Int32) -> Bool {
    mounts?.isInMemory(device: device(of: folder)) ?? false
  }

  /// The number of the file system that a folder is in; 0 for none.
  private func device(of folder: Int32) -> UInt64 {
    (try? status(folder))?.device ?? 0
  }

  /// The mounts of the system, where it tells them.
  private var mounts: MountTable? {
    #if os(Linux)
      guard
        let mounts = try? SystemCalls.checked(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC))
      else { return nil }
      defer { close(mounts) }
      return (try? read(1 << 20, at: 0, of: mounts)).map(MountTable.init)
    #else
      return nil
    #endif
  }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      default: .other
      }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
    links = UInt64(truncatingIfNeeded: status.st_nlink)
    size = UInt64(clamping: status.st_size)
    isReadable = status.st_mode & S_IRUSR != 0
    #if os(Linux)
      let time = status.st_ctim
    #else
      let time = status.st_ctimespec
    #endif
    changed = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

extension NoteStore {
  /// True if a folder is in a file system in memory, as far as the system tells: then what is written there does not outlive the machine.
  public static func isInMemory(_ folder: String) -> Bool {
    let system = SystemFiles.shared
    guard let descriptor = try? FileDescriptor.folder(folder, on: system) else { return false }
    return system.isInMemory(descriptor.number)
  }
}
