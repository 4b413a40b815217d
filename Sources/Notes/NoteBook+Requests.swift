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

// Going back through the changes of a replica as far as a time.

extension NoteBook {
  /// Visits changes of a replica that its author made since a time, by their own clock: 256 and more that belong together in their order, the
  /// latest of these groups first.
  ///
  /// O(those changes), and a group more. Where the clock was set back by more than a group took, what is before that is left out.
  ///
  /// - Parameters:
  ///   - number: only later changes than this are visited.
  ///   - oldest: milliseconds since 1970.
  func forEachRecent(
    of replica: ReplicaID, after number: UInt64, since oldest: Int64,
    _ body: (_ number: UInt64, _ encoded: ArraySlice<UInt8>, _ time: Int64) -> Void
  ) throws(ArchiveFailure) {
    var rest = version[replica]
    if rest <= number { return }
    if try lastTime(of: replica) < oldest { return }
    while rest > number {
      let (numbers, timeBefore) = try stretch(of: replica, upTo: rest)
      var (time, isRecent) = (timeBefore, false)
      try forEachEncoded(of: replica, in: numbers) { next, encoded, _ in
        // An archive may say anything.
        time = Change.clamped(time &+ encoded.timeStep)
        if time < oldest { return true }
        isRecent = true
        if next > number { body(next, encoded, time) }
        return true
      }
      if !isRecent { return }
      rest = numbers.lowerBound - 1
    }
  }

  /// The time of a replica's last change, by its author's clock. O(log replicas).
  private func lastTime(of replica: ReplicaID) throws(ArchiveFailure) -> Int64 {
    if let place = histories.place(of: replica) { return histories.all[place].lastTime }
    return try session(of: replica)?.time ?? 0
  }
}

/// The mark of a change that was made for a request with a key, by which the same request is known again after a death of its process.
public struct RequestMark: Hashable, Sendable {
  /// A hash of the key that the client gave.
  public let key: Identifier
  /// The kind of request; without a meaning in this module.
  public let kind: UInt8
  /// The place of the request among several that were made under one key; 0 for the first.
  public let place: UInt16

  /// Creates a mark.
  public init(key: Identifier, kind: UInt8, place: UInt16 = 0) {
    self.key = key
    self.kind = kind
    self.place = place
  }

  /// The content of the mark, as Change.swift says.
  var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 20)
    writer.byte(kind)
    writer.varint(Int(place))
    writer.identifier(key)
    return writer.bytes
  }

  /// Reads what `encoded` writes, and nothing else.
  init(decoding bytes: ArraySlice<UInt8>) throws(DecodingFailure) {
    var reader = ByteReader(bytes)
    kind = try reader.byte()
    guard let place = UInt16(exactly: try reader.varint()) else {
      throw reader.failure("a request beyond all batches")
    }
    self.place = place
    key = try reader.identifier()
    guard reader.isAtEnd else { throw reader.failure("more than the mark of a request") }
  }
}
