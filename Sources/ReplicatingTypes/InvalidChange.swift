/// Foreign data breaks a rule that every author keeps; nothing of it was taken.
public struct InvalidChange: Error, Equatable, Sendable {
  /// The rule that was broken, for people to read.
  public var reason: String

  /// A rule that was broken, in words.
  public init(_ reason: String) {
    self.reason = reason
  }
}

/// A value in the words of an error, cut where it is long.
func shortened(_ value: String) -> String {
  let start = value.prefix(40)
  return start.endIndex == value.endIndex ? value : start + "…"
}
