internal import JSONRPC

/// A set of changes that comes from the client in parts: one change may be longer than a message.
struct IncomingChanges {
  /// The bytes of one part, as this program makes them.
  static let partSize = 4 << 20

  private var bytes: [UInt8] = []

  /// Takes a part, or the whole; returns the set if it is complete.
  ///
  /// - Parameter part: where in the set the part begins, and the size of the set; nil if it is the whole.
  mutating func append(
    _ changes: [UInt8], _ part: (offset: Int, size: Int)?
  ) throws(ResponseError) -> [UInt8]? {
    guard let (offset, size) = part else { return changes }
    if offset == 0 { bytes = [] }
    guard offset == bytes.count else {
      let expected = bytes.count
      bytes = []
      throw .invalidParams("offset", "is not \(expected), where the parts before it end")
    }
    bytes += changes
    guard bytes.count == size else { return nil }
    defer { bytes = [] }
    return bytes
  }
}
