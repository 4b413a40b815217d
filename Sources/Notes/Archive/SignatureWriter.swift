internal import ReplicatingTypes

/// Makes the signatures of an archive, block by block: see Signatures.swift.
struct SignatureWriter: Sendable {
  /// A block that is not in the archive yet.
  struct Block: Sendable {
    let exponent: Int
    /// The place in the index of each column.
    private(set) var places: [UInt32] = []
    /// The number of bytes of a row: as many as the columns need, or more.
    private var width = 8
    /// The bits, row by row.
    private var bits: [UInt8]

    init(_ exponent: Int) {
      self.exponent = exponent
      bits = [UInt8](repeating: 0, count: width << exponent)
    }

    /// Adds a column with the bits of a note. O(bits), and O(block) each time that the columns have doubled.
    mutating func append(_ signature: borrowing SignatureBits, for place: UInt32) {
      let (start, mask) = addColumn(for: place)
      let (exponent, width) = (exponent, width)
      var bits = bits.mutableSpan
      signature.forEachPlace(exponent) { bits[$0 &* width &+ start] |= mask }
    }

    /// Adds a column of a block of another archive, whose rows have `oldWidth` bytes each. O(2^exponent).
    mutating func append(
      _ column: Int, of rows: Span<UInt8>, width oldWidth: Int, for place: UInt32
    ) {
      let (start, mask) = addColumn(for: place)
      let (oldStart, oldMask) = (column / 8, UInt8(1) << (column % 8))
      for row in 0..<1 << exponent where rows[row * oldWidth + oldStart] & oldMask != 0 {
        bits[row * width + start] |= mask
      }
    }

    /// Adds an empty column; returns the place of its byte in a row, and its bit in that byte.
    private mutating func addColumn(for place: UInt32) -> (start: Int, mask: UInt8) {
      let column = places.count
      places.append(place)
      if column == width * 8 { widen() }
      return (column / 8, 1 << (column % 8))
    }

    private mutating func widen() {
      var wider = [UInt8](repeating: 0, count: bits.count * 2)
      for row in 0..<1 << exponent {
        for index in 0..<width { wider[row * width * 2 + index] = bits[row * width + index] }
      }
      (bits, width) = (wider, width * 2)
    }

    var isFull: Bool { places.count == Signatures.Block.capacity(exponent) }

    /// The part `rows` of the format.
    var encodedRows: [UInt8] {
      let needed = (places.count + 7) / 8
      let together = Signatures.Block.together(width: needed)
      var writer = ByteWriter(capacity: needed << exponent + Container.prefixSize << exponent)
      for first in stride(from: 0, to: 1 << exponent, by: together) {
        let start = writer.beginBlock()
        for row in first..<first + together {
          writer.raw(bits[row * width..<row * width + needed])
        }
        writer.endBlock(start)
      }
      return writer.bytes
    }
  }

  let keys: NoteKeys
  private var filling: [Block]
  /// The places in the index of the notes without a signature.
  private(set) var unsigned: [UInt32] = []
  private var bits = SignatureBits()
  private var folded = FoldedText()

  init(_ keys: NoteKeys) {
    self.keys = keys
    filling = (Signatures.shortest...Feature.longest).map(Block.init)
  }

  /// Adds the signature of a note that stands at a place of the index, read with its tags and its text; a block that is full with it.
  /// O(length).
  mutating func add(_ note: EncodedContent, at place: UInt32) -> Block? {
    bits.removeAll()
    for text in [note.title, note.headerText[...], note.text] {
      folded.fold(text)
      bits.insertTrigrams(of: folded.utf8.span)
    }
    bits.insert(Feature(title: note.title))
    // All forms of a tag: a search finds any.
    for tag in note.tags {
      folded.fold(Array(tag.name.utf8)[...])
      // A search for a tag finds those below it.
      for end in folded.utf8.indices where folded.utf8[end] == UInt8(ascii: "/") {
        bits.insert(Feature(tagFolded: folded.utf8[..<end]))
      }
      bits.insert(Feature(tagFolded: folded.utf8))
      if !Feature.isUsual(tag.name) { bits.insert(.unusualTag) }
    }
    for key in keys.keys(NoteContent(note)) { bits.insert(Feature(key: key)) }
    guard let exponent = Signatures.exponent(forCount: bits.count) else {
      unsigned.append(place)
      return nil
    }
    filling[exponent - Signatures.shortest].append(bits, for: place)
    return takeFull(exponent)
  }

  /// Notes that a signature is made of have no more bytes, with their past: a longer one has too much in it.
  static let longestNote = 1 << 18
  /// With fewer columns a block takes more than it spares.
  private static let fewest = 8

  /// Adds a note without a signature.
  mutating func addUnsigned(at place: UInt32) { unsigned.append(place) }

  /// Adds a column of a block of another archive, whose rows are at hand. O(2^exponent).
  mutating func add(
    _ column: Int, of rows: [UInt8], _ block: Signatures.Block, at place: UInt32
  ) -> Block? {
    filling[block.exponent - Signatures.shortest]
      .append(column, of: rows.span, width: block.width, for: place)
    return takeFull(block.exponent)
  }

  private mutating func takeFull(_ exponent: Int) -> Block? {
    let index = exponent - Signatures.shortest
    guard filling[index].isFull else { return nil }
    defer { filling[index] = Block(exponent) }
    return filling[index]
  }

  /// The blocks that are not full; none is left. Notes of blocks that are too small have no signature.
  mutating func takeRest() -> [Block] {
    let rest = filling
    filling = filling.map { Block($0.exponent) }
    for block in rest where block.places.count < Self.fewest { unsigned += block.places }
    return rest.filter { $0.places.count >= Self.fewest }
  }
}
