internal import Bytes
internal import JSONRPC
internal import NoteStore

/// The parameters of `notebook/merge`.
struct MergeParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case changes, adopt, offset, size }

  let changes: [UInt8]
  let isAdopting: Bool
  /// Where in the set this part of it begins, and the size of the set, in bytes; nil if it is the whole set.
  let part: (offset: Int, size: Int)?

  init(_ params: Parameters) throws(ResponseError) {
    guard let changes = Base64.decode(try params.requiredText(Name.changes)) else {
      throw .invalidParams("changes", "must be base64")
    }
    self.changes = changes
    isAdopting = try params.boolean(Name.adopt) ?? false
    let (offset, size) = (try params.count(Name.offset), try params.count(Name.size))
    guard let size else {
      guard offset == nil else { throw .invalidParams("size", "is missing") }
      part = nil
      return
    }
    guard size <= NoteStore.largestChangeSet else {
      throw .invalidParams("size", "is more than \(NoteStore.largestChangeSet) bytes")
    }
    part = (offset ?? 0, size)
    guard changes.count <= size - min(size, offset ?? 0) else {
      throw .invalidParams("changes", "goes beyond the size")
    }
  }
}

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
