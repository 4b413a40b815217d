/// A file that could not be read to its end.
public struct FileDamage: Equatable, Sendable {
  /// The path of the file.
  public var path: String
  /// The end of its valid part, in bytes from its beginning.
  public var offset: UInt64
  /// The defect there, in words for users.
  public var description: String
}

/// The files of a notebook's folder that could not be read to their end, one entry for each.
final class DamageList {
  private(set) var entries: [FileDamage] = []

  /// Reports that the file at `path` is valid up to `offset` only. Replaces an earlier report about it.
  func report(_ path: String, _ offset: UInt64, _ description: String) {
    let entry = FileDamage(path: path, offset: offset, description: description)
    if let index = entries.firstIndex(where: { $0.path == path }) {
      entries[index] = entry
    } else {
      entries.append(entry)
    }
  }

  /// Removes the report about the file at `path`.
  func clear(_ path: String) {
    entries.removeAll { $0.path == path }
  }
}
