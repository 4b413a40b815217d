#if os(Linux)
  import Glibc
#else
  import Darwin
#endif

// This file and the others in this folder are the only ones that differ between systems. The branches for other systems than
// Linux have not been run.

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

/// The users who have access to what is created.
enum Users {
  /// The user who creates it.
  case owner
  /// Those who have access to the folder that it is created in, if that is a team's.
  case ofFolder
}

// A NOTEBOOK OF A TEAM
//
// The setgid bit of a folder says that a team works in it: its group. What is created in it belongs to that group, which the system sees to,
// and a folder has that bit, too. Any other folder is private inside, whatever its mode: 0755 and 0775 are what `mkdir` makes, and
// they say nothing about a team.
//
// The group gets what it needs, whatever the umask: in folders what it may do in the folder above, because each process creates a folder of
// its own in `log`, and compaction removes the files of others; of files only reading, because no process writes to a file of another one.
// A umask that kept this from the group would make a notebook that the team cannot read, in a folder that is there for the
// team. Other users get what they may do in the folder above, but for what the umask forbids them, and never write to a file. (The process's
// umask is to forbid nothing to the owner and the group; see `userMask` of the program.)
//
// The modes are given with the call that creates, and not set afterwards: another process looks into a folder as soon as it is there. So a
// default ACL counts, too, and a file system without modes refuses nothing.

/// The modes of what is created in a folder.
struct FileModes: Equatable {
  let file: UInt32
  let folder: UInt32

  /// Access for the owner alone.
  static let ofOwner = FileModes(file: 0o600, folder: 0o700)

  private init(file: UInt32, folder: UInt32) {
    self.file = file
    self.folder = folder
  }

  /// The modes of what is created in a notebook's folder of the mode `mode`.
  init(in mode: UInt32) {
    guard mode & 0o2000 != 0 else {
      self = .ofOwner
      return
    }
    self.init(file: 0o600 | mode & 0o044, folder: 0o700 | mode & 0o1077)
  }
}

/// The mounts of a Linux system, from `/proc/self/mountinfo`:
///
///     36 35 98:0 /mnt1 /mnt2 rw,noatime shared:1 - ext3 /dev/root rw,errors=continue
///
/// It is read to find out whether a file system is shared with other machines, or served by a program: there are no events for
/// the changes that those make. And whether it is in memory.
struct MountTable {
  private var types: [Substring: Substring] = [:]

  init(_ bytes: [UInt8]) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      // The number of fields before the lone hyphen varies.
      let fields = line.split(separator: " ")
      guard fields.count > 3, let hyphen = fields.firstIndex(of: "-"),
        hyphen + 1 < fields.count
      else { continue }
      types[fields[2]] = fields[hyphen + 1]
    }
  }

  /// True if the file system with this number in `stat` is shared or served by a program.
  func isShared(device: UInt64) -> Bool {
    guard let type = type(of: device) else { return false }
    return type == "fuse" || type.hasPrefix("fuse.") || Self.sharedTypes.contains(type)
  }

  /// True if the file system with this number in `stat` is in memory.
  func isInMemory(device: UInt64) -> Bool { type(of: device) == "tmpfs" }

  private func type(of device: UInt64) -> Substring? {
    // These are glibc's `major` and `minor`, which are macros there.
    let major = device >> 8 & 0xfff | device >> 32 & ~0xfff
    let minor = device & 0xff | device >> 12 & 0xffff_ff00
    return types["\(major):\(minor)"]
  }

  private static let sharedTypes: Set<Substring> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "lustre", "gfs2",
    "ocfs2", "vboxsf", "vmhgfs",
  ]
}
