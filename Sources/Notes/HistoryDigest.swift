internal import Bytes

// Digests of histories, by which two notebooks find out whether they know the same changes under the same names.
//
// A name says who made a change, not what it is. Two processes that go on as one (a machine that was resumed twice, a container's
// checkpoint, a forgery) give the same names to different changes, and every comparison of versions calls them known.
//
// The digest of a replica's first n changes is the first 8 bytes of SHA-256 of the digest before the last of them and the hash of that
// change (ChangeHash.swift), 8 bytes each, big-endian; before the first change it is 0. So what is redacted changes no digest. The digest of a version is the same of
// each replica in order, 16 bytes, with its number and the digest up to there, 8 bytes each, big-endian.
//
// They are made when they are asked for, not with each change, and the archive keeps those of its last changes. 64 bits are enough
// against accidents. Who forges a session may find two histories of it with one digest by 2^32 tries; for a session of somebody else it
// takes 2^64.

/// The digest of the first changes of a replica.
struct HistoryDigest: Sendable {
  /// How many changes they are.
  private(set) var number: UInt64 = 0
  private(set) var value: UInt64 = 0

  /// Of no changes.
  init() {}

  init(number: UInt64, value: UInt64) {
    self.number = number
    self.value = value
  }

  /// Adds the next change. `buffer` is memory for the bytes that are hashed.
  mutating func append(_ encoded: ArraySlice<UInt8>, _ buffer: inout [UInt8]) {
    buffer.removeAll(keepingCapacity: true)
    buffer.appendBigEndian(value)
    buffer.appendBigEndian(ChangeHash.hash(of: encoded))
    number += 1
    value = SHA256.prefix64(of: buffer[...])
  }
}

extension [UInt8] {
  mutating func appendBigEndian(_ word: UInt64) {
    Swift.withUnsafeBytes(of: word.bigEndian) { append(contentsOf: $0) }
  }
}
