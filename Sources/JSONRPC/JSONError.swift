/// The reason for which bytes are not an acceptable JSON document, and the place.
public struct JSONError: Error, Equatable, Sendable {
  /// The offset, in bytes from the start of the document, of what is wrong.
  public var offset: Int
  /// The reason, for people to read.
  public var reason: String

  /// Creates an error about the byte at `offset`.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }
}
