/// The paths that notes may have.
public enum NotePath {
  /// The most bytes of a path.
  public static let longest = 1024
  /// The most bytes of each of its parts.
  public static let longestPart = 255

  /// The last part of a path. O(length).
  public static func lastPart(_ path: String) -> String {
    path.utf8.lastIndex(of: .slash).map { String(path[path.utf8.index(after: $0)...]) } ?? path
  }

  /// A path without what a note's file ends with. O(length).
  public static func withoutSuffix(_ path: String) -> String {
    LinkName.withoutSuffix(Array(path.utf8)[...]).text
  }

  /// True if a file may stand there: the path is relative, with `/` between its parts; none of them is empty, begins with a dot,
  /// is too long, has a control character or one of the names that are left alone (`IgnoredNames`); and it ends as a type that is read (`FileType`).
  ///
  /// So no path leads out of the folder, or to what programs keep in hidden files, whoever has written it.
  public static func isValid(_ path: String) -> Bool {
    guard path.utf8.count <= longest, FileType(path: path) != nil,
      IgnoredNames.kind(of: path) == .none
    else { return false }
    return path.utf8.split(separator: .slash, omittingEmptySubsequences: false).allSatisfy {
      !$0.isEmpty && $0.first != .dot && $0.count <= longestPart
        && $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
  }
}
