/// Names of files that are no notes, whatever is in them: those that editors, programs and synchronisation engines make for themselves.
public enum IgnoredNames {
  /// What a path is.
  public enum Kind: Sendable {
    /// It may be a note.
    case none
    /// It is left alone.
    case ignored
    /// The copy of a file that a synchronisation engine has made: left alone, and told to the user.
    case conflictCopy
  }

  static let conflictMark = ".sync-conflict-"

  /// What a relative path is, by the names of its file and folders: `.x`, `x~`, `#x#`, `x.swp` and the like, `4913`, `x.tmp` are ignored.
  ///
  /// - Complexity: O(length of the path).
  public static func kind(of path: String) -> Kind {
    let parts = path.utf8.split(separator: .slash)
    if parts.contains(where: { isIgnored($0) }) { return .ignored }
    return parts.contains { String(Substring($0)).contains(conflictMark) } ? .conflictCopy : .none
  }

  private static func isIgnored(_ name: Substring.UTF8View) -> Bool {
    let bytes = Array(name)
    guard let first = bytes.first, let last = bytes.last else { return false }
    // Locks of Emacs, too: `.#x`.
    if first == .dot || last == UInt8(ascii: "~") { return true }
    if first == .hash, last == .hash, bytes.count > 1 { return true }
    if bytes.elementsEqual("4913".utf8) || bytes.suffix(4).elementsEqual(".tmp".utf8) {
      return true
    }
    return bytes.count >= 4 && bytes.suffix(4).starts(with: ".sw".utf8)
  }
}
