// Replicas that are named by their places: what a composed value and its changes say once for all of their parts.

extension ByteWriter {
  /// Writes a replica: 16 bytes. Between `beginNaming` and `endNaming` a varint: n for the n-th of the table, or 0 and 16 bytes for one that it does not have.
  mutating func replica(_ replica: ReplicaID) {
    guard let table else { return identifier(replica) }
    let place = table.place(of: replica)
    varint(place.map { $0 + 1 } ?? 0)
    if place == nil { identifier(replica) }
  }

  /// Writes the replicas of a version, which are named by their places up to `endNaming`. False within another naming, whose version
  /// contains this one: nothing is to be ended then.
  @usableFromInline
  mutating func beginNaming(_ version: @autoclosure () -> Version) -> Bool {
    if table != nil { return false }
    let replicas = version().replicas
    varint(replicas.count)
    for replica in replicas { identifier(replica) }
    table = replicas
    return true
  }

  @usableFromInline
  mutating func endNaming() { table = nil }
}

extension ByteReader {
  /// Reads what `ByteWriter.replica` writes.
  mutating func replica() throws(DecodingFailure) -> ReplicaID {
    guard let table else { return try identifier() }
    let start = self
    let place = try count()
    if place > 0 {
      guard place <= table.count else {
        throw start.failure("replica \(place) of \(table.count)")
      }
      return table[place - 1]
    }
    let replica = try identifier()
    guard table.place(of: replica) == nil else {
      throw start.failure("a replica spelt out that has a place")
    }
    return replica
  }

  /// The fewest bytes that a replica takes here.
  var leastReplicaSize: Int { table == nil ? 16 : 1 }

  /// Reads what `ByteWriter.beginNaming` wrote. False within another naming.
  @usableFromInline
  mutating func beginNaming() throws(DecodingFailure) -> Bool {
    if table != nil { return false }
    var replicas: [ReplicaID] = []
    for _ in 0..<(try count()) {
      let start = self
      let replica = try identifier()
      if let last = replicas.last, replica <= last { throw start.failure("replicas out of order") }
      replicas.append(replica)
    }
    table = replicas
    return true
  }

  /// Ends a naming. Throws if the replicas were not those of the version of what was read.
  @usableFromInline
  mutating func endNaming(_ version: Version) throws(DecodingFailure) {
    guard version.replicas == table else {
      throw failure("replicas other than those of what follows them")
    }
    table = nil
  }
}

extension [ReplicaID] {
  /// Where a replica stands among others in their order.
  fileprivate func place(of replica: ReplicaID) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < replica { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == replica ? low : nil
  }
}
