internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Owns one descriptor of a file or folder and closes it. Every call names its path when it fails.
///
/// No call follows a symbolic link in the last component, and none blocks on something that only
/// looks like a file: a FIFO in the folder must not stop the program.
struct FileDescriptor: ~Copyable {
  /// The system that it is open in.
  let system: any FileSystem
  /// The system's number for it.
  let number: Int32
  /// The path at which it was opened, for error messages.
  let path: String
  /// The queue that closes it, if that may take a while.
  var closer: (any SyncQueue)?
  /// The users who have access to what is created in this folder, and in those that are opened in it.
  var users = Users.owner

  private init(owning number: Int32, path: String, on system: any FileSystem) {
    self.system = system
    self.number = number
    self.path = path
  }

  deinit {
    if let closer { closer.close(number) } else { system.close(number) }
  }

  /// Opens a folder for listing and for reaching what is in it.
  ///
  /// - Parameter followingLinks: whether `path` itself may be a symbolic link. Only the path that the
  ///   user chose may be one; what is inside the notebook may not.
  static func folder(
    _ path: String, followingLinks: Bool = false, on system: any FileSystem
  ) throws(StoreError) -> FileDescriptor {
    let number: Int32
    do {
      number = try system.openFolder(path, in: nil, followingLinks: followingLinks)
    } catch { throw StoreError("open", path, error) }
    return FileDescriptor(owning: number, path: path, on: system)
  }

  /// Opens the folder called `name` in this folder.
  func folder(_ name: String) throws(StoreError) -> FileDescriptor {
    let opened: Int32
    do {
      opened = try system.openFolder(name, in: number, followingLinks: false)
    } catch { throw StoreError("open", "\(path)/\(name)", error) }
    var folder = FileDescriptor(owning: opened, path: "\(path)/\(name)", on: system)
    folder.users = users
    return folder
  }

  /// Opens the regular file called `name` in this folder for reading; nil when it is anything else.
  func regularFile(_ name: String) throws(StoreError) -> FileDescriptor? {
    let opened: Int32
    do { opened = try system.openFile(name, in: number) } catch {
      // ELOOP: a symbolic link. ENXIO: a socket or a device without a driver.
      if error.errno == ELOOP || error.errno == ENXIO { return nil }
      throw StoreError("open", "\(path)/\(name)", error)
    }
    let file = FileDescriptor(owning: opened, path: "\(path)/\(name)", on: system)
    guard try file.status().kind == .file else { return nil }
    return file
  }

  /// Creates the file called `name` in this folder, for appending; it must not exist yet.
  func createFile(_ name: String) throws(StoreError) -> FileDescriptor {
    let created: Int32
    do { created = try system.createFile(name, in: number, for: users) } catch {
      throw refusal("create", "\(path)/\(name)", error)
    }
    return FileDescriptor(owning: created, path: "\(path)/\(name)", on: system)
  }

  /// Creates the folder called `name` in this folder.
  ///
  /// - Returns: false when something of that name exists already.
  @discardableResult
  func createFolder(_ name: String) throws(StoreError) -> Bool {
    do { try system.createFolder(name, in: number, for: users) } catch {
      guard error.errno == EEXIST else { throw refusal("mkdir", "\(path)/\(name)", error) }
      return false
    }
    return true
  }

  /// Throws the error with which creating something in this folder would be refused.
  func checkWritable() throws(StoreError) {
    do { try system.checkWritable(number) } catch { throw refusal("write", path, error) }
  }

  /// The error of a call that creates something in this folder.
  private func refusal(_ operation: String, _ path: String, _ error: SystemError) -> StoreError {
    var refusal = StoreError(operation, path, error)
    if refusal.reason == .permission { refusal.detail = "this user may not write in \(self.path)" }
    return refusal
  }

  /// Removes the file called `name` from this folder; returns false if it isn't there or can't be removed.
  func tryToRemove(_ name: String) -> Bool { (try? system.remove(name, in: number)) != nil }

  /// Removes the file called `name` from this folder, if it is there and can be removed.
  func remove(_ name: String) { _ = tryToRemove(name) }

  /// The beginning of the names that this program gives to files before they are finished.
  static let temporary = ".tmp-"

  /// True if a name is that of an unfinished file of this program: an identity follows, and perhaps the final name.
  private static func isTemporary(_ name: String) -> Bool {
    guard name.hasPrefix(temporary) else { return false }
    let rest = name.dropFirst(temporary.count)
    return Identifier(rest.prefix { $0 != "-" }) != nil
  }

  /// Removes the unfinished files from this folder that have not changed for `age` nanoseconds: processes that were killed
  /// have left them behind.
  func removeLeftovers(olderThan age: Int64) {
    for name in (try? names()) ?? [] where Self.isTemporary(name) {
      guard let status = try? status(of: name), status.kind == .file,
        status.changed < system.now - age
      else { continue }
      remove(name)
    }
  }

  /// Gives the file `name` in this folder the name `new`, unless that name is taken.
  ///
  /// Where the file system has no hard links, two processes at the same moment can both succeed; then the later
  /// one stays.
  ///
  /// - Returns: false when the name is taken. `name` may or may not remain.
  func publish(_ name: String, as new: String) throws(StoreError) -> Bool {
    do { try system.link(name, as: new, in: number) } catch {
      switch error.errno {
      case EEXIST: return false
      case EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK, EINVAL: break  // no hard links here
      default: throw StoreError("link", "\(path)/\(new)", error)
      }
      guard try status(of: new) == nil else { return false }
      try rename(name, to: new)
    }
    return true
  }

  /// Gives the file `name` in this folder the name `new`. A file of that name is replaced: check first.
  func rename(_ name: String, to new: String) throws(StoreError) {
    do { try system.rename(name, to: new, in: number) } catch {
      throw StoreError("rename", "\(path)/\(new)", error)
    }
  }

  /// Removes the folder called `name` from this folder, if it is there and empty.
  func removeFolder(_ name: String) {
    try? system.removeFolder(name, in: number)
  }

  /// The status of the open file.
  func status() throws(StoreError) -> FileStatus {
    do { return try system.status(number) } catch { throw StoreError("stat", path, error) }
  }

  /// The status of `name` in this folder, without following a link; nil if there is nothing of that name.
  func status(of name: String) throws(StoreError) -> FileStatus? {
    do { return try system.status(of: name, in: number) } catch {
      if error.errno == ENOENT { return nil }
      throw StoreError("stat", "\(path)/\(name)", error)
    }
  }

  /// The names in this folder in the order of strings, without `.` and `..`. The names that this program gives are ASCII, which
  /// `<` compares with one `memcmp`; a comparison byte by byte took a quarter of the start of a notebook with 10,000 sessions.
  func names() throws(StoreError) -> [String] { try namesInNoOrder().sorted() }

  /// The same for those who need few of them in order.
  func namesInNoOrder() throws(StoreError) -> [String] {
    do { return try system.names(in: number) } catch { throw StoreError("list", path, error) }
  }

  /// Writes `bytes` to the end, in one `write` where the system takes it in one.
  ///
  /// - Throws: after an error some of the bytes may be in the file.
  func append(_ bytes: ArraySlice<UInt8>) throws(StoreError) {
    var rest = bytes
    while !rest.isEmpty {
      let count: Int
      do { count = try system.append(rest, to: number) } catch {
        throw StoreError("write", path, error)
      }
      guard count > 0 else {
        throw StoreError(
          operation: "write", path: path, reason: .other, detail: "nothing was accepted")
      }
      rest = rest.dropFirst(count)
    }
  }

  /// The `count` bytes from `offset` on; fewer when the file ends before.
  ///
  /// Allocates `count` bytes: the caller compares it with the size of the file first.
  func read(_ count: Int, at offset: UInt64) throws(StoreError) -> [UInt8] {
    do { return try system.read(count, at: offset, of: number) } catch {
      throw StoreError("read", path, error)
    }
  }

  /// The next bytes of a file that is read as a whole; nil at its end. `offset` moves behind them.
  func next(_ offset: inout UInt64, atMost count: Int = 1 << 20) throws(StoreError) -> [UInt8]? {
    let bytes = try read(count, at: offset)
    offset += UInt64(bytes.count)
    return bytes.isEmpty ? nil : bytes
  }

  /// Locks this file, without waiting, until it is closed; see `FileSystem.lock`.
  ///
  /// - Returns: false when the lock of another process is in the way.
  func lock(exclusively: Bool) throws(StoreError) -> Bool {
    do { return try system.lock(number, exclusively: exclusively) } catch {
      throw StoreError("flock", path, error)
    }
  }

  /// Puts the bytes that were written to this file onto the disk. After an error it must not be called again.
  func synchronizeFile() throws(StoreError) {
    do { try system.synchronize(file: number) } catch { throw StoreError("fdatasync", path, error) }
  }

  /// Puts the entries of this folder onto the disk.
  func synchronizeFolder() throws(StoreError) {
    do { try system.synchronize(folder: number) } catch { throw StoreError("fsync", path, error) }
  }
}

extension FileSystem {
  /// Creates folders of the user alone, each of which may be in the one before. One that is there is as good.
  func createFolders(_ paths: [String]) throws(StoreError) {
    for path in paths {
      do { try createFolder(path, in: nil, for: .owner) } catch {
        guard error.errno == EEXIST else { throw StoreError("mkdir", path, error) }
      }
    }
  }
}

extension StoreError {
  /// The error of a system call.
  init(_ operation: String, _ path: String, _ error: SystemError) {
    self.init(operation: operation, path: path, errno: error.errno)
  }
}

/// A file or folder that several owners keep open, for example until it was synchronized.
final class OpenDescriptor: Sendable {
  let descriptor: FileDescriptor

  init(_ descriptor: consuming FileDescriptor) {
    self.descriptor = descriptor
  }
}

extension String {
  /// The path of the folder that this path is in; nil when there is nothing above.
  var parentPath: String? {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return self == "." ? nil : "."
    }
    if slash == startIndex { return utf8.count == 1 ? nil : "/" }
    var parent = self[..<slash]
    while parent.utf8.count > 1, parent.hasSuffix("/") { parent.removeLast() }
    return String(parent)
  }
}
