internal import ReplicatingTypes

/// What is being watched, and what was noticed.
struct Watches {
  /// Folders in `log`, by the number of their watch and the other way round.
  var names: [Int32: String] = [:]
  var numbers: [String: Int32] = [:]
  /// The watches of `log`, of `snap`, of the notebook's folder, and, while that does not exist, of the nearest
  /// folder above it that does.
  var log: Int32?
  var snapshots: Int32?
  var root: Int32?
  var above: Int32?
  /// The name whose appearance is waited for in the folder above.
  var awaited = ""
  /// Names in `log` that something happened to, and in what files there.
  var noticed: [String: Noticed] = [:]
  /// Something happened that has no name, or too much.
  var isEverythingNoticed = true
  /// Something happened to a snapshot.
  var isSnapshotNoticed = false
}

extension Watches {
  /// What something happened to in a folder.
  enum Noticed {
    case everything
    case files(Set<String>)
  }

  /// Notes that something happened to `name` in `log`: to that file, or anywhere in that folder.
  mutating func notice(_ name: String) {
    noticed[name] = .everything
  }

  /// Notes that something happened to `file` in the folder `name`.
  mutating func notice(_ file: String, in name: String) {
    switch noticed[name] {
    case .everything: return
    case nil: noticed[name] = .files([file])
    case .files(var files):
      noticed[name] = nil  // or the set would be copied
      files.insert(file)
      noticed[name] = .files(files)
    }
  }
}

extension LogFolder {
  /// Readable when something happened in the folder: then call `drainWatch()`. Nil where there is no
  /// watching.
  ///
  /// Watching begins when this is asked for, and covers what the next `readNew()` looks at: so ask
  /// before the first one. It is a hint: call `readNew()` now and then anyway, and often if `mustPoll`.
  public var watchDescriptor: Int32? {
    mutating get {
      // Not at the opening: ending a watch takes some milliseconds, and many never need one.
      if !isWatchingWanted {
        isWatchingWanted = true
        watcher = system.makeWatcher()
        watches = Watches()
      }
      return usableWatcher?.descriptor
    }
  }

  /// Whether others may change the folder without our hearing of it: then call `readNew()` about every second.
  public var mustPoll: Bool { usableWatcher == nil || isSilent }

  /// The watcher, if what it reports is all there is.
  var usableWatcher: (any Watcher)? {
    guard let watcher, !watcher.isExhausted else { return nil }
    return watcher
  }

  /// Learns what happened since the last call; never waits.
  ///
  /// - Returns: whether there may be something for `readNew(.noticed)`.
  public mutating func drainWatch() -> Bool {
    switch watcher?.report() {
    case nil: return true
    case .overflow: watches.isEverythingNoticed = true
    case .events(let events):
      for event in events { notice(event) }
    }
    return watches.isEverythingNoticed || watches.isSnapshotNoticed || !watches.noticed.isEmpty
  }

  private mutating func notice(_ event: WatchEvent) {
    if let name = watches.names[event.watch] {
      if event.gone {
        watches.names[event.watch] = nil
        watches.numbers[name] = nil
        watcher?.forget(event.watch)
        watches.notice(name)
      } else {
        watches.notice(event.name, in: name)
      }
    } else if event.watch == watches.log {
      if event.gone {
        forgetWatches()
      } else if event.name != live?.session.description {
        watches.notice(event.name)
      }
    } else if event.watch == watches.root {
      if event.gone {
        forgetWatches()
      } else if event.name == "log" || event.name == SnapshotFormat.folder
        || event.name == NotebookFile.name
        || NotebookFile.isCopyName(event.name)
      {
        watches.isEverythingNoticed = true
      }
    } else if event.watch == watches.snapshots {
      if event.gone { watches.snapshots = nil }
      if event.gone || !Self.isTemporary(event.name) { watches.isSnapshotNoticed = true }
    } else if event.watch == watches.above {
      if event.gone || event.name == watches.awaited { forgetWatches() }
    }
  }

  /// The folders are not where they were: begin again with the next full look.
  private mutating func forgetWatches() {
    var numbers = Array(watches.names.keys)
    for number in [watches.log, watches.snapshots, watches.root, watches.above] {
      if let number { numbers.append(number) }
    }
    for number in numbers { watcher?.forget(number) }
    let noticed = watches.noticed
    watches = Watches()
    watches.noticed = noticed
  }

  /// Watches `log`, and as long as it does not exist, whatever would show that it came to be.
  mutating func prepareWatches() {
    if watches.log == nil {
      watches.log = watcher?.watch("\(path)/log", followingLinks: false, contents: true)
    }
    if watches.root == nil {
      watches.root = watcher?.watch(path, followingLinks: true, contents: false)
      // It may have come with its log inside, between the two lines.
      if watches.root != nil, watches.log == nil {
        watches.log = watcher?.watch("\(path)/log", followingLinks: false, contents: true)
      }
    }
    if watches.snapshots == nil {
      watches.snapshots = watcher?.watch(
        "\(path)/\(SnapshotFormat.folder)", followingLinks: false, contents: true)
    }
    guard watches.root == nil else {
      if let above = watches.above { watcher?.forget(above) }
      watches.above = nil
      return
    }
    guard watches.above == nil else { return }
    var missing = path
    while let parent = missing.parentPath {
      watches.above = watcher?.watch(parent, followingLinks: true, contents: false)
      if watches.above != nil {
        let slash = missing.utf8.lastIndex(of: UInt8(ascii: "/"))
        watches.awaited = String(
          slash.map { missing[missing.index(after: $0)...] } ?? missing[...])
        // Created while we were getting here: nobody will tell.
        if (try? system.status(of: missing, in: nil)) != nil { watches.isEverythingNoticed = true }
        return
      }
      missing = parent
    }
  }

  /// Watches the folder called `name` in `log`, unless it is the one we write: our own appends are no
  /// news.
  mutating func watchSession(_ name: String) {
    guard watches.numbers[name] == nil, name != live?.session.description else { return }
    guard let number = watcher?.watch("\(path)/log/\(name)", followingLinks: false, contents: true)
    else { return }
    watches.names[number] = name
    watches.numbers[name] = number
  }
}
