/// The paths that are taken in a folder, and free ones beside them.
///
/// Some file systems do not tell case apart in names, or composed characters from decomposed ones: two such paths are one file there. What is a
/// folder on one path can't be a file. A name that is made of a title differs from all others by more than case and composition, since
/// files are carried to other file systems.
public struct FileNames: Sendable {
  private enum Kind {
    case file
    /// A folder, with its path as it was given first, and so many files in it, or below.
    case folder(String, files: Int)
  }

  private let tellsCase: Bool
  private let tellsForm: Bool
  /// By what the file system compares.
  private var taken: [[UInt8]: Kind] = [:]
  /// The paths of files, by what they are after composition and without case.
  private var alike: [String: [String]] = [:]
  /// By path without a number: from which number on it is worth looking.
  private var next: [String: Int] = [:]

  /// No path is taken.
  ///
  /// - Parameters:
  ///   - tellsCase: whether the file system tells `a` from `A` in names.
  ///   - tellsForm: whether it tells a composed character from a decomposed one.
  public init(tellingCase tellsCase: Bool = false, tellingForm tellsForm: Bool = false) {
    (self.tellsCase, self.tellsForm) = (tellsCase, tellsForm)
  }

  private func key(_ path: String) -> [UInt8] {
    path.nameBytes(tellingCase: tellsCase, tellingForm: tellsForm)
  }

  /// True if a file stands at the path, or a folder; or if a file stands where the path needs a folder.
  public func isTaken(_ path: String) -> Bool {
    taken[key(path)] != nil || folders(of: path).contains { isFile($0) }
  }

  /// True if the file system takes a path for that of another file, or one of its folders for another folder; false if this very path is taken.
  public func isTakenByOther(_ path: String) -> Bool {
    if let known = alike[path.foldedName],
      known.contains(where: { $0.utf8.elementsEqual(path.utf8) })
    {
      return false
    }
    return taken[key(path)] != nil
      || folders(of: path).contains {
        guard case .folder(let known, _) = taken[key($0)] else { return false }
        return !known.utf8.elementsEqual($0.utf8)
      }
  }

  /// The paths of files that are the same as this one after composition and without case. O(length).
  public func paths(like path: String) -> [String] { alike[path.foldedName] ?? [] }

  /// Says that a file is there.
  ///
  /// - Returns: False if the path was taken; then nothing changes.
  @discardableResult
  public mutating func insert(_ path: String) -> Bool {
    guard !isTaken(path) else { return false }
    taken[key(path)] = .file
    alike[path.foldedName, default: []].append(path)
    for folder in folders(of: path) { count(folder, by: 1) }
    return true
  }

  /// Says that a file is gone. Nothing changes if none was there.
  public mutating func remove(_ path: String) {
    let key = key(path)
    guard case .file = taken[key] else { return }
    taken[key] = nil
    let folded = path.foldedName
    let others = paths(like: path).filter { self.key($0) != key }
    alike[folded] = others.isEmpty ? nil : others
    for folder in folders(of: path) { count(folder, by: -1) }
  }

  /// A path for a note with a title that isn't taken; it is from now on.
  ///
  /// - Parameter suffix: what the name ends with, from the dot on.
  /// - Complexity: O(length of the title), on average over notes with one title.
  public mutating func add(
    title: String, folder: String = "", suffix: String = FileName.suffix
  ) -> String {
    func path(_ number: Int) -> String {
      let name = FileName.of(title: title, number: number).dropLast(FileName.suffix.count)
      return "\(folder.isEmpty ? "" : folder + "/")\(name)\(suffix)"
    }
    return add(path(1), unlikeOthers: true, numbered: path)
  }

  /// The path, or if it is taken the same one with ` (2)` or a higher number before its end; it is taken from now on. A folder that is
  /// there has the name that it has.
  ///
  /// - Complexity: O(length of the path), on average over equal paths.
  public mutating func add(path: String) -> String {
    for folder in folders(of: path) {
      let rest = path.dropFirst(folder.count)
      switch taken[key(folder)] {
      case .folder(let known, _) where !known.utf8.elementsEqual(folder.utf8):
        return add(path: known + rest)
      case .file:
        var number = 2
        while isFile(Self.numbered(folder, number)) { number += 1 }
        return add(path: Self.numbered(folder, number) + rest)
      default: break
      }
    }
    return add(path, unlikeOthers: false) { Self.numbered(path, $0) }
  }

  /// - Parameter isUnlike: whether the path is to differ from all others by more than case and composition.
  private mutating func add(
    _ path: String, unlikeOthers isUnlike: Bool, numbered: (Int) -> String
  ) -> String {
    func isFree(_ path: String) -> Bool { !isUnlike || alike[path.foldedName] == nil }
    if isFree(path), insert(path) { return path }
    let folded = path.foldedName
    var number = next[folded] ?? 2
    while true {
      let other = numbered(number)
      number += 1
      if isFree(other), insert(other) {
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

  private func isFile(_ path: String) -> Bool {
    if case .file = taken[key(path)] { return true }
    return false
  }

  private mutating func count(_ folder: String, by difference: Int) {
    let key = key(folder)
    var (path, count) = (folder, difference)
    if case .folder(let known, let before) = taken[key] { (path, count) = (known, count + before) }
    taken[key] = count > 0 ? .folder(path, files: count) : nil
  }

  /// The paths of the folders that a path leads through, the outermost first.
  private func folders(of path: String) -> [String] {
    path.utf8.indices.filter { path.utf8[$0] == .slash }.map { String(path[..<$0]) }
  }
}
