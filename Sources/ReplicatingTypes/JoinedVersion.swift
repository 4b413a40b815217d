/// What a value was told by `join` that it has seen: the versions of all changes that it has joined. It is no part of the value: two that differ in it are equal.
///
/// In a composed value all parts have been told the same, as they are told by the whole. A part that was not has joined changes by itself.
struct JoinedVersion: Hashable, Sendable {
  var version = Version()

  static func == (a: Self, b: Self) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
