// A note as a file: what is read from one, and the bytes that say the same.
//
// - `NoteFile(reading:path:limit:zone:)` in `Reading/` takes a file apart: title, tags, priority, times, header, text.
// - `NoteFile.rendered()` in `Writing/` puts it together. What was read and not changed gives the same bytes; and what is read from rendered
//   bytes has the same text, title, tags and priority, whatever they are, but for what stands in a header and is not understood there.
// - `FileHeader` in `Header/` is the front matter, byte for byte, also as a map of registers.
// - `Names/` has the names of files: which are written, which are valid, which are left alone.
//
// Nothing here reads a file, a clock or a zone.

/// A note, and where it stands as a file.
public struct NoteFile: Sendable {
  /// The path of the file, relative to the folder of all of them. Its end says of which type the file is (`FileType`), and its name
  /// may give a title, tags and a time.
  public var path: String
  /// What the file has before the text.
  public var header: FileHeader
  /// The title: at most `longestTitle` bytes, without line breaks and U+0000.
  public var title: String
  /// The tags, each of 1 to `longestTag` bytes without line breaks and U+0000, told apart by their bytes, in the order of the file.
  public var tags: [String]
  /// The urgency.
  public var priority: FilePriority
  /// The value of the field `id`, whatever it is. Rendering writes one only if it is given (`rendered`).
  public var id: String?
  /// The text: what stands behind the header, byte for byte.
  public var text: [UInt8]

  /// A note that is to be rendered.
  public init(
    path: String, header: FileHeader = FileHeader(), title: String, tags: [String] = [],
    priority: FilePriority = .normal, id: String? = nil, text: [UInt8]
  ) {
    self.path = path
    self.header = header
    self.title = title
    self.tags = tags
    self.priority = priority
    self.id = id
    self.text = text
  }

  /// The most bytes of a title.
  public static let longestTitle = 4096
  /// The most bytes of a tag.
  public static let longestTag = 200

  /// True for text without line breaks and U+0000, of at most `longestTitle` bytes.
  public static func isTitle(_ title: String) -> Bool {
    title.utf8.count <= longestTitle && isLine(title)
  }

  /// True for text without line breaks and U+0000, of 1 to `longestTag` bytes.
  public static func isTag(_ tag: String) -> Bool {
    (1...longestTag).contains(tag.utf8.count) && isLine(tag)
  }

  private static func isLine(_ text: String) -> Bool {
    !text.utf8.contains { $0 == 0 || $0 == .lineFeed || $0 == .carriageReturn }
  }
}

/// The urgency of a note, by its name in a header.
public enum FilePriority: String, CaseIterable, Sendable {
  /// Less urgent than others.
  case low
  /// As urgent as others: not written.
  case normal
  /// More urgent than others.
  case high
}

extension String {
  /// True if both have the same bytes; strings that are canonically equivalent may differ.
  func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
