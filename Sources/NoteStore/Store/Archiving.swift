internal import Notes
internal import ReplicatingTypes

/// The archive of a notebook: its size, how much is new since, and the next one that is being written.
struct Archiving {
  /// The folder for the state of this user's programs.
  let state: String?
  /// The keys by which notes are found in the archives that this process writes.
  let keys: NoteKeys
  /// The size of the archive that the notebook reads from, in bytes.
  var size = 0
  /// What this user's programs have known beyond that archive; see NoteStore+Known.swift.
  var known = Version()
  /// The bytes of changes that are not in that archive.
  var unkept = 0
  /// True if changes from elsewhere wait because it can't be read.
  var isUnreadable = false
  /// The archive that is being written, and the bytes of changes that are new in it.
  var writing: (writer: ArchiveWriter, file: StateFolder.NewArchive, unkept: Int)?
  /// The bytes of changes that archives have taken out of memory.
  var released = 0
  /// After a failure no archive is written until this many bytes are new: the disk may be full, or refuse.
  private var nextTry = 0
  /// True if the last attempt has failed.
  var hasFailed: Bool { nextTry > unkept }
  /// True if the next start would read again what this one has read, or miss something, with the archive as it is.
  var isOutdated = false

  init(state: String?, keys: NoteKeys) {
    self.state = state
    self.keys = keys
  }

  /// True if enough is new for another archive. After a large archive that takes more, unless a start has read it.
  var isDue: Bool { unkept > (isOutdated ? nextTry : max(1 << 20, size / 4, nextTry)) }
  /// True if much more is new than should be in memory.
  var isOverdue: Bool { unkept > max(32 << 20, size / 2, nextTry) }

  /// True if an archive is worth writing at the end of the process. For a thousandth of a large one the next start reads logs faster.
  var isWorthKeeping: Bool { isOutdated || unkept > max(1 << 16, size >> 10) }

  /// Notes that the notebook is open, and all is read that is not in the archive.
  mutating func noteOpened() { isOutdated = unkept > max(1 << 20, size >> 10) }

  /// Notes that the last attempt has failed.
  mutating func postpone() { nextTry = unkept + 1 << 22 }

  /// Notes that the notebook reads from no archive any more: all of it is in memory, and new.
  mutating func giveUp() {
    unkept += size
    (size, writing, isUnreadable) = (0, nil, false)
  }

  /// Notes that the archive that was being written is complete, with `kept` bytes of changes that were new.
  mutating func finish(size: Int, kept: Int) {
    self.size = size
    unkept -= kept
    released += kept
    nextTry = 0
    isOutdated = false
  }
}
