// Input as a malicious or broken program makes it: wrong inside, while every checksum around it is right. The mutator is here; the
// suites that know a format take it apart, forge a part, and put it together again.

import Foundation
package import Testing

extension SplitMix64 {
  /// Numbers at which encodings, counts and sums change.
  private static let boundaries: [UInt64] = [
    0, 1, 2, 3, 4, 0x7F, 0x80, 0xFF, 0x100, 0x3FFF, 0x4000, 0xFFFF, 1 << 27, 1 << 28, 1 << 31 - 1,
    1 << 31, 1 << 32 - 1, 1 << 32, 1 << 62, 1 << 63 - 1, 1 << 63, .max - 1, .max,
  ]

  /// Changes something in bytes that are made of varints, counts, fixed integers and text: once, twice or three times.
  ///
  /// - Parameter others: valid bytes of the same kind, of which pieces are put in.
  package mutating func forge(_ bytes: inout [UInt8], with others: [[UInt8]] = []) {
    for _ in 0..<1 + (chance(40) ? below(3) : 0) { forgeOnce(&bytes, others) }
  }

  /// The same within a part of bytes whose length stands elsewhere and stays.
  package mutating func forge(
    _ bytes: inout [UInt8], in range: Range<Int>, with others: [[UInt8]] = []
  ) {
    guard !range.isEmpty else { return }
    var part = Array(bytes[range])
    forge(&part, with: others)
    part = Array(part.prefix(range.count))
    while part.count < range.count { part.append(bytes[range.lowerBound + part.count]) }
    bytes.replaceSubrange(range, with: part)
  }

  private mutating func forgeOnce(_ bytes: inout [UInt8], _ others: [[UInt8]]) {
    let place = below(bytes.count + 1)
    switch below(12) {
    case 0 where place < bytes.count: bytes[place] = UInt8(below(256))
    case 1 where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
    case 2, 3, 4:
      // A number becomes another one, whatever bytes that takes.
      var end = place
      while end < bytes.count, end < place + 9, bytes[end] >= 0x80 { end += 1 }
      end = min(end + 1, bytes.count)
      var number: UInt64 = 0
      for byte in bytes[place..<end].reversed() { number = number << 7 | UInt64(byte & 0x7F) }
      let other = chance(50) ? number &+ pick([1, .max]) : pick(Self.boundaries)
      bytes.replaceSubrange(place..<end, with: Self.varint(other))
    case 5:
      let number = pick(Self.boundaries)
      let width = min(pick([4, 8]), bytes.count - place)
      for index in 0..<width {
        bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
      }
    case 6: bytes.insert(UInt8(below(256)), at: place)
    case 7: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(4)))
    case 8:
      let piece = bytes[place..<min(bytes.count, place + 1 + below(40))]
      bytes.insert(contentsOf: piece, at: below(bytes.count + 1))
    case 9: bytes.removeLast(below(min(40, bytes.count) + 1))
    default:
      guard let other = others.randomElement(using: &self), !other.isEmpty else { return }
      let start = below(other.count)
      if chance(30) {
        // The end of one behind the beginning of the other.
        bytes.replaceSubrange(place..., with: other[start...])
      } else {
        let count = min(1 + below(24), other.count - start)
        bytes.replaceSubrange(
          place..<min(bytes.count, place + (chance(50) ? count : 0)),
          with: other[start..<start + count])
      }
    }
  }

  private static func varint(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}

/// The header of a container (Container.swift in Notes), by a writer of its own.
package func containerHeader(_ kind: UInt8, version: UInt8 = 1) -> [UInt8] {
  let header: [UInt8] = [0x8A, 0x44, 0x4E, 0x62, 0x0D, 0x0A, kind, version]
  return header + littleEndian(crc32c(header))
}

/// A block of a container.
package func containerBlock(_ content: [UInt8]) -> [UInt8] {
  let length = littleEndian(UInt32(content.count))
  return length + littleEndian(crc32c(length)) + littleEndian(crc32c(content)) + content
}

/// The number of bytes of a block before its content.
package let blockPrefix = 12

/// Makes the block that has a part of bytes right, whatever its content is.
package func seal(_ bytes: inout [UInt8], _ block: Range<Int>) {
  bytes.replaceSubrange(block, with: containerBlock(Array(bytes[block].dropFirst(blockPrefix))))
}

/// True if a part of bytes is a block.
package func isBlock(_ bytes: ArraySlice<UInt8>) -> Bool {
  bytes.count >= blockPrefix
    && bytes.elementsEqual(containerBlock(Array(bytes.dropFirst(blockPrefix))))
}

private func littleEndian(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
}

/// Notes which seed is at work in the process of an exit test, for the test that waits for it.
package struct ForgingTrace {
  private let folder = TemporaryFolder()
  package var path: String { folder("seed") }

  package init() {}

  /// Fails with the seed of the input that has ended the process.
  package func check(sourceLocation: SourceLocation = #_sourceLocation) {
    // The library for tests writes bytes of its own behind everything.
    let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    if !text.hasPrefix("done") {
      Issue.record(
        "the process has ended with \(text.prefix(2000))", sourceLocation: sourceLocation)
    }
  }
}

/// Feeds forged input to what is under test, one seed after the other. For the body of an exit test: a trap ends only its process.
///
/// Each input may take so many seconds of the processor's time, and all of them together so much more memory than the process has in
/// the beginning: beyond that it is killed.
///
/// - Parameter trace: the path of a `ForgingTrace`.
package func feed(
  _ seeds: ClosedRange<UInt64>, trace: String, seconds: Int = 10, memory: UInt = 512 << 20,
  _ body: (UInt64) throws -> Void
) throws {
  try limitMemory(to: memory)
  // What a trap says goes there, too.
  let file = open(trace, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
  dup2(file, STDERR_FILENO)
  func note(_ text: String) {
    ftruncate(file, 0)
    _ = write(file, text, text.utf8.count)
  }
  var limit = itimerval()
  let only = ProcessInfo.processInfo.environment["DECENT_NOTES_SEED"].flatMap(UInt64.init)
  for seed in only.map({ $0...$0 }) ?? seeds {
    note("seed \(seed)\n")
    limit.it_value.tv_sec = seconds
    setitimer(__itimer_which_t(ITIMER_VIRTUAL.rawValue), &limit, nil)
    try body(seed)
  }
  note("done")
}

/// Lets the process take no more than so many bytes in addition to those that it has. The address sanitizer reserves more than any
/// limit, so that there is none with it.
private func limitMemory(to bytes: UInt) throws {
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  let size = UInt(fields[0])! * UInt(sysconf(Int32(_SC_PAGESIZE)))
  guard size < 1 << 42 else { return }
  var limit = rlimit(rlim_cur: size + bytes, rlim_max: size + bytes)
  setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
}
