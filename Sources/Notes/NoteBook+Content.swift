internal import ReplicatingTypes

// The content of notes at present, and the notes that may have a key.

extension NoteBook {
  /// All notes, those in the trash too, in the order of their ids. O(notes).
  public var noteIDs: [NoteID] {
    purged.isEmpty ? noteCache.ids : noteCache.ids.filter { !isPurged($0) }
  }

  /// The content of a note; nil if there is none, or it is in the trash. Opens nothing. O(length) if the note is open, else O(its encoding).
  ///
  /// - Parameter hasText: whether the text is read, too.
  public func content(of id: NoteID, withText hasText: Bool) throws(ArchiveFailure) -> NoteContent?
  {
    guard isLive(id) else { return nil }
    switch try noteCache.content(of: id) {
    case .open(let note):
      return NoteContent(
        title: note.title.value, path: note.path, header: note.header,
        tags: note.tags.count == 0 ? [] : note.tags.values.distinct,
        utf8: hasText ? note.text.utf8 : [])
    case .encoded(let bytes, let hasSummary):
      do throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        if hasSummary { try NoteSummary.skip(&reader) }
        return NoteContent(
          try EncodedContent(from: &reader, withTags: true, withText: hasText))
      } catch { throw ArchiveFailure(error) }
    }
  }
}

extension NoteBook {
  /// The notes that may have one of some keys: all that do, and others; nil if the archive can't tell. O(notes / 8 × keys).
  ///
  /// A note that is in the archive as it is has there the keys of what it says. All others count as ones that may have them.
  public func notes(
    mayHaveOneOf keys: some Collection<UInt64>, of kind: NoteKeys
  ) throws(ArchiveFailure) -> Set<NoteID>? {
    guard let archive, archive.signatures.format == kind.format else { return nil }
    return try noteCache.ids(mayHaveOneOf: keys.map(Feature.init(key:)))
  }
}

/// The present content of a note, read without its past: for a look at very many notes.
public struct NoteContent: Sendable {
  /// The title.
  public let title: String
  /// The path of the note's file; empty if it has none.
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
