internal import ReplicatingTypes

/// The files in a folder of `log` for which there were events.
enum NoticedFiles {
  case everything
  case files(Set<String>)
}

/// Watches the folder of a notebook: the system's watcher, and the events that were not handled yet.
///
/// If the system reports no events, or not all, the folder has to be polled: `mustPoll`.
struct FolderWatch {
  /// Readable when something happened; nil where there is no watching.
  private(set) var watcher: (any Watcher)?
  /// True if a snapshot was added, replaced or removed.
  private(set) var isSnapshotNoticed = false
  /// True if events were lost, or may concern any file: then the next pass has to be a full one.
  private(set) var isEverythingNoticed = true
  /// The names in `log` for which there were events, and the files in those folders.
  private var noticed: [String: NoticedFiles] = [:]

  private let path: String
  private let system: any FileSystem
  private var isWanted = false
  /// True if the file system does not tell of changes by other machines.
  private var isSilent = false
  /// The watched folders in `log`, by the numbers of their watches, and the other way round.
  private var names: [Int32: String] = [:]
  private var numbers: [String: Int32] = [:]
  /// The watches of `log`, of `snap`, of the notebook's folder, and, while that does not exist, of the nearest folder
  /// above it that does.
  private var log: Int32?
  private var snapshots: Int32?
  private var root: Int32?
  private var above: Int32?
  /// The name whose appearance in the folder `above` is waited for.
  private var awaited = ""

  init(_ root: NotebookRoot) {
    path = root.path
    system = root.system
  }

  /// Begins to watch, unless it has begun; returns a descriptor that is readable when something happened.
  mutating func start() -> Int32? {
    // The watcher is not made when the notebook is opened: ending one takes some milliseconds, and many processes never need it.
    if !isWanted {
      isWanted = true
      watcher = system.makeWatcher()
      forgetAll()
      noticed = [:]
      isEverythingNoticed = true
      isSnapshotNoticed = false
    }
    return isUsable ? watcher?.descriptor : nil
  }

  /// True if the watcher reports all changes that this machine makes.
  var isUsable: Bool {
    guard let watcher else { return false }
    return !watcher.isExhausted
  }

  /// True if files may change without an event.
  var mustPoll: Bool { !isUsable || isSilent }

  /// True if the next pass has to be a full one.
  var needsFullPass: Bool { isEverythingNoticed || !isUsable }

  // MARK: - Noticing

  /// Takes the events since the last call; never waits.
  ///
  /// - Parameter openSession: the session of this process. Events about its folder are ignored.
  /// - Returns: whether there may be something to read.
  mutating func drain(openSession: Identifier?) -> Bool {
    switch watcher?.report() {
    case nil: return true
    case .overflow: isEverythingNoticed = true
    case .events(let events):
      for event in events { handle(event, openSession: openSession) }
    }
    return isEverythingNoticed || isSnapshotNoticed || !noticed.isEmpty
  }

  private mutating func handle(_ event: WatchEvent, openSession: Identifier?) {
    if let name = names[event.watch] {
      if event.gone {
        names[event.watch] = nil
        numbers[name] = nil
        watcher?.forget(event.watch)
        notice(name)
      } else if event.name.isEmpty {
        notice(name)
      } else {
        notice(event.name, in: name)
      }
    } else if event.watch == log {
      if event.gone {
        forgetWatches()
      } else if event.name.isEmpty {
        isEverythingNoticed = true
      } else if event.name != openSession?.description {
        notice(event.name)
      }
    } else if event.watch == root {
      if event.gone {
        forgetWatches()
      } else if event.name.isEmpty || event.name == "log" || event.name == SnapshotFormat.folder
        || event.name == NotebookFile.name
        || NotebookFile.isCopyName(event.name)
      {
        isEverythingNoticed = true
      }
    } else if event.watch == snapshots {
      if event.gone { snapshots = nil }
      if event.gone || !LogName.isTemporary(event.name) { isSnapshotNoticed = true }
    } else if event.watch == above {
      if event.gone || event.name == awaited { forgetWatches() }
    }
  }

  /// Notes that something happened to `name` in `log`: to the file, or anywhere in the folder of that name.
  mutating func notice(_ name: String) { noticed[name] = .everything }

  /// Notes that something happened to `file` in the folder `name`.
  private mutating func notice(_ file: String, in name: String) {
    switch noticed[name] {
    case .everything: return
    case nil: noticed[name] = .files([file])
    case .files(var files):
      noticed[name] = nil  // or the set would be copied
      files.insert(file)
      noticed[name] = .files(files)
    }
  }

  /// Puts back files that were taken and not read.
  mutating func notice(_ files: NoticedFiles, in name: String) { noticed[name] = files }

  /// Makes the next pass a full one.
  mutating func noticeEverything() { isEverythingNoticed = true }

  /// Takes the names that something happened to.
  mutating func takeNoticed() -> [String: NoticedFiles] {
    defer { noticed = [:] }
    return noticed
  }

  /// Notes that the snapshots are being listed.
  mutating func clearSnapshotNotice() { isSnapshotNoticed = false }

  // MARK: - Watching

  private mutating func forgetAll() {
    (names, numbers, awaited) = ([:], [:], "")
    (log, snapshots, root, above) = (nil, nil, nil, nil)
  }

  /// Forgets all watches, because a watched folder was created, moved or removed. The next full pass watches the folders anew.
  private mutating func forgetWatches() {
    var watches = Array(names.keys)
    for number in [log, snapshots, root, above] {
      if let number { watches.append(number) }
    }
    for number in watches { watcher?.forget(number) }
    forgetAll()
    isEverythingNoticed = true
    isSnapshotNoticed = false
  }

  /// Begins a full pass: watches the folders that are not watched yet.
  mutating func beginFullPass() {
    isEverythingNoticed = false
    watchFolders()
  }

  /// Finds out whether the notebook's file system tells of changes by other machines.
  mutating func noteFileSystem(of root: borrowing FileDescriptor) {
    isSilent = system.isSilent(root.number)
  }

  /// Watches `log`, and as long as it does not exist, the folders in which it would appear.
  private mutating func watchFolders() {
    if log == nil { log = watch("\(path)/log") }
    if root == nil {
      root = watcher?.watch(path, followingLinks: true, contents: false)
      // It may have appeared with its log inside, between the two calls.
      if root != nil, log == nil { log = watch("\(path)/log") }
    }
    if snapshots == nil { snapshots = watch("\(path)/\(SnapshotFormat.folder)") }
    guard root == nil else {
      if let above { watcher?.forget(above) }
      above = nil
      return
    }
    if above == nil { watchAbove() }
  }

  private func watch(_ path: String) -> Int32? {
    watcher?.watch(path, followingLinks: false, contents: true)
  }

  /// Watches the nearest folder above the notebook's that exists.
  private mutating func watchAbove() {
    var missing = path
    while let parent = missing.parentPath {
      above = watcher?.watch(parent, followingLinks: true, contents: false)
      if above != nil {
        let slash = missing.utf8.lastIndex(of: UInt8(ascii: "/"))
        awaited = String(slash.map { missing[missing.index(after: $0)...] } ?? missing[...])
        // It may have been created before the watch: there is no event for that.
        if (try? system.status(of: missing, in: nil)) != nil { isEverythingNoticed = true }
        return
      }
      missing = parent
    }
  }

  /// Watches the folder called `name` in `log`, unless it is that of the open session: our own appends need no events.
  mutating func watchSession(_ name: String, openSession: Identifier?) {
    guard numbers[name] == nil, name != openSession?.description else { return }
    guard let number = watch("\(path)/log/\(name)") else { return }
    names[number] = name
    numbers[name] = number
  }
}
