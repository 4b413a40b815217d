import Foundation
import TestSupport

@testable import NoteStore

/// A disk in memory that knows what of it is on disk for good.
///
/// Bytes that were appended are on disk once their file is synchronized, names once their folder is. A power cut
/// (`afterPowerCut`) keeps all of that, and any part of the rest: each append up to any byte, with zeros where the
/// length got to the disk before the bytes did, and each change of a name or not. The end of the process
/// (`afterKill`) takes nothing.
///
/// Calls are numbered from 1. `fault` may let any of them fail, and `watch` is told of each before it is made, and
/// in the middle of each append.
///
/// Strict: a synchronized file whose name was not is not there after a power cut. A failed synchronization of a
/// file loses its bytes for good, even if they can still be read and a later one succeeds: one through a descriptor opened
/// after it. If the process asks for one to which the failure was reported, that is noted in `violations`.
final class MemoryDisk: FileSystem, @unchecked Sendable {
  enum Call: CaseIterable {
    case openFolder, openFile, createFile, createFolder, status, names, read, append
    case synchronizeFile, synchronizeFolder, rename, link, remove, empty

    /// Whether it changes anything.
    var isMutating: Bool {
      switch self {
      case .createFile, .createFolder, .append, .rename, .link, .remove, .empty: true
      default: false
      }
    }

    /// Whether the system could say `errno` to it.
    func canFail(with errno: Int32) -> Bool {
      switch errno {
      case EIO: true
      case ENOSPC: isMutating && self != .remove && self != .empty || self == .synchronizeFile
      case EFBIG: self == .append
      case EROFS: isMutating
      case EMFILE, ENFILE:
        self == .openFolder || self == .openFile || self == .createFile || self == .names
      case ENOMEM, ESTALE: self != .append && self != .synchronizeFile && self != .synchronizeFolder
      case EACCES:
        isMutating && self != .append && self != .empty || self == .openFolder || self == .openFile
      default: false
      }
    }
  }

  /// How it is mounted for whoever makes calls; whoever uses `put` and `take` doesn't care.
  enum Mount {
    case writable
    /// Nothing new is taken; what was taken can be synchronized.
    case readOnly
    /// The system has found an error: what was not on disk never will be.
    case readOnlyAfterError

    func refuses(_ call: Call) -> Bool {
      switch self {
      case .writable: false
      case .readOnly: call.isMutating
      case .readOnlyAfterError:
        call.isMutating || call == .synchronizeFile || call == .synchronizeFolder
      }
    }
  }

  enum Fault {
    case error(Int32)
    /// An append takes only so many bytes; nothing else is affected.
    case short(Int)
    /// A call that changes something does all of it and says that it has failed: a disk far away whose answer was lost.
    case errorAfterEffect(Int32)
  }

  /// A change of a folder, which happens at once.
  private struct Entry {
    var removed: String?
    var added: (name: String, node: Node)?

    func isAbout(_ name: String) -> Bool { removed == name || added?.name == name }
  }

  private final class Node {
    let inode: UInt64
    let kind: FileStatus.Kind
    var links: UInt64 = 1
    var changed: Int64 = 0
    // A file: its bytes, how many of them need no more synchronization, and which of those never got to the disk.
    var bytes: [UInt8] = []
    var clean = 0
    var lost: [Range<Int>] = []
    // Descriptors to which a failure will be reported, and processes to which one was.
    var unreported: Set<Int32> = []
    var informed: Set<ObjectIdentifier> = []
    // Descriptors by which it is locked, and whether exclusively.
    var locks: [Int32: Bool] = [:]
    // A folder: what is in it, what is on disk, and what leads from the one to the other.
    var entries: [String: Node] = [:]
    var synchronized: [String: Node] = [:]
    var pending: [Entry] = []

    init(_ kind: FileStatus.Kind, inode: UInt64) {
      self.kind = kind
      self.inode = inode
    }

    /// Zeros in place of some of the bytes.
    func spoil(_ range: Range<Int>, _ random: inout SplitMix64) {
      var at = range.lowerBound
      while at < range.upperBound {
        let end = min(range.upperBound, at + 1 + random.below(64))
        if random.below(2) == 0 { for i in at..<end { bytes[i] = 0 } }
        at = end
      }
    }

    /// Puts on disk what has happened to a name: no later change of it gets there before.
    func settle(_ name: String) {
      for entry in pending where entry.isAbout(name) { apply(entry, to: &synchronized) }
      pending.removeAll { $0.isAbout(name) }
    }

    func erase(_ range: Range<Int>) { for i in range { bytes[i] = 0 } }

    func apply(_ entry: Entry, to entries: inout [String: Node]) {
      if let removed = entry.removed { entries[removed] = nil }
      if let added = entry.added { entries[added.name] = added.node }
    }
  }

  private var root = Node(.folder, inode: 1)
  private var lastInode: UInt64 = 1
  private var time: Int64 = 0
  private var open: [Int32: Node] = [:]
  private var lastDescriptor: Int32 = 2
  /// How many calls were made.
  private(set) var calls = 0
  /// How many bytes were read.
  private(set) var bytesRead = 0
  /// What a call, by number, is to fail with.
  var fault: ((Int, Call) -> Fault?)?
  /// Whether `fault` did anything.
  private(set) var hasFired = false
  /// Told of each call before it is made.
  var watch: (() -> Void)?
  /// The name of a folder that nobody may open.
  var closedFolder: String?
  /// What must never be done and was.
  private(set) var violations: [String] = []
  /// Whether a synchronization of a file says that it is done and does nothing.
  var isLying = false
  /// Whether a folder looks as it did when somebody last looked at it.
  var isShowingOldFolders = false
  private var seenFolders: [UInt64: FileStatus] = [:]
  var mount = Mount.writable
  /// How many files were not synchronized because of that.
  var refusedSynchronizations = 0
  private var queues: [MemorySyncQueue] = []
  /// Whether it tells of changes.
  var isWatched = false
  /// Whether other machines may write there, too.
  var isShared = true
  /// Whether locks are given to everybody who asks.
  var isIgnoringLocks = false
  private struct Watch {
    weak var watcher: MemoryWatcher?
    let number: Int32
    let node: Node
    let contents: Bool
  }
  private var watches: [Watch] = []
  private var starts = 0
  private var lastWatch: Int32 = 0
  private var knownPaths: [String: [String]] = [:]

  init() {}

  // MARK: - Faults

  private func enter(_ call: Call) throws(SystemError) { try perform(call) { () in } }

  /// Makes a call that may fail before its effect or after it.
  private func perform(
    _ call: Call, _ effect: () throws(SystemError) -> Void
  ) throws(SystemError) {
    let fault = next(call)
    if case .error(let errno) = fault { throw SystemError(errno) }
    try effect()
    if case .errorAfterEffect(let errno) = fault { throw SystemError(errno) }
  }

  private func next(_ call: Call) -> Fault? {
    calls += 1
    watch?()
    if mount.refuses(call) {
      if call == .synchronizeFile { refusedSynchronizations += 1 }
      return .error(EROFS)
    }
    guard let fault = fault?(calls, call) else { return nil }
    if case .error(let errno) = fault, !call.canFail(with: errno) { return nil }
    if case .errorAfterEffect = fault, !call.isMutating { return nil }
    if case .short = fault, call != .append { return nil }
    hasFired = true
    return fault
  }

  /// The disk as another process finds it after the end of this one: nothing is lost, yet.
  func afterKill() -> MemoryDisk {
    let disk = MemoryDisk()
    var copies: [UInt64: Node] = [:]
    func copied(_ node: Node) -> Node {
      if let copy = copies[node.inode] { return copy }
      let copy = Node(node.kind, inode: node.inode)
      copies[node.inode] = copy
      (copy.links, copy.changed) = (node.links, node.changed)
      (copy.bytes, copy.clean, copy.lost) = (node.bytes, node.clean, node.lost)
      copy.entries = node.entries.mapValues(copied)
      copy.synchronized = node.synchronized.mapValues(copied)
      copy.pending = node.pending.map { entry in
        Entry(removed: entry.removed, added: entry.added.map { ($0.name, copied($0.node)) })
      }
      return copy
    }
    disk.root = copied(root)
    disk.knownPaths = knownPaths
    disk.isShared = isShared
    disk.lastInode = lastInode
    disk.starts = starts
    disk.time = time
    return disk
  }

  /// The disk as it may be found after a power cut.
  func afterPowerCut(_ random: inout SplitMix64) -> MemoryDisk {
    // One throw decides whether to lose everything, nothing, or something else each time.
    afterPowerCut(odds: random.below(4), &random)
  }

  /// The disk after a power cut that took everything it could.
  func afterWorstPowerCut() -> MemoryDisk {
    var random = SplitMix64(seed: 0)
    return afterPowerCut(odds: 0, &random)
  }

  private func afterPowerCut(odds: Int, _ random: inout SplitMix64) -> MemoryDisk {
    func isKept(_ random: inout SplitMix64) -> Bool {
      switch odds {
      case 0: false
      case 1: true
      default: random.below(2) == 0
      }
    }
    let disk = MemoryDisk()
    var copies: [UInt64: Node] = [:]
    func survivor(_ node: Node) -> Node {
      if let copy = copies[node.inode] { return copy }
      let copy = Node(node.kind, inode: node.inode)
      copies[node.inode] = copy
      (copy.links, copy.changed) = (0, node.changed)
      var entries = node.synchronized
      for entry in node.pending where isKept(&random) { node.apply(entry, to: &entries) }
      for (name, child) in entries.sorted(by: { $0.key < $1.key }) {
        copy.entries[name] = survivor(child)
        copy.entries[name]!.links += 1
      }
      copy.synchronized = copy.entries
      copy.bytes = node.bytes
      for range in node.lost where !isKept(&random) {
        if odds == 0 { copy.erase(range) } else { copy.spoil(range, &random) }
      }
      let tail = node.clean..<node.bytes.count
      if !tail.isEmpty, !isKept(&random) {
        let end = tail.lowerBound + (odds == 0 ? 0 : random.below(tail.count + 1))
        copy.bytes.removeSubrange(end...)
        if random.below(2) == 0 { copy.spoil(tail.lowerBound..<end, &random) }
      }
      copy.clean = copy.bytes.count
      return copy
    }
    disk.root = survivor(root)
    disk.knownPaths = knownPaths
    disk.isShared = isShared
    disk.lastInode = lastInode
    disk.starts = starts + 1
    disk.time = time
    return disk
  }

  // MARK: - Calls

  private func node(_ descriptor: Int32) throws(SystemError) -> Node {
    guard let node = open[descriptor] else { throw SystemError(EBADF) }
    return node
  }

  private func folder(_ descriptor: Int32?) throws(SystemError) -> Node {
    guard let descriptor else { return root }
    return try node(descriptor)
  }

  /// The names in a path, which is split once: a process says the same few again and again.
  private func components(of path: String) -> [String] {
    if let known = knownPaths[path] { return known }
    let components = path.split(separator: "/").map(String.init)
    knownPaths[path] = components
    return components
  }

  /// The folder that `path` ends in, and its last component.
  private func locate(
    _ path: String, in folder: Int32?
  ) throws(SystemError) -> (folder: Node, name: String) {
    var at = try self.folder(folder)
    let parts = components(of: path)
    guard let name = parts.last else { return (at, ".") }
    for part in parts.dropLast() {
      guard let next = at.entries[part] else { throw SystemError(ENOENT) }
      guard next.kind == .folder else { throw SystemError(ENOTDIR) }
      at = next
    }
    return (at, name)
  }

  private func find(_ path: String, in folder: Int32?) throws(SystemError) -> Node {
    let (parent, name) = try locate(path, in: folder)
    if name == "." { return parent }
    guard let node = parent.entries[name] else { throw SystemError(ENOENT) }
    return node
  }

  private func descriptor(of node: Node) -> Int32 {
    lastDescriptor += 1
    open[lastDescriptor] = node
    return lastDescriptor
  }

  private func touch(_ node: Node) {
    time += 1_000_000_000
    node.changed = time
  }

  private func change(_ folder: Node, _ entry: Entry) {
    if let name = entry.removed, entry.added == nil, let node = folder.entries[name] { leave(node) }
    folder.apply(entry, to: &folder.entries)
    folder.pending.append(entry)
    touch(folder)
    if let added = entry.added { tell(of: added.name, in: folder) }
  }

  // MARK: - Watching

  /// Watches a folder; nil if it is none.
  fileprivate func watch(_ path: String, _ watcher: MemoryWatcher, contents: Bool) -> Int32? {
    self.watch?()
    guard let node = try? find(path, in: nil), node.kind == .folder else { return nil }
    if let known = watches.first(where: { $0.watcher === watcher && $0.node === node }) {
      return known.number
    }
    lastWatch += 1
    watches.removeAll { $0.watcher == nil }
    watches.append(Watch(watcher: watcher, number: lastWatch, node: node, contents: contents))
    return lastWatch
  }

  fileprivate func forget(_ number: Int32) { watches.removeAll { $0.number == number } }

  /// Tells of a new name, or of one whose file was written to.
  private func tell(of name: String, in folder: Node, isNew: Bool = true) {
    for watch in watches where watch.node === folder && (isNew || watch.contents) {
      watch.watcher?.events.append(WatchEvent(watch: watch.number, name: name))
    }
  }

  /// Tells of bytes written to a file.
  private func tell(of file: Node) {
    for watch in watches where watch.contents {
      for (name, node) in watch.node.entries.sorted(by: { $0.key < $1.key }) where node === file {
        watch.watcher?.events.append(WatchEvent(watch: watch.number, name: name))
      }
    }
  }

  /// Tells that a folder goes, with all that are in it.
  private func leave(_ node: Node) {
    for watch in watches where watch.node === node {
      watch.watcher?.events.append(WatchEvent(watch: watch.number, name: "", gone: true))
    }
    watches.removeAll { $0.node === node }
    for (_, child) in node.entries.sorted(by: { $0.key < $1.key }) { leave(child) }
  }

  private func create(
    _ kind: FileStatus.Kind, _ path: String, in folder: Int32?
  ) throws(SystemError) -> Node {
    let (parent, name) = try locate(path, in: folder)
    guard name != ".", parent.entries[name] == nil else { throw SystemError(EEXIST) }
    lastInode += 1
    let node = Node(kind, inode: lastInode)
    touch(node)
    change(parent, Entry(added: (name, node)))
    return node
  }

  func openFolder(
    _ name: String, in folder: Int32?, followingLinks: Bool
  ) throws(SystemError) -> Int32 {
    try enter(.openFolder)
    let node = try find(name, in: folder)
    if name == closedFolder { throw SystemError(EACCES) }
    guard node.kind == .folder else { throw SystemError(ENOTDIR) }
    return descriptor(of: node)
  }

  func openFile(_ name: String, in folder: Int32) throws(SystemError) -> Int32 {
    try enter(.openFile)
    return descriptor(of: try find(name, in: folder))
  }

  func createFile(
    _ name: String, in folder: Int32, for users: Users
  ) throws(SystemError) -> Int32 {
    var node: Node?
    try perform(.createFile) { () throws(SystemError) in
      node = try create(.file, name, in: folder)
    }
    return descriptor(of: node!)
  }

  func createFolder(
    _ name: String, in folder: Int32?, for users: Users
  ) throws(SystemError) {
    try perform(.createFolder) { () throws(SystemError) in
      _ = try create(.folder, name, in: folder)
    }
  }

  func close(_ descriptor: Int32) {
    guard let node = open.removeValue(forKey: descriptor) else {
      violations.append("closed twice")
      return
    }
    node.unreported.remove(descriptor)
    node.locks[descriptor] = nil
  }

  func lock(_ file: Int32, exclusively: Bool) throws(SystemError) -> Bool {
    let node = try node(file)
    let isTaken = node.locks.contains { $0.key != file && ($0.value || exclusively) }
    guard isIgnoringLocks || !isTaken else { return false }
    node.locks[file] = exclusively
    return true
  }

  func checkWritable(_ folder: Int32) throws(SystemError) { try enter(.status) }

  func status(_ descriptor: Int32) throws(SystemError) -> FileStatus {
    try enter(.status)
    return status(of: try node(descriptor))
  }

  func status(of name: String, in folder: Int32?) throws(SystemError) -> FileStatus {
    try enter(.status)
    let status = status(of: try find(name, in: folder))
    guard status.kind == .folder else { return status }
    if isShowingOldFolders, let seen = seenFolders[status.inode] { return seen }
    seenFolders[status.inode] = status
    return status
  }

  private func status(of node: Node) -> FileStatus {
    FileStatus(
      kind: node.kind, device: 1, inode: node.inode, links: node.links,
      size: UInt64(node.bytes.count), changed: node.changed)
  }

  func names(in folder: Int32) throws(SystemError) -> [String] {
    try enter(.names)
    // Sorted, or a test with a seed would not always go the same way.
    return try node(folder).entries.keys.sorted()
  }

  func read(_ count: Int, at offset: UInt64, of file: Int32) throws(SystemError) -> [UInt8] {
    try enter(.read)
    let bytes = Array(try node(file).bytes.dropFirst(Int(clamping: offset)).prefix(count))
    bytesRead += bytes.count
    return bytes
  }

  func append(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
    let fault = next(.append)
    if case .error(let errno) = fault { throw SystemError(errno) }
    var count = bytes.count
    if case .short(let limit) = fault { count = min(count, limit) }
    let node = try node(file)
    let half = count / 2
    node.bytes += bytes.prefix(half)
    touch(node)
    watch?()
    node.bytes += bytes.prefix(count).dropFirst(half)
    tell(of: node)
    if case .errorAfterEffect(let errno) = fault { throw SystemError(errno) }
    return count
  }

  /// At once, and for good: what is emptied is nothing that a power cut may bring back.
  func empty(_ file: Int32) throws(SystemError) {
    try perform(.empty) { () throws(SystemError) in
      let node = try node(file)
      (node.bytes, node.clean, node.lost) = ([], 0, [])
      touch(node)
      tell(of: node)
    }
  }

  func synchronize(file: Int32) throws(SystemError) {
    try synchronize(file: file, by: self)
  }

  /// - Parameter process: stands for the process that asks.
  fileprivate func synchronize(file: Int32, by process: AnyObject) throws(SystemError) {
    let node = try node(file)
    if node.informed.contains(ObjectIdentifier(process)) {
      violations.append("synchronized after a failure")
    }
    do throws(SystemError) {
      try enter(.synchronizeFile)
      if node.unreported.remove(file) != nil { throw SystemError(EIO) }
    } catch {
      // The pages count as clean from now on, and never were written. Whoever has the file open will hear of it, once;
      // whoever opens it later will not.
      if node.clean < node.bytes.count {
        node.lost.append(node.clean..<node.bytes.count)
        node.unreported = Set(open.filter { $0.value === node && $0.key != file }.keys)
      }
      node.clean = node.bytes.count
      node.informed.insert(ObjectIdentifier(process))
      throw error
    }
    if !isLying { node.clean = node.bytes.count }
  }

  func synchronize(folder: Int32) throws(SystemError) {
    try enter(.synchronizeFolder)
    let node = try node(folder)
    node.synchronized = node.entries
    node.pending = []
  }

  func rename(_ name: String, to new: String, in folder: Int32) throws(SystemError) {
    try perform(.rename) { () throws(SystemError) in
      let (parent, node) = (try self.folder(folder), try find(name, in: folder))
      if let replaced = parent.entries[new] {
        // Nothing in a notebook's folder is ever replaced; an archive beside it is.
        if new != "archive" { violations.append("\(new) replaced") }
        replaced.links -= 1
      }
      change(parent, Entry(removed: name, added: (new, node)))
    }
  }

  func link(_ name: String, as new: String, in folder: Int32) throws(SystemError) {
    try perform(.link) { () throws(SystemError) in
      let (parent, node) = (try self.folder(folder), try find(name, in: folder))
      guard parent.entries[new] == nil else { throw SystemError(EEXIST) }
      node.links += 1
      change(parent, Entry(added: (new, node)))
    }
  }

  func remove(_ name: String, in folder: Int32) throws(SystemError) {
    try perform(.remove) { () throws(SystemError) in
      try find(name, in: folder).links -= 1
      change(try self.folder(folder), Entry(removed: name))
    }
  }

  func removeFolder(_ name: String, in folder: Int32) throws(SystemError) {
    try perform(.remove) { () throws(SystemError) in
      guard try find(name, in: folder).entries.isEmpty else { throw SystemError(ENOTEMPTY) }
      change(try self.folder(folder), Entry(removed: name))
    }
  }

  var boot: String { "\(starts)" }

  /// A second passes with each change.
  var now: Int64 { time }

  func resolved(_ path: String) -> String? { path }

  func makeWatcher() -> (any Watcher)? { isWatched ? MemoryWatcher(self) : nil }

  func isSilent(_ folder: Int32) -> Bool { isShared }

  func isInMemory(_ folder: Int32) -> Bool {
    guard let node = open[folder] else { return false }
    var isFound = false
    func look(_ other: Node) {
      isFound = isFound || other === node
      for child in other.entries.values { look(child) }
    }
    if let memory = try? find(Self.memory, in: nil) { look(memory) }
    return isFound
  }

  /// The folder whose content is in memory, and is not copied.
  static let memory = "/run/user"

  func makeSyncQueue(path: String) throws(StoreError) -> any SyncQueue {
    let queue = MemorySyncQueue(self)
    queues.append(queue)
    return queue
  }

  // MARK: - For tests

  /// All of a disk that nobody has anything open on: whatever is done with one is what is done with another of the same state.
  struct State: Hashable {
    fileprivate struct File: Hashable {
      var inode, links: UInt64
      var isFolder: Bool
      var changed: Int64
      var bytes: [UInt8]
      var clean: Int
      var lost: [Range<Int>]
      var entries, synchronized: [String: UInt64]
      var pending: [Change]
    }

    fileprivate struct Change: Hashable {
      var removed, added: String?
      var inode: UInt64?
    }

    fileprivate var files: Set<File> = []
    fileprivate var starts: Int
    fileprivate var time: Int64
    fileprivate var lastInode: UInt64
  }

  var state: State {
    precondition(open.isEmpty && watches.isEmpty)
    var state = State(starts: starts, time: time, lastInode: lastInode)
    var seen: Set<UInt64> = []
    func add(_ node: Node) {
      guard seen.insert(node.inode).inserted else { return }
      let pending = node.pending.map {
        State.Change(removed: $0.removed, added: $0.added?.name, inode: $0.added?.node.inode)
      }
      state.files.insert(
        State.File(
          inode: node.inode, links: node.links, isFolder: node.kind == .folder,
          changed: node.changed, bytes: node.bytes, clean: node.clean, lost: node.lost,
          entries: node.entries.mapValues(\.inode),
          synchronized: node.synchronized.mapValues(\.inode), pending: pending))
      for child in node.entries.values { add(child) }
      for child in node.synchronized.values { add(child) }
      for entry in node.pending { entry.added.map { add($0.node) } }
    }
    add(root)
    return state
  }

  /// Lets time pass.
  func pass(_ seconds: Int64) { time += seconds * 1_000_000_000 }

  /// Lets everything happen that the queues were asked for.
  func performSyncs() {
    for queue in queues { while queue.performNext() {} }
  }

  /// How many descriptors are open.
  var openCount: Int { open.count }

  /// The paths of all files, and what is in them.
  var files: [String: [UInt8]] { files(in: root, prefix: "/") }

  /// The files below a folder, by their paths in it.
  func files(below folder: String) -> [String: [UInt8]] {
    guard let node = try? find(folder, in: nil) else { return [:] }
    return files(in: node, prefix: "")
  }

  private func files(in folder: Node, prefix: String) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    func walk(_ node: Node, _ prefix: String) {
      for (name, child) in node.entries {
        let path = prefix + name
        if child.kind == .file { files[path] = child.bytes }
        walk(child, path + "/")
      }
    }
    walk(folder, prefix)
    return files
  }

  /// Puts a file there as a synchronisation engine would: complete, and on disk.
  func put(_ bytes: [UInt8], at path: String) {
    var at = root
    var parts = path.split(separator: "/").map(String.init)
    let name = parts.removeLast()
    for part in parts {
      if at.entries[part] == nil {
        lastInode += 1
        at.entries[part] = Node(.folder, inode: lastInode)
        tell(of: part, in: at)
      }
      at.settle(part)
      at.synchronized[part] = at.entries[part]
      at = at.entries[part]!
    }
    lastInode += 1
    let file = Node(.file, inode: lastInode)
    file.bytes = bytes
    file.clean = bytes.count
    touch(file)
    at.settle(name)
    at.entries[name] = file
    at.synchronized[name] = file
    touch(at)
    tell(of: name, in: at)
  }

  /// Makes a file longer as an engine does that copies in place.
  func extend(_ path: String, by bytes: some Sequence<UInt8>) {
    guard let file = try? find(path, in: nil), file.kind == .file else { return }
    file.bytes += bytes
    file.clean = file.bytes.count
    touch(file)
    tell(of: file)
  }

  /// Puts everything on disk, as the system does by itself some time after.
  func writeBack() {
    var done: Set<UInt64> = []
    func write(_ node: Node) {
      guard done.insert(node.inode).inserted else { return }
      node.clean = node.bytes.count
      (node.synchronized, node.pending) = (node.entries, [])
      for child in node.entries.values { write(child) }
    }
    write(root)
  }

  /// Sets the clock, in nanoseconds.
  func moveClock(by nanoseconds: Int64) { time += nanoseconds }

  /// Takes a file away as a user would.
  func take(_ path: String) {
    guard let (parent, name) = try? locate(path, in: nil) else { return }
    parent.entries[name]?.links -= 1
    if let node = parent.entries[name] { leave(node) }
    parent.settle(name)
    parent.entries[name] = nil
    parent.synchronized[name] = nil
    touch(parent)
  }
}

/// Does what it was asked for when it is told to, or waited for: in tests there is no other thread.
final class MemorySyncQueue: SyncQueue, @unchecked Sendable {
  private let disk: MemoryDisk
  private var requests: [(descriptor: Int32, isFolder: Bool)] = []
  private var answers: [Int32] = []

  init(_ disk: MemoryDisk) {
    self.disk = disk
  }

  var descriptor: Int32 { -1 }

  func submit(_ descriptor: Int32, isFolder: Bool) {
    requests.append((descriptor, isFolder))
  }

  /// - Returns: false if there was nothing to do.
  func performNext() -> Bool {
    guard !requests.isEmpty else { return false }
    let request = requests.removeFirst()
    do {
      if request.isFolder {
        try disk.synchronize(folder: request.descriptor)
      } else {
        try disk.synchronize(file: request.descriptor, by: self)
      }
      answers.append(0)
    } catch { answers.append(error.errno) }
    return true
  }

  func answer() -> Int32? { answers.isEmpty ? nil : answers.removeFirst() }

  func wait() {
    if answers.isEmpty { _ = performNext() }
  }

  func finish() { while performNext() {} }

  func close(_ descriptor: Int32) { disk.close(descriptor) }

  /// Forgets what it was asked for: its process was killed before the disk came to that.
  func abandon() { requests = [] }
}

/// Tells of what happens on a disk in memory when a test lets it: late, or never.
final class MemoryWatcher: Watcher {
  private let disk: MemoryDisk
  /// What was not reported yet.
  fileprivate(set) var events: [WatchEvent] = []
  /// How many of them the next report brings; nil for all of them.
  var next: Int?
  private var isOverflown = false

  fileprivate init(_ disk: MemoryDisk) { self.disk = disk }

  var descriptor: Int32 { -1 }
  var isExhausted: Bool { false }

  func watch(_ path: String, followingLinks: Bool, contents: Bool) -> Int32? {
    disk.watch(path, self, contents: contents)
  }

  func forget(_ watch: Int32) { disk.forget(watch) }

  func report() -> WatchReport {
    if isOverflown {
      isOverflown = false
      return .overflow
    }
    let reported = events.prefix(next ?? events.count)
    events.removeFirst(reported.count)
    next = nil
    return .events(Array(reported))
  }

  /// Loses all that was not reported; as the system does, which says so, or without a word.
  func lose(saying isSaying: Bool) {
    events = []
    isOverflown = isSaying
  }

  /// Loses one event.
  func lose(at index: Int) { events.remove(at: index) }
}
