#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Owns one file descriptor and closes it. Every call names its path when it fails.
///
/// Nothing here follows a symbolic link in the last component, and nothing blocks on what merely
/// looks like a file: a FIFO somebody put into the folder must not stop the program.
struct FileDescriptor: ~Copyable, Sendable {
  /// The number the system knows it by.
  let number: Int32
  /// Where it was opened; for error messages.
  let path: String

  /// Takes over `number`: nobody else may close it.
  init(owning number: Int32, path: String) {
    self.number = number
    self.path = path
  }

  deinit {
    _ = close(number)
  }

  /// Opens a folder for listing and for reaching what is in it.
  ///
  /// - Parameter followingLinks: whether `path` itself may be a symbolic link. Only the path that the
  ///   user chose may be one; what is inside the notebook may not.
  static func folder(
    _ path: String, followingLinks: Bool = false
  ) throws(StoreError) -> FileDescriptor {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK
    let number = open(path, followingLinks ? flags : flags | O_NOFOLLOW)
    guard number >= 0 else { throw .system("open", path) }
    return FileDescriptor(owning: number, path: path)
  }

  /// Opens the folder called `name` in this folder.
  func folder(_ name: String) throws(StoreError) -> FileDescriptor {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW
    let number = openat(self.number, name, flags)
    guard number >= 0 else { throw .system("open", "\(path)/\(name)") }
    return FileDescriptor(owning: number, path: "\(path)/\(name)")
  }

  /// Opens the regular file called `name` in this folder for reading; nil when it is anything else.
  func regularFile(_ name: String) throws(StoreError) -> FileDescriptor? {
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY
    let number = openat(self.number, name, flags)
    guard number >= 0 else {
      // ELOOP: a symbolic link. ENXIO: a socket or a device without a driver.
      if errno == ELOOP || errno == ENXIO { return nil }
      throw .system("open", "\(path)/\(name)")
    }
    let file = FileDescriptor(owning: number, path: "\(path)/\(name)")
    guard try file.status().kind == .file else { return nil }
    return file
  }

  /// Creates the file called `name` in this folder, for appending; it must not exist yet.
  ///
  /// Its mode is 0600 whatever the umask is.
  func createFile(_ name: String) throws(StoreError) -> FileDescriptor {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW
    let number = openat(self.number, name, flags, 0o600)
    guard number >= 0 else { throw .system("create", "\(path)/\(name)") }
    // May fail on file systems without modes; they have nothing to protect then.
    _ = fchmod(number, 0o600)
    return FileDescriptor(owning: number, path: "\(path)/\(name)")
  }

  /// Creates the folder called `name` in this folder with mode 0700.
  ///
  /// - Returns: false when something of that name exists already.
  @discardableResult
  func createFolder(_ name: String) throws(StoreError) -> Bool {
    if mkdirat(number, name, 0o700) == 0 { return true }
    guard errno == EEXIST else { throw .system("mkdir", "\(path)/\(name)") }
    return false
  }

  /// Removes the file called `name` from this folder, if it is there.
  func remove(_ name: String) {
    _ = unlinkat(number, name, 0)
  }

  /// What the system says about the open file.
  func status() throws(StoreError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw .system("stat", path) }
    return FileStatus(status)
  }

  /// What the system says about `name` in this folder, without following a link; nil if there is none.
  func status(of name: String) -> FileStatus? {
    var status = stat()
    guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return FileStatus(status)
  }

  /// The names in this folder in byte order, without `.` and `..`.
  ///
  /// Names that are not UTF-8 are left out: no file of ours has one.
  func names() throws(StoreError) -> [String] {
    // A fresh descriptor: a folder's read position is shared between duplicates.
    let copy = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0 else { throw .system("open", path) }
    guard let stream = fdopendir(copy) else {
      _ = close(copy)
      throw .system("list", path)
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
    guard errno == 0 else { throw .system("list", path) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Writes `bytes` from `start` to the end, in one `write` where the system takes it in one.
  ///
  /// - Throws: after an error some of the bytes may be in the file.
  func write(_ bytes: [UInt8], from start: Int = 0) throws(StoreError) {
    var at = start
    while at < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        #if canImport(Darwin)
          Darwin.write(number, buffer.baseAddress! + at, buffer.count - at)
        #else
          Glibc.write(number, buffer.baseAddress! + at, buffer.count - at)
        #endif
      }
      if written > 0 {
        at += written
      } else if written == 0 {
        throw StoreError(
          operation: "write", path: path, reason: .other, detail: "nothing was accepted")
      } else if errno != EINTR {
        throw .system("write", path)
      }
    }
  }

  /// The `count` bytes from `offset` on; fewer when the file ends before.
  ///
  /// Allocates `count` bytes: the caller compares it with the size of the file first.
  func read(_ count: Int, at offset: UInt64) throws(StoreError) -> [UInt8] {
    guard let offset = off_t(exactly: offset) else { return [] }
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = pread(
          number, UnsafeMutableRawPointer(buffer.baseAddress! + filled), count - filled,
          offset + off_t(filled))
        if got > 0 {
          filled += got
        } else if got == 0 {
          break
        } else if errno != EINTR {
          failure = errno
          break
        }
      }
    }
    guard failure == 0 else { throw StoreError(operation: "read", path: path, errno: failure) }
    return bytes
  }
}

/// The part of `stat` that tells whether a file is still the same one.
struct FileStatus: Equatable {
  enum Kind { case file, folder, other }
  var kind: Kind
  var device: UInt64
  var inode: UInt64
  var links: UInt64
  var size: UInt64
  /// The time of the last change, in nanoseconds; only ever compared for equality.
  var changed: Int64

  /// What the system says about `path`, without following a link; nil if there is nothing.
  static func of(_ path: String) -> FileStatus? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return FileStatus(status)
  }

  /// Whether this is the same file as `other`, whatever it holds by now.
  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}

extension FileStatus {
  init(_ status: stat) {
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
    let time = System.changeTime(status)
    changed = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

extension StoreError {
  /// The error of the system call that failed just now.
  static func system(_ operation: String, _ path: String) -> StoreError {
    #if canImport(Darwin)
      StoreError(operation: operation, path: path, errno: Darwin.errno)
    #else
      StoreError(operation: operation, path: path, errno: Glibc.errno)
    #endif
  }
}
