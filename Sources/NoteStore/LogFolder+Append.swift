public import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension LogFolder {
  /// The identity under which the next append is written.
  ///
  /// Looks after the file of the current session first: if it is no longer in its place (deleted,
  /// renamed over, linked, of another size), the session is given up here, so that the caller's next
  /// change carries an identity that nobody else can go on with. So call it for every change, right
  /// before its identity is used. An identity is never given out again after a failure.
  ///
  /// Mints an identity in memory when there is none; writes nothing.
  public mutating func session() -> Identifier {
    _ = leaveUnlessOurs()
    isChecked = true
    if let live { return live.session }
    if minted == nil { minted = makeIdentifier() }
    return minted!
  }

  /// Appends records with one `write`; readers see all of them or none.
  ///
  /// On return they are in the file. The first append creates what is missing of the folder (mode
  /// 0700), `decent.json`, and the session's file (mode 0600).
  ///
  /// - Throws: `tooLarge` when the records take more than 64 MiB together; nothing happened then. After
  ///   any other error the session is given up, nothing is taken back or tried again, and the next
  ///   append begins a new session: ask `session()` for its identity.
  public mutating func append(
    _ records: [(type: UInt8, payload: [UInt8])]
  ) throws(StoreError) {
    guard !records.isEmpty else { return }
    var size = 0
    for record in records {
      // Compared one by one: the sum of hostile sizes could overflow.
      guard record.payload.count <= LogFormat.maximumAppend - size - LogFormat.maximumOverhead
      else {
        throw StoreError(
          operation: "append", path: path, reason: .tooLarge, detail: "more than 64 MiB at once")
      }
      size += record.payload.count + LogFormat.maximumOverhead
    }
    if !isChecked, let path = leaveUnlessOurs() {
      // The records were made for the session that just ended.
      throw StoreError(
        operation: "append", path: path, reason: .other, detail: "the file was replaced")
    }
    isChecked = false
    do {
      if live == nil {
        try beginSession()
      } else if let file = live, file.isComplete {
        try beginSegment(after: file)
      }
      guard let live else { return }
      live.encoder.encode(records)
      try live.descriptor.append(live.encoder.bytes[live.encoder.start...])
      live.status.size += UInt64(live.encoder.bytes.count - live.encoder.start)
      live.encoder.accept()
      appended += UInt64(records.count)
      live.last = appended
    } catch {
      discardIfEmpty()
      abandon(takenAway: false)
      throw error
    }
  }

  /// Whether so many bytes can be written into the notebook's folder now. Tries it, and takes them away again.
  public func canWrite(_ count: Int) -> Bool {
    guard let root = try? openRoot() else { return false }
    let name = "\(FileDescriptor.temporary)\(makeIdentifier())"
    defer { root.remove(name) }
    do {
      let file = try root.createFile(name)
      let piece = [UInt8](repeating: 0, count: 1 << 16)
      var left = count
      while left > 0 {
        try file.append(piece.prefix(left))
        left -= piece.count
      }
      return true
    } catch { return false }
  }

  /// Removes our file if its first append did not arrive, and the folder if it was the session's first: on a full disk
  /// every attempt would leave one more behind. Nobody can have read anything in it.
  private func discardIfEmpty() {
    guard let live, live.last == live.first, let size = try? live.descriptor.status().size,
      size < live.encoder.bytes.count - live.encoder.start
    else { return }
    live.folder.descriptor.remove(live.name)
    guard live.header.segment == 0, live.folders.count > 1 else { return }
    live.folders[1].descriptor.removeFolder(live.session.description)
  }

  /// Gives up the current session if its file is not as we left it; returns the file's path then.
  private mutating func leaveUnlessOurs() -> String? {
    guard let live else { return nil }
    let place = live.place
    guard place != .ours else { return nil }
    // Complete, and folded by somebody: nothing is lost, but the session's folder may be gone with it.
    let isFolded =
      place == .gone && live.isComplete && !live.needsSync
      && isCovered(live.session, live.header.recordsBefore + 1...live.end.number)
    abandon(takenAway: place == .gone && !isFolded)
    return live.path
  }

  /// Begins a new session with the next append.
  mutating func endSession() { abandon(takenAway: false) }

  /// Gives up the current session. What of it is in the folder is from now on read like anybody's.
  ///
  /// - Parameter takenAway: whether the file itself is gone, so that even what had been synchronized
  ///   may not be in the folder any more.
  mutating func abandon(takenAway: Bool) {
    isChecked = false
    minted = nil
    guard let file = live else { return }
    live = nil
    advance(file.session, to: file.end)
    // Where nothing was appended, nothing can be missed, and the file may be gone again.
    let isKept = !file.isComplete && file.last > file.first
    // A failed append may have arrived in full.
    if isKept { remember(file, isUnread: true) }
    watches.notice(file.session.description)
    if takenAway {
      isLacking = true
      lose(file, from: file.first, Self.replaced(file.path))
    } else if isKept {
      kept.append(KeptFile(file))
      if file.needsSync { closing.append(file) }
    }
  }

  /// Notes how far a file that was ours is known: reading goes on there.
  mutating func remember(_ file: LiveFile, isUnread: Bool) {
    var log = LogFile()
    log.scan = LogScan(
      header: file.header, offset: file.status.size, number: file.end.number, hash: file.end.hash)
    log.seen = (try? file.descriptor.status()) ?? file.status
    log.isUnread = isUnread
    files[file.key] = log
  }

  /// The error about records whose file is not in its place any more.
  static func replaced(_ path: String) -> StoreError {
    StoreError(operation: "append", path: path, reason: .other, detail: "the file was replaced")
  }

  /// Makes sure that the notebook's folder exists and names the notebook; opens it.
  mutating func establish() throws(StoreError) -> FileDescriptor {
    try readIdentities()
    try createFolders()
    let root = try openRoot()
    try establishIdentity(in: root)
    return root
  }

  /// Creates the session's file and everything that leads to it.
  private mutating func beginSession() throws(StoreError) {
    let root = try establish()
    try root.createFolder("log")
    let session = minted ?? makeIdentifier()
    minted = nil
    ours.insert(session)
    let log = OpenDescriptor(try root.folder("log"))
    guard try log.descriptor.createFolder(session.description) else {
      throw StoreError(
        operation: "mkdir", path: "\(log.descriptor.path)/\(session.description)", errno: EEXIST,
        detail: "a session's identity must be new")
    }
    do {
      let folder = OpenDescriptor(try log.descriptor.folder(session.description))
      // The root too: whoever created `log` may not have come to synchronize it.
      live = try LiveFile(
        header: LogHeader(notebook: notebook!, session: session), in: folder,
        folders: [folder, log, OpenDescriptor(root)], first: appended)
    } catch {
      log.descriptor.removeFolder(session.description)
      throw error
    }
  }

  /// Creates the file that comes after `file` in its session.
  private mutating func beginSegment(after file: LiveFile) throws(StoreError) {
    guard let header = LogHeader(after: file.header, end: file.end) else {
      throw StoreError(
        operation: "append", path: file.path, reason: .tooLarge, detail: "no more segments")
    }
    sessions[file.session, default: .init()].ends.append(file.end)
    live = try LiveFile(header: header, in: file.folder, folders: [file.folder], first: appended)
  }

  /// Makes sure that `decent.json` exists, and learns what it says.
  private mutating func establishIdentity(
    in root: borrowing FileDescriptor
  ) throws(StoreError) {
    if let found = try NotebookFile.read(in: root) {
      // Somebody else's may have come since; whoever is first names the notebook.
      identities.insert(found)
      return
    }
    try publish(notebook ?? makeIdentifier(), as: NotebookFile.name, in: root)
    // What is there now counts, whoever wrote it.
    guard let found = try NotebookFile.read(in: root) else {
      throw StoreError(
        operation: "open", path: "\(path)/\(NotebookFile.name)", reason: .notFound,
        detail: "it vanished")
    }
    identities.insert(found)
  }

  private func publish(
    _ identity: Identifier, as name: String, in root: borrowing FileDescriptor
  ) throws(StoreError) {
    let temporary = "\(FileDescriptor.temporary)\(makeIdentifier())-\(NotebookFile.name)"
    let file = try root.createFile(temporary)
    defer { root.remove(temporary) }
    try file.append(NotebookFile.encoded(identity)[...])
    try file.synchronizeFile()
    _ = try root.publish(temporary, as: name)
    try root.synchronizeFolder()
  }

  /// Makes another notebook's identity one of this one's: a file beside `decent.json` says so, as a conflict copy of it would.
  ///
  /// - Throws: what the disk says; then it is none.
  mutating func join(_ identity: Identifier) throws(StoreError) {
    if isOurs(identity) { return }
    guard !identities.isEmpty else { return adopt(notebook: identity) }
    try publish(identity, as: NotebookFile.name(besides: identity), in: try openRoot())
    identities.insert(identity)
  }

  /// Creates the notebook's folder and those above it, as far as they are missing, and puts their names on disk.
  private mutating func createFolders() throws(StoreError) {
    var missing: [String] = []
    var folder = path
    while true {
      // Noted first: a later attempt, after a failure, finds the folder there and its name not on disk.
      if let parent = folder.parentPath, !unsynchronizedParents.contains(parent) {
        unsynchronizedParents.append(parent)
      }
      do {
        try system.createFolder(folder, in: nil)
        break
      } catch {
        if error.errno == EEXIST || error.errno == EISDIR { break }
        guard error.errno == ENOENT, let parent = folder.parentPath else {
          throw StoreError("mkdir", folder, error)
        }
        missing.append(folder)
        folder = parent
      }
    }
    try system.createFolders(missing.reversed())
    while let parent = unsynchronizedParents.last {
      do {
        try FileDescriptor.folder(parent, followingLinks: true, on: system).synchronizeFolder()
      } catch {
        // One may have to pass through folders that one may not open.
        guard error.reason == .permission else { throw error }
      }
      unsynchronizedParents.removeLast()
    }
  }
}

extension String {
  /// The path of the folder that this path is in; nil when there is nothing above.
  var parentPath: String? {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return self == "." ? nil : "."
    }
    if slash == startIndex { return utf8.count == 1 ? nil : "/" }
    var parent = self[..<slash]
    while parent.utf8.count > 1, parent.hasSuffix("/") { parent.removeLast() }
    return String(parent)
  }
}
