internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes

// What import and export have in common: reading a file, and what this machine knows of the files of a folder.

extension NotesServer {
  /// The bytes that are read or written at once, about: a few milliseconds. Each file counts as 4 KiB more.
  static let fileSlice = 256 << 10

  /// The name of the file that says in which order the notes are: a path a line.
  static let orderFile = ".decent-order"

  /// Reads a file.
  func readFile(_ path: FilePath, in tree: any FileTree) -> Result<ReadFile, SkippedFile> {
    do {
      guard let (bytes, status) = try tree.read(path.text, limit: ReadFile.longest) else {
        return .failure(SkippedFile(path.text, .unreadable, "it is gone"))
      }
      return .success(try ReadFile(bytes, path: path, zone: environment.zone, status: status))
    } catch let refusal as FileRefusal {
      return .failure(SkippedFile(path.text, refusal: refusal))
    } catch {
      let failure = error as? FileTreeError
      let cause = failure?.reason == .tooLarge ? SkippedFile.Cause.tooLarge : .unreadable
      return .failure(SkippedFile(path.text, cause, failure?.cause ?? "\(error)"))
    }
  }

  /// A note that there may be.
  func lookUp(_ id: NoteID) throws(ResponseError) -> Note? {
    do { return try store?.note(id) } catch { throw ResponseError(error) }
  }

  // MARK: - What is known

  private static let recordsName = "files"

  /// What this machine knows of all files that were imported or exported.
  func knownFiles() throws(ResponseError) -> KnownFiles {
    do {
      return KnownFiles(
        FileRecords(decoding: try store?.stateFile(Self.recordsName)?.read() ?? []))
    } catch { throw ResponseError(error) }
  }

  /// Keeps what is known of the files of a folder. It may be lost, so a failure is not told.
  ///
  /// - Parameter old: a folder whose files were moved to this one.
  func keep(_ records: FileRecords, of tree: any FileTree, movedFrom old: String? = nil) {
    guard var known = try? knownFiles() else { return }
    known.set(records, below: tree.resolvedPath, movedFrom: old)
    try? store?.stateFile(Self.recordsName)?.replace(with: known.all.encoded)
  }

  /// Leaves nothing in the state folder of what files said of notes that were purged. What another process keeps of its mirror, it
  /// forgets itself.
  ///
  /// - Complexity: O(files that are known) if any note was purged: so it is done once for requests that came together.
  mutating func forgetFiles() {
    if notesToForget.isEmpty { return }
    let notes = notesToForget
    notesToForget = []
    for prefix in [Self.recordsName, "mirror-"] {
      for name in store?.stateFileNames(beginning: prefix) ?? [] {
        guard let file = (try? store?.stateFile(name)) ?? nil else { continue }
        // What can't be read is not written anew.
        guard let bytes = try? file.read() else { continue }
        var records = FileRecords(decoding: bytes)
        for (path, record) in records.byPath where notes.contains(record.note) {
          records[path] = nil
        }
        // Also where nothing is known of them any more: earlier entries may say it.
        let encoded = records.encoded
        if encoded == bytes || !FileRecords.isEncoded(bytes) { continue }
        if prefix == "mirror-", (try? file.hold()) != true { continue }
        try? file.replace(with: encoded)
      }
    }
  }

  /// Refuses the notebook's own folder, and those in it and around it: what is written there would be read as a part of the notebook.
  func refuseNotebook(_ tree: any FileTree) throws(ResponseError) {
    guard let notebook = store?.resolvedPath else { return }
    let (a, b) = (tree.resolvedPath + "/", notebook + "/")
    if a.hasPrefix(b) {
      throw .requestFailed(
        "unusableFolder", "path: \(tree.resolvedPath) is the notebook's own folder")
    }
  }
}

extension ResponseError {
  /// A failure to read or write files.
  static func files(_ error: FileTreeError) -> ResponseError {
    .requestFailed(error.reason == .diskFull ? "diskFull" : "unusableFolder", "\(error)")
  }
}
