internal import FileTree
internal import NoteStore

/// A look through the folders of a mirror, some files at a time: which ones there are, and which are not as they were.
struct MirrorWalk {
  /// When it began.
  let since: Instant
  private var walk: FolderWalk
  /// The folder whose files are looked at, and how many files were looked at in all.
  private var folder = ""
  private var looked = 0
  /// How many of the files are known ones.
  var knownCount = 0

  init(_ tree: any FileTree, since: Instant) throws(FileTreeError) {
    walk = try FolderWalk(tree, findingCopies: true)
    self.since = since
  }

  /// All files that were found.
  var files: [FilePath] { walk.files }
  /// Folders that can't be looked into, with the reasons.
  var closed: [SkippedFile] { walk.closed }
  /// What was left out of them, and why.
  var skipped: [SkippedFile] { walk.skipped }
  /// What was set aside in these folders, and not looked at since.
  var asides: [String] { walk.asides }

  /// Finds the files of the next folder, or looks at some of those that were found.
  ///
  /// - Returns: the files that were looked at, with what is there by now; nil when there is nothing left.
  mutating func proceed(
    in tree: any FileTree, _ watcher: (any TreeWatcher)?, atMost most: Int
  ) throws(FileTreeError) -> [(path: FilePath, status: FileStatus?)]? {
    if looked == walk.files.count {
      guard let folder = walk.nextFolder else { return nil }
      self.folder = folder
      // Watched before it is looked at: nothing can happen between the two.
      _ = watcher?.watch(folder)
      return try walk.proceed(in: tree) ? [] : nil
    }
    let paths = walk.files[looked..<min(walk.files.count, looked + most)]
    looked = paths.endIndex
    let prefix = folder.isEmpty ? 0 : folder.utf8.count + 1
    let names = paths.map { String($0.text.utf8.dropFirst(prefix))! }
    // Those in a folder that refuses to tell are there, and are read when they can be.
    let statuses = try? tree.statuses(of: names, in: folder)
    return Array(zip(paths, statuses ?? names.map { _ in nil }))
  }
}
