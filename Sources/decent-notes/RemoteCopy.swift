internal import Bytes
internal import NoteStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A local copy of a folder that only rclone reaches, and what keeps the two alike.
///
///     <state>/decent-notes/remotes/<16 hex>/mirror    the remote folder's files, as far as they are known here
///                                          /incoming  files that are being fetched
///                                          /state     the state folder of the process that serves the mirror
///                                          /lock      held during an exchange, also by the programs that it has started
///
/// An exchange fetches the files that are new there, lets a process serve the mirror as a peer, and delivers the files that are
/// new here. A file of a notebook is written once, under a name of its own, and is complete before it has that name, so names and
/// sizes are all there is to compare. Several machines may do so at once.
///
/// rclone writes a file under its name from the first byte on, here and on some remotes. A file may be cut short here, because
/// rclone was killed, or there, because it is being delivered. So each fetched file is checked for being complete before it goes
/// into the mirror: a cut one there would be delivered in the place of the complete one. The machine that has the complete file
/// delivers it again.
///
/// A file is deleted from the remote folder when it was fetched and the process has deleted it from the mirror. That happens as in
/// any notebook: when a snapshot has stood for it for a day, and the snapshot was delivered before. Another machine that has
/// the file, and not the snapshot yet, delivers the file again; that ends when it has both.
///
/// The mirror holds nothing of its own: all files in it came from the remote folder or from the notebook here. So the unfinished
/// files of an exchange that was killed are removed.
///
/// What is not what its name says does not get into it: a `decent.json` of a later version ends the exchange, as long as it is there; of
/// a segment that is cut or damaged what can be read gets in, until the next exchange; anything else is dropped. All of that is fetched anew
/// by each exchange, so nothing has to be done here when it is mended or removed there.
final class RemoteCopy {
  private let remote: String
  /// The folder of all that is kept for this remote; nil if there is no state folder.
  private let place: String?
  /// The path of this program.
  private let program: String
  private let now: () -> ContinuousClock.Instant
  /// The descriptor of the lock; -1 before it is open.
  private var lock: Int32 = -1
  /// The step that is under way, or was done last.
  private var stage = Stage.preparing
  /// The files in the mirror after fetching.
  private var fetched: Set<String> = []
  /// The fetched files that are not checked yet.
  private var unchecked: [String] = []
  /// The last of those, when its check has begun.
  private var file: CompleteFile?

  /// The steps of an exchange.
  private enum Stage {
    case preparing, fetching, checking, exchanging, compacting, delivering, deleting
  }

  /// If there are more complete files than this, some are folded into a snapshot, or removed where that was done: each is one more
  /// to list and to fetch. Never all of them: a snapshot of everything would travel with every change.
  private static let mostFiles = 64
  /// rclone's limit for a connection that carries nothing, and it tries three times. While fetching it is short, so that a remote
  /// that can't be reached is reported within 30 seconds. A remote that was given a file may think about it for longer.
  private static let timeout = (fetching: "9s", delivering: "60s")
  /// No download in parts: such a file has its full length from the beginning. Of the log only what is worth showing to a user.
  private static let options = [
    "--contimeout", "9s", "--retries", "1", "--low-level-retries", "3",
    "--multi-thread-streams", "0", "--log-level", "ERROR", "--log-format", "",
  ]
  private static let filter = [
    "--filter", "+ /decent*.json", "--filter", "+ /log/*/*.seg", "--filter", "+ /snap/*.snap",
    "--filter", "- *",
  ]
  /// The end of the name of a file that is not complete.
  private static let cut = ".cut"
  /// Checking files stops after this time, so that an editor need not wait longer.
  private static let slice = Duration.milliseconds(10)
  /// rclone's exit status when there is no such folder.
  private static let noFolder: Int32 = 3

  /// Creates the mirror of a remote folder for the notebook in `folder`.
  init(of remote: String, for folder: String, _ environment: PeerEnvironment) {
    self.remote = remote
    program = environment.program
    now = environment.now
    let digits = String(SHA256.prefix64(of: Array("\(remote)\n\(folder)".utf8)[...]), radix: 16)
    let hash = String(repeating: "0", count: 16 - digits.count) + digits
    place = environment.stateFolder.map { "\($0)/decent-notes/remotes/\(hash)" }
  }

  deinit {
    if lock >= 0 { close(lock) }
  }

  /// Does what is next in an exchange, or returns the program that does.
  func next() throws(ChildProcess.Failure) -> PeerLink.Turn {
    guard let place else {
      throw ChildProcess.Failure(message: "no state folder: set XDG_STATE_HOME or HOME")
    }
    let folder = "\(place)/mirror"
    let incoming = "\(place)/incoming"
    switch stage {
    case .preparing:
      guard try hasLock(place) else { return .wait }
      try prepare(place)
      stage = .fetching
      return rclone(
        ["copy", "--size-only", "--compare-dest", folder, "--timeout", Self.timeout.fetching]
          + Self.filter, [remote, incoming], accepting: [Self.noFolder])
    case .fetching:
      stage = .checking
      try removeCutFiles(folder)
      unchecked = try files(incoming).filter { access("\(folder)/\($0)", F_OK) != 0 }
      return try next()
    case .checking:
      if try check(incoming, into: folder) { return .again }
      try remove(everythingIn: incoming)
      fetched = try files(folder)
      stage = .exchanging
      return serve(folder, as: .peer, ["--framing", "content-length"])
    case .exchanging:
      stage = .compacting
      guard try files(folder).count > Self.mostFiles else { return try next() }
      return serve(folder, as: .tool, ["compact", "--due"])
    case .compacting:
      stage = .delivering
      if try files(folder).isEmpty { return try next() }
      return rclone(
        ["copy", "--size-only", "--timeout", Self.timeout.delivering] + Self.filter,
        [folder, remote])
    case .delivering:
      stage = .deleting
      let gone = fetched.subtracting(try files(folder))
      if gone.isEmpty { return .over }
      // No process of ours removes these: so the folder was emptied otherwise, and nothing follows from that.
      for kept in gone.filter({ $0.hasSuffix(".json") }) + ["log", "snap"] {
        guard gone.contains(where: { $0 == kept || $0.hasPrefix(kept + "/") }),
          access("\(folder)/\(kept)", F_OK) != 0
        else { continue }
        throw ChildProcess.Failure(
          message: "\(folder)/\(kept) is gone; nothing is deleted from \(remote)")
      }
      let list = "\(place)/gone"
      try write(gone.sorted().joined(separator: "\n") + "\n", to: list)
      return rclone(
        ["delete", "--rmdirs", "--timeout", Self.timeout.delivering, "--files-from-raw", list],
        [remote])
    case .deleting: return .over
    }
  }

  private func rclone(
    _ command: [String], _ folders: [String], accepting accepted: Set<Int32> = []
  ) -> PeerLink.Turn {
    .run(
      PeerLink.Step(
        role: .tool, words: ["rclone"] + command + Self.options + ["--"] + folders,
        accepted: accepted, lock: lock))
  }

  private func serve(
    _ folder: String, as role: PeerLink.Step.Role, _ arguments: [String]
  ) -> PeerLink.Turn {
    .run(
      PeerLink.Step(
        role: role, words: [program, "--notebook", folder] + arguments,
        variables: ["XDG_STATE_HOME": String(folder.dropLast("mirror".count)) + "state"], lock: lock
      ))
  }

  /// Checks some of the fetched files and moves them into the mirror. What can be read of a segment that is not complete gets a name
  /// there under which it is read as far as it goes, and never delivered.
  ///
  /// - Returns: true if there are more.
  /// - Throws: also if a later version of the program has written the remote folder.
  private func check(_ incoming: String, into folder: String) throws(ChildProcess.Failure) -> Bool {
    let end = now() + Self.slice
    while let path = unchecked.last {
      if now() > end { return true }
      let (new, old) = ("\(incoming)/\(path)", "\(folder)/\(path)")
      let file = file ?? CompleteFile(new)
      guard let isWhole = file.isWhole() else {
        self.file = file
        continue
      }
      self.file = nil
      unchecked.removeLast()
      if file.isOfOtherVersion {
        unlink(new)
        throw ChildProcess.Failure(
          message: "\(remote)/\(path): written by a later version of the program")
      }
      let size = isWhole ? 0 : file.readableSize
      guard isWhole || size > 0 else { continue }
      makeFolders(above: old)
      guard isWhole || truncate(new, off_t(size)) == 0,
        rename(new, isWhole ? old : old + Self.cut) == 0
      else { throw failure(old) }
    }
    return false
  }

  private func makeFolders(above path: String) {
    var folder = ""
    for name in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
      folder += "\(name)/"
      _ = mkdir(folder, 0o700)
    }
  }

  private func hasLock(_ place: String) throws(ChildProcess.Failure) -> Bool {
    if lock < 0 {
      makeFolders(above: "\(place)/mirror/")
      lock = open("\(place)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard lock >= 0 else { throw failure("\(place)/lock") }
    }
    return flock(lock, LOCK_EX | LOCK_NB) == 0
  }

  private func failure(_ path: String) -> ChildProcess.Failure {
    ChildProcess.Failure(message: "\(path): \(String(cString: strerror(errno)))")
  }

  /// Removes the unfinished files of an exchange that was killed, and with them the state in which they are known; and what an earlier
  /// version of the program let in that only a later one can read.
  private func prepare(_ place: String) throws(ChildProcess.Failure) {
    for name in try files("\(place)/mirror") where name.hasSuffix(".json") {
      let path = "\(place)/mirror/\(name)"
      if CompleteFile(path).isOfOtherVersion { unlink(path) }
    }
    let logs = "\(place)/mirror/log"
    for session in try names(logs) {
      for name in try names("\(logs)/\(session)") where name.hasSuffix(".open") {
        unlink("\(logs)/\(session)/\(name)")
        try remove(everythingIn: "\(place)/state")
      }
    }
  }

  /// Removes what the exchange before could read of files that were not complete: they are fetched anew, as long as they are there.
  private func removeCutFiles(_ folder: String) throws(ChildProcess.Failure) {
    for session in try names("\(folder)/log") {
      let logs = "\(folder)/log/\(session)"
      for name in try names(logs) where name.hasSuffix(Self.cut) { unlink("\(logs)/\(name)") }
      // Only if nothing is left in it.
      rmdir(logs)
    }
    for name in try names("\(folder)/snap") where name.hasSuffix(Self.cut) {
      unlink("\(folder)/snap/\(name)")
    }
  }

  private func remove(everythingIn folder: String) throws(ChildProcess.Failure) {
    for name in try names(folder) {
      let path = "\(folder)/\(name)"
      if unlink(path) != 0 {
        try remove(everythingIn: path)
        rmdir(path)
      }
    }
  }

  /// The files that are fetched and delivered, by their paths in the folder.
  ///
  /// - Throws: if a folder can't be listed. None is taken for an empty one: what is not found is deleted elsewhere.
  private func files(_ folder: String) throws(ChildProcess.Failure) -> Set<String> {
    var files: Set<String> = []
    for name in try names(folder) where name.hasPrefix("decent") && name.hasSuffix(".json") {
      files.insert(name)
    }
    for name in try names("\(folder)/snap") where name.hasSuffix(".snap") {
      files.insert("snap/\(name)")
    }
    for session in try names("\(folder)/log") {
      for name in try names("\(folder)/log/\(session)") where name.hasSuffix(".seg") {
        files.insert("log/\(session)/\(name)")
      }
    }
    return files
  }

  /// The names in a folder; none if there is no such folder.
  private func names(_ folder: String) throws(ChildProcess.Failure) -> [String] {
    guard let stream = opendir(folder) else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw failure(folder)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw failure(folder) }
    return names
  }

  private func write(_ text: String, to path: String) throws(ChildProcess.Failure) {
    let ownMask = umask(privateMask)
    defer { _ = umask(ownMask) }
    guard let file = fopen(path, "w") else { throw failure(path) }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else { throw failure(path) }
  }
}
