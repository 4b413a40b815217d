internal import Bytes

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

extension NoteLink {
  /// The links in a text, valid UTF-8, in order; no two overlap. O(n).
  public static func all(in text: [UInt8]) -> [NoteLink] {
    if text.span.firstIndex(of: .openingBracket) == nil { return [] }
    var reader = LinkReader(text)
    for block in TextBlocks.ranges(of: text) { reader.read(block) }
    return reader.links
  }

  /// The name in `[[name]]` as a link to a note that has this title, or this alias; nil if none can be written so that is read as one everywhere.
  public static func name(for title: String) -> String? {
    // A backquote, a backslash or `<!--` means something by what else stands in the text.
    let utf8 = Array(title.utf8)
    if utf8.contains(where: { $0 == .backquote || $0 == .backslash }) { return nil }
    if utf8.indices.contains(where: { RawHTML(beginning: utf8[$0...]) != nil }) { return nil }
    let links = all(in: Array("[[\(title)]]".utf8))
    guard links.count == 1, links[0].heading == nil, !links[0].hasWords,
      links[0].range.count == title.utf8.count + 4, case .name(let name) = links[0].target,
      LinkName(name) == LinkName(title)
    else { return nil }
    return name
  }

  /// The text between `|` and `]]` that shows a title; nil if no text can.
  public static func words(for title: String) -> String? {
    let isFitting = title.utf8.allSatisfy {
      ![.openingBracket, .closingBracket, .backquote, .backslash, .lineFeed, UInt8(ascii: "|")]
        .contains($0)
    }
    return isFitting && title.utf8.contains { !$0.isBlank } ? title : nil
  }
}
