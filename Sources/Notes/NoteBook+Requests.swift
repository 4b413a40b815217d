public import ReplicatingTypes

// The changes that were made for requests with a key.

extension NoteBook {
  /// Visits the changes that were made for requests with a key, of those that a version has not, in no order.
  ///
  /// O(replicas + those changes), without those that their authors made before `oldest`.
  ///
  /// - Parameter oldest: milliseconds since 1970, by the authors' clocks.
  public func forEachRequest(
    after version: Version, since oldest: Int64,
    _ body: (RequestMark, ChangeID, _ time: Int64) -> Void
  ) throws(ArchiveFailure) {
    for replica in self.version.replicas {
      try forEachRecent(of: replica, after: version[replica], since: oldest) {
        number, encoded, time in
        guard let mark = RequestMark(of: encoded) else { return }
        body(mark, ChangeID(replica: replica, number: number), time)
      }
    }
  }
}

extension RequestMark {
  /// The mark of an encoded change; nil if it has none. O(predecessors).
  fileprivate init?(of encoded: ArraySlice<UInt8>) {
    guard let mark = try? Self.find(in: encoded) else { return nil }
    self = mark
  }

  private static func find(in encoded: ArraySlice<UInt8>) throws(DecodingFailure) -> RequestMark? {
    var reader = ByteReader(encoded)
    _ = try reader.signed()
    for _ in 0..<(try reader.count()) {
      // A mention, with the name of a replica behind 1; and a number.
      if try reader.varint() == 1 { _ = try reader.identifier() }
      _ = try reader.varint()
    }
    while true {
      switch try reader.byte() {
      case ChangeHash.tag: _ = try reader.fixed(UInt64.self)
      case ChangeMark.author: _ = try reader.counted()
      case ChangeMark.imported, ChangeMark.contentAddressed: break
      case ChangeMark.request: return try RequestMark(decoding: try reader.counted())
      default: return nil
      }
    }
  }
}
