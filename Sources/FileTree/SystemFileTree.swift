#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder of the system.
///
/// A file gets its bytes under another name (`AsideName`), in the folder in which it is to be, and then its name. A file that is
/// replaced changes names with the new one in one step where the system can do that (`RENAME_EXCHANGE`). Where it cannot, the old one
/// gets a second name first; what another program writes under its first name between these two steps would be lost, so the first name
/// is looked at again right before the second step.
public final class SystemFileTree: FileTree {
  /// The path that was given.
  public let path: String
  private let root: Int32
  /// The folder, and what its path led to when it was opened, which may be a link: device and number of each.
  private let opened: [UInt64]
  /// What new files and folders do not permit, as with `umask`.
  private let mask: UInt32
  /// Names of files that are not complete.
  private let names: () -> String
  private var knownSensitivity: NameSensitivity?
  #if os(Linux)
    /// The watcher that was made last, which is told what is read through this tree.
    private weak var watcher: InotifyTreeWatcher?
  #endif

  /// Opens the folder at a path, which may be a link to it.
  ///
  /// - Parameters:
  ///   - isMaking: whether to make it, with those above it, as far as they are missing.
  ///   - mask: what new files and folders do not permit, as with `umask`.
  ///   - makeName: returns another word of letters and digits with each call.
  public init(
    _ path: String, making isMaking: Bool = false, mask: UInt32,
    makeName: @escaping () -> String
  ) throws(FileTreeError) {
    self.path = path
    self.mask = mask
    names = makeName
    if isMaking { try Self.makeFolder(path, mask) }
    root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard root >= 0 else { throw FileTreeError("open", path, errno: errno) }
    var status = stat()
    opened = fstat(root, &status) == 0 ? Self.identity(status) + Self.identity(of: path) : []
  }

  private static func identity(_ status: stat) -> [UInt64] {
    [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }

  private static func identity(of path: String) -> [UInt64] {
    var status = stat()
    return lstat(path, &status) == 0 ? identity(status) : []
  }

  public var isInPlace: Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return Self.identity(status) + Self.identity(of: path) == opened
  }

  deinit { _ = systemClose(root) }

  private static func makeFolder(_ path: String, _ mask: UInt32) throws(FileTreeError) {
    if makeFolder(AT_FDCWD, path, mask) || errno == EEXIST { return }
    guard errno == ENOENT, let end = path.lastIndex(of: "/"), end > path.startIndex else {
      throw FileTreeError("mkdir", path, errno: errno)
    }
    try makeFolder(String(path[..<end]), mask)
    guard makeFolder(AT_FDCWD, path, mask) || errno == EEXIST else {
      throw FileTreeError("mkdir", path, errno: errno)
    }
  }

  /// The `umask` of the process may be another than its user wants for these.
  private static func makeFolder(_ parent: Int32, _ name: String, _ mask: UInt32) -> Bool {
    guard mkdirat(parent, name, 0o777 & ~mask) == 0 else { return false }
    _ = fchmodat(parent, name, 0o777 & ~mask, 0)
    return true
  }

  public var resolvedPath: String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private func fullPath(_ relative: String) -> String {
    relative.isEmpty ? path : "\(path)/\(relative)"
  }

  private func failure(_ operation: String, _ relative: String) -> FileTreeError {
    FileTreeError(operation, fullPath(relative), errno: errno)
  }

  /// A descriptor of the folder in which a file is, and the file's name in it.
  private final class Place {
    let folder: Int32
    let name: String
    init(_ folder: Int32, _ name: String) { (self.folder, self.name) = (folder, name) }
    deinit { _ = systemClose(folder) }
  }

  /// Opens a folder below the root, one part of its path after the other, so that none is a link; nil if it is missing.
  private func openFolder(
    _ relative: Substring, creating: Bool, for operation: String
  ) throws(FileTreeError) -> Int32? {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
    var folder = openat(root, ".", flags)
    guard folder >= 0 else { throw failure(operation, "") }
    for part in relative.split(separator: "/") {
      let name = String(part)
      var next = openat(folder, name, flags)
      if next < 0, errno == ENOENT, creating {
        if !Self.makeFolder(folder, name, mask), errno != EEXIST {
          let failure = failure(operation, String(relative))
          _ = systemClose(folder)
          throw failure
        }
        next = openat(folder, name, flags)
      }
      let cause = errno
      _ = systemClose(folder)
      if next < 0 {
        if [ENOENT, ENOTDIR, ELOOP].contains(cause), !creating { return nil }
        throw FileTreeError(operation, fullPath(String(relative)), errno: cause)
      }
      folder = next
    }
    return folder
  }

  private func place(
    of relative: String, creating: Bool = false, for operation: String
  ) throws(FileTreeError) -> Place? {
    let end = relative.lastIndex(of: "/")
    let folder = try openFolder(
      end.map { relative[..<$0] } ?? "", creating: creating, for: operation)
    guard let folder else { return nil }
    let name = end.map { String(relative[relative.index(after: $0)...]) } ?? relative
    return Place(folder, name.isEmpty ? "." : name)
  }

  // MARK: - Looking

  /// Tried once, with a file that is removed at once. Where none can be made, nothing counts as told apart.
  public var nameSensitivity: NameSensitivity {
    if let knownSensitivity { return knownSensitivity }
    let name = AsideName.probe(word: names())
    let file = openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return NameSensitivity(case: false, form: false) }
    _ = systemClose(file)
    func isTold(_ letter: String, from other: String) -> Bool {
      let other = String(decoding: name.utf8, as: UTF8.self).replacing(letter, with: other)
      return FileStatus(of: other, in: root) == nil
    }
    let found = NameSensitivity(
      case: isTold("x", from: "X"), form: isTold("\u{E9}", from: "e\u{301}"))
    unlinkat(root, name, 0)
    knownSensitivity = found
    return found
  }

  public func entries(of folder: String) throws(FileTreeError) -> [FileEntry] {
    guard let number = try openFolder(folder[...], creating: false, for: "list") else {
      throw FileTreeError("list", fullPath(folder), .notFound, "it is no folder")
    }
    guard let stream = fdopendir(number) else {
      let failure = failure("list", folder)
      _ = systemClose(number)
      throw failure
    }
    defer { closedir(stream) }
    var entries: [FileEntry] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name == [0x2E] || name == [0x2E, 0x2E] { continue }
      let kind: FileKind
      switch Int32(entry.pointee.d_type) {
      case Int32(DT_REG): kind = .file
      case Int32(DT_DIR): kind = .folder
      case Int32(DT_LNK): kind = .link
      case Int32(DT_UNKNOWN):
        let text = String(validating: name, as: UTF8.self)
        kind = text.flatMap { FileStatus(of: $0, in: number) }?.kind ?? .other
      default: kind = .other
      }
      entries.append(FileEntry(rawName: name, kind: kind))
    }
    guard errno == 0 else { throw failure("list", folder) }
    return entries
  }

  public func statuses(
    of names: [String], in folder: String
  ) throws(FileTreeError) -> [FileStatus?] {
    guard let number = try openFolder(folder[...], creating: false, for: "stat") else {
      return names.map { _ in nil }
    }
    defer { _ = systemClose(number) }
    var statuses: [FileStatus?] = []
    statuses.reserveCapacity(names.count)
    for name in names {
      statuses.append(try status(number, name) { folder.isEmpty ? name : "\(folder)/\(name)" })
    }
    return statuses
  }

  public func status(of path: String) throws(FileTreeError) -> FileStatus? {
    guard let place = try place(of: path, for: "stat") else { return nil }
    return try status(in: place, path)
  }

  public func kind(behind link: String) -> FileKind? {
    guard let place = try? place(of: link, for: "stat") else { return nil }
    var status = stat()
    return fstatat(place.folder, place.name, &status, 0) == 0 ? FileKind(mode: status.st_mode) : nil
  }

  private func status(in place: Place, _ path: String) throws(FileTreeError) -> FileStatus? {
    try status(place.folder, place.name) { path }
  }

  private func status(
    _ folder: Int32, _ name: String, path: () -> String
  ) throws(FileTreeError) -> FileStatus? {
    if let status = FileStatus(of: name, in: folder) { return status }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw failure("stat", path())
  }

  public func read(
    _ path: String, limit: Int
  ) throws(FileTreeError) -> (bytes: [UInt8], status: FileStatus)? {
    guard let place = try place(of: path, for: "read") else { return nil }
    return try read(place, path, limit)
  }

  private func read(
    _ place: Place, _ path: String, _ limit: Int
  ) throws(FileTreeError) -> (bytes: [UInt8], status: FileStatus)? {
    // It may be a FIFO, which must not be waited for.
    let file = openat(
      place.folder, place.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)
    guard file >= 0 else {
      if [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(errno) { return nil }
      throw failure("read", path)
    }
    defer { _ = systemClose(file) }
    guard let before = FileStatus(ofDescriptor: file) else { throw failure("read", path) }
    guard before.kind == .file else { return nil }
    guard before.size <= UInt64(limit) else {
      throw FileTreeError("read", fullPath(path), .tooLarge, "it has more than \(limit) bytes")
    }
    #if os(Linux)
      let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
      watcher?.willRead(String(path[..<end] + place.name))
    #endif
    var bytes: [UInt8] = []
    // A byte more than there were: it may grow meanwhile.
    while bytes.count <= limit {
      let wanted = min(max(Int(before.size) + 1 - bytes.count, 4096), limit + 1 - bytes.count)
      var failure: Int32 = 0
      let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
        let count = systemRead(file, buffer.baseAddress!, wanted)
        if count >= 0 { filled = count } else { failure = errno }
      }
      if failure == EINTR { continue }
      guard failure == 0 else { throw FileTreeError("read", fullPath(path), errno: failure) }
      if piece.isEmpty { return (bytes, before) }
      if bytes.isEmpty { bytes = piece } else { bytes += piece }
    }
    throw FileTreeError("read", fullPath(path), .tooLarge, "it has more than \(limit) bytes")
  }

  // MARK: - Writing

  /// Writes a file under a name of its own; returns the name. `mode`: that of the file which it replaces; nil for a new one.
  private func writeBeside(
    _ place: Place, _ path: String, _ bytes: [UInt8], mode: mode_t?, mark: String = "0"
  ) throws(FileTreeError) -> String {
    let name = AsideName.make(for: path, mark: mark, word: names())
    let file = openat(
      place.folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure("create", path) }
    defer { _ = systemClose(file) }
    _ = fchmod(file, mode.map { $0 & 0o7777 } ?? 0o666 & ~mask)
    var written = 0
    var cause: Int32 = 0
    while written < bytes.count, cause == 0 {
      let count = bytes.withUnsafeBytes {
        systemWrite(file, $0.baseAddress! + written, bytes.count - written)
      }
      if count >= 0 { written += count } else if errno != EINTR { cause = errno }
    }
    guard cause == 0 else {
      // On a full disk the rest of it would only take room.
      unlinkat(place.folder, name, 0)
      throw FileTreeError("write", fullPath(path), errno: cause)
    }
    return name
  }

  public func create(_ path: String, _ bytes: [UInt8]) throws(FileTreeError) -> FileStatus {
    guard let place = try place(of: path, creating: true, for: "create") else {
      throw FileTreeError("create", fullPath(path), .notFound, "there is no such folder")
    }
    let name = try writeBeside(place, path, bytes, mode: nil)
    guard renameWithoutReplacing(place.folder, name, place.folder, place.name) else {
      let failure = failure("create", path)
      unlinkat(place.folder, name, 0)
      throw failure
    }
    guard let status = try status(in: place, path) else {
      throw FileTreeError("create", fullPath(path), .notFound, "it was removed at once")
    }
    return status
  }

  public func replace(
    _ path: String, _ bytes: [UInt8], mark: String
  ) throws(FileTreeError) -> (status: FileStatus, old: any SetAside) {
    guard let place = try place(of: path, for: "replace") else {
      throw FileTreeError("replace", fullPath(path), .notFound, "there is no such file")
    }
    var old = stat()
    guard fstatat(place.folder, place.name, &old, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw failure("replace", path)
    }
    guard FileKind(mode: old.st_mode) == .file else {
      throw FileTreeError("replace", fullPath(path), .exists, "it is no file")
    }
    let name = try writeBeside(place, path, bytes, mode: old.st_mode, mark: mark)
    do throws(FileTreeError) {
      let aside = try exchange(place, path, name, mark)
      guard let status = FileStatus(of: place.name, in: place.folder) else {
        throw failure("replace", path)
      }
      return (status, aside)
    } catch {
      unlinkat(place.folder, name, 0)
      throw error
    }
  }

  /// Gives the file at a place and the one called `name` each other's name; returns the one that was at the place.
  private func exchange(
    _ place: Place, _ path: String, _ name: String, _ mark: String
  ) throws(FileTreeError) -> any SetAside {
    if let renameat2 {
      if renameat2(place.folder, name, place.folder, place.name, 2) == 0 {
        return AsideFile(self, place, name, path)
      }
      guard [EINVAL, ENOSYS].contains(errno) else { throw failure("replace", path) }
    }
    let aside = AsideName.make(for: path, mark: mark, word: names())
    guard linkat(place.folder, place.name, place.folder, aside, 0) == 0 else {
      // Without links there is one step only: what is written there between it and the look before would be lost.
      guard renameat(place.folder, place.name, place.folder, aside) == 0 else {
        throw failure("replace", path)
      }
      guard renameWithoutReplacing(place.folder, name, place.folder, place.name) else {
        throw failure("replace", path)
      }
      return AsideFile(self, place, aside, path)
    }
    var (linked, present) = (stat(), stat())
    guard fstatat(place.folder, aside, &linked, AT_SYMLINK_NOFOLLOW) == 0,
      fstatat(place.folder, place.name, &present, AT_SYMLINK_NOFOLLOW) == 0,
      linked.st_ino == present.st_ino,
      renameat(place.folder, name, place.folder, place.name) == 0
    else {
      let failure = failure("replace", path)
      unlinkat(place.folder, aside, 0)
      throw failure
    }
    return AsideFile(self, place, aside, path)
  }

  public func takeAway(_ path: String, mark: String) throws(FileTreeError) -> (any SetAside)? {
    guard let place = try place(of: path, for: "remove"),
      let status = try status(in: place, path), status.kind == .file
    else { return nil }
    let aside = AsideName.make(for: path, mark: mark, word: names())
    guard renameWithoutReplacing(place.folder, place.name, place.folder, aside) else {
      if errno == ENOENT { return nil }
      throw failure("remove", path)
    }
    return AsideFile(self, place, aside, path)
  }

  public func move(_ path: String, to new: String) throws(FileTreeError) {
    guard let old = try place(of: path, for: "rename"),
      let place = try place(of: new, creating: true, for: "rename")
    else { throw FileTreeError("rename", fullPath(path), .notFound, "there is no such file") }
    if renameWithoutReplacing(old.folder, old.name, place.folder, place.name) { return }
    let failure = failure("rename", path)
    guard failure.reason == .exists, !path.utf8.elementsEqual(new.utf8),
      let present = try status(in: old, path), try status(in: place, new) == present,
      try !hasEntry(new)
    else { throw failure }
    // It is the file itself, whose name the file system takes for the new one. It takes the new one only where none is.
    let aside = AsideName.make(for: path, mark: "0", word: names())
    guard renameWithoutReplacing(old.folder, old.name, old.folder, aside) else { throw failure }
    guard renameWithoutReplacing(old.folder, aside, place.folder, place.name) else {
      _ = renameWithoutReplacing(old.folder, aside, old.folder, old.name)
      throw failure
    }
  }

  public func removeEmptyFolders(above path: String) {
    var rest = path[...]
    while let end = rest.lastIndex(of: "/") {
      rest = rest[..<end]
      guard let place = try? place(of: String(rest), for: "rmdir"),
        unlinkat(place.folder, place.name, AT_REMOVEDIR) == 0
      else { return }
    }
  }

  public func makeWatcher() -> (any TreeWatcher)? {
    #if os(Linux)
      let made = InotifyTreeWatcher(resolvedPath)
      watcher = made
      return made
    #else
      return nil
    #endif
  }

  /// A file of the system that was set aside.
  private final class AsideFile: SetAside {
    private let tree: SystemFileTree
    private let place: Place
    private var aside: Place
    private let path: String

    init(_ tree: SystemFileTree, _ place: Place, _ name: String, _ path: String) {
      self.tree = tree
      self.place = place
      self.path = path
      aside = Place(dup(place.folder), name)
    }

    func read(limit: Int) throws(FileTreeError) -> (bytes: [UInt8], status: FileStatus) {
      guard let read = try tree.read(aside, path, limit) else {
        throw FileTreeError("read", tree.fullPath(path), .notFound, "what it was is gone")
      }
      return read
    }

    func mark(_ mark: String) throws(FileTreeError) {
      let name = AsideName.make(for: path, mark: mark, word: tree.names())
      guard renameWithoutReplacing(aside.folder, aside.name, aside.folder, name) else {
        throw tree.failure("rename", path)
      }
      aside = Place(dup(aside.folder), name)
    }

    func discard() { unlinkat(aside.folder, aside.name, 0) }

    func putBack() throws(FileTreeError) -> Bool {
      if renameWithoutReplacing(aside.folder, aside.name, place.folder, place.name) { return true }
      if errno == EEXIST { return false }
      throw tree.failure("rename", path)
    }
  }
}

// MARK: - System calls

/// `renameat2`, which Swift's import of the C library lacks; nil where there is none.
private let renameat2 = dlsym(nil, "renameat2").map {
  unsafeBitCast(
    $0,
    to: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) ->
      Int32).self)
}

/// `statx`, which Swift's import of the C library lacks; nil where there is none.
private let statx = dlsym(nil, "statx").map {
  unsafeBitCast(
    $0,
    to: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) ->
      Int32).self)
}

/// Gives a file another name that nothing has; false, with `errno`, if it fails: `EEXIST` when something has it.
private func renameWithoutReplacing(
  _ folder: Int32, _ name: String, _ other: Int32, _ new: String
) -> Bool {
  if let renameat2 {
    if renameat2(folder, name, other, new, 1) == 0 { return true }
    guard [EINVAL, ENOSYS].contains(errno) else { return false }
  }
  if linkat(folder, name, other, new, 0) == 0 {
    unlinkat(folder, name, 0)
    return true
  }
  guard [EPERM, ENOTSUP, EOPNOTSUPP, EMLINK].contains(errno) else { return false }
  // A file system without links.
  var status = stat()
  guard fstatat(other, new, &status, AT_SYMLINK_NOFOLLOW) != 0 else {
    errno = EEXIST
    return false
  }
  return renameat(folder, name, other, new) == 0
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemRead(_ file: Int32, _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
  read(file, bytes, count)
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(file, bytes, count)
}

extension FileStatus {
  /// Of what is at a name in a folder, of a link its own; nil, with `errno`, if the system tells none.
  fileprivate init?(of name: String, in folder: Int32) {
    self.init(folder, name, AT_SYMLINK_NOFOLLOW) { fstatat(folder, name, &$0, AT_SYMLINK_NOFOLLOW) }
  }

  /// Of what is open; nil, with `errno`, if the system tells none.
  fileprivate init?(ofDescriptor number: Int32) {
    // AT_EMPTY_PATH
    self.init(number, "", 0x1000) { fstat(number, &$0) }
  }

  /// One call that tells when a file was made, too, where there is one; all statuses of a system come in one way, since they are compared.
  private init?(
    _ folder: Int32, _ name: String, _ flags: Int32, otherwise: (inout stat) -> Int32
  ) {
    guard let statx else {
      var status = stat()
      guard otherwise(&status) == 0 else { return nil }
      self.init(status)
      return
    }
    // STATX_BASIC_STATS and STATX_BTIME. The numbers are the offsets in the system's `struct statx`.
    let status = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) {
      buffer -> FileStatus? in
      guard statx(folder, name, flags, 0xFFF, buffer.baseAddress!) == 0 else { return nil }
      func number<N: FixedWidthInteger>(_ offset: Int, _: N.Type) -> N {
        buffer.load(fromByteOffset: offset, as: N.self)
      }
      func nanoseconds(_ offset: Int) -> Int64 {
        number(offset, Int64.self) &* 1_000_000_000 &+ Int64(number(offset + 8, UInt32.self))
      }
      let device = UInt64(number(136, UInt32.self)) << 32 | UInt64(number(140, UInt32.self))
      return FileStatus(
        kind: FileKind(mode: mode_t(number(28, UInt16.self))), device: device,
        inode: number(32, UInt64.self), size: number(40, UInt64.self), modified: nanoseconds(112),
        changed: nanoseconds(96), born: number(0, UInt32.self) & 0x800 == 0 ? 0 : nanoseconds(80))
    }
    guard let status else { return nil }
    self = status
  }

  private init(_ status: stat) {
    #if os(Linux)
      let (modification, change) = (status.st_mtim, status.st_ctim)
    #else
      let (modification, change) = (status.st_mtimespec, status.st_ctimespec)
    #endif
    func nanoseconds(_ time: timespec) -> Int64 {
      Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
    self.init(
      kind: FileKind(mode: status.st_mode), device: UInt64(truncatingIfNeeded: status.st_dev),
      inode: UInt64(truncatingIfNeeded: status.st_ino), size: UInt64(clamping: status.st_size),
      modified: nanoseconds(modification), changed: nanoseconds(change))
  }
}

extension FileKind {
  fileprivate init(mode: mode_t) {
    self =
      switch mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
  }
}

extension FileTreeError {
  /// The failure of a system call.
  init(_ operation: String, _ path: String, errno: Int32) {
    let reason: Reason =
      switch errno {
      case EEXIST, EISDIR, ENOTEMPTY: .exists
      case ENOENT, ENOTDIR: .notFound
      case ENOSPC, EDQUOT, EFBIG: .diskFull
      default: .other
      }
    self.init(operation, path, reason, String(cString: strerror(errno)))
  }
}
