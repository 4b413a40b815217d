internal import Bytes
internal import ReplicatingTypes

extension LogScan {
  /// Records are looked for in this many bytes behind damage.
  private static let salvageSize: UInt64 = 1 << 24

  /// The first position behind damage from which whole appends can be read again, and the number of records there up to the
  /// next damage; nil if there is none.
  ///
  /// A record is found by its own checksum and by the hash in front of it, which the chain continues. So its number is right
  /// as well, and it can be read as soon as the records before it are known from elsewhere.
  ///
  /// - Parameter damage: the offset in the file at which damage was noticed.
  /// - Complexity: O(bytes behind it), whatever they are.
  func continuation(
    behind damage: UInt64, in file: borrowing FileDescriptor, size: UInt64
  ) throws(StoreError) -> (scan: LogScan, count: UInt64)? {
    let hashSize = LogFormat.hashSize
    // The position begins at the hash in front of a record, at least one byte behind the damage.
    let first = damage + 1 - UInt64(hashSize)
    guard size > first else { return nil }
    let bytes = try file.read(Int(clamping: min(size - first, Self.salvageSize)), at: first)
    // In a hostile file every byte may look like the beginning of a long record.
    var budget = 8 * bytes.count
    for at in bytes.indices.dropFirst(hashSize) where budget > 0 {
      guard let number = number(ofRecordAt: at, in: bytes, budget: &budget) else { continue }
      let scan = LogScan(
        header: header, offset: first + UInt64(at), number: number - 1,
        hash: bytes[...].integer(at: at - hashSize, as: UInt64.self).byteSwapped)
      var end = scan
      var (limit, none): (Int, [Entry]) = (.max, [])
      budget -= bytes.count - at
      // All records count as known here, so that none is collected.
      _ = end.consume(
        Array(bytes[(at - hashSize)...]), known: .init(number: .max), limit: &limit, into: &none)
      if end.number > scan.number { return (scan, end.number - scan.number) }
    }
    return nil
  }

  /// The number of the first record in a file, whatever stands before it; nil if the record is damaged, or longer than
  /// `salvageSize`.
  func firstNumber(
    in file: borrowing FileDescriptor, size: UInt64
  ) throws(StoreError) -> UInt64? {
    guard size > window else { return nil }
    let bytes = try file.read(Int(clamping: min(size - window, Self.salvageSize)), at: window)
    var budget = bytes.count
    return number(ofRecordAt: LogFormat.hashSize, in: bytes, budget: &budget)
  }

  /// Moves behind the next record although its length or its checksum is damaged. It ends where the next record begins, or
  /// where the file ends; the hash at its end, which covers all of it, proves it.
  ///
  /// (Only for an append of one record: of a longer one the rest may be missing.)
  ///
  /// - Returns: the record; nil if it is damaged otherwise, or not complete.
  /// - Complexity: O(bytes behind it).
  mutating func mend(
    in file: borrowing FileDescriptor, size: UInt64
  ) throws(StoreError) -> Entry? {
    // The length in the record is tried first, because then the bytes behind the record are not read.
    let head = try file.read(LogFormat.prefixSize, at: offset)
    if head.count == LogFormat.prefixSize {
      let length = head[...].integer(at: 0, as: UInt32.self) & ~LogFormat.moreFollows
      let end = offset + UInt64(LogFormat.prefixSize) + UInt64(length)
      if end <= size, let entry = try mend(upTo: end, in: file) { return entry }
    }
    if let next = try continuation(behind: offset, in: file, size: size),
      let entry = try mend(upTo: next.scan.offset, in: file)
    {
      return entry
    }
    return try mend(upTo: size, in: file)
  }

  /// The same, if the record ends at `end`.
  private mutating func mend(
    upTo end: UInt64, in file: borrowing FileDescriptor
  ) throws(StoreError) -> Entry? {
    let prefix = LogFormat.prefixSize
    let hashSize = LogFormat.hashSize
    guard end > offset, end - offset <= Self.salvageSize,
      end - offset >= UInt64(prefix + LogFormat.minimumLength)
    else { return nil }
    var bytes = try file.read(Int(end - window), at: window)
    guard bytes.count == Int(end - window) else { return nil }
    // Behind a damaged header the hash in the file may be damaged, too.
    bytes.setInteger(hash.byteSwapped, at: 0)
    let body = bytes[(hashSize + prefix)..<(bytes.count - hashSize)]
    guard let (read, payload) = Self.varint(body.dropFirst()), number < .max, read == number + 1
    else { return nil }
    let word = bytes[...].integer(at: hashSize, as: UInt32.self)
    let stored = bytes[...].integer(at: hashSize + 4, as: UInt32.self)
    let length = UInt32(bytes.count - hashSize - prefix)
    bytes.setInteger(length, at: hashSize)
    var sum = CRC32C()
    sum.update(bytes[hashSize..<hashSize + 4])
    sum.update(body)
    guard word == length || stored == sum.value else { return nil }
    bytes.setInteger(sum.value, at: hashSize + 4)
    let last = bytes.count - hashSize
    let hash = SHA256.prefix64(of: bytes[..<last])
    guard hash == bytes[...].integer(at: last, as: UInt64.self).byteSwapped else { return nil }
    self = LogScan(header: header, offset: end, number: read, hash: hash, headerState)
    return Entry(number: read, type: body.first!, payload: Array(payload))
  }

  /// The number of the record that begins at `at`, if there is one and it comes after those that were read.
  private func number(ofRecordAt at: Int, in bytes: [UInt8], budget: inout Int) -> UInt64? {
    guard bytes.count - at >= LogFormat.prefixSize + LogFormat.minimumLength else { return nil }
    let length = Int(bytes[...].integer(at: at, as: UInt32.self) & ~LogFormat.moreFollows)
    let body = at + LogFormat.prefixSize
    guard length >= LogFormat.minimumLength, length <= bytes.count - body else { return nil }
    let end = body + length - LogFormat.hashSize
    guard let (number, _) = Self.varint(bytes[(body + 1)..<end]), number > self.number else {
      return nil
    }
    budget -= length
    var sum = CRC32C()
    sum.update(bytes[at..<(at + 4)])
    sum.update(bytes[body..<end])
    return sum.value == bytes[...].integer(at: at + 4, as: UInt32.self) ? number : nil
  }
}
