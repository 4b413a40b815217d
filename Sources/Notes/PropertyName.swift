/// The name of a property: what a note has besides title, text, tags and priority, for those who keep notes as files.
///
/// A property is a text that is replaced as a whole; the last writer wins. Setting it to an empty text removes it.
public struct PropertyName: Hashable, Comparable, Sendable {
  /// The name as it is encoded; told apart by its bytes.
  let text: String

  init(_ text: String) { self.text = text }

  /// Where the note's file is among others: a relative path whose parts are separated by `/`.
  public static let path = PropertyName("path")
  /// What the note's file was when it was last read: a hash, by which another machine knows that there is nothing new in it.
  public static let file = PropertyName("file")
  /// A part of the header of the note's file.
  public static func header(_ key: String) -> PropertyName { PropertyName(headerPrefix + key) }

  /// The key of the part of the header that this is; `nil` if it is none.
  public var headerKey: String? {
    text.utf8.starts(with: Self.headerPrefix.utf8)
      ? String(text.dropFirst(Self.headerPrefix.count)) : nil
  }

  /// The names of parts of a header begin with it.
  static let headerPrefix = "header:"

  /// The most bytes of the key of a header.
  public static let longestHeaderKey = 200

  /// True for those that earlier and later versions of the program may have, too: a line of at most 220 bytes.
  var isValid: Bool {
    (1...220).contains(text.utf8.count) && !text.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }
  }

  /// True if it counts as content, which a deletion must have seen to cover: what a person wrote, not where it is.
  var isContent: Bool { headerKey != nil }

  public static func == (a: Self, b: Self) -> Bool { Tag(a.text) == Tag(b.text) }
  public static func < (a: Self, b: Self) -> Bool { Tag(a.text) < Tag(b.text) }
  public func hash(into hasher: inout Hasher) { Tag(text).hash(into: &hasher) }
}
