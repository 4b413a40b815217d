/// A folder in `log` that held nothing but complete segments of one session, all read to their ends.
struct CompleteFolder: Equatable {
  /// The folder's status when it was listed. As long as it is the same, there is nothing new in the folder.
  var status: FileStatus
  /// The numbers of the record before its first one and of its last one.
  var first: UInt64
  var last: UInt64
  /// The session ended at `last`: its writer has nothing to add.
  var isEnded: Bool
  /// The full pass that read it; 0 if an earlier run did. Then nothing is known of its files but `first` and `last`.
  var pass = 0
  /// The records that the archive lacks of it; nil if the archive has the folder.
  var news: FolderNews?

  var isRemembered: Bool { pass == 0 }
  /// The news that this run has still to read; nil for none.
  var unreadNews: FolderNews? { news.flatMap { $0.isUnread ? $0 : nil } }
}

/// The records of a complete folder that an archive lacks.
struct FolderNews: Equatable {
  /// The position up to which the archive has the session, at most that of the folder's last record.
  var known: ChainPosition
  /// The position of the folder's last record.
  var end: ChainPosition
  /// The files with records behind `known`, in the order of their numbers.
  var files: [String]
  /// True as long as these were not read by this run.
  var isUnread = false
}

/// The complete folders in `log`, which are not listed again as long as their statuses are the same.
struct CompleteFolders {
  private(set) var folders: [String: CompleteFolder] = [:]
  /// Folders of ended sessions whose statuses were not compared since the notebook was opened.
  private(set) var unverified: [String] = []
  /// True if the next full pass is the first one after a bookmark.
  private var isResuming = false
  /// The first full pass after a bookmark compares the statuses of this many folders of ended sessions at most. If there are
  /// more, it leaves all of them out, and `LogFolder.verify` compares them later.
  var mostEndedCompared = 1_000

  /// The files that this run has read in folders that the archive lacks, about. Reading them again takes the next run so long.
  private var newFiles = 0
  /// True if there is another archive than the one with which the notebook was opened.
  private(set) var isArchived = false

  /// True if a folder is complete and its status is the same.
  func isUnchanged(_ name: String, _ status: FileStatus) -> Bool { folders[name]?.status == status }

  /// - Parameter files: the number of files in it that this run has read.
  mutating func remember(_ name: String, _ folder: CompleteFolder, files: Int = 0) {
    folders[name] = folder
    newFiles += files
  }

  // MARK: - What the archive lacks

  /// Fewer files are read again by the next run in less time than it takes to note that they need not be.
  private static let worthKeeping = 32

  /// The folders that the archive lacks, if it is worth while to keep them beside it.
  var newFolders: [String: CompleteFolder]? {
    if isArchived || newFiles < Self.worthKeeping { return nil }
    return folders.filter { $0.value.news != nil }
  }

  /// Notes that there is another archive than the one with which the notebook was opened. What it lacks is for the next run to find out.
  mutating func noteArchived() { isArchived = true }

  /// The news of an unchanged folder that are still to be read; nil for none.
  func unreadNews(of name: String) -> FolderNews? { folders[name]?.unreadNews }

  /// Notes that these files were read.
  mutating func endReading(_ name: String) { folders[name]?.news?.isUnread = false }

  /// Forgets a folder that has changed or is missing; returns it.
  mutating func forget(_ name: String) -> CompleteFolder? { folders.removeValue(forKey: name) }

  /// Takes over the complete folders of a bookmark.
  mutating func resume(_ folders: [String: CompleteFolder]) {
    self.folders = folders
    isResuming = true
  }

  /// True if the next full pass leaves out the folders of ended sessions. O(folders) after a bookmark.
  var isLeavingOutEnded: Bool {
    isResuming && folders.count { $0.value.isEnded } > mostEndedCompared
  }

  /// Leaves a folder for `LogFolder.verify` if its session has ended; returns whether it did.
  mutating func leaveOut(_ name: String) -> Bool {
    guard let folder = folders[name], folder.isEnded, folder.unreadNews == nil else {
      return false
    }
    unverified.append(name)
    return true
  }

  /// Notes that the first full pass after a bookmark has ended.
  mutating func endResuming() { isResuming = false }

  /// Some of the folders that were left out.
  func unverified(atMost count: Int) -> ArraySlice<String> { unverified.suffix(count) }

  mutating func removeUnverified(atMost count: Int) {
    unverified.removeLast(min(count, unverified.count))
  }
}
