internal import NoteStore
internal import Notes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A notebook of ours that looks like a folder that only rclone reaches, and how the two are kept alike.
///
///     <state>/decent-notes/remotes/<16 hex>/mirror    what the remote folder looks like, as far as we know
///                                          /incoming  what is being fetched
///                                          /state     of the process that serves the mirror
///                                          /lock      who is at it, with the programs it has started
///
/// An exchange fetches the files that are new there, lets a process serve the mirror, and delivers the files that are new
/// here. Each file is written once under a name of its own and complete before it has it, so there is nothing to compare but names and
/// sizes. Several machines may do so at once.
///
/// rclone writes a file under its name from the first byte on, here and on some remotes. So what was fetched is looked through
/// before it is believed to be whole: what is cut short here, because rclone was killed, or there, because it is being
/// delivered, would otherwise take the place of the whole file there. Who has that delivers it again.
///
/// Files go from the remote folder when they have gone from the mirror, and they go from there as from any notebook: when a snapshot has
/// stood for them for a day, which was delivered before. Whoever has fetched them and not the snapshot yet delivers them
/// again; that ends when it has both.
///
/// The mirror holds nothing of its own. All there is in it came from the remote folder or from our notebook, so what an exchange has left
/// that was killed, unfinished files of its process, is thrown away.
final class Mirror {
  private let remote: String
  /// nil if there is no place for it.
  private let place: String?
  private var lock: Int32 = -1
  private var stage = Stage.preparing
  /// The files after fetching.
  private var fetched: Set<String> = []

  /// What was fetched and not looked at yet, and the file that is being looked at.
  private var left: [String] = []
  private var file: CompleteFile?

  private enum Stage { case preparing, fetching, taking, talking, folding, delivering, removing }

  /// If there are more complete files than this, it is time to fold some, or to remove some that were: each is one more to list
  /// and to fetch. Never all of them: a snapshot of all would travel with every change.
  private static let mostFiles = 64
  /// Every failure is tried three times. A remote that can't be reached is told of within 30 seconds; but one that has been reached
  /// may think about a file that it was given.
  private static let patience = (fetching: "9s", delivering: "60s")
  /// No download in parts, which has its full length from the beginning. Of the log only what a user is told.
  private static let options = [
    "--contimeout", "9s", "--retries", "1", "--low-level-retries", "3",
    "--multi-thread-streams", "0", "--log-level", "ERROR", "--log-format", "",
  ]
  private static let filter = [
    "--filter", "+ /decent*.json", "--filter", "+ /log/*/*.seg", "--filter", "+ /snap/*.snap",
    "--filter", "- *",
  ]
  /// How long an editor may have to wait for us while files are looked at.
  private static let slice = Duration.milliseconds(10)
  /// What rclone ends with when there is no such folder.
  private static let noFolder: Int32 = 3

  init(of remote: String, for folder: String, stateFolder: String?) {
    self.remote = remote
    let digits = String(SHA256.prefix64(of: Array("\(remote)\n\(folder)".utf8)[...]), radix: 16)
    let hash = String(repeating: "0", count: 16 - digits.count) + digits
    place = stateFolder.map { "\($0)/decent-notes/remotes/\(hash)" }
  }

  deinit {
    if lock >= 0 { close(lock) }
  }

  func next() throws(ChildProcess.Failure) -> PeerLink.Turn {
    guard let place else {
      throw ChildProcess.Failure(message: "no state folder: set XDG_STATE_HOME or HOME")
    }
    let folder = "\(place)/mirror"
    let incoming = "\(place)/incoming"
    switch stage {
    case .preparing:
      guard try isOurTurn(place) else { return .wait }
      prepare(place)
      stage = .fetching
      return rclone(
        ["copy", "--size-only", "--compare-dest", folder, "--timeout", Self.patience.fetching]
          + Self.filter, [remote, incoming], accepting: [Self.noFolder])
    case .fetching:
      stage = .taking
      left = files(incoming).filter { access("\(folder)/\($0)", F_OK) != 0 }
      return try next()
    case .taking:
      if try take(incoming, into: folder) { return .again }
      remove(everythingIn: incoming)
      fetched = files(folder)
      stage = .talking
      return serve(folder, as: .peer, ["--framing", "content-length"])
    case .talking:
      stage = .folding
      guard files(folder).count > Self.mostFiles else { return try next() }
      return serve(folder, as: .help, ["compact", "--due"])
    case .folding:
      stage = .delivering
      if files(folder).isEmpty { return try next() }
      return rclone(
        ["copy", "--size-only", "--timeout", Self.patience.delivering] + Self.filter,
        [folder, remote])
    case .delivering:
      stage = .removing
      let gone = fetched.subtracting(files(folder))
      if gone.isEmpty { return .over }
      let list = "\(place)/gone"
      try write(gone.sorted().joined(separator: "\n") + "\n", to: list)
      return rclone(
        ["delete", "--rmdirs", "--timeout", Self.patience.delivering, "--files-from-raw", list],
        [remote])
    case .removing: return .over
    }
  }

  private func rclone(
    _ command: [String], _ folders: [String], accepting accepted: Set<Int32> = []
  ) -> PeerLink.Turn {
    .run(
      PeerLink.Step(
        role: .help, words: ["rclone"] + command + Self.options + ["--"] + folders,
        accepted: accepted, lock: lock))
  }

  private func serve(
    _ folder: String, as role: PeerLink.Step.Role, _ arguments: [String]
  ) -> PeerLink.Turn {
    .run(
      PeerLink.Step(
        role: role, words: [ownProgram(), "--notebook", folder] + arguments,
        variables: ["XDG_STATE_HOME": String(folder.dropLast("mirror".count)) + "state"], lock: lock
      ))
  }

  /// Puts some of what was fetched into the mirror. What is not whole gets a name there under which it is read as far as it goes,
  /// and never delivered.
  ///
  /// - Returns: whether there is more.
  private func take(_ incoming: String, into folder: String) throws(ChildProcess.Failure) -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + Self.slice
    while let path = left.last {
      if clock.now > end { return true }
      let (new, old) = ("\(incoming)/\(path)", "\(folder)/\(path)")
      let file = file ?? CompleteFile(new)
      guard let isWhole = file.isWhole() else {
        self.file = file
        continue
      }
      self.file = nil
      left.removeLast()
      if path.hasSuffix(".json"), !isWhole { continue }
      makeFolders(above: old)
      guard rename(new, isWhole ? old : old + ".cut") == 0 else { throw failure(old) }
      if isWhole { unlink(old + ".cut") }
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

  private func isOurTurn(_ place: String) throws(ChildProcess.Failure) -> Bool {
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

  /// Throws away what an exchange has left that was killed, and what was known of it.
  private func prepare(_ place: String) {
    let logs = "\(place)/mirror/log"
    for session in names(logs) {
      for name in names("\(logs)/\(session)") where name.hasSuffix(".open") {
        unlink("\(logs)/\(session)/\(name)")
        remove(everythingIn: "\(place)/state")
      }
    }
  }

  private func remove(everythingIn folder: String) {
    for name in names(folder) {
      let path = "\(folder)/\(name)"
      if unlink(path) != 0 {
        remove(everythingIn: path)
        rmdir(path)
      }
    }
  }

  /// The files that are carried, by their paths in the folder.
  private func files(_ folder: String) -> Set<String> {
    var files: Set<String> = []
    for name in names(folder) where name.hasPrefix("decent") && name.hasSuffix(".json") {
      files.insert(name)
    }
    for name in names("\(folder)/snap") where name.hasSuffix(".snap") {
      files.insert("snap/\(name)")
    }
    for session in names("\(folder)/log") {
      for name in names("\(folder)/log/\(session)") where name.hasSuffix(".seg") {
        files.insert("log/\(session)/\(name)")
      }
    }
    return files
  }

  private func names(_ folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  private func write(_ text: String, to path: String) throws(ChildProcess.Failure) {
    guard let file = fopen(path, "w") else { throw failure(path) }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else { throw failure(path) }
  }
}
