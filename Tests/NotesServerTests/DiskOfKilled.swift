import Foundation

@testable import NoteStore

/// The system's files, for a process that is killed: what is on the disk before one of its calls is kept. It goes on to run in memory for a
/// moment, which nobody sees.
final class DiskOfKilled: FileSystem, @unchecked Sendable {
  private let folders: [String]
  private let system = SystemFiles.shared
  /// So many calls that change something are left before the process is killed; nil if it is not killed there.
  var callsLeft: Int?
  /// True while calls are counted.
  var isWatched = true
  /// Called when it is killed.
  var didKill: () -> Void = {}
  private var isOver = false

  /// - Parameter folders: all that it writes to.
  init(_ folders: [String]) { self.folders = folders }

  /// The process is killed.
  func kill() {
    if isOver { return }
    isOver = true
    for folder in folders {
      try? FileManager.default.removeItem(atPath: folder + ".copy")
      try? FileManager.default.copyItem(atPath: folder, toPath: folder + ".copy")
    }
    didKill()
  }

  /// Makes the folders what they were when it was killed.
  func restore() {
    kill()
    for folder in folders where FileManager.default.fileExists(atPath: folder + ".copy") {
      try? FileManager.default.removeItem(atPath: folder)
      try? FileManager.default.moveItem(atPath: folder + ".copy", toPath: folder)
    }
  }

  private func count() {
    guard isWatched, let left = callsLeft else { return }
    callsLeft = left == 0 ? nil : left - 1
    if left == 0 { kill() }
  }

  // MARK: - Calls that change something

  func createFile(
    _ name: String, in folder: Int32, for users: Users
  ) throws(SystemError) -> Int32 {
    count()
    return try system.createFile(name, in: folder, for: users)
  }

  func createFolder(_ name: String, in folder: Int32?, for users: Users) throws(SystemError) {
    count()
    try system.createFolder(name, in: folder, for: users)
  }

  func checkWritable(_ folder: Int32) throws(SystemError) { try system.checkWritable(folder) }

  func append(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
    // A part of it may be there.
    guard isWatched, callsLeft == 0, bytes.count > 1 else {
      count()
      return try system.append(bytes, to: file)
    }
    let half = bytes.startIndex + bytes.count / 2
    let written = try system.append(bytes[..<half], to: file)
    count()
    return try written + system.append(bytes[half...], to: file)
  }

  func empty(_ file: Int32) throws(SystemError) {
    count()
    try system.empty(file)
  }

  func rename(_ name: String, to new: String, in folder: Int32) throws(SystemError) {
    count()
    try system.rename(name, to: new, in: folder)
  }

  func link(_ name: String, as new: String, in folder: Int32) throws(SystemError) {
    count()
    try system.link(name, as: new, in: folder)
  }

  func remove(_ name: String, in folder: Int32) throws(SystemError) {
    count()
    try system.remove(name, in: folder)
  }

  func removeFolder(_ name: String, in folder: Int32) throws(SystemError) {
    count()
    try system.removeFolder(name, in: folder)
  }

  // MARK: - Others

  func openFolder(
    _ name: String, in folder: Int32?, followingLinks: Bool
  ) throws(SystemError) -> Int32 {
    try system.openFolder(name, in: folder, followingLinks: followingLinks)
  }

  func openFile(_ name: String, in folder: Int32) throws(SystemError) -> Int32 {
    try system.openFile(name, in: folder)
  }

  func close(_ descriptor: Int32) { system.close(descriptor) }

  func status(_ descriptor: Int32) throws(SystemError) -> FileStatus {
    try system.status(descriptor)
  }

  func status(of name: String, in folder: Int32?) throws(SystemError) -> FileStatus {
    try system.status(of: name, in: folder)
  }

  func names(in folder: Int32) throws(SystemError) -> [String] { try system.names(in: folder) }

  func read(_ count: Int, at offset: UInt64, of file: Int32) throws(SystemError) -> [UInt8] {
    try system.read(count, at: offset, of: file)
  }

  func synchronize(file: Int32) throws(SystemError) { try system.synchronize(file: file) }

  func synchronize(folder: Int32) throws(SystemError) { try system.synchronize(folder: folder) }

  func lock(_ file: Int32, exclusively: Bool) throws(SystemError) -> Bool {
    try system.lock(file, exclusively: exclusively)
  }

  func isInMemory(_ folder: Int32) -> Bool { system.isInMemory(folder) }

  func resolved(_ path: String) -> String? { system.resolved(path) }

  var now: Int64 { system.now }

  var boot: String { system.boot }

  func makeSyncQueue(path: String) throws(StoreError) -> any SyncQueue {
    try system.makeSyncQueue(path: path)
  }

  func makeWatcher() -> (any Watcher)? { system.makeWatcher() }

  func isSilent(_ folder: Int32) -> Bool { system.isSilent(folder) }
}
