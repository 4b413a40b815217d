/// Foreign data breaks a rule that every author keeps; nothing of it was taken.
public struct InvalidChange: Error, Equatable, Sendable {
  /// Which rule, for people to read.
  public var reason: String

  public init(_ reason: String) {
    self.reason = reason
  }
}
