internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// Reading: passes over the files of all sessions, and the events that lead to them.

extension LogFolder {
  /// The files to read.
  enum Scope: Sendable {
    /// All of them: at the start, now and then, and wherever events are missing.
    case everything
    /// Those for which there were events; everything where nothing is watched.
    case noticed
  }

  /// The records that were not handed out yet, of all sessions but the one being written. Those of one
  /// session come in their order; a segment whose predecessors are not here waits for them.
  ///
  /// A record whose append is not complete yet is handed out by a later call. A file that cannot be read
  /// further is listed in `damage`; that is never an error.
  ///
  /// - Parameter limit: stop after about so many bytes of payload; call again to go on. An empty result
  ///   means that nothing is left.
  /// - Complexity: O(new bytes + files in the scope).
  mutating func readNew(_ scope: Scope = .everything, limit: Int = .max) -> [LogRecord] {
    let isFull = needsFullPass(scope)
    if isFull {
      watch.beginFullPass()
      reader.beginFullPass()
    }
    let noticed = watch.takeNoticed()
    if isFull || root.identities.isEmpty { readIdentities() }
    if isFull { checkOwnFiles() }
    var pass = ReadPass(openSession: writer.session, limit: limit)
    do {
      let root = try root.open()
      if isFull { watch.noteFileSystem(of: root) }
      let log = try root.folder("log")
      let names = try isFull ? log.namesInNoOrder() : Array(noticed.keys)
      let isLeavingOutEnded = completeFolders.isLeavingOutEnded
      let wanted = isLeavingOutEnded ? names.filter { !completeFolders.leaveOut($0) } : names
      for name in wanted.sorted() {
        readEntry(name, isFull ? .everything : noticed[name] ?? .everything, in: log, &pass)
      }
      completeFolders.endResuming()
      reader.readReady(in: log, &pass)
      damageList.clear("\(path)/log")
      apply(pass)
      if isFull, pass.left > 0, pass.isComplete {
        detectMissingFiles(
          names: names, leftOut: names.count - wanted.count, unreadable: pass.unreadable)
      }
    } catch {
      apply(pass)
      if error.errno == ENOTDIR, error.path == "\(path)/log" {
        damageList.report(error.path, 0, NotebookRoot.misplaced(error.path).detail, .unreadable)
      }
      if error.reason != .notFound {
        damageList.report("\(path)/log", 0, error)
      } else if isFull {
        detectMissingFiles(names: [], leftOut: 0, unreadable: [])
      }
    }
    return pass.records
  }

  /// True if the next pass is a full one.
  func needsFullPass(_ scope: Scope) -> Bool {
    if case .everything = scope { return true }
    return watch.needsFullPass
  }

  private func readIdentities() {
    let before = root.unreadable
    do {
      try root.readIdentities()
      damageList.clear("\(path)/\(NotebookFile.name)")
      for error in before { damageList.clear(error.path) }
      for error in root.unreadable { damageList.report(error.path, 0, error) }
    } catch {
      // The logs can be read all the same.
      damageList.report("\(path)/\(NotebookFile.name)", 0, error)
    }
  }

  /// Reads the entry `name` of `log`: a file, or the files in a folder for which there were events.
  mutating func readEntry(
    _ name: String, _ noticed: NoticedFiles, in log: borrowing FileDescriptor,
    _ pass: inout ReadPass
  ) {
    guard pass.left > 0 else { return watch.notice(noticed, in: name) }
    guard !LogName.isTemporary(name) else { return }
    let path = "\(log.path)/\(name)"
    do {
      // The watch comes before the status, and that before the listing: a change in between is noticed, or has changed the status, or is listed. A
      // file is not watched.
      watch.watchSession(name, openSession: writer.session)
      guard let status = try log.status(of: name) else {
        // The entry that is gone may have been the folder of a session.
        return watch.noticeEverything()
      }
      switch status.kind {
      case .file: reader.read(name, in: log, key: name, &pass)
      case .folder:
        if completeFolders.isUnchanged(name, status), try readNews(of: name, in: log, &pass) {
          return
        }
        // If this user may not read the folder any more, this throws, and the records that were read before stay known.
        let folder = try log.folder(name)
        forgetCompleteFolder(name)
        let now = root.system.now
        let complete = try reader.readFolder(name, noticed, in: folder, &pass)
        damageList.clear(path)
        // A folder that changes twice in one tick of the clock for file times has the same status before and after.
        if let complete, status.changed < now - 2_000_000_000,
          let folder = reader.completeFolder(name, complete, status)
        {
          completeFolders.remember(name, folder, files: complete.count)
        }
      case .other:
        guard Identifier(name) != nil else { return }
        // The notes in the folder of a session would be missing, and nobody would know.
        damageList.report(
          path, 0, "is neither a folder nor a file, and not followed", .unreadable)
      }
    } catch {
      guard error.reason != .notFound else { return }
      if error.reason == .permission {
        pass.unreadable.insert(name)
      } else {
        pass.isComplete = false
      }
      damageList.report(path, 0, error)
    }
  }

  /// Reads the files of an unchanged complete folder with records that the archive lacks. Returns false if the folder has to be listed after all.
  private mutating func readNews(
    of name: String, in log: borrowing FileDescriptor, _ pass: inout ReadPass
  ) throws(StoreError) -> Bool {
    guard let news = completeFolders.unreadNews(of: name), let session = Identifier(name) else {
      return true
    }
    // If it can't be opened, its news stay unread, and it counts as having what the archive has of it.
    guard let folder = try? log.folder(name) else { return false }
    for file in news.files {
      let isThere = reader.read(file, in: folder, key: "\(name)/\(file)", &pass)
      if pass.left <= 0 {
        pass.unfinished.append(name)
        return true
      }
      guard isThere, reader.isCompleteAndRead("\(name)/\(file)") else { return false }
    }
    guard reader.sessions[session]?.known(at: news.end.number) == news.end else { return false }
    completeFolders.endReading(name)
    return true
  }

  /// Passes on to the other parts what the reader has noticed.
  mutating func apply(_ pass: ReadPass) {
    for name in pass.unfinished { watch.notice(name) }
    if pass.isMissingRecords { needsRepublish = true }
    for (key, session) in reader.unsynced {
      disk.addUnsynced(key)
      // The disk has refused records of this session. These count as missing, like those before them.
      if disk.unreliable.contains(session) { needsRepublish = true }
    }
    for (session, number) in reader.expected { ledger.expect(number, of: session) }
    reader.forgetNoticed()
  }

  // MARK: - Watching

  /// Readable when something happened in the folder: then call `drainWatch()`. Nil where there is no
  /// watching.
  ///
  /// Watching begins when this is asked for, and covers the files that the next `readNew()` reads: so ask
  /// before the first one. Events may get lost: call `readNew()` now and then anyway, and often if `mustPoll`.
  var watchDescriptor: Int32? { mutating get { watch.start() } }

  /// True if others may change the folder without an event: then call `readNew()` about every second.
  var mustPoll: Bool { watch.mustPoll }

  /// Takes the events since the last call; never waits.
  ///
  /// - Returns: whether there may be something for `readNew(.noticed)`.
  mutating func drainWatch() -> Bool { watch.drain(openSession: writer.session) }
}
