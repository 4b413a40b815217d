internal import Bytes
internal import ReplicatingTypes

// The summaries of notes in an archive: one, all, and those of which a part is looked at.

extension NotebookArchive {
  /// Bytes of the summaries that are read at once, where all are looked through.
  private static let summaryPiece = 1 << 18

  /// The range of a summary in the part `summaries`, its checksum included.
  func summaryRange(at place: Int) throws(ArchiveFailure) -> Range<Int> {
    let start = Int(index.integer(at: place * Self.entrySize + 24, UInt32.self))
    let end =
      place + 1 < count
      ? Int(index.integer(at: (place + 1) * Self.entrySize + 24, UInt32.self)) : summaries.size
    guard start + 4 <= end, end <= summaries.size else {
      throw ArchiveFailure(reason: "a summary beyond the end")
    }
    return start..<end
  }

  /// A summary in bytes; of all of them, if they were read already.
  func summary(at place: Int, among all: [UInt8]?) throws(ArchiveFailure) -> [UInt8] {
    let range = try summaryRange(at: place)
    var bytes: [UInt8]
    if let all { bytes = Array(all[range]) } else { bytes = try source(range + summaries.start) }
    let end = bytes.count - 4
    guard end > 0, bytes.integer(at: end, UInt32.self) == CRC32C.checksum(of: bytes[..<end]) else {
      throw ArchiveFailure(reason: "a wrong checksum of a summary")
    }
    bytes.removeLast(4)
    return bytes
  }

  /// All summaries, for `summary(at:among:)`.
  func allSummaries() throws(ArchiveFailure) -> [UInt8] {
    let bytes = try source(summaries.start..<summaries.start + summaries.size)
    guard bytes.count == summaries.size else { throw ArchiveFailure(reason: "it is too short") }
    return bytes
  }

  /// Calls `body` with the place of each note in the index, and its title in UTF-8, until it returns false. The summaries are read in
  /// pieces, and their checksums are not looked at: `summary(at:among:)` does that for the notes that are wanted.
  func forEachTitle(
    _ body: (Int, Span<UInt8>) throws(ArchiveFailure) -> Bool
  ) throws(ArchiveFailure) {
    try forEachSummary { place, summary throws(ArchiveFailure) in
      var start = 0
      return try body(place, summary.extracting(try Self.counted(summary, &start)))
    }
  }

  /// The notes, by their places in the index, that have all of some tags, and perhaps others, for `summary(at:among:)` to tell. Checksums are not looked
  /// at. O(bytes of all summaries).
  func places(mayHave tags: [Tag]) throws(ArchiveFailure) -> [Bool] {
    // Names with other characters than ASCII may be canonically equivalent and differ in bytes.
    let wanted = tags.map { Array($0.name.utf8) }.filter { $0.allSatisfy { $0 < 0x80 } }
    var places = [Bool](repeating: false, count: count)
    try forEachSummary { place, summary throws(ArchiveFailure) in
      var start = 0
      _ = try Self.counted(summary, &start)
      let count = try Self.varint(summary, &start)
      var (missing, hasOthers) = (wanted, false)
      for _ in 0..<count {
        let tag = summary.extracting(try Self.counted(summary, &start))
        missing.removeAll { $0.span.isEqual(to: tag) }
        hasOthers = hasOthers || tag.hasOtherThanASCII
      }
      places[place] = count > 0 && (missing.isEmpty || hasOthers)
      return true
    }
    return places
  }

  /// Calls `body` with the place of each note in the index, and its summary, until it returns false. The summaries are read in pieces.
  private func forEachSummary(
    _ body: (Int, Span<UInt8>) throws(ArchiveFailure) -> Bool
  ) throws(ArchiveFailure) {
    var first = 0
    while first < count {
      let start = try summaryRange(at: first).lowerBound
      var (end, place) = (start, first)
      repeat {
        end = try summaryRange(at: place).upperBound
        place += 1
      } while place < count && end - start < Self.summaryPiece
      guard start < end else { throw ArchiveFailure(reason: "summaries out of order") }
      let bytes = try source(summaries.start + start..<summaries.start + end)
      guard bytes.count == end - start else { throw ArchiveFailure(reason: "it is too short") }
      for place in first..<place {
        let range = try summaryRange(at: place)
        guard start <= range.lowerBound, range.upperBound <= end else {
          throw ArchiveFailure(reason: "summaries out of order")
        }
        let summary = range.lowerBound - start..<range.upperBound - start - 4
        guard try body(place, bytes.span.extracting(summary)) else { return }
      }
      first = place
    }
  }

  /// Reads a number of a summary, of a title's length at most, and goes behind it.
  private static func varint(
    _ summary: Span<UInt8>, _ start: inout Int
  ) throws(ArchiveFailure) -> Int {
    var (number, shift) = (0, 0)
    while start < summary.count, shift < 21 {
      let byte = summary[start]
      number |= Int(byte & 0x7F) << shift
      start += 1
      if byte < 0x80 { return number }
      shift += 7
    }
    throw ArchiveFailure(reason: "a summary that ends in a number")
  }

  /// The place of counted bytes of a summary; goes behind them.
  private static func counted(
    _ summary: Span<UInt8>, _ start: inout Int
  ) throws(ArchiveFailure) -> Range<Int> {
    let count = try varint(summary, &start)
    guard count <= summary.count - start else {
      throw ArchiveFailure(reason: "a text beyond its summary")
    }
    defer { start += count }
    return start..<start + count
  }
}

private func + (range: Range<Int>, offset: Int) -> Range<Int> {
  range.lowerBound + offset..<range.upperBound + offset
}

extension Span<UInt8> {
  fileprivate var hasOtherThanASCII: Bool {
    for index in indices where self[index] >= 0x80 { return true }
    return false
  }

  fileprivate func isEqual(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] { return false }
    return true
  }
}
