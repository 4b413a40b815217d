extension LogScan {
  /// The number of bytes that are read from a file at once, unless an append is larger.
  private static let readSize = 1 << 18

  /// Reads on in a file as far as it is complete.
  ///
  /// - Parameters:
  ///   - known: the position up to which the session is known. Records up to it are checked, not returned.
  ///   - hand: takes the records of some appends, and the position in the chain after them.
  mutating func read(
    _ file: borrowing FileDescriptor, size: UInt64, known: ChainPosition, limit: inout Int,
    hand: ([Entry], ChainPosition) -> Void
  ) throws(StoreError) -> Stop {
    var need = Self.readSize
    while true {
      // Never reads more than the file has: a length in the file may be wrong, its size is not.
      guard size > window else { return .end }
      let rest = Int(clamping: size - window)
      let wanted = min(need, rest)
      var bytes = try file.read(wanted, at: window)
      // The hash in front of the first record is a part of the damaged header. That of the restored header takes its place.
      if headerState == .mended, window < UInt64(LogFormat.headerSize),
        bytes.count >= LogFormat.hashSize
      {
        bytes.setInteger(hash.byteSwapped, at: 0)
      }
      var entries: [Entry] = []
      let before = window
      let isShort = bytes.count < wanted  // the file shrank while it was read
      let stop = consume(bytes, known: known, limit: &limit, into: &entries)
      if window > before { hand(entries, ChainPosition(number: number, hash: hash)) }
      switch stop {
      case .damaged, .rewritten, .limited: return stop
      case .needs(let count):
        guard !isShort, count <= Int(clamping: size - window) else { return stop }
        // If no append was complete, twice as much is read, so that reading a large append takes linear time.
        need = max(count, window > before ? Self.readSize : need * 2)
      case .end:
        guard !isShort, window + UInt64(LogFormat.hashSize) < size else { return .end }
        need = Self.readSize
      }
    }
  }
}
