internal import Bytes
internal import FileTree
internal import NoteFiles
internal import Notes
internal import ReplicatingTypes

/// A file as it was read: what it says, and the hash of its bytes.
struct ReadFile {
  let content: FileContent
  let hash: UInt64
  /// False for a note that is one of several in a file.
  var hasPath = true
  /// True if the note lies in the trash.
  var isTrashed = false
  /// The status of the file when it was read; nil for a note that has no file of its own.
  var status: FileStatus?

  /// The size of the largest file that is taken, in bytes: with its change it still travels.
  static let longest = 48 << 20

  /// - Parameter status: of the file while it was read; a note that is made from it without is as old as the import.
  init(
    _ bytes: [UInt8], path: FilePath, zone: LocalZone, status: FileStatus? = nil
  ) throws(FileRefusal) {
    self.status = status
    content = try FileContent(
      reading: bytes, path: path.text, limit: Self.longest, zone: zone)
    hash = SHA256.prefix64(of: bytes[...])
  }

  /// One of Simplenote's notes.
  init(_ note: Simplenote.Note) {
    let file = NoteFile(path: "simplenote.md", title: note.title, tags: note.tags, text: note.text)
    content = FileContent(file, note.dates)
    let bytes = Array("\(note.isTrashed) \(note.title)\n\(note.tags)\n".utf8) + note.text
    hash = SHA256.prefix64(of: bytes[...])
    hasPath = false
    isTrashed = note.isTrashed
  }

  /// The hash as a note has it in its property `file`.
  var hashText: String { Self.text(hash) }

  static func text(_ hash: UInt64) -> String {
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The parts of the header that are not understood, for users; nil if there are none.
  var headerText: String? {
    let parts = content.issues.map(\.name)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  var text: [UInt8] { content.file.text }
  var tags: [Tag] { content.file.tags.map { Tag($0) } }
  var priority: Priority { Priority(name: content.file.priority.rawValue) ?? .normal }
  /// The parts of the header that a note can have.
  var header: [(key: String, value: String)] {
    content.file.header.fields.filter { $0.key.utf8.count <= PropertyName.longestHeaderKey }
  }

  /// The note as this file has it, whose text is that of a state of the notebook with changes that were made from the file since.
  func state(heads: [ChangeID], own: [ChangeID] = []) -> FileState {
    FileState(
      hash: hash, heads: heads, own: own, title: content.file.title, tags: tags,
      priority: priority,
      header: header.map {
        .init(key: $0.key, hash: SHA256.prefix64(of: Array($0.value.utf8)[...]))
      })
  }
}

extension FileIssue {
  /// The part of a header that is not understood, for users: the key of a field, or words.
  var name: String {
    switch self {
    case .headerTooLarge: "too large"
    case .jsonHeader: "JSON"
    case .headerNotUnderstood: "lines that are no fields"
    case .notUnderstood(let key), .doesNotFit(let key): key
    }
  }
}

extension String {
  /// True if both have the same bytes; strings that are canonically equivalent may differ.
  func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
