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

  /// Why a file was not read.
  struct UnreadFile: Error {
    var reason: String
  }

  /// The name of the file that says in which order the notes are: a path a line.
  static let orderFile = ".decent-order"

  /// Reads a file.
  func readFile(_ path: FilePath, in tree: any FileTree) -> Result<ReadFile, UnreadFile> {
    do {
      guard let (bytes, status) = try tree.read(path.text, limit: ReadFile.longest) else {
        return .failure(UnreadFile(reason: "it is gone"))
      }
      return .success(try ReadFile(bytes, path: path, zone: environment.zone, status: status))
    } catch let refusal as FileRefusal {
      return .failure(UnreadFile(reason: refusal.reason))
    } catch {
      return .failure(UnreadFile(reason: (error as? FileTreeError)?.cause ?? "\(error)"))
    }
  }

  /// A note that there may be.
  func lookUp(_ id: NoteID) throws(ResponseError) -> Note? {
    do { return try store?.note(id) } catch { throw ResponseError(error) }
  }

  // MARK: - What is known

  private static let recordsPrefix = "files-"
  static let mirrorPrefix = "mirror-"

  private func recordsName(_ tree: any FileTree) -> String {
    let hash = SHA256.hexDigest(of: Array(tree.resolvedPath.utf8)).prefix(16)
    return Self.recordsPrefix + hash
  }

  /// What this machine knows of the files of a folder.
  func fileRecords(of tree: any FileTree) throws(ResponseError) -> FileRecords {
    do {
      var records = FileRecords(
        decoding: try store?.stateFile(recordsName(tree))?.read() ?? [])
      records.folder = tree.resolvedPath
      return records
    } catch { throw ResponseError(error) }
  }

  /// Keeps what is known of the files of a folder, also where it stands as that of a folder above or below. It may be lost, so a failure is
  /// not told.
  ///
  /// - Parameter others: what was known of other folders.
  func keep(_ records: FileRecords, of tree: any FileTree, _ others: [KnownFolder]) {
    var kept = records
    // The files are here, wherever they were moved before.
    kept.movedTo = ""
    try? store?.stateFile(recordsName(tree))?.replace(with: kept.encoded)
    for var other in others where !other.isMirror {
      other.update(from: records)
      if other.isChanged {
        try? store?.stateFile(other.name)?.replace(with: other.records.encoded)
      }
    }
  }

  /// Leaves nothing in the state folder of what files said of notes that were purged. What another process keeps of its mirror, it
  /// forgets itself.
  ///
  /// - Complexity: O(files that are known) if any note was purged: so it is done once for requests that came together.
  mutating func forgetFiles() {
    if notesToForget.isEmpty { return }
    let notes = notesToForget
    notesToForget = []
    for prefix in [Self.recordsPrefix, Self.mirrorPrefix] {
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
        if prefix == Self.mirrorPrefix, (try? file.hold()) != true { continue }
        try? file.replace(with: encoded)
      }
    }
  }

  /// What this machine knows of the files of other folders.
  func otherFolders(than tree: any FileTree) throws(ResponseError) -> [KnownFolder] {
    let own = recordsName(tree)
    var others: [KnownFolder] = []
    do {
      for prefix in [Self.recordsPrefix, Self.mirrorPrefix] {
        for name in store?.stateFileNames(beginning: prefix) ?? [] where name != own {
          guard let bytes = try store?.stateFile(name)?.read(), FileRecords.isEncoded(bytes)
          else { continue }
          others.append(
            KnownFolder(
              name: name, isMirror: prefix == Self.mirrorPrefix,
              records: FileRecords(decoding: bytes)))
        }
      }
    } catch { throw ResponseError(error) }
    return others
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

extension JSONWriter {
  mutating func skipped(_ skipped: [FolderWalk.Skipped]) {
    key("skipped")
    beginArray()
    for one in skipped {
      beginObject()
      member("path", one.path)
      member("reason", one.reason)
      endObject()
    }
    endArray()
  }
}

extension ResponseError {
  /// A failure to read or write files.
  static func files(_ error: FileTreeError) -> ResponseError {
    .requestFailed(error.reason == .diskFull ? "diskFull" : "unusableFolder", "\(error)")
  }
}
