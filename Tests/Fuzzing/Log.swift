import Bytes

/// A log file without its checksums and hashes, as a fuzzer may change it: the records, each as its flags, its length in two bytes, and
/// its bytes from the type on (Sources/NoteStore/Log/LogFormat.swift).
enum Log {
  static let headerSize = 72
  private static let hashSize = 8

  static func unsealed(_ log: [UInt8]) -> [UInt8] {
    var records: [UInt8] = []
    var at = headerSize
    while at + 8 <= log.count {
      let prefix = word(log, at)
      let length = Int(prefix & (1 << 27 - 1)) - hashSize
      guard length >= 0, length < 1 << 16, at + 8 + length + hashSize <= log.count else { break }
      records += [UInt8(prefix >> 27), UInt8(length & 0xFF), UInt8(length >> 8)]
      records += log[(at + 8)..<(at + 8 + length)]
      at += 8 + length + hashSize
    }
    return records
  }

  /// The log of these records, with every checksum and hash right.
  static func sealed(_ header: [UInt8], _ records: [UInt8]) -> [UInt8] {
    var log = header
    var hash = Array(header.suffix(hashSize))
    var at = 0
    while at + 3 <= records.count {
      let length = min(
        Int(records[at + 1]) | Int(records[at + 2]) << 8, records.count - at - 3)
      let prefix = UInt32(records[at] & 31) << 27 | UInt32(length + hashSize)
      let first = bytes(of: prefix)
      let body = Array(records[(at + 3)..<(at + 3 + length)])
      let record = first + checksum(of: (first + body)[...]) + body
      let sum = SHA256.prefix64(of: (hash + record)[...])
      hash = (0..<8).map { UInt8(truncatingIfNeeded: sum >> UInt64(56 - 8 * $0)) }
      log += record + hash
      at += 3 + length
    }
    return log
  }

  private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) }
  }

  private static func bytes(of word: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) }
  }
}
