internal import FileTree
internal import NoteFiles

/// The dates that a new note takes over from its file, and which dates of the file it does not.
struct FileDates {
  /// When the note was created. Milliseconds since 1970.
  let created: Int64
  /// When it was last changed. Milliseconds since 1970.
  let modified: Int64
  /// The dates that can't be read or lie in the future, for users.
  private(set) var issues: [String] = []

  /// A clock of another machine may be ahead by this, in milliseconds: a date that is not further ahead is the present.
  private static let tolerance: Int64 = 60_000
  /// File systems and archives without dates say that a file is from the first day of 1970, or before it. Milliseconds.
  private static let firstDay: Int64 = 86_400_000
  /// The end of the year 9999: times further from 1970 are none of notes. Milliseconds.
  private static let farTime: Int64 = 253_402_300_799_999

  /// Takes what the file says of its note, else what the system says of the file, else the present.
  ///
  /// - Parameter file: the creation and the last change of the file, as the system says; nil where it does not.
  init(
    _ written: WrittenDates, file: (created: Int64?, modified: Int64?), at now: Int64
  ) {
    let now = min(max(now, 0), Self.farTime)
    var issues: [String] = []
    func first(_ dates: [WrittenDate]) -> Int64? {
      for date in dates {
        guard let time = date.time else {
          issues.append("\(date.key) can't be read")
          continue
        }
        if time <= now + Self.tolerance { return min(max(time, -Self.farTime), now) }
        issues.append("\(date.key) lies in the future")
      }
      return nil
    }
    func filed(_ time: Int64?, _ what: String) -> Int64? {
      time.flatMap { $0 < Self.firstDay ? nil : first([WrittenDate(key: what, time: $0)]) }
    }
    let saidCreated = first(written.created)
    let saidModified = first(written.modified)
    let named = written.named.flatMap { ($0.time ?? .max) <= now ? $0.time : nil }
    let filedModified = saidModified ?? filed(file.modified, "the time of the file's last change")
    if let said = saidCreated ?? named {
      created = said
    } else {
      // A copy of a file is younger than its last change.
      let filedCreated = filed(file.created, "the time of the file's creation")
      created = [filedCreated, filedModified].compactMap { $0 }.min() ?? now
    }
    modified = saidModified ?? max(filedModified ?? now, created)
    self.issues = issues
  }
}

extension ReadFile {
  /// The dates that a note takes over which is made from the file.
  func dates(at now: Int64) -> FileDates {
    func milliseconds(_ nanoseconds: Int64?) -> Int64? { nanoseconds.map { $0 / 1_000_000 } }
    return FileDates(
      content.dates, file: (milliseconds(status?.born), milliseconds(status?.modified)), at: now)
  }
}

extension NotesServer {
  /// Tells the user of dates in files that their notes have not taken over.
  mutating func tellDates(_ files: [(path: FilePath, issues: [String])], of what: String) {
    if files.isEmpty { return }
    let first = files.prefix(5).map { "\($0.path.text) (\($0.issues.joined(separator: ", ")))" }
    let more = files.count > 5 ? ", and \(files.count - 5) more" : ""
    showMessage(
      .info,
      "\(what): dates of \(files.count == 1 ? "a file" : "\(files.count) files") are not taken over: \(first.joined(separator: ", "))\(more)"
    )
  }
}
