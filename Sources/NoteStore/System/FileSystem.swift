/// The system calls for files and folders. NoteStore reaches files in no other way.
///
/// Each call stands for one system call, so that a test can let any of them fail: `SystemFiles` makes them, and
/// the tests' disk in memory also forgets, at a power cut, what was not synchronized. No call follows a link, blocks, or
/// overwrites a file, unless its description says so.
///
/// A descriptor is a small number, as everywhere in POSIX. `nil` for a folder means that the name is a path.
protocol FileSystem: AnyObject, Sendable {
  /// Opens a folder for listing, for synchronizing, and for reaching what is in it.
  ///
  /// - Parameter followingLinks: whether `name` itself may be a symbolic link.
  func openFolder(
    _ name: String, in folder: Int32?, followingLinks: Bool
  ) throws(SystemError) -> Int32

  /// Opens a file for reading. Follows no link, and does not wait for a process at the other end of a FIFO.
  func openFile(_ name: String, in folder: Int32) throws(SystemError) -> Int32

  /// Creates a file and opens it for appending; nothing of that name may exist.
  func createFile(
    _ name: String, in folder: Int32, for users: Users
  ) throws(SystemError) -> Int32

  /// Creates a folder; nothing of that name may exist.
  func createFolder(_ name: String, in folder: Int32?, for users: Users) throws(SystemError)

  func close(_ descriptor: Int32)

  func status(_ descriptor: Int32) throws(SystemError) -> FileStatus

  /// Throws the error with which creating something in a folder would be refused.
  func checkWritable(_ folder: Int32) throws(SystemError)

  /// The status of `name`, without following a link.
  func status(of name: String, in folder: Int32?) throws(SystemError) -> FileStatus

  /// The names in a folder in any order, without `.` and `..`. Names that are not UTF-8 are left out: no file of
  /// this program has one.
  func names(in folder: Int32) throws(SystemError) -> [String]

  /// The `count` bytes from `offset` on; fewer only where the file ends before.
  func read(_ count: Int, at offset: UInt64, of file: Int32) throws(SystemError) -> [UInt8]

  /// Appends to a file in one step, and returns how many bytes that took: all of them, or as many as there was room for.
  func append(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int

  /// Takes away all bytes of a file that is open for writing.
  func empty(_ file: Int32) throws(SystemError)

  /// Puts what was written to a file onto the disk.
  ///
  /// After an error it must not be called again for the same file: the system has dropped the dirty pages, and
  /// the next call would report success.
  func synchronize(file: Int32) throws(SystemError)

  /// Puts the entries of a folder onto the disk. Succeeds where the file system cannot do that for a folder.
  func synchronize(folder: Int32) throws(SystemError)

  /// Locks a file, without waiting, for as long as its descriptor is open: until it is closed, or the process ends, however
  /// that happens. Only processes that lock the file, too, notice it.
  ///
  /// - Parameter exclusively: whether no other process may have a lock; else none may have an exclusive one.
  /// - Returns: false when the lock of another process is in the way.
  func lock(_ file: Int32, exclusively: Bool) throws(SystemError) -> Bool

  /// Gives a file another name in the same folder, in one step. A file of that name is replaced.
  func rename(_ name: String, to new: String, in folder: Int32) throws(SystemError)

  /// Gives a file another name beside the one it has; `EEXIST` when it is taken.
  func link(_ name: String, as new: String, in folder: Int32) throws(SystemError)

  /// Removes a file's name.
  func remove(_ name: String, in folder: Int32) throws(SystemError)

  /// Removes a folder that is empty.
  func removeFolder(_ name: String, in folder: Int32) throws(SystemError)

  /// True if a folder is in memory: nothing in it outlives the start of the system, or comes to a backup or another machine.
  func isInMemory(_ folder: Int32) -> Bool

  /// The one path that leads to a folder without links; nil if there is no such folder.
  func resolved(_ path: String) -> String?

  /// The time by the clock that file times are taken from, in nanoseconds.
  var now: Int64 { get }

  /// A word that is different after each start of the machine; where the system has none, different for each process. Bytes
  /// that were written before the last start and not synchronized may be gone, though the file's status is the same.
  var boot: String { get }

  /// Makes a queue that synchronizes in the background; `path` is for error messages.
  func makeSyncQueue(path: String) throws(StoreError) -> any SyncQueue

  /// Makes a watcher; nil where the system has none.
  func makeWatcher() -> (any Watcher)?

  /// True if a folder may change without an event, because other machines or programs write its file system, too.
  func isSilent(_ folder: Int32) -> Bool
}

/// The error number of a system call.
struct SystemError: Error, Equatable {
  var errno: Int32

  init(_ errno: Int32) {
    self.errno = errno
  }
}

/// Synchronizes files and folders one after the other, while its owner does something else.
protocol SyncQueue: AnyObject, Sendable {
  /// Readable when there are answers.
  var descriptor: Int32 { get }

  /// Asks for a file or folder to be synchronized. It has to stay open until its answer has come.
  func submit(_ descriptor: Int32, isFolder: Bool)

  /// The next answer, in the order of the requests: 0 or an error number; nil if there is none yet.
  func answer() -> Int32?

  /// Waits until there is an answer to one of the requests.
  func wait()

  /// Closes a descriptor after the requests there are, without an answer. Closing the last one of a large file that has no
  /// name any more frees its blocks, which takes a while.
  func close(_ descriptor: Int32)

  /// Waits until the requests are done. The descriptors may be closed afterwards.
  func finish()
}

/// Tells when something happens in a folder. Events may be lost, and on network file systems there are none for changes by other
/// machines.
protocol Watcher: AnyObject {
  /// Readable when there is something to report.
  var descriptor: Int32 { get }

  /// True if a watch was refused because the user has too many: the caller has to poll as well.
  var isExhausted: Bool { get }

  /// Watches the folder at `path`; watching it again gives the same number again.
  ///
  /// - Parameter contents: whether to tell of writes to the files in it and of their removal too, not only of new names and of modes.
  /// - Returns: nil when it is no folder, or none is left of the user's watches: see `isExhausted`.
  func watch(_ path: String, followingLinks: Bool, contents: Bool) -> Int32?

  /// Stops watching.
  func forget(_ watch: Int32)

  /// All that happened since the last call; an overflow instead of more than some ten thousand events.
  func report() -> WatchReport
}

/// An event in the folder watched under the number `watch`.
struct WatchEvent {
  var watch: Int32
  /// The name inside the folder; empty when it is about the folder itself, which went away or has another mode.
  var name: String
  /// The folder itself went away, and the watch with it.
  var gone = false
}

enum WatchReport {
  case events([WatchEvent])
  /// Events were lost: anything may have happened.
  case overflow
}

/// The part of `stat` that tells whether a file is still the same one.
struct FileStatus: Equatable {
  enum Kind { case file, folder, other }
  var kind: Kind
  var device: UInt64
  var inode: UInt64
  var links: UInt64
  var size: UInt64
  /// The time of the last change of the file or its status (`ctime`), in nanoseconds. (Not that of its bytes, `mtime`:
  /// copying programs set that as they please.)
  var changed: Int64
  /// True if its mode lets its owner read it.
  var isReadable = true

  /// True if this is the same file as `other`, even if its bytes have changed.
  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}
