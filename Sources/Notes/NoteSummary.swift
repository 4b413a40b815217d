internal import ReplicatingTypes

/// A note as a list shows it: everything but its text.
public struct NoteSummary: Sendable, Equatable, Identifiable {
  /// The note.
  public let id: NoteID
  /// The title.
  public let title: String
  /// Sorted, and no two with canonically equivalent names.
  public let tags: [Tag]
  /// The priority.
  public let priority: Priority
  /// Milliseconds since 1970.
  public let created: Int64
  /// The time of the last change of text, title or tags, as in `Note`. Milliseconds since 1970.
  public let modified: Int64
  /// Bytes of the text.
  public let length: Int
  /// True if the note is in the trash.
  public var isTrashed: Bool { trashed != nil }
  /// The time of its deletion, if the note is in the trash. Milliseconds since 1970.
  public let trashed: Int64?
  /// The path of the note's file; empty if it has none.
  public let path: String

  /// The summary of a note. O(its tags).
  public init(_ note: borrowing Note) { self.init(note, length: note.text.count) }

  /// Of a note whose text was read apart from it.
  public init(_ note: borrowing Note, length: Int) {
    id = note.id
    title = note.title.value
    tags = note.tags.count == 0 ? [] : note.tags.values.distinct
    priority = note.priority.value
    created = note.created
    modified = note.modified
    self.length = length
    trashed = note.trashed
    path = note.path
  }

  // As it stands before a note that is put away: the title, how many tags and these, the priority, created, modified less
  // created, the length, whether it is in the trash and since when, less created, and the path.

  func encode(into writer: inout ByteWriter) {
    title.encode(into: &writer)
    writer.varint(tags.count)
    for tag in tags { tag.encode(into: &writer) }
    priority.encode(into: &writer)
    writer.signed(created)
    writer.signed(modified - created)
    writer.varint(length)
    isTrashed.encode(into: &writer)
    if let trashed { writer.signed(trashed - created) }
    path.encode(into: &writer)
  }

  /// Reads over what `encode(into:)` wrote.
  static func skip(_ reader: inout ByteReader) throws(DecodingFailure) {
    _ = try reader.counted()
    for _ in 0..<(try reader.count()) { _ = try reader.counted() }
    _ = try reader.byte()
    for _ in 0..<3 { _ = try reader.varint() }
    if try Bool(from: &reader) { _ = try reader.varint() }
    _ = try reader.counted()
  }

  init(_ id: NoteID, from reader: inout ByteReader) throws(DecodingFailure) {
    self.id = id
    title = try String(from: &reader)
    var tags: [Tag] = []
    for _ in 0..<(try reader.count()) { tags.append(try Tag(from: &reader)) }
    self.tags = tags
    priority = try Priority(from: &reader)
    created = try reader.signed()
    modified = created &+ (try reader.signed())
    length = try reader.count()
    trashed = try Bool(from: &reader) ? created &+ (try reader.signed()) : nil
    path = try String(from: &reader)
  }
}
