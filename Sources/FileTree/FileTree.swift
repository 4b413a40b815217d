/// A folder of a user's files that other programs read and write too, and everything below it.
///
/// Paths are relative to the folder, with `/` between their parts; the folder itself is the empty path. No call follows a symbolic link
/// below the folder. Nothing that another program has written is lost by a call: what a file is replaced or taken away from is set
/// aside, and stays there until the caller has looked at it (`SetAside`).
///
/// A test may put a tree in memory in its place.
public protocol FileTree: AnyObject {
  /// The one path that leads to the folder without links.
  var resolvedPath: String { get }

  /// False if the folder's path leads to another folder than when it was opened, or to none: it was moved or removed, is another link, or
  /// its file system is not mounted any more.
  var isInPlace: Bool { get }

  /// The differences of names by which the file system tells files apart, as far as that could be tried.
  var nameSensitivity: NameSensitivity { get }

  /// What is in a folder, in any order.
  func entries(of folder: String) throws(FileTreeError) -> [FileEntry]

  /// What is at names in a folder, in their order; nil where nothing is.
  func statuses(of names: [String], in folder: String) throws(FileTreeError) -> [FileStatus?]

  /// What is at a path; nil if nothing is.
  func status(of path: String) throws(FileTreeError) -> FileStatus?

  /// The bytes of a file, and its status while they were read; nil if nothing is there, or if it is no file.
  ///
  /// - Throws: `tooLarge` when it has more than `limit` bytes.
  func read(_ path: String, limit: Int) throws(FileTreeError) -> (
    bytes: [UInt8], status: FileStatus
  )?

  /// Makes a file where none is, with the folders above it.
  ///
  /// - Throws: `exists` when something has that path.
  func create(_ path: String, _ bytes: [UInt8]) throws(FileTreeError) -> FileStatus

  /// Puts a new file with the old one's mode in its place, in one step.
  ///
  /// - Parameter mark: letters and digits that the name of the old one has as long as it is set aside.
  /// - Returns: the status of the new file, and the old one as it was when it was replaced.
  /// - Throws: `notFound` when there is none.
  func replace(
    _ path: String, _ bytes: [UInt8], mark: String
  ) throws(FileTreeError) -> (status: FileStatus, old: any SetAside)

  /// Takes a file away, in one step; nil if there is none.
  ///
  /// - Parameter mark: letters and digits that its name has as long as it is set aside.
  func takeAway(_ path: String, mark: String) throws(FileTreeError) -> (any SetAside)?

  /// Gives a file another path, with the folders above it; also one that the file system takes for the path that it has.
  ///
  /// - Throws: `exists` when something else has that path, `notFound` when there is no file.
  func move(_ path: String, to new: String) throws(FileTreeError)

  /// Removes the folders above a path that are empty, from the inner to the outer.
  func removeEmptyFolders(above path: String)

  /// The kind of what a link leads to; nil if that is not there.
  func kind(behind link: String) -> FileKind?

  /// A watcher of this tree; nil where the system has none.
  func makeWatcher() -> (any TreeWatcher)?
}

extension FileTree {
  /// True if something has a path by just this name, and not by one that the file system takes for the same. O(entries of its folder).
  public func hasEntry(_ path: String) throws(FileTreeError) -> Bool {
    guard try status(of: path) != nil else { return false }
    let end = path.utf8.lastIndex(of: 0x2F)
    let name = Array(end.map { path.utf8[path.utf8.index(after: $0)...] } ?? path.utf8[...])
    return try entries(of: end.map { String(path[..<$0]) } ?? "").contains { $0.rawName == name }
  }

  /// A tree that is no folder of the system tells all names apart.
  public var nameSensitivity: NameSensitivity { NameSensitivity(case: true, form: true) }

  /// A tree that has no links.
  public func kind(behind link: String) -> FileKind? { nil }

  /// One call for each name; a tree of the system opens the folder once for all of them.
  public func statuses(
    of names: [String], in folder: String
  ) throws(FileTreeError) -> [FileStatus?] {
    var statuses: [FileStatus?] = []
    for name in names {
      statuses.append(try status(of: folder.isEmpty ? name : "\(folder)/\(name)"))
    }
    return statuses
  }

  /// Puts a new file with the old one's mode in its place, in one step.
  public func replace(
    _ path: String, _ bytes: [UInt8]
  ) throws(FileTreeError) -> (status: FileStatus, old: any SetAside) {
    try replace(path, bytes, mark: "0")
  }

  /// Takes a file away, in one step; nil if there is none.
  public func takeAway(_ path: String) throws(FileTreeError) -> (any SetAside)? {
    try takeAway(path, mark: "0")
  }

  /// A tree that is no folder of the system stays in its place.
  public var isInPlace: Bool { true }
}

/// A file that was replaced or taken away. Another program may have it open and write to it.
public protocol SetAside: AnyObject {
  /// Its bytes, and its status while they were read.
  func read(limit: Int) throws(FileTreeError) -> (bytes: [UInt8], status: FileStatus)
  /// Gives its name another mark.
  func mark(_ mark: String) throws(FileTreeError)
  /// Removes it for good.
  func discard()
  /// Gives it the path that it had; false if something has that path meanwhile.
  func putBack() throws(FileTreeError) -> Bool
}

/// The differences of names by which a file system tells files apart.
public struct NameSensitivity: Equatable, Sendable {
  /// True if `a` and `A` are two names.
  public var `case`: Bool
  /// True if a composed character and the same one decomposed are two names.
  public var form: Bool

  /// One that tells these apart.
  public init(case isCase: Bool, form isForm: Bool) { (self.case, form) = (isCase, isForm) }
}

/// Something in a folder.
public struct FileEntry: Sendable {
  /// Its name; nil if that is not UTF-8.
  public var name: String?
  /// The bytes of its name.
  public var rawName: [UInt8]
  /// What it is.
  public var kind: FileKind

  /// Something with a name in UTF-8.
  public init(name: String, kind: FileKind) {
    self.name = name
    rawName = Array(name.utf8)
    self.kind = kind
  }

  init(rawName: [UInt8], kind: FileKind) {
    name = String(validating: rawName, as: UTF8.self)
    self.rawName = rawName
    self.kind = kind
  }
}

/// What can be in a folder.
public enum FileKind: Sendable { case file, folder, link, other }

/// What tells whether a file is still the same one and has the same bytes.
public struct FileStatus: Equatable, Sendable {
  /// What it is.
  public var kind: FileKind
  /// The number of its file system.
  public var device: UInt64
  /// Its number there; another file may have it when it is gone.
  public var inode: UInt64
  /// Bytes.
  public var size: UInt64
  /// The time of the last change of its bytes, nanoseconds since 1970; programs set it as they please.
  public var modified: Int64
  /// The time of the last change of its bytes or status, nanoseconds since 1970; the system sets it.
  public var changed: Int64
  /// The time at which it was made, nanoseconds since 1970; 0 where the system does not tell.
  public var born: Int64

  /// A status of these values.
  public init(
    kind: FileKind, device: UInt64, inode: UInt64, size: UInt64, modified: Int64, changed: Int64,
    born: Int64 = 0
  ) {
    self.kind = kind
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
    self.born = born
  }
}

/// A failure of a call: what was done, with which file, and why it failed.
public struct FileTreeError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The reasons that callers tell apart.
  public enum Reason: Sendable { case exists, notFound, tooLarge, diskFull, other }

  /// The call, as `read`.
  public var operation: String
  /// The file or folder.
  public var path: String
  /// The reason as far as callers tell it apart.
  public var reason: Reason
  /// The cause in words.
  public var cause: String

  /// A failure of a call, for a cause in words.
  public init(_ operation: String, _ path: String, _ reason: Reason, _ cause: String) {
    self.operation = operation
    self.path = path
    self.reason = reason
    self.cause = cause
  }

  public var description: String { "\(operation) \(path): \(cause)" }
}

/// Tells when something happens in folders of a tree. Events may be lost where the system has too many: then a report says so.
public protocol TreeWatcher: AnyObject {
  /// Readable when there is something to report.
  var descriptor: Int32 { get }

  /// Watches a folder, not those in it; watching it again changes nothing. False if the system refuses.
  func watch(_ folder: String) -> Bool

  /// True if a folder is watched.
  func isWatching(_ folder: String) -> Bool

  /// All that has happened since the last call.
  func report() -> TreeReport
}

/// What has happened in a tree.
public struct TreeReport: Equatable, Sendable {
  /// Something that has happened at a path.
  public struct Event: Equatable, Sendable {
    /// What has happened.
    public enum Kind: Sendable {
      /// A file was closed by one who may have written to it, or came here by getting this name.
      case complete
      /// A file was written, made or removed.
      case touched
      /// A folder came or went.
      case folder
      /// Another program has read a file. Reads through the tree that made the watcher are not told.
      case read
    }

    /// The path.
    public var path: String
    /// What has happened there.
    public var kind: Kind

    /// An event at a path.
    public init(_ path: String, _ kind: Kind) {
      self.path = path
      self.kind = kind
    }
  }

  /// The events, in order.
  public var events: [Event] = []
  /// True if events were lost: anything may have happened.
  public var isIncomplete = false

  /// Nothing has happened.
  public init() {}
}
