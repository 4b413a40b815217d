import Foundation

/// The folders of a process, as they were when it was killed. It goes on to run in memory for a moment, which nobody sees.
final class DiskOfKilled {
  private let folders: [String]
  private var isOver = false
  /// The size of what was known of the files at the call before.
  private var known = 0

  init(_ folders: [String]) { self.folders = folders }

  private func copy() {
    for folder in folders {
      try? FileManager.default.removeItem(atPath: folder + ".copy")
      try? FileManager.default.copyItem(atPath: folder, toPath: folder + ".copy")
    }
  }

  /// - Parameter isBetween: whether it is killed after it has noted what it knows of a file by then, and before it has made the change of the
  ///   notebook which that tells of, where there was such a moment since the call before.
  func look(isKilled: Bool, isBetween: Bool) {
    if isOver { return }
    isOver = isKilled
    if !isBetween {
      if isKilled { copy() }
      return
    }
    let bytes = records("").flatMap(FileManager.default.contents) ?? Data()
    if isKilled, bytes.count > known + 4, known > 0, let path = records(".copy"),
      (FileManager.default.contents(atPath: path)?.count ?? 0) == known,
      bytes.starts(with: FileManager.default.contents(atPath: path)!)
    {
      let length = (0..<4).reduce(0) { $0 | Int(bytes[known + $1]) << (8 * $1) }
      try? bytes.prefix(known + 12 + length).write(to: URL(fileURLWithPath: path))
      return
    }
    copy()
    known = bytes.count
  }

  /// The file that says what is known of the mirror's files.
  private func records(_ suffix: String) -> String? {
    let folder = folders[1] + suffix
    return FileManager.default.subpaths(atPath: folder)?.first {
      let name = $0.split(separator: "/").last!
      return name.hasPrefix("mirror-") && name.count == 23
    }.map { folder + "/" + $0 }
  }

  /// Makes the folders what they were.
  func restore() {
    guard isOver else { return }
    for folder in folders where FileManager.default.fileExists(atPath: folder + ".copy") {
      try? FileManager.default.removeItem(atPath: folder)
      try? FileManager.default.moveItem(atPath: folder + ".copy", toPath: folder)
    }
  }
}
