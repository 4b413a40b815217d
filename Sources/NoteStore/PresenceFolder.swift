internal import Notes
public import ReplicatingTypes

// THE FOLDER `presence/`
//
// It is in the state folder, never in the notebook's. Each process that has something to tell the others keeps one file there:
//
//     <identity of the process>-<16 hex: the number of files that it has written>
//
// The file is a container (Container.swift in Notes) of one block.
//
// A file is written under a temporary name, locked (`flock`), and gets its name then; the one before it is removed then, and
// closed last. So a process that sees a name reads all of its content, and a name stands for one content for ever.
//
// The lock proves that the process lives: the system releases it when the process ends, however it ends. (A process number
// would not do. It is soon given to another process, and means nothing in another container, or on another machine that has the
// same home.) A process that gets a file's lock may remove the file: its writer has ended, or has replaced it meanwhile.
//
// No file is renamed over another one, since some file systems then begin to write the bytes to the disk. As it is, most files
// are gone before they would be written.

/// Messages between the processes that have a notebook open, about the present moment. A message ends with its process.
///
/// Failures are not reported: a file that can't be read counts as no message, and a message that can't be written is not sent.
public final class PresenceFolder {
  private static let name = "presence"
  /// Longer files are not read, nor more files than this.
  private static let longestFile: UInt64 = 64 << 10
  private static let mostFiles = 256
  /// The longest message, in bytes.
  public static let longestContent =
    Int(longestFile) - Container.headerSize - Container.prefixSize
  /// The age of an unfinished file whose writer was killed, in nanoseconds.
  private static let leftoverAge: Int64 = 60_000_000_000

  private let state: StateFolder
  private let watcher: (any Watcher)?
  private var watch: Int32?
  private var isSilent = false
  /// The identity of this process, once it has written a message.
  private var process: Identifier?
  private var tellings: UInt64 = 0
  /// The messages of others by the names of their files, which stand for one content for ever; and those files of which the system has told
  /// something since: they may be there no longer, or their writers.
  private var contents: [String: ArraySlice<UInt8>] = [:]
  private var touched: Set<String> = []
  /// The file with this process's message; open, and thereby locked.
  private var told: (name: String, file: OpenDescriptor)?

  fileprivate init?(in state: StateFolder) {
    self.state = state
    watcher = state.system.makeWatcher()
    guard let folder = try? openFolder() else { return nil }
    folder.removeLeftovers(olderThan: Self.leftoverAge)
  }

  /// Opens the folder, which is created and watched if it isn't. Not kept open: the system tells that a folder was removed only
  /// when no process has it open any more.
  private func openFolder() throws(StoreError) -> FileDescriptor {
    if watch != nil,
      let folder = try? FileDescriptor.folder("\(state.path)/\(Self.name)", on: state.system)
    {
      return folder
    }
    let above = try state.create()
    try above.createFolder(Self.name)
    let folder = try above.folder(Self.name)
    isSilent = state.system.isSilent(folder.number)
    // The events include the closing of files: so the end of a process is noticed, whatever ended it. They include removals, since a
    // removed file may be closed later: a child that the process is starting has it open, too.
    watch = watcher?.watch(folder.path, followingLinks: false, contents: true)
    return folder
  }

  // MARK: - Reading

  /// Readable when there may be a new message: then call `drainWatch`. Nil where there is no watching.
  public var watchDescriptor: Int32? { watcher?.descriptor }

  /// True if there may be a new message without an event: then call `others` about every second.
  public var mustPoll: Bool { watch == nil || isSilent }

  /// Learns what happened since the last call; never waits.
  ///
  /// - Returns: whether `others` may find something new.
  public func drainWatch() -> Bool {
    guard case .events(let events)? = watcher?.report() else {
      contents = [:]
      return true
    }
    var isNew = false
    for event in events where event.watch == watch {
      if event.gone {
        // The folder was removed or moved: the next call creates it again.
        watch = nil
        return true
      }
      guard let (process, _) = Self.parse(event.name), process != self.process else { continue }
      touched.insert(event.name)
      isNew = true
    }
    return isNew
  }

  /// The last message of each other process that is running. Removes the files of those that are not.
  ///
  /// - Parameter isLook: whether each file is read. Otherwise those are whose names are new, or of which the system has told something: the end of a
  ///   process is told as well, since its file is closed then.
  public func others(isLook: Bool) -> [(process: Identifier, content: ArraySlice<UInt8>)] {
    guard let folder = try? openFolder(), let names = try? folder.names() else {
      return []
    }
    let before = isLook || mustPoll ? [:] : contents
    contents = [:]
    defer { touched = [] }
    var found: [(process: Identifier, content: ArraySlice<UInt8>)] = []
    var count = 0
    // The names are in order, so the last message of a process comes last.
    for name in names {
      guard let (process, _) = Self.parse(name), process != self.process else { continue }
      count += 1
      if count > Self.mostFiles { break }
      let known = touched.contains(name) ? nil : before[name]
      guard let content = known ?? read(name, in: folder) else { continue }
      contents[name] = content
      if found.last?.process == process { found.removeLast() }
      found.append((process, content))
    }
    return found
  }

  private func read(_ name: String, in folder: borrowing FileDescriptor) -> ArraySlice<UInt8>? {
    guard let opened = try? folder.regularFile(name) else { return nil }
    let file = consume opened
    if (try? file.lock(exclusively: false)) ?? false {
      folder.remove(name)
      return nil
    }
    guard let size = try? file.status().size, size <= Self.longestFile,
      let bytes = try? file.read(Int(size), at: 0)
    else { return nil }
    return try? Container.decode(bytes, as: .presence)
  }

  private static func parse(_ name: String) -> (process: Identifier, number: UInt64)? {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let process = Identifier(parts[0]),
      let number = UInt64(parts[1], radix: 16), Self.name(process, number) == name
    else { return nil }
    return (process, number)
  }

  private static func name(_ process: Identifier, _ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return "\(process)-" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  // MARK: - Writing

  /// Replaces this process's message to the others; nil for none.
  ///
  /// - Parameter process: the name of this process: always the same.
  public func tell(_ content: [UInt8]?, as process: Identifier) {
    self.process = process
    let old = told
    told = nil
    if let content { told = try? publish(content, as: process) }
    if let old { try? openFolder().remove(old.name) }
  }

  /// Takes back this process's message, as before the process ends.
  public func tellNothing() { if let process { tell(nil, as: process) } }

  private func publish(
    _ content: [UInt8], as process: Identifier
  ) throws(StoreError) -> (name: String, file: OpenDescriptor)? {
    guard content.count <= Self.longestContent else { return nil }
    let folder = try openFolder()
    tellings += 1
    let name = Self.name(process, tellings)
    let temporary = FileDescriptor.temporary + name
    let file = OpenDescriptor(try folder.createFile(temporary))
    do {
      try file.descriptor.append(Container.encode(content, as: .presence)[...])
      if try file.descriptor.lock(exclusively: true) {
        try folder.rename(temporary, to: name)
        return (name, file)
      }
    } catch {
      folder.remove(temporary)
      throw error
    }
    folder.remove(temporary)
    return nil
  }
}

extension NoteStore {
  /// The messages between the processes that have this notebook open at this path; nil where there is no state folder.
  /// Creates nothing but the folder.
  public func openPresence() -> PresenceFolder? {
    stateFolder.flatMap { PresenceFolder(in: $0) }
  }
}
