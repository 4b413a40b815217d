internal import Bytes
import ReplicatingTypes

/// The position up to which a log file was read and found valid, and the rule for reading on.
///
/// It sees bytes only: `LogReader` opens the files.
struct LogScan {
  /// A record, as read.
  struct Entry: Equatable {
    var number: UInt64
    var type: UInt8
    var payload: [UInt8]
  }

  /// The reason why reading stopped.
  enum Stop: Equatable {
    /// All bytes were read, and they end between two appends.
    case end
    /// Reading on takes this many bytes, counted from `window`. If the file has fewer, an append is not complete.
    case needs(Int)
    /// `limit` was reached; there may be more.
    case limited
    /// The bytes before the position are no longer those that were read: begin again.
    case rewritten
    /// An append is complete and wrong. Nothing after it is read.
    case damaged(offset: UInt64, String)
  }

  /// The state of the file's header.
  enum HeaderState {
    case read
    /// It is damaged in the file. It was restored, and the result is proven.
    case mended
    /// It is damaged; only the session is known, by the name of the folder.
    case lost
  }

  let header: LogHeader
  let headerState: HeaderState
  /// The offset in the file behind the last append that was read whole.
  private(set) var offset: UInt64
  /// The number of the last record read, and the hash after it.
  private(set) var number: UInt64
  private(set) var hash: UInt64

  /// A scan that begins behind the header; `bytes` are the first of the file.
  init(decoding bytes: ArraySlice<UInt8>) throws(LogHeader.Failure) {
    header = try LogHeader(decoding: bytes)
    headerState = .read
    offset = UInt64(LogFormat.headerSize)
    number = header.recordsBefore
    hash = bytes.integer(at: bytes.startIndex + 64, as: UInt64.self).byteSwapped
  }

  /// A scan that goes on at a position known to be right.
  init(
    header: LogHeader, offset: UInt64, number: UInt64, hash: UInt64,
    _ headerState: HeaderState = .read
  ) {
    self.header = header
    self.headerState = headerState
    self.offset = offset
    self.number = number
    self.hash = hash
  }

  /// A scan that begins behind a header that is damaged in the file.
  init(mending header: LogHeader) {
    self.init(
      header: header, offset: UInt64(LogFormat.headerSize), number: header.recordsBefore,
      hash: header.hash, .mended)
  }

  /// A scan of a file of which only the session is known: only `continuation` can go on there.
  init(lostHeaderOf session: Identifier) {
    let header = LogHeader(notebook: Identifier(high: 0, low: 0), session: session)
    self.init(header: header, offset: UInt64(LogFormat.headerSize), number: 0, hash: 0, .lost)
  }

  /// The offset in the file of the bytes for `consume`: that of the hash before the next record.
  var window: UInt64 { offset - UInt64(LogFormat.hashSize) }

  /// Reads appends from `bytes`, which begin at `window`, as far as they are complete.
  ///
  /// - Parameters:
  ///   - known: the position up to which the session is known. Records up to it are checked, not returned.
  ///   - limit: stop after the append with which the payloads exceed this many bytes.
  /// - Complexity: O(`bytes.count`).
  mutating func consume(
    _ bytes: [UInt8], known: ChainPosition, limit: inout Int, into entries: inout [Entry]
  ) -> Stop {
    let hashSize = LogFormat.hashSize
    guard bytes.count >= hashSize else { return .needs(hashSize) }
    guard bytes[...].integer(at: 0, as: UInt64.self).byteSwapped == hash else { return .rewritten }

    let first = offset - UInt64(hashSize)  // the offset of bytes[0] in the file
    var start = hashSize  // the beginning of the append that is being read
    var at = start
    var count = entries.count  // without the entries of that append
    var (lastNumber, lastHash) = (number, hash)

    func damaged(_ description: String) -> Stop {
      .damaged(offset: first + UInt64(at), description)
    }
    /// Drops the records of an append that did not end.
    func stopped(_ stop: Stop) -> Stop {
      entries.removeSubrange(count...)
      return stop
    }
    while true {
      guard bytes.count - at >= LogFormat.prefixSize else {
        if at == start, at == bytes.count { return .end }
        return stopped(.needs(at - start + hashSize + LogFormat.prefixSize))
      }
      let word = bytes[...].integer(at: at, as: UInt32.self)
      let length = Int(word & ~LogFormat.moreFollows)
      let end = at + LogFormat.prefixSize + length
      guard length >= LogFormat.minimumLength, end - start <= LogFormat.maximumAppend else {
        return stopped(damaged("a length of \(length)"))
      }
      guard end <= bytes.count else { return stopped(.needs(end - start + hashSize)) }

      let body = bytes[(at + LogFormat.prefixSize)..<(end - hashSize)]
      var sum = CRC32C()
      sum.update(bytes[at..<(at + 4)])
      sum.update(body)
      guard sum.value == bytes[...].integer(at: at + 4, as: UInt32.self) else {
        return stopped(damaged("a wrong checksum"))
      }
      lastHash = SHA256.prefix64(of: bytes[(at - hashSize)..<(end - hashSize)])
      guard lastHash == bytes[...].integer(at: end - hashSize, as: UInt64.self).byteSwapped else {
        return stopped(damaged("a record that does not follow the one before"))
      }
      guard let (read, payload) = Self.varint(body.dropFirst()), lastNumber < .max,
        read == lastNumber + 1
      else {
        return stopped(damaged("a number out of turn"))
      }
      lastNumber = read
      if read > known.number {
        entries.append(Entry(number: read, type: body.first!, payload: Array(payload)))
      } else if read == known.number, lastHash != known.hash {
        return stopped(damaged("another content of the session than was read before"))
      }
      at = end
      if word & LogFormat.moreFollows != 0 { continue }

      start = at
      offset = first + UInt64(at)
      (number, hash) = (lastNumber, lastHash)
      for entry in entries[count...] { limit -= min(limit, max(1, entry.payload.count)) }
      count = entries.count
      if limit <= 0 { return .limited }
    }
  }

  /// The varint at the beginning of `bytes`, and the bytes behind it; nil if there is none, or not the shortest form.
  static func varint(_ bytes: ArraySlice<UInt8>) -> (UInt64, ArraySlice<UInt8>)? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      guard shift < 63 || byte <= 1 else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 {
        return byte == 0 && shift > 0 ? nil : (value, bytes[(index + 1)...])
      }
      shift += 7
    }
    return nil
  }
}
