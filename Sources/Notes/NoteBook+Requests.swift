public import ReplicatingTypes

// Which changes were made for requests with a key.

extension NoteBook {
  /// Visits the changes that were made for requests with a key, of those that a version has not: replica by replica, of each the newest first.
  ///
  /// O(replicas + those changes), without those that their authors made before `oldest`.
  ///
  /// - Parameter oldest: milliseconds since 1970, by the authors' clocks.
  public func forEachRequest(
    after version: Version, since oldest: Int64,
    _ body: (RequestMark, ChangeID, _ time: Int64) -> Void
  ) throws(ArchiveFailure) {
    for replica in self.version.replicas where version[replica] < self.version[replica] {
      var rest = self.version[replica]
      if try lastTime(of: replica) < oldest { continue }
      while rest > version[replica] {
        let (numbers, timeBefore) = try stretch(of: replica, upTo: rest)
        var (time, isRecent) = (timeBefore, false)
        var found: [(mark: RequestMark, number: UInt64, time: Int64)] = []
        try forEachEncoded(of: replica, in: numbers) { number, encoded, _ in
          // An archive may say anything.
          time = Change.clamped(time &+ encoded.timeStep)
          if time < oldest { return true }
          isRecent = true
          if number > version[replica], let mark = RequestMark(of: encoded) {
            found.append((mark, number, time))
          }
          return true
        }
        for (mark, number, time) in found.reversed() {
          body(mark, ChangeID(replica: replica, number: number), time)
        }
        // A clock that was set back may hide a few changes that are older than a day by what it says now.
        if !isRecent { break }
        rest = numbers.lowerBound - 1
      }
    }
  }

  private func lastTime(of replica: ReplicaID) throws(ArchiveFailure) -> Int64 {
    if let place = histories.place(of: replica) { return histories.all[place].lastTime }
    return try session(of: replica)?.time ?? 0
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
      case ChangeMark.imported: break
      case ChangeMark.request: return try RequestMark(decoding: try reader.counted())
      default: return nil
      }
    }
  }
}
