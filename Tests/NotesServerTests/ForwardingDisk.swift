@testable import NoteStore

/// Files of a test that are those of another file system, but for the calls that a test wants to see.
protocol ForwardingDisk: FileSystem {
  var system: SystemFiles { get }
}

extension ForwardingDisk {
  func openFolder(
    _ name: String, in folder: Int32?, followingLinks: Bool
  ) throws(SystemError) -> Int32 {
    try system.openFolder(name, in: folder, followingLinks: followingLinks)
  }

  func openFile(_ name: String, in folder: Int32) throws(SystemError) -> Int32 {
    try system.openFile(name, in: folder)
  }

  func close(_ descriptor: Int32) { system.close(descriptor) }

  func checkWritable(_ folder: Int32) throws(SystemError) { try system.checkWritable(folder) }

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
