/// Foreign data breaks a rule that every author keeps; nothing of it was taken.
public struct InvalidChange: Error, Equatable, Sendable {
  /// The rule that was broken, for people to read.
  public var reason: String

  /// A rule that was broken, in words.
  public init(_ reason: String) {
    self.reason = reason
  }
}
