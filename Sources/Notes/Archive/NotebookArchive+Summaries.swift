internal import ReplicatingTypes

// The summaries of notes in an archive: one, all, and their titles.

extension NotebookArchive {
  /// Bytes of the summaries that are read at once, where all are looked through.
  private static let summaryPiece = 1 << 18

  /// The range of the block with a summary in the part `summaries`.
  func summaryRange(at place: Int) throws(ArchiveFailure) -> Range<Int> {
    let start = Int(index.integer(at: place * Self.entrySize + 24, UInt32.self))
    let end =
      place + 1 < count
      ? Int(index.integer(at: (place + 1) * Self.entrySize + 24, UInt32.self)) : summaries.size
    guard start + Container.prefixSize <= end, end <= summaries.size else {
      throw ArchiveFailure(reason: "a summary beyond the end")
    }
    return start..<end
  }

  /// A summary in bytes; of all of them, if they were read already.
  func summary(at place: Int, among all: [UInt8]?) throws(ArchiveFailure) -> [UInt8] {
    let range = try summaryRange(at: place)
    let block = Container.Block(
      start: summaries.start + range.lowerBound, size: range.count - Container.prefixSize)
    guard block.size > 0 else { throw ArchiveFailure(reason: "a summary of nothing") }
    if let all {
      return Array(try Self.content(of: block, in: all, at: range.lowerBound))
    }
    return try read(block)
  }

  /// A title, in UTF-8.
  func title(at place: Int) throws(ArchiveFailure) -> ArraySlice<UInt8> {
    let summary = try summary(at: place, among: nil)
    return summary[try Self.title(of: summary.span)]
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
        let content = range.lowerBound - start + Container.prefixSize
        let summary = bytes.span.extracting(content..<range.upperBound - start)
        guard try body(place, summary.extracting(try Self.title(of: summary))) else { return }
      }
      first = place
    }
  }

  /// The place of the title in a summary: a number, in seven bits a byte, and so many bytes.
  private static func title(of summary: Span<UInt8>) throws(ArchiveFailure) -> Range<Int> {
    var (count, start) = (0, 0)
    while start < min(summary.count, 3) {
      let byte = summary[start]
      count |= Int(byte & 0x7F) << (7 * start)
      start += 1
      if byte < 0x80 {
        guard count <= summary.count - start else { break }
        return start..<start + count
      }
    }
    throw ArchiveFailure(reason: "a summary without a title")
  }
}
