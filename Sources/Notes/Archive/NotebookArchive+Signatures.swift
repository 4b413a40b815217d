internal import Bytes
internal import ReplicatingTypes

// The signatures of notes in an archive: see Signatures.swift.

extension NotebookArchive {
  /// Visits the notes, by their places in the index, that may have all of some features: all that do, and a few others. Those without a
  /// signature are among them. O(notes / 8 × places of the features).
  func forEachPlace(mayHave features: [Feature], _ body: (Int) -> Void) throws(ArchiveFailure) {
    for block in signatures.blocks { try find(features, in: block, body) }
    for place in try unsignedPlaces() { body(try checked(place)) }
  }

  private func find(
    _ features: [Feature], in block: Signatures.Block, _ body: (Int) -> Void
  ) throws(ArchiveFailure) {
    var left = [UInt8](repeating: 0xFF, count: block.width)
    for feature in features {
      for place in feature.places {
        let (group, start) = try row(Int(place) >> (Feature.longest - block.exponent), of: block)
        var bits: UInt8 = 0
        for index in left.indices {
          left[index] &= group[start + index]
          bits |= left[index]
        }
        if bits == 0 { return }
      }
    }
    let columns = try columns(of: block)
    for (index, byte) in left.enumerated() where byte != 0 {
      var rest = byte
      while rest != 0 {
        let column = index * 8 + rest.trailingZeroBitCount
        rest &= rest - 1
        guard column < block.count else { throw ArchiveFailure(reason: "a bit of no signature") }
        if columns[column] != Signatures.none { body(try checked(columns[column])) }
      }
    }
  }

  /// The place of a note in the index that something says.
  private func checked(_ place: UInt32) throws(ArchiveFailure) -> Int {
    guard place < count else { throw ArchiveFailure(reason: "a signature of no note") }
    return Int(place)
  }

  /// The rows of a block among which one is, and where it begins.
  private func row(
    _ index: Int, of block: Signatures.Block
  ) throws(ArchiveFailure) -> (group: [UInt8], start: Int) {
    let (group, place) = index.quotientAndRemainder(dividingBy: block.together)
    let start = block.rows.start + group * block.groupSize
    let size = block.groupSize - Container.prefixSize
    return (try read(Container.Block(start: start, size: size)), place * block.width)
  }

  /// The places in the index of the notes without a signature.
  func unsignedPlaces() throws(ArchiveFailure) -> [UInt32] {
    if signatures.unsigned.size == 0 { return [] }
    let bytes = try read(signatures.unsigned)
    return (0..<bytes.count / 4).map { bytes.integer(at: 4 * $0, UInt32.self) }
  }

  /// The columns of a block of signatures: of each the place in the index, or `Signatures.none`.
  func columns(of block: Signatures.Block) throws(ArchiveFailure) -> [UInt32] {
    let bytes = try read(block.columns)
    return (0..<block.count).map { bytes.integer(at: 4 * $0, UInt32.self) }
  }

  /// The blocks with the rows of a block of signatures, whose checksums are not looked at.
  func encodedRows(of block: Signatures.Block) throws(ArchiveFailure) -> [UInt8] {
    let bytes = try source(block.rows.start..<block.rows.start + block.rows.size)
    guard bytes.count == block.rows.size else { throw ArchiveFailure(reason: "it is too short") }
    return bytes
  }

  /// All rows of a block of signatures.
  func rows(of block: Signatures.Block) throws(ArchiveFailure) -> [UInt8] {
    var reader = ByteReader(try encodedRows(of: block))
    var rows: [UInt8] = []
    rows.reserveCapacity(reader.remaining)
    do { while !reader.isAtEnd { rows += try reader.block() } } catch {
      throw ArchiveFailure(error)
    }
    return rows
  }
}
