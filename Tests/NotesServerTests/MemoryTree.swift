import TestSupport

@testable import FileTree

/// A folder of files in memory, and programs that write there as programs do.
final class MemoryTree: FileTree {
  /// A file, whatever its names are.
  final class File {
    let inode: UInt64
    let born: Int64
    var bytes: [UInt8]
    var modified: Int64
    init(_ inode: UInt64, _ bytes: [UInt8], _ modified: Int64) {
      (self.inode, self.bytes, self.modified, born) = (inode, bytes, modified, modified)
    }
  }

  private(set) var files: [String: File] = [:]
  /// Numbers of files that are gone are given again at once.
  private var free: [UInt64] = []
  private var lastInode: UInt64 = 0
  private var lastName = 0
  /// The clock of the files, which may jump.
  var clock: Int64 = 1
  /// What the watchers have not reported yet.
  private var watchers: [Watcher] = []
  /// Whether the system tells when a file was made.
  var tellsBirth = true
  /// True while no file can get another path.
  var refusesMoves = false
  /// False if it takes `A` for `a` in names.
  var tellsCase = true
  /// Is called when a program has read a file, with its path and text.
  var didRead: ((String, String) -> Void)?
  /// True while events are lost.
  var losesEvents = false

  let resolvedPath: String

  init(_ path: String) { resolvedPath = path }

  private func tick() -> Int64 {
    clock += 1
    return clock
  }

  var nameSensitivity: NameSensitivity { NameSensitivity(case: tellsCase, form: false) }

  /// The path by which something is there that has this one: each part as it was given first.
  private func spelled(_ path: String) -> String {
    if tellsCase { return path }
    var result = ""
    for part in path.split(separator: "/", omittingEmptySubsequences: false) {
      let start = result.isEmpty ? "" : result + "/"
      let known = files.keys.first {
        $0.hasPrefix(start)
          && $0.dropFirst(start.count).prefix { $0 != "/" }.lowercased() == part.lowercased()
      }
      result = start + (known.map { $0.dropFirst(start.count).prefix { $0 != "/" } } ?? part)
    }
    return result
  }

  // MARK: - Programs

  func text(_ path: String) -> String? {
    files[spelled(path)].map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  /// A program reads a file; nil if there is none.
  func load(_ path: String) -> String? {
    let path = spelled(path)
    guard let text = text(path) else { return nil }
    tell(path, .read)
    didRead?(path, text)
    return text
  }

  private func tell(_ path: String, _ kind: TreeReport.Event.Kind) {
    for watcher in watchers {
      if losesEvents {
        watcher.pending.isIncomplete = true
      } else {
        watcher.pending.events.append(.init(path, kind))
      }
    }
  }

  private func make(_ bytes: [UInt8]) -> File {
    let inode =
      free.popLast()
      ?? {
        lastInode += 1
        return lastInode
      }()
    return File(inode, bytes, tick())
  }

  private func drop(_ path: String) {
    if let old = files.removeValue(forKey: path), !files.values.contains(where: { $0 === old }) {
      free.append(old.inode)
    }
  }

  /// Empties a file, or makes it, and leaves it open.
  func open(_ path: String) -> File {
    let path = spelled(path)
    let file = files[path] ?? make([])
    file.bytes = []
    file.modified = tick()
    files[path] = file
    tell(path, .touched)
    return file
  }

  func append(_ text: String, to file: File) {
    file.bytes += Array(text.utf8)
    file.modified = tick()
    for (path, other) in files where other === file { tell(path, .touched) }
  }

  func close(_ file: File) {
    for (path, other) in files where other === file { tell(path, .complete) }
  }

  /// Writes a file in place.
  func write(_ text: String, _ path: String) {
    let file = open(path)
    append(text, to: file)
    close(file)
  }

  /// Writes a new file and puts it in the place of the old one.
  func writeAtomically(_ text: String, _ path: String) {
    let path = spelled(path)
    drop(path)
    files[path] = make(Array(text.utf8))
    tell(path, .complete)
  }

  func remove(_ path: String) {
    let path = spelled(path)
    guard files[path] != nil else { return }
    drop(path)
    tell(path, .touched)
  }

  func rename(_ path: String, _ new: String) {
    let path = spelled(path)
    guard let file = files.removeValue(forKey: path) else { return }
    let new = spelled(new)
    drop(new)
    files[new] = file
    tell(path, .touched)
    tell(new, .complete)
  }

  // MARK: - FileTree

  /// So many calls of the mirror are left before its process is killed; nil if it is not.
  var callsLeft: Int?
  /// Called when it is killed so.
  var didKill: (() -> Void)?
  /// What other programs do right before a call of the mirror.
  ///
  /// The parameter says whether that call puts something in the place of a file, or takes one away.
  var beforeCall: ((_ isWriting: Bool) -> Void)?
  var beforeRead: ((_ path: String) -> Void)?
  /// The number of times that the mirror has read a file.
  private(set) var readCount = 0
  /// Programs notice that the file that they have open is not there any more.
  var didTakeAway: ((_ path: String) -> Void)?

  private func call(writing isWriting: Bool = false) throws(FileTreeError) {
    beforeCall?(isWriting)
    guard let callsLeft else { return }
    if callsLeft == 0 {
      didKill?()
      throw FileTreeError("call", "", .other, "killed")
    }
    self.callsLeft = callsLeft - 1
  }

  private func status(_ file: File) -> FileStatus {
    FileStatus(
      kind: .file, device: 1, inode: file.inode, size: UInt64(file.bytes.count),
      modified: file.modified, changed: file.modified, born: tellsBirth ? file.born : 0)
  }

  func entries(of folder: String) throws(FileTreeError) -> [FileEntry] {
    try call()
    let prefix = folder.isEmpty ? "" : folder + "/"
    var entries: [String: FileKind] = [:]
    for path in files.keys where path.hasPrefix(prefix) {
      let rest = path.dropFirst(prefix.count)
      let name = String(rest.prefix { $0 != "/" })
      entries[name] = name.count == rest.count ? .file : .folder
    }
    return entries.sorted { $0.key < $1.key }.map { FileEntry(name: $0.key, kind: $0.value) }
  }

  func status(of path: String) throws(FileTreeError) -> FileStatus? {
    let path = spelled(path)
    try call()
    return files[path].map(status)
  }

  func read(
    _ path: String, limit: Int
  ) throws(FileTreeError) -> (bytes: [UInt8], status: FileStatus)? {
    let path = spelled(path)
    try call()
    beforeRead?(path)
    readCount += 1
    return files[path].map { ($0.bytes, status($0)) }
  }

  func create(_ path: String, _ bytes: [UInt8]) throws(FileTreeError) -> FileStatus {
    let path = spelled(path)
    try call(writing: true)
    guard files[path] == nil else { throw FileTreeError("create", path, .exists, "exists") }
    let file = make(bytes)
    files[path] = file
    tell(path, .complete)
    return status(file)
  }

  func replace(
    _ path: String, _ bytes: [UInt8], mark: String
  ) throws(FileTreeError) -> (status: FileStatus, old: any SetAside) {
    let path = spelled(path)
    try call(writing: true)
    guard let old = files[path] else { throw FileTreeError("replace", path, .notFound, "gone") }
    let file = make(bytes)
    files[path] = file
    tell(path, .complete)
    return (status(file), setAside(old, path, mark))
  }

  func takeAway(_ path: String, mark: String) throws(FileTreeError) -> (any SetAside)? {
    let path = spelled(path)
    try call(writing: true)
    guard let old = files.removeValue(forKey: path) else { return nil }
    tell(path, .touched)
    didTakeAway?(path)
    return setAside(old, path, mark)
  }

  private func asideName(_ path: String, _ mark: String) -> String {
    lastName += 1
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    return folder + AsideName.make(for: path, mark: mark, word: "\(lastName)")
  }

  private func setAside(_ file: File, _ path: String, _ mark: String) -> Aside {
    let name = asideName(path, mark)
    files[name] = file
    return Aside(self, name, path)
  }

  func move(_ path: String, to new: String) throws(FileTreeError) {
    try call(writing: true)
    if refusesMoves { throw FileTreeError("rename", path, .other, "Permission denied") }
    guard let file = files[spelled(path)] else {
      throw FileTreeError("rename", path, .notFound, "gone")
    }
    guard files[spelled(new)].map({ $0 === file && new != spelled(path) }) ?? true else {
      throw FileTreeError("rename", new, .exists, "exists")
    }
    rename(path, new)
    didTakeAway?(path)
  }

  func removeEmptyFolders(above path: String) {}

  func makeWatcher() -> (any TreeWatcher)? {
    let watcher = Watcher()
    watchers.append(watcher)
    return watcher
  }

  private final class Watcher: TreeWatcher {
    var pending = TreeReport()
    var descriptor: Int32 { -1 }
    func watch(_ folder: String) -> Bool { true }
    func isWatching(_ folder: String) -> Bool { true }
    func report() -> TreeReport {
      defer { pending = TreeReport() }
      return pending
    }
  }

  private final class Aside: SetAside {
    private let tree: MemoryTree
    private var name: String
    private let path: String

    init(_ tree: MemoryTree, _ name: String, _ path: String) {
      (self.tree, self.name, self.path) = (tree, name, path)
    }

    func read(limit: Int) throws(FileTreeError) -> (bytes: [UInt8], status: FileStatus) {
      guard let read = try tree.read(name, limit: limit) else {
        throw FileTreeError("read", name, .notFound, "gone")
      }
      return read
    }

    func mark(_ mark: String) throws(FileTreeError) {
      try tree.call()
      let new = tree.asideName(path, mark)
      tree.files[new] = tree.files.removeValue(forKey: name)
      name = new
    }

    func discard() { if (try? tree.call()) != nil { tree.drop(name) } }

    func putBack() throws(FileTreeError) -> Bool {
      try tree.call()
      guard tree.files[path] == nil, let file = tree.files.removeValue(forKey: name) else {
        return false
      }
      tree.files[path] = file
      tree.tell(path, .complete)
      return true
    }
  }
}
