/// The changes that a part of a composed value has joined. It is no part of the value: two values that differ in it are equal.
///
/// In a composed value it is the same for all parts, since the whole joins them together, or each was merged with the part of one other value.
/// A part that differs has joined something by itself.
public struct JoinedVersion: Hashable, Sendable {
  /// The versions of all changes joined so far, as one, but of those that came by `merge` to this part alone.
  public var version: Version
  /// The number of times that this part alone was merged with another.
  @usableFromInline var merges: Int32 = 0
  /// True if the part is composed itself, and a part of it has joined something by itself.
  @usableFromInline var isUneven = false

  /// The version of changes that were joined.
  public init(_ version: Version = Version()) { self.version = version }

  /// Counts a merge with a part of a value that has joined `other`.
  @usableFromInline
  mutating func countMerge(_ other: JoinedVersion) {
    version.merge(other.version)
    merges &+= 1
  }

  /// True if two parts have joined the same.
  @usableFromInline
  func isSame(as other: JoinedVersion) -> Bool {
    merges == other.merges && version == other.version
  }

  public static func == (a: Self, b: Self) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
}
