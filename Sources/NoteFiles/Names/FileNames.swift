/// The paths that are taken in a folder, and free ones beside them.
///
/// Two paths are the same here if they are so after composition and without case: on some file systems they are one file. What
/// is a folder on one path can't be a file.
public struct FileNames: Sendable {
  private enum Kind {
    case file
    /// A folder, with so many files in it, or below.
    case folder(Int)
  }

  private var taken: [String: Kind] = [:]
  /// By path without a number: from which number on it is worth looking.
  private var next: [String: Int] = [:]

  /// No path is taken.
  public init() {}

  /// True if a file stands at the path, or a folder; or if a file stands where the path needs a folder.
  public func isTaken(_ path: String) -> Bool {
    let folded = path.foldedName
    return taken[folded] != nil || folders(of: folded).contains { isFile($0) }
  }

  /// Says that a file is there.
  ///
  /// - Returns: False if the path was taken; then nothing changes.
  @discardableResult
  public mutating func insert(_ path: String) -> Bool {
    let folded = path.foldedName
    guard !isTaken(path) else { return false }
    taken[folded] = .file
    for folder in folders(of: folded) { count(folder, by: 1) }
    return true
  }

  /// Says that a file is gone. Nothing changes if none was there.
  public mutating func remove(_ path: String) {
    let folded = path.foldedName
    guard isFile(folded) else { return }
    taken[folded] = nil
    for folder in folders(of: folded) { count(folder, by: -1) }
  }

  /// A path for a note with a title that isn't taken; it is from now on.
  ///
  /// - Complexity: O(length of the title), on average over notes with one title.
  public mutating func add(title: String, folder: String = "") -> String {
    let before = folder.isEmpty ? "" : folder + "/"
    return add(before + FileName.of(title: title)) {
      before + FileName.of(title: title, number: $0)
    }
  }

  /// The path, or if it is taken the same one with ` (2)` or a higher number before its end; it is taken from now on.
  ///
  /// - Complexity: O(length of the path), on average over equal paths.
  public mutating func add(path: String) -> String {
    // A file that stands in the place of a folder.
    for folder in folders(of: path) where isFile(folder.foldedName) {
      var number = 2
      while isFile(Self.numbered(folder, number).foldedName) { number += 1 }
      return add(path: Self.numbered(folder, number) + path.dropFirst(folder.count))
    }
    return add(path) { Self.numbered(path, $0) }
  }

  private mutating func add(_ path: String, numbered: (Int) -> String) -> String {
    if insert(path) { return path }
    let folded = path.foldedName
    var number = next[folded] ?? 2
    while true {
      let other = numbered(number)
      number += 1
      if insert(other) {
        next[folded] = number
        return other
      }
    }
  }

  /// The path with a number before its end.
  static func numbered(_ path: String, _ number: Int) -> String {
    let start =
      path.utf8.lastIndex(of: .slash).map { path.utf8.index(after: $0) } ?? path.startIndex
    let name = path[start...]
    let dot = name.utf8.lastIndex(of: .dot).flatMap { $0 > name.startIndex ? $0 : nil }
    let end = " (\(number))" + name[(dot ?? name.endIndex)...]
    let stem = String(name[..<(dot ?? name.endIndex)])
    return path[..<start] + stem.cut(toBytes: max(1, NotePath.longestPart - end.utf8.count)) + end
  }

  private func isFile(_ folded: String) -> Bool {
    if case .file = taken[folded] { return true }
    return false
  }

  private mutating func count(_ folder: String, by difference: Int) {
    var count = difference
    if case .folder(let before) = taken[folder] { count += before }
    taken[folder] = count > 0 ? .folder(count) : nil
  }

  /// The paths of the folders that a path leads through.
  private func folders(of path: String) -> [String] {
    path.utf8.indices.filter { path.utf8[$0] == .slash }.map { String(path[..<$0]) }
  }
}
