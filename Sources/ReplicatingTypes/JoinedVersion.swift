/// The versions of all changes that a value has joined, as one. It is no part of the value: two values that differ in it are equal.
///
/// In a composed value it is the same for all parts, since the whole joins them together. A part that differs has joined changes by itself.
@usableFromInline
struct JoinedVersion: Hashable, Sendable {
  @usableFromInline var version = Version()

  @usableFromInline
  static func == (a: Self, b: Self) -> Bool { true }
  @usableFromInline
  func hash(into hasher: inout Hasher) {}
}
