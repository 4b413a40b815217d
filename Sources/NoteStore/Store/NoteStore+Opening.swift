public import Notes
public import ReplicatingTypes

extension NoteStore {
  /// Opens a folder and reads what is in it. Writes nothing; a folder that doesn't exist is an empty notebook.
  ///
  /// - Parameters:
  ///   - path: the notebook's folder. Made absolute by the caller if the working directory can change.
  ///   - state: the folder for the state of this user's programs. With it, what was known before is not read again, and
  ///     notes are read when they are asked for.
  ///   - memory: a folder of this user in memory. With it, the store goes on with the session of a process that has ended, and leaves its
  ///     own to another one: for a process of one request.
  ///   - isWatching: whether to watch the folder from the beginning. It takes a system call for each session's folder; a
  ///     process with one request needs none.
  ///   - keys: what notes are to be found by in an archive, beside their words and tags.
  ///   - makeIdentifier: 128 random bits.
  /// - Throws: `newerFormat`, `damaged`, or the system's error, also where the process has too few descriptors or too little memory to read
  ///   all files; nothing was changed. Files that can't be read for another reason are left out: see `gaps`.
  public convenience init(
    path: String, state: String? = nil, memory: String? = nil, isWatching: Bool = true,
    keys: NoteKeys = .none, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    try self.init(
      path: path, state: state, memory: memory, isWatching: isWatching, keys: keys,
      on: SystemFiles.shared, makeIdentifier: makeIdentifier)
  }

  convenience init(
    path: String, state: String? = nil, memory: String? = nil, isWatching: Bool = true,
    keys: NoteKeys = .none, mostEndedCompared: Int = 1_000,
    on system: any FileSystem, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    let folder = try LogFolder(
      path: path, state: state, memory: memory, on: system, makeIdentifier: makeIdentifier)
    self.init(folder, state: state, keys: keys)
    self.folder.completeFolders.mostEndedCompared = mostEndedCompared
    self.folder.writer.takeOffer()
    resume()
    resumeKnown()
    if isWatching { _ = self.folder.watchDescriptor }
    readAll()
    try checkExhaustion()
    archiving.noteOpened()
  }
}
