/// The reason for which bytes are not an acceptable JSON document, and the place.
public struct JSONError: Error, Equatable, Sendable {
  /// The offset, in bytes from the start of the document, of what is wrong.
  public var offset: Int
  /// The reason, for people to read.
  public var reason: String
  /// True if a text has half of a surrogate pair there. Programs whose texts are UTF-16 send that now and then; all else may be right.
  var isLoneSurrogate = false

  /// Creates an error about the byte at `offset`.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }
}
