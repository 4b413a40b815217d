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

  /// How files of the type have headers.
  public var headerForm: FileHeader.Form { self == .org ? .comment : .plain }
}
