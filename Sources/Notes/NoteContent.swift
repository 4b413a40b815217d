internal import ReplicatingTypes

/// What a note says at present, for who looks at very many: read without its past.
public struct NoteContent: Sendable {
  /// The title.
  public let title: String
  /// Where the note's file is among others; empty if it has no place.
  public let path: String
  /// The parts of its file's header that are there, by their keys.
  public let header: [(key: String, value: String)]
  /// Sorted, and no two with canonically equivalent names.
  public let tags: [Tag]
  /// The text in UTF-8; empty where it was not asked for.
  public let utf8: [UInt8]
}

extension NoteContent {
  /// The content of an encoded note that was read with its tags.
  init(_ content: EncodedContent) {
    let properties = content.properties.map { (PropertyName($0.string), $1.string) }
    title = content.title.string
    path = properties.first { $0.0 == .path }?.1 ?? ""
    header = properties.compactMap { name, value in
      value.isEmpty ? nil : name.headerKey.map { ($0, value) }
    }
    tags = content.tags.distinct
    utf8 = Array(content.text)
  }
}

extension ArraySlice<UInt8> {
  fileprivate var string: String { String(decoding: self, as: UTF8.self) }
}
