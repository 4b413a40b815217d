internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import Notes

/// A request that reads or writes files.
enum FileTask {
  case importing(ImportTask)
  case exporting(ExportTask)

  var id: RequestID {
    switch self {
    case .importing(let task): task.id
    case .exporting(let task): task.id
    }
  }
}

/// An import of files that is not complete: first the folders are looked through, then the files are read in the order of their paths.
struct ImportTask {
  let id: RequestID
  /// The token for reports of the progress, as the client wrote it; nil if the client wants none.
  let progress: [UInt8]?
  /// True if nothing is to be changed, only to be counted.
  let isDryRun: Bool
  let tree: any FileTree
  /// The files that were known before the import.
  let known: KnownFiles
  /// The folder around this one that paths of new notes count from, and the path of this one in it with `/` behind it; else this folder.
  let folder: (path: String, prefix: String)
  /// The folder that the files were moved from.
  var old: String?
  var walk: FolderWalk?
  var files: [FilePath] = []
  /// The notes of Simplenote's export, if that is imported: the files then have no bytes of their own.
  var simplenotes: [Simplenote.Note] = []
  var next = 0
  /// What was last read from the files of this folder on this machine.
  var records: FileRecords
  /// The notes by the paths that they have; of two with one path the smaller.
  var notes: [FilePath: NoteID] = [:]
  /// The paths of the files that were read from this folder.
  var names = FileNames()
  /// The notes that were imported on this machine from other folders: a file of the same path is another note.
  var elsewhere: Set<NoteID> = []
  /// The note of the file before.
  var last: NoteID?
  var created = 0
  var updated = 0
  var unchanged = 0
  /// True if a file was written from changes that the notebook lacks.
  var isOlder = false
  /// Files with headers that are not understood as a whole, and what is not.
  var headers: [(path: FilePath, what: String)] = []
  /// Dates in new files that were not taken over.
  var dates: [(path: FilePath, issues: [String])] = []
  /// New files that are conflict copies of files beside them.
  var copies: [FilePath] = []
  var skipped: [SkippedFile] = []
}

/// An export that is not complete: the notes are written one after the other, then files of notes that are gone are removed.
struct ExportTask {
  let id: RequestID
  /// The token for reports of the progress, as the client wrote it; nil if the client wants none.
  let progress: [UInt8]?
  /// True if the header of each file gets the note's id.
  let hasIDs: Bool
  let tree: any FileTree
  /// What was written to this folder before, or read from it.
  var records: FileRecords
  /// The notes in their order, with the path of each.
  let notes: [(id: NoteID, path: FilePath)]
  var next = 0
  /// The files of notes that have no file there any more, or another one.
  var removals: [FilePath]
  /// The paths of notes whose files have other ones, since the folder takes their names for those of others.
  var otherNames: [(path: String, file: String)] = []
  var written = 0
  var unchanged = 0
  var removed = 0
  /// True if a file stays as it is because of what the notebook lacks.
  var isOlder = false
  var skipped: [SkippedFile] = []
}

extension ImportTask {
  /// The path of the note of a new file: from the folder around this one that is known.
  func path(of file: FilePath) -> FilePath {
    let path = FilePath(folder.prefix + file.text)
    return folder.prefix.isEmpty || NotePath.isValid(path.text) ? path : file
  }

  /// Notes the state of a file.
  mutating func remember(_ state: FileState, of note: NoteID, at path: FilePath) {
    let known = records[path].flatMap { $0.note == note ? $0.folder : nil }
    records[path] = .init(note: note, states: [state], folder: known ?? folder.path)
  }

  /// Notes the paths of the files that are known.
  mutating func noteNames() {
    names = FileNames(tellingCase: true, tellingForm: true)
    for path in records.byPath.keys.sorted() { names.insert(path.text) }
  }
}

// Imports and exports take longer than a request may hold up others, so they are done in pieces.

extension NotesServer {
  /// Does a piece of the request that came first.
  mutating func proceedWithFiles() {
    var failure: ResponseError?
    switch requests.fileTasks.removeFirst() {
    case .importing(var task):
      do {
        if try proceed(&task) { return requests.fileTasks.insert(.importing(task), at: 0) }
      } catch { failure = error }
      finish(task, failure)
    case .exporting(var task):
      do {
        if try proceed(&task) { return requests.fileTasks.insert(.exporting(task), at: 0) }
      } catch { failure = error }
      finish(task, failure)
    }
    push()
  }

  /// Ends a request before it is complete. What it has done stays.
  mutating func cancelFileTask(at index: Int) {
    switch requests.fileTasks.remove(at: index) {
    case .importing(let task): finish(task, .requestCancelled)
    case .exporting(let task): finish(task, .requestCancelled)
    }
  }
}
