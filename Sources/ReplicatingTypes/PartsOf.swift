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
  /// Adds the versions of the parts, and what they have joined.
  func addVersions(of whole: Whole, to seen: inout PartVersions)
  /// The same, without copying a part to read it.
  func addVersions(ofMutable whole: inout Whole, to seen: inout PartVersions)
  /// Adds only what they have joined.
  func addJoinedVersions(of whole: Whole, to seen: inout PartVersions)
  /// Lets all parts remember what was joined.
  func setJoinedVersion(of whole: inout Whole, to joined: JoinedVersion)
  /// The key path of a part in words. `place`: the number of parts behind it in the list.
  func name(of place: Int) -> String
  /// The changes of each part. Adds what the parts have joined, too.
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
  /// The largest logical time of the parts.
  func lamport(of whole: Whole) -> UInt64
  /// The changes that each part of another value lacks.
  func changes(of whole: Whole, missingIn other: Whole) -> Changes
  /// Looks whether the parts of another value may be merged.
  func checkMerge(of whole: Whole, with other: Whole) throws(InvalidChange)
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

/// The versions of the parts of a composed value, as one, and what they have joined: all the same, or a part has joined something by itself.
public struct PartVersions {
  @usableFromInline var version = Version()
  @usableFromInline var joined: JoinedVersion?
  /// The part that told `joined`, as the number of parts behind it.
  private var first = 0
  /// A part that has joined more than another, in the same way. Nil if all have joined the same.
  @usableFromInline var odd: Int?

  @usableFromInline
  init() {}

  /// Adds a part.
  @inlinable
  @inline(__always)
  mutating func add<Part: Replicable>(_ part: Part, at place: Int) {
    add(part.version, joined: part.joinedVersion, at: place)
  }

  /// Adds a part, without copying it.
  @inlinable
  @inline(__always)
  mutating func add<Part: Replicable>(mutable part: inout Part, at place: Int) {
    add(part.version, joined: part.joinedVersion, at: place)
  }

  /// Adds the version of a part, and what it has joined.
  @usableFromInline
  mutating func add(_ part: Version, joined other: JoinedVersion?, at place: Int) {
    version.merge(part)
    add(joined: other, at: place)
  }

  /// Adds what a part has joined.
  @usableFromInline
  mutating func add(joined other: JoinedVersion?, at place: Int) {
    guard let other else { return }
    if other.isUneven { odd = place }
    guard let joined else {
      (joined, first) = (other, place)
      return
    }
    if odd != nil || joined.isSame(as: other) { return }
    let isAhead = other.merges > joined.merges || !joined.version.isSuperset(of: other.version)
    odd = isAhead ? place : first
  }
}
