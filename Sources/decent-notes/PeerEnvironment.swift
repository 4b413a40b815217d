/// The part of the user's environment that is needed to reach peers. Only `main` reads it.
struct PeerEnvironment {
  /// The user's home folder: `~` at the beginning of a path.
  var homeFolder: String?
  /// The folder in which the user's programs keep their state; nil if there is none.
  var stateFolder: String?
  /// The folders in which commands are looked for, with colons between them.
  var searchPath: String
  /// The path of this program, of which a process serves a folder.
  var program: String
  /// Reads the clock.
  var now: () -> ContinuousClock.Instant

  /// A path with the home folder in the place of `~`.
  func expanded(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let homeFolder else { return path }
    return homeFolder + path.dropFirst()
  }
}
