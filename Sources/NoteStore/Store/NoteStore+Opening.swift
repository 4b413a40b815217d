public import ReplicatingTypes

extension NoteStore {
  /// Opens a folder and reads what is in it. Writes nothing; a folder that doesn't exist is an empty notebook.
  ///
  /// - Parameters:
  ///   - path: the notebook's folder. Made absolute by the caller if the working directory can change.
  ///   - state: the folder for the state of this user's programs. With it, what was known before is not read again, and
  ///     notes are read when they are asked for.
  ///   - isWatching: whether to watch the folder from the beginning. It takes a system call for each session's folder; a
  ///     process with one request needs none.
  ///   - makeIdentifier: 128 random bits.
  /// - Throws: `newerFormat`, `damaged`, or the system's error; nothing was changed.
  public convenience init(
    path: String, state: String? = nil, isWatching: Bool = true,
    makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    try self.init(
      path: path, state: state, isWatching: isWatching, on: SystemFiles.shared,
      makeIdentifier: makeIdentifier)
  }

  convenience init(
    path: String, state: String? = nil, isWatching: Bool = true, mostEndedCompared: Int = 1_000,
    on system: any FileSystem, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    self.init(
      try LogFolder(path: path, state: state, on: system, makeIdentifier: makeIdentifier),
      state: state)
    folder.completeFolders.mostEndedCompared = mostEndedCompared
    resume()
    if isWatching { _ = folder.watchDescriptor }
    readAll()
  }
}
