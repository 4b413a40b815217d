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
    var path = path
    return path.withUTF8 { bytes in
      var kind = Kind.none
      for name in bytes.split(separator: .slash) {
        if isIgnored(name) { return .ignored }
        if kind == .none, isConflictCopy(name) { kind = .conflictCopy }
      }
      return kind
    }
  }

  private static func isIgnored(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard let first = name.first, let last = name.last else { return false }
    // Locks of Emacs, too: `.#x`.
    if first == .dot || last == UInt8(ascii: "~") { return true }
    if first == .hash, last == .hash, name.count > 1 { return true }
    if name.elementsEqual("4913".utf8) { return true }
    guard name.count >= 4, name[name.endIndex - 4] == .dot else { return false }
    let end = name.suffix(3)
    return end.elementsEqual("tmp".utf8) || end.starts(with: "sw".utf8)
  }

  private static func isConflictCopy(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    name.indices.contains { name[$0] == .dot && name[$0...].starts(with: conflictMark.utf8) }
  }
}
