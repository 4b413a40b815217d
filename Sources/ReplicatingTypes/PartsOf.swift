// Library product only: the programs of this package do not use this file.

/// The list of the parts of a composed value: a `Composition`, whose type is too long to be written.
public protocol PartsOf<Whole> {
  /// The value that has the parts.
  associatedtype Whole
  /// Changes of all parts.
  associatedtype Changes: ReplicatingChanges & BinaryCodable & Sendable

  /// The number of parts.
  static var count: Int { get }
  /// True if looking at the changes of some part takes a copy.
  static var copiesToValidate: Bool { get }
  /// Adds the versions of the parts, and what they remember as that of all changes joined so far. Traps if a part was joined by itself.
  func addVersions(of whole: Whole, to seen: inout PartVersions)
  /// The same, without copying a part to read it.
  func addVersions(ofMutable whole: inout Whole, to seen: inout PartVersions)
  /// Adds only what they remember. Traps if a part was joined by itself.
  func addJoinedVersions(of whole: Whole, to seen: inout PartVersions)
  /// Lets all parts remember a version as that of all changes joined so far.
  func setJoinedVersion(of whole: inout Whole, to version: Version)
  /// The changes of each part. Adds what the parts remember, too.
  func changes(
    of whole: Whole, since version: Version, adding seen: inout PartVersions
  ) -> Changes
  /// Looks whether the changes of each part may be joined. When sparing, the first part that changes and would be copied to look at them is
  /// left out.
  ///
  /// - Returns: the part that was left out, as the number of parts behind it.
  func validate(
    _ changes: Changes, in whole: inout Whole, isSparing: Bool
  ) throws(InvalidChange) -> Int?
  /// Looks whether the parts of another value began with the same initial values.
  func checkInitialValues(of other: Whole, in whole: Whole) throws(InvalidChange)
  /// Joins the changes of one part, which has so many behind it, if they are valid.
  func joinIfValid(
    _ changes: Changes, into whole: inout Whole, only chosen: Int
  ) throws(InvalidChange)
  /// Joins the changes of all other parts.
  func join(_ changes: Changes, into whole: inout Whole, except chosen: Int?)
  /// Writes the parts.
  func encode(_ whole: Whole, into writer: inout ByteWriter)
  /// Reads the parts.
  func decode(_ whole: inout Whole, from reader: inout ByteReader) throws(DecodingFailure)
}

/// The versions of the parts of a composed value, as one, and what they remember as that of all changes joined so far: all the same, or a
/// part was joined by itself.
public struct PartVersions {
  @usableFromInline var version = Version()
  @usableFromInline var joined: Version?

  @usableFromInline
  init() {}

  /// Adds a part.
  @inlinable
  @inline(__always)
  mutating func add<Part: Replicable>(_ part: Part, in whole: Any.Type) {
    add(part.version, joined: part.joinedVersion, in: whole)
  }

  /// Adds a part, without copying it.
  @inlinable
  @inline(__always)
  mutating func add<Part: Replicable>(mutable part: inout Part, in whole: Any.Type) {
    add(part.version, joined: part.joinedVersion, in: whole)
  }

  /// Adds the version of a part, and what it remembers.
  @usableFromInline
  mutating func add(_ part: Version, joined other: Version?, in whole: Any.Type) {
    version.merge(part)
    add(joined: other, in: whole)
  }

  /// Adds what a part remembers. Traps if the parts before it remember something else.
  @usableFromInline
  mutating func add(joined other: Version?, in whole: Any.Type) {
    guard let other else { return }
    guard let joined else {
      joined = other
      return
    }
    precondition(
      joined == other,
      """
      \(whole): a part has joined changes by itself, so the others lack what the whole would take for seen. Join the whole: \
      value.apply(other.changes(since: value.version))
      """)
  }
}
