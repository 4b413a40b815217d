/// A link to another note in the text of a note.
///
/// Links are `[[name]]`, `[[name#heading]]`, `[[name|words]]`, and `[words](path.md)` with a relative path of a file that is a note. What stands in
/// code spans and fenced code is none, nor are pictures (`!` in front), web addresses, and what leads to no note's file.
///
///     [[Shopping]]  [[Shopping#Today|the list]]  [list](../lists/my%20list.md)  [list](<my list.md>)
///
/// A name has no brackets, bar or number sign, and stands on one line; `\` before the bar is passed over, because tables need it.
public struct NoteLink: Equatable, Sendable {
  /// What a link names.
  public enum Target: Equatable, Sendable {
    /// An id, a path, a title or an alias, without blanks at its ends.
    case name(String)
    /// A path relative to the folder of the note with the link, decoded.
    case path(String)
  }

  /// Where the link stands, from its first bracket to its last: bytes of the text.
  public var range: Range<Int>
  /// What it names.
  public var target: Target
  /// Where the name, or the path as it is written, stands: bytes of the text.
  public var targetRange: Range<Int>
  /// The heading behind `#`; nil if there is none.
  public var heading: String?
  /// True if other words are shown than the name.
  public var hasWords: Bool
}
