internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension PeerLink {
  /// The way to the peer that a user has named.
  convenience init(
    to peer: String, from folder: String, stateFolder: String?, isInteractive: Bool
  ) {
    switch PeerAddress(peer) {
    case .rclone(let remote)?:
      let mirror = Mirror(of: remote, for: folder, stateFolder: stateFolder)
      self.init(isInteractive: isInteractive, mirror.next)
    case .folderOrCommand(let text, let words)?:
      let step = Step(
        role: .peer,
        words: Self.isFolder(text, words)
          ? [ownProgram(), "--framing", "content-length", "--notebook", expanded(text)]
          : [expanded(words[0])] + words.dropFirst())
      var steps = [step]
      self.init(isInteractive: isInteractive) { steps.popLast().map(Turn.run) ?? .over }
    case nil:
      self.init(isInteractive: isInteractive) { () throws(ChildProcess.Failure) in
        throw ChildProcess.Failure(message: "this is neither a folder nor a command")
      }
    }
  }

  /// Whether a user who writes this means a folder: there is one, or it looks like one and no such program is there.
  private static func isFolder(_ text: String, _ words: [String]) -> Bool {
    var status = stat()
    if stat(expanded(text), &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
    let program = expanded(words[0])
    if program.contains("/") { return !isProgram(program) }
    let isFound = (variable("PATH") ?? "/usr/bin:/bin").split(separator: ":").contains {
      isProgram("\($0)/\(program)")
    }
    return words.count == 1 && !isFound
  }

  private static func isProgram(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }
}

/// A path with our home in the place of `~`.
func expanded(_ path: String) -> String {
  guard path == "~" || path.hasPrefix("~/"), let home = variable("HOME") else { return path }
  return home + path.dropFirst()
}

/// What this process is a process of.
func ownProgram() -> String {
  #if os(Linux)
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(
      decoding: buffer[..<max(0, count)].map(UInt8.init(bitPattern:)), as: UTF8.self)
    // A new version may have taken its place; the peer is to be of this one.
    return path.isEmpty || path.hasSuffix(" (deleted)") ? "/proc/self/exe" : path
  #else
    return CommandLine.arguments[0]
  #endif
}
