internal import Notes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A notebook of ours that looks like a folder that only rclone reaches, and how the two are kept alike.
///
///     <state>/decent-notes/remotes/<16 hex>/mirror    what the remote folder looks like, as far as we know
///                                          /state     of the process that serves it
///                                          /lock      who is at it
///
/// An exchange fetches the files that are new there, lets a process serve the mirror, and delivers the files that are new
/// here. Each file is written once under a name of its own and complete before it has it, so there is nothing to compare but names, and
/// sizes where a delivery may have been cut off. Several machines may do so at once.
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

  private enum Stage { case preparing, fetching, talking, folding, delivering, removing }

  /// More complete files than this are folded first: each is one more to list and to fetch.
  private static let mostFiles = 64
  private static let options = [
    "--contimeout", "10s", "--timeout", "20s", "--retries", "1", "--low-level-retries", "3",
    "--filter", "+ /decent*.json", "--filter", "+ /log/*/*.seg", "--filter", "+ /snap/*.snap",
    "--filter", "- *",
  ]
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
    let serving = [ownProgram(), "--notebook", folder]
    let variables = ["XDG_STATE_HOME": "\(place)/state"]
    switch stage {
    case .preparing:
      guard try isOurTurn(place) else { return .wait }
      prepare(place)
      stage = .fetching
      return .run(rclone("copy", ["--ignore-existing"], "\(remote)", folder, [Self.noFolder]))
    case .fetching:
      fetched = files(folder)
      stage = .talking
      return .run(
        PeerLink.Step(
          role: .peer, words: serving + ["--framing", "content-length"], variables: variables))
    case .talking:
      stage = .folding
      guard files(folder).count > Self.mostFiles else { return try next() }
      return .run(PeerLink.Step(role: .help, words: serving + ["compact"], variables: variables))
    case .folding:
      stage = .delivering
      if files(folder).isEmpty { return try next() }
      return .run(rclone("copy", ["--size-only"], folder, "\(remote)"))
    case .delivering:
      stage = .removing
      let gone = fetched.subtracting(files(folder))
      if gone.isEmpty { return .over }
      let list = "\(place)/gone"
      try write(gone.sorted().joined(separator: "\n") + "\n", to: list)
      return .run(
        PeerLink.Step(
          role: .help,
          words: ["rclone", "delete", "--files-from-raw", list, "--", "\(remote)"]))
    case .removing: return .over
    }
  }

  private func rclone(
    _ verb: String, _ flags: [String], _ source: String, _ target: String,
    _ accepted: Set<Int32> = []
  ) -> PeerLink.Step {
    PeerLink.Step(
      role: .help, words: ["rclone", verb] + flags + Self.options + ["--", source, target],
      accepted: accepted)
  }

  private func isOurTurn(_ place: String) throws(ChildProcess.Failure) -> Bool {
    if lock < 0 {
      var path = ""
      for name in "\(place)/mirror/".split(separator: "/", omittingEmptySubsequences: false) {
        path += "\(name)/"
        _ = mkdir(path, 0o700)
      }
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
