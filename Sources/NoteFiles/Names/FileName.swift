/// The name of the file of a note that has none of its own.
public enum FileName {
  /// The most bytes of a name.
  public static let longest = 200
  /// What all such names end with, whatever the title.
  public static let suffix = ".md"

  /// The name for a title.
  ///
  /// The title composed (NFC); with `-` for each of `/ \ : * ? " < > | # ^ [ ]` and each control character; without dots and blanks at
  /// its ends, `untitled` if nothing is left; behind `_` if Windows takes it for a device; and with a number in parentheses
  /// from 2 on. At most `longest` bytes, cut between characters.
  ///
  /// - Complexity: O(n).
  public static func of(title: String, number: Int = 1) -> String {
    let end = (number > 1 ? " (\(number))" : "") + suffix
    let stem = replaced(title.composed)
    // One byte is left for the sign before a device.
    var cut = trimmed(stem.cut(toBytes: longest - end.utf8.count - 1))
    if cut.isEmpty { cut = "untitled" }
    return (isDevice(cut) ? "_" : "") + cut + end
  }

  private static let signs: Set<Unicode.Scalar> = Set("/\\:*?\"<>|#^[]".unicodeScalars)

  private static func replaced(_ title: String) -> String {
    var name = String.UnicodeScalarView()
    for scalar in title.unicodeScalars {
      let isControl = scalar.properties.generalCategory == .control
      let isBreak = scalar.value == 0x2028 || scalar.value == 0x2029
      name.append(isControl || isBreak || signs.contains(scalar) ? "-" : scalar)
    }
    // The mark of a synchronisation engine, whose files are left alone.
    return trimmed(String(name).replacing(IgnoredNames.conflictMark, with: "-sync-conflict-"))
  }

  private static func trimmed(_ name: String) -> String {
    let isEnd = { (scalar: Unicode.Scalar) in scalar == "." || scalar.properties.isWhitespace }
    var scalars = name.unicodeScalars.drop(while: isEnd)
    while let last = scalars.last, isEnd(last) { scalars.removeLast() }
    return String(scalars)
  }

  /// True for the names of Windows' devices, also with an end behind them: `nul`, `COM¹.txt`.
  private static func isDevice(_ name: String) -> Bool {
    let base = name.prefix { $0 != "." }.lowercased()
    let word = trimmed(base)
    if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(word) { return true }
    guard word.hasPrefix("com") || word.hasPrefix("lpt"), word.count == 4 else { return false }
    return "0123456789¹²³".contains(word.last!)
  }
}

extension String {
  /// As many characters as have so many bytes; of a first one that has more, as many scalars.
  func cut(toBytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    let end = utf8.index(startIndex, offsetBy: limit)
    var index = unicodeScalars.startIndex
    while true {
      let next = unicodeScalars.index(after: index)
      if next > end { break }
      index = next
    }
    let scalarEnd = index
    while index > startIndex, !isCharacterBoundary(index) {
      index = unicodeScalars.index(before: index)
    }
    return String(self[..<(index > startIndex ? index : scalarEnd)])
  }

  private func isCharacterBoundary(_ index: Index) -> Bool { Index(index, within: self) != nil }
}

/// The kinds of files that notes are read from.
public enum FileType: Sendable {
  /// `.md` and `.markdown`.
  case markdown
  /// `.txt`: read as Markdown is. Headers and headings are found in such files, too, and a file needs a place for tags.
  case text
  /// `.org`.
  case org

  /// The type of a file by the end of its name, in upper or lower case; `nil` for all other files, and for a name that is nothing but an end.
  public init?(path: String) {
    let name = path.utf8.split(separator: .slash, omittingEmptySubsequences: false).last!
    guard let dot = name.lastIndex(of: .dot), dot > name.startIndex else { return nil }
    switch String(Substring(name[dot...])).lowercased() {
    case ".md", ".markdown": self = .markdown
    case ".txt": self = .text
    case ".org": self = .org
    default: return nil
    }
  }

  /// The form of headers in files of the type.
  public var headerForm: FileHeader.Form { self == .org ? .comment : .plain }
}

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
  /// So no path leads out of the folder, or to what programs keep in hidden files, also when a peer has made the path.
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
