internal import Bytes

/// The names of files that are not complete, or were set aside: `.decent-<digest>-<mark>-<word>.tmp`, in the folder of the file that each was, or
/// was to be. The digest is of that file's name, and the mark is the caller's, so that what a killed process leaves can be told.
public enum AsideName {
  private static let (prefix, suffix) = (".decent-", ".tmp")

  /// A name for a file, with a mark of letters and digits, and a word of these that no other has. What was set aside before stays the same
  /// file's.
  static func make(for path: String, mark: String, word: String) -> String {
    let digest = parts(of: path)?[0] ?? digest(of: path)
    return "\(prefix)\(digest)-\(mark)-\(word)\(suffix)"
  }

  /// A name for an empty file by which `nameSensitivity` is tried: it has an `x` and an `é`. Its mark is that of an empty file, so one that a killed
  /// process has left is removed unread.
  static func probe(word: String) -> String {
    let hash = String(SHA256.prefix64(of: []), radix: 16)
    let mark = String(repeating: "0", count: 16 - hash.count) + hash
    return "\(prefix)0-\(mark)-x\u{E9}\(word)\(suffix)"
  }

  /// The mark in the name of such a file; nil if it is none.
  public static func mark(of path: String) -> String? { parts(of: path)?[1] }

  /// True if a path leads to such a file of another one.
  public static func isOne(_ path: String, of file: String) -> Bool {
    folder(of: path).elementsEqual(folder(of: file)) && parts(of: path)?[0] == digest(of: file)
  }

  /// Digest, mark and word.
  private static func parts(of path: String) -> [String]? {
    let name = name(of: path)
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
    let parts = name.dropFirst(prefix.count).dropLast(suffix.count).split(separator: "-")
    return parts.count == 3 ? parts.map(String.init) : nil
  }

  private static func folder(of path: String) -> Substring.UTF8View {
    path.utf8.lastIndex(of: 0x2F).map { path[..<$0].utf8 } ?? path[..<path.startIndex].utf8
  }

  private static func name(of path: String) -> Substring {
    path.utf8.lastIndex(of: 0x2F).map { path[path.utf8.index(after: $0)...] } ?? path[...]
  }

  /// Of the file's name, in digits.
  private static func digest(of path: String) -> String {
    String(SHA256.prefix64(of: Array(name(of: path).utf8)[...]), radix: 16)
  }
}
