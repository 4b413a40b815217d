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
