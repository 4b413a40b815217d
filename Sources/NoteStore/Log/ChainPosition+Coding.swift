internal import ReplicatingTypes

extension ByteWriter {
  /// Writes the number of a record and the hash after it.
  mutating func position(_ position: ChainPosition) {
    varint(position.number)
    fixed(position.hash)
  }
}

extension ByteReader {
  /// Reads a number of records, changes or bytes: small enough that no sum of such numbers overflows.
  mutating func amount() throws(DecodingFailure) -> UInt64 {
    let amount = try varint()
    guard amount < 1 << 60 else { throw failure("an amount of \(amount)") }
    return amount
  }

  /// Reads the number of a record and the hash after it.
  mutating func position() throws(DecodingFailure) -> ChainPosition {
    ChainPosition(number: try amount(), hash: try fixed(UInt64.self))
  }
}
