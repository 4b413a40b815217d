/// A file or folder of a notebook that could not be read to its end, or changes that are not merged.
public struct FileDamage: Equatable, Sendable {
  /// The kinds of damage.
  public enum Cause: String, Sendable, CaseIterable {
    /// The system refuses to read it at present: access, the device, too few descriptors.
    case unreadable
    /// Its bytes are not what the format says, or are of a later version of the program.
    case damaged
    /// Records or changes in it break a rule, and are left out.
    case refused
    /// Records or changes in it are of a later version of the program, and are left out.
    case newer
    /// Changes that were read follow others that no file holds.
    case waiting
    /// Changes that this user's programs have known are in no file any more.
    case missing
  }

  /// The path of the file or folder.
  public var path: String
  /// The end of its valid part, in bytes from its beginning.
  public var offset: UInt64
  /// The defect there, in words for users.
  public var description: String
  /// The kind of the defect.
  public var cause: Cause
}

/// The files of a notebook's folder that could not be read to their end, one entry for each.
final class DamageList {
  private(set) var entries: [FileDamage] = []
  /// The first error that would have come for any other file, too, so that what was read is no part of the notebook to rely on.
  private(set) var exhaustion: StoreError?

  /// Reports that the file at `path` is valid up to `offset` only. Replaces an earlier report about it.
  func report(
    _ path: String, _ offset: UInt64, _ description: String, _ cause: FileDamage.Cause = .damaged
  ) {
    let entry = FileDamage(path: path, offset: offset, description: description, cause: cause)
    if let index = entries.firstIndex(where: { $0.path == path }) {
      entries[index] = entry
    } else {
      entries.append(entry)
    }
  }

  /// Reports the error that kept the file at `path` from being read behind `offset`.
  func report(_ path: String, _ offset: UInt64, _ error: StoreError) {
    if error.isOfProcess { noteExhaustion(error) }
    // The report names the file already, and so does the description of an error that is not of its content.
    let isDetailed = error.isOfContent && !error.detail.isEmpty
    report(
      path, offset, isDetailed ? error.detail : error.description,
      error.isOfContent ? .damaged : .unreadable)
  }

  /// Notes an error that would have come for any other file, too.
  func noteExhaustion(_ error: StoreError) { exhaustion = exhaustion ?? error }

  /// Removes the report about the file at `path`.
  func clear(_ path: String) {
    entries.removeAll { $0.path == path }
  }
}
