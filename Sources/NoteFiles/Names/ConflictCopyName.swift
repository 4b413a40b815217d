/// The name that a program which keeps folders equal gives to one of two versions of a file: a conflict copy.
///
/// Of Syncthing `a.sync-conflict-20261127-101010-ABCDEF2.md`, of Dropbox `a (Ana's conflicted copy 2026-11-27).md`, of Nextcloud
/// `a (conflicted copy 2026-11-27 101010).md`, of ownCloud `a_conflict-20261127-101010.md`, of Resilio `a.Conflict.md`. Others look like ordinary names:
/// of Google Drive `a (1).md`, of iCloud `a 2.md`, of OneDrive `a-COMPUTER.md`.
public struct ConflictCopyName: Equatable, Sendable {
  /// The path of the file of which it may be a copy.
  public let original: String
  /// False if people give such names, too.
  public let isCertain: Bool

  /// The files, in the same folder, of which the file at a path may be a conflict copy by its name: those that are certain come first.
  ///
  /// - Complexity: O(length of the name × hyphens in it).
  public static func all(of path: String) -> [ConflictCopyName] {
    guard FileType(path: path) != nil, let dot = path.lastIndex(of: ".") else { return [] }
    let folder = path[..<(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)]
    let (stem, suffix) = (path[folder.endIndex..<dot], path[dot...])
    return (certain(stem).map { ($0, true) } + possible(stem).map { ($0, false) })
      .filter { !$0.0.isEmpty }
      .map { ConflictCopyName(original: "\(folder)\($0.0)\(suffix)", isCertain: $0.1) }
  }

  private static func certain(_ stem: Substring) -> [Substring] {
    // Most names have no such word, and a pattern takes long.
    guard stem.contains("onfli") || stem.contains("競合") else { return [] }
    let patterns: [Regex<(Substring, Substring)>] = [
      /(.+?)\.sync-conflict-.*/,
      // In many languages, with a date.
      /(?i)(.+?) \([^()]*(?:conflict|konflikt|conflit|競合)[^()]*\d{4}-\d\d-\d\d[^()]*\)(?: ?\(\d+\))?/,
      /(.+)_conflict-\d{8}-\d{6}/,
      /(.+?)(?:\.Conflict\d*)+/,
    ]
    return patterns.compactMap { stem.wholeMatch(of: $0)?.1 }
  }

  private static func possible(_ stem: Substring) -> [Substring] {
    var originals: [Substring] = []
    // `a (1)` and `a 2`.
    var name = stem
    let isBracketed = name.last == ")"
    if isBracketed { name.removeLast() }
    let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
    name.removeLast(digits)
    if (1...2).contains(digits), isBracketed == (name.last == "("), isBracketed || name.last == " "
    {
      name.removeLast()
      if name.last == " " { name.removeLast() }
      originals.append(name)
    }
    // Behind a hyphen a computer; the longest name is the likeliest.
    let hyphens = stem.indices.filter { stem[$0] == "-" && stem.index(after: $0) < stem.endIndex }
    return originals + hyphens.reversed().prefix(4).map { stem[..<$0] }
  }
}
