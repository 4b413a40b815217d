/// The versions of all changes that a value has joined, as one. It is no part of the value: two values that differ in it are equal.
///
/// In a composed value it is the same for all parts, since the whole joins them together. A part that differs has joined changes by itself.
struct JoinedVersion: Hashable, Sendable {
  var version = Version()

  static func == (a: Self, b: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
