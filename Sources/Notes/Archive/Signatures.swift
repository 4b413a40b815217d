// WHICH NOTES OF AN ARCHIVE MAY HAVE WHAT IS LOOKED FOR
//
// Of each note the archive has a signature: a row of bits, some of which each of its features has set (`Feature`). A note that has
// a feature has these bits; one that has not may have them by chance, so whoever looks for something looks into the notes
// that are left. As superimposed signatures in bit slices: Faloutsos and Christodoulakis 1984, Roberts 1979.
//
// A signature has four bits or more for each that is set, so a trigram alone leaves less than a quarter of the notes that have it not.
// Notes with signatures of one length are in blocks, turned over: a row of a block has one bit of each of its notes, and a
// query reads as many rows as its features have places. A note with so much in it that 2^15 bits are not enough has none, nor has one of
// few that would have a block together.
//
//     directory = format of the keys (varint), count*(exponent: a byte, columns, rows: places and sizes),
//                 unsigned: place and size, the number of notes among these for which there was no time (varint)
//     columns     a block: of each column the note's place in the index, or 2^32 − 1 for none; 4 bytes each
//     rows        2^exponent rows, each the bits of the columns, the first the lowest. A row, or where rows are short as many as
//                 512 bytes hold, a power of two, is a block
//     unsigned    a block: the places in the index of the notes without a signature, 4 bytes each, ascending; size 0 for none
//
// The bit of a place among 2^15 is that place without its lowest 15 − exponent bits.

internal import ReplicatingTypes

/// The signatures of an archive: where its blocks are.
struct Signatures: Sendable {
  /// Signatures of one length.
  struct Block: Sendable {
    /// Their length in bits, as a power of two.
    let exponent: Int
    let columns: Container.Block
    /// The blocks with the rows, one behind the other.
    let rows: Container.Block

    var count: Int { columns.size / 4 }
    /// The bytes of a row.
    var width: Int { (count + 7) / 8 }
    /// The number of rows in a block of the container, and the bytes of such a block.
    var together: Int { Self.together(width: width) }
    var groupSize: Int { together * width + Container.prefixSize }

    /// The most columns of a block: with them it takes a mebibyte.
    static func capacity(_ exponent: Int) -> Int { 1 << (23 - exponent) }

    /// The number of rows of `width` bytes in a block of the container: no more than there are in the shortest block.
    static func together(width: Int) -> Int {
      width >= 512 ? 1 : min(1 << Signatures.shortest, 1 << (512 / width).log2)
    }
  }

  /// The shortest signature.
  static let shortest = 8
  /// The place of a column whose note is not as it was.
  static let none = UInt32.max

  /// The way in which keys were made; see `NoteKeys`.
  let format: UInt64
  let blocks: [Block]
  let unsigned: Container.Block
  /// The number of notes that have no signature because there was no time for more.
  let left: Int

  /// The length, as a power of two, of a signature in which so many places are set; nil if there is none.
  static func exponent(forCount count: Int) -> Int? {
    (shortest...Feature.longest).first { count << 2 <= 1 << $0 }
  }

  init(format: UInt64, blocks: [Block], unsigned: Container.Block, left: Int) {
    self.format = format
    self.blocks = blocks
    self.unsigned = unsigned
    self.left = left
  }

  func encode(into writer: inout ByteWriter) {
    writer.varint(format)
    writer.varint(blocks.count)
    for block in blocks {
      writer.byte(UInt8(block.exponent))
      block.columns.encode(into: &writer)
      block.rows.encode(into: &writer)
    }
    unsigned.encode(into: &writer)
    writer.varint(left)
  }

  init(from reader: inout ByteReader) throws(DecodingFailure) {
    format = try reader.varint()
    var blocks: [Block] = []
    for _ in 0..<(try reader.count()) {
      let exponent = Int(try reader.byte())
      let block = Block(
        exponent: exponent, columns: try reader.blockPlace(), rows: try reader.blockPlace())
      guard (Self.shortest...Feature.longest).contains(exponent), block.count > 0,
        block.columns.size % 4 == 0, block.count <= Block.capacity(exponent),
        block.rows.size == (1 << exponent) / block.together * block.groupSize
      else { throw reader.failure("a block of signatures that can't be") }
      blocks.append(block)
    }
    self.blocks = blocks
    unsigned = try reader.blockPlace()
    left = try reader.count()
  }
}

extension Int {
  /// The number of halvings until 1 is left.
  fileprivate var log2: Int { Self.bitWidth - 1 - leadingZeroBitCount }
}
