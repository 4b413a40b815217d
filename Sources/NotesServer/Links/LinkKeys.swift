internal import NoteFiles
public import Notes

extension NoteKeys {
  /// Keys by which the notes of an archive are found that have a name, and those that link to one: what `LinkIndex` is made of.
  public static let links = NoteKeys(format: 3) { note in
    NoteNames(note).keys + LinkIndex.targets(of: note).map { linking(to: $0) }
  }

  /// The key of the notes that link to a name with this key.
  static func linking(to key: UInt64) -> UInt64 { ~key }
}
