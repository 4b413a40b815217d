internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension PeerLink {
  /// The link to the peer that a user has named, from the notebook in a folder.
  convenience init(
    to peer: String, from folder: String, _ environment: PeerEnvironment, isInteractive: Bool
  ) {
    let now = environment.now
    switch PeerAddress(peer) {
    case .rclone(let remote)?:
      let mirror = RemoteCopy(of: remote, for: folder, environment)
      self.init(isInteractive: isInteractive, now: now, mirror.next)
    case .folderOrCommand(let text, let words)?:
      let words =
        Self.isFolder(text, words, environment)
        ? [environment.program, "--framing", "content-length", "--notebook"]
          + [environment.expanded(text)]
        : [environment.expanded(words[0])] + words.dropFirst()
      var steps = [Step(role: .peer, words: words)]
      self.init(isInteractive: isInteractive, now: now) { steps.popLast().map(Turn.run) ?? .over }
    case nil:
      self.init(isInteractive: isInteractive, now: now) { () throws(ChildProcess.Failure) in
        throw ChildProcess.Failure(message: "this is neither a folder nor a command")
      }
    }
  }

  /// Returns true if an address means a folder: there is one, or it looks like one and there is no such program.
  private static func isFolder(
    _ text: String, _ words: [String], _ environment: PeerEnvironment
  ) -> Bool {
    var status = stat()
    if stat(environment.expanded(text), &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
    let program = environment.expanded(words[0])
    if program.contains("/") { return !isProgram(program) }
    let isFound = environment.searchPath.split(separator: ":").contains {
      isProgram("\($0)/\(program)")
    }
    return words.count == 1 && !isFound
  }

  private static func isProgram(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }
}
