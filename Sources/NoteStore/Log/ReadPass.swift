internal import ReplicatingTypes

/// One pass over files of the folder: the records that were read, and notices of `LogReader` for the other parts of a
/// `LogFolder`. (More of these are in `LogReader.unsynced` and `expected`.)
struct ReadPass {
  /// The session of the open segment. Copies of it are not read before it ends.
  let openSession: Identifier?
  /// Reading stops after about this many more bytes of payload.
  var left: Int
  /// The records that were read, those of each session in their order.
  var records: [LogRecord] = []

  /// True if every file could be listed: only then is a file that was not found missing.
  var isComplete = true
  /// The folders in `log` that this user may not read, by their names. What is in them is not missing.
  var unreadable: Set<String> = []
  /// True if records that were read before are in no file any more.
  var isMissingRecords = false
  /// Folders in `log` in which there is more to read.
  var unfinished: [String] = []

  init(openSession: Identifier?, limit: Int = .max) {
    self.openSession = openSession
    left = limit
  }
}
