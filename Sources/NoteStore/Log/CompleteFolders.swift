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

  var isRemembered: Bool { pass == 0 }
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

  /// True if a folder is complete and its status is the same.
  func isUnchanged(_ name: String, _ status: FileStatus) -> Bool { folders[name]?.status == status }

  mutating func remember(_ name: String, _ folder: CompleteFolder) { folders[name] = folder }

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
    guard folders[name]?.isEnded == true else { return false }
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
