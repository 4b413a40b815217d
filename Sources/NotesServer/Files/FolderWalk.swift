internal import FileTree
internal import NoteFiles

/// Finds the files of a folder that may be notes, one folder at a time.
struct FolderWalk {
  /// More files than this are not taken at once.
  static let mostFiles = 1_000_000

  private var open = [""]
  private let patterns: IgnorePatterns
  private(set) var files: [FilePath] = []
  private(set) var skipped: [SkippedFile] = []
  /// Folders that can't be looked into, with the reasons: what is in them is not known.
  private(set) var closed: [SkippedFile] = []
  /// What was set aside, and nobody has looked at since.
  private(set) var asides: [String] = []

  /// True if conflict copies are found as other files are; else they are left out.
  private let findsCopies: Bool

  /// - Parameter tree: its `.decentignore` says what else is left out.
  init(_ tree: any FileTree, findingCopies: Bool = false) throws(FileTreeError) {
    findsCopies = findingCopies
    let bytes = try tree.read(".decentignore", limit: 1 << 20)?.bytes ?? []
    patterns = IgnorePatterns(parsing: bytes)
  }

  /// The folder that is looked into next; nil if there is none left.
  var nextFolder: String? { open.last }

  /// Looks into the next folder; false when there is none left.
  mutating func proceed(in tree: any FileTree) throws(FileTreeError) -> Bool {
    guard let folder = open.popLast() else { return false }
    let entries: [FileEntry]
    do { entries = try tree.entries(of: folder) } catch {
      if folder.isEmpty { throw error }
      skipped.append(SkippedFile(folder, .unreadable, error.cause))
      closed.append(skipped.last!)
      return true
    }
    let prefix = folder.isEmpty ? "" : folder + "/"
    for entry in entries {
      guard let name = entry.name else {
        let shown = entry.rawName.map {
          $0 < 0x80 ? String(UnicodeScalar($0)) : "\\x" + String($0, radix: 16)
        }
        // Only what would be a note.
        if shown.first != "." {
          skipped.append(
            SkippedFile(
              prefix + shown.joined(), .name, "its name is not UTF-8: give it another one"))
        }
        continue
      }
      take(prefix + name, entry.kind, in: tree)
      if files.count > Self.mostFiles {
        throw FileTreeError(
          "list", folder, .tooLarge, "there are more than \(Self.mostFiles) files")
      }
    }
    return true
  }

  private mutating func take(_ path: String, _ kind: FileKind, in tree: any FileTree) {
    switch IgnoredNames.kind(of: path) {
    case .ignored:
      if kind == .file, AsideName.mark(of: path) != nil { asides.append(path) }
      return
    case .conflictCopy:
      guard kind == .file, FileType(path: path) != nil else { return }
      if !findsCopies {
        skipped.append(SkippedFile(path, .conflictCopy))
      } else if !patterns.isIgnored(path, isFolder: false) {
        files.append(FilePath(path))
      }
      return
    case .none: break
    }
    if patterns.isIgnored(path, isFolder: kind == .folder) { return }
    switch kind {
    case .folder:
      if path.utf8.count < NotePath.longest { open.append(path) }
    case .file:
      guard FileType(path: path) != nil else { return }
      if NotePath.isValid(path) {
        files.append(FilePath(path))
      } else {
        skipped.append(SkippedFile(path, refusal: .path))
      }
    case .link:
      switch tree.kind(behind: path) {
      case .folder: skipped.append(SkippedFile(path, .linkedFolder))
      case _ where FileType(path: path) != nil: skipped.append(SkippedFile(path, .link))
      default: break
      }
    case .other: break
    }
  }
}
